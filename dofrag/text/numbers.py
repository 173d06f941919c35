"""Numbers in Spanish text: figures and words, amounts, percentages, surfaces, lengths of time."""

from __future__ import annotations

import re
from decimal import Decimal

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold_chars
from dofrag.text.numwords import CARDINAL_WORDS, ORDINAL_WORDS, parse_cardinal, parse_ordinal
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number at `[start, end)` of the text, unit and currency sign included.

    `kind`: "money" | "percent" | "surface" | "duration" | "ordinal" | "count" (with a unit of another sort) |
    "plain". `unit`: "MXN", "USD", "EUR", "UDI", "UMA"; "percent", "points"; "m2", "km2", "ha"; "days",
    "calendar_days", "working_days", "weeks", "fortnights", "months", "years", "hours", "minutes"; None where none
    is said. A surface written `39-75-26.69` is in hectares.
    """

    start: int
    end: int
    value: Decimal
    kind: str
    unit: str | None = None


_MAX_DIGITS = 30
# 48,661.703 · 1 250.00 (with a no-break or thin space, folded) · 13.0 · 2026 · .5 is left alone
_FIGURE = late(
    r"(?<![\w.,])(?P<sign>-(?=\d))?(?:(?P<hectares>\d{1,7}-\d{2}-\d{2}(?:\.\d+)?)"
    r"|(?P<grouped>\d{1,3}(?:,\d{3})+(?:\.\d+)?)|(?P<typographic>\d{1,3}(?:'\d{3})+(?:[.,]\d{3})*(?:\.\d+)?)"
    r"|(?P<plain>\d+(?:\.\d+)?))(?!\d|[.,]\d|-\d|-[a-z])"
)
_WORD = late(r"[a-zñ]+")
_NUMBER_WORDS = late(
    r"(?<![\w-])(?:un(?=[ ]millon\b)|"
    + "|".join(sorted(CARDINAL_WORDS - {"un", "una", "uno"}, key=lambda w: (-len(w), w)))
    + r")(?![\w-])",
    outline="",
)
_ORDINALS = late(
    r"(?<![\w-])(?:" + "|".join(sorted(ORDINAL_WORDS, key=lambda w: (-len(w), w))) + r")(?![\w-])",
    outline="|".join(sorted({w[:4] for w in ORDINAL_WORDS})),
)
_ORDINAL_SIGN = late(r"(?:\.?[ ]?[ºª]|[oa]\.|(?:er|do|to|vo|mo|no)\b|[oa]\b)")
_MONEY_SIGN = late(r"(?:(?P<usd>us[ ]?\$|usd[ ]?\$?|u\.s\.[ ]?\$)|(?P<eur>€|eur)|(?P<mxn>\$|mxn[ ]?\$?))[ ]*$")
_GLOSS = late(r"[ ]*\((?P<gloss>[^()]{2,200})\)")  # "48,661.703 m² (cuarenta y ocho mil…)"

_SCALE = late(r"[ ](?P<scale>mil[ ]millones|millones|millon|mil)\b(?:[ ]de\b)?")
_SCALES = {"mil millones": 10**9, "millones": 10**6, "millon": 10**6, "mil": 1000}
_HARD_SPACE = late(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # 1 250, set with a space that does not break

_UNITS: tuple[tuple[str, str, str], ...] = (  # kind, unit, folded pattern of what follows the number
    ("percent", "percent", r"%|por[ ]ciento\b|porciento\b"),
    ("percent", "points", r"puntos[ ]porcentuales\b"),
    ("money", "USD", r"usd\b|dolar(?:es)?\b|us[ ]?dls?\b|dls\.?"),
    ("money", "EUR", r"euros?\b"),
    ("money", "MXN", r"m\.[ ]?n\.|mn\b|mxn\b|pesos?\b|(?:de[ ])pesos\b|moneda[ ]nacional\b"),
    ("money", "UDI", r"udis?\b|unidades[ ]de[ ]inversion\b"),
    ("count", "UMA", r"umas?\b|unidades[ ]de[ ]medida[ ]y[ ]actualizacion\b|veces[ ]la[ ](?:uma|unidad)\b"),
    ("surface", "km2", r"km2\b|km²|kilometros?[ ]cuadrados?\b"),
    ("surface", "m2", r"m2\b|m²|mts2\b|metros?[ ]cuadrados?\b"),
    ("surface", "ha", r"has?\b|hectareas?\b"),
    ("duration", "working_days", r"dias?[ ](?:habiles|habil|laborables)\b"),
    ("duration", "calendar_days", r"dias?[ ](?:naturales|natural|calendario|corridos)\b"),
    ("duration", "days", r"dias?\b"),
    ("duration", "weeks", r"semanas?\b"),
    ("duration", "fortnights", r"quincenas?\b"),
    ("duration", "months", r"mes(?:es)?\b"),
    ("duration", "years", r"años?\b"),
    ("duration", "hours", r"horas?\b"),
    ("duration", "minutes", r"minutos?\b"),
    ("count", "points", r"puntos?\b"),
)  # fmt: skip
_UNIT = late("|".join(f"(?P<u{n}>{pattern})" for n, (_, _, pattern) in enumerate(_UNITS)), outline="")


def find_numbers(text: str) -> list[FoundNumber]:
    """All numbers of a text in order, without overlaps. A figure and its words in parentheses are one number; a
    number within an identifier (`NOM-035-STPS-2018`) or a date in digits is none. `un`, `una` alone are articles
    unless a unit follows."""
    folded = fold_chars(_HARD_SPACE.sub("'", text))
    found = [*_figures(folded), *_in_words(folded)]
    found.sort(key=lambda n: (n.start, -n.end))
    out: list[FoundNumber] = []
    for number in found:
        if not out or number.start >= out[-1].end:
            out.append(number)
    return out


def _figures(folded: str) -> list[FoundNumber]:
    out: list[FoundNumber] = []
    for match in _FIGURE.finditer(folded):
        start, end = match.span()
        raw = match.group().lstrip("-")
        if len(raw) > _MAX_DIGITS or folded[max(0, start - 1) : start] in ("-", "/") or folded[end : end + 1] == "/":
            continue
        if match["hectares"]:
            out.append(FoundNumber(start, end, _hectares(raw), "surface", "ha"))
            continue
        value = Decimal(raw.replace(",", "").replace("'", ""))
        if match["sign"]:
            value = -value
        ordinal = _ORDINAL_SIGN.match(folded, end)
        if ordinal and raw.isdigit():
            out.append(FoundNumber(start, ordinal.end(), value, "ordinal"))
            continue
        out.append(_with_unit(folded, start, end, value))
    return out


def _hectares(raw: str) -> Decimal:
    """`39-75-26.69`: hectares, ares, centiares."""
    whole, ares, centiares = raw.split("-")
    return Decimal(whole) + Decimal(ares) / 100 + Decimal(centiares) / 10_000


def _with_unit(folded: str, start: int, end: int, value: Decimal) -> FoundNumber:
    """Add the scale (`millones`), the currency sign before, the unit after, and a gloss (`14 (catorce) inmuebles`,
    `treinta (30) días`, `$5.00 M.N. (cinco pesos…)`)."""
    scale = _SCALE.match(folded, end)
    if scale:
        value *= _SCALES[scale["scale"]]
        end = scale.end()
    sign = _MONEY_SIGN.search(folded, max(0, start - 8), start)
    end = _past_gloss(folded, end, value)
    unit = _unit_at(folded, end)
    kind, name = "plain", None
    if unit:
        kind, name, end = unit
        end = _past_gloss(folded, end, value)
    if sign:
        start, kind = sign.start(), "money"
        name = name if name in ("USD", "EUR", "MXN") else _sign_unit(sign)
    return FoundNumber(start, end, value, kind, name)


def _past_gloss(folded: str, end: int, value: Decimal) -> int:
    """Where a parenthesis that says the same number otherwise ends (its whole part at least), else `end`."""
    gloss = _GLOSS.match(folded, end)
    if gloss is None:
        return end
    inner = gloss["gloss"].strip()
    if inner.isascii() and inner.isdigit() and len(inner) < _MAX_DIGITS:
        return gloss.end() if int(inner) == value else end
    parsed = parse_cardinal(_WORD.findall(inner)[:24])
    return gloss.end() if parsed is not None and parsed[0] == int(value) else end


def _sign_unit(sign: re.Match[str]) -> str:
    return "USD" if sign["usd"] else "EUR" if sign["eur"] else "MXN"


def _unit_at(folded: str, at: int) -> tuple[str, str, int] | None:
    start = at
    while start < at + 3 and folded[start : start + 1] == " ":
        start += 1
    if start == at and folded[at : at + 1].isalpha() and not folded.startswith(("m2", "m²", "ha", "km"), at):
        return None
    match = _UNIT.match(folded, start)
    if match is None or match.lastgroup is None:
        return None
    kind, unit, _ = _UNITS[int(match.lastgroup[1:])]
    return kind, unit, match.end()


def _in_words(folded: str) -> list[FoundNumber]:
    out: list[FoundNumber] = []
    at = 0
    while match := _NUMBER_WORDS.search(folded, at):
        tokens, ends = _tokens(folded, match.start())
        parsed = parse_cardinal(tokens)
        if parsed is None:
            at = match.end()
            continue
        at = ends[parsed[1] - 1]
        out.append(_with_unit(folded, match.start(), at, Decimal(parsed[0])))
    for match in _ORDINALS.finditer(folded):
        tokens, ends = _tokens(folded, match.start())
        ordinal = parse_ordinal(tokens)
        if ordinal is not None:
            out.append(FoundNumber(match.start(), ends[ordinal[1] - 1], Decimal(ordinal[0]), "ordinal"))
    # "un año", "una hora": an article that counts only where a unit of time follows.
    for match in re.finditer(r"(?<![\w-])(?:un|una)[ ]+(?=(?:dia|semana|quincena|mes|año|hora)\b)", folded):
        out.append(_with_unit(folded, match.start(), match.end() - 1, Decimal(1)))
    return out


def _tokens(folded: str, start: int) -> tuple[list[str], list[int]]:
    """Up to 24 words from `start` that only spaces part, and where each ends."""
    tokens: list[str] = []
    ends: list[int] = []
    at = start
    while len(tokens) < 24 and (match := _WORD.match(folded, at)):
        tokens.append(match.group())
        ends.append(match.end())
        at = match.end()
        while folded[at : at + 1] == " ":
            at += 1
    return tokens, ends
