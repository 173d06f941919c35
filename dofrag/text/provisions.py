"""Where a provision begins: headings of articles, fractions, numerals and transitories, as path segments.

`heading_provision` is called on every line of a corpus: short lines repeat and are remembered, and the first signs of
the others send most of them away before any pattern is tried. What the paths look like is told in `paths.py`;
mentions within running text are found by `find_provisions`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dofrag.text.fold import fold_chars
from dofrag.text.mentions import FoundProvision, find_provisions
from dofrag.text.numwords import ORDINAL_WORDS, parse_roman
from dofrag.text.paths import (
    ANNEX_NUMBER,
    ARTICLE_NUMBER,
    DIVISION_NUMBER,
    DOTTED_NUMBER,
    LEVELS,
    ROMAN_NUMBER,
    WORD_NUMBER,
    canonical_number,
    provision_matches,
)
from dofrag.text.patterns import late

__all__ = [
    "FoundProvision",
    "ProvisionMark",
    "canonical_number",
    "find_provisions",
    "heading_provision",
    "provision_matches",
]


class ProvisionMark(NamedTuple):
    """A line that begins a provision.

    `kind` is the segment's kind, or "ordinal" for a bare `PRIMERO.-`: a transitory under a heading TRANSITORIOS,
    an operative point elsewhere, so the caller decides. `end` is where the mark ends in the line and the text of
    the provision begins.
    """

    path_segment: str
    level: int
    end: int
    kind: str
    number: str  # "3", "15-A", "II", "unico"; "" for the heading TRANSITORIOS

    def as_transitory(self) -> ProvisionMark:
        """The same line read as one of the transitories: `ARTÍCULO SEGUNDO.-` or `SEGUNDO.-` → `trans:2`."""
        return ProvisionMark(f"trans:{self.number}", LEVELS["art"], self.end, "trans", self.number)


_KINDS: dict[str, tuple[str, str]] = {  # folded beginning → kind, pattern of the mark
    "art": ("art", rf"art(?:iculo|\.)[ *_]*(?P<num>{ARTICLE_NUMBER}|{WORD_NUMBER})(?:[ ](?P<trans>transitorio)\b)?"),
    "ane": ("anx", rf"anexo[ ]+(?:no\.?[ ]*)?(?P<num>{ANNEX_NUMBER})"),
    "ape": ("ape", rf"apendice[ ]+(?:(?:normativo|informativo)[ ]+)?(?P<num>\d{{1,3}}\b|{ROMAN_NUMBER}|[a-z]\b)"),
    "gui": ("guia", rf"guia[ ]+de[ ]+referencia[ ]+(?P<num>{ROMAN_NUMBER}|\d{{1,3}}\b)"),
    "reg": ("regla", rf"regla[ ]+(?P<num>{DOTTED_NUMBER}|\d{{1,3}}[aª]?\b|{WORD_NUMBER})"),
    "num": ("num", rf"numeral[ ]+(?P<num>{DOTTED_NUMBER}|\d{{1,3}}\b)"),
    "fra": ("frac", rf"fraccion[ ]+(?P<num>{ROMAN_NUMBER})"),
    "inc": ("inc", r"inciso[ ]+(?P<num>[a-zñ]{1,2})(?=\))"),
    "cla": ("cla", rf"clausula[ ]+(?P<num>{DIVISION_NUMBER})"),
    "tit": ("tit", rf"titulo[ ]+(?P<num>{DIVISION_NUMBER})"),
    "cap": ("cap", rf"capitulo[ ]+(?P<num>{DIVISION_NUMBER})"),
    "sec": ("sec", rf"seccion[ ]+(?P<num>{DIVISION_NUMBER})"),
    "lib": ("lib", rf"libro[ ]+(?P<num>{DIVISION_NUMBER})"),
}  # fmt: skip
_NAMED = {start: (kind, late(pattern)) for start, (kind, pattern) in _KINDS.items()}
_ORDINAL_STARTS = frozenset(word[:3] for word in (*ORDINAL_WORDS, "unico", "unica"))
_TRANSITORY_STARTS = frozenset({"tra", "t r", "art", "dis", "reg"})

_TRANSITORIES = late(
    r"(?:(?:articulos?|disposiciones|regimen)[ ]+)?(?:transitori[oa]s?|t r a n s i t o r i [oa](?: s)?)[ ]*[.:]?"
    r"(?=[ *_]*$|[ ]+de[ ]+decretos?\b)"
)
_ORDINAL_LINE = late(rf"(?P<num>{WORD_NUMBER})(?:[ ](?P<trans>transitori[oa]))?(?=[ ]?[*_]*[ ]?[.:\-])")
_FRACTION = late(rf"(?P<num>{ROMAN_NUMBER})[*_]*(?=\.(?!\d)|\)|[ ]?-)")
_LETTER = late(r"(?P<num>[a-zñ]{1,2})[*_]*\)")
_APARTADO = late(r"(?P<num>[abefgh])[*_]*\.(?=[-*_ ])")
_NUMERAL = late(r"(?P<num>[1-9]\d?(?:\.(?:0|[1-9]\d{0,2}))*)(?P<close>[*_]*(?:\.-?|\)|-)?)[*_]*(?=[ ]|$)")
# Units after a figure at the beginning of a line: it is an amount that a line break cut off, not a numeral.
_UNIT = late(
    r"[ ]*(?:m\.? ?n\b|usd|mxn|umas?|udis?|km|ha|kg|pesos|por ciento|%|millon|mil|hectareas|metros|dias|anos)\b"
)
_CLOSE = late(r"[*_]*[ ]?[.:)\-–—]*[*_]*[ ]?[.:\-–—]*[*_]*[ \t\u00a0]*")
_HEAD = 64  # characters that a mark can take

_LEAD = frozenset(' \t#*_>"“«')
_LEADS = late(r'[ \t#*_>"“«]{0,16}')
_DIGITS = frozenset("0123456789")
_ROMAN_SIGNS = frozenset("IVXLCDM")
_AFTER_ROMAN = frozenset("IVXLCDM.-) *_–")
_LETTERS = frozenset("abcdefghijklmnñopqrstuvwxyz")
_PLAIN_FRACTION = late(r"[IVX]{1,7}\.[ ](?=[^\W_])")
_AFTER_ARTICLE = late(r"[^\W\d_]{3,9}\.?[ \t\u00a0*_]+([^\s*_]{3})")
_SHORT_LINE = 40
"""Characters of a line that is remembered: `Artículo 12`, `CAPÍTULO II`, `TRANSITORIOS` come again and again."""


def heading_provision(line: str) -> ProvisionMark | None:
    """The provision that `line` begins, or None. A mere mention at the beginning of a line (`Artículo 3 de la
    Ley…`) is none. Markdown marks before it are skipped."""
    if len(line) <= _SHORT_LINE:
        return _short_line(line)
    return None if _begins_nothing(line[:3]) else _begun(line)


@lru_cache(maxsize=8192)  # `La `, `Los`, `par`: most lines begin so
def _begins_nothing(start: str) -> bool:
    """Whether no line with these first three signs begins a provision: `_begun` looks at no others to tell."""
    first, second = start[0], start[1]
    if first in _LEAD or first in _DIGITS or ")" in start or second == "*":
        return False
    if not first.isupper():
        return True
    if (first in _ROMAN_SIGNS and second in _AFTER_ROMAN) or _key(start):
        return False
    return not (second == "." and first in "ABEFGH")


@lru_cache(maxsize=8192)
def _short_line(line: str) -> ProvisionMark | None:
    return _begun(line)


def _begun(line: str) -> ProvisionMark | None:
    at = 0
    first = line[:1]
    if first in _LEAD and (lead := _LEADS.match(line)):
        at = lead.end()
        first = line[at : at + 1]
    if not first:
        return None
    if first in _DIGITS:
        return _numeral(line, at)
    second = line[at + 1 : at + 2]
    if second == ")" or line[at + 2 : at + 3] == ")" or (second == "*" and ")" in line[at : at + 8]):
        return _lettered(line, at)
    if not first.isupper():
        return None  # a heading begins with a capital; `artículo 3.` at a line's beginning is the end of a sentence
    if first in _ROMAN_SIGNS and second in _AFTER_ROMAN and second:
        return _fraction(line, at)
    if key := _key(line[at : at + 3]):
        return _named(line, at, key)
    if second in ".*" and second and first in "ABEFGH":
        return _apartado(line, at)
    return None


@lru_cache(maxsize=4096)
def _key(start: str) -> str:
    """The folded first letters of a line where some named provision begins with them, else ""."""
    key = fold_chars(start)
    return key if key in _NAMED or key in _ORDINAL_STARTS or key in _TRANSITORY_STARTS else ""


def _mark(line: str, at: int, kind: str, number: str, level: int, segment: str | None = None) -> ProvisionMark:
    close = _CLOSE.match(line, at)
    return ProvisionMark(segment or f"{kind}:{number}", level, close.end() if close else at, kind, number)


def _begins_text(line: str, at: int) -> bool:
    """Whether what follows a mark is the provision's own text, and not the rest of a sentence that mentions it."""
    rest = line[at : at + 24]
    if not rest.strip(" *_") or rest[0] in ".:)-–—|":
        return True
    after = rest.lstrip(" *_")
    return rest[0] in " *_" and not (after[0].islower() or after[0] in ",;")


