"""When a question names something that several publications are: ask which, never guess.

Only what was discovered counts as a candidate, two are needed, and a question that tells them apart is answered.
"""

from __future__ import annotations

from dofrag.coverage.source import held, mismatch, names_anything
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.corpus import Publication
from dofrag.domain.question import ProvisionRequired, Requirement
from dofrag.domain.records import dataclass
from dofrag.planner.interface import Seen, View
from dofrag.planner.pointers import glimpse, subject_of
from dofrag.text.fold import content_words, fold, stem
from dofrag.text.paths import provision_matches

MAX_OPTIONS = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """What is ambiguous (a message key and what the question calls it), and the codes of the candidates."""

    key: str
    named: str
    codes: tuple[str, ...]


def choice(view: View, missing: list[Requirement]) -> Choice | None:
    """The first thing in the question that two or more discovered publications are, if nothing tells them apart."""
    if view.passages:
        return None  # what was read decides from here on
    for requirement in missing:
        found = _of_no_law(view, requirement) or _of_one_number(view, requirement)
        if found is not None and len(found.codes) >= 2:
            return found
    return None


def _of_no_law(view: View, requirement: Requirement) -> Choice | None:
    """`artículo 5` and nothing else: the publications that have one."""
    if not isinstance(requirement, ProvisionRequired) or names_anything(requirement.source):
        return None
    if subject_of(requirement):
        return None
    codes = dict.fromkeys(s.code for s in view.seen if provision_matches(requirement.path, s.provision))
    own = [c for c in codes if c in view.publications]
    return Choice("clarify.provision", requirement.label, _without_doubles(view, own)[:MAX_OPTIONS])


def _of_one_number(view: View, requirement: Requirement) -> Choice | None:
    """An identifier without its end, which several instruments share."""
    wanted = fold(requirement.source.identifier or "")
    if not wanted:
        return None
    first: dict[str, str] = {}
    for code, publication in view.publications.items():
        if mismatch(requirement.source, glimpse(Seen(0, code, (), None, publication.title), publication)):
            continue
        for identifier in publication.identifiers:
            if fold(identifier) == wanted:
                return None
            if fold(identifier).startswith((wanted + "-", wanted + "/")):
                first.setdefault(fold(identifier), code)
    codes = list(dict.fromkeys(first.values()))
    if len(codes) < 2 or _told_apart(view, codes):
        return None
    return Choice("clarify.identifier", requirement.source.identifier or "", tuple(codes[:MAX_OPTIONS]))


def _told_apart(view: View, codes: list[str]) -> bool:
    """Whether the question's own words fit one candidate's title or issuer better than any other's."""
    asked = {stem(w) for w in content_words(view.question.text)} - wordset("slots") - wordset("kinds")
    hits = sorted(sum(held(w, _stems(view.publications[c])) for w in asked) for c in codes)
    return hits[-1] > hits[-2]


def _stems(publication: Publication) -> frozenset[str]:
    return frozenset(stem(w) for w in content_words(f"{publication.title} {publication.issuer}"))


def _without_doubles(view: View, codes: list[str]) -> tuple[str, ...]:
    """Without the consolidated text of a law whose publication is a candidate too."""
    published = [_stems(view.publications[c]) for c in codes if not view.publications[c].consolidated]
    kept = []
    for code in codes:
        publication = view.publications[code]
        words = {stem(w) for w in content_words(publication.title)}
        double = publication.consolidated and any(all(held(w, own) for w in words) for own in published)
        if not double:
            kept.append(code)
    return tuple(kept)
