"""What the turn of a question demands of the sentence that answers it, whatever words they share.

*Why* wants a cause; *before the reform* a text of that time; *not obliged* a denial of just that; *is it lawful* a
sentence that says so; *río Bravo* a river of that name, not the river and, elsewhere, a town; *eje 3* that one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import same
from dofrag.domain.question import (
    DateRequired,
    DateRole,
    ItemRequired,
    ListRequired,
    Requirement,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.text.dates import find_dates
from dofrag.text.fold import STOP_WORDS, fold, fold_chars, stem, words
from dofrag.text.patterns import late


def untold(requirement: Requirement, sentence: Sentence, prepared: PreparedPassage, part: SubQuestion) -> str:
    """What the question's turn of phrase wants and the sentence does not tell; "" when it tells it."""
    if cue("seal").search(sentence.folded):
        return "anything: it is a letterhead"
    if sentence.heading and not isinstance(requirement, (ItemRequired, ListRequired)):
        return "anything: it is a heading"
    folded = fold_chars(part.text)
    if _why(part.text) and not cue("cause").search(sentence.folded):
        return "a cause"
    if cue("prolonged").search(folded) and not cue("prolongs").search(sentence.folded):
        return "an extension"
    if cue("formerly").search(folded) and not _of_before(part, prepared):
        return "what it was before"
    alone = cue("until_alone").search(folded) or cue("since_alone").search(folded)
    if isinstance(requirement, ValueRequired) and alone:
        return "every value of that time"
    if isinstance(requirement, ListRequired) and _asks_for_acts(requirement) and not _says(requirement, sentence):
        return "the acts themselves"
    whole = requirement.aspect in ENDS and requirement.path is None and cue("of_instrument").search(f"de {folded}")
    if whole and not cue("ends_whole").search(sentence.folded):
        return "the end of the whole act"
    if isinstance(requirement, DateRequired) and requirement.role is DateRole.EFFECT:
        begins = cue("enters").search(sentence.folded) or cue("this_act").search(sentence.folded)
        begins = begins or cue("since_when").search(folded)
        if not begins and not prepared.transitory:
            return "the entry into force of the act"
    how = cue("how_se").search(folded)
    if how and isinstance(requirement, TopicRequired) and not _of_verb(how["verb"], sentence):
        return how["verb"]
    predicate = _predicate(folded)
    if predicate and isinstance(requirement, TopicRequired) and not _predicated(predicate, sentence):
        return predicate
    return next((n for n in _names(part) if not _named(n, sentence, prepared)), "")


def _asks_for_acts(requirement: ListRequired) -> bool:
    """Whether acts are to be listed (*reformas*, *modificaciones*): a list that an act holds is none of them."""
    return (
        bool(requirement.terms) and requirement.aspect is None and stem(requirement.terms[0]) in wordset("act_nouns")
    )


def _says(requirement: ListRequired, sentence: Sentence) -> bool:
    return stem(requirement.terms[0]) in {stem(word) for word in words(sentence.folded)}


ENDS = frozenset({"repeal", "validity", "replacement"})
"""Aspects of the end of an act, which no end of one of its articles is."""


@lru_cache(maxsize=512)
def _why(text: str) -> bool:
    return bool(re.search(r"\bpor\s?qué\b", text.lower()) or cue("why").search(fold_chars(text)))


def _of_before(part: SubQuestion, prepared: PreparedPassage) -> bool:
    """Whether a text is of the time before the one that the question names: a publication of then, no later one and
    no law as it stands now."""
    publication = prepared.passage.publication
    years = [d.first.year for d in find_dates(part.question or part.text)]
    return bool(years) and not publication.consolidated and publication.published_on.year < max(years)


def _of_verb(verb: str, sentence: Sentence) -> bool:
    """Whether a sentence holds a word of a verb's family, or one that means the same."""
    if stem(verb) in wordset("plain", "standing", "acts") or cue("aspect_method").search(verb):
        return True
    heads = tuple(s[: max(4, len(s) - 1)] for s in same(stem(verb)))
    return any(own.startswith(heads) for own in sentence.near)


@lru_cache(maxsize=512)
def _predicate(folded: str) -> str:
    """The adjective of `¿es lícito…?`, the participle of `¿está prohibido…?`."""
    match = cue("is_it").match(folded.lstrip("¿ "))
    return match["what"] if match else ""


