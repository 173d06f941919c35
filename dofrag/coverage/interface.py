"""Shared types of coverage. The functions themselves stand in `match.py` (meets) and `closure.py` (check_closure)."""

from __future__ import annotations

from dataclasses import dataclass

from dofrag.domain.evidence import NO_PREMISE, Claim, Fault, PremiseFinding
from dofrag.domain.question import Status


@dataclass(frozen=True, slots=True)
class Support:
    """Whether one passage supports one requirement. `spans` are the characters of the passage's text that do, to
    quote from; `why` says in one line what agreed or what was missing (for `dof coverage check` and the trace)."""

    status: Status  # OPEN, READ or SUPPORTED
    why: str
    spans: tuple[tuple[int, int], ...] = ()
    values: tuple[str, ...] = ()  # the values found, normalised: "113.14", "2026-02-01"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the closure check says of a draft. Accepted when `faults` is empty; then `claims` carry true spans and
    `answered` maps requirement id → the chunk whose cited passage answers it."""

    faults: tuple[Fault, ...]
    claims: tuple[Claim, ...] = ()
    answered: tuple[tuple[str, int], ...] = ()
    rejected_citations: tuple[int, ...] = ()
    premise: PremiseFinding = NO_PREMISE
