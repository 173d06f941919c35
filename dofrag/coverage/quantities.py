"""The figures of a passage that measure something: numbers with their unit, less dates, list marks and references."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate
from dofrag.text.numbers import find_numbers
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure at `[start, end)`, unit included. `kind` and `unit` as in `text.numbers`; `noun` is the folded text
    that follows, to compare other units with; `reference` marks a figure that numbers something (`artículo 3`,
    `segundo`) rather than measuring it."""

    start: int
    end: int
    value: Decimal
    kind: str
    unit: str | None
    noun: str
    reference: bool = False

    @property
    def text(self) -> str:
        return canonical(self.value)


def canonical(value: Decimal) -> str:
    """One spelling for one value: no separators, no exponent, no trailing zeros."""
    plain = format(value.normalize(), "f")
    return "0" if plain in ("-0", "") else plain


_NUMBERED = late(
    r"\b(?:articulos?|arts?\.|numeral(?:es)?|fraccion(?:es)?|incisos?|reglas?|anexos?|apartados?|parrafos?|capitulos?"
    r"|titulos?|paginas?|pags?\.|numero|num\.|no\.|n\.º|tomo|tramos?|ramo|eje|estrategia|objetivo|region|zona|tabla"
    r"|cuadro|formato|expediente|oficio|folio|guia|transitorios?|clausulas?|seccion|partida|colonia|calle|codigo"
    r"|c\.p\.)\s*(?:\d[\d.]{0,6}(?:,\s*|\s+y\s+|\s+al?\s+)){0,12}$"
)
_BEFORE_MARK = late(r"(?:^|\n|[;:.,]\s|\sy\s)\s*[*_#\s]*$")
_AFTER_MARK = late(r"(?:[.)]|\.-)[*_]*(?:\s|$)")
_NOUN = 96


def quantities(text: str, folded: str, dates: Sequence[FoundDate]) -> tuple[Quantity, ...]:
    """All figures of `text` in order, without overlaps. `folded` is `fold_chars(text)`; `dates` are those of it."""
    out: list[Quantity] = []
    at = 0
    for number in find_numbers(text):
        while at < len(dates) and dates[at].end <= number.start:
            at += 1
        if at < len(dates) and dates[at].start < number.end:
            continue
        if _is_mark(folded, number.start, number.end):
            continue
        before = folded[max(0, number.start - 60) : number.start]
        reference = number.kind == "ordinal" or (number.unit is None and bool(_NUMBERED.search(before)))
        noun = folded[number.end : number.end + _NOUN].lstrip(" ")
        out.append(Quantity(number.start, number.end, number.value, number.kind, number.unit, noun, reference))
    return tuple(out)


def _is_mark(folded: str, start: int, end: int) -> bool:
    """`1.` at the beginning of an item, or `5.2` at that of a line, is its mark."""
    if end - start > 6 or "," in folded[start:end] or not folded[start].isdigit():
        return False
    before = folded[max(0, start - 8) : start]
    begins = start < 8 and not before.strip(" *_#")
    if _AFTER_MARK.match(folded, end) and (begins or _BEFORE_MARK.search(before)):
        return True
    return begins and "." in folded[start:end]
