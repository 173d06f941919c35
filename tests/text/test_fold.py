"""Folding: what may differ between two spellings of the same words, and what may not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.text.fold import content_words, fold, fold_chars, fold_with_map, stem, stems, words
from dofrag.text.tokens import estimate_tokens

LETTERS = st.text(alphabet="aeiouáéíóúüñÑÁÉbcdfg 0123456789-.,*_#\n\t«»“”—\u00a0\u00ad\u200b…ﬁ", max_size=80)


def test_case_and_accents_go_and_ene_stays() -> None:
    assert fold("Artículo ÚNICO del AÑO: Pingüino") == "articulo unico del año: pinguino"
    assert fold("an\u0303o") == "año"
    assert fold("\u00a0\u2009") == "  "


@given(st.text(max_size=200))
def test_fold_chars_keeps_offsets(text: str) -> None:
    assert len(fold_chars(text)) == len(text)


@given(st.text(max_size=200))
def test_folding_is_stable_and_never_raises(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert [c for c in text if c.isdigit() and c.isascii()] == [c for c in once if c.isdigit() and c.isascii()]


@given(LETTERS)
def test_composed_and_decomposed_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@given(st.one_of(LETTERS, st.text(max_size=120)))
def test_map_points_back_into_the_original(text: str) -> None:
    folded = fold_with_map(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    for start, end in zip(folded.starts, folded.ends, strict=True):
        assert 0 <= start < end <= len(text)
    # No digit is lost, added or changed.
    assert [c for c in folded.text if c in "0123456789"] == [c for c in text if c in "0123456789"]


@pytest.mark.parametrize(
    ("text", "levelled"),
    [
        ("ocho-\ncientos pesos", "ochocientos pesos"),
        ("**5.2.**  Identificar", "5.2. identificar"),
        ("## Título\n\nPrimero", "titulo primero"),
        ("la «Ley» — y “su” ‘fin’", 'la "ley" - y "su" \'fin\''),
        ("uno\r\n  dos\t\ttres", "uno dos tres"),
        ("artículo 15-\nA", "articulo 15- a"),
        (r"1\. \*nota\*", "1. nota"),
        ("oﬁcio…", "oficio..."),
    ],
)
def test_layout_is_levelled(text: str, levelled: str) -> None:
    assert fold_with_map(text).text == levelled


def test_words_keep_identifiers_and_numerals_whole() -> None:
    assert words("La NOM-099-FARO-2031, numeral 5.2, de $48,661.70") == (
        "la", "nom-099-faro-2031", "numeral", "5.2", "de", "48,661.70",
    )  # fmt: skip
    assert content_words("¿Cuál es la cuota de los faros?") == ("cuota", "faros")


@pytest.mark.parametrize(
    "family",
    [
        ["publica", "publico", "publicado", "publicada", "publicacion", "publicaron"],
        ["reforma", "reformas", "reformado"],
        ["salario", "salarios"],
        ["luz", "luces"],
        ["trabajador", "trabajadores"],
    ],
)
def test_stems_join_a_family(family: list[str]) -> None:
    assert len({stem(w) for w in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("trabajador", "trabajo"), ("año", "ano"), ("faro", "farol"), ("5.2", "5.3")]
)
def test_stems_keep_others_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_stems_of_a_text() -> None:
    assert stems("¿Qué publicó la Junta?") == {stem("publico"), "junt"}


@given(st.text(max_size=50))
def test_estimate_tokens(text: str) -> None:
    assert (len(text) + 3) // 4 == estimate_tokens(text)
