"""Dates in every form that a gazette uses."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.text.dates import find_dates

_MONTHS = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
]
_DAYS = [
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
    "treinta",
]

FORMS = {
    "long": lambda d: f"{d.day} de {_MONTHS[d.month - 1]} de {d.year}",
    "ordinal": lambda d: f"{d.day}{'º' if d.day == 1 else ''} de {_MONTHS[d.month - 1]} del {d.year}",
    "capitals": lambda d: f"{d.day} DE {_MONTHS[d.month - 1].upper()} DE {d.year}",
    "dashed": lambda d: f"{d.day}-{_MONTHS[d.month - 1]}-{d.year}",
    "short": lambda d: f"{d.day:02d}/{_MONTHS[d.month - 1][:3]}/{d.year}",
    "numeric": lambda d: f"{d.day:02d}/{d.month:02d}/{d.year}",
    "iso": lambda d: d.isoformat(),
    "words": lambda d: (
        f"{'treinta y uno' if d.day == 31 else _DAYS[d.day - 1]} de {_MONTHS[d.month - 1]} de {d.year}"
    ),
    "the_day": lambda d: f"{d.day} días del mes de {_MONTHS[d.month - 1]} de {d.year}",
}


@pytest.mark.parametrize("form", sorted(FORMS))
@given(day=st.dates(date(1917, 1, 1), date(2099, 12, 31)))
def test_round_trip(form: str, day: date) -> None:
    shown = FORMS[form](day)
    text = f"México, a {shown}."
    (found,) = find_dates(text)
    assert (found.first, found.last, found.precision) == (day, day, "day")
    assert text[found.start : found.end] == shown


@given(st.text(max_size=300), st.one_of(st.none(), st.integers(1900, 2099)))
def test_never_raises_and_spans_are_in_order(text: str, year: int | None) -> None:
    end = 0
    for found in find_dates(text, default_year=year):
        assert end <= found.start < found.end <= len(text)
        assert found.first <= found.last
        end = found.end


@given(
    st.lists(
        st.sampled_from(
            [
                "1",
                "de",
                "enero,al",
                "y",
                "el",
                "31",
                "febrero",
                "2020",
                "2020-2024",
                "/",
                "-",
                "del",
                "año",
                "dos",
                "mil",
                "doce",
                "hasta",
            ]
        )
    )
)
def test_heaps_of_date_words_do_not_raise(tokens: list[str]) -> None:
    text = " ".join(tokens)
    assert all(f.first <= f.last for f in find_dates(text, default_year=2020))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("diciembre de 2025", [("2025-12-01", "2025-12-31")]),
        ("para 2026", [("2026-01-01", "2026-12-31")]),
        ("del 1 al 15 de julio de 2023", [("2023-07-01", "2023-07-15")]),
        ("del 26 de diciembre de 2022 al 3 de enero de 2023", [("2022-12-26", "2023-01-03")]),
        ("del 8 de agosto al 9 de septiembre de 2006", [("2006-08-08", "2006-09-09")]),
        ("de enero a marzo de 2020", [("2020-01-01", "2020-03-31")]),
        ("de 2025 a 2026", [("2025-01-01", "2025-12-31"), ("2026-01-01", "2026-12-31")]),
        ("3, 4 y 5 de mayo de 2011", [(f"2011-05-0{n}", f"2011-05-0{n}") for n in (3, 4, 5)]),
        ("el 8 y el fijado el 9 de mayo de 2011", [("2011-05-08", "2011-05-08"), ("2011-05-09", "2011-05-09")]),
        ("segunda quincena de julio de 2018", [("2018-07-16", "2018-07-31")]),
        ("doce de julio de dos mil doce", [("2012-07-12", "2012-07-12")]),
        ("primero de enero de mil novecientos noventa y nueve", [("1999-01-01", "1999-01-01")]),
        ("5 (cinco) de mayo del año 2020", [("2020-05-05", "2020-05-05")]),
        ("1.° de enero de 2023", [("2023-01-01", "2023-01-01")]),
    ],
)
def test_forms(text: str, spans: list[tuple[str, str]]) -> None:
    assert [(f.first.isoformat(), f.last.isoformat()) for f in find_dates(text)] == spans


@pytest.mark.parametrize(
    "text",
    [
        "31 de febrero de 2020", "29 de febrero de 2023", "32/01/2020", "00/05/2020", "2020-13-01", "Plan 2013-2018",
        "NOM-099-FARO-2031", "2024 trabajadores", "$2024", "2,024.50", "artículo 2020", "el 9 de enero", "en mayo",
    ],
)  # fmt: skip
def test_no_date(text: str) -> None:
    assert find_dates(text) == []


def test_a_day_without_year_takes_the_default() -> None:
    (found,) = find_dates("publicado el 9 de enero", default_year=2026)
    assert (found.first, found.year_given) == (date(2026, 1, 9), False)
    (month,) = find_dates("la cuota de julio", default_year=2006)
    assert (month.first, month.last, month.precision) == (date(2006, 7, 1), date(2006, 7, 31), "month")
