"""The figures of a sentence, so that each can be looked for in what it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from dofrag.coverage.quantities import canonical
from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import fold_chars
from dofrag.text.numbers import FoundNumber, find_numbers
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers (canonical), the units that they were found with, dates as spans of days, and every token with a
    digit in it as it was written: `2025-2030`, `nom-035-stps-2018`, `5.2`."""

    numbers: frozenset[str] = frozenset()
    measures: frozenset[tuple[str, str]] = frozenset()
    days: frozenset[tuple[date, date]] = frozenset()
    tokens: frozenset[str] = frozenset()

    @staticmethod
    def join(parts: Iterable[Facts]) -> Facts:
        all_parts = tuple(parts)
        return Facts(
            frozenset().union(*(p.numbers for p in all_parts)),
            frozenset().union(*(p.measures for p in all_parts)),
            frozenset().union(*(p.days for p in all_parts)),
            frozenset().union(*(p.tokens for p in all_parts)),
        )


_TOKEN = late(
    r"[^\W_]*\d[^\W_]*(?:[-./,][^\W_]*\d[^\W_]*|[-/][^\W_\d]+)*|[^\W\d_]{2,}(?:[-/][^\W_]+)*[-/][^\W_]*\d[^\W_]*(?:[-/][^\W_]+)*"
)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A text with everything in it that counts as a figure, and where it stands."""

    numbers: tuple[FoundNumber, ...]
    dates: tuple[FoundDate, ...]
    tokens: tuple[tuple[int, int, str], ...]


@lru_cache(maxsize=1024)
def _parsed(text: str) -> _Parsed:
    tokens = ((m.start(), m.end(), m.group().strip(".,")) for m in _TOKEN.finditer(fold_chars(text)))
    return _Parsed(tuple(find_numbers(text)), tuple(find_dates(text)), tuple(tokens))


@lru_cache(maxsize=1024)
def facts_of(text: str) -> Facts:
    """Every figure of a text, a quote or a claim."""
    parsed = _parsed(text)
    return Facts(
        frozenset(canonical(n.value) for n in parsed.numbers),
        frozenset((canonical(n.value), n.unit) for n in parsed.numbers if n.unit),
        frozenset((d.first, d.last) for d in parsed.dates),
        frozenset(token for _, _, token in parsed.tokens),
    )


def unquoted(text: str, *grounds: Facts) -> tuple[str, ...]:
    """The figures of `text` that none of `grounds` holds, as written, in order. A date holds for its month and its
    year; a number with a unit holds only with that unit, where the ground gives one for that number."""
    ground = Facts.join(grounds)
    parsed = _parsed(text)
    dates = parsed.dates
    missing: list[tuple[int, str]] = []
    for found in dates:
        if not _dated(found, ground):
            missing.append((found.start, text[found.start : found.end]))
    for number in parsed.numbers:
        if _covered(number.start, number.end, dates):
            continue
        value = canonical(number.value)
        known = {unit for v, unit in ground.measures if v == value}
        raw = re.sub(r"[^\d.,]", "", text[number.start : number.end]).strip(".,")
        held = value in ground.numbers or raw in ground.tokens
        if not held or (number.unit and known and number.unit not in known and not _kin(number.unit, known)):
            missing.append((number.start, text[number.start : number.end]))
    for start, end, token in parsed.tokens:
        plain = not any(c.isalpha() or c in "-/" for c in token)
        if not plain and not _covered(start, end, dates) and token not in ground.tokens:
            missing.append((start, text[start:end]))
    return tuple(dict.fromkeys(figure for _, figure in sorted(missing)))


def _covered(start: int, end: int, dates: Iterable[FoundDate]) -> bool:
    return any(d.start < end and start < d.end for d in dates)


def _dated(found: FoundDate, ground: Facts) -> bool:
    if (found.first, found.last) in ground.days:
        return True
    if found.precision == "day":
        return False
    return any(found.first <= first and last <= found.last for first, last in ground.days)


def _kin(unit: str, known: set[str]) -> bool:
    """*días* may be said of calendar and of working days; calendar days and working days are never each other."""
    return unit == "days" and bool(known & {"calendar_days", "working_days"})
