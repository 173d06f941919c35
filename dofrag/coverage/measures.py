"""Whether a figure is of the unit that is asked for, by itself, its sentence or the header of its column."""

from __future__ import annotations

from dofrag.coverage.cells import cell_context
from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.text.fold import fold_chars, stem, words

_KIN = {
    "days": {"days", "calendar_days", "working_days"},
    "calendar_days": {"calendar_days", "days"},
    "working_days": {"working_days"},
    "m2": {"m2", "ha", "km2"},
    "ha": {"m2", "ha", "km2"},
    "duration": {"days", "calendar_days", "working_days", "weeks", "months", "years", "hours"},
    "money": {"MXN", "USD", "EUR", "UDI", "UMA"},  # a fine, a price: whatever it is paid in
}


_UNITS = frozenset((*_KIN, "MXN", "USD", "percent", "months", "years"))
"""Units with a name of their own: a bare figure is of none of them."""


def kin(unit: str) -> frozenset[str]:
    """The units in which the same may be said: working days are days, no day is a working day."""
    return frozenset(_KIN.get(unit, {unit}))


def unit_fits(unit: str | None, quantity: Quantity) -> bool:
    if quantity.reference:
        return False
    if unit is None:
        return (
            quantity.unit is not None
            or quantity.value != int(quantity.value)
            or quantity.kind != "plain"
            or (quantity.noun[:1].isalpha())
        )
    if unit in ("points", "index"):
        return quantity.unit == "points" or (quantity.unit is None and quantity.value != int(quantity.value))
    if unit == "money" and _in_multiples(quantity):
        return True
    if quantity.unit is not None:
        return quantity.unit in kin(unit)
    if unit in _UNITS:
        return False
    # A unit of another sort is the noun that is counted: "14 inmuebles", "50 trabajadores".
    wanted = {stem(w) for w in words(unit)}
    # Numbers of provisions stand in every reform: only "136 artículos" counts them.
    reach = 1 if any(w in wordset("provisions") for w in wanted) else 4
    following = tuple(stem(w) for w in words(quantity.noun)[:reach])
    return any(held(w, following) for w in wanted)


def _in_multiples(quantity: Quantity) -> bool:
    """Whether a figure counts units of account: `de 50 a 200 veces el salario`, `100 días de multa`."""
    return bool(cue("multiples").match(quantity.noun))


def is_factor(quantity: Quantity, prepared: PreparedPassage) -> bool:
    """Whether a figure is part of a rule of calculation: `multiplicar … por 30.4`, `de 5 a 50 veces el salario`."""
    if cue("times").search(prepared.folded, quantity.start, quantity.end):
        return True
    if cue("times").match(prepared.folded, quantity.end, quantity.end + 80):
        return True
    return bool(cue("factor").search(prepared.folded[max(0, quantity.start - 160) : quantity.start]))


_SPOKEN = {
    "percent": ("en por ciento", "en porcentaje", "en terminos porcentuales"),
    "MXN": ("en pesos", "en moneda nacional"),
}


def said_after(unit: str | None, quantity: Quantity, sentence: Sentence) -> bool:
    """Whether the sentence says further on what its bare figures are in: `5.2 y 4.1, ambos en por ciento`."""
    if quantity.unit is not None or quantity.reference or quantity.value == int(quantity.value):
        return False
    after = sentence.folded[quantity.end - sentence.start :]
    return any(phrase in after for phrase in _SPOKEN.get(unit or "", ()))


_HEADED = {"MXN": ("peso", "$", "m.n"), "percent": ("%", "porcent", "por ciento"), "m2": ("m2", "m²"), "ha": ("ha",)}


def column_fits(unit: str | None, quantity: Quantity, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a bare figure stands in a column whose header says what it counts; never the row's own number."""
    cell = cell_context(prepared, sentence, quantity.start)
    if cell is None or quantity.unit is not None or prepared.text[sentence.start : quantity.start].count("|") < 2:
        return False
    header = fold_chars(cell.column)
    wanted = _HEADED.get(unit or "", (fold_chars(unit),) if unit else ("",))
    return bool(header.strip()) and any(sign in header for sign in wanted)
