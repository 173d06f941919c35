"""Search by meaning beside search by words: the strategies `vector` and `hybrid`.

`hybrid` asks both for their best, and ranks that pool by the sum of both scores, each in units of its own spread.
Where words find nothing it finds nothing: an embedding always finds something, and is never trusted alone. A passage
that *issues* what the question names by its identifier stays ahead of all others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dofrag.domain.corpus import Filters, Hit
from dofrag.search.bm25 import IDENTIFIER_BONUS
from dofrag.search.fusion import FUSIONS, Fused
from dofrag.search.interface import Page, SearchBackend
from dofrag.search.vectors.codes import Query
from dofrag.search.vectors.index import VectorIndex
from dofrag.store.interface import CorpusReader

POOL = 50
"""Passages that each side brings to the pool, at least."""
_QUERIES = 64  # vectors of queries that are remembered

Embed = Callable[[str], Any]
"""From a query to its vector."""
PoolCosines = Callable[[Query, Sequence[int], Filters], Mapping[int, float]]
"""Cosines of passages that have no vector in the index, made as they are asked for."""


class HybridIndex:
    """Implements `SearchBackend` over a lexical one and vectors.

    `vectors` None, or `pool` given: vectors are missing, so that they only rank what words found, and those of the
    pool that are missing come from `pool`.
    """

    def __init__(
        self,
        lexical: SearchBackend,
        reader: CorpusReader,
        embed: Embed,
        *,
        vectors: VectorIndex | None,
        pool: PoolCosines | None = None,
        fusion: str = "z",
    ) -> None:
        self._lexical = lexical
        self._reader = reader
        self._vectors = vectors
        self._pool = pool
        self._fuse = FUSIONS[fusion]
        self._query = _Queries(embed)

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        page = self._lexical.search_chunks(query, filters, limit=max(POOL, limit), explain=explain)
        if not page.hits or limit < 1:
            return Page((), page.total)
        ranked = self._ranked(query, filters, page.hits, limit)
        found = {h.chunk_id: h for h, _ in ranked[:limit]}
        named = self._codes(found.values(), filters)
        by_words = {h.chunk_id: h for h in page.hits}
        hits: list[Hit] = []
        for hit, fused in ranked[:limit]:
            if hit.chunk_id not in named:
                continue
            own = by_words.get(hit.chunk_id)
            parts = (*_parts(hit, fused), *(own.parts if own else ())) if explain else ()
            hits.append(Hit(len(hits) + 1, hit.tier_score(fused), hit.chunk_id, named[hit.chunk_id], parts))
        return Page(tuple(hits), max(page.total, len(hits)))

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        wanted = max(limit, -(-POOL // max(1, per_publication)))
        page = self._lexical.search_publications(query, filters, limit=wanted, per_publication=per_publication)
        if not page.hits or limit < 1:
            return Page((), page.total)
        ranked = self._ranked(query, filters, page.hits, limit)
        codes = self._codes((hit for hit, _ in ranked), filters)
        groups: dict[str, list[tuple[int, float]]] = {}
        for hit, fused in ranked:
            if hit.chunk_id in codes:
                groups.setdefault(codes[hit.chunk_id], []).append((hit.chunk_id, hit.tier_score(fused)))
        hits: list[Hit] = []
        for code, members in list(groups.items())[:limit]:
            hits += [Hit(len(hits) + n, s, i, code) for n, (i, s) in enumerate(members[:per_publication], start=1)]
        return Page(tuple(hits), max(page.total, min(limit, len(groups))))

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        return self._lexical.find_provision(path, filters, limit=limit)

    def _ranked(
        self, query: str, filters: Filters, hits: Sequence[Hit], limit: int
    ) -> list[tuple[_Candidate, Fused]]:
        """The pool of both sides in fused order."""
        vector = self._query.vector(query)
        candidates = {h.chunk_id: _Candidate(h.chunk_id, h.code, h.score) for h in hits}
        near: dict[int, float] = {}
        if self._vectors is not None and self._pool is None:
            near = dict(self._vectors.search(vector, filters, limit=max(POOL, limit))[0])
        rest = [i for i in candidates if i not in near]
        if self._vectors is not None:
            near |= self._vectors.cosines(vector, rest)
        if self._pool is not None:
            near |= self._pool(vector, [i for i in rest if i not in near], filters)
        for chunk_id, cosine in near.items():
            candidates.setdefault(chunk_id, _Candidate(chunk_id, None, None)).cosine = cosine
        words = {c.chunk_id: c.plain for c in candidates.values() if c.score is not None}
        fused = self._fuse(words, near)
        order = sorted(fused, key=lambda f: (-candidates[f.id].tier_score(f), f.id))
        return [(candidates[f.id], f) for f in order]

    def _codes(self, hits: Iterable[_Candidate], filters: Filters) -> dict[int, str]:
        """The publication of each, as far as the store holds it under the filters."""
        known: dict[int, str] = {}
        unknown: list[int] = []
        for hit in hits:
            if hit.code is None:
                unknown.append(hit.chunk_id)
            else:
                known[hit.chunk_id] = hit.code
        return known | {p.id: p.publication.code for p in self._reader.passages(unknown, filters)}


class _Candidate:
    """A passage of the pool, with what each side says of it; None where a side does not know it."""

    __slots__ = ("chunk_id", "code", "cosine", "score")

    def __init__(self, chunk_id: int, code: str | None, score: float | None) -> None:
        self.chunk_id = chunk_id
        self.code = code
        self.score = score
        self.cosine: float | None = None

    @property
    def tier(self) -> int:
        """Above 0 for what is named by its identifier: no likeness outweighs that."""
        return int((self.score or 0.0) // IDENTIFIER_BONUS)

    def tier_score(self, fused: Fused) -> float:
        return fused.score + self.tier * IDENTIFIER_BONUS

    @property
    def plain(self) -> float:
        """The words' score without the bonus for an identifier, which would be all that their spread tells."""
        return (self.score or 0.0) - self.tier * IDENTIFIER_BONUS


