"""What a question takes for granted, held against the passages that were read.

A premise is false only when a read passage holds the true value of the presupposed slot. Finding nothing proves
nothing: a failed search leaves it unclear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from dofrag.coverage.amounts import amounts
from dofrag.coverage.counts import counted, speaks
from dofrag.coverage.cues import cue
from dofrag.coverage.facts import facts_of, unquoted
from dofrag.coverage.lawnames import issued
from dofrag.coverage.numbering import amends_only, ending, numbering, numbers, read_whole
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.quantities import canonical
from dofrag.coverage.source import closeness, held, mismatch, names_anything, telling_terms
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.topics import title_span
from dofrag.coverage.values import speaks_of, value_support
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.evidence import Claim, Draft, FaultCode, PremiseStatus
from dofrag.domain.question import (
    Premise,
    Requirement,
    Source,
    SubQuestion,
    ValueRequired,
)
from dofrag.domain.records import dataclass
from dofrag.text.dates import find_dates
from dofrag.text.fold import content_words, fold, fold_chars, stem, words
from dofrag.text.numbers import find_numbers


@dataclass(frozen=True, slots=True)
class PremiseCheck:
    """SUPPORTED, FALSE or UNCLEAR; for FALSE the passage and span that hold the true value."""

    status: PremiseStatus
    chunk_id: int | None = None
    span: Span | None = None
    found: str = ""
    more: tuple[tuple[int, Span], ...] = ()
    """Further passages and spans that bear on it: the numbering that does exist, the clause that tells what ended."""


UNCLEAR = PremiseCheck(PremiseStatus.UNCLEAR)


def check_premise(premise: Premise, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]) -> PremiseCheck:
    """What the read passages of the premise's source say of it. One that confirms it outweighs any other. Without a
    named source, only passages count that bear on what the sub-question asks."""
    own = [p for p in prepared.values() if not mismatch(premise.source, p)]
    if not names_anything(premise.source):
        own = [p for p in own if any(_concerns(r, p) for r in sub.requirements)]
    if premise.slot == "provision":
        return _provision(premise, own)
    findings = [f for p in own for f in _findings(premise, sub, p)]
    several = premise.slot == "number" and len({f.found for f in findings if f.status is PremiseStatus.FALSE}) > 1
    for status in (PremiseStatus.SUPPORTED, PremiseStatus.FALSE):
        if status is PremiseStatus.FALSE and several:
            break  # where the texts give several numbers, none of them is the true one
        for finding in findings:
            if finding.status is status:
                by_title = premise.slot == "act" and status is PremiseStatus.FALSE and not finding.found
                # A title need not name every act: what it leaves out is absent only from a text that was read whole.
                if by_title and (_said(premise, own) or not read_whole(_same_publication(finding, own))):
                    continue
                return replace(finding, more=ending(_same_publication(finding, own))) if by_title else finding
    return UNCLEAR


def _same_publication(finding: PremiseCheck, own: Sequence[PreparedPassage]) -> list[PreparedPassage]:
    code = next(p.passage.publication.code for p in own if p.id == finding.chunk_id)
    return [p for p in own if p.passage.publication.code == code]


def _concerns(requirement: Requirement, prepared: PreparedPassage) -> bool:
    """Whether a publication is about what is asked: its title is, or a sentence of it by name."""
    if isinstance(requirement, ValueRequired) and requirement.indicator is not None:
        return any(speaks_of(requirement, s, prepared) for s in prepared.sentences)
    subject = telling_terms(requirement.terms, requirement.source)
    own = prepared.wide
    titled = sum(held(s, own) for s in subject)
    return bool(subject) and (
        titled * 10 >= len(subject) * 6
        or any(closeness(subject, s) * 10 >= len(subject) * 8 for s in prepared.sentences)
    )


def _findings(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    match premise.slot:
        case "date":
            yield from _date(premise, sub, prepared)
        case "number":
            for status, span, found, more in counted(premise, sub, prepared):
                yield PremiseCheck(status, prepared.id, span, found, more)
        case "value":
            yield from _value(premise, sub, prepared)
        case "amount":
            for same, sentence, quantity in amounts(premise, sub, prepared):
                status = PremiseStatus.SUPPORTED if same else PremiseStatus.FALSE
                span = quotable_span(prepared.text, sentence.span, (quantity.start, quantity.end))
                yield PremiseCheck(status, prepared.id, span, quantity.text)
        case "act":
            yield from _act(premise, prepared)
            yield from _object(premise, sub, prepared)
        case "amended":
            yield from _amended(premise, prepared)
        case "exists" | "instrument":
            yield PremiseCheck(PremiseStatus.SUPPORTED, prepared.id, title_span(prepared))
        case _:
            return


def _date(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    """The date from which something holds: another date, or a rule that gives another one, is the true value."""
    expected = next((d.first for d in find_dates(premise.expected)), None)
    if expected is None:
        return
    published = prepared.passage.publication.published_on
    for sentence in prepared.sentences:
        verb = cue("effect").search(sentence.folded)
        if verb is None or sentence.heading or not speaks(sub, sentence, prepared):
            continue
        days = [d for d in sentence.dates if d.precision == "day" and d.start - sentence.start >= verb.start()]
        found = days[0].first if days else None
        if found is None and cue("relative_start").search(sentence.folded) and "siguiente" in sentence.folded:
            found = published + timedelta(days=1)
        if found is not None and _comparable(found, expected):
            status = PremiseStatus.SUPPORTED if found == expected else PremiseStatus.FALSE
            core = (days[0].start, days[0].end) if days else None
            span = quotable_span(prepared.text, sentence.span, core)
            yield PremiseCheck(status, prepared.id, span, found.isoformat())


def _comparable(found: date, expected: date) -> bool:
    """Whether two dates can be of the same event: the start of last year's values says nothing of this year's."""
    return found.year == expected.year or abs((found - expected).days) <= 62


def _value(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    """An amount that the question says something was fixed at: what the passage gives for the very thing, time, zone
    and frequency of the question is the true one."""
    wanted = find_numbers(premise.expected)
    for requirement in sub.requirements:
        if not isinstance(requirement, ValueRequired) or not wanted:
            continue
        support = value_support(requirement, prepared)
        if support.supported and support.values:
            near = [s for s in prepared.sentences if any(s.start < b and a < s.end for a, b in support.spans)]
            said = {(q.value, q.unit) for s in near for q in s.quantities}
            same = any(canonical(n.value) == support.values[0] or (n.value, n.unit) in said for n in wanted[:1])
            status = PremiseStatus.SUPPORTED if same else PremiseStatus.FALSE
            start, end = support.proofs[0].spans[0]
            span = next((s for s in support.spans if s[0] <= start and end <= s[1]), (start, end))
            yield PremiseCheck(status, prepared.id, span, support.values[0])


def _object(premise: Premise, sub: SubQuestion, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    """What a repeal repeals: another instrument than the one presupposed."""
    if not any(stem(w).startswith("abrog") for w in words(premise.expected)):
        return
    terms = tuple(t for r in sub.requirements for t in r.terms)
    subject = tuple(s for s in telling_terms(terms, premise.source) if s not in wordset("changes"))
    own = prepared.title_stems
    named = frozenset(map(stem, premise.source.name))  # the law that did it, where it is not what was ended
    by_name = bool(named) and not all(s in named for s in subject)
    if not _told(premise.source) and not by_name and not all(held(s, own) for s in subject):
        return  # some other act that repeals something else
    titled = frozenset(own) | frozenset(issued(prepared))
    if 3 * sum(held(s, titled) for s in subject) >= 2 * len(subject) and not cue("repeals").search(
        fold_chars(prepared.passage.publication.title)
    ):
        return  # what the law itself repealed says nothing of what repealed the law
    for sentence in prepared.sentences:
        repeal = cue("repeals").search(sentence.folded)
        if repeal is None or not subject:
            continue
        same = closeness(subject, sentence) * 10 >= len(subject) * 6
        span = quotable_span(prepared.text, sentence.span, (sentence.start + repeal.start(), sentence.end))
        yield PremiseCheck(PremiseStatus.SUPPORTED if same else PremiseStatus.FALSE, prepared.id, span, "object")


def _told(source: Source) -> bool:
    """Whether the question tells which publication did the act: by name, key, date or issuer. The law that an act was
    done to, or what the act is about, tells no publication."""
    return bool(source.identifier or source.published_from or source.published_to or source.issuer)


def _amended(premise: Premise, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    """Which instrument a reform changes: what its title or its operative sentence says it does."""
    wanted = tuple(dict.fromkeys(stem(w) for w in content_words(premise.expected)))
    telling = tuple(w for w in wanted if w not in wordset("kinds")) or wanted
    for sentence in prepared.sentences:
        verb = cue("aspect_change").search(sentence.folded)
        of_it = cue("of_instrument").search(sentence.folded, verb.end()) if verb else None
        if verb is None or of_it is None:
            continue
        same = sum(held(w, sentence.stems) for w in telling) * 10 >= len(telling) * 6
        span = quotable_span(prepared.text, sentence.span, (sentence.start + verb.start(), sentence.end))
        yield PremiseCheck(PremiseStatus.SUPPORTED if same else PremiseStatus.FALSE, prepared.id, span, "instrument")


def _act(premise: Premise, prepared: PreparedPassage) -> Iterator[PremiseCheck]:
    """What was done to an instrument, as the title says it."""
    expected = {stem(w) for w in words(premise.expected)}
    own = prepared.title_stems
    if any(held(e, own) for e in expected if e in wordset("changes")):
        yield PremiseCheck(PremiseStatus.SUPPORTED, prepared.id, title_span(prepared))
    elif (
        _told(premise.source) and any(held(a, own) for a in wordset("changes")) and expected & set(wordset("changes"))
    ):
        # The true act must be there to be quoted: the passage that holds the title itself.
        where = prepared.quotable.find(prepared.passage.publication.title)
        if where is not None:
            yield PremiseCheck(PremiseStatus.FALSE, prepared.id, quotable_span(prepared.text, where))


def _said(premise: Premise, own: Iterable[PreparedPassage]) -> bool:
    """Whether any read passage of the source does the presupposed act after all."""
    expected = {stem(w) for w in words(premise.expected)} & set(wordset("changes"))
    return any(held(e, p.stems) for p in own for e in expected)


def _provision(premise: Premise, own: Sequence[PreparedPassage]) -> PremiseCheck:
    """A numbered provision does not exist where a publication was read whole and its numbers stop before it."""
    kind, _, number = premise.expected.split("/")[-1].partition(":")
    if not number.isdigit():
        return UNCLEAR
    by_code: dict[str, list[PreparedPassage]] = {}
    for prepared in own:
        by_code.setdefault(prepared.passage.publication.code, []).append(prepared)
    for code in sorted(by_code):
        passages = by_code[code]
        if amends_only(premise, passages[0]):
            continue
        marks = [(n, p, s) for p in passages for s, n in numbers(kind, p)]
        if any(n == int(number) for n, _, _ in marks):
            return PremiseCheck(PremiseStatus.SUPPORTED)
        if read_whole(passages) and (not marks or max(n for n, _, _ in marks) < int(number)):
            if not marks:
                prepared = passages[-1]
                span = quotable_span(prepared.text, title_span(prepared))
                return PremiseCheck(PremiseStatus.FALSE, prepared.id, span)
            shown = numbering(marks)
            chunk_id, span = shown[-1]
            return PremiseCheck(PremiseStatus.FALSE, chunk_id, span, more=shown[:-1])
    return UNCLEAR


def corrects(
    premise: Premise,
    sub: SubQuestion,
    draft: Draft,
    claims: Sequence[Claim],
    prepared: Mapping[int, PreparedPassage],
    *,
    further: bool = False,
) -> bool:
    """Whether the draft states the true value of the premise's slot in a claim, and quotes it; with `further`, or
    quotes what else bears on it."""
    if draft.premise.status is not PremiseStatus.FALSE or not _affirms(draft.premise.correction):
        return False
    check = check_premise(premise, sub, prepared)
    if check.status is not PremiseStatus.FALSE or check.chunk_id is None or check.span is None:
        return False
    bearing = ((check.chunk_id, check.span), *(check.more if further else ()))
    return any(
        c.chunk_id == chunk_id and c.start is not None and c.end is not None and c.start < end and start < c.end
        for claim in claims
        for c in claim.citations
        for chunk_id, (start, end) in bearing
    )


def _affirms(correction: str | None) -> bool:
    """An affirmative correction says what is true; "nothing was found" corrects nothing."""
    return bool(correction and correction.strip()) and not cue("negation").search(fold_chars(correction or ""))


def _claimed(correction: str, claim: Claim, subs: Sequence[SubQuestion]) -> bool:
    """Whether a claim states a correction: the same words, or the claim's words between others that state no figure
    which neither the claim nor the question holds."""
    whole, part = (" ".join(fold(t).split()) for t in (correction, claim.text))
    if whole in part:
        return True
    said = [claim.text, *(c.quote for c in claim.citations), *(sub.question or sub.text for sub in subs)]
    return len(part) >= CLAIMED and part in whole and not unquoted(correction, *map(facts_of, said))


CLAIMED = 12
"""Characters of a claim that a correction repeats, at least."""


def premise_faults(
    draft: Draft,
    sub_questions: Sequence[SubQuestion],
    claims: Sequence[Claim],
    prepared: Mapping[int, PreparedPassage],
) -> list[tuple[FaultCode, str, str, dict[str, Any]]]:
    """Faults as (code, where, message key, values): a premise called false without proof, a correction that no claim
    states, and a premise that the read passages contradict while the draft passes over it."""
    faults: list[tuple[FaultCode, str, str, dict[str, Any]]] = []
    premises = [(p, sub) for sub in sub_questions for p in sub.premises]
    if draft.premise.status is PremiseStatus.FALSE:
        correction = draft.premise.correction or ""
        if not _affirms(correction):
            faults.append((FaultCode.PREMISE_UNPROVEN, "premise", "premise_not_affirmative", {}))
        elif not any(_claimed(correction, c, [sub for _, sub in premises]) for c in claims if c.citations):
            faults.append((FaultCode.PREMISE_UNPROVEN, "premise", "premise_not_claimed", {}))
        elif not any(corrects(p, sub, draft, claims, prepared) for p, sub in premises):
            faults.append((FaultCode.PREMISE_UNPROVEN, "premise", "premise_unproven", {}))
        return faults
    if draft.premise.status is PremiseStatus.UNCLEAR:
        return faults
    for premise, sub in premises:
        check = check_premise(premise, sub, prepared)
        if check.status is PremiseStatus.FALSE:
            values = {"label": premise.label, "chunk_id": check.chunk_id}
            faults.append((FaultCode.PREMISE_UNPROVEN, premise.id, "premise_contradicted", values))
        elif premise.stated and check.status is not PremiseStatus.SUPPORTED:
            faults.append((FaultCode.PREMISE_UNPROVEN, premise.id, "premise_open", {"label": premise.label}))
    return faults
