"""Vectors as they come, on disk at once: what is embedded is never embedded again, however the process ends.

A journal is a row of frames: a header (mark, rows, dimension, CRC-32 of what follows), then chunk ids, publication
keys, scales and int8 rows. A frame that is not whole ends what is read, and the next one is written in its place.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from types import TracebackType
from typing import IO

from dofrag.search.vectors.codes import Array, numpy

JOURNAL = "journal.bin"
_HEAD = struct.Struct("<4sIII")
_MARK = b"dofv"
_FIXED = 8 + 8 + 4  # bytes of a row beside its numbers: id, key, scale
_ROWS_MAX = 1 << 20


class Journal:
    """Opened for appending. Close it, or use it in a `with`."""

    def __init__(self, path: Path, dimension: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        good = sum(_HEAD.size + size for _, _, size in _frames(path, dimension))
        self._handle: IO[bytes] = path.open("ab")
        if self._handle.tell() != good:
            self._handle.truncate(good)
        self._dimension = dimension

    def append(self, ids: Array, keys: Array, scales: Array, rows: Array) -> None:
        body = b"".join((ids.tobytes(), keys.tobytes(), scales.tobytes(), rows.tobytes()))
        self._handle.write(_HEAD.pack(_MARK, len(ids), self._dimension, zlib.crc32(body)) + body)
        self._handle.flush()

    def close(self) -> None:
        """With what was written safe from a power cut too."""
        if not self._handle.closed:
            self._handle.flush()
            os.fsync(self._handle.fileno())
            self._handle.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.close()


def _frames(path: Path, dimension: int) -> list[tuple[int, int, int]]:
    """Where each whole frame's body begins, its rows and its size."""
    found: list[tuple[int, int, int]] = []
    if not path.is_file():
        return found
    with path.open("rb") as handle:
        while len(head := handle.read(_HEAD.size)) == _HEAD.size:
            mark, rows, wide, crc = _HEAD.unpack(head)
            if mark != _MARK or wide != dimension or not 0 < rows <= _ROWS_MAX:
                break
            at, size = handle.tell(), rows * (_FIXED + dimension)
            body = handle.read(size)
            if len(body) != size or zlib.crc32(body) != crc:
                break
            found.append((at, rows, size))
    return found


class JournalRows:
    """What a journal holds, for reading: `ids`, `keys` and `scales` in memory, rows from the file as asked for. Of a
    chunk that stands in it twice the later row counts."""

    def __init__(self, path: Path, dimension: int) -> None:
        np = numpy()
        frames = _frames(path, dimension)
        self._map = np.memmap(path, dtype=np.uint8, mode="r") if frames else None
        self._dimension = dimension
        ids, keys, scales, places = [], [], [], []
        for at, count, _ in frames:
            assert self._map is not None
            fixed = self._map[at : at + count * _FIXED].tobytes()
            ids.append(np.frombuffer(fixed, dtype="<i8", count=count))
            keys.append(np.frombuffer(fixed, dtype="<u8", count=count, offset=8 * count))
            scales.append(np.frombuffer(fixed, dtype="<f4", count=count, offset=16 * count))
            places.append(at + count * _FIXED + np.arange(count, dtype=np.int64) * dimension)
        self.ids = np.concatenate([np.empty(0, np.int64), *ids])
        self.keys = np.concatenate([np.empty(0, np.uint64), *keys])
        self.scales = np.concatenate([np.empty(0, np.float32), *scales])
        self._places = np.concatenate([np.empty(0, np.int64), *places])

    def rows(self, which: Array) -> Array:
        """The int8 rows at these positions."""
        np = numpy()
        out = np.empty((len(which), self._dimension), dtype=np.int8)
        for i, place in enumerate(self._places[which].tolist()):
            assert self._map is not None
            out[i] = self._map[place : place + self._dimension].view(np.int8)
        return out
