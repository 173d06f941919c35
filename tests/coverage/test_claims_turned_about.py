"""A claim that puts other words around a quoted figure: it says what no quote of it says."""

from __future__ import annotations

import pytest

from dofrag.coverage.verify import unsaid_turns, unsaid_words
from dofrag.text.fold import stems

QUOTE = "| Zona | Diario | | Zona Ribereña | $99.00 |"


@pytest.mark.parametrize(
    "claim",
    [
        "El valor diario en la Zona Ribereña no es $99.00",
        "Zona Ribereña: diario menor que $99.00",
        "El valor diario es de $99.00, quedó sin efectos",
        "En la Zona Serrana el valor diario es de $99.00",
    ],
)
def test_what_turns_it_about_has_to_be_quoted(claim: str) -> None:
    assert unsaid_turns(claim, QUOTE)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Zona Ribereña: Diario $99.00", QUOTE),
        ("La multa no será menor de mil pesos", "La multa no será menor de mil pesos."),
        ("El valor es de $99.00", QUOTE),
    ],
)
def test_what_the_quotes_say_may_be_said(claim: str, quote: str) -> None:
    assert unsaid_turns(claim, quote) == []


@pytest.mark.parametrize(
    ("claim", "unsaid"),
    [
        ("En la Zona Ribereña el valor diario asciende a $99.00, según el aviso", []),
        ("En la Zona Ribereña el valor diario para extranjeros es de $99.00", ["extranjeros"]),
        ("El valor diario provisional es de $99.00 y se devuelve", ["provisional", "devuelve"]),
        ("Ribereña: quince días y $99.00 desde el 3 de mayo de 2031", []),
    ],
)
def test_no_word_is_merely_plausible(claim: str, unsaid: list[str]) -> None:
    assert unsaid_words(claim, stems(QUOTE)) == unsaid
