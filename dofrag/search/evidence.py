"""Finding passages for a question: candidates from the search index, then a second look at their texts."""

from __future__ import annotations

from collections.abc import Mapping

from dofrag.domain.corpus import Filters, Hit, Passage
from dofrag.domain.records import dataclass
from dofrag.search.interface import SearchBackend
from dofrag.search.secondlook import LEADING, second_look
from dofrag.store.interface import CorpusReader

POOL = 50
"""Candidates that the second look reads, at least."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best passages in order, their texts, and how many the words found in all."""

    hits: tuple[Hit, ...]
    passages: Mapping[int, Passage]
    total: int


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
    page = backend.search_chunks(query, filters, limit=max(POOL, limit), explain=explain)
    beside: dict[int, int] = {}
    for hit in page.hits[:LEADING]:
        for near in reader.neighbors(hit.chunk_id, 1):
            if near != hit.chunk_id:
                beside.setdefault(near, hit.chunk_id)
    candidates = [hit.chunk_id for hit in page.hits]
    passages = {p.id: p for p in reader.passages([*candidates, *beside], filters)}
    ranked = second_look(query, page.hits, passages, beside, explain=explain)[: max(0, limit)]
    return Evidence(tuple(ranked), {h.chunk_id: passages[h.chunk_id] for h in ranked}, max(page.total, len(ranked)))
