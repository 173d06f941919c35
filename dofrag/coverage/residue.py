"""What a question says and its evidence leaves out.

A question names a thing by all of its words: the *weekly* value is not the daily one, the fee of *aircraft* not that
of boats, a limit of *95* not one of 88. So every word and figure of a part has to be found again: in a slot of its
requirements, which is checked on its own, or in the evidence: the sentence, what it stands under and the passage.
What is left over was not answered, however well the rest agrees.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache

from dofrag.coverage.prepared import PreparedPassage, Sentence, acronyms
from dofrag.coverage.provision import provision_sentences
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import Figure, said, same, slot_words
from dofrag.domain.question import (
    DateRequired,
    DeadlineRequired,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    ProvisionRequired,
    RangeRequired,
    Requirement,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.domain.records import dataclass
from dofrag.text.dates import MONTHS, find_dates
from dofrag.text.fold import fold_chars, stem, words
from dofrag.text.mentions import find_provisions
from dofrag.text.numbers import FoundNumber, find_numbers
from dofrag.text.paths import provision_matches

_MONTH_NAMES = {number: name for name, number in reversed(MONTHS.items())}  # the first spelling of each


def unsaid(requirement: Requirement, sentence: Sentence, prepared: PreparedPassage, part: SubQuestion | None) -> str:
    """The first word or figure of the part that neither its slots nor the evidence account for; "" when all are."""
    if part is None:
        return ""
    spoken, slots = said(part.text), _slots(part)
    near = _near(requirement, sentence, prepared)
    for figure in spoken.figures:
        if not (figure.value in slots.figures or slots.words.intersection(figure.spelled) or near.holds(figure)):
            return figure.spelled[0]
    period = requirement.period if isinstance(requirement, (TopicRequired, ListRequired)) else None
    if period is not None and near.words.isdisjoint((str(period.start.year), str(period.end.year))):
        return str(period.start.year)
    if isinstance(requirement, (DateRequired, ItemRequired)):
        return ""
    own = near.stems if isinstance(requirement, ValueRequired) else prepared.stems | near.stems
    if (
        isinstance(requirement, ProvisionRequired)
        and sum(isinstance(r, ProvisionRequired) for r in part.requirements) > 1
    ):
        return ""  # what is said of several need not be said by each
    told = slots.words | _date_words(prepared.passage.publication.published_on)
    asked = [w for w in spoken.words if w not in told and stem(w) not in told]
    if not asked and isinstance(requirement, (ValueRequired, DeadlineRequired)):
        # "And for how many years?": what it is of stands in the part that it continues.
        before = set(said(part.question).words) - set(words(part.text)) - slots.words
        asked = [w for term in requirement.terms for w in words(term) if w in before]
    missed = [w for w in asked if not any(_found(one, own, prepared) for one in same(stem(w)))]
    if asked and not missed and isinstance(requirement, (ValueRequired, DeadlineRequired)):
        # Headings of a consolidated law are as old as its layout: alone, they tie a figure to nothing.
        consolidated = prepared.passage.publication.consolidated
        of_what = [w for w in asked if stem(w) not in wordset("measures")]
        if consolidated and of_what and not any(held(s, prepared.stems) for w in of_what for s in same(stem(w))):
            return of_what[0]
    if isinstance(requirement, (ProvisionRequired, RangeRequired)) and len(missed) * 2 <= len(asked):
        return ""  # their text is asked for as it stands: a question describes it in its own words
    if stem(spoken.head) in wordset("measured") and isinstance(requirement, TopicRequired):
        # What is measured stands with its figure, with the words that narrow it.
        at = asked.index(spoken.head) if spoken.head in asked else len(asked)
        here = near.stems | (prepared.heading_stems if sentence.header else frozenset())
        missed = missed or [w for w in asked[at : at + 2] if not any(held(s, here) for s in same(stem(w)))]
    elif missed[:1] == [spoken.head] and len(asked) > 2 and not isinstance(requirement, ValueRequired):
        missed = missed[1:]  # an answer names one of the kind
    return missed[0] if missed else ""


def _found(word: str, own: frozenset[str], prepared: PreparedPassage) -> bool:
    above = prepared.wide
    if held(word, own) or held(word, above) or held(word, prepared.issuer_stems):
        return True
    return word in _initials(prepared.passage.publication.issuer) or (
        "-" in word and any(one.startswith(word + "-") for one in above)
    )


@lru_cache(maxsize=1024)
def _initials(issuer: str) -> frozenset[str]:
    return acronyms(issuer.title())


LONG = 3
"""Characters of a figure that may number something."""


@dataclass(frozen=True)
class _Evidence:
    """Some sentences of a passage and what they stand under; each view of it is worked out when it is needed."""

    prepared: PreparedPassage
    sentences: tuple[Sentence, ...]

    @cached_property
    def spoken(self) -> str:
        """The sentences, folded, with their tables' headers, the title and the headings."""
        publication, chunk = self.prepared.passage.publication, self.prepared.passage.chunk
        headers = sorted({s.header for s in self.sentences if s.header})
        above = [publication.title, *chunk.heading_path]
        return " . ".join(
            [*above, *(s.folded for s in self.sentences), *(self.prepared.folded[a:b] for a, b in headers)]
        )

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.spoken)) | _date_words(self.prepared.passage.publication.published_on)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset().union(*(s.near for s in self.sentences))

    @cached_property
    def figures(self) -> frozenset[tuple[Decimal, str | None]]:
        measured = {(q.value, q.unit) for s in self.sentences for q in s.quantities}
        return frozenset(measured | {(n.value, n.unit) for n in _title_numbers(self.prepared)})

    @cached_property
    def mentioned(self) -> tuple[str, ...]:
        own = self.prepared.passage.chunk.provision
        return (*((own,) if own else ()), *(p.path for p in find_provisions(self.spoken)))

    def holds(self, figure: Figure) -> bool:
        """Whether a figure stands here: one that measures with its unit, one that numbers a provision as its mention,
        one of a date by its spelling."""
        if figure.path is not None:
            return any(provision_matches(figure.path, path) for path in self.mentioned)
        # A long one is no mark and numbers no provision.
        spelled = figure.names or len(figure.spelled[0]) > LONG
        if spelled and not self.words.isdisjoint(figure.spelled):
            return True
        if figure.names:
            return False
        units = {unit for value, unit in self.figures if value == figure.value}
        return bool(units) and (figure.unit is None or not units.isdisjoint((figure.unit, None)))


