"""What keeps a passage that shares words with a question from passing for its answer.

A question that names nothing is answered by nothing; where no source is named, each word that tells what is asked
must be held; a negated question wants a negation; who holds an office is told by a sentence that names both; what a
question states as a figure must stand in what supports it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held, meant, names_anything, telling_terms
from dofrag.coverage.turns import denies, untold
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.corpus import Kind
from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DeadlineRequired,
    DefinitionRequired,
    ListRequired,
    ProvisionRequired,
    PublicationRequired,
    RangeRequired,
    Requirement,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.text.fold import STOP_WORDS, content_words, fold_chars, stem, words
from dofrag.text.numbers import find_numbers
from dofrag.text.patterns import late


def vague(requirement: Requirement, part: SubQuestion | None) -> bool:
    """Whether neither the requirement nor the question it is of says what it is about: one bare word fits any text.
    Without the question, the requirement is taken as it stands."""
    timeless = isinstance(requirement, ValueRequired) and requirement.period is None
    open_ended = timeless or isinstance(requirement, (TopicRequired, PublicationRequired))
    if open_ended and part is not None and part.question and not cue("asks").search(part.question.lower()):
        return True  # a bare name or noun: nothing is asked of it
    source = replace(requirement.source, gazette_only=False)  # "publicó" names no publication
    if part is None or names_anything(source) or requirement.entities or requirement.path:
        return False
    if isinstance(requirement, (ProvisionRequired, DefinitionRequired, RangeRequired)) or requirement.context:
        return False
    if isinstance(requirement, ValueRequired) and requirement.indicator is not None:
        return False
    said = content_words(part.question or part.text)
    asked = telling_terms((*requirement.terms, *said), requirement.source)
    telling = [s for s in asked if s not in wordset("common") and len(s) > 2]
    # "La cuota de amarre" says of what; "la multa" and "los requisitos" do not.
    return len(telling) < (1 if any(stem(w) in wordset("slots") for w in said) else 2)


def grounded(
    requirement: Requirement, sentence: Sentence, prepared: PreparedPassage, part: SubQuestion | None
) -> bool:
    """Whether a sentence that supports the requirement is of the very thing asked, as far as words can tell."""
    text = fold_chars(part.text) if part is not None else ""
    if text and (requirement.negated or _negated(text)) and not denies(sentence, text):
        return False
    still = bool(text) and isinstance(requirement, ListRequired) and cue("persists").search(text)
    if still and cue("ends_state").search(sentence.folded):
        return False  # what ended is the opposite of what is still so
    if part is not None and untold(requirement, sentence, prepared, part):
        return False
    if requirement.stated and not _states(requirement.stated, sentence):
        return False
    if isinstance(requirement, ActorRequired) and cue("office").search(text):
        return bool(cue("signature").search(sentence.folded)) and _in_a_row(requirement, sentence)
    if isinstance(requirement, TopicRequired) and cue("thing_of").search(text) and not _placed(requirement):
        return _in_a_row(requirement, sentence)
    if isinstance(requirement, ValueRequired) and part is not None and _priced(requirement, part.text):
        paid = any(q.unit not in TIMES and q.kind != "surface" for q in sentence.quantities)
        return paid and _all_words(requirement, sentence, prepared)
    if part is not None and _of_one_case(requirement, prepared, part):
        return False
    if part is not None and requirement.path is None and _under_a_case(sentence, prepared, part):
        return False
    if isinstance(requirement, ListRequired) and _handed_in(requirement, prepared):
        return True
    return _all_words(requirement, sentence, prepared)


def _loose(requirement: Requirement) -> bool:
    """Whether nothing but its own words tells what a part is of: no source, no name, no scene."""
    told = _placed(requirement) or requirement.entities or requirement.context
    return (
        not told
        and isinstance(requirement, (ValueRequired, DeadlineRequired))
        and not (isinstance(requirement, ValueRequired) and requirement.indicator)
    )


def _of_one_case(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion) -> bool:
    """Whether a notice would lend the term of its own case to a question that names none: it is no rule for all."""
    if not isinstance(requirement, DeadlineRequired) or prepared.passage.publication.kind is not Kind.AVISO:
        return False
    return not (requirement.entities or _placed(requirement) or _CAPITAL.search(part.question or part.text))


def _under_a_case(sentence: Sentence, prepared: PreparedPassage, part: SubQuestion) -> bool:
    """Whether a sentence is an item of what holds for one case alone (`Tratándose de aprendices, el patrón deberá:`)
    of which the question says nothing."""
    if sentence.mark is None or sentence.mark.kind not in ("frac", "inc"):
        return False
    before = [s for s in prepared.sentences if s.end <= sentence.start and s.mark is None and not s.heading]
    case = cue("one_case").match(before[-1].folded.strip()) if before else None
    if case is None:
        return False
    of_whom = [stem(w) for w in content_words(case["case"])]
    asked = frozenset(stem(w) for w in content_words(part.question or part.text))
    return bool(of_whom) and not any(held(w, asked) for w in of_whom)


_CAPITAL = late(r"(?<=[a-zñáéíóú][ ])[A-ZÁÉÍÓÚÑ][\wñáéíóú]{2,}")


def _states(stated: tuple[str, ...], sentence: Sentence) -> bool:
    """Whether a sentence holds the figures of what is to be so, or not to be so."""
    wanted = [n.value for text in stated for n in find_numbers(text)]
    return all(any(q.value == value for q in sentence.quantities) for value in wanted)


def _handed_in(requirement: ListRequired, prepared: PreparedPassage) -> bool:
    """Whether papers are asked for and the passage lists what somebody hands in."""
    first = stem(next(iter(words(" ".join(requirement.terms))), ""))
    return first in wordset("papers") and any(cue("hands_in").search(s.folded) for s in prepared.sentences)


TIMES = frozenset(("days", "calendar_days", "working_days", "months", "years", "hours"))


def _priced(requirement: ValueRequired, text: str) -> bool:
    """Whether the question asks for money: no length of time is a price."""
    return requirement.unit is None and any(stem(w) in wordset("prices") for w in words(text)[:6])


@lru_cache(maxsize=256)
def _negated(text: str) -> bool:
    """Whether the question denies its own verb: `¿qué obligaciones no tiene…?`."""
    return cue("denied").search(text) is not None


def _placed(requirement: Requirement) -> bool:
    return names_anything(requirement.source) or bool(requirement.path or requirement.aspect)


def _in_a_row(requirement: Requirement, sentence: Sentence) -> bool:
    """Whether the words of the subject stand one after the other, as in the question: the office and its body, the
    capital and its country. One word alone is no office of anything."""
    asked = tuple(dict.fromkeys(stem(w) for term in requirement.terms for w in words(term)))
    said = [stem(w) for w in words(sentence.folded) if w not in STOP_WORDS]
    n = len(asked)
    return n > 1 and any(tuple(said[at : at + n]) == asked for at in range(len(said) - n + 1))


def _all_words(requirement: Requirement, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Where nothing tells the source, the sentence with its title holds every word of a short subject, and most of a
    longer one."""
    if _placed(requirement):
        return True
    if not isinstance(requirement, _WORDED) or (
        isinstance(requirement, ValueRequired) and requirement.indicator is not None
    ):
        return True
    named = {stem(w) for entity in requirement.entities for w in words(entity)}
    subject = [
        s
        for s in telling_terms(requirement.terms, requirement.source)
        if s not in named and s not in wordset("plain")
    ]
    own = prepared.wide | prepared.issuer_stems
    if isinstance(requirement, _DATED):
        own |= prepared.stems  # the line that dates a notice need not say of what
    missed = [s for s in subject if not meant(s, sentence.near) and not meant(s, own)]
    if wordset("seasons").intersection(missed):
        return False
    hits = len(subject) - len(missed)
    if (
        isinstance(requirement, DeadlineRequired)
        and _loose(requirement)
        and prepared.passage.publication.consolidated
    ):
        return all(meant(s, sentence.near) for s in subject)  # a law has terms for many an act
    if isinstance(requirement, _DATED):
        return hits * 2 >= len(subject)
    if isinstance(requirement, ActorRequired) and cue("court").search(requirement.role or ""):
        return True  # the line that names the court says nothing of the rest
    # A value has its unit and its time as well.
    short = SHORT - 1 if isinstance(requirement, (ValueRequired, ActorRequired)) else SHORT
    most = len(subject) - 1 if isinstance(requirement, ValueRequired) else len(subject) * 3 // 4
    return hits == len(subject) if len(subject) <= short else hits >= min(len(subject) - 1, most)


SHORT = 3
"""Words of a subject of which none may be missing."""
_DATED = (DateRequired, DeadlineRequired)
_WORDED = (TopicRequired, ValueRequired, ActorRequired, ListRequired, PublicationRequired, *_DATED)
