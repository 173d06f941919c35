"""The arms of an experiment: what a planner may call. Loop, closure check, limits, corpus and graders are the same.

Only the registry differs; `fixed` has none, its pipeline searches once and has the planner compose once.
"""

from __future__ import annotations

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError
from dofrag.planner.interface import Planner
from dofrag.tools import CORE, ToolSpec
from dofrag.tools.searchbox import SEARCHBOX


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """`tools` is what dispatch knows; `offered` what the planner is shown."""

    name: str
    tools: tuple[ToolSpec, ...]
    offered: tuple[ToolSpec, ...]


ARMS = {
    "fixed": Arm(name="fixed", tools=(SEARCHBOX,), offered=()),
    "searchbox": Arm(name="searchbox", tools=(SEARCHBOX,), offered=(SEARCHBOX,)),
    "core": Arm(name="core", tools=CORE, offered=CORE),
}


def arm_named(name: str) -> Arm:
    """Raises UsageError for one that there is not."""
    if name not in ARMS:
        raise UsageError(f"there is no arm {name[:60]!r}", hint=f"arms: {', '.join(ARMS)}")
    return ARMS[name]


def seated(planner: Planner, arm: Arm, epsilon: float = 0.0, seed: int = 0) -> Planner:
    """The planner as it plays in an arm, with slips where `epsilon` is above zero."""
    from dofrag.planner.wrapped import SinglePass, Slips

    played: Planner = SinglePass(planner) if arm.name == "fixed" else planner
    return Slips(played, epsilon, seed) if epsilon else played
