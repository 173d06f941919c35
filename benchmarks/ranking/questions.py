"""Question files: the public dof-rag v4 format and this project's own, read into one shape; and where in an index the
quotes of their gold passages stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

from dofrag.domain.corpus import PUBLIC, Filters, Kind
from dofrag.store.corpus import StoreReader
from dofrag.text.fold import fold_with_map

_LAYOUT = re.compile(r"[\s|-]+")
EVERYTHING = Filters(as_of=date.max, kinds=tuple(Kind), scopes=frozenset({PUBLIC}))


@dataclass(frozen=True)
class Gold:
    """One passage that an answer needs: its file or publication code, and what it says, word for word. Those of one
    `group` are alternatives of each other."""

    source: str
    quotes: tuple[str, ...]
    group: str | None = None


@dataclass(frozen=True)
class Item:
    id: str
    category: str
    question: str
    as_of: date
    phrasing: str | None
    subset: str | None
    gold: tuple[Gold, ...]


Places = tuple[frozenset[int], ...]
"""Where a quote stands: each way to hold all of it, as chunk ids. Empty where the index does not hold it."""
Hops = tuple[tuple[tuple[Places, ...], ...], ...]
"""Of a question: each hop, with its alternatives, each with its quotes."""


def load(path: Path, subset: str | None = None) -> list[Item]:
    """The questions of a file that have gold passages, in order. Raises ValueError with the line that is wrong."""
    items = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            item = _item(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}: {type(error).__name__}: {error}") from error
        if item.gold and subset in (None, item.subset):
            items.append(item)
    return items


def _item(data: dict[str, Any]) -> Item:
    if "gold_documents" in data:  # dof-rag v4
        gold = tuple(
            Gold(g["relpath"], tuple(e["quote"] for e in g["evidence"]))
            for g in data["gold_documents"]
            if g["evidence"]
        )
    else:
        gold = tuple(Gold(g["source"], tuple(g["quotes"]), g.get("group")) for g in data["gold"] if g["quotes"])
    return Item(
        id=data["id"],
        category=data["category"],
        question=data["question"],
        as_of=date.fromisoformat(data["as_of"]),
        phrasing=data.get("phrasing"),
        subset=data.get("subset"),
        gold=gold,
    )


def hops(item: Item) -> list[list[Gold]]:
    """Each passage that is needed, with its alternatives, in order of the file."""
    out: dict[object, list[Gold]] = {}
    for n, gold in enumerate(item.gold):
        out.setdefault(gold.group if gold.group is not None else n, []).append(gold)
    return list(out.values())


class Finder:
    """Finds gold passages in an index."""

    def __init__(self, reader: StoreReader) -> None:
        self._reader = reader
        self._codes: dict[str, list[str]] = defaultdict(list)  # by code, by path, and by the path's last part
        offset = 0
        while page := reader.list_publications(EVERYTHING, limit=5000, offset=offset).publications:
            offset += len(page)
            for publication in page:
                for name in {publication.code, publication.source, PurePosixPath(publication.source).name}:
                    self._codes[name].append(publication.code)

    def hops(self, item: Item) -> Hops:
        return tuple(
            tuple(tuple(self.places(gold.source, quote) for quote in gold.quotes) for gold in alternatives)
            for alternatives in hops(item)
        )

    def places(self, source: str, quote: str) -> Places:
        """Every place of a quote within the publications of its source. A path that is not known as it stands is
        known by its last part, which holds the official code: the same file lies in other folders elsewhere."""
        codes = self._codes.get(source) or self._codes.get(PurePosixPath(source).name, [])
        found = [place for code in codes for place in occurrences(self._chunks(code), level(quote))]
        # A place within another one says nothing more.
        least = [p for p in found if not any(other < p for other in found)]
        return tuple(sorted(set(least), key=sorted))

    def _chunks(self, code: str) -> list[tuple[int, str]]:
        return [(c.id, c.text) for c in self._reader.chunks(code, EVERYTHING)]


def level(text: str) -> str:
    """Folded, with all layout gone: blanks, what tables put between cells, and hyphens, which a line end may have put
    into a word or into a compound."""
    return _LAYOUT.sub("", fold_with_map(text).text)


def occurrences(chunks: Sequence[tuple[int, str]], quote: str) -> list[frozenset[int]]:
    """The chunks that hold a levelled quote, for each time it stands in their texts one after another."""
    ids = [chunk_id for chunk_id, _ in chunks]
    texts = [level(text) for _, text in chunks]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text))
    whole = "".join(texts)
    found = []
    at = whole.find(quote) if quote else -1
    while at >= 0:
        first = bisect_right(starts, at) - 1
        last = bisect_right(starts, at + len(quote) - 1) - 1
        found.append(frozenset(ids[n] for n in range(first, last + 1) if texts[n]))
        at = whole.find(quote, at + 1)
    return found


def missing(items: Iterable[Item], located: Iterable[Hops]) -> list[str]:
    """Quotes that the index does not hold and that no alternative makes up for, for people."""
    return [
        f"{item.id}: {gold.source}: «{' '.join(quote.split())[:80]}»"
        for item, found in zip(items, located, strict=True)
        for alternatives, places in zip(hops(item), found, strict=True)
        if not any(all(of_gold) for of_gold in places)
        for gold, of_gold in zip(alternatives, places, strict=True)
        for quote, of_quote in zip(gold.quotes, of_gold, strict=True)
        if not of_quote
    ]
