"""Whether one read passage supports one requirement: source, slot, value and unit or period agree in that passage.

Pure. A title supports what a publication is and does, never a value; a mention supports nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from dofrag.coverage.brackets import other_row
from dofrag.coverage.echo import asked_by, opposite, silent
from dofrag.coverage.entities import names, siblings, unnamed
from dofrag.coverage.grounded import grounded, vague
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.items import item_support, list_support
from dofrag.coverage.kinds import other_kind
from dofrag.coverage.lawnames import is_law, is_of_law, is_provision_of
from dofrag.coverage.prepared import PreparedPassage, Sentence, prepare
from dofrag.coverage.provision import provision_sentences, provision_support
from dofrag.coverage.ranges import range_support
from dofrag.coverage.residue import unsaid
from dofrag.coverage.slots import actor_support, deadline_support, definition_support
from dofrag.coverage.source import elsewhere, held, mismatch, names_anything, telling_terms
from dofrag.coverage.times import date_support
from dofrag.coverage.topics import publication_support, topic_support
from dofrag.coverage.values import OTHER_DATE, value_support
from dofrag.coverage.values import names as value_names
from dofrag.coverage.wording import tells
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
from dofrag.text.fold import stem, stems, words
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches

__all__ = ["PreparedPassage", "meets", "prepare"]


ENDED = frozenset({"validity", "repeal", "replacement", "extension"})
"""Aspects of an instrument that another one tells."""


def meets(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None = None) -> Support:
    """What `prepared` does for `requirement`: SUPPORTED with the spans to quote, READ when it comes from the right
    source without the value, OPEN when it does not bear on it. `why` says which slot agreed or was missing. `part` is
    the sub-question that the requirement is of: a passage that only repeats it supports nothing.

    Pure; the answer is kept with the passage, so that asking again, as every turn and the closure check do, is a
    look-up."""
    key = ("meets", id(requirement), id(part))
    known = prepared.memo.get(key)
    if known is not None and known[0] is requirement and known[1] is part:
        again: Support = known[2]
        return again
    support = _meets(requirement, prepared, part)
    prepared.memo[key] = (requirement, part, support)
    return support


def _meets(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    if vague(requirement, part):
        return Support(Status.OPEN, "the question does not say what it is about")
    wrong = mismatch(requirement.source, prepared)
    if wrong and requirement.aspect in ENDED:
        requirement = _ended_by_another(requirement)
        wrong = mismatch(requirement.source, prepared)
    if wrong:
        return Support(Status.OPEN, wrong)
    kind = other_kind(requirement, prepared, part)
    if kind:
        return Support(Status.OPEN, f"a publication of another kind: {kind}")
    law = requirement.source.name
    if requirement.path and is_law(law) and not is_provision_of(law, requirement.path, prepared):
        return Support(Status.OPEN, f"a provision of another law than {' '.join(law)}")
    if requirement.path and not _of_an_instrument(requirement, prepared):
        return Support(Status.READ, "the provision of an instrument that the question does not name")
    if isinstance(requirement, PublicationRequired):
        own = prepared.stems | prepared.wide | prepared.issuer_stems
        left = next((w for w in requirement.residue if tells(w) and not held(stem(w), own)), "")
        if left:
            return Support(Status.OPEN, f"says nothing of {left}")
    if off := elsewhere(requirement, prepared):
        return Support(Status.OPEN, f"says nothing of {off}")
    other = unnamed(requirement.entities, prepared)
    support = Support(Status.OPEN, f"does not name {other}") if other else _distinct(requirement, prepared, part)
    if support.status is Status.OPEN and support.why != OTHER_DATE and names_anything(requirement.source):
        return Support(Status.READ, support.why)
    return support


def _of_an_instrument(requirement: Requirement, prepared: PreparedPassage) -> bool:
    """Whether a provision that is asked for is one of an instrument that the question tells: by its source, by what
    it is about, or by the name of a law among its words, which is then the one."""
    if names_anything(replace(requirement.source, gazette_only=False)) or requirement.entities or requirement.cited:
        return True
    spoken = tuple(w for term in requirement.terms for w in words(term))
    head = next((n for n, word in enumerate(spoken) if is_law(spoken[n:])), None)
    if head is not None and len(spoken) - head > 1:
        return is_of_law(spoken[head:], prepared)
    return any(tells(word) for word in spoken)


def _ended_by_another(requirement: Requirement) -> Requirement:
    """The same asked of a publication that is not the instrument itself: it has to name the instrument where it says
    what became of it."""
    source = requirement.source
    named = tuple(dict.fromkeys((*requirement.terms, *source.name)))
    return replace(requirement, terms=named, source=replace(source, name=(), about=()))


def twins(requirement: Requirement, part: SubQuestion | None) -> list[Requirement]:
    """The requirements of a part that ask for the same thing as this one, itself among them, in order: the first and
    the second date of two phases, say."""
    if part is None or isinstance(requirement, (ItemRequired, PublicationRequired)):
        return [requirement]
    alike = [r for r in part.requirements if type(r) is type(requirement) and r.terms == requirement.terms]
    if len(alike) < 2:
        return [requirement]
    plain = replace(requirement, id="", label="")
    return [r for r in alike if r is requirement or replace(r, id="", label="") == plain]


def _distinct(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    """The support of the n-th of several requirements that ask for the same: the n-th sentence that answers, as far
    as the passage has so many."""
    support = _of_each(requirement, prepared, part)
    if not support.supported or support.identity:
        return support
    place = next((n for n, r in enumerate(twins(requirement, part)) if r is requirement), 0)
    view = prepared
    for _ in range(place):
        used = {s.start for s in _proving(support.proofs[0], view)}
        view = replace(view, sentences=tuple(s for s in view.sentences if s.start not in used))
        following = _telling(requirement, view, part)
        if not following.supported:
            break
        support = following
    return support


def _of_each(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    """The support for all the entities: one sentence of all of them, or one for each of several numbered siblings
    (`las regiones 4 y 5`), which are then quoted together."""
    support = _telling(requirement, prepared, part)
    each = siblings(requirement.entities)
    if support.supported or len(each) < 2:
        return support
    others = tuple(e for e in requirement.entities if e not in each)
    found = [_telling(replace(requirement, entities=(*others, e)), prepared, part) for e in each]
    if not all(one.supported for one in found):
        return support
    spans = tuple(dict.fromkeys(span for one in found for span in one.spans))
    proof = Proof(tuple(dict.fromkeys(span for one in found for span in one.proofs[0].spans)))
    values = tuple(v for one in found for v in one.values)
    return Support(Status.SUPPORTED, f"{len(each)} of {len(each)}: {found[0].why}", spans, values, (proof,))


def _telling(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    """The support of sentences that are of the asked entities and tell what the question does not say itself."""
    support = _held(requirement, prepared, part)
    if not support.supported or support.identity:
        return support
    asked = asked_by(part, requirement)
    beyond = stems(prepared.passage.publication.title) if isinstance(requirement, TopicRequired) else frozenset()
    # A question of yes or no is answered in its own words.
    plain = asked.yes_or_no and not isinstance(requirement, TopicRequired)

    missing: list[str] = []

    def tells(sentence: Sentence) -> bool:
        of_it = names(requirement.entities, sentence, prepared) and not (part and opposite(part.text, sentence))
        of_it = of_it and not (part and other_row(sentence, prepared, part))
        of_it = of_it and grounded(requirement, sentence, prepared, part)
        if of_it and (left := unsaid(requirement, sentence, prepared, part)):
            missing.append(left)
            return False
        return of_it and (plain or not silent(asked, sentence, beyond=beyond))

    if any(tells(s) for s in _proving(support.proofs[0], prepared)):
        proofs = tuple(p for p in support.proofs if any(tells(s) for s in _proving(p, prepared)))
        return support if len(proofs) == len(support.proofs) else replace(support, proofs=proofs)
    rest = replace(prepared, sentences=tuple(s for s in prepared.sentences if tells(s)))
    again = _held(requirement, rest, part)
    if again.supported and any(tells(s) for s in _proving(again.proofs[0], rest)):
        return again
    if missing:
        return Support(Status.OPEN, f"says nothing of {missing[0]}")
    return Support(Status.OPEN, "tells nothing of it that the question does not")


def speaks_of_it(requirement: Requirement, sentence: Sentence) -> bool:
    """Whether a sentence shares a word with what is asked: its indicator, or a telling word of its subject."""
    said = " ".join(value_names(requirement)) if isinstance(requirement, ValueRequired) else ""
    subject = telling_terms((*requirement.terms, *words(said)), requirement.source)
    return not subject or any(held(s, sentence.near) for s in subject)


def _proving(proof: Proof, prepared: PreparedPassage) -> list[Sentence]:
    """The sentences that a proof stands in."""
    return [s for s in prepared.sentences if any(s.start < b and a < s.end for a, b in proof.spans)]


def _held(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    support = _by_type(requirement, prepared, part)
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


def _by_type(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> Support:
    match requirement:
        case ValueRequired():
            return value_support(requirement, prepared)
        case DateRequired():
            return date_support(requirement, prepared)
        case DeadlineRequired():
            return deadline_support(requirement, prepared, *((part.text, part.question) if part else ()))
        case ActorRequired():
            return actor_support(requirement, prepared)
        case DefinitionRequired():
            return definition_support(requirement, prepared)
        case RangeRequired():
            return range_support(requirement, prepared)
        case ItemRequired():
            return item_support(requirement, prepared)
        case ListRequired():
            return list_support(requirement, prepared, part.text if part else "")
        case ProvisionRequired():
            return provision_support(requirement, prepared)
        case PublicationRequired():
            return publication_support(requirement, prepared)
        case TopicRequired():
            return topic_support(requirement, prepared, *((part.text, part.question) if part else ()))
        case _:
            assert_never(requirement)
