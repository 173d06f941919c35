"""What a later publication says of an earlier one, by the titles of both."""

from __future__ import annotations

from dofrag.coverage.cues import cue
from dofrag.coverage.lawnames import issued_name
from dofrag.coverage.source import held
from dofrag.domain.corpus import Publication
from dofrag.text.fold import content_words, fold, stem


def corrects(later: Publication, earlier: Publication) -> bool:
    """Whether a publication is an erratum or a clarification of an earlier one, by its title."""
    return bool(cue("title_corrects").search(fold(later.title))) and _speaks_of(later, earlier)


def alters(later: Publication, earlier: Publication) -> bool:
    """Whether a title says that its publication changes, corrects or prolongs an earlier one."""
    return bool(cue("title_alters").search(fold(later.title))) and _speaks_of(later, earlier)


def _speaks_of(later: Publication, earlier: Publication) -> bool:
    """Published after, and with most of the words of the earlier title in its own. What was published by the day of a
    consolidated law is worked into it."""
    if later.published_on < earlier.published_on or later.code == earlier.code or later.consolidated:
        return False
    if earlier.consolidated and later.published_on == earlier.published_on:
        return False
    own = frozenset(stem(w) for w in content_words(later.title))
    wanted = frozenset(stem(w) for w in content_words(issued_name(earlier.title) or earlier.title))
    return bool(wanted) and 3 * sum(held(w, own) for w in wanted) >= 2 * len(wanted)
