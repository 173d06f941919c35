"""What a claim says and its quotes do not is pointed out."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dofrag.review.compare import unquoted

QUOTE = "La Comisión resolverá la solicitud en un plazo de noventa días hábiles, por $1,113.14."


@pytest.mark.parametrize(
    ("claim", "loose"),
    [
        ("La comisión resolverá en noventa días hábiles.", ()),
        ("La Comisión resuelve las solicitudes en plazos de noventa días hábiles", ("resuelve",)),
        ("La Comisión resolverá en sesenta días naturales.", ("sesenta", "naturales")),
        ("La Comisión no resolverá en noventa días.", ("no",)),
        ("El plazo es por $1,113.14", ()),
        ("El plazo es de 90 días por $113.14", ("90", "113.14")),
    ],
)
def test_words_and_figures_that_no_quote_has(claim: str, loose: tuple[str, ...]) -> None:
    assert unquoted(claim, [QUOTE]).words == loose


def test_figures_come_first_and_are_marked_as_such() -> None:
    found = unquoted("Siempre son 555 pesos <b>", [QUOTE])
    assert found.words[0] == "555"
    assert '<span class="loose figure">555</span>' in found.html
    assert "&lt;" in found.html


def test_the_day_of_publication_that_the_program_adds_is_no_word_of_the_claim() -> None:
    claim = "El plazo es de noventa días hábiles (DOF 2026-01-09)."
    assert unquoted(claim, [QUOTE], {"2026-01-09"}).words == ()
    assert unquoted(claim, [QUOTE], {"2026-01-10"}).words == ("2026-01-09", "DOF")
    assert unquoted(claim, [QUOTE], {"2026-01-09"}).html.endswith("(DOF 2026-01-09).")


def test_a_negation_or_an_exception_that_a_claim_drops_is_named() -> None:
    quote = "El permiso no se cede ni se vende, salvo autorización de la Comisión."
    assert unquoted("El permiso se cede y se vende, con autorización de la Comisión.", [quote]).dropped == (
        "no", "ni", "salvo",
    )  # fmt: skip
    assert unquoted(quote, [quote]).dropped == ()
    assert unquoted("La autorización es de la Comisión.", [quote]).dropped == ()


def test_a_number_word_is_a_figure() -> None:
    found = unquoted("Una solicitud, en treinta días hábiles.", [QUOTE])
    assert found.words == ("treinta",)
    assert '<span class="loose figure">treinta</span>' in found.html


def test_a_claim_without_quotes_is_left_alone() -> None:
    assert unquoted("Nada lo dice.", []).words == ()


@example("0°", ["nada"])
@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_no_letter_is_lost_and_a_claim_is_in_itself(text: str, quotes: list[str]) -> None:
    from html import unescape

    html = unquoted(text, quotes).html
    bare = unescape(re.sub(r"</?span[^>]*>", "", html))
    assert re.sub(r"\W", "", bare) == re.sub(r"\W", "", text)
    assert unquoted(text, [text]).words == ()
