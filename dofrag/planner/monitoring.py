"""What was published in a day, an edition or a short range: everything listed that fits is read, none is left out."""

from __future__ import annotations

from collections.abc import Iterator

from dofrag.coverage.listing import asks_for_all, fits
from dofrag.domain.question import Requirement
from dofrag.planner.interface import PastCall, ToolCall, View
from dofrag.planner.queries import Arguments, evidence_arguments, join, listing
from dofrag.planner.reading import untouched

FEW = 4
"""Publications of which more is read than the beginning."""
BATCH = 6
"""Publications that one search looks into: each must get its place among the results."""


def pages(view: View, arguments: Arguments) -> list[PastCall]:
    """The pages of one listing that were looked at."""
    bare = {k: v for k, v in arguments.items() if k != "offset"}
    made = [p for p in view.history if p.tool == "list_publications" and p.envelope.get("ok")]
    return [p for p in made if {k: v for k, v in p.arguments.items() if k != "offset"} == bare]


def next_page(view: View, requirement: Requirement) -> Arguments | None:
    """Arguments of the listing's next page; None when all of it was seen, or nothing can be listed."""
    arguments = listing(requirement, view.question)
    if arguments is None:
        return None
    seen = pages(view, arguments)
    shown = sum(int(p.envelope["returned"]) for p in seen)
    if seen and shown >= int(seen[0].envelope["total"]):
        return None
    return {**arguments, "offset": shown}


def fitting(view: View, requirement: Requirement) -> list[str]:
    """Codes of the listed publications whose title and data fit, in order of the listing."""
    arguments = listing(requirement, view.question)
    if arguments is None:
        return []
    codes = [str(r["publication"]) for page in pages(view, arguments) for r in page.envelope["results"]]
    return [
        c
        for c in dict.fromkeys(codes)
        if c in view.publications and fits(requirement, view.publications[c], view.question.text)
    ]


def left_out(view: View, requirement: Requirement) -> list[str]:
    """Codes of the listed publications that fit and of which nothing was read yet."""
    if not asks_for_all(requirement):
        return []
    return [c for c in fitting(view, requirement) if untouched(view, c)]


def work_through(view: View, requirement: Requirement, why: str) -> Iterator[ToolCall]:
    """Read the beginning of each publication that is left out; look for a pointer to it first where there is none."""
    codes = left_out(view, requirement)
    first: list[int] = []
    second: list[int] = []
    for code in codes:
        own = sorted(s.chunk_id for s in view.seen if s.code == code)
        first += own[:1]
        second += own[1:2]
    blind = [c for c in codes if all(s.code != c for s in view.seen)]
    if first and (not blind or len(first) >= BATCH):
        ids = (first + second)[:8]
        # Of a few it can be told what they order, too, which stands behind the title.
        around = int(len(codes) <= FEW)
        while ids:
            yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": around}, why)
            ids, around = (ids, 0) if around else (ids[: len(ids) // 2], 0)
    for n in range(0, len(blind), BATCH):
        batch = blind[n : n + BATCH]
        titles = join([" ".join(view.publications[c].title.split()[:16]) for c in batch])
        yield ToolCall("search_evidence", evidence_arguments(titles, batch), why)
