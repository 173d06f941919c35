"""When a question names something that several publications are: ask which, never guess.

Only what was discovered counts as a candidate, two are needed, and a question that tells them apart is answered.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dofrag.coverage.source import held, mismatch, names_anything
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.corpus import Publication
from dofrag.domain.question import ProvisionRequired, Requirement, Status
from dofrag.domain.records import dataclass
from dofrag.planner.interface import Seen, View
from dofrag.planner.pointers import glimpse, subject_of
from dofrag.text.fold import content_words, fold, stem
from dofrag.text.paths import provision_matches

MAX_OPTIONS = 8
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)", re.ASCII)


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


def may_ask_which(view: View, codes: tuple[str, ...]) -> bool:
    """Whether a planner may ask which of these publications is meant: by the rules' own reading several of them are,
    or they all are what an open requirement asks for, and neither the question's time nor its words tell them apart.
    A question that says which one is answered, however many others were found."""
    reading = replace(view, passages={})
    requirements = [r for sub in view.sub_questions for r in sub.requirements]
    named = [c for r in requirements if (c := choice(reading, [r])) is not None]
    if any(len(set(codes) & set(c.codes)) >= 2 for c in named):
        return True
    waiting = [r for r in requirements if view.coverage.get(r.id) not in (Status.SUPPORTED, Status.ANSWERED)]
    return any(_left_open(view, r, codes) for r in waiting) and not _told_apart(view, list(codes))


def _left_open(view: View, requirement: Requirement, codes: tuple[str, ...]) -> bool:
    """Whether each of these publications fits a requirement as far as it tells, and its time tells none apart."""
    publications = [view.publications[code] for code in codes]
    for code, publication in zip(codes, publications, strict=True):
        if mismatch(requirement.source, glimpse(Seen(0, code, (), None, publication.title), publication)):
            return False
    if view.asks_current:  # the newest of a series is meant
        return len({p.published_on for p in publications}) == 1
    period = getattr(requirement, "period", None)
    if period is None:
        years = years_of(view.question.text)
    else:
        years = {str(year) for year in range(period.start.year, min(period.end.year, period.start.year + 20) + 1)}
    of_then = [bool(years & (years_of(p.title) | {str(p.published_on.year)})) for p in publications]
    return all(of_then) or not any(of_then)


def years_of(text: str) -> set[str]:
    """Numbers of a text that may be years."""
    return set(_YEAR.findall(text))


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
