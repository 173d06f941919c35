"""The codes nearest to a query's: by numpy, or by faiss where there are many and it is there. Both find the same."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from dofrag.search.vectors.codes import Array, distances, numpy

FAISS_FROM = 100_000
"""Codes from which faiss is worth its import and its copy of the codes."""
_SPARE = 824  # codes fetched beyond what is wanted, so that a tie at the edge is mostly whole
_KEPT = 2  # copies of codes that are kept for the next question under the same filters


def faiss() -> Any | None:
    """The library, None where it is not installed."""
    try:
        import faiss as found
    except ImportError:
        return None
    return found


class Nearest:
    """Finds codes, and keeps what it prepared for the next question."""

    def __init__(self) -> None:
        self._copies = _Copies()

    def among(self, codes: Array, candidates: Array, code: Array, count: int) -> Array:
        """Positions of the `count` codes nearest to `code` among the `candidates` (positions, ascending), ascending.

        Those of equal distance at the edge are taken from the front: a search finds the same on every machine.
        """
        np = numpy()
        if len(candidates) <= count:
            return candidates
        library = faiss() if len(candidates) >= FAISS_FROM else None
        if library is None:
            every = len(candidates) == len(codes)
            far = distances(codes if every else codes[candidates], code)
            edge = np.partition(far, count - 1)[count - 1]
            near = np.flatnonzero(far <= edge)
            far = far[near]
        else:
            near, far = _by_faiss(self._copies.get(library, codes, candidates), len(candidates), code, count)
        chosen = near[np.lexsort((near, far))[:count]]
        return candidates[np.sort(chosen)]


def _by_faiss(index: Any, size: int, code: Array, count: int) -> tuple[Array, Array]:
    """All codes up to the distance of the last one wanted: places among the candidates, and distances."""
    np = numpy()
    asked = np.ascontiguousarray(code[None, :]).view(np.uint8)
    far, near = index.search(asked, min(size, count + _SPARE))
    edge = int(far[0][count - 1])
    if int(far[0][-1]) <= edge and len(far[0]) < size:  # the tie goes on
        _, distance, found = index.range_search(asked, edge + 1)
        return found, distance
    whole = far[0] <= edge
    return near[0][whole], far[0][whole]


class _Copies:
    """The last few indexes of faiss, by the arrays that they were made of: it keeps its own copy of the codes."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[int, int], tuple[Array, Array, Any]] = OrderedDict()

    def get(self, library: Any, codes: Array, candidates: Array) -> Any:
        key = (id(codes), id(candidates))
        if key not in self._made:
            np = numpy()
            index = library.IndexBinaryFlat(codes.shape[1] * 64)
            chosen = codes if len(candidates) == len(codes) else codes[candidates]
            index.add(np.ascontiguousarray(chosen).view(np.uint8))
            # The arrays are kept with it, so that no other can come to have their ids.
            self._made[key] = (codes, candidates, index)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return self._made[key][2]
