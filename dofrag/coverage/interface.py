"""Shared types of coverage. The functions themselves stand in `match.py` (meets) and `closure.py` (check_closure)."""

from __future__ import annotations

from dofrag.domain.evidence import NO_PREMISE, Claim, Fault, PremiseFinding
from dofrag.domain.question import Status
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True)
class Proof:
    """What must stand inside quotes for a requirement to be answered: all of `spans` (characters of the passage's
    text). `value` is the value they hold, normalised ("113.14", "2026-02-01"), "" where the text itself is it."""

    spans: tuple[tuple[int, int], ...]
    value: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """Whether one passage supports one requirement. `spans` are the characters of the passage's text that do, to
    quote from, each at most 600 characters; `why` says in one line what agreed or what was missing (for `dof
    coverage check` and the trace). Any one of `proofs` is enough. `group` names the list that an item belongs to. Of
    two passages that support, the one of higher `rank` is the better witness."""

    status: Status  # OPEN, READ or SUPPORTED
    why: str
    spans: tuple[tuple[int, int], ...] = ()
    values: tuple[str, ...] = ()  # the values found, normalised: "113.14", "2026-02-01"
    proofs: tuple[Proof, ...] = ()
    group: str = ""
    rank: int = 0
    identity: bool = False  # rests on what the publication is, not on what a sentence says

    @property
    def supported(self) -> bool:
        return self.status is Status.SUPPORTED


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the read passages cover. `status` has every requirement and every sub-question; `support` maps a
    requirement to the passages that support it, best first; `counts` says "k of n" of the stated lists."""

    status: dict[str, Status]
    support: dict[str, tuple[int, ...]]
    counts: dict[str, tuple[int, int]]

    @classmethod
    def empty(cls) -> Coverage:
        """Before anything is known."""
        return cls({}, {}, {})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the closure check says of a draft. Accepted when `faults` is empty; then `claims` carry true spans and
    `answered` maps requirement id → the chunk whose cited passage answers it. `contradicted` are requirements that
    rest on a premise which the draft corrected."""

    faults: tuple[Fault, ...]
    claims: tuple[Claim, ...] = ()
    answered: tuple[tuple[str, int], ...] = ()
    rejected_citations: tuple[int, ...] = ()
    premise: PremiseFinding = NO_PREMISE
    contradicted: tuple[str, ...] = ()
