"""The words of a question that an answer has to account for, and the words that stand for them in a text.

Words that tell no subject are left aside: those of asking, kinds and slots, and verbs, which an answer says in words
of its own. What is a verb is told by its ending and by what stands about it.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from dofrag.coverage.vocabulary import wordset
from dofrag.domain.records import dataclass
from dofrag.text.dates import find_dates
from dofrag.text.fold import STOP_WORDS, fold, stem, words
from dofrag.text.lexicon import same_words
from dofrag.text.mentions import find_provisions
from dofrag.text.numbers import find_numbers
from dofrag.text.patterns import late

_TOKEN = late(r"[^\W_]+(?:[-./,][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of the question: its words, and whether it names (a year, a day) rather than measures. `unit` is
    canonical; `path` is that of the provision which it numbers."""

    spelled: tuple[str, ...]
    value: Decimal
    names: bool = False
    unit: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """The words (folded) and the figures of a part that tell its subject."""

    words: tuple[str, ...]
    figures: tuple[Figure, ...]
    head: str = ""  # the noun that *qué* or *cuál* stands before: the kind of what is asked for


@lru_cache(maxsize=1024)
def said(text: str) -> Said:
    """The words and figures of a part that have to be found again."""
    folded = fold(text)
    tokens = _TOKEN.findall(folded)
    provisions = find_provisions(folded)
    dates = find_dates(folded)
    figures: list[Figure] = []
    for number in find_numbers(folded):
        spelled = tuple(w for w in words(folded[number.start : number.end]) if w not in STOP_WORDS)[:1]
        path = next((p.path for p in provisions if p.start <= number.start < p.end), None)
        names = any(d.start <= number.start < d.end for d in dates)
        if spelled and (number.kind != "ordinal" or path):
            figures.append(Figure(spelled, number.value, names, number.unit, path))
    counted = {w for figure in figures for w in figure.spelled}
    figures += [Figure((w,), Decimal(w), True) for w in tokens if w.isdigit() and w.isascii() and w not in counted]
    raws = _TOKEN.findall(text)
    accented = {fold(raw) for raw in raws if raw.lower().endswith("ó")}
    # *Qué* asks and a noun follows; *que* leads to a verb.
    asking = {fold(raw) for raw in raws if raw.lower() != fold(raw)} & STOP_WORDS
    heads = [after for before, after in pairwise(tokens) if before in asking]
    # *Qué papeles hay que llevar*: only the one with its accent asks.
    marked = [raw.lower() != fold(raw) for raw in raws] if len(raws) == len(tokens) else [True] * len(tokens)
    tokens = [
        "" if word in asking and with_accent else word for word, with_accent in zip(tokens, marked, strict=True)
    ]
    told: list[str] = []
    for at, word in enumerate(tokens):
        if tells(word) and word not in counted and word not in accented and not _is_verb(tokens, at):
            told.append(word)
    return Said(tuple(dict.fromkeys(told)), tuple(dict.fromkeys(figures)), heads[0] if heads else "")


_FINITE = late(r"(?:aron|ieron|aban?|ian|arian?|erian?|irian?)$")
_INFINITIVE = late(r"(?:ar|er|ir)(?:se|l[aeo]s?|me|nos)?$")
_INFLECTED = late(r"(?:[aeo]n?|an|en)$")
_PARTICIPLE = late(r"[ai]d[oa]s?$|[aie]ndo$")


def _is_verb(tokens: list[str], at: int) -> bool:
    """Whether a word of a question is one of its verbs, by its ending and by what stands about it."""
    word = tokens[at]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    about = _about_verbs()
    if word in about["modal"] or (len(word) > 5 and _FINITE.search(word)):
        return True
    if _INFINITIVE.search(word) and len(word) > 4 and before in about["infinitive"]:
        return True
    if before in about["before"] and (_INFLECTED.search(word) or _PARTICIPLE.search(word)):
        return True
    if before in about["participle"] and (_PARTICIPLE.search(word) or word in _irregular()):
        return True
    asked = before not in STOP_WORDS or not before
    return asked and bool(_INFLECTED.search(word)) and (after in about["after"] or after.isdigit())


@cache
def _irregular() -> frozenset[str]:
    """Participles that no ending tells, in every gender and number."""
    return frozenset(w[:-1] + end for w in _about_verbs()["irregular"] for end in ("o", "a", "os", "as"))


def tells(word: str) -> bool:
    """Whether a word tells a subject: no function word, kind, slot or figure."""
    return len(word) > 1 and word not in STOP_WORDS and not word.isdigit() and stem(word) not in _generic()


@cache
def _generic() -> frozenset[str]:
    return wordset("slots", "kinds", "plain", "standing", "acts", "common", "orders")


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("dofrag.coverage").joinpath("paraphrases.toml").read_text(encoding="utf-8"))


@cache
def _about_verbs() -> dict[str, frozenset[str]]:
    return {name: frozenset(map(fold, those)) for name, those in _data()["verbs"].items()}


@cache
def _rows() -> dict[str, tuple[str, ...]]:
    """For each stem of a row, the stems of the row."""
    found: dict[str, tuple[str, ...]] = {}
    for row in same_words():
        stems = tuple(stem(fold(w)) for w in row)
        for one in stems:
            found[one] = tuple(dict.fromkeys((*found.get(one, ()), *stems)))
    for kind, members in _data()["kinds"].items():
        one = stem(fold(kind))
        found[one] = (*found.get(one, ()), *(stem(fold(w)) for w in members))
    return found


def same(word: str) -> tuple[str, ...]:
    return (word, *_rows().get(word, ()))


@cache
def slot_words(name: str | None) -> frozenset[str]:
    return frozenset(fold(w) for w in _data()["slots"].get(name or "", ()))