def _parts(hit: _Candidate, fused: Fused) -> tuple[tuple[str, float], ...]:
    said = [("words", hit.score), ("vector", hit.cosine), ("words_z", fused.lexical), ("vector_z", fused.vector)]
    return tuple((name, round(value, 6)) for name, value in said if value is not None)


class VectorOnly:
    """Implements `SearchBackend` by vectors alone, to compare. Provisions are looked up as ever."""

    def __init__(self, lexical: SearchBackend, reader: CorpusReader, embed: Embed, vectors: VectorIndex) -> None:
        self._lexical = lexical
        self._reader = reader
        self._vectors = vectors
        self._query = _Queries(embed)

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        found, total = self._nearest(query, filters, limit)
        hits = [Hit(n, score, i, code) for n, (i, score, code) in enumerate(found, start=1)]
        if explain:
            hits = [replace(hit, parts=(("vector", hit.score),)) for hit in hits]
        return Page(tuple(hits), total)

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        groups: dict[str, list[tuple[int, float]]] = {}
        depth = max(POOL, 8 * limit)
        while True:
            found, total = self._nearest(query, filters, depth)
            groups.clear()
            for chunk_id, score, code in found:
                groups.setdefault(code, []).append((chunk_id, score))
            if len(groups) >= limit or len(found) >= total or depth >= 64 * POOL:
                break
            depth *= 4
        hits: list[Hit] = []
        for code, members in list(groups.items())[: max(0, limit)]:
            hits += [Hit(len(hits) + n, s, i, code) for n, (i, s) in enumerate(members[:per_publication], start=1)]
        return Page(tuple(hits), len(groups))

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        return self._lexical.find_provision(path, filters, limit=limit)

    def _nearest(self, query: str, filters: Filters, limit: int) -> tuple[list[tuple[int, float, str]], int]:
        if limit < 1 or not query.strip():
            return [], 0
        found, total = self._vectors.search(self._query.vector(query), filters, limit=limit)
        codes = {p.id: p.publication.code for p in self._reader.passages([i for i, _ in found], filters)}
        return [(i, score, codes[i]) for i, score in found if i in codes], total


class _Queries:
    """The vectors of the last few queries: a run asks the same words in several ways."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._known: OrderedDict[str, Query] = OrderedDict()

    def vector(self, query: str) -> Query:
        if query not in self._known:
            self._known[query] = Query(self._embed(query))
            while len(self._known) > _QUERIES:
                self._known.popitem(last=False)
        return self._known[query]
