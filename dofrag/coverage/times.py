"""Dates in their role. A date of one role never answers for another."""

from __future__ import annotations

from typing import assert_never

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.qualifiers import falls_in
from dofrag.coverage.source import about, closeness, held, names_anything, telling_terms
from dofrag.coverage.spans import quotable_span
from dofrag.coverage.topics import title_span
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.question import DateRequired, DateRole, Period, Source, Status
from dofrag.text.dates import FoundDate
from dofrag.text.fold import stem
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches

DECREE, ISSUED = stem("decreto"), stem("expide")


def _same_act(requirement: DateRequired, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """A decree that issues a law has the law's clause of entry into force and its own: the one that is asked for.
    Likewise the general clause and the deferred one of one instrument."""
    asked = [stem(t) for t in requirement.terms]
    if requirement.role is DateRole.EFFECT and any(t in wordset("deferred") for t in asked):
        return bool(cue("deferred").search(sentence.folded))
    if requirement.role is DateRole.EFFECT and stem("regla") in asked and cue("deferred").search(sentence.folded):
        return False
    if requirement.role is DateRole.EFFECT and _of_another_act(requirement, sentence):
        return False
    said = cue("this_act").search(sentence.folded)
    if said is None:
        return True
    if DECREE in asked and any(t.startswith(ISSUED) for t in asked) and requirement.role is DateRole.EFFECT:
        # "The decree that issued it" is not the law, and no decree that changed it later.
        return stem(said.group("kind")) == DECREE and held(ISSUED, prepared.title_stems)
    if not held(ISSUED, prepared.title_stems):
        return True
    kind = next(
        (s for s in (*asked, *(stem(w) for w in requirement.source.name)) if s in wordset("of_this_act")), None
    )
    return kind is None or stem(said.group("kind")) == kind


def _of_another_act(requirement: DateRequired, sentence: Sentence) -> bool:
    """Whether the clause is that of an instrument which it names, and which is not the one that is asked for."""
    verb = cue("effect").search(sentence.folded)
    if verb is None or not cue("other_act").search(sentence.folded[: verb.start()]):
        return False
    asked = telling_terms((*requirement.source.name, *requirement.terms), Source())
    return bool(asked) and 2 * sum(held(s, sentence.near) for s in asked) < len(asked)


REPEALS = frozenset({"abrog", "derog"})


def date_support(requirement: DateRequired, prepared: PreparedPassage) -> Support:
    """The sentence that gives the date in the asked role, or the rule that fixes it (`al día siguiente de su
    publicación`); for a publication date, the publication itself."""
    subject = tuple(s for s in telling_terms(requirement.terms, requirement.source) if not s.startswith(ISSUED))
    if requirement.role is DateRole.EFFECT and names_anything(requirement.source):
        subject = tuple(s for s in subject if s not in wordset("clauses"))
    if requirement.period is not None and not _of_period(requirement.period, prepared):
        return Support(Status.READ, "of another period than the one asked")
    match requirement.role:
        case DateRole.PUBLICATION:
            asked = frozenset(stem(w) for w in (*requirement.terms, *requirement.source.name))
            return _publication_date(subject, prepared, names_anything(requirement.source), asked)
        case DateRole.EFFECT | DateRole.END | DateRole.SIGNATURE | DateRole.DEADLINE | DateRole.DATUM:
            pass
        case _:
            assert_never(requirement.role)
    found: list[tuple[int, Sentence, FoundDate | None]] = []
    for sentence in prepared.sentences:
        hit = None if sentence.heading else _of_place(requirement, sentence, prepared)
        if (
            hit is not None
            and _same_act(requirement, sentence, prepared)
            and _about(requirement.role, subject, sentence, prepared)
        ):
            found.append((-closeness(subject, sentence), sentence, hit[0]))
    if not found:
        bears = any(about(subject, s, prepared) for s in prepared.sentences) if subject else False
        return Support(Status.READ if bears else Status.OPEN, f"no date of {requirement.role.value} for it")
    _, sentence, day = min(found, key=lambda f: (f[0], f[2] is None, f[1].start))
    core = (day.start, day.end) if day else _rule_span(sentence)
    value = day.first.isoformat() if day and day.first == day.last else ""
    span = quotable_span(prepared.text, sentence.span, core)
    why = f"{requirement.role.value}: {prepared.text[core[0] : core[1]].strip()}"
    return Support(Status.SUPPORTED, why, (span,), (value,) if value else (), (Proof((core,), value),))


def _of_place(
    requirement: DateRequired, sentence: Sentence, prepared: PreparedPassage
) -> tuple[FoundDate | None] | None:
    """The date in the asked role; of a provision that a clause excepts (`… con excepción del Capítulo II, que
    entrará en vigor…`) only what stands behind the exception, and of the rest only what stands before it."""
    hit = dated(requirement.role, sentence, prepared)
    verb = cue("effect").search(sentence.folded)
    if hit is None or verb is None or requirement.role is not DateRole.EFFECT:
        return hit
    excepted = cue("excepted").search(sentence.folded, verb.start())
    if excepted is None:
        return hit
    at = excepted.end()
    path = requirement.path
    named = [m for m in find_provisions(sentence.folded) if m.start >= at] if path is not None else []
    mine = any(provision_matches(path, m.path) for m in named if path is not None)
    days = [d for d in sentence.dates if d.precision == "day" and (d.start - sentence.start >= at) == mine]
    rule = cue("relative_start").search(sentence.folded[at:] if mine else sentence.folded[:at])
    if days or rule:
        return (days[0],) if days else (None,)
    return None if mine else hit


def _of_period(period: Period, prepared: PreparedPassage) -> bool:
    """Whether a passage is of the period that the dated thing is of: it, its title or its publication says so, or it
    says nothing of any period."""
    named = [*prepared.title_dates, *prepared.dates]
    if any(falls_in(d, period) for d in named):
        return True
    published = prepared.passage.publication.published_on
    return not named and period.start <= published <= period.end


def _publication_date(
    subject: tuple[str, ...], prepared: PreparedPassage, named: bool, asked: frozenset[str]
) -> Support:
    own = prepared.wide
    amending = wordset("amending") & prepared.title_stems
    if amending and not wordset("amending").intersection(asked):
        return Support(Status.OPEN, "a publication about the one that is asked for")
    hits = sum(s in own or s in prepared.stems for s in subject)
    if not named and (not subject or hits * 10 < len(subject) * 6):
        return Support(Status.OPEN, "another publication")
    day = prepared.passage.publication.published_on.isoformat()
    span = title_span(prepared)
    return Support(Status.SUPPORTED, f"published {day}", (span,), (day,), (Proof((span,), day),), identity=True)


def _about(role: DateRole, subject: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage) -> bool:
    # A clause of entry into force speaks of "el presente decreto": its subject stands in the title or the headings.
    near = sentence.near
    if any(s in REPEALS and not held(s, near) for s in subject):
        return False  # an entry into force says nothing of a repeal
    if about(subject, sentence, prepared, share=0.5):
        return True
    own = prepared.wide | sentence.near
    if role is DateRole.SIGNATURE:
        own = own | prepared.stems  # the line that signs a text signs all of it
    return role in (DateRole.EFFECT, DateRole.SIGNATURE) and 2 * sum(s in own for s in subject) >= len(subject)


def dated(role: DateRole, sentence: Sentence, prepared: PreparedPassage) -> tuple[FoundDate | None] | None:
    """The date of the role in a sentence; `(None,)` when a rule stands in its place."""
    days = [d for d in sentence.dates if d.precision == "day"]
    match role:
        case DateRole.EFFECT:
            return _effect(sentence, days) or _from(prepared, sentence, days)
        case DateRole.END:
            ended = cue("end_of_effect").search(sentence.folded)
            near = sorted(days, key=lambda d: abs(d.start - sentence.start - ended.start())) if ended else []
            return (near[0],) if near else None
        case DateRole.SIGNATURE:
            signed = [d for d in days if _before(prepared, sentence, d, "signature_date")]
            return (signed[-1],) if signed else None
        case DateRole.DEADLINE:
            limits = [d for d in days if _before(prepared, sentence, d, "limit")]
            return (limits[-1],) if limits else None
        case DateRole.DATUM:
            return (days[0],) if days else None
        case DateRole.PUBLICATION:
            return None
        case _:
            assert_never(role)


def _effect(sentence: Sentence, days: list[FoundDate]) -> tuple[FoundDate | None] | None:
    verb = cue("effect").search(sentence.folded)
    if verb is None:
        return None
    # The date of the clause stands after its verb; before it only in "a partir del 1 de enero … regirá".
    after = [d for d in days if d.start - sentence.start >= verb.start()]
    if after:
        return (after[0],)
    rule = cue("relative_start").search(sentence.folded)
    if rule:
        return (None,)
    return (days[-1],) if days else None


def _from(prepared: PreparedPassage, sentence: Sentence, days: list[FoundDate]) -> tuple[FoundDate | None] | None:
    """`A partir del 3 de mayo la oficina atenderá en…`: the day with which a sentence begins what it tells."""
    first = [d for d in days[:1] if _before(prepared, sentence, d, "from_day")]
    begins = first and first[0].start - sentence.start <= BEGINS
    return (first[0],) if begins else None


BEGINS = 60
"""Characters of a sentence within which it says from when."""


def _before(prepared: PreparedPassage, sentence: Sentence, day: FoundDate, name: str) -> bool:
    return bool(cue(name).search(prepared.folded[max(sentence.start, day.start - 80) : day.start]))


def _rule_span(sentence: Sentence) -> tuple[int, int]:
    verb = cue("effect").search(sentence.folded)
    rule = cue("relative_start").search(sentence.folded)
    spans = [m.span() for m in (verb, rule) if m]
    low, high = min(s for s, _ in spans), max(e for _, e in spans)
    return sentence.start + low, sentence.start + high
