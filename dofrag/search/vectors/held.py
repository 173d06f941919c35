"""What the store holds, as arrays: which vectors still stand for what is stored, and which chunks have none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dofrag.search.scoped import part_name
from dofrag.search.vectors.codes import Array, numpy
from dofrag.search.vectors.interface import publication_key
from dofrag.store.ranges import stored_ranges


class Held:
    """The chunks of one collection: ranges of ids, ascending, each with the key of its publication."""

    def __init__(self, ranges: Sequence[tuple[int, int, int]]) -> None:
        np = numpy()
        self.first = np.array([r[0] for r in ranges], dtype=np.int64)
        self.count = np.array([r[1] for r in ranges], dtype=np.int64)
        self.keys = np.array([r[2] for r in ranges], dtype=np.uint64)
        self.chunks = int(self.count.sum())

    def alive(self, ids: Array, keys: Array) -> Array:
        """Of each vector whether its chunk is stored, under a publication that it was made from."""
        np = numpy()
        if not len(self.first):
            return np.zeros(len(ids), dtype=bool)
        at = np.maximum(np.searchsorted(self.first, ids, side="right") - 1, 0)
        inside = (ids >= self.first[at]) & (ids < self.first[at] + self.count[at])
        return inside & (keys == self.keys[at])

    def missing(self, ids: Array) -> Iterator[tuple[int, int]]:
        """The chunks that are not in `ids`, as ranges (first, last), ascending."""
        np = numpy()
        known = np.unique(ids)
        starts = np.searchsorted(known, self.first)
        ends = np.searchsorted(known, self.first + self.count)
        for first, count, low, high in zip(self.first.tolist(), self.count.tolist(), starts, ends, strict=True):
            at = first
            for there in known[low:high].tolist() if high > low else ():
                if there > at:
                    yield at, there - 1
                at = there + 1
            if at < first + count:
                yield at, first + count - 1


def corpus_of(meta: Mapping[str, str]) -> str:
    """The digest of what a store holds, "" while an update is under way and the noted one is not of that."""
    return meta.get("corpus_digest", "") if meta.get("state") == "clean" else ""


def held_parts(store: sqlite3.Connection, parts: Iterable[str] | None = None) -> dict[str, Held]:
    """Every collection of the store under the name of its folder; only those in `parts`, where given."""
    wanted = None if parts is None else frozenset(parts)
    names: dict[str, str] = {}
    found: dict[str, list[tuple[int, int, int]]] = {}
    for first, count, scope, code, title, digest in stored_ranges(store):
        if scope not in names:
            names[scope] = part_name(scope)
        if wanted is None or names[scope] in wanted:
            found.setdefault(names[scope], []).append((first, count, publication_key(code, title, digest)))
    return {name: Held(ranges) for name, ranges in sorted(found.items())}


def row_mask(ids: Array, ranges: Sequence[tuple[int, int]]) -> Array:
    """Of each id, ascending, whether it lies in one of the ranges (first, count), ascending."""
    np = numpy()
    if not ranges:
        return np.zeros(len(ids), dtype=bool)
    bounds = np.array(ranges, dtype=np.int64)
    steps = np.zeros(len(ids) + 1, dtype=np.int32)
    np.add.at(steps, np.searchsorted(ids, bounds[:, 0]), 1)
    np.add.at(steps, np.searchsorted(ids, bounds[:, 0] + bounds[:, 1]), -1)
    return np.cumsum(steps[:-1]) > 0
