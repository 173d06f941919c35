"""How far a run came with all that was published in a day, an edition or a short range."""

from __future__ import annotations

from dofrag.coverage.listing import asks_for_all, fits
from dofrag.domain.question import Requirement
from dofrag.domain.records import dataclass
from dofrag.tools.session import ResearchSession


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


def listed(session: ResearchSession, requirement: Requirement) -> Listed | None:
    """What was listed for a requirement that asks for all of it; None for any other, and where nothing was. Pure."""
    if not asks_for_all(requirement):
        return None
    start = requirement.source.published_from
    listings = [r for r in session.searched if r.tool == "list_publications" and r.total]
    made = [r for r in listings if start is not None and r.arguments.get("date_from") == start.isoformat()]
    if not made:
        return None
    seen = dict.fromkeys(code for record in made for code in record.codes)
    read = {p.chunk.code for p in session.passages.values()}
    fitting = [session.publications[code] for code in seen if fits(requirement, session.publications[code])]
    return Listed(
        total=max(record.total for record in made),
        listed=len(seen),
        read=sum(p.code in read for p in fitting),
        unread=tuple(p.title for p in fitting if p.code not in read),
    )
