"""Whether a publication is of the kind that is asked for: a draft of a norm is not the norm, an erratum to a law is
not the law, a regulation is not what it regulates.
"""

from __future__ import annotations

from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import said
from dofrag.domain.corpus import Kind, Publication
from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DateRole,
    ListRequired,
    PublicationRequired,
    Requirement,
    SubQuestion,
    TopicRequired,
)
from dofrag.text.fold import fold_chars, stem, words

DERIVED = ("project", "extract", "call", "erratum", "regulation")
"""Kinds of publications that name another instrument in their title. Each is a cue, `kind_<name>`."""
ABOUT = frozenset(("project", "extract", "call"))
"""Those whose text never stands for the instrument that they name."""


def other_kind(requirement: Requirement, prepared: PreparedPassage, part: SubQuestion | None) -> str:
    """Which kind is asked for that the publication is not of, or which it is of that is not asked for; "" when its
    kind agrees, or the question leaves it open."""
    if part is None:
        return ""
    if isinstance(requirement, PublicationRequired):
        asked_acts = acts_asked(part.text)
        if asked_acts and not asked_acts & acts_of(prepared.passage.publication):
            return ", ".join(sorted(asked_acts))
    of_title = _kinds(prepared.passage.publication.title)
    asked, anywhere = _kinds(part.text), _kinds(part.question or part.text)
    identity = _of_identity(requirement)
    if identity:
        missing = next((kind for kind in asked if kind not in of_title), "")
        if missing:
            return missing
    elif not isinstance(requirement, (TopicRequired, ListRequired)):
        if "erratum" in asked and "erratum" not in of_title:
            return "erratum"  # what it mended is asked for as mended
    elif isinstance(requirement, TopicRequired):
        head = next((kind for kind in _kinds(said(part.text).head) if kind not in of_title), "")
        if head:
            return head
    if not (requirement.source.name or requirement.source.identifier):
        return ""
    begins = _kind_at_start(prepared.passage.publication.title)
    if begins == "project" and fold_chars(requirement.source.identifier or "").startswith("proy"):
        return ""  # the draft itself is asked for
    if begins == "regulation" and not identity:
        begins = ""
    return begins if begins and begins not in anywhere and (identity or begins in ABOUT) else ""


def _of_identity(requirement: Requirement) -> bool:
    """Whether what is asked is of the publication as such: when it was published or signed, by whom."""
    match requirement:
        case DateRequired(role=DateRole.PUBLICATION | DateRole.SIGNATURE):
            return True
        case ActorRequired(role=role):
            return (role or "").startswith(("issu", "emi", "sign", "firm"))
        case PublicationRequired():
            return True
        case _:
            return False


@lru_cache(maxsize=512)
def acts_asked(text: str) -> frozenset[str]:
    """The sorts of acts that are asked for, as stems; none where a question leaves it open, or asks twice."""
    found = [match["acts"] for match in cue("acts_asked").finditer(fold_chars(text))]
    return frozenset(stem(word) for word in words(found[0]) if len(word) > 1) if len(found) == 1 else frozenset()


@lru_cache(maxsize=2048)
def acts_of(publication: Publication) -> frozenset[str]:
    """What sorts of act a publication is, as stems: what its title begins with, what it brings about, a notice."""
    title = fold_chars(publication.title)
    found = [*words(title)[:2], *(match["act"] for match in cue("brings_about").finditer(title))]
    found += words(fold_chars(publication.instrument or ""))[:1]
    stems = frozenset(map(stem, found))
    if publication.kind is Kind.AVISO:
        stems |= wordset("notices", "calls") if cue("kind_call").search(title) else wordset("notices")
    return stems


@lru_cache(maxsize=2048)
def _kinds(text: str) -> tuple[str, ...]:
    folded = fold_chars(text)
    return tuple(kind for kind in DERIVED if cue(f"kind_{kind}").search(folded))


@lru_cache(maxsize=2048)
def _kind_at_start(title: str) -> str:
    folded = fold_chars(title).lstrip(" *_#")
    return next((kind for kind in DERIVED if cue(f"kind_{kind}").match(folded)), "")
