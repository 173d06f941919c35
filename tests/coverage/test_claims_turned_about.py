"""A claim that puts other words around a quoted figure: it says what no quote of it says."""

from __future__ import annotations

import pytest

from dofrag.coverage.verify import unsaid_turns

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
