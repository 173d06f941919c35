"""From text to what the index holds: one folding, one stop list, one way to read a query. No engine in here.

Accents go before the stemmer, because older gazettes print capitals without them and people type without them:
`RESOLUCION`, `resolución` and `resoluciones` have to meet. The Spanish stemmer knows *-ción* only with its accent,
so that one ending is put into the plural, which it stems the same way with or without. `ñ` is a letter of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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

_CION = re.compile("([cs])ion(?![a-zñ0-9])")
_MARKS = re.compile("[\u0300-\u036f]+")
_TOKEN = re.compile(r"\w+(?:[-/.]\w+)+")
_PARTS = re.compile(r"[-/]")
QUERY_CHARS = 20_000
"""A query is cut there; a question of any length costs bounded work."""
QUERY_TERMS = 64
"""Distinct terms of a query that are searched, the first ones."""


def normalize(text: str) -> str:
    """Lower case without accents (`ñ` stays), compatibility forms spelled out (`1º` → `1o`), *-ción* as *-ciones*."""
    text = text.lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("ñ", "\ue000")
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text)).replace("\ue000", "ñ")
    return _CION.sub(r"\1iones", text)


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
