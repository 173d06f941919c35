"""One index for the public collection and one for each restricted one, side by side in a folder.

How much a word weighs depends on how many passages of its index hold it. So that a restricted passage cannot be felt
in the scores of a search that may not see it, it stands in an index of its own, and a search asks those indexes that
its filters allow. Scores are those of each collection; hits are merged by them, ties by chunk id.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable
from pathlib import Path

from dofrag.domain.corpus import PUBLIC, Filters, Hit, Publication
from dofrag.errors import IndexMismatch
from dofrag.search.analysis import Terms
from dofrag.search.bm25 import Bm25Index
from dofrag.search.documents import IndexedChunk
from dofrag.search.engine import Bm25Writer
from dofrag.search.guard import guarded
from dofrag.search.interface import Page
from dofrag.search.reading import Expansions, Provisions
from dofrag.store.faults import not_allowed
from dofrag.store.schema import REBUILD

_PUBLIC_HEAP = 240_000_000
_RESTRICTED_HEAP = 30_000_000  # bytes; restricted collections are small, and there may be several


def part_name(scope: str) -> str:
    """The folder of a collection's index. A name that comes from outside never becomes a path."""
    return (
        PUBLIC
        if scope == PUBLIC
        else f"restricted-{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    )


def _parts(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(
        p for p in folder.iterdir() if p.is_dir() and (p.name == PUBLIC or p.name.startswith("restricted-"))
    )


class ScopedIndex:
    """Implements `SearchBackend` over the indexes of one folder, as they stood when it was opened."""

    name = "bm25"

    def __init__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        provisions: Provisions | None = None,
        expansions: Expansions | None = None,
    ) -> None:
        """Raises IndexMismatch when the folder holds no index, or one that cannot be opened, and CorpusError when it
        may not be read."""
        called = name or str(folder)
        try:
            parts = _parts(folder)
        except PermissionError as error:
            raise not_allowed(called) from error
        self.folder = folder
        self._indexes = {
            part.name: Bm25Index(part, name=called, provisions=provisions, expansions=expansions) for part in parts
        }
        if PUBLIC not in self._indexes:
            raise IndexMismatch(f"index {called!r}: its search index is missing or damaged", hint=REBUILD)

    @property
    def documents(self) -> int:
        return sum(index.documents for index in self._indexes.values())

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        pages = [
            index.search_chunks(query, filters, limit=limit, explain=explain, codes=codes)
            for index in self._seen(filters)
        ]
        if len(pages) == 1:
            return pages[0]
        hits = sorted((hit for page in pages for hit in page.hits), key=lambda hit: (-hit.score, hit.chunk_id))
        return Page(_ranked(hits[: max(0, limit)]), sum(page.total for page in pages))

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        pages = [
            index.search_publications(query, filters, limit=limit, per_publication=per_publication)
            for index in self._seen(filters)
        ]
        if len(pages) == 1:
            return pages[0]
        groups: dict[str, list[Hit]] = {}  # a publication is of one collection
        for page in pages:
            for hit in page.hits:
                groups.setdefault(hit.code, []).append(hit)
        best = sorted(groups.values(), key=lambda group: (-group[0].score, group[0].chunk_id))[: max(0, limit)]
        return Page(_ranked(hit for group in best for hit in group), sum(page.total for page in pages))

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        pages = [index.find_provision(path, filters, limit=limit) for index in self._seen(filters)]
        hits = sorted((hit for page in pages for hit in page.hits), key=lambda hit: hit.chunk_id)
        return Page(_ranked(hits[: max(0, limit)]), sum(page.total for page in pages))

    def ids_between(self, low: int, high: int) -> list[int]:
        """Ids of the chunks in any of the indexes from `low` to `high`, ascending; the range must be narrow."""
        return list(heapq.merge(*(index.ids_between(low, high) for index in self._indexes.values())))

    def _seen(self, filters: Filters) -> list[Bm25Index]:
        """The indexes that the filters allow: those of other collections are not even asked."""
        return [self._indexes[n] for n in sorted(map(part_name, filters.scopes)) if n in self._indexes]


def _ranked(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(Hit(rank, h.score, h.chunk_id, h.code, h.parts) for rank, h in enumerate(hits, start=1))


class ScopedWriter:
    """Fills the indexes of one folder. Methods as of `Bm25Writer`."""

    def __init__(self, folder: Path, *, create: bool, name: str | None = None) -> None:
        self._folder = folder
        self._name = name or str(folder)
        if create:
            folder.mkdir(parents=True)
            self._writers = {PUBLIC: Bm25Writer(folder / PUBLIC, create=True, heap=_PUBLIC_HEAP)}
        else:
            self._writers = {
                p.name: Bm25Writer(p, create=False, name=self._name, heap=_heap(p)) for p in _parts(folder)
            }
            if PUBLIC not in self._writers:
                raise IndexMismatch(f"index {self._name!r}: its search index is missing or damaged", hint=REBUILD)

    @property
    def terms(self) -> Terms:
        """What works out the terms of the chunks to add."""
        return self._writers[PUBLIC].terms

    def delete(self, publication_id: int) -> None:
        for writer in self._writers.values():
            writer.delete(publication_id)

    def add(self, publication: Publication, publication_id: int, chunks: Iterable[IndexedChunk]) -> int:
        """Index the chunks of one publication with its collection; returns how many."""
        part = part_name(publication.scope)
        if part not in self._writers:
            self._writers[part] = self._begin(self._folder / part)
        writer = self._writers[part]
        return int(guarded(self._name, lambda: writer.add(publication, publication_id, chunks)))

    def commit(self) -> None:
        for _, writer in sorted(self._writers.items()):
            writer.commit()

    def close(self) -> None:
        """Wait for merges; the folder is complete afterwards."""
        for writer in self._writers.values():
            writer.close()

    def _begin(self, folder: Path) -> Bm25Writer:
        """A new collection's index. It appears under its name when it can be opened, for readers may be looking."""
        part = folder.with_name(f"new-{folder.name}")
        empty = Bm25Writer(part, create=True, heap=_RESTRICTED_HEAP)
        empty.commit()
        empty.close()
        del empty
        part.rename(folder)
        return Bm25Writer(folder, create=False, name=self._name, heap=_RESTRICTED_HEAP)


def _heap(folder: Path) -> int:
    return _PUBLIC_HEAP if folder.name == PUBLIC else _RESTRICTED_HEAP
