"""Where the gold of an item stands in an index: which chunks hold which evidence. Asked after a run, never before."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Protocol

from dofrag.domain.corpus import PUBLIC, Chunk, Filters, Kind, Publication
from dofrag.domain.records import dataclass
from dofrag.evals.dataset import Gold, Item
from dofrag.store.interface import CorpusReader
from dofrag.text.fold import fold, words
from dofrag.text.spans import QuotableText, find_quote

_Folded = tuple[list[Chunk], list[str]]
_TELLING = 3
_CODE = re.compile(r"[0-9]{5,9}")


class GoldReader(CorpusReader, Protocol):
    """A reader that also knows which file a publication came from."""

    def codes_of_source(self, rel: str) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One piece of evidence that a whole answer cites: a gold quote, or one of a group of alternatives.

    `chunk_ids` hold it. Empty where the index has the publication but not the quote, and then any chunk of `codes`
    counts; both are empty where the index has nothing of it."""

    name: str
    codes: tuple[str, ...]
    chunk_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one gold entry stands. `missing` are the quotes that no chunk of its publications holds."""

    gold: Gold
    codes: tuple[str, ...]
    chunks: tuple[tuple[int, ...], ...]  # of each quote
    missing: tuple[str, ...]


def places(reader: GoldReader, item: Item) -> list[Place]:
    """Each gold entry of an item, looked for in the index."""
    return [_place(reader, gold) for gold in item.gold]


def units(reader: GoldReader, item: Item, cited: Iterable[int]) -> tuple[Unit, ...]:
    """The evidence of an item. Of the `cited` chunks, one that holds the very text of a gold chunk counts as it."""
    found: dict[str, Unit] = {}
    for n, place in enumerate(places(reader, item)):
        if place.gold.group is not None:
            old = found.get(f"group {place.gold.group}", Unit(name="", codes=(), chunk_ids=()))
            ids = {i for chunks in place.chunks for i in chunks}
            found[f"group {place.gold.group}"] = Unit(
                name=f"group {place.gold.group}",
                codes=tuple(sorted({*old.codes, *place.codes})),
                chunk_ids=tuple(sorted({*old.chunk_ids, *ids})),
            )
            continue
        for q, chunks in enumerate(place.chunks or ((),)):
            name = f"gold {n}.{q}"
            found[name] = Unit(name=name, codes=place.codes, chunk_ids=chunks)
    return _with_same_text(reader, tuple(found.values()), sorted(set(cited)))


def _with_same_text(reader: GoldReader, found: tuple[Unit, ...], cited: Sequence[int]) -> tuple[Unit, ...]:
    every = Filters(as_of=date.max, kinds=tuple(Kind), scopes=frozenset({PUBLIC}))
    wanted = {i for unit in found for i in unit.chunk_ids} | set(cited)
    text = {
        p.id: hashlib.sha256(p.text.encode("utf-8", "replace")).digest()
        for p in reader.passages(sorted(wanted), every)
    }
    made = []
    for unit in found:
        held = {text[i] for i in unit.chunk_ids if i in text}
        twins = {i for i in cited if text.get(i) in held}
        made.append(Unit(name=unit.name, codes=unit.codes, chunk_ids=tuple(sorted({*unit.chunk_ids, *twins}))))
    return tuple(made)


def _place(reader: GoldReader, gold: Gold) -> Place:
    every = Filters(as_of=date.max, kinds=tuple(Kind), scopes=frozenset({PUBLIC}))
    codes = _codes(reader, gold, every)
    chunks: list[tuple[int, ...]] = []
    missing = []
    texts = [reader.chunks(code, every) for code in codes]
    folded = [(found, [fold(c.text) for c in found]) for found in texts]
    for quote in gold.quotes:
        held = _holding(folded, quote)
        chunks.append(tuple(sorted(set(held))))
        if not held:
            missing.append(quote)
    return Place(gold, tuple(codes), tuple(chunks), tuple(missing))


def _codes(reader: GoldReader, gold: Gold, every: Filters) -> list[str]:
    """By code; by the file's path; else by the official code in the file's name. A file may hold several
    publications: the date and the title, where they are given, tell which."""
    direct = reader.publication(gold.source, every)
    if direct is not None:
        return [direct.code]
    codes = reader.codes_of_source(gold.source)
    if not codes:
        named = _CODE.findall(gold.source.rpartition("/")[2])
        return [code for code in named[-1:] if reader.publication(code, every) is not None]
    if len(codes) > 1 and gold.title:
        publications = reader.publications(codes, every)
        codes = [c for c in codes if c in publications and _titled(publications[c], gold.title)] or codes
    return codes


def _titled(publication: Publication, title: str) -> bool:
    return QuotableText(publication.title).find(title) is not None or (
        QuotableText(title).find(publication.title) is not None
    )


def _holding(publications: Sequence[_Folded], quote: str) -> list[int]:
    """Ids of the chunks that a quote stands in: whole in one, else across several of one publication."""
    # Most chunks are told apart by a few words; only what is left is looked at with care.
    telling = sorted(set(words(quote)), key=lambda w: (-len(w), w))[:_TELLING]
    near = [[c for c, text in zip(*p, strict=True) if any(w in text for w in telling)] for p in publications]
    whole = [c.id for chunks in near for c in chunks if find_quote(quote, c.text) is not None]
    if whole:
        return whole
    for (chunks, _), some in zip(publications, near, strict=True):
        span = find_quote(quote, "".join(c.text for c in chunks)) if some else None
        if span is not None:
            return _overlapped(chunks, *span)
    return []


def _overlapped(chunks: Sequence[Chunk], start: int, end: int) -> list[int]:
    """Ids of the chunks that characters `[start, end)` of the joined text lie in."""
    offsets = [0]
    for chunk in chunks:
        offsets.append(offsets[-1] + len(chunk.text))
    first = bisect_right(offsets, start) - 1
    last = bisect_right(offsets, end - 1) - 1
    return [chunks[i].id for i in range(first, last + 1)]
