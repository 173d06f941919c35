"""A day that several read publications of one series give differently: ask which is meant, never take the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dofrag.coverage.match import PreparedPassage, meets
from dofrag.coverage.source import names_anything
from dofrag.domain.question import DateRequired, DateRole, Requirement, SubQuestion
from dofrag.planner.ambiguity import MAX_OPTIONS, Choice
from dofrag.planner.interface import View
from dofrag.planner.series import series
from dofrag.text.fold import words

ASKED_ROLES = frozenset({DateRole.DATUM, DateRole.DEADLINE})


def rival_days(view: View, prepared: Mapping[int, PreparedPassage]) -> Choice | None:
    """The first day that is asked for and that two read publications of one series give differently: two calls for
    tenders on the same thing, say. Only where the question names neither a source nor a time."""
    if view.asks_current:
        return None  # the newest of a series is meant
    for sub in view.sub_questions:
        for requirement in sub.requirements:
            if _timeless(requirement):
                codes = _differing(view, requirement, sub, prepared)
                if len(codes) > 1:
                    return Choice("clarify.several", requirement.label, codes[:MAX_OPTIONS])
    return None


def _timeless(requirement: Requirement) -> bool:
    if not isinstance(requirement, DateRequired) or requirement.role not in ASKED_ROLES:
        return False
    source = replace(requirement.source, gazette_only=False)
    return requirement.period is None and requirement.path is None and not names_anything(source)


def _differing(
    view: View, requirement: Requirement, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]
) -> tuple[str, ...]:
    """Codes of the publications of one series that give different days; none where they agree."""
    days: dict[str, tuple[str, ...]] = {}
    for chunk_id in view.support.get(requirement.id, ()):
        found = meets(requirement, prepared[chunk_id], sub)
        if found.values:
            days.setdefault(view.passages[chunk_id].chunk.code, found.values)
    groups: dict[tuple[str, str], list[str]] = {}
    for code in days:
        groups.setdefault(series(view.publications[code]), []).append(code)
    for codes in groups.values():
        if len({days[code] for code in codes}) > 1 and not _told_apart(view, codes):
            return tuple(codes)
    return ()


def _told_apart(view: View, codes: Sequence[str]) -> bool:
    """Whether words and numbers of the question (`2031-2032`) stand in the title of one more than of any other."""
    asked = set(words(view.question.text))
    hits = sorted(len(asked.intersection(words(view.publications[code].title))) for code in codes)
    return hits[-1] > hits[-2]


OTHER_AUTHORITY = 2
"""By how much the value of another authority may be worded less like the question and be one of the same thing."""


def stands_beside(rank: int, best: int, other_issuer: bool) -> bool:
    """Whether a value that supports stands beside the best one: another body heads its tables in other words."""
    return rank >= best - (OTHER_AUTHORITY if other_issuer else 0)
