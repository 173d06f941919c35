"""Declared operations on quoted inputs, recomputed. Working days are never computed: their calendar is not in the
text, so the rule is quoted instead."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal, DivisionByZero, InvalidOperation

OPERATIONS = ("difference", "percent_change", "sum", "count", "add_days", "add_months", "add_years")
MAX_SPAN = 100_000
"""Days that an operation may add at most; more is a mistake, and the calendar ends somewhere."""


class NotComputable(ValueError):
    """The inputs do not fit the operation. The message says why."""


def recompute(operation: str, numbers: Sequence[Decimal], dates: Sequence[date]) -> Decimal | date:
    """The result of one operation on its inputs in order. `percent_change` is from the first to the second."""
    match operation:
        case "difference":
            old, new = _pair(numbers)
            return new - old
        case "percent_change":
            old, new = _pair(numbers)
            try:
                return (new - old) / old * 100
            except (DivisionByZero, InvalidOperation) as error:
                raise NotComputable("a change from zero has no percentage") from error
        case "sum":
            if len(numbers) < 2:
                raise NotComputable("a sum needs two numbers at least")
            return sum(numbers, Decimal(0))
        case "add_days" | "add_months" | "add_years":
            return _shift(operation, numbers, dates)
        case _:
            raise NotComputable(f"unknown operation {operation!r}: one of {', '.join(OPERATIONS)}")


def agrees(stated: Decimal, exact: Decimal) -> bool:
    """Whether a stated result is the exact one at the precision it is stated with; a difference may be stated
    without its sign."""
    exponent = stated.as_tuple().exponent
    if not isinstance(exponent, int):
        return False
    half = Decimal(1).scaleb(exponent) / 2
    return abs(stated - exact) <= half or abs(stated - abs(exact)) <= half


def _pair(numbers: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    if len(numbers) != 2:
        raise NotComputable("two numbers are needed")
    return numbers[0], numbers[1]


def _shift(operation: str, numbers: Sequence[Decimal], dates: Sequence[date]) -> date:
    if len(dates) != 1 or len(numbers) != 1:
        raise NotComputable("one date and one number are needed")
    base, count = dates[0], numbers[0]
    if count != int(count) or abs(count) > MAX_SPAN:
        raise NotComputable("the number to add must be a whole one, and sensible")
    n = int(count)
    try:
        if operation == "add_days":
            return base + timedelta(days=n)
        months = base.year * 12 + base.month - 1 + (n if operation == "add_months" else 12 * n)
        year, month = months // 12, months % 12 + 1
        # A month without the day ends on its last one: 31 January plus a month is 28 or 29 February.
        return date(year, month, min(base.day, calendar.monthrange(year, month)[1]))
    except (OverflowError, ValueError) as error:
        raise NotComputable("the date falls outside the calendar") from error
