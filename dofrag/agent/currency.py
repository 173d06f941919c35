"""What an accepted draft may still leave aside: later publications, corrections, the rest of a day.

The norm layer will decide validity. Until then a run closes on what is in force only when it has searched for what
came after its source, and no run closes on a source while it knows of a later member of its series that nothing in
the question rules out, of an erratum to it, or of more that was published then where all of it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from dofrag.agent.listed import listed
from dofrag.coverage.cues import cue
from dofrag.coverage.later import alters, corrects
from dofrag.coverage.listing import asks_for_all, fits
from dofrag.coverage.match import PreparedPassage, meets
from dofrag.coverage.provision import provision_sentences
from dofrag.domain.corpus import Publication
from dofrag.domain.evidence import Claim, Fault, FaultCode
from dofrag.domain.question import ListRequired, Question, Requirement, SubQuestion, TopicRequired, ValueRequired
from dofrag.planner.series import newer_in_series, of_no_time, searched_since
from dofrag.text.dates import find_dates
from dofrag.text.fold import fold
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches
from dofrag.tools.session import ResearchSession

Message = Callable[..., str]
_STOP = re.compile(r"[.;:][*_]*\s")
SENTENCE_MIN = 30
"""Characters of a sentence that is no coincidence."""


def left_aside(
    session: ResearchSession,
    question: Question,
    sub_questions: Sequence[SubQuestion],
    answered: Iterable[tuple[str, int]],
    claims: Sequence[Claim],
    message: Message,
) -> Fault | None:
    """A publication that this run discovered and that the draft may not pass over, or None. Pure. `answered` maps
    requirement ids to the chunks that answer them."""
    quotes = [c.quote for claim in claims for c in claim.citations]
    sources = frozenset(session.passages[c.chunk_id].publication for claim in claims for c in claim.citations)
    found = session.publications.values()
    chunk_of = dict(answered)
    for requirement in (r for sub in sub_questions for r in sub.requirements if r.id in chunk_of):
        own = session.passages[chunk_of[requirement.id]].publication
        newer = newer_in_series(found, [own]) if of_no_time(requirement, question.text) else None
        if newer is not None:
            text = message("fault.newer_in_series", title=newer.title, on=newer.published_on)
            return Fault(code=FaultCode.LATER_REFORMS, where=requirement.id, message=text)
        fault = _by_then(session, question, requirement, own, message)
        if fault is not None:
            return fault
        if asks_for_all(requirement):
            fault = _rest(session, question, requirement, sources, message)
            if fault is not None:
                return fault
    for later in found:
        if later not in sources and any(corrects(later, one) for one in sources) and _bears(session, later, quotes):
            text = message("fault.corrected_later", title=later.title, on=later.published_on)
            return Fault(code=FaultCode.LATER_REFORMS, where="", message=text)
    return None


def _by_then(
    session: ResearchSession, question: Question, requirement: Requirement, own: Publication, message: Message
) -> Fault | None:
    """A later act on the source that had been published by the day on which, as the question tells, something
    happened: whether the old rule or the new one governs that is for its transitory provisions to say."""
    day = _day_told(question.text) or _day_of(requirement)
    source = requirement.source
    if day is None or source.published_from or (isinstance(requirement, ValueRequired) and requirement.period):
        return None
    for later in sorted(session.publications.values(), key=lambda p: (p.published_on, p.code)):
        if own.published_on < later.published_on <= day and alters(later, own):
            text = message("fault.altered_by_then", title=later.title, on=later.published_on)
            return Fault(code=FaultCode.LATER_REFORMS, where=requirement.id, message=text)
    return None


def _day_of(requirement: Requirement) -> date | None:
    """The day at which a state of things is asked for (`¿qué puertos estaban cerrados el 4 de mayo?`)."""
    period = requirement.period if isinstance(requirement, (TopicRequired, ListRequired)) else None
    return period.start if period is not None and period.start == period.end else None


def _day_told(text: str) -> date | None:
    """The day that a statement before the question names: when somebody did something."""
    asked = text.find("¿")
    days = [d.first for d in find_dates(text[: max(asked, 0)]) if d.precision == "day" and d.year_given]
    return days[-1] if len(days) == 1 else None


def _bears(session: ResearchSession, later: Publication, quotes: Sequence[str]) -> bool:
    """Whether a correction was not read, or repeats a sentence that is quoted from what it corrects."""
    own = [p for p in session.passages.values() if p.publication.code == later.code]
    texts = [" ".join(p.text.split()) for p in own]
    sentences = [s for quote in quotes for s in _STOP.split(" ".join(quote.split())) if len(s) >= SENTENCE_MIN]
    return not own or any(s.rstrip(".") in text for s in sentences for text in texts)


def _rest(
    session: ResearchSession,
    question: Question,
    requirement: Requirement,
    sources: frozenset[Publication],
    message: Message,
) -> Fault | None:
    """What else was published then and fits: all of it must have been listed, and cited."""
    rest = [p for p in session.publications.values() if p not in sources and fits(requirement, p, question.text)]
    found = listed(session, requirement, question)
    if found is not None and found.listed >= found.total and not rest:
        return None
    title = rest[0].title if rest else requirement.label
    text = message("fault.listed_left_out", title=title)
    return Fault(code=FaultCode.REQUIREMENT_MISSING, where=requirement.id, message=text)


def reform_fault(
    session: ResearchSession,
    prepared: Mapping[int, PreparedPassage],
    sub_questions: Sequence[SubQuestion],
    answered: Iterable[tuple[str, int]],
    message: Message,
) -> Fault | None:
    """A publication that this run found, that changes one of the sources, and that may bear on what is in force: it
    was not read, or it changes the very provision, or answers the same otherwise. Pure."""
    chunk_of = dict(answered)
    sources = {session.passages[i].publication for i in chunk_of.values()}
    for sub in sub_questions:
        for requirement in (r for r in sub.requirements if r.id in chunk_of):
            own = session.passages[chunk_of[requirement.id]].publication
            newer = [p for p in prepared.values() if p.passage.publication.published_on > own.published_on]
            for passage in sorted(newer, key=lambda p: p.id):
                if passage.passage.publication not in sources and meets(requirement, passage, sub).supported:
                    title, on = passage.passage.publication.title, passage.passage.publication.published_on
                    text = message("fault.altered_later", title=title, on=on)
                    return Fault(code=FaultCode.LATER_REFORMS, where=requirement.id, message=text)
            for later in sorted(session.publications.values(), key=lambda p: (p.published_on, p.code)):
                if later in sources or not alters(later, own):
                    continue
                read = [p for p in prepared.values() if p.passage.publication.code == later.code]
                if not read or any(_changes(requirement, p, sub) for p in read):
                    text = message("fault.altered_later", title=later.title, on=later.published_on)
                    return Fault(code=FaultCode.LATER_REFORMS, where=requirement.id, message=text)
    return None


def _changes(requirement: Requirement, passage: PreparedPassage, sub: SubQuestion) -> bool:
    """Whether a passage of a later act holds the provision that was asked for, says that it changes it, or supports
    the same requirement."""
    path = requirement.path
    if path is not None:
        title = passage.passage.publication.title
        # What an erratum is titled by is the act that it corrects, not what it corrects in it.
        mentioned = () if cue("title_corrects").search(fold(title)) else find_provisions(title)
        if provision_sentences(path, passage) or any(provision_matches(path, m.path) for m in mentioned):
            return True
    return meets(requirement, passage, sub).supported


def currency_fault(session: ResearchSession, cited: Iterable[Publication], message: Message) -> Fault | None:
    """What is missing before these publications may be called the latest, or None. Pure."""
    sources = sorted(set(cited), key=lambda p: (p.published_on, p.code))
    since = sources[-1].published_on
    newer = newer_in_series(session.publications.values(), sources)
    if newer is not None:
        text = message("fault.later_in_series", title=newer.title, on=newer.published_on)
        return Fault(code=FaultCode.LATER_REFORMS, where="", message=text)
    if not searched_since((r.arguments for r in session.searched), since):
        text = message(f"fault.{FaultCode.LATER_REFORMS}", since=since)
        return Fault(code=FaultCode.LATER_REFORMS, where="", message=text)
    return None
