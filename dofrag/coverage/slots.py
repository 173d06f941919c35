"""Terms of time, actors and definitions: what one sentence must say to answer for them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.source import (
    about,
    closeness,
    held,
    meant,
    names_anything,
    of_question,
    subject_of,
    telling_terms,
)
from dofrag.coverage.spans import quotable_span
from dofrag.coverage.topics import title_span
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import same
from dofrag.domain.question import ActorRequired, DeadlineRequired, DefinitionRequired, Status
from dofrag.text.fold import content_words, fold, fold_chars, stem, stems, words

NEAR = 400
"""Characters around a term that are looked at for what defines it."""
OPPOSITE = {"calendar_days": stem("habiles"), "working_days": stem("naturales")}
"""Units of time, and the word of a question that rules them out."""


def deadline_support(
    requirement: DeadlineRequired, prepared: PreparedPassage, text: str = "", question: str = ""
) -> Support:
    """A length of time for the same act and party, in one sentence."""
    subject = subject_of(requirement)
    asked = {stem(w) for term in requirement.terms for w in words(term)}
    bears = False
    best: tuple[int, Sentence, int] | None = None
    named = names_anything(requirement.source) or bool(requirement.entities)
    # A notice may be told by half of what is asked; a law speaks of too much for that.
    named = named or (not prepared.passage.publication.consolidated and of_question(question, prepared))
    whole = _of_whole(subject, prepared)
    counted = _counted(text)
    for sentence in prepared.sentences:
        if sentence.heading or not (whole or _bound_to(subject, sentence, prepared, named)):
            continue
        bears = True
        for n, quantity in enumerate(sentence.quantities):
            if quantity.kind != "duration" or not cue("term").search(sentence.folded):
                continue
            if quantity.unit in OPPOSITE and OPPOSITE[quantity.unit] in asked:
                continue
            if counted and quantity.unit not in counted:
                continue
            of_title = all(held(s, prepared.wide) for s in subject)
            if not of_title and not whole and not _same_clause(subject, sentence, quantity):
                continue
            rank = closeness(subject, sentence)
            if best is None or rank > best[0]:
                best = (rank, sentence, n)
    if best is None:
        return Support(Status.READ if bears else Status.OPEN, "no term for that act")
    _, sentence, n = best
    quantity = sentence.quantities[n]
    core = (quantity.start, quantity.end)
    span = quotable_span(prepared.text, sentence.span, core)
    why = f"{prepared.text[core[0] : core[1]].strip()} fits"
    return Support(Status.SUPPORTED, why, (span,), (quantity.text,), (Proof((core,), quantity.text),))


DAYS = frozenset(("days", "calendar_days", "working_days"))
COUNTED = {"day": DAYS, "month": frozenset(("months",)), "year": frozenset(("years",)), "hour": frozenset(("hours",))}
"""What `¿cuántos días…?` and the like count, by the cue that tells it."""


def _counted(text: str) -> frozenset[str]:
    """The units that a question asks a number of; none when it asks for a length of time as such."""
    folded = fold_chars(text)
    return next((units for name, units in COUNTED.items() if cue(f"how_many_{name}s").search(folded)), frozenset())


def _same_clause(subject: tuple[str, ...], sentence: Sentence, quantity: Quantity) -> bool:
    """Whether the clause that holds a term speaks of the act or the party; where it holds the term alone (`Dentro de
    los diez días, …`), the one that follows or leads to it. Terms of another act stand in the same sentence."""
    at = quantity.start - sentence.start
    cuts = [0, *(m.end() for m in cue("clause").finditer(sentence.folded)), len(sentence.folded)]
    n = max(i for i, cut in enumerate(cuts[:-1]) if cut <= at)
    clauses = [sentence.folded[a:b] for a, b in pairwise(cuts)]
    own = stems(clauses[n])
    if any(meant(s, own | (sentence.context if n == 0 else frozenset())) for s in subject):
        return True
    if len(own - wordset("slots", "kinds", "common")) > ALONE:
        return False
    led = bool(cue("term_first").match(clauses[n]))
    # "Within ten days, the board shall …" and "the board, within ten days, shall …"
    beside = clauses[1:2] if n == 0 else clauses[n - 1 : n + 2] if led else []
    return any(meant(s, stems(" ".join(beside))) for s in subject)


ALONE = 5
"""Words of a clause that says a term and little else."""


def _of_whole(subject: tuple[str, ...], prepared: PreparedPassage) -> bool:
    """Whether the term of a publication as such is asked, its title being all of the subject, and there is but one in
    the passage."""
    if not subject or not all(held(s, prepared.title_stems) for s in subject):
        return False
    terms = [s for s in prepared.sentences if not s.heading and any(q.kind == "duration" for q in s.quantities)]
    return sum(bool(cue("term").search(s.folded)) for s in terms) == 1


def _bound_to(subject: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage, named: bool) -> bool:
    """Most of who and what must stand in the sentence itself: a title cannot lend a term its addressee."""
    if not subject:
        return named
    near = sentence.near
    here = sum(meant(s, near) for s in subject)
    if here * 2 >= len(subject):
        # Without a named source its title has to bear on the act, unless the sentence holds every word.
        return named or here == len(subject) > 1 or any(held(s, prepared.wide) for s in subject)
    return named and here >= 1 and about(subject, sentence, prepared, share=0.5)


def actor_support(requirement: ActorRequired, prepared: PreparedPassage) -> Support:
    """Who does, may or must: a sentence about the act that names an authority or a party; for a signatory the
    signature itself; for the issuing body the publication."""
    role = fold(requirement.role or "")
    subject = telling_terms(requirement.terms, requirement.source)
    if all(s in {stem(w) for w in words(role)} for s in subject):
        subject = subject_of(replace(requirement, terms=()))
    issues = requirement.action is not None and stem(requirement.action) in wordset("issuing")
    if role.startswith(("issu", "emi")) or (issues and not subject_acts(subject, requirement)):
        issuer = prepared.passage.publication.issuer
        if issuer and (names_anything(requirement.source) or _titled(subject, prepared)):
            span = title_span(prepared)
            return Support(Status.SUPPORTED, f"issued by {issuer}", (span,), (), (Proof((span,)),), identity=True)
    signing = role.startswith(("sign", "firm")) or any(stem(t) in wordset("signing") for t in requirement.terms)
    court = _court(subject, role, prepared)
    if court is not None:
        span = quotable_span(prepared.text, court.span)
        return Support(Status.SUPPORTED, "the court that signs the notice", (span,), (), (Proof((span,)),))
    bears = False
    best: tuple[int, Sentence] | None = None
    for sentence in prepared.sentences:
        if sentence.heading or not cue("authority").search(sentence.folded) or cue("seal").search(sentence.folded):
            continue
        if signing:
            fits = bool(cue("signature").search(sentence.folded))
        else:
            # What the actor does stands first in the question: a sentence about the rest names somebody else.
            does = not subject or any(held(s, sentence.near) for s in _acts(subject, role))
            does = does and _does(requirement, sentence)
            fits = does and (about(subject, sentence, prepared) if subject else names_anything(requirement.source))
        bears = bears or closeness(subject, sentence) > 0
        rank = closeness(subject, sentence)
        if fits and (best is None or rank > best[0]):
            best = (rank, sentence)
    if best is None:
        return Support(Status.READ if bears else Status.OPEN, "names nobody in that role")
    span = quotable_span(prepared.text, best[1].span)
    return Support(Status.SUPPORTED, "names who", (span,), (), (Proof((span,)),))


def subject_acts(subject: tuple[str, ...], requirement: ActorRequired) -> tuple[str, ...]:
    """What is left of the subject beside the act and the role: something that is issued, other than the source."""
    aside = {stem(w) for w in words(f"{requirement.role or ''} {requirement.action or ''}")}
    return tuple(s for s in subject if s not in aside)


def _does(requirement: ActorRequired, sentence: Sentence) -> bool:
    """Whether a sentence tells of the act that is asked about, by any word of its family (*vigila*, *la vigilancia*)
    or one that means the same, done to what the question says it is done to: after the verb, or before its participle
    or noun. Verbs that tell no act are in every sentence."""
    action = requirement.action
    if action is None or stem(action) in wordset("plain") or stem(action) in wordset("standing"):
        return True
    heads = tuple(s[: max(4, len(s) - 1)] for s in same(stem(action)))
    spoken = words(sentence.folded)
    acts = [n for n, word in enumerate(spoken) if stem(word).startswith(heads)]
    terms = [w for term in requirement.terms for w in words(term)]
    done_to = [stem(w) for w in terms[terms.index(action) + 1 :]] if action in terms else []
    done_to = [s for s in done_to if s not in wordset("kinds") and s not in wordset("slots")][:1]
    if not acts or not done_to:
        return bool(acts)
    objects = [n for n, word in enumerate(spoken) if held(done_to[0], (stem(word),))]
    if not objects:
        return True  # it stands in the heading or the sentence before
    return any(
        0 < there - at <= REACH or (0 < at - there <= REACH and cue("nominal").search(spoken[at]))
        for at in acts
        for there in objects
    )


REACH = 25
"""Words between an act and what it is done to."""
COURT_WORDS = 14
"""Words of a line that says which court a notice is of."""


def _court(subject: tuple[str, ...], role: str, prepared: PreparedPassage) -> Sentence | None:
    """Which court or office a notice is of: the line that names it, where the notice as a whole is about the rest."""
    if not role or not cue("court").search(role):
        return None
    rest = tuple(s for s in subject if s not in {stem(w) for w in words(role)})
    own = prepared.stems | prepared.wide
    if not rest or sum(held(s, own) for s in rest) * 10 < len(rest) * 6:
        return None
    for sentence in prepared.sentences:
        short = len(sentence.folded.split()) <= COURT_WORDS
        if short and cue("court").search(sentence.folded) and len(sentence.stems) > 1:
            return sentence
    return None


def _acts(subject: tuple[str, ...], role: str) -> tuple[str, ...]:
    return tuple(s for s in subject if s not in {stem(w) for w in words(role)})[:2]


def _titled(subject: tuple[str, ...], prepared: PreparedPassage) -> bool:
    return bool(subject) and 2 * sum(held(s, prepared.title_stems) for s in subject) >= len(subject)


def definition_support(requirement: DefinitionRequired, prepared: PreparedPassage) -> Support:
    """The sentence that defines the term: the term at its beginning (or after `se entiende por`), then what it is."""
    phrase = _phrase(requirement.term)
    if phrase is None:
        return Support(Status.OPEN, "no term")
    bears = False
    headings = fold_chars(" ".join(prepared.passage.chunk.heading_path))
    headed = bool(cue("definition_lead").search(headings))
    for sentence in prepared.sentences:
        whole = sentence.folded
        for match in phrase.finditer(whole):
            bears = True
            # A definition begins its sentence or follows a lead: further in, the term is only used.
            before = whole[max(0, match.start() - NEAR) : match.start()]
            after = whole[match.end() : match.end() + NEAR]
            led = headed or bool(cue("definition_lead").search(before))
            begins = match.start() < NEAR and len(before.split()) <= 6
            tail = after.lstrip(' *_"')
            if (begins or led) and cue("definition").match(tail) and len(tail) >= 20:
                span = quotable_span(prepared.text, sentence.span, (sentence.start + match.start(), sentence.end))
                return Support(Status.SUPPORTED, "its defining sentence", (span,), (), (Proof((span,)),))
    under = _under_heading(requirement.term, phrase, prepared)
    if under is not None:
        span = quotable_span(prepared.text, under.span)
        return Support(Status.SUPPORTED, "the text under its heading", (span,), (), (Proof((span,)),))
    return Support(Status.READ if bears else Status.OPEN, "the term is not defined here")


def _under_heading(term: str, phrase: re.Pattern[str], prepared: PreparedPassage) -> Sentence | None:
    """`1. Objetivo` and what follows, in its line or the next; for a purpose, `tiene por objeto…` too."""
    for sentence in prepared.sentences:
        line, _, rest = prepared.text[sentence.start : sentence.end].partition("\n")
        short = len(line.split()) <= 2 + len(term.split())
        if short and phrase.search(fold_chars(line)) and len(rest.split()) >= 6:
            return sentence
    for sentence, after in pairwise(prepared.sentences):
        alone = phrase.search(sentence.folded) and len(sentence.folded.split()) <= 2 + len(term.split())
        if alone and not after.heading and _says_something(after):
            return after
    path = prepared.passage.chunk.heading_path
    last = fold_chars(path[-1]) if path else ""
    body = next((s for s in prepared.sentences if not s.heading and _says_something(s)), None)
    if body is not None and phrase.search(last) and len(last.split()) <= 2 + len(term.split()):
        return body
    if any(stem(w) in wordset("purpose") for w in words(term)):
        return next((s for s in prepared.sentences if cue("purpose").search(s.folded)), None)
    return None


def _says_something(sentence: Sentence) -> bool:
    """Whether a line under a heading is its text, not the next entry of a table of contents."""
    ends = sentence.folded.rstrip(' *_"').endswith((".", ";", ":", ","))
    return len(sentence.folded.split()) >= 6 and (ends or len(sentence.folded) >= 120)


def _phrase(term: str) -> re.Pattern[str] | None:
    """The term in any number and gender, small words between its words allowed."""
    stems = [stem(w) for w in content_words(term)][:8]
    if not stems:
        return None
    return re.compile(
        r"\b" + r"\w{0,6}\W+(?:(?:de|del|la|el|los|las|y|e)\W+){0,2}".join(map(re.escape, stems)) + r"\w{0,6}\b"
    )
