"""Which mention belongs to which figure when a sentence holds several: `diario … $1, el mensual … $2`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Generic, TypeVar

from dofrag.domain.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mention(Generic[T]):
    """Something said at `[start, end)` that qualifies a figure: a period, a frequency, a zone."""

    start: int
    end: int
    what: T


MAX_PAIRS = 600
"""Figures times mentions of one sentence; a longer one is a table run together, read left to right."""
_BOUNDARY = re.compile(r"[;:](?=\s)|,(?=\s)|\.(?=\s)|\sy\s")
_STEP = 25  # what a clause boundary weighs, in characters
_OTHER = 60  # what another figure or mention in between weighs


def assign(
    folded: str, figures: Sequence[tuple[int, int]], mentions: Sequence[Mention[T]]
) -> list[tuple[T | None, int]]:
    """For each figure, what qualifies it and at what distance (None without mentions).

    Figures and mentions are paired one to one, nearest first, a clause boundary or another figure in between counting
    as distance; figures left over share the mention nearest to them. A mention said twice in a row is one.
    """
    if not mentions:
        return [(None, 0)] * len(figures)
    if len(figures) * len(mentions) > MAX_PAIRS:
        return [*(_before(f, mentions) for f in figures)]
    runs = _merged(mentions, figures)
    costs = sorted(
        (min(_distance(folded, f, m, figures) for m in run), n, k)
        for n, f in enumerate(figures)
        for k, run in enumerate(runs)
    )
    paired: dict[int, tuple[int, int]] = {}
    used: set[int] = set()
    for cost, n, k in costs:
        if n not in paired and k not in used:
            paired[n] = (k, cost)
            used.add(k)
    for cost, n, k in costs:
        # Shared mentions come last: a figure that has one of its own is the better witness.
        paired.setdefault(n, (k, cost + 10 * _OTHER))
    return [(runs[paired[n][0]][0].what, paired[n][1]) for n in range(len(figures))]


def _before(figure: tuple[int, int], mentions: Sequence[Mention[T]]) -> tuple[T, int]:
    """The mention next before a figure, else the first one."""
    at = bisect_right([m.start for m in mentions], figure[0])
    mention = mentions[max(at - 1, 0)]
    return mention.what, abs(figure[0] - mention.end)


def _merged(mentions: Sequence[Mention[T]], figures: Sequence[tuple[int, int]]) -> list[list[Mention[T]]]:
    runs: list[list[Mention[T]]] = []
    for mention in sorted(mentions, key=lambda m: m.start):
        last = runs[-1][-1] if runs else None
        if last and last.what == mention.what and not any(last.end <= f[0] < mention.start for f in figures):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return runs


def _distance(folded: str, figure: tuple[int, int], mention: Mention[T], figures: Sequence[tuple[int, int]]) -> int:
    if mention.start >= figure[1]:
        low, high = figure[1], mention.start
    elif mention.end <= figure[0]:
        low, high = mention.end, figure[0]
    else:
        return 0
    between = folded[low:high]
    others = sum(low <= f[0] < high for f in figures)
    return len(between) + _STEP * len(_BOUNDARY.findall(between)) + _OTHER * others