def _predicated(predicate: str, sentence: Sentence) -> bool:
    heads = same(stem(predicate))  # exactly: *a constitution* is not *constitutional*
    return any(stem(m["what"]) in heads for m in cue("it_is").finditer(sentence.folded))


def denies(sentence: Sentence, text: str) -> bool:
    """Whether a sentence denies what a question denies: the denial stands right before a word of the question, or it
    makes an exception."""
    asked = tuple({stem(w) for w in words(text) if w not in STOP_WORDS} - wordset("kinds", "common"))
    spoken = words(sentence.folded)
    denied = cue("is_not").search(text)
    if denied:  # "which are not open?": that very predicate is denied
        what = stem(denied["what"])
        opposite = any(w.startswith("in") and held(what, (stem(w[2:]),)) for w in spoken)
        heads = (spoken[n + 1 : n + 5] for n, w in enumerate(spoken) if cue("denies").fullmatch(w))
        return opposite or any(held(what, (stem(w),)) for after in heads for w in after)
    for n, word in enumerate(spoken):
        reach = 5 if cue("denies").fullmatch(word) else 9 if cue("exception").fullmatch(word) else 0
        if any(held(stem(w), asked) for w in spoken[n + 1 : n + reach] if w not in STOP_WORDS):
            return True
    return bool(cue("unlike").search(sentence.folded)) and any(held(s, sentence.near) for s in asked)


_NAMED = late(
    r"(?<![\w.])(?P<noun>[a-zñáéíóúü]{3,})[ ](?P<name>[A-ZÁÉÍÓÚÑ][\w]{2,}(?:[ ](?:(?:de|del|la|el|los|las|y)[ ]){0,2}"
    r"[A-ZÁÉÍÓÚÑ][\w]{2,}){0,4})"
)
_LABELLED = late(r"(?<![\w.])(?P<noun>[a-zñáéíóúü]{3,})[ ](?P<name>\d{1,3})(?![\w.,/-]|[ ]+[a-zñáéíóúü]{4,})")


@lru_cache(maxsize=512)
def _names(part: SubQuestion) -> tuple[str, ...]:
    """The nouns of a part with the name or the number that stands right behind them, where no slot is of them."""
    slots: set[str] = set()
    for one in part.requirements:
        source = one.source
        spoken = [*source.name, source.issuer or "", source.identifier or ""]
        if isinstance(one, ValueRequired):
            spoken += [one.indicator or "", *one.names, one.zone or "", one.unit or ""]
        slots |= set(words(" ".join(spoken)))
    found = []
    for pattern in (_NAMED, _LABELLED):
        for match in pattern.finditer(part.text):
            noun = fold(match["noun"])
            aside = noun in STOP_WORDS or noun in slots or stem(noun) in wordset("kinds", "slots", "provision_nouns")
            if not aside and not set(words(match["name"])) <= slots:
                found.append(f"{noun} {fold(match['name'])}")
    return tuple(dict.fromkeys(found))


def _named(name: str, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a noun stands with its name in the passage or above it; in a table the noun heads a column."""
    if _pattern(name).search(_spoken(prepared)):
        return True
    noun, _, rest = name.partition(" ")
    headed = sentence.header is not None and (held(stem(noun), sentence.context) or held(stem(noun), prepared.wide))
    return headed and bool(_pattern(rest).search(sentence.folded))


@lru_cache(maxsize=512)
def _pattern(name: str) -> re.Pattern[str]:
    """A noun and its name with at most two words between them, the noun in any number."""
    own = [w for w in words(name) if w not in STOP_WORDS or w.isdigit()]
    heads = [rf"{re.escape(own[0][: max(3, len(own[0]) - 1)])}\w*", *(rf"{re.escape(w)}\b" for w in own[1:])]
    return re.compile(r"\b" + r"\W+(?:\w+\W+){0,2}?".join(heads))


def _spoken(prepared: PreparedPassage) -> str:
    if "spoken" not in prepared.memo:
        publication, chunk = prepared.passage.publication, prepared.passage.chunk
        above = fold_chars(" . ".join([publication.title, publication.issuer, *chunk.heading_path]))
        prepared.memo["spoken"] = f"{prepared.folded} . {above}"
    known: str = prepared.memo["spoken"]
    return known
