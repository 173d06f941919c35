"""Verbatim quotes: the true span or nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dofrag.text.fold import fold_with_map
from dofrag.text.spans import QuotableText, find_quote

WORDS = st.lists(st.text(alphabet="abcdeñáé0123456789", min_size=1, max_size=6), min_size=3, max_size=12)


@given(WORDS, st.data())
def test_a_stretch_of_whole_words_is_found_whatever_the_layout(tokens: list[str], data: st.DataObject) -> None:
    glue = st.sampled_from([" ", "  ", "\n", "\u00a0", " \r\n", " ** ", "\t"])
    text = tokens[0]
    spans = [(0, len(tokens[0]))]
    for token in tokens[1:]:
        text += data.draw(glue)
        spans.append((len(text), len(text) + len(token)))
        text += token
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    quote = " ".join(tokens[first : last + 1]).upper()
    found = find_quote(quote, text)
    assert found is not None
    same = fold_with_map(text[found[0] : found[1]]).text.strip()
    assert same == fold_with_map(quote).text.strip()
    assert any(found[0] == start for start, _ in spans)
    assert any(found[1] == end for _, end in spans)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.text(alphabet="ab ,.", max_size=20))
def test_one_digit_off_is_not_found(value: int, other: int, noise: str) -> None:
    assume(value != other)
    text = f"{noise} la cuota es de {value} pesos {noise}"
    assert find_quote(f"la cuota es de {other} pesos", text) is None
    assert find_quote(f"la cuota es de {value} pesos", text) is not None


@given(st.text(max_size=60), st.text(max_size=200))
def test_never_raises_and_spans_lie_within(quote: str, text: str) -> None:
    found = find_quote(quote, text)
    if found is not None:
        assert 0 <= found[0] < found[1] <= len(text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("13.14", "una cuota de 113.14 pesos"),
        ("117.31", "una cuota de 1,117.31 pesos"),
        ("113", "una cuota de 113.14 pesos"),
        ("0.28 por ciento", "una caída de -0.28 por ciento"),
        ("pagar", "los muelles deberán repagar"),
        ("artículo 1", "el artículo 12 de la ley"),
        ("año", "ano"),
        ("", "texto"),
        ("***", "texto *** más"),
        ("no existe", "existe"),
        ("cinco faros", "cinco, faros"),
    ],
)
def test_not_found(quote: str, text: str) -> None:
    assert find_quote(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text", "stretch"),
    [
        ("ochocientos pesos", "son ocho-\ncientos pesos.", "ocho-\ncientos pesos"),
        ("físico-químico", "análisis físico-\nquímico", "físico-\nquímico"),
        ('la "cuota" básica', "será la «Cuota»  **básica**.", "la «Cuota»  **básica"),
        ("entrara en vigor", "El decreto entrará\nen   vigor", "entrará\nen   vigor"),
        ("2025-2030", "el Plan 2025–2030 de faros", "2025–2030"),
        ("pago 5", "pago 15, pago 5", "pago 5"),
    ],
)
def test_true_span(quote: str, text: str, stretch: str) -> None:
    found = find_quote(quote, text)
    assert found is not None
    assert text[found[0] : found[1]] == stretch


def test_hostile_repetition_is_quick() -> None:
    text = QuotableText("a1 " * 60_000 + "a2")
    started = time.perf_counter()
    assert text.find("a1 " * 150 + "a3") is None
    assert text.find("1" * 300) is None
    assert find_quote("1" * 300, "1" * 100_000) is None
    assert time.perf_counter() - started < 5  # seconds; a quadratic search takes minutes
