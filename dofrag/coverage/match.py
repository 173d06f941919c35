"""Whether one read passage supports one requirement: source, slot, value and unit or period agree in that passage.

Pure. A title supports what a publication is and does, never a value; a mention supports nothing.
"""

from __future__ import annotations

from typing import assert_never

from dofrag.coverage.echo import Asked, answering, asked_by, silent
from dofrag.coverage.interface import Support
from dofrag.coverage.items import item_support, list_support
from dofrag.coverage.prepared import PreparedPassage, prepare
from dofrag.coverage.provision import provision_sentences, provision_support
from dofrag.coverage.ranges import range_support
from dofrag.coverage.slots import actor_support, deadline_support, definition_support
from dofrag.coverage.source import mismatch, names_anything
from dofrag.coverage.times import date_support
from dofrag.coverage.topics import publication_support, topic_support
from dofrag.coverage.values import OTHER_DATE, value_support
from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DeadlineRequired,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    ProvisionRequired,
    PublicationRequired,
    RangeRequired,
    Requirement,
    Status,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches

__all__ = ["PreparedPassage", "meets", "prepare"]


def meets(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None = None) -> Support:
    """What `prepared` does for `requirement`: SUPPORTED with the spans to quote, READ when it comes from the right
    source without the value, OPEN when it does not bear on it. `why` says which slot agreed or was missing. `part` is
    the sub-question that the requirement is of: a passage that only repeats it supports nothing."""
    wrong = mismatch(requirement.source, prepared)
    if wrong:
        return Support(Status.OPEN, wrong)
    support = _telling(requirement, prepared, part)
    if support.status is Status.OPEN and support.why != OTHER_DATE and names_anything(requirement.source):
        return Support(Status.READ, support.why)
    return support


def _telling(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    """The support of sentences that tell something which the question does not say itself."""
    support = _held(requirement, prepared)
    if not support.supported or support.identity:
        return support
    asked = asked_by(part, requirement)
    topic = isinstance(requirement, TopicRequired)
    if not topic and not asked.key and part is not None:
        return support  # a question of yes or no is answered in its own words
    beyond = prepared.title_stems if topic else frozenset()
    if _adds(asked, support, prepared, beyond):
        return support
    rest = answering(asked, prepared, beyond)
    again = _held(requirement, rest)
    if again.supported and _adds(asked, again, rest, beyond):
        return again
    return Support(Status.OPEN, "says nothing that the question does not")


def _adds(asked: Asked, support: Support, prepared: PreparedPassage, beyond: frozenset[str]) -> bool:
    spans = [span for proof in support.proofs for span in proof.spans]
    low, high = min(a for a, _ in spans), max(b for _, b in spans)
    near = [s for s in prepared.sentences if s.start < high and low < s.end]
    told = [s for s in near if any(s.start < b and a < s.end for a, b in spans)]
    return any(not silent(asked, s, beyond=beyond) for s in told)


def _held(requirement: Requirement, prepared: PreparedPassage) -> Support:
    support = _by_type(requirement, prepared)
    if support.supported and requirement.path and not isinstance(requirement, ProvisionRequired):
        of_it = isinstance(requirement, (DateRequired, DeadlineRequired))
        return _in_provision(requirement.path, support, prepared, mention=of_it)
    return support


def _in_provision(path: str, support: Support, prepared: PreparedPassage, *, mention: bool) -> Support:
    """What supports must stand in the provision that the question names. A date or a term that is *of* a provision
    may stand elsewhere, in a sentence that says so (`mention`)."""
    own = provision_sentences(path, prepared)
    if mention and support.spans:
        start, end = support.spans[0]
        if any(provision_matches(path, m.path) for m in find_provisions(prepared.text[start:end])):
            return support
    if not own or any(start < own[0].start or end > own[-1].end for p in support.proofs for start, end in p.spans):
        return Support(Status.READ, f"not in {path}: {support.why}")
    return support


def _by_type(requirement: Requirement, prepared: PreparedPassage) -> Support:
    match requirement:
        case ValueRequired():
            return value_support(requirement, prepared)
        case DateRequired():
            return date_support(requirement, prepared)
        case DeadlineRequired():
            return deadline_support(requirement, prepared)
        case ActorRequired():
            return actor_support(requirement, prepared)
        case DefinitionRequired():
            return definition_support(requirement, prepared)
        case RangeRequired():
            return range_support(requirement, prepared)
        case ItemRequired():
            return item_support(requirement, prepared)
        case ListRequired():
            return list_support(requirement, prepared)
        case ProvisionRequired():
            return provision_support(requirement, prepared)
        case PublicationRequired():
            return publication_support(requirement, prepared)
        case TopicRequired():
            return topic_support(requirement, prepared)
        case _:
            assert_never(requirement)
