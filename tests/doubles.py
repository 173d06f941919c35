"""Test doubles: a corpus in memory that behaves like the store and the index, and small builders.

Used instead of patches: tests go through the front door and hand these in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from dofrag.domain.corpus import Chunk, Filters, Hit, Kind, Passage, Publication, SourceKind
from dofrag.search.interface import Page
from dofrag.store.interface import Candidate, Listing, OutlineEntry
from dofrag.text.fold import fold


def publication(
    code: str,
    published_on: str = "2024-01-10",
    *,
    title: str = "AVISO de prueba",
    issuer: str = "OFICINA DE PRUEBA",
    kind: Kind = Kind.DOF,
    edition: str = "MAT",
    scope: str = "public",
    chars: int = 100,
) -> Publication:
    return Publication(
        code=code,
        published_on=date.fromisoformat(published_on),
        edition=edition,
        kind=kind,
        source_kind=SourceKind.CONSOLIDATED if kind is Kind.LEY else SourceKind.PUBLICATION,
        position=1,
        section=None,
        branch=None,
        issuer=issuer,
        title=title,
        instrument=None,
        identifiers=(),
        url=None,
        scope=scope,
        source=f"{code}.md",
        span=(0, chars),
        chars=chars,
        sha256="0" * 64,
    )


def chunk(
    chunk_id: int, code: str, ordinal: int, text: str, *, heading: tuple[str, ...] = (), provision: str | None = None
) -> Chunk:
    return Chunk(
        id=chunk_id,
        code=code,
        ordinal=ordinal,
        start=0,
        end=len(text),
        heading_path=heading,
        provision=provision,
        kind="text",
        text=text,
    )


class MemoryCorpus:
    """CorpusReader and SearchBackend over a few publications. Scores count the query words that a chunk holds."""

    def __init__(
        self,
        *entries: tuple[Publication, Sequence[str]],
        provisions: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.pubs: dict[str, Publication] = {}
        self.all_chunks: dict[int, Chunk] = {}
        for pub, texts in entries:
            self.pubs[pub.code] = pub
            for ordinal, text in enumerate(texts):
                chunk_id = len(self.all_chunks) + 1
                path = provisions[pub.code][ordinal] if provisions else None
                self.all_chunks[chunk_id] = chunk(chunk_id, pub.code, ordinal, text, provision=path)

    def _visible(self, pub: Publication, f: Filters) -> bool:
        return (
            pub.published_on <= f.as_of
            and (f.published_from is None or pub.published_on >= f.published_from)
            and (f.published_to is None or pub.published_on <= f.published_to)
            and (not f.editions or pub.edition in f.editions)
            and pub.kind in f.kinds
            and (f.issuer is None or fold(f.issuer) in fold(pub.issuer))
            and (f.codes is None or pub.code in f.codes)
            and pub.scope in f.scopes
        )

    def dates(self, scopes: frozenset[str]) -> tuple[date, date] | None:
        days = [p.published_on for p in self.pubs.values() if p.scope in scopes]
        return (min(days), max(days)) if days else None

    def restricted_scopes(self) -> frozenset[str]:
        return frozenset(p.scope for p in self.pubs.values()) - {"public"}

    def publication(self, code: str, filters: Filters) -> Publication | None:
        pub = self.pubs.get(code)
        return pub if pub is not None and self._visible(pub, filters) else None

    def publications(self, codes: Sequence[str], filters: Filters) -> dict[str, Publication]:
        return {c: self.pubs[c] for c in codes if c in self.pubs and self._visible(self.pubs[c], filters)}

    def list_publications(self, filters: Filters, *, limit: int, offset: int = 0) -> Listing:
        found = sorted(
            (p for p in self.pubs.values() if self._visible(p, filters)), key=lambda p: (p.published_on, p.code)
        )
        return Listing(tuple(found[offset : offset + limit]), len(found))

    def passages(self, chunk_ids: Sequence[int], filters: Filters) -> list[Passage]:
        return [
            Passage(c, self.pubs[c.code])
            for c in (self.all_chunks.get(i) for i in chunk_ids)
            if c is not None and self._visible(self.pubs[c.code], filters)
        ]

    def candidates(self, chunk_ids: Sequence[int], filters: Filters) -> list[Candidate]:
        return [
            Candidate(p.id, p.publication.code, p.publication.kind, p.publication.title, p.text)
            for p in self.passages(chunk_ids, filters)
        ]

    def neighbors(self, chunk_id: int, window: int) -> list[int]:
        code = self.all_chunks[chunk_id].code
        return [i for i, c in self.all_chunks.items() if c.code == code and abs(i - chunk_id) <= window]

    def outline(self, code: str, filters: Filters, *, limit: int, offset: int = 0) -> tuple[list[OutlineEntry], int]:
        found = self.chunks(code, filters)
        entries = [
            OutlineEntry(c.id, c.ordinal, c.heading_path, c.provision, c.text[:80], len(c.text)) for c in found
        ]
        return entries[offset : offset + limit], len(entries)

    def chunks(self, code: str, filters: Filters) -> list[Chunk]:
        pub = self.publication(code, filters)
        return [c for c in self.all_chunks.values() if c.code == code] if pub else []

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        words = set(fold(query).split())
        scored = []
        for c in self.all_chunks.values():
            pub = self.pubs[c.code]
            score = len(words & set(fold(f"{pub.title} {c.text}").replace(".", " ").split()))
            if score and self._visible(pub, filters):
                scored.append((-float(score), c.id))
        scored.sort()
        hits = tuple(Hit(r, -s, i, self.all_chunks[i].code) for r, (s, i) in enumerate(scored, 1))
        return Page(hits[:limit], len(hits))

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        grouped: dict[str, list[Hit]] = {}
        for hit in self.search_chunks(query, filters, limit=10_000).hits:
            grouped.setdefault(hit.code, []).append(hit)
        chosen = [hits[:per_publication] for hits in grouped.values()][:limit]
        return Page(tuple(h for hits in chosen for h in hits), len(grouped))

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        own = [
            c
            for c in self.all_chunks.values()
            if self._visible(self.pubs[c.code], filters)
            and c.provision is not None
            and f"/{path.lower()}/" in f"/{c.provision.lower()}/"
            and (filters.codes is None or c.code in filters.codes)
        ]
        hits = tuple(Hit(n, 0.0, c.id, c.code) for n, c in enumerate(own, start=1))
        return Page(hits[:limit], len(hits))
