"""Spanish number words, ordinals and roman numerals, as values."""

from __future__ import annotations

import re
from collections.abc import Sequence

UNITS = {
    "cero": 0, "un": 1, "uno": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7,
    "ocho": 8, "nueve": 9, "diez": 10, "once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15,
    "dieciseis": 16, "diecisiete": 17, "dieciocho": 18, "diecinueve": 19, "veinte": 20, "veintiun": 21,
    "veintiuno": 21, "veintiuna": 21, "veintidos": 22, "veintitres": 23, "veinticuatro": 24, "veinticinco": 25,
    "veintiseis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29,
}  # fmt: skip
TENS = {
    "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90,
}  # fmt: skip
HUNDREDS = {
    "cien": 100, "ciento": 100, "doscientos": 200, "trescientos": 300, "cuatrocientos": 400, "quinientos": 500,
    "seiscientos": 600, "setecientos": 700, "ochocientos": 800, "novecientos": 900,
}  # fmt: skip
HUNDREDS |= {name[:-2] + "as": value for name, value in HUNDREDS.items() if name.endswith("os")}
CARDINAL_WORDS = frozenset({*UNITS, *TENS, *HUNDREDS, "mil", "millon", "millones"})

_ORDINAL_STEMS = {
    "primer": 1, "segund": 2, "tercer": 3, "cuart": 4, "quint": 5, "sext": 6, "septim": 7, "setim": 7, "octav": 8,
    "noven": 9, "decim": 10, "undecim": 11, "duodecim": 12, "decimoprimer": 11, "decimosegund": 12,
    "decimotercer": 13, "decimocuart": 14, "decimoquint": 15, "decimosext": 16, "decimoseptim": 17,
    "decimoctav": 18, "decimooctav": 18, "decimonoven": 19, "vigesim": 20, "trigesim": 30, "cuadragesim": 40,
    "quincuagesim": 50, "sexagesim": 60, "septuagesim": 70, "octogesim": 80, "nonagesim": 90, "centesim": 100,
}  # fmt: skip
ORDINAL_WORDS: dict[str, int] = {
    **{s + ending: v for s, v in _ORDINAL_STEMS.items() for ending in ("o", "a", "os", "as")},
    "primer": 1,
    "tercer": 3,
    "decimotercer": 13,
    "decimoprimer": 11,
}
ORDINAL = r"(?:" + "|".join(sorted(_ORDINAL_STEMS, key=lambda w: (-len(w), w))) + r")(?:[oa]s?)?"
"""Pattern of a folded ordinal word, to build others with; a word boundary must follow. Stems and endings apart, for
patterns hold it many times over and are compiled at every start."""

CARDINAL = r"(?:" + "|".join(sorted(CARDINAL_WORDS, key=lambda w: (-len(w), w))) + r")"

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")


def _below_thousand(tokens: Sequence[str], at: int) -> tuple[int, int]:
    """Value of the words for 0–999 at `at` and where they end; the end is `at` when there are none."""
    value, start = 0, at
    if at < len(tokens) and tokens[at] in HUNDREDS:
        value, at = HUNDREDS[tokens[at]], at + 1
    if at < len(tokens) and tokens[at] in TENS:
        value, at = value + TENS[tokens[at]], at + 1
        if at + 1 < len(tokens) and tokens[at] == "y" and 0 < UNITS.get(tokens[at + 1], 0) < 10:
            return value + UNITS[tokens[at + 1]], at + 2
        return value, at
    if at < len(tokens) and tokens[at] in UNITS and (UNITS[tokens[at]] or at == start):
        value, at = value + UNITS[tokens[at]], at + 1
    return value, at


def _below_million(tokens: Sequence[str], at: int) -> tuple[int, int]:
    value, end = _below_thousand(tokens, at)
    if end < len(tokens) and tokens[end] == "mil" and (value or end == at):
        rest, end = _below_thousand(tokens, end + 1)
        return (value or 1) * 1000 + rest, end
    return value, end


def parse_cardinal(tokens: Sequence[str]) -> tuple[int, int] | None:
    """The value of the number words at the beginning of folded `tokens`, and how many tokens it takes.

    `y` joins tens to units only. Stops at the first word that cannot continue the number, so *dos tres* is 2.
    """
    value, end = _below_million(tokens, 0)
    if end and end < len(tokens) and tokens[end] in ("millon", "millones"):
        rest, end = _below_million(tokens, end + 1)
        value = value * 1_000_000 + rest
    return (value, end) if end else None


def parse_ordinal(tokens: Sequence[str]) -> tuple[int, int] | None:
    """The value of the ordinal words at the beginning of folded `tokens` (`vigesimo segundo` is 22), and how many
    tokens it takes."""
    if not tokens or tokens[0] not in ORDINAL_WORDS:
        return None
    first = ORDINAL_WORDS[tokens[0]]
    if first % 10 == 0 and first < 100 and len(tokens) > 1 and 0 < ORDINAL_WORDS.get(tokens[1], 0) < 10:
        return first + ORDINAL_WORDS[tokens[1]], 2
    return first, 1


def parse_roman(text: str) -> int | None:
    """Value of a well-formed roman numeral below 4000, in either case; None for anything else."""
    lower = text.lower()
    if not lower or len(lower) > 15 or not _ROMAN.fullmatch(lower):
        return None
    total = 0
    for char, after in zip(lower, [*lower[1:], ""], strict=True):
        value = _ROMAN_VALUES[char]
        total += -value if after and _ROMAN_VALUES[after] > value else value
    return total
