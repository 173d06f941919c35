"""Whether a passage comes from the publication that a requirement asks for, and is about its subject."""

from __future__ import annotations

from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.lawnames import is_law, is_of_law
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import same
from dofrag.domain.question import Base, Source
from dofrag.text.fold import content_words, fold, fold_chars, stem, stems, words

__all__ = [
    "about",
    "closeness",
    "elsewhere",
    "held",
    "kin",
    "meant",
    "mismatch",
    "names_anything",
    "of_question",
    "scene_of",
    "subject_of",
    "telling_terms",
]


def names_anything(source: Source) -> bool:
    """Whether any slot is filled."""
    return bool(
        source.issuer or source.name or source.identifier or source.published_from or source.published_to
        or source.edition or source.gazette_only or _telling_about(source.about)
    )  # fmt: skip


def mismatch(source: Source, prepared: PreparedPassage) -> str:
    """Which slot of the source the passage's publication does not fit; "" when all that are filled agree."""
    publication = prepared.passage.publication
    dated = source.published_from is not None or source.published_to is not None
    if publication.consolidated and (dated or source.gazette_only):
        return "a consolidated text is not the gazette publication"
    if source.published_from and publication.published_on < source.published_from:
        return f"published {publication.published_on}, before {source.published_from}"
    if source.published_to and publication.published_on > source.published_to:
        return f"published {publication.published_on}, after {source.published_to}"
    if source.edition and publication.edition and publication.edition != source.edition:
        return f"edition {publication.edition}, not {source.edition}"
    if source.identifier and not _identified(source.identifier, prepared):
        return f"not {source.identifier}"
    if source.issuer and not _issued(source.issuer, prepared):
        return f"issued by {publication.issuer or 'nobody named'}, not {source.issuer}"
    if source.name and not _named(source.name, prepared):
        return f"not titled {' '.join(source.name)}"
    if source.about and not _described(source, prepared):
        return f"not about {' '.join(source.about)}"
    return ""


@lru_cache(maxsize=1024)
def _telling_about(about: tuple[str, ...]) -> tuple[str, ...]:
    said = wordset("kinds", "acts", "slots")
    return tuple(w for w in dict.fromkeys(map(stem, about)) if w not in said)


def _described(source: Source, prepared: PreparedPassage) -> bool:
    """Whether a passage is of an instrument that the question describes without naming it: title and headings hold a
    word of the description, and its ordinal in any case; with the text they hold most of it."""
    telling = _telling_about(source.about)
    own = prepared.wide
    if any(o in wordset("ordinals") and o not in own for o in telling) and wordset("ordinals") & own:
        return False
    if source.name or source.identifier:
        return True  # those tell it already
    if _head(source.about) in wordset("instruments") and _titled_as(prepared) not in (_head(source.about), ""):
        return False  # a declaration is not the decree that executes it
    titled = sum(held(w, own) for w in telling)
    said = sum(held(w, own) or held(w, prepared.stems) for w in telling)
    # A duty, a grant or a permit is a thing and no instrument: the act that sets it may be titled otherwise.
    thing = _head(source.about) in wordset("things")
    return not telling or (said * 2 >= len(telling) and (titled > 0 or thing or not own))


def _head(about: tuple[str, ...]) -> str:
    return stem(about[0]) if about else ""


def _titled_as(prepared: PreparedPassage) -> str:
    """The kind that a title begins with, "" when it begins otherwise."""
    first = next(iter(words(prepared.passage.publication.title)), "")
    return stem(first) if stem(first) in wordset("instruments") else ""


def _identified(identifier: str, prepared: PreparedPassage) -> bool:
    wanted = fold(identifier)
    own = [fold(i) for i in prepared.passage.publication.identifiers]
    own = own or [w for w in words(prepared.passage.publication.title) if "-" in w or "/" in w]
    return any(one == wanted or one.startswith((wanted + "-", wanted + "/")) for one in own)


def _issued(issuer: str, prepared: PreparedPassage) -> bool:
    wanted = [w for w in words(issuer) if len(w) > 3]
    own = prepared.issuer_words
    if wanted and all(w in own for w in wanted):
        return True
    initials = "".join(w[0] for w in words(prepared.passage.publication.issuer) if len(w) > 2)
    return len(wanted) == 1 and len(wanted[0]) > 2 and wanted[0] == initials


def _named(name: tuple[str, ...], prepared: PreparedPassage) -> bool:
    if is_law(name):
        return is_of_law(name, prepared)
    own = prepared.wide
    if not prepared.passage.publication.title:
        own = own | prepared.stems
    elif prepared.passage.publication.consolidated:
        own = _called(prepared.passage.publication.title)
    telling = _telling_name(name)
    if _carried(telling, prepared):
        return True
    if any(w not in own for w in telling if w[0].isdigit()):
        return False
    hits = sum(held(w, own) for w in telling)
    return hits == len(telling) if len(telling) <= 3 else hits * 4 >= len(telling) * 3


@lru_cache(maxsize=1024)
def _called(title: str) -> frozenset[str]:
    """Stems of what a law is called, without the provision of another law that it regulates (`… de la fracción II del
    artículo 9 de la Ley de Faros`)."""
    regulated = cue("regulated").search(fold_chars(title))
    return stems(title[: regulated.start()] if regulated else title)


