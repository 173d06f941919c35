"""Two publications that fix different values for one thing and one time: the run states both and chooses neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.domain.evidence import Claim
from dofrag.domain.question import SubQuestion, ValueRequired
from dofrag.domain.records import dataclass
from dofrag.planner.rivals import stands_beside
from dofrag.text.fold import fold


@dataclass(frozen=True, slots=True)
class Position:
    """A value that a cited passage gives for a requirement, where another cited one gives another."""

    requirement: str
    value: str
    chunk_id: int


def positions(
    sub_questions: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage], claims: Sequence[Claim]
) -> tuple[Position, ...]:
    """The values in conflict among accepted claims; none where publications agree. Pure. Only values of a stated time
    can conflict: those of different times are members of a series."""
    out: list[Position] = []
    for sub in sub_questions:
        own = [claim for claim in claims if sub.id in claim.sub_questions]
        cited = dict.fromkeys(c.chunk_id for claim in own for c in claim.citations)
        out += _among(sub, [prepared[chunk_id] for chunk_id in cited])
    return tuple(out)


def read_positions(
    sub_questions: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage]
) -> tuple[Position, ...]:
    """The same among all that was read, whether a draft cites it or not. Pure."""
    return tuple(p for sub in sub_questions for p in _among(sub, list(prepared.values())))


def _among(sub: SubQuestion, passages: Sequence[PreparedPassage]) -> list[Position]:
    timed = [r for r in sub.requirements if isinstance(r, ValueRequired) and r.period is not None]
    return [position for requirement in timed for position in _of(requirement, sub, passages)]


def _of(requirement: ValueRequired, sub: SubQuestion, cited: Sequence[PreparedPassage]) -> list[Position]:
    found = [(passage, s) for passage in cited if (s := meets(requirement, passage, sub)).supported and s.values]
    best = max((support.rank for _, support in found), default=0)
    best_issuers = {fold(p.passage.publication.issuer) for p, s in found if s.rank == best}
    first: dict[str, Position] = {}  # one a publication
    for passage, support in found:
        if stands_beside(support.rank, best, fold(passage.passage.publication.issuer) not in best_issuers):
            code = passage.passage.publication.code
            first.setdefault(code, Position(requirement.id, support.values[0], passage.id))
    kept = list(first.values())
    return kept if len({p.value for p in kept}) > 1 else []
