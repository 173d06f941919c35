"""Searching the vectors of an index: the nearest passages under a run's filters, and how near given ones are.

What the filters exclude is taken out before anything is ranked. Few candidates are all scored by their eight-bit
rows; of many, the bits choose the best two hundred first. Each collection has arrays of its own, so that nothing of a
restricted one has a part in what a search without it finds.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

from dofrag.domain.corpus import Filters
from dofrag.domain.records import dataclass
from dofrag.errors import IndexMismatch
from dofrag.search.scoped import part_name
from dofrag.search.vectors.arrays import Arrays, open_arrays
from dofrag.search.vectors.codes import Array, Query, numpy
from dofrag.search.vectors.held import held_parts, row_mask
from dofrag.search.vectors.manifest import FOLDER, Manifest, embed_command, read_manifest
from dofrag.search.vectors.nearest import Nearest
from dofrag.store.ranges import visible_ranges

EXACT = 20_000
"""Candidates up to which all are scored by their rows."""
RESCORED = 200
"""Candidates that the bits choose, at least, where there are more; of very many, one in `SHARE`."""
SHARE = 1_000
_MASKS = 8  # filters whose candidates are remembered


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the chunks have a vector."""

    vectors: int
    chunks: int

    @property
    def complete(self) -> bool:
        return self.vectors == self.chunks

    def __str__(self) -> str:
        share = 100.0 * self.vectors / self.chunks if self.chunks else 100.0
        # Never "100 %" for less than all.
        return f"{self.vectors:,} of {self.chunks:,} chunks ({min(share, 100.0 if self.complete else 99.9):.1f} %)"


class VectorIndex:
    """The vectors of an index as they stood when it was opened, beside the store as its reader sees it."""

    def __init__(self, folder: Path, store: sqlite3.Connection, corpus: str, scopes: Iterable[str]) -> None:
        """`corpus` is the store's digest, "" where none is known; `scopes` what may be seen at all. Raises
        IndexMismatch where there are no vectors, or damaged ones."""
        self.folder = folder
        self._store = store
        self._masks: OrderedDict[tuple[str, Filters], Array] = OrderedDict()
        self._alive: dict[str, Array] = {}
        self._scopes = frozenset(scopes)
        self._by_code = Nearest()
        self.manifest, self._arrays = _opened(folder, {part_name(scope) for scope in self._scopes})
        self._coverage = self._counted(corpus)

    @property
    def coverage(self) -> Coverage:
        return self._coverage

    def search(self, query: Query, filters: Filters, *, limit: int) -> tuple[list[tuple[int, float]], int]:
        """Chunk ids with their cosines, best first, ties by id, and how many candidates there were."""
        found: list[tuple[int, float]] = []
        total = 0
        for name, arrays in self._seen(filters):
            candidates = self._candidates(name, arrays, filters)
            total += len(candidates)
            found += self._nearest(arrays, candidates, query, limit)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[: max(0, limit)], total

    def cosines(self, query: Query, ids: Sequence[int]) -> dict[int, float]:
        """Of those chunks that have a vector. The caller has filtered them."""
        np = numpy()
        found: dict[int, float] = {}
        wanted = np.array(sorted(ids), dtype=np.int64)
        for name, arrays in self._arrays.items():
            at = np.searchsorted(arrays.ids, wanted)
            at = at[at < len(arrays.ids)]
            at = at[np.isin(arrays.ids[at], wanted)]
            if name in self._alive:
                at = at[self._alive[name][at]]
            cosines = query.cosines(arrays.rows[at], arrays.scales[at])
            found.update(zip(arrays.ids[at].tolist(), cosines.tolist(), strict=True))
        return found

    def _nearest(self, arrays: Arrays, candidates: Array, query: Query, limit: int) -> list[tuple[int, float]]:
        np = numpy()
        if len(candidates) > max(EXACT, limit):
            count = max(rescored(len(candidates)), 2 * limit)
            chosen = self._by_code.among(arrays.codes, candidates, query.code(arrays.centre), count)
        else:
            chosen = candidates
        cosines = query.cosines(arrays.rows[chosen], arrays.scales[chosen])
        ids = arrays.ids[chosen]
        order = np.lexsort((ids, -cosines))[: max(0, limit)]
        return list(zip(ids[order].tolist(), cosines[order].tolist(), strict=True))

    def _seen(self, filters: Filters) -> list[tuple[str, Arrays]]:
        names = sorted(part_name(scope) for scope in filters.scopes & self._scopes)
        return [(name, self._arrays[name]) for name in names if name in self._arrays]

    def _candidates(self, name: str, arrays: Arrays, filters: Filters) -> Array:
        """Positions of the vectors that the filters allow, ascending."""
        key = (name, filters)
        if key not in self._masks:
            mask = row_mask(arrays.ids, visible_ranges(self._store, filters))
            if name in self._alive:
                mask &= self._alive[name]
            self._masks[key] = numpy().flatnonzero(mask)
            while len(self._masks) > _MASKS:
                self._masks.popitem(last=False)
        return self._masks[key]

    def _counted(self, corpus: str) -> Coverage:
        """Exact: where the store has changed since the arrays were made, each vector is looked at."""
        names = {part_name(scope) for scope in self._scopes}
        if corpus and self.manifest.corpus == corpus:
            seen = [part for name, part in self.manifest.parts.items() if name in names]
            return Coverage(sum(p.rows for p in seen), sum(p.chunks for p in seen))
        held = held_parts(self._store, names)
        for name, arrays in self._arrays.items():
            self._alive[name] = (
                held[name].alive(arrays.ids, arrays.keys)
                if name in held
                else numpy().zeros(len(arrays.ids), dtype=bool)
            )
        vectors = sum(int(mask.sum()) for mask in self._alive.values())
        return Coverage(vectors, sum(part.chunks for part in held.values()))


def rescored(candidates: int) -> int:
    """How many of so many the bits choose: the more there are, the closer the nearest ones lie."""
    return max(RESCORED, candidates // SHARE)


def _opened(folder: Path, names: set[str]) -> tuple[Manifest, dict[str, Arrays]]:
    manifest = read_manifest(folder)
    if manifest is None:
        raise IndexMismatch(f"index {str(folder)!r} has no vectors", hint=embed_command(str(folder)))
    for last in (False, True):
        try:
            return manifest, {
                name: open_arrays(folder / FOLDER / name, part, manifest.card.dimension, str(folder))
                for name, part in sorted(manifest.parts.items())
                if name in names
            }
        except IndexMismatch:
            # An embedding that ended between the two steps has replaced the arrays; the new ones are then good.
            again = read_manifest(folder)
            if last or again is None or again == manifest:
                raise
            manifest = again
    raise AssertionError("unreachable")
