"""Provision paths: where one begins, and where one is mentioned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.text.provisions import find_provisions, heading_provision, provision_matches

HEADINGS = {
    "Artículo 3.- Es objeto": "art:3", "### Artículo 3": "art:3", "**Artículo 15-A.** Texto": "art:15-A",
    "ARTÍCULO PRIMERO.- Se reforma": "art:1", "Art. 4o.- Los": "art:4", "Artículo 4º. Toda": "art:4",
    "Artículo 3 Bis. Texto": "art:3-bis", "Artículo 2o.-A.- El": "art:2-A", "Artículo 1o.-A fin de": "art:1",
    "Artículo único.- x": "art:unico", "**Artículo** **3.** x": "art:3", "Artículo 17-H Bis. x": "art:17-H-bis",
    "I. Regular": "frac:I", "XXIX-Y. Para": "frac:XXIX-Y", "IV Bis. Hola": "frac:IV-bis", "II) Texto": "frac:II",
    "I.- Texto": "frac:I", "**IV.** Texto": "frac:IV",
    "a) Identificar": "inc:a", "**b)** x": "inc:b", "ñ) Algo": "inc:ñ", "A) Los": "ap:A", "A. Entre los": "ap:A",
    "5.2 Identificar": "num:5.2", "**5.2.** Identificar": "num:5.2", "5. Obligaciones": "num:5", "1) Uno": "num:1",
    "3.1.2.3. Título.": "num:3.1.2.3", "Numeral 8.3": "num:8.3", "Regla 2.7.1.21. Para": "regla:2.7.1.21",
    "Anexo 8": "anx:8", "ANEXO 1-A": "anx:1-A", "Guía de Referencia I": "guia:I", "APÉNDICE NORMATIVO A": "ape:A",
    "TÍTULO PRIMERO": "tit:1", "Capítulo II": "cap:2", "CAPÍTULO ÚNICO": "cap:unico",
    "Sección Primera Del x": "sec:1",
    "SEGUNDA.- Las partes": "cla:2", "TRANSITORIOS": "trans", "T R A N S I T O R I O S": "trans",
    "## ARTÍCULOS TRANSITORIOS": "trans", "Segundo Transitorio. x": "trans:2", "Décimo Cuarto.- El": "trans:14",
    "ARTÍCULO SEGUNDO TRANSITORIO.- x": "trans:2", "ÚNICO.- El": "trans:unico", "I.\u00a0Regular": "frac:I",
}  # fmt: skip


@pytest.mark.parametrize("line", HEADINGS)
def test_headings(line: str) -> None:
    mark = heading_provision(line)
    assert mark is not None
    assert mark.path_segment == HEADINGS[line]
    assert 0 < mark.end <= len(line)


@pytest.mark.parametrize(
    "line",
    [
        "Artículo 3 de la Ley de Faros", "Artículo 3, fracción II", "El artículo 3", "C. Juan Pérez", "M. en C. Juan",
        "L. Juan", "10.8386 M.N. por dólar", "5.2 por ciento", "2026. El año", "1.05 Veces", "Título de Concesión",
        "Segundo párrafo del", "Primero de enero de 2031", "Mixto de", "", "   ", "####", "Clave 3.5", "VI.1 Algo",
        "5 Obligaciones", "Sección de faros", "y) en medio) no"[3:],
    ],
)  # fmt: skip
def test_no_headings(line: str) -> None:
    assert heading_provision(line) is None


def test_text_begins_after_the_mark() -> None:
    mark = heading_provision("**Artículo 15-A.-** Los faros")
    assert mark is not None
    assert "**Artículo 15-A.-** Los faros"[mark.end :] == "Los faros"


def test_a_bare_ordinal_leaves_the_reading_to_the_caller() -> None:
    mark = heading_provision("SEGUNDO.- Notifíquese")
    assert mark is not None
    assert (mark.kind, mark.number) == ("ordinal", "2")
    article = heading_provision("ARTÍCULO SEGUNDO.- El presente")
    assert article is not None
    assert article.as_transitory().path_segment == "trans:2"


MENTIONS = {
    "artículo 3": ["art:3"], "art. 4o., párrafo octavo": ["art:4/par:8"],
    "fracción II del artículo 3": ["art:3/frac:II"], "artículo 132, fracción XXVII Bis": ["art:132/frac:XXVII-bis"],
    "numerales 8.3, 8.4 y 8.5": ["num:8.3", "num:8.4", "num:8.5"], "segundo transitorio": ["trans:2"],
    "artículos 76 y 78": ["art:76", "art:78"], "artículos 5 al 8": ["art:5", "art:6", "art:7", "art:8"],
    "inciso a) de la fracción II del artículo 3": ["art:3/frac:II/inc:a"],
    "incisos a), b) y c) del numeral 5.2": ["num:5.2/inc:a", "num:5.2/inc:b", "num:5.2/inc:c"],
    "transitorios primero y segundo": ["trans:1", "trans:2"], "artículo segundo transitorio": ["trans:2"],
    "el 15-A de la Ley": ["art:15-A"], "último párrafo del artículo 4o": ["art:4/par:ultimo"],
    "artículo 123, apartado A, fracción XXIX-Y": ["art:123/ap:A/frac:XXIX-Y"], "anexos 1 y 2": ["anx:1", "anx:2"],
    "regla 2.7.1.21": ["regla:2.7.1.21"], "el artículo 3 y el artículo 5": ["art:3", "art:5"],
    "capítulo II del título tercero": ["tit:3/cap:2"], "los tramos 1, 2 y 3": [], "anexo técnico": [],
    "cláusulas": [],
}  # fmt: skip


@pytest.mark.parametrize("text", MENTIONS)
def test_mentions(text: str) -> None:
    assert [f.path for f in find_provisions(text)] == MENTIONS[text]


@given(st.text(max_size=200))
def test_never_raises(text: str) -> None:
    mark = heading_provision(text)
    assert mark is None or 0 < mark.end <= len(text)
    assert all(0 <= f.start < f.end <= len(text) for f in find_provisions(text))


@given(
    st.lists(
        st.sampled_from(
            [
                "artículo",
                "artículos",
                "3",
                "y",
                ",",
                "fracción",
                "II",
                "del",
                "inciso",
                "a)",
                "5.2",
                "numerales",
                "al",
                "transitorio",
                "-",
                "BIS",
            ]
        )
    )
)
def test_heaps_of_marks_do_not_raise(tokens: list[str]) -> None:
    text = " ".join(tokens)
    assert len(find_provisions(text)) <= 41 * (len(tokens) + 1)
    heading_provision(text)


def test_huge_ranges_are_bounded() -> None:
    assert len(find_provisions("artículos 1 al 9999")) <= 41


@pytest.mark.parametrize(
    ("asked", "stored", "matches"),
    [
        ("art:3", "tit:1/art:3", True), ("art:3", "art:3/frac:II", True),
        ("art:3/frac:II", "art:3/frac:II/inc:a", True),
        ("art:3", "art:30", False), ("frac:II", "art:3/frac:III", False), ("regla:2.1", "num:2.1", True),
        ("art:15-A", "art:15-a", True), ("trans:2", "trans:3", False), ("art:3", None, False),
    ],
)  # fmt: skip
def test_provision_matches(asked: str, stored: str | None, matches: bool) -> None:
    assert provision_matches(asked, stored) is matches


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("qué dicen el artículo 3 y el 7 de la Ley de Faros", ["art:3", "art:7"]),
        ("el artículo 3 y el 7 de agosto", ["art:3"]),
        ("el artículo 3 y el 5 por ciento", ["art:3"]),
        ("el numeral 5.2 y el 5.4 de la norma", ["num:5.2", "num:5.4"]),
        ("la fracción II y la IV", ["frac:II", "frac:IV"]),
        ("el artículo 3 y el segundo transitorio", ["art:3", "trans:2"]),
        ("el artículo 3 y el octavo párrafo", ["art:3", "par:8"]),
    ],
)
def test_a_second_number_after_a_singular_is_named_too(text: str, paths: list[str]) -> None:
    assert [found.path for found in find_provisions(text)] == paths
