"""A snippet shows where the question is answered, and that it is a cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.search.snippet import CUT, snippet

FILLER = "Otras cosas sin importancia que se dicen aquí una y otra vez. " * 12
LAW = "".join(f"{FILLER}\n\nArtículo {n}. Texto propio del número {n}.\n" for n in (1, 10, 13, 3, 31))


@pytest.mark.parametrize("number", [1, 3, 10, 13, 31])
def test_the_article_asked_for_is_in_it(number: int) -> None:
    shown = snippet(LAW, f"¿Qué dice el artículo {number}?", 160)
    assert f"Artículo {number}. " in shown
    assert CUT in shown


def test_tables_and_spacing_are_levelled() -> None:
    table = "| Zona | Valor |\n|---|---|\n" + "".join(f"| zona {i}   |  {i * 7}.50 |\n" for i in range(200))
    shown = snippet(table, "zona 150", 120)
    assert "zona 150 |" in shown
    assert "\n" not in shown


def test_short_texts_are_whole() -> None:
    assert snippet("  Un texto\n\ncorto. ", "otra cosa", 100) == "Un texto corto."


def test_without_a_match_it_is_the_beginning() -> None:
    shown = snippet(FILLER, "zzz", 50)
    assert shown.startswith("Otras cosas")
    assert shown.endswith(CUT)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=600), query=st.text(max_size=60), width=st.integers(10, 200))
def test_bounded_and_always_marked_as_cut(text: str, query: str, width: int) -> None:
    shown = snippet(text, query, width)
    assert len(shown) <= width + 50 + 2 * (len(CUT) + 1)
    assert shown == snippet(text, query, width)
    assert CUT in shown or shown == " ".join(text.split())


def test_a_long_text_full_of_matches_stays_quick() -> None:
    assert CUT in snippet("agua " * 400_000, "agua " * 500, 200)
