"""The amounts that a question states: figures with their unit or noun, and how often something is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.profiles.clauses import Clause
from dofrag.profiles.context import Context

_NOUN = re.compile(r" (?P<noun>[a-zñ]{3,})")
_EACH = re.compile(r"\bcada $")


@dataclass(frozen=True, slots=True)
class Amount:
    """`text` is the amount at `[start, end)` as the question spells it, *cada* before it included; `unit` is
    canonical, None where the noun is its unit."""

    start: int
    end: int
    text: str
    unit: str | None


def amounts(context: Context, clause: Clause | None = None) -> Iterator[Amount]:
    """The amounts of a part, or of what is stated before it.

    Numbers of provisions, identifiers, instruments, names, zones and dates are none; nor is a bound of a range that
    the part asks about, or the number of items of a list."""
    own = context.everything
    slots: list[Any] = [*own.dates, *own.provisions, *own.identifiers, *own.instruments, *own.zones, *own.entities]
    taken = [(s.start, s.end) for s in slots]
    taken += [(h.start, h.end) for h in context.of("range", "items", "value")]
    start, end = (clause or context.clause).start, (clause or context.clause).end
    for number in context.language.find_numbers(context.text[start:end]):
        first, last = start + number.start, start + number.end
        if number.kind == "ordinal" or any(a < last and first < b for a, b in taken):
            continue
        if number.unit is None:
            noun = _NOUN.match(context.folded, last, end)
            if noun is None or not context.language.content_words(noun["noun"]):
                continue
            last = noun.end()
        each = _EACH.search(context.folded, start, first)
        first = each.start() if each else first
        yield Amount(first, last, context.text[first:last], number.unit)
