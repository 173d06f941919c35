"""The things that an answer must be of: proper names, acronyms, and the keys that tell rows and members apart.

A sibling is another thing: *Beca Ancla* is not *Beca Faro*, region 6 is not region 4.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.text.fold import STOP_WORDS, stem, words

_GAP = r"\w{0,6}(?:\W+(?:(?:de|del|la|el|numeros?|num|no|y|e|a|al)\b|[\da-z]{1,4}\b)){0,8}?\W+"


@lru_cache(maxsize=2048)
def _parts(entity: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Stems of the words of an entity, and its tokens that hold a digit."""
    own = [w for w in words(entity) if w not in STOP_WORDS or len(w) == 1]
    keys = tuple(w for w in own if any(c.isdigit() for c in w))
    return tuple(dict.fromkeys(stem(w) for w in own if w not in keys)), keys


def unnamed(entities: tuple[str, ...], prepared: PreparedPassage) -> str:
    """The first entity that a passage does not name, in its text, title, headings or issuer; "" when it names all."""
    for entity in entities:
        names, keys = _parts(entity)
        telling = tuple(n for n in names if n not in wordset("kinds")) or names
        if not keys and all(n in wordset("common") for n in names):
            continue  # the country itself tells nothing apart
        own = prepared.wide
        for name in telling:
            if not (held(name, prepared.stems) or held(name, own) or name in prepared.issuer_stems):
                return entity
        if any(key not in prepared.stems and key not in own for key in keys):
            return entity
    return ""


def names(entities: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a sentence is of every entity that a number or code tells from its siblings, and of no other: the key
    stands with its noun in the sentence, in the first cell of its row, or in the title and headings. A name that the
    title does not hold stands in the sentence, or before it in the passage."""
    return all(_keyed(entity, sentence, prepared) for entity in entities)


def siblings(entities: tuple[str, ...]) -> tuple[str, ...]:
    """The entities that differ from another one only in their number."""
    nouns: dict[tuple[str, ...], list[str]] = {}
    for entity in entities:
        own, keys = _parts(entity)
        if own and keys:
            nouns.setdefault(own, []).append(entity)
    return next((tuple(alike) for alike in nouns.values() if len(alike) > 1), ())


def _keyed(entity: str, sentence: Sentence, prepared: PreparedPassage) -> bool:
    nouns, keys = _parts(entity)
    if not keys:
        return _spoken_of(nouns, sentence, prepared)
    if all(key in prepared.wide for key in keys) and not _beside(nouns, sentence):
        return True
    if sentence.header is not None:
        cells = prepared.folded[sentence.start : sentence.end].strip("| ").split("|")
        label = frozenset(w for cell in cells[:-1][:2] for w in words(cell)) if len(cells) > 1 else frozenset()
        return all(key in label for key in keys)
    if not all(key in sentence.stems for key in keys):
        return False
    # The last noun is the one that the number stands by: "Río Cañas 2".
    return not nouns or all(_with_noun(nouns[-1], key).search(sentence.folded) for key in keys)


def _beside(nouns: tuple[str, ...], sentence: Sentence) -> bool:
    return bool(nouns) and bool(re.search(rf"\b{re.escape(nouns[-1])}\w{{0,6}}\W+\d", sentence.folded))


def _spoken_of(nouns: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage) -> bool:
    if all(held(n, sentence.near) or held(n, prepared.wide) or n in prepared.issuer_stems for n in nouns):
        return True
    above = prepared.wide | prepared.issuer_stems
    before = [s for s in prepared.sentences if s.start < sentence.start]
    return any(
        any(held(n, s.stems) for n in nouns) and all(held(n, s.stems) or held(n, above) for n in nouns)
        for s in before
    )


@lru_cache(maxsize=512)
def _with_noun(noun: str, key: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(noun)}{_GAP}{re.escape(key)}\b(?![.,]\d)")