def _named(line: str, at: int, key: str) -> ProvisionMark | None:
    if key == "art" and (word := _AFTER_ARTICLE.match(line, at)) and not _numbers_article(word[1]):
        return None  # `Artículo reformado…`, and the like of it, stands under half the articles of a law
    head = fold_chars(line[at : at + _HEAD]).rstrip(" ")
    if key in _TRANSITORY_STARTS and (match := _TRANSITORIES.match(head)):
        return ProvisionMark("trans", LEVELS["trans"], len(line.rstrip()), "trans", "")
    if key in _NAMED:
        kind, pattern = _NAMED[key]
        match = pattern.match(head)
        if match and _begins_text(line, at + match.end()):
            number = canonical_number(kind, match["num"])
            if number is None:
                return None
            mark = _mark(line, at + match.end(), kind, number, LEVELS.get(kind, 3 + number.count(".") + 1))
            return mark.as_transitory() if match.groupdict().get("trans") else mark
    if key in _ORDINAL_STARTS and (match := _ORDINAL_LINE.match(head)):
        number = canonical_number("trans", match["num"])
        if number is None:
            return None
        # Clauses of an agreement are feminine (PRIMERA.-), transitories and operative points masculine.
        feminine = match["num"].endswith("a")
        if feminine and not match["trans"]:
            return _mark(line, at + match.end(), "cla", number, LEVELS["cla"])
        kind = "trans" if match["trans"] else "ordinal"
        return _mark(line, at + match.end(), kind, number, LEVELS["art"], f"trans:{number}")
    return None