def _title_numbers(prepared: PreparedPassage) -> tuple[FoundNumber, ...]:
    if "title_numbers" not in prepared.memo:
        prepared.memo["title_numbers"] = tuple(find_numbers(prepared.passage.publication.title))
    known: tuple[FoundNumber, ...] = prepared.memo["title_numbers"]
    return known


def _near(requirement: Requirement, sentence: Sentence, prepared: PreparedPassage) -> _Evidence:
    """What a sentence says, with its table's header or the sentence it leans on, its title, headings and date. A
    provision or a list says it as a whole."""
    if isinstance(requirement, ProvisionRequired):
        sentences = tuple(provision_sentences(requirement.path, prepared)) or prepared.sentences
    elif isinstance(requirement, (ListRequired, ItemRequired)):
        sentences = prepared.sentences
    else:
        sentences = (sentence,)
    key = ("near", *((s.start, s.end) for s in (sentences[0], sentences[-1])))
    if key not in prepared.memo:
        prepared.memo[key] = _Evidence(prepared, sentences)
    known: _Evidence = prepared.memo[key]
    return known


@lru_cache(maxsize=4096)
def _date_words(day: date) -> frozenset[str]:
    return frozenset((str(day.day), _MONTH_NAMES[day.month], str(day.year)))


@dataclass(frozen=True, slots=True)
class _Slots:
    words: frozenset[str]
    figures: frozenset[Decimal]


@lru_cache(maxsize=512)
def _slots(part: SubQuestion) -> _Slots:
    """The words and figures that slots hold and that coverage checks by them."""
    spoken: list[str] = []
    told: set[str] = set()
    figures: set[Decimal] = set()
    for one in part.requirements:
        source = one.source
        spoken += [*source.name, source.issuer or "", source.identifier or "", *one.entities]
        for day in (source.published_from, source.published_to):
            told |= _date_words(day) if day else frozenset()
        if source.edition:
            told |= slot_words("edition")
        for path in (one.path, one.cited):
            for segment in (path or "").split("/"):
                kind, _, number = segment.partition(":")
                told |= {number, *slot_words(kind)}
        if isinstance(one, ValueRequired):
            spoken += [one.indicator or "", *one.names, one.zone or ""]
            if one.period is not None:
                told |= _date_words(one.period.start) | _date_words(one.period.end)
            told |= slot_words(one.unit) | slot_words(one.frequency)
        elif isinstance(one, ItemRequired):
            figures.add(Decimal(one.of))
        elif isinstance(one, RangeRequired):
            figures |= {Decimal(str(bound)) for bound in (one.low, one.high) if bound is not None}
            # "More than nine" has the bound ten: the figure of the question is one beside it.
            figures |= {figure + step for figure in tuple(figures) for step in (-1, 1)}
        elif isinstance(one, DefinitionRequired):
            spoken.append(one.term)
    measured = {w for n in find_numbers(fold_chars(part.text)) if n.unit for w in words(part.text[n.start : n.end])}
    told |= {*words(" ".join(spoken)), *part.typed} - _presupposed(part) - {w for w in measured if w[0].isdigit()}
    # "The two dates" are two requirements.
    figures |= {Decimal(n) for n in range(2, len(part.requirements) + 1)}
    return _Slots(frozenset(told | {stem(w) for w in told}), frozenset(figures))


def _presupposed(part: SubQuestion) -> set[str]:
    """The words of figures and dates that the question only takes for granted: the evidence has to say them."""
    taken: set[str] = set()
    for premise in part.premises:
        if premise.slot == "date":
            taken.update(w for d in find_dates(premise.expected) for w in _date_words(d.first))
        elif premise.slot in ("amount", "value"):
            taken.update(words(premise.expected))
    return taken
