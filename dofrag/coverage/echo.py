"""A mention is no answer: what repeats the question, or says nothing beyond it, supports nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import Sentence
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.question import Requirement, SubQuestion
from dofrag.domain.records import dataclass
from dofrag.text.fold import content_words, fold, fold_chars, stem, words

_ASKING = frozenset(
    [
        *("que", "cual", "cuales", "quien", "quienes", "cuando", "donde", "adonde", "como", "cuyo"),
        *("cuanto", "cuanta", "cuantos", "cuantas"),
    ]
)
REPEATED = 0.6
"""Share of the question's words in a row, its word of asking among them, that is a repetition of it."""
MAX_WORDS = 400


@dataclass(frozen=True)
class Asked:
    """The words of a question and of one part of it: what an answer has to add to."""

    whole: tuple[str, ...]
    part: tuple[str, ...]
    key: str  # the word that asks, "" where there is none
    yes_or_no: bool
    stems: frozenset[str]
    figures: frozenset[str]


def asked_by(part: SubQuestion | None, requirement: Requirement) -> Asked:
    """What is asked: the words of the question where they are known, else those of the requirement."""
    if part is None:
        spoken = " ".join((*requirement.terms, *requirement.source.name))
        return _asked("", spoken)
    return _asked(part.question, part.text)


@lru_cache(maxsize=256)
def _asked(question: str, part: str) -> Asked:
    both = f"{question} {part}"
    whole = words(question or part)[:MAX_WORDS]
    said = frozenset(stem(w) for w in content_words(both)) | wordset("slots") | wordset("kinds")
    figures = frozenset(w for w in words(both) if any(c.isdigit() for c in w))
    key = _key(question or part)
    return Asked(whole, words(part)[:MAX_WORDS], key, "¿" in both and not key, said, figures)


def _key(text: str) -> str:
    """The word of asking: the first one after ¿, or the first that an accent marks as one; "" in a question that is
    answered by yes or no, or that orders."""
    at = text.find("¿")
    after = words(text[at + 1 :])[:4] if at >= 0 else ()
    for word in after:
        if word in _ASKING:
            return word
    for raw in re.findall(r"\w+", text)[:MAX_WORDS]:
        if fold(raw) in _ASKING and raw.lower() != fold(raw):
            return fold(raw)
    return ""


FEW = 3
"""New words that are a frame around what is repeated, not yet an answer."""


def repeats(asked: Asked, sentence: Sentence) -> bool:
    """Whether a sentence repeats the question, whatever stands around it. An order (`Compara…`) or a bare phrase has
    no word of asking: it is repeated by all of its words with little around them."""
    own = words(sentence.folded)
    if asked.key:
        runs = (said for said in (asked.whole, asked.part) if len(said) >= 4)
        return asked.key in own and any(_longest(said, own, asked.key) >= REPEATED * len(said) for said in runs)
    if asked.yes_or_no or len(asked.whole) < 4 or _figures(sentence) - asked.figures:
        return False
    new = sum(s.isalpha() and not held(s, asked.stems) for s in _said(sentence.folded))
    return new < FEW and _longest(asked.whole, own, asked.whole[0]) >= 0.9 * len(asked.whole)


def cites(title: frozenset[str], asked: Asked, sentence: Sentence) -> bool:
    """Whether a sentence only cites the title of its publication: all of its words, and little beside them."""
    if len(title) < 4 or _figures(sentence) - asked.figures:
        return False
    if sum(s in _said(sentence.folded) for s in title) * 10 < len(title) * 9:
        return False
    return sum(s.isalpha() and s not in title and not held(s, asked.stems) for s in _said(sentence.folded)) < FEW


def _longest(said: tuple[str, ...], own: tuple[str, ...], key: str) -> int:
    """The longest run of words that both have and that holds the first `key` of the question."""
    if key not in said:
        return 0
    at = said.index(key)
    best = 0
    for n, word in enumerate(own):
        if word != key:
            continue
        low, high = 0, 1
        while low < min(at, n) and said[at - low - 1] == own[n - low - 1]:
            low += 1
        while at + high < len(said) and n + high < len(own) and said[at + high] == own[n + high]:
            high += 1
        best = max(best, low + high)
    return best


def silent(asked: Asked, sentence: Sentence, *, beyond: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence repeats the question, or holds no word, figure, name or date that the question (or `beyond`)
    lacks."""
    if repeats(asked, sentence) or (beyond and cites(beyond, asked, sentence)):
        return True
    return not adds(asked, _said(sentence.folded), _figures(sentence), beyond)


def adds(asked: Asked, stems: frozenset[str], figures: frozenset[str], beyond: frozenset[str]) -> bool:
    if figures - asked.figures:
        return True
    return any(not held(s, asked.stems) and s not in beyond for s in stems if s.isalpha())


@lru_cache(maxsize=4096)
def _said(folded: str) -> frozenset[str]:
    """The stems of a sentence's own words: initials of names, which it also goes by, are none."""
    return frozenset(stem(w) for w in content_words(folded))


def _figures(sentence: Sentence) -> frozenset[str]:
    return frozenset(w for w in words(sentence.folded) if any(c.isdigit() for c in w)) | {
        fold_chars(q.text) for q in sentence.quantities
    }


OPPOSITES = ("opening", "closing"), ("maximum", "minimum"), ("purchase", "sale"), ("import", "export")
"""Pairs of cues: what is asked of the one is never answered by a sentence of the other."""


def opposite(part: str, sentence: Sentence) -> bool:
    """Whether a sentence speaks of the opposite of what a part asks, and not of that itself."""
    said = _sides(part)
    return any(cue(other).search(sentence.folded) and not cue(own).search(sentence.folded) for own, other in said)


@lru_cache(maxsize=256)
def _sides(part: str) -> tuple[tuple[str, str], ...]:
    """The pairs of which a part names one only: that one, and its opposite."""
    folded = fold_chars(part)
    found = []
    for pair in OPPOSITES:
        for own, other in (pair, pair[::-1]):
            if cue(own).search(folded) and not cue(other).search(folded):
                found.append((own, other))
    return tuple(found)