@lru_cache(maxsize=4096)
def _numbers_article(start: str) -> bool:
    """Whether a word that begins so may stand behind `Artículo`: a number, an ordinal, `transitorio`."""
    key = fold_chars(start)
    return key[0].isdecimal() or key[:1] == "t" or key in _ORDINAL_STARTS


def _numeral(line: str, at: int) -> ProvisionMark | None:
    match = _NUMERAL.match(line, at, at + _HEAD)
    if match is None:
        return None
    number = match["num"]
    rest = line[match.end() : match.end() + 24].lstrip(" *_")
    marked = at > 0 and line[at - 1] in "#*_ " and ("#" in line[:at] or "*" in line[:at])
    if rest and (rest[0].islower() or rest[0] in ",;$%/|=+" or _UNIT.match(fold_chars(rest))):
        return None
    if "." not in number and not match["close"].strip("*_") and not marked:
        return None  # a bare "5 Obligaciones" is a numeral only where it is marked as a heading
    return _mark(line, match.end(), "num", number, 3 + number.count(".") + 1)


def _fraction(line: str, at: int) -> ProvisionMark | None:
    if at == 0 and (plain := _PLAIN_FRACTION.match(line)):
        return _plain_fraction(plain[0])
    head = fold_chars(line[at : at + 40])
    match = _FRACTION.match(head)
    if match is None or not line[at : at + len(match["num"].split(" ")[0].split("-")[0])].isupper():
        return None
    raw = match["num"]
    if raw in ("c", "d", "m") or (raw == "l" and head[1:2] != ")"):
        return None  # initials and "C." (ciudadano) before a name: no fraction list reaches 50 with those alone
    number = canonical_number("frac", raw)
    if number is None or not _begins_text(line, at + match.end()):
        return None
    return _mark(line, at + match.end(), "frac", number, LEVELS["frac"])


@lru_cache(maxsize=512)
def _plain_fraction(beginning: str) -> ProvisionMark | None:
    """`IV. ` at the beginning of a line: a third of the lines of a law begin so, with the same few numbers."""
    number = canonical_number("frac", beginning)
    return ProvisionMark(f"frac:{number}", LEVELS["frac"], len(beginning), "frac", number) if number else None


def _lettered(line: str, at: int) -> ProvisionMark | None:
    if line[at] in _LETTERS and line[at + 1] == ")":
        return _mark(line, at + 2, "inc", line[at], LEVELS["inc"])
    head = line[at : at + 8]
    match = _LETTER.match(head.lower())
    if match is None:
        return _fraction(line, at) if head[0] in _ROMAN_SIGNS else None
    raw = head[: match.end("num")]
    if raw[0] in _ROMAN_SIGNS and (len(raw) > 1 or raw in "IVX"):
        return _fraction(line, at)
    if raw.islower() and (len(raw) == 1 or raw[0] == raw[1] or parse_roman(raw) is not None):
        return _mark(line, at + match.end(), "inc", raw, LEVELS["inc"])
    if raw.isupper() and len(raw) == 1:
        return _mark(line, at + match.end(), "ap", raw, LEVELS["ap"])
    return None


def _apartado(line: str, at: int) -> ProvisionMark | None:
    match = _APARTADO.match(line[at : at + 8].lower())
    if match is None:
        return None
    return _mark(line, at + match.end() - 1, "ap", match["num"].upper(), LEVELS["ap"])
