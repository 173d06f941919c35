"""One passage held against one question, outside a run: what `dof coverage check` shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dofrag.coverage.ledger import supports
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.domain.corpus import PUBLIC, Chunk, Kind, Passage, Publication, SourceKind
from dofrag.domain.question import Status, SubQuestion
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True)
class Tried:
    """A requirement and what the passage does for it: SUPPORTED or OPEN."""

    id: str
    kind: str
    label: str
    status: Status
    why: str


def passage_from(
    text: str,
    published_on: date,
    *,
    title: str = "",
    issuer: str = "",
    headings: tuple[str, ...] = (),
    identifiers: tuple[str, ...] = (),
) -> Passage:
    """A text as if it had been read from a publication of the gazette with this identity."""
    publication = Publication(
        code="passage", published_on=published_on, edition=None, kind=Kind.DOF, source_kind=SourceKind.PUBLICATION,
        position=None, section=None, branch=None, issuer=issuer, title=title, instrument=None,
        identifiers=identifiers, url=None, scope=PUBLIC, source="passage", span=(0, len(text)), chars=len(text),
        sha256="",
    )  # fmt: skip
    chunk = Chunk(
        id=1, code="passage", ordinal=0, start=0, end=len(text), heading_path=headings, provision=None, kind="text",
        text=text,
    )  # fmt: skip
    return Passage(chunk, publication)


def try_passage(sub_questions: Sequence[SubQuestion], prepared: PreparedPassage) -> tuple[Tried, ...]:
    """Each requirement as it would stand if this passage, and nothing else, were read and cited."""
    out: list[Tried] = []
    for sub in sub_questions:
        found = supports(sub, [prepared])
        for requirement in sub.requirements:
            best = next((s for _, s in found[requirement.id]), None)
            status = Status.SUPPORTED if best is not None and best.supported else Status.OPEN
            why = best.why if best is not None else _why_not(requirement.id, sub, prepared)
            kind = type(requirement).__name__.removesuffix("Required").lower()
            out.append(Tried(requirement.id, kind, requirement.label, status, why))
    return tuple(out)


def _why_not(requirement_id: str, sub: SubQuestion, prepared: PreparedPassage) -> str:
    requirement = next(r for r in sub.requirements if r.id == requirement_id)
    return meets(requirement, prepared, sub).why


def verdict(tried: Sequence[Tried]) -> str:
    """ "all", "some" or "none" of the requirements are supported."""
    done = sum(t.status is Status.SUPPORTED for t in tried)
    return "all" if done == len(tried) else "some" if done else "none"
