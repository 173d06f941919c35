"""How far a run came with all that was published in a day, an edition or a short range."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dofrag.coverage.listing import asks_for_all, fits
from dofrag.domain.question import Question, Requirement
from dofrag.domain.records import dataclass
from dofrag.tools.session import ResearchSession, SearchRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """`total` publications of the time, of which `listed` were seen; of these `read` fit and were read, and `unread`
    are the titles of those that fit and were not."""

    total: int
    listed: int
    read: int
    unread: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return self.listed >= self.total and not self.unread


def listed(session: ResearchSession, requirement: Requirement, question: Question) -> Listed | None:
    """What was listed for a requirement that asks for all of it, up to the cut-off; None for any other, and where
    nothing was. Pure."""
    if not asks_for_all(requirement):
        return None
    listings: dict[tuple[object, ...], list[SearchRecord]] = {}
    for record in session.searched:
        if record.tool == "list_publications" and record.total and _holds_all(record, requirement, question.as_of):
            listings.setdefault(tuple(record.arguments.get(name) for name in _NARROWING), []).append(record)
    if not listings:
        return None
    # Of several listings the one that came furthest tells.
    made = max(listings.values(), key=lambda pages: (_share(pages), pages[0].total))
    seen = dict.fromkeys(code for record in made for code in record.codes)
    read = {p.chunk.code for p in session.passages.values()}
    known = [session.publications[code] for code in seen]
    fitting = [publication for publication in known if fits(requirement, publication, question.text)]
    return Listed(
        total=made[0].total,
        listed=len(seen),
        read=sum(p.code in read for p in fitting),
        unread=tuple(p.title for p in fitting if p.code not in read),
    )


_NARROWING = ("date_from", "date_to", "issuer", "edition", "kind")


def _holds_all(record: SearchRecord, requirement: Requirement, as_of: date) -> bool:
    """Whether a listing leaves out nothing of what is asked for."""
    source, arguments = requirement.source, record.arguments
    start, end = arguments.get("date_from"), arguments.get("date_to")
    return (
        (start is None or (source.published_from is not None and start <= source.published_from.isoformat()))
        and (end is None or (source.published_to is not None and end >= min(source.published_to, as_of).isoformat()))
        and (arguments.get("issuer") is None or source.issuer is not None)
        and arguments.get("edition") in (None, source.edition)
        and arguments.get("kind") is None
    )


def _share(pages: Sequence[SearchRecord]) -> float:
    return len({code for record in pages for code in record.codes}) / pages[0].total
