"""From text to what the index holds: one folding, one stop list, one way to read a query. No engine in here.

Accents go before the stemmer, because older gazettes print capitals without them and people type without them:
`RESOLUCION`, `resolución` and `resoluciones` have to meet. The Spanish stemmer knows *-ción* only with its accent,
so that one ending is put into the plural, which it stems the same way with or without. `ñ` is a letter of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

ANALYZER = "es-1"
"""Version of everything in this file and of the analyzer in bm25.py; part of the stamp."""

# The engine's own Spanish list drops forms of *estar*, and with them "Estado"; this one keeps every content word.
STOP_WORDS = tuple(
    """a al ante aquel aquella aquellas aquellos aun aunque cada como con contra cual cuales cualquier cuando cuanta
    cuantas cuanto cuantos cuya cuyas cuyo cuyos de del desde donde durante e el ella ellas ello ellos en entre era
    eran es esa esas ese eso esos esta estas este esto estos fue fueron ha haber habia han hasta hay la las le les lo
    los mas me mediante mi muy nada ni no nos o os otra otras otro otros para pero por porque que quien quienes se
    sea sean segun ser si sido sin sino sobre son su sus tal tambien tan tanto te tiene tienen toda todas todo todos
    tu tus u un una unas uno unos y ya yo""".split()  # noqa: SIM905
)

# Literal beginnings: the pattern engine finds those fast, and every character of a corpus passes here.
_CION = re.compile("cion(?![a-zñ0-9])")
_SION = re.compile("sion(?![a-zñ0-9])")
_COMMON = tuple(zip("áéíóúüºª“”‘’«»–—…°•·\u00a0", "aeiouuoa" + " " * 13, strict=True))
_RARE = re.compile("[^\x00-\x7fñ]+")
_SEPARATOR = "\x1f"  # no letter, and nothing composes with it
_MARKS = re.compile("[\u0300-\u036f]+")
_TOKEN = re.compile(r"(?<!\w)\w+(?:[-/.]\w+)+")  # begins at words only: linear on any input
_PARTS = re.compile(r"[-/]")
QUERY_CHARS = 20_000
"""A query is cut there; a question of any length costs bounded work."""
QUERY_TERMS = 64
"""Distinct terms of a query that are searched, the first ones."""


def normalize(text: str) -> str:
    """Lower case without accents (`ñ` stays), compatibility forms spelled out (`1º` → `1o`), *-ción* as *-ciones*."""
    text = text.lower()
    if not text.isascii():
        if "\u0301" in text or "\u0303" in text:
            text = unicodedata.normalize("NFC", text)
        for sign, plain in _COMMON:  # nearly all there is; what they leave is rare enough for a pattern
            text = text.replace(sign, plain)
        if not text.replace("ñ", "n").isascii():
            text = _RARE.sub(_spell_out, text)
    return _SION.sub("siones", _CION.sub("ciones", text))


def normalize_all(texts: Sequence[str]) -> list[str]:
    """`normalize` of each, several times as fast for many short ones: they go through it in one piece."""
    whole = normalize(_SEPARATOR.join(texts)).split(_SEPARATOR)
    if len(whole) != len(texts):  # one of them holds the separator itself
        return [normalize(text) for text in texts]
    return whole


def _spell_out(match: re.Match[str]) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKD", match.group()))


def query_text(query: str) -> str:
    """A query as it may be handed to the engine: bounded, and free of what UTF-8 cannot hold."""
    return query[:QUERY_CHARS].encode("utf-8", "replace").decode("utf-8")


def identifier_keys(identifiers: Iterable[str]) -> list[str]:
    """What a publication is found by: each of its own identifiers, its signs alone (`A/041/2023`), and their
    beginnings of two parts or more (`NOM-035`, `NOM-035-STPS`)."""
    keys: dict[str, None] = {}
    for identifier in identifiers:
        whole = identifier.upper()
        keys[whole] = None
        for token in _TOKEN.findall(whole):
            keys[token] = None
            ends = [m.start() for m in _PARTS.finditer(token)][1:]
            keys.update(dict.fromkeys(token[:end] for end in ends))
    return list(keys)


def named_identifiers(query: str) -> list[str]:
    """Signs in a query that have the shape of an identifier: parts joined by `-` or `/`, a digit among them."""
    found = (t.upper() for t in _TOKEN.findall(query) if ("-" in t or "/" in t) and any(c.isdigit() for c in t))
    return list(dict.fromkeys(found))[:16]


def provision_keys(path: str | None) -> list[str]:
    """Every inner end of a provision path: `art:3/frac:II` → itself and `frac:II`; a rule is a numeral too."""
    if not path:
        return []
    segments = path.lower().replace("regla:", "num:").split("/")
    return ["/".join(segments[i:]) for i in range(len(segments))]
