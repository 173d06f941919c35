"""Folding: what two spellings of the same words have in common.

Three strengths, weakest first:

- `fold_chars` changes case, accents and kinds of space, one character for one, so offsets stay true;
- `fold` also composes combining accents and spells ligatures out, so lengths may change;
- `fold_with_map` also levels layout (line breaks, hyphenation, emphasis marks, quotation marks, dashes) and keeps
  a map back to the original offsets.

No strength ever changes a digit or drops a letter. `ñ` is a letter of its own: *año* is not *ano*.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import lru_cache

from dofrag.domain.records import dataclass

_QUOTES = dict.fromkeys("«»“”„‟″", '"') | dict.fromkeys("‘’‚‛′´", "'")
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_SIGNS = {**_QUOTES, **_DASHES, "°": "º"}
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "…": "..."}


def _fold_char(char: str) -> str:
    """One folded character for one character."""
    if char.isspace():
        return " "
    if char in _SIGNS:
        return _SIGNS[char]
    lower = char.lower()
    parts = unicodedata.normalize("NFD", lower)
    if parts.startswith("n\u0303"):
        return "ñ"
    # Only marks are dropped: the jamo of a Hangul syllable, say, are letters.
    if len(parts) > 1 and all(unicodedata.category(p) == "Mn" for p in parts[1:]):
        return parts[0]
    return lower if len(lower) == 1 else char


class _Table(dict[int, str]):
    """A translation table that is filled as characters are met."""

    def __init__(self, spelled_out: dict[str, str]) -> None:
        super().__init__()
        self._spelled_out = spelled_out

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = self._spelled_out.get(char) or _fold_char(char)
        self[code] = folded
        return folded


_ONE_FOR_ONE = _Table({})
_SPELLED_OUT = _Table(_LIGATURES)

# Most text fits one byte a character, and so does what it folds to: a table of bytes is many times as fast.
_CODE_PAGE = "latin-1"
_BYTES = "".join(_ONE_FOR_ONE[code] for code in range(256)).encode(_CODE_PAGE)


def fold_chars(text: str) -> str:
    """Lower case, no accents, every space a plain one; `len(fold_chars(s)) == len(s)`, so that a span found in
    the result is a span of `text`. Combining marks stay where they are."""
    try:
        data = text.encode(_CODE_PAGE)
    except UnicodeEncodeError:
        return text.translate(_ONE_FOR_ONE)
    return data.translate(_BYTES).decode(_CODE_PAGE)


def fold(text: str) -> str:
    """Lower case, no accents (`ñ` stays), every Unicode space a plain space, quotation marks and dashes alike."""
    if text.isascii():
        return text.lower().translate(_ONE_FOR_ONE)
    composed = unicodedata.normalize("NFC", text).translate(_SPELLED_OUT)
    return _COMBINING.sub("", composed)


_COMBINING = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and where each of its characters stood: character `i` comes from `[starts[i], ends[i])` of the
    original."""

    text: str
    starts: array[int]
    ends: array[int]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that folded characters `[start, end)`, at least one, came from."""
        return self.starts[start], self.ends[end - 1]


# What the level fold treats otherwise than one for one. Alternatives are tried in order; none can backtrack far.
_LAYOUT = re.compile(
    r"(?P<gone>[\u00ad\u200b-\u200f\u2060\ufeff\x00-\x08\x0e-\x1b\x7f]+)"  # soft hyphens, zero-width signs, controls
    r"|(?P<hyphen>(?<=[^\W\d_])[-‐\u00ad][ \t]*\r?\n[ \t]*(?=[^\W\d_]))"  # a word that a line end divides
    r"|(?P<head>(?:(?<=\n)|(?<![\s\S]))#{1,6}[ \t]+)"  # marks of a heading
    r"|(?P<escape>\\(?=[!-/:-@\[-`{-~]))"  # Markdown escape
    r"|(?P<mark>[*`]+|(?<![^\W_])_+|_+(?![^\W_]))"  # emphasis
    r"|(?P<space>\s+)"
    r"|(?P<wide>[ﬀﬁﬂﬃﬄﬅﬆ…])"
    r"|(?P<accented>[^\W\d_][\u0300-\u036f]+)"
    r"|(?P<stray>[\u0300-\u036f]+)"
)


class _Builder:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.starts: array[int] = array("q")
        self.ends: array[int] = array("q")
        self.last = " "  # no space at the beginning

    def run(self, text: str, start: int, end: int) -> None:
        """Characters that fold one for one."""
        if start < end:
            folded = fold_chars(text[start:end])
            self.parts.append(folded)
            self.starts.extend(range(start, end))
            self.ends.extend(range(start + 1, end + 1))
            self.last = folded[-1]

    def put(self, folded: str, start: int, end: int) -> None:
        """Characters that all come from one original range."""
        if folded == " " and self.last == " ":
            return
        self.parts.append(folded)
        self.starts.extend([start] * len(folded))
        self.ends.extend([end] * len(folded))
        self.last = folded[-1]


def fold_with_map(text: str) -> Folded:
    """Fold and level the layout: white space and line breaks become single spaces (none at the beginning),
    a hyphen that divides a word at a line end goes, so do emphasis marks, heading marks and Markdown escapes.
    One pass, linear."""
    builder = _Builder()
    at = 0
    for match in _LAYOUT.finditer(text):
        start, end = match.span()
        builder.run(text, at, start)
        kind = match.lastgroup
        if kind == "space":
            builder.put(" ", start, end)
        elif kind == "wide":
            builder.put(_LIGATURES[match.group()], start, end)
        elif kind == "accented":
            builder.put(fold(match.group()), start, end)
        at = end
    builder.run(text, at, len(text))
    return Folded("".join(builder.parts), builder.starts, builder.ends)


# Articles, prepositions, pronouns, auxiliaries and question words: they say nothing of the subject.
_STOP = """
    a al algun alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos asi aun aunque bajo
    bien cada casi como con conforme contra cual cuales cualquier cualquiera cuando cuanta cuantas cuanto cuantos cuya
    cuyas cuyo cuyos da dan de debe deben debia debian dado del desde dicha dichas dicho dichos donde dos durante e el
    ella ellas ello ellos en entre era eran es esa esas ese eso esos esta estaba estaban estan estas este esto estos
    estuvo estuvieron fue fuera fueron ha habia habian haber han hasta hay he hizo hubo incluso la las le les lo los
    mas me mediante mi mientras mismo misma mismas mismos muy ni no nos o otra otras otro otros para pero por porque
    pues que queda quedo quien quienes respecto se sea sean segun ser seran sera si sido siendo sin sino sobre son su
    sus tal tales tambien tan tanto te tener tenia tenian tiene tienen toda todas todo todos tras tu tuvo tuvieron u
    un una unas uno unos y ya
    """
STOP_WORDS = frozenset(_STOP.split())

_WORD = re.compile(r"[^\W_]+(?:[-./,][^\W_]+)*")


def words(text: str) -> tuple[str, ...]:
    """Folded words in order. An identifier, a numeral or a figure is one word: `nom-035-stps-2018`, `5.2`."""
    return tuple(_WORD.findall(fold(text)))


def content_words(text: str) -> tuple[str, ...]:
    """Folded words that say something of the subject, in order, with repeats."""
    return tuple(w for w in words(text) if w not in STOP_WORDS and (len(w) > 1 or w.isdigit()))


# Longest first. Only endings that leave the lexical stem whole; "-dor" is kept on purpose, so that
# *trabajador* (who works) does not become *trabajo* (the work).
_VERBS = """
    aciones iciones acion icion amientos imientos amiento imiento ieron iendo ando aron aran eran iran aban aria
    arian eria irian ados adas idos idas ado ada ido ida ara era ira aba ian ar er ir
    """
_VERB_ENDINGS = tuple(sorted(_VERBS.split(), key=lambda e: (-len(e), e)))
_MIN_STEM = 4


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light stem of a folded Spanish word: plural, gender and the common verb and noun endings go.

    Enough to match `publica`, `publicó`, `publicado` and `publicación`; a word of under five letters, or one
    with a digit, stays as it is. Irregular verbs (*dispuso*, *entró* / *entra en*) are matters for alias data.
    """
    if len(word) < 5 or not word.isalpha():
        return word
    for ending in _VERB_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    if word.endswith("ces"):
        return word[:-3] + "z"
    if word.endswith(("os", "as", "es")) or (len(word) > 6 and word.endswith(("an", "en"))):
        return word[:-2]
    return word[:-1] if word[-1] in "aoe" else word


def stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(stem(w) for w in content_words(text))
