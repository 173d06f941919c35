"""Hard limits. Everything is asked for before it happens: what would go over is never issued and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dofrag.domain.run import Limits, Reason, Spend
from dofrag.tools.contract import ToolSpec

LIMIT_REASONS: dict[str, Reason] = {
    "max_turns": Reason.TURN_LIMIT,
    "max_tool_calls": Reason.TOOL_CALL_LIMIT,
    "max_read_tokens": Reason.READ_LIMIT,
    "max_tokens": Reason.TOKEN_LIMIT,
    "max_cost_units": Reason.COST_LIMIT,
    "max_latency_ms": Reason.LATENCY_LIMIT,
    "wall_clock_s": Reason.WALL_CLOCK,
}
"""Which reason a run ends in when a limit stopped it. One each: budget trips are never merged."""


@dataclass(frozen=True, slots=True)
class Trip:
    """A limit that stopped something before it happened."""

    limit: str
    maximum: float
    spent: float
    wanted: float


class Budget:
    """Counters of one run against its limits. `monotonic` gives seconds from any origin."""

    def __init__(self, limits: Limits, monotonic: Callable[[], float]) -> None:
        self.limits = limits
        self._monotonic = monotonic
        self._start = monotonic()
        self._turns = 0
        self._calls = 0
        self._cost_units = 0
        self._latency_ms = 0

    @property
    def turns(self) -> int:
        return self._turns

    def start_turn(self) -> Trip | None:
        """Take a turn, or say which limit forbids it."""
        elapsed = self._monotonic() - self._start
        if elapsed >= self.limits.wall_clock_s:
            return Trip("wall_clock_s", self.limits.wall_clock_s, elapsed, 0)
        if self._turns >= self.limits.max_turns:
            return Trip("max_turns", self.limits.max_turns, self._turns, 1)
        self._turns += 1
        return None

    def last_turn(self) -> Trip | None:
        """The turn limit, when no turn is left: to give up then and to be stopped are the same."""
        used_up = self._turns >= self.limits.max_turns
        return Trip("max_turns", self.limits.max_turns, self._turns, 1) if used_up else None

    def trip(self, spec: ToolSpec) -> Trip | None:
        """The first limit that one call of this tool would go over. Changes nothing."""
        wanted = (
            ("max_tool_calls", self.limits.max_tool_calls, self._calls, 1),
            ("max_cost_units", self.limits.max_cost_units, self._cost_units, spec.cost_units),
            ("max_latency_ms", self.limits.max_latency_ms, self._latency_ms, spec.latency_ms),
        )
        return next((Trip(*row) for row in wanted if row[2] + row[3] > row[1]), None)

    def refuse(self, spec: ToolSpec) -> str | None:
        trip = self.trip(spec)
        return trip.limit if trip else None

    def charge(self, spec: ToolSpec) -> None:
        self._calls += 1
        self._cost_units += spec.cost_units
        self._latency_ms += spec.latency_ms

    def exhausted(self, tools: Iterable[ToolSpec]) -> Trip | None:
        """The limit that stands in the way of every tool there is, if none can be called any more."""
        trips = [self.trip(spec) for spec in tools]
        return trips[0] if trips and all(trips) else None

    def spend(self, read_tokens: int) -> Spend:
        return Spend(
            turns=self._turns,
            tool_calls=self._calls,
            read_tokens=read_tokens,
            cost_units=self._cost_units,
            latency_ms=self._latency_ms,
            elapsed_ms=round((self._monotonic() - self._start) * 1000),
        )
