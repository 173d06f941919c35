"""When a run may say that the corpus does not hold what is asked: only what was looked for well can be absent."""

from __future__ import annotations

from collections.abc import Sequence

from dofrag.domain.question import Question, SubQuestion
from dofrag.planner.queries import listing
from dofrag.tools.session import SearchRecord

MIN_SEARCHES = 2
FILTERS = ("date_from", "date_to", "issuer", "edition", "kind", "publications")


def looked_for(searched: Sequence[SearchRecord], question: Question, sub_questions: Sequence[SubQuestion]) -> bool:
    """Whether enough was tried: two different searches, one of them without any filter, and a listing where the
    question names a day, a short range or an issuer. Pure."""
    if len({repr((r.tool, r.arguments)) for r in searched}) < MIN_SEARCHES:
        return False
    unfiltered = any(
        r.arguments.get("query") and not any(r.arguments.get(name) for name in FILTERS) for r in searched
    )
    named = any(listing(r, question) is not None for sub in sub_questions for r in sub.requirements)
    return unfiltered and (not named or any(r.tool == "list_publications" for r in searched))
