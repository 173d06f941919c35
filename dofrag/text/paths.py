"""Canonical provision paths: how provisions are numbered, and how their numbers are written.

A path is segments joined by `/`, outer first: `art:3/frac:II/inc:a`, `num:5.2`, `trans:2`. Segments:

    lib, tit, cap, sec, anx, ape, guia   divisions: `tit:1`, `cap:2`, `anx:8`, `anx:1-A`, `anx:unico`
    art, regla, cla                      `art:3`, `art:15-A`, `art:3-bis`, `regla:2.7.1.21`, `cla:1`
    trans                                `trans` for the heading of the section, `trans:2` for one of them
    ap, par, frac, inc, num              `ap:A`, `par:8`, `frac:XXIX-Y`, `inc:a`, `num:5.2`

Patterns here are strings, to build others with; they match folded text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.text.fold import fold
from dofrag.text.numwords import ORDINAL, parse_ordinal, parse_roman

LEVELS = {
    "lib": 0, "tit": 1, "anx": 1, "trans": 1, "ape": 1, "guia": 1, "cap": 2, "sec": 3, "art": 4, "regla": 4, "cla": 4,
    "ap": 5, "par": 5, "frac": 6, "inc": 7,
}  # fmt: skip
"""Depth of each kind, outer first. A numeral stands at 3 plus the count of its parts (`5` 4, `5.2` 5…)."""


BIS = (
    r"(?:bis|ter|quater|quinquies|quinties|sexies|sexties|septies|octies|nonies|novies|decies"
    r"|quintus|sextus|septimus|octavus|nonus)"
)
_ORDINAL_SIGN = r"(?:º\.?|[oa](?:\.|\b))?"
ARTICLE_NUMBER = (
    rf"\d{{1,4}}(?:\.\d{{1,3}})*{_ORDINAL_SIGN}"
    rf"(?:(?<!\.)-[a-z]\b(?!\))|(?<=\.)-[a-z](?=[.\-*_ ]*$|\.|[ ]+de))?(?:[ -]{BIS}\b(?:[ -]\d{{1,2}}\b(?!\.\d))?)?"
    r"(?:(?<!\.)-[a-z]\b)?"
)
"""Folded number of an article: `3`, `4o.`, `15-a`, `2o.-a`, `3 bis`, `915 bis 2`."""
ROMAN_NUMBER = rf"[ivxlcdm]{{1,10}}\b(?:-[a-z0-9]{{1,2}}\b)?(?:[ -]{BIS}\b(?:[ -]\d{{1,2}}\b)?)?"
DOTTED_NUMBER = r"\d{1,3}(?:\.\d{1,3})+"
ANNEX_NUMBER = rf"\d{{1,3}}(?:\.\d{{1,3}})*\b(?:-[a-z]\b)?|unico\b|{ROMAN_NUMBER}|[a-z]\b"
WORD_NUMBER = rf"(?:unic[oa]|{ORDINAL}(?:[ ]{ORDINAL})?)\b"
DIVISION_NUMBER = rf"{WORD_NUMBER}|{ROMAN_NUMBER}|\d{{1,3}}\b"


@lru_cache(maxsize=8192)  # the same few numbers head the lines of a whole corpus
def canonical_number(kind: str, raw: str) -> str | None:
    """`4o.` → `4`, `15-a` → `15-A`, `3 Bis` → `3-bis`, `segundo` → `2`, `XXIX-Y` as it is; None for no number."""
    text = fold(raw).strip(" .")
    if not text:
        return None
    if text[0].isdigit():
        text = re.sub(r"(?<=\d)(?:º|[oaª]\b)\.?", "", text)
        return _join_suffixes(re.split(r"[ -]+", text.strip(" .-")), "")
    if text.startswith("unic"):
        return "unico"
    tokens = text.split()
    if (ordinal := parse_ordinal(tokens)) is not None:
        return str(ordinal[0])
    if kind == "inc":
        return text
    parts = re.split(r"[ -]+", text)
    value = parse_roman(parts[0])
    if value is None:
        return text.upper() if len(text) == 1 else None
    # Divisions are numbered in words, digits or roman numerals at whim; fractions in roman numerals only.
    first = parts[0].upper() if kind in ("frac", "anx", "guia", "ape") else str(value)
    return _join_suffixes(parts[1:], first)


def _join_suffixes(parts: list[str], first: str) -> str:
    named = [p.upper() if len(p) == 1 else p for p in parts if p]
    return "-".join([first, *named] if first else named)


def provision_matches(asked: str, stored: str | None) -> bool:
    """Whether a chunk at path `stored` is the asked provision or lies within it: every asked segment occurs in
    `stored`, in order. A rule may be stored as a plain numeral, so `regla:2.1` and `num:2.1` agree."""
    if stored is None:
        return False
    have = iter(stored.lower().replace("regla:", "num:").split("/"))
    return all(segment in have for segment in asked.lower().replace("regla:", "num:").split("/"))
