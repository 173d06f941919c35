"""Numbers in digits and words, with their units."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.text.numbers import find_numbers
from dofrag.text.numwords import ORDINAL_WORDS, parse_cardinal, parse_ordinal, parse_roman

_UNITS = [
    "cero",
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
]
_TENS = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_HUNDREDS = [
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
]


def spell(n: int) -> str:
    """A whole number below 10⁹ in Spanish words."""
    if n >= 1_000_000:
        millions, rest = divmod(n, 1_000_000)
        head = "un millón" if millions == 1 else f"{spell(millions)} millones"
        return head + (f" {spell(rest)}" if rest else "")
    if n >= 1000:
        thousands, rest = divmod(n, 1000)
        head = "mil" if thousands == 1 else f"{spell(thousands)} mil"
        return head + (f" {spell(rest)}" if rest else "")
    if n == 100:
        return "cien"
    if n > 100:
        return _HUNDREDS[n // 100 - 1] + (f" {spell(n % 100)}" if n % 100 else "")
    if n >= 30:
        return _TENS[n // 10 - 3] + (f" y {_UNITS[n % 10]}" if n % 10 else "")
    return _UNITS[n]


def roman(n: int) -> str:
    out = ""
    for value, sign in [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                        (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:  # fmt: skip
        while n >= value:
            out, n = out + sign, n - value
    return out


@given(st.integers(2, 999_999_999))
def test_words_round_trip(n: int) -> None:
    (found,) = find_numbers(f"Se conceden {spell(n)} faros.")
    assert found.value == n
    assert f"Se conceden {spell(n)} faros."[found.start : found.end] == spell(n)


@given(st.integers(0, 10**12), st.integers(0, 9999))
def test_figures_round_trip(whole: int, cents: int) -> None:
    text = f"cuota de ${whole:,}.{cents:04d} M.N. al faro"
    (found,) = find_numbers(text)
    assert (found.value, found.kind, found.unit) == (Decimal(f"{whole}.{cents:04d}"), "money", "MXN")


@given(st.integers(1, 3999))
def test_roman_round_trip(n: int) -> None:
    assert parse_roman(roman(n)) == n


@pytest.mark.parametrize("bad", ["", "IIII", "VX", "IC", "Z", "IVI", "M" * 40])
def test_not_roman(bad: str) -> None:
    assert parse_roman(bad) is None


@given(st.text(max_size=200))
def test_never_raises_and_spans_are_in_order(text: str) -> None:
    end = 0
    for found in find_numbers(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end


@given(
    st.lists(st.sampled_from(["mil", "y", "cien", "dos", "millones", "un", "treinta", "$", "1,000", "(", ")", "%"]))
)
def test_heaps_of_number_words_do_not_raise(tokens: list[str]) -> None:
    text = " ".join(tokens)
    assert all(text[n.start : n.end].strip() for n in find_numbers(text))


@pytest.mark.parametrize(
    ("text", "value", "kind", "unit"),
    [
        (
            "$10.8386 M.N. (DIEZ PESOS CON OCHO MIL TRESCIENTOS OCHENTA Y SEIS DIEZMILESIMOS)",
            "10.8386",
            "money",
            "MXN",
        ),
        ("48,661.703 m² (cuarenta y ocho mil seiscientos sesenta y uno)", "48661.703", "surface", "m2"),
        ("39-75-26.69 hectáreas", "39.752669", "surface", "ha"),
        ("sesenta días hábiles", "60", "duration", "working_days"),
        ("treinta (30) días naturales", "30", "duration", "calendar_days"),
        ("3 (tres) años", "3", "duration", "years"),
        ("-0.28 por ciento", "-0.28", "percent", "percent"),
        ("13.0%", "13.0", "percent", "percent"),
        ("USD 1,250.00", "1250.00", "money", "USD"),
        ("2.5 millones de pesos", "2500000", "money", "MXN"),
        ("cien veces la UMA", "100", "count", "UMA"),
        ("4o. muelle", "4", "ordinal", None),
        ("vigésimo segundo", "22", "ordinal", None),
        ("1\u00a0250 faros", "1250", "plain", None),
        ("un año", "1", "duration", "years"),
    ],
)
def test_one_number(text: str, value: str, kind: str, unit: str | None) -> None:
    (found,) = find_numbers(text)
    assert (found.value, found.kind, found.unit) == (Decimal(value), kind, unit)


@pytest.mark.parametrize(
    "text", ["NOM-099-FARO-2031", "23/10/2031", "artículo 15-A", "un faro", "uno de ellos", "1.2.3"]
)
def test_no_number(text: str) -> None:
    assert find_numbers(text) == []


def test_separate_numbers_stay_apart() -> None:
    assert [n.value for n in find_numbers("dos, tres y cuatro faros; 16 a 50 muelles")] == [2, 3, 4, 16, 50]


def test_parsing_stops_where_a_number_cannot_go_on() -> None:
    assert parse_cardinal(["dos", "tres"]) == (2, 1)
    assert parse_cardinal(["treinta", "y", "faros"]) == (30, 1)
    assert parse_cardinal(["faros"]) is None
    assert parse_ordinal(["decimo", "cuarto", "faro"]) == (14, 2)
    assert all(parse_ordinal([word]) is not None for word in ORDINAL_WORDS)
