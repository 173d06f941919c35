"""From text to what the index holds: one folding, one stop list, one way to read a query. No engine in here.

Accents go before the stemmer, because older gazettes print capitals without them and people type without them:
`RESOLUCION`, `resolución` and `resoluciones` have to meet. The Spanish stemmer knows *-ción* only with its accent,
so that one ending is put into the plural, which it stems the same way with or without. `ñ` is a letter of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

ANALYZER = "es-2"
"""Version of everything in this file and of the stemmer in bm25.py; part of the stamp."""

# The engine's own Spanish list drops forms of *estar*, and with them "Estado"; this one keeps every content word.
STOP_WORDS = tuple(
    """a al ante aquel aquella aquellas aquellos aun aunque cada como con contra cual cuales cualquier cuando cuanta
    cuantas cuanto cuantos cuya cuyas cuyo cuyos de del desde donde durante e el ella ellas ello ellos en entre era
    eran es esa esas ese eso esos esta estas este esto estos fue fueron ha haber habia han hasta hay la las le les lo
    los mas me mediante mi muy nada ni no nos o os otra otras otro otros para pero por porque que quien quienes se
    sea sean segun ser si sido sin sino sobre son su sus tal tambien tan tanto te tiene tienen toda todas todo todos
    tu tus u un una unas uno unos y ya yo""".split()  # noqa: SIM905
)

CONSOLIDATED_WORDS = "consolidado consolidada consolidados consolidadas vigente vigentes"
"""A query with one of these may well mean a law as it stands now; any other means what was published."""

# Literal beginnings: the pattern engine finds those fast, and every character of a corpus passes here.
_CION = re.compile("cion(?![a-zñ0-9])")
_SION = re.compile("sion(?![a-zñ0-9])")
_COMMON = tuple(zip("áéíóúüºª“”‘’«»–—…°•·\u00a0", "aeiouuoa" + " " * 13, strict=True))
_RARE = re.compile("[^\x00-\x7fñ]+")
_MARKS = re.compile("[\u0300-\u036f]+")
_TOKEN = re.compile(r"(?<!\w)\w+(?:[-/.]\w+)+")  # begins at words only: linear on any input
_PARTS = re.compile(r"[-/]")
_WORD = re.compile(r"[^\W_]+")
_CODE_PAGE = "latin-1"
_PRINTERS = "“”‘’–—…•"  # what parts words and is common in print, but not in the code page
_ENYE = "~"  # stands for `ñ` among the bytes of a word, which are ASCII but for foreign scripts
_LONG = b"\1"  # in the table of bytes: this text takes the long way
_WORD_BYTES = 64  # of a word at most: longer ones are not searched
_VOCABULARY = 200_000  # words that are remembered, about 40 MB
_NAMES = 20_000  # headings that are remembered, a few MB
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


def _spell_out(match: re.Match[str]) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKD", match.group()))


class Terms:
    """From text to the terms that are indexed and asked for, as many texts at a time as are at hand.

    Nearly all text fits one byte a character: it is folded and cut by a table of bytes, and each distinct word is
    normalised and stemmed once. Text that does not fit, or holds a sign that spells out to several, takes the long
    way to the same terms.
    """

    def __init__(self, stem: Callable[[str], Sequence[str]]) -> None:
        """`stem` gives the terms of one normalised word: one, or none for a stop word."""
        self._stems = _Stems(stem)
        self._names: dict[str, str] = {}
        self._table = _byte_table()

    def of(self, texts: Iterable[str]) -> list[str]:
        """The terms of each text, parted by spaces."""
        words = b" \0 ".join([*map(self._words, texts), b""]).split()
        return b" ".join(map(self._stems.__getitem__, words)).decode().split("\0")[:-1]

    def of_names(self, names: Set[str]) -> Mapping[str, str]:
        """Terms by name, of these and others: names of headings, which come again and again."""
        if len(self._names) > _NAMES:
            self._names.clear()
        new = [name for name in names if name not in self._names]  # `names - keys` would walk all the keys
        self._names.update(zip(new, self.of(new), strict=True))
        return self._names

    def _words(self, text: str) -> bytes:
        try:
            data = text.encode(_CODE_PAGE)
        except UnicodeEncodeError:
            for sign in _PRINTERS:
                text = text.replace(sign, " ")
            try:
                data = text.encode(_CODE_PAGE)
            except UnicodeEncodeError:
                return self._long_way(text)
        folded = data.translate(self._table)
        return self._long_way(text) if _LONG in folded else folded

    def _long_way(self, text: str) -> bytes:
        return " ".join(_WORD.findall(normalize(text))).replace("ñ", _ENYE).encode()


class _Stems(dict[bytes, bytes]):
    """Word as it was cut → its terms, worked out at the first look-up. Every word of a corpus passes here, so what is
    remembered is kept small: a word that is its own term stands for both."""

    def __init__(self, stem: Callable[[str], Sequence[str]]) -> None:
        super().__init__({b"\0": b"\0"})
        self._stem = stem

    def __missing__(self, word: bytes) -> bytes:
        if len(word) > _WORD_BYTES:
            return b""
        if len(self) > _VOCABULARY:
            self.clear()
            self[b"\0"] = b"\0"
        text = word.decode()
        if not (word.isalpha() and word.islower()) or b"ion" in word:  # else it is normal as it was cut
            text = normalize(text.replace(_ENYE, "ñ"))
        terms = " ".join(self._stem(text)).encode()
        self[word] = terms = word if terms == word else terms
        return terms


def _byte_table() -> bytes:
    """What each byte of the code page is folded to: a space where no word has it, `_LONG` where it spells out to
    several signs."""
    table = bytearray()
    for byte in range(256):
        normal = normalize(bytes([byte]).decode(_CODE_PAGE))
        if normal == "ñ":
            table += _ENYE.encode()
        elif len(normal) == 1 and normal.isascii() and normal.isalnum():
            table += normal.encode()
        else:
            table += _LONG if any(sign.isalnum() for sign in normal) else b" "
    return bytes(table)


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


def outer_keys(path: str | None) -> list[str]:
    """The provisions that a path lies within, whole or cut at the front: of `art:3/frac:II/inc:a` (folded) `art:3`,
    `art:3/frac:II` and `frac:II`."""
    if not path:
        return []
    segments = path.lower().replace("regla:", "num:").split("/")
    return ["/".join(segments[i:j]) for i in range(len(segments)) for j in range(i + 1, len(segments))]
