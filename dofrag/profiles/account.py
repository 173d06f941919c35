"""Every content word of a question is accounted for: some slot of a requirement or premise holds it.

What no slot holds is `unaccounted`. The engine gives a part such words as the `residue` of its requirements, so that
splitting a question cannot lose a word of it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import date
from typing import Any

from dofrag.domain.question import Base, Premise
from dofrag.domain.records import dataclass
from dofrag.profiles.facts import Facts
from dofrag.profiles.language import Language
from dofrag.profiles.rules import RuleSet
from dofrag.text.fold import fold, fold_chars, stem, words

Range = tuple[int, int]

_WORD = re.compile(r"[^\W_]+(?:[-./,][^\W_]+)*")
_SKIPPED = frozenset({"id", "label", "rule", "span", "source"})


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of the question at `[start, end)`, folded."""

    start: int
    end: int
    text: str


def courtesies(folded: str, rules: RuleSet) -> list[Range]:
    """The stretches of a question that are only polite, or that narrow nothing."""
    return [m.span() for r in rules.of("courtesy") for m in r.pattern.finditer(folded)]


def content(text: str, language: Language, asking: frozenset[str], courtesy: Iterable[Range] = ()) -> Iterator[Word]:
    """The words of a question that say something: neither function words, nor words of asking, nor courtesies."""
    folded = fold_chars(text)
    polite = tuple(courtesy)
    for match in _WORD.finditer(folded):
        said = language.content_words(match.group())
        if said and said[0] not in asking and not any(a <= match.start() < b for a, b in polite):
            yield Word(match.start(), match.end(), fold(match.group()))


def held_by(requirements: Iterable[Base], premises: Iterable[Premise]) -> frozenset[str]:
    """The stems of all words that slots hold, those of the source among them."""
    texts: list[str] = []
    for requirement in requirements:
        texts += _texts(requirement, _SKIPPED)
        texts += _texts(requirement.source, frozenset())
    for premise in premises:
        texts += [premise.expected, *premise.terms, *_texts(premise.source, frozenset())]
    return frozenset(stem(part) for text in texts for word in words(text) for part in (word, *word.split("-")))


def _texts(value: Any, skipped: frozenset[str]) -> Iterator[str]:
    for name in (f.name for f in fields(value) if f.name not in skipped):
        slot = getattr(value, name)
        if isinstance(slot, str):
            yield slot
        elif isinstance(slot, tuple):
            yield from slot


def typed_spans(facts: Facts, requirements: Sequence[Base], premises: Sequence[Premise]) -> Iterator[Range]:
    """The stretches that a typed slot holds in other words than the question's: a date as a period, a provision as
    its path, an alias as the name that it stands for."""
    values = {v for r in requirements for v in (*_plain(r), *_plain(r.source))}
    values |= {p.expected for p in premises}
    days = {(p.start, p.end) for r in requirements if (p := getattr(r, "period", None)) is not None}
    windows = {(r.source.published_from, r.source.published_to) for r in requirements}
    for dated in facts.dates:
        first, last = dated.found.first, dated.found.last
        ends = any(first == a or last == b for a, b in (*days, *windows))
        if ends or any(_within(first, last, a, b) for a, b in (*days, *windows)) or first.isoformat() in values:
            yield dated.start, dated.end
    for provision in facts.provisions:
        if any(_names(value, provision.path) for value in values):
            yield provision.start, provision.end
    for found in (*facts.indicators, *facts.frequencies):
        if any(value == found.alias.name or value.startswith(f"{found.alias.name} ") for value in values):
            yield found.start, found.end
    for spanned in (*facts.identifiers, *facts.issuers, *facts.zones, *facts.editions):
        if spanned.value in values or fold(spanned.value) in values:
            yield spanned.start, spanned.end
    for instrument in facts.instruments:  # an acronym stands for a name
        if instrument.text in values or any(set(instrument.words) <= set(r.source.name) for r in requirements):
            yield instrument.start, instrument.end
    for measure in facts.measures:
        if measure.value in values:
            yield measure.start, measure.end


def _plain(value: Any) -> Iterator[str]:
    """The text slots of a requirement or source as they are."""
    for slot in (getattr(value, f.name) for f in fields(value) if f.name not in ("label", "rule", "id")):
        if isinstance(slot, str):
            yield slot
        elif isinstance(slot, tuple):
            yield from (one for one in slot if isinstance(one, str))


def _within(first: date, last: date, start: date | None, end: date | None) -> bool:
    """Whether a slot of a day or a span tells the date: the same year and more exact, or the same span."""
    return start is not None and end is not None and first <= start and end <= last


def _names(value: str, path: str) -> bool:
    return value == path or value.startswith(f"{path}/") or value == path.rpartition(":")[2].lower()


def unaccounted(said: Iterable[Word], held: frozenset[str], typed: Iterable[Range]) -> tuple[Word, ...]:
    """The words that neither a slot's own words nor a typed stretch accounts for, in order."""
    spans = tuple(typed)
    return tuple(
        word
        for word in said
        if not any(a <= word.start and word.end <= b for a, b in spans)
        and not all(stem(part) in held for part in _parts(word.text))
        and stem(word.text) not in held
    )


def _parts(word: str) -> tuple[str, ...]:
    return tuple(p for p in word.split("-") if p) or (word,)