@lru_cache(maxsize=1024)
def _telling_name(name: tuple[str, ...]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(stem(w) for w in name))
    return tuple(w for w in wanted if w not in wordset("kinds")) or wanted


def _carried(telling: tuple[str, ...], prepared: PreparedPassage) -> bool:
    """Whether the passage itself issues the instrument, whatever the title of its publication: a line that is its
    name, or a sentence that approves or issues it. Merely naming it is not enough."""
    if len(telling) < 2 or any(w not in prepared.stems for w in telling):
        return False
    for sentence in prepared.sentences:
        if all(w in sentence.stems for w in telling):
            bare = len(sentence.stems) <= len(telling) + 2
            if bare or cue("issues").search(sentence.folded):
                return True
    return False


@lru_cache(maxsize=65536)
def held(wanted: str, own: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether a stem, or a longer or shorter word of its family, is among others."""
    if wanted in own or wanted + "s" in own or (wanted[-1:] == "s" and wanted[:-1] in own):
        return True  # a short word keeps its plural through stemming
    if len(wanted) == 3 and any(wanted + vowel in own for vowel in "aeo"):
        return True  # …or its singular: *zonas* is cut to `zon`, *zona* is too short to be cut
    if len(wanted) == 4 and wanted[3] in "aeo" and wanted[:3] in own:
        return True
    if len(wanted) < 6 or not wanted.isalpha():
        return False
    head = wanted[:6]
    return any(other.startswith(head) and kin(wanted, other) for other in own)


@lru_cache(maxsize=65536)
def meant(wanted: str, own: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether a stem, or one that means the same, is among others."""
    return any(held(one, own) for one in same(wanted))


@lru_cache(maxsize=65536)
def kin(a: str, b: str) -> bool:
    """Whether two stems share three quarters of the longer one, from the beginning."""
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n * 4 >= max(len(a), len(b)) * 3


@lru_cache(maxsize=4096)
def telling_terms(terms: tuple[str, ...], source: Source, *more: str) -> tuple[str, ...]:
    """Stems of the subject: without what the source already says, slot words, and figures."""
    said = {stem(w) for w in source.name} | {stem(w) for w in words(" ".join(more))}
    if source.issuer:
        said.update(stem(w) for w in words(source.issuer))
    if source.identifier:
        said.add(fold(source.identifier))
    stems = dict.fromkeys(stem(w) for term in terms for w in words(term))
    return tuple(
        s
        for s in stems
        if s not in said and s not in wordset("slots") and s not in wordset("kinds") and not s.isdigit()
    )


def about(subject: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage, *, share: float = 0.6) -> bool:
    """Whether a sentence speaks of the subject: most of its words in the sentence with its heading and title, and at
    least one in the sentence itself (or in what it leans on)."""
    if not subject:
        return True
    near = sentence.near
    if any(any(c.isdigit() for c in s) and s not in near and s not in prepared.wide for s in subject):
        return False  # a key or a number of the question names one thing and no other
    here = [s for s in subject if meant(s, near)]
    if not here:
        return False
    wide = prepared.wide
    hits = len(here) + sum(meant(s, wide) for s in subject if s not in here)
    return hits >= share * len(subject)


def closeness(subject: tuple[str, ...], sentence: Sentence) -> int:
    """How many words of the subject the sentence itself holds: to prefer one sentence over another."""
    near = sentence.near
    return sum(meant(s, near) for s in subject)


def of_question(question: str, prepared: PreparedPassage) -> bool:
    """Whether a passage, with its title, holds half of what the whole question speaks of."""
    asked = _content(question)
    own = prepared.stems | prepared.wide
    return len(asked) >= 3 and sum(meant(s, own) for s in asked) * 2 >= len(asked)


@lru_cache(maxsize=256)
def _content(question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stem(w) for w in content_words(question)))


def scene_of(requirement: Base) -> tuple[str, ...]:
    """The telling words of what the question states beforehand."""
    aside = wordset("scene", "common", "plain")
    return tuple(s for s in telling_terms(requirement.context, requirement.source) if s not in aside)


def elsewhere(requirement: Base, prepared: PreparedPassage) -> str:
    """The first word of what the question states beforehand, where a passage with its title holds less than a third
    of that and no source is named: it answers, but something else. "" otherwise."""
    source = requirement.source
    exact = source.identifier and fold(source.identifier) in map(fold, prepared.passage.publication.identifiers)
    if not requirement.context or source.name or exact:
        return ""
    own = prepared.stems | prepared.wide | prepared.issuer_stems
    asked = scene_of(requirement)
    missed = [s for s in asked if not meant(s, own)]
    if len(asked) < 2:
        return ""  # a single word is as well a verb
    return missed[0] if missed and 3 * (len(asked) - len(missed)) < len(asked) else ""


def subject_of(requirement: Base, *more: str) -> tuple[str, ...]:
    """The telling words of a requirement; where it has none of its own, those of the part that it continues."""
    own = telling_terms(requirement.terms, requirement.source, *more)
    return own or telling_terms(requirement.context, requirement.source, *more)
