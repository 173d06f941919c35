"""Finding passages for a question: candidates from the search index, then a second look at their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dofrag.domain.corpus import Filters, Hit, Kind, Passage
from dofrag.domain.records import dataclass
from dofrag.search.copies import group_copies
from dofrag.search.interface import SearchBackend
from dofrag.search.kinds import by_default
from dofrag.search.secondlook import LEADING, second_look
from dofrag.store.interface import CorpusReader

POOL = 50
"""Candidates that the second look reads, at least."""
COPIES = 5
"""Of one passage that are listed at most."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best passages in order, how many the words found in all, and the texts of those shown. `copies`: by the
    chunk id of a hit, passages of other publications that say the same, which take no place of their own. `unlisted`:
    how many more of them there are."""

    hits: tuple[Hit, ...]
    passages: Mapping[int, Passage]
    total: int
    copies: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    unlisted: Mapping[int, int] = field(default_factory=dict)


def find_evidence(
    backend: SearchBackend,
    reader: CorpusReader,
    query: str,
    filters: Filters,
    *,
    limit: int,
    explain: bool = False,
) -> Evidence:
    """What the store does not hold any longer, or not under the filters, is left out: the index may be older."""
    page = backend.search_chunks(query, filters, limit=max(POOL, limit), explain=explain, codes=False)
    beside: dict[int, int] = {}
    for hit in page.hits[:LEADING]:
        for near in reader.neighbors(hit.chunk_id, 1):
            if near != hit.chunk_id:
                beside.setdefault(near, hit.chunk_id)
    candidates = [hit.chunk_id for hit in page.hits]
    looked_at = {c.chunk_id: c for c in reader.candidates([*candidates, *beside], filters)}
    looked = second_look(query, page.hits, looked_at, beside, explain=explain)

    def paths(chunks: Sequence[int]) -> dict[int, tuple[str, ...]]:
        return {p.id: p.chunk.heading_path for p in reader.passages(chunks, filters)}

    kept, copies = group_copies(looked, looked_at, paths)
    ranked = kept[: max(0, limit)]
    shown = {h.chunk_id: copies[h.chunk_id][:COPIES] for h in ranked if h.chunk_id in copies}
    unlisted = {chunk: len(copies[chunk]) - COPIES for chunk in shown if len(copies[chunk]) > COPIES}
    ids = [*(h.chunk_id for h in ranked), *(chunk for others in shown.values() for chunk in others)]
    passages = {p.id: p for p in reader.passages(ids, filters)}
    return Evidence(tuple(ranked), passages, max(page.total, len(ids)), shown, unlisted)


def find_by_default(
    backend: SearchBackend,
    reader: CorpusReader,
    query: str,
    filters: Filters,
    *,
    limit: int,
    explain: bool = False,
) -> tuple[Evidence, tuple[Kind, ...]]:
    """The same over the kinds that the query is about, and those that were left out. Where nothing is found among
    them, over all."""
    narrowed, left_out = by_default(query, filters)
    found = find_evidence(backend, reader, query, narrowed, limit=limit, explain=explain)
    if left_out and not found.hits:
        return find_evidence(backend, reader, query, filters, limit=limit, explain=explain), ()
    return found, left_out
