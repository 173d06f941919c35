"""What a question says that something amounts to: a figure with its unit, of a thing that need not be a known one."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dofrag.coverage.measures import kin
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.provision import provision_sentences
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.source import held, names_anything
from dofrag.domain.question import Premise, SubQuestion
from dofrag.text.fold import STOP_WORDS, stem, words
from dofrag.text.mentions import find_provisions
from dofrag.text.numbers import FoundNumber, find_numbers

Finding = tuple[bool, Sentence, Quantity]


def amounts(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[Finding]:
    """For each sentence that is of the thing: whether its figure of that unit is the presupposed one, the sentence
    and the figure. Where the text gives several, none of them is *the* figure, and another one is not disproved."""
    wanted = next(iter(find_numbers(premise.expected)), None)
    if wanted is None:
        return
    paths = [r.path for r in sub.requirements if r.path] or [m.path for m in find_provisions(sub.text)]
    inside = [s for path in paths for s in provision_sentences(path, prepared)]
    subject = tuple(dict.fromkeys(stem(w) for term in premise.terms for w in words(term)))
    if not subject or (paths and not inside):
        return
    share = 5 if inside else 8 if names_anything(premise.source) else 10
    own = prepared.wide
    told: list[tuple[Sentence, Quantity]] = []
    for sentence in inside or prepared.sentences:
        alike = [] if sentence.heading else [q for q in sentence.quantities if _alike(q, wanted, premise)]
        hits = sum(held(s, sentence.near) or held(s, own) for s in subject)
        here = any(held(s, sentence.near) for s in subject)
        if inside or (here and hits * 10 >= len(subject) * share):
            told += [(sentence, q) for q in alike]
    values = {q.value for _, q in told}
    for sentence, quantity in told:
        if quantity.value == wanted.value or len(values) == 1:
            yield quantity.value == wanted.value, sentence, quantity


def _alike(quantity: Quantity, wanted: FoundNumber, premise: Premise) -> bool:
    """Whether a figure measures in the same unit, or counts the same noun."""
    if quantity.reference:
        return False
    unit = premise.unit or wanted.unit
    if unit is not None:
        return quantity.unit in kin(unit)
    nouns = [stem(w) for w in words(premise.expected[wanted.end :]) if w not in STOP_WORDS][:1]
    following = tuple(stem(w) for w in words(quantity.noun)[:3])
    return bool(nouns) and held(nouns[0], following) and quantity.value != Decimal(0)
