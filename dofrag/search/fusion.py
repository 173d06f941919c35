"""Two rankings made one. Pure; no ranking depends on the order in which anything is given; ties break by id.

The default adds what both say in units of their own spread (z-scores over the pool), at equal weight: how far ahead a
passage is counts, which ranks alone do not tell. Reciprocal rank is there to compare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from dofrag.domain.records import dataclass

WEIGHT = 0.5
"""Of the vectors' score; the rest is the words'."""
RANK_OFFSET = 60
"""What is added to a rank before it is inverted: the usual one."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with its place in the fused order and what each side says of it, z-score or inverted rank."""

    id: int
    score: float
    lexical: float
    vector: float


def z_scores(values: Mapping[int, float]) -> dict[int, float]:
    """How many standard deviations each value lies from the mean; 0 for all where they do not differ."""
    if not values:
        return {}
    mean = math.fsum(values.values()) / len(values)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values.values()) / len(values))
    # What is left of rounding is no spread.
    if spread <= 1e-9 * max(1.0, max(abs(v) for v in values.values())):
        return dict.fromkeys(values, 0.0)
    return {key: (value - mean) / spread for key, value in values.items()}


def by_z_scores(lexical: Mapping[int, float], vector: Mapping[int, float], *, weight: float = WEIGHT) -> list[Fused]:
    """The pool of both, best first. One that a side does not know counts there as the least that it knows."""
    pool = sorted({*lexical, *vector})
    left = z_scores(_complete(pool, lexical))
    right = z_scores(_complete(pool, vector))
    found = (Fused(i, round((1 - weight) * left[i] + weight * right[i], 6), left[i], right[i]) for i in pool)
    return sorted(found, key=lambda f: (-f.score, f.id))


def by_reciprocal_rank(lexical: Mapping[int, float], vector: Mapping[int, float]) -> list[Fused]:
    """The pool of both by the sum of their inverted ranks, best first."""
    left, right = _inverted(lexical), _inverted(vector)
    found = (
        Fused(i, round(left.get(i, 0.0) + right.get(i, 0.0), 9), left.get(i, 0.0), right.get(i, 0.0))
        for i in {*left, *right}
    )
    return sorted(found, key=lambda f: (-f.score, f.id))


FUSIONS = {"z": by_z_scores, "rrf": by_reciprocal_rank}


def _complete(pool: Iterable[int], known: Mapping[int, float]) -> dict[int, float]:
    least = min(known.values(), default=0.0)
    return {i: known.get(i, least) for i in pool}


def _inverted(values: Mapping[int, float]) -> dict[int, float]:
    order = sorted(values, key=lambda i: (-values[i], i))
    return {i: 1.0 / (RANK_OFFSET + rank) for rank, i in enumerate(order, start=1)}
