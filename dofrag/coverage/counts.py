"""How many there are: a count that a question takes for granted, against what a passage counts or lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dofrag.coverage.cues import cue
from dofrag.coverage.items import whole_lists
from dofrag.coverage.numbering import numbering
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.provision import provision_sentences
from dofrag.coverage.source import about, held, names_anything, telling_terms
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.units import Item
from dofrag.domain.evidence import QUOTE_MAX, PremiseStatus
from dofrag.domain.question import DateRequired, ItemRequired, Premise, SubQuestion, ValueRequired
from dofrag.text.fold import stem, words
from dofrag.text.mentions import find_provisions
from dofrag.text.numbers import find_numbers
from dofrag.text.paths import provision_matches

Count = tuple[PremiseStatus, Span, str, tuple[tuple[int, Span], ...]]
"""Whether the count agrees, where it stands, what it is, and what else shows it."""


def counted(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[Count]:
    """What a passage says of a count: the length of the list that is asked for, then a figure with the same noun."""
    yield from _length(premise, sub, prepared)
    yield from _number(premise, sub, prepared)


def speaks(sub: SubQuestion, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a sentence is about what the sub-question asks, and about the provision that it names."""
    for requirement in sub.requirements:
        if requirement.path is not None:
            here = provision_sentences(requirement.path, prepared)
            inside = bool(here) and here[0].start <= sentence.start <= here[-1].start
            mentioned = () if inside else find_provisions(prepared.text[sentence.start : sentence.end])
            if not inside and not any(provision_matches(requirement.path, m.path) for m in mentioned):
                continue
        if isinstance(requirement, ValueRequired) and requirement.indicator is not None:
            return True
        if about(telling_terms(requirement.terms, requirement.source), sentence, prepared, share=0.5):
            return True
        if isinstance(requirement, DateRequired) and names_anything(requirement.source):
            return True
    return False


def _number(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[Count]:
    """A count or measure of the same noun or unit: another figure is the true value."""
    wanted = find_numbers(premise.expected)
    if not wanted:
        return
    number = wanted[0]
    nouns = [stem(w) for w in words(premise.expected[number.end :]) if not w[0].isdigit()][:1]
    for sentence in prepared.sentences:
        alike = [q for q in sentence.quantities if not q.reference and q.unit == number.unit]
        if (
            sentence.heading
            or not alike
            or not speaks(sub, sentence, prepared)
            or not _of_all(sub, sentence, prepared)
        ):
            continue
        for quantity in alike:
            begins = not sentence.folded[: quantity.start - sentence.start].strip(" *_#")
            if begins and len(sentence.folded) < SHORT:
                continue  # the number of a heading
            following = tuple(stem(w) for w in words(quantity.noun)[:3])
            if (nouns and not any(held(n, following) for n in nouns)) or (not nouns and number.unit is None):
                continue
            if quantity.value * FRACTION < number.value and not cue("totals").search(sentence.folded):
                continue  # three of them were named: that says nothing of how many there are
            status = PremiseStatus.SUPPORTED if quantity.value == number.value else PremiseStatus.FALSE
            span = quotable_span(prepared.text, sentence.span, (quantity.start, quantity.end))
            yield status, span, quantity.text, ()


def _of_all(sub: SubQuestion, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a sentence with its title holds all but one of the words of a part: a count of some is none of all."""
    terms = tuple(dict.fromkeys(t for r in sub.requirements for t in r.terms))
    subject = telling_terms(terms, sub.requirements[0].source)
    own = prepared.wide | prepared.issuer_stems
    return sum(held(s, sentence.near) or held(s, own) for s in subject) >= len(subject) - 1


def _irregular(items: Sequence[Item], prepared: PreparedPassage) -> bool:
    """Whether a list has items between its numbers (`II Bis`), or some of which only the number is left: how many it
    lists is then no matter of its numbers."""
    return any(
        "-" in sentence.mark.number or cue("repealed_item").match(sentence.folded, sentence.mark.end) is not None
        for sentence in prepared.sentences
        if sentence.mark is not None and items[0].start <= sentence.start < items[-1].end
    )


MAX_LISTED = 30
"""Items of a list that a correction shows; of a longer one the first and the last."""
FRACTION = 10
"""How many times fewer a count may be than the one it corrects, where nothing says that it is of all."""
SHORT = 60
"""Characters of a line that a number begins and that counts nothing."""


def _length(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[Count]:
    """How many items the list has that the question counts: its last item is the proof."""
    wanted = find_numbers(premise.expected)
    for requirement in sub.requirements:
        if not isinstance(requirement, ItemRequired) or not wanted or requirement.of != wanted[0].value:
            continue
        own = provision_sentences(requirement.path, prepared) if requirement.path else prepared.sentences
        if not own:
            return  # a list of another provision
        for items in whole_lists(requirement, prepared):
            if items[0].start < own[0].start or items[-1].end > own[-1].end:
                continue
            if _irregular(items, prepared):
                return
            status = PremiseStatus.SUPPORTED if len(items) == requirement.of else PremiseStatus.FALSE
            shown = numbering([(n, prepared, (i.start, i.end)) for n, i in enumerate(items)], QUOTE_MAX, MAX_LISTED)
            yield status, shown[-1][1], str(len(items)), shown[:-1]
        return
