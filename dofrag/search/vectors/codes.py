"""Vectors made small: eight bits a number to score by, one bit a number to look through millions of them.

A bit tells on which side of the mean a number lies; without the mean most models' vectors lie on one side and their
bits say little. All sums are of whole numbers below 2^53, so that two machines find the same. The only part that
counts on numpy's speed; arrays are C-contiguous.
"""

from __future__ import annotations

from typing import Any

from dofrag.errors import UsageError

Array = Any
"""A numpy array; numpy is an extra, so its types are not here."""
QUERY_LEVELS = 32_767
ROW_LEVELS = 127
_BLOCK = 65_536  # rows a step: bounds memory at any number of rows
DIGITS = 6
"""Of a cosine; less would be noise."""


def numpy() -> Any:
    """The library. Raises UsageError where it is not installed."""
    try:
        import numpy as found
    except ImportError:
        raise UsageError("vectors need numpy, which is not installed", hint="pip install 'dofrag[vectors]'") from None
    return found


def unit(vectors: Any) -> Array:
    """Rows of length one, as float32; a row of zeros stays."""
    np = numpy()
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return (rows / lengths[:, None]).astype(np.float32)


def quantised(vectors: Any) -> tuple[Array, Array]:
    """Unit vectors as int8 and what one step is worth (float32), row by row."""
    np = numpy()
    rows = unit(vectors)
    top = np.abs(rows).max(axis=1)
    top[top == 0] = 1.0
    return np.rint(rows / top[:, None] * ROW_LEVELS).astype(np.int8), (top / ROW_LEVELS).astype(np.float32)


def centre(rows: Array, scales: Array) -> Array:
    """The mean of the vectors that `rows` stand for, float32."""
    np = numpy()
    total = np.zeros(rows.shape[1], dtype=np.float64)
    for at in range(0, len(rows), _BLOCK):
        part = rows[at : at + _BLOCK].astype(np.float64) * scales[at : at + _BLOCK, None]
        total += part.sum(axis=0)
    return (total / max(1, len(rows))).astype(np.float32)


def words(dimension: int) -> int:
    """64-bit words of a code."""
    return -(-dimension // 64)


def binary(vectors: Array, middle: Array) -> Array:
    """One bit a number, in 64-bit words; bits beyond the dimension are 0 in all."""
    np = numpy()
    bits = np.packbits(vectors > middle, axis=1)
    padded = np.zeros((len(bits), words(vectors.shape[1]) * 8), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


def row_codes(rows: Array, scales: Array, middle: Array) -> Array:
    """The codes of int8 rows. By the block: call it with no more rows than memory holds as float32."""
    return binary(rows.astype(numpy().float32) * scales[:, None], middle)


def distances(codes: Array, code: Array) -> Array:
    """Bits in which each of `codes` differs from `code`, uint16."""
    np = numpy()
    found = np.empty(len(codes), dtype=np.uint16)
    for at in range(0, len(codes), _BLOCK):
        part = np.bitwise_count(codes[at : at + _BLOCK] ^ code)
        found[at : at + _BLOCK] = part.sum(axis=1, dtype=np.uint16)
    return found


class Query:
    """A question's vector, made ready once."""

    def __init__(self, vector: Any) -> None:
        np = numpy()
        self.vector = unit([vector])[0]
        top = float(np.abs(self.vector).max()) or 1.0
        # Whole numbers in float64: their products add up exactly, in any order, on any machine.
        self._levels = np.rint(self.vector.astype(np.float64) / top * QUERY_LEVELS)
        self._step = top / QUERY_LEVELS

    def code(self, middle: Array) -> Array:
        return binary(self.vector[None, :], middle)[0]

    def cosines(self, rows: Array, scales: Array) -> Array:
        """Of int8 rows, float64, rounded so that equal ones are equal."""
        np = numpy()
        found = np.empty(len(rows), dtype=np.float64)
        for at in range(0, len(rows), _BLOCK):
            found[at : at + _BLOCK] = rows[at : at + _BLOCK].astype(np.float64) @ self._levels
        return np.round(found * scales.astype(np.float64) * self._step, DIGITS)
