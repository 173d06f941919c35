"""Hard limits. Everything is asked for before it happens: what would go over is never issued and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits, Spend
from dofrag.tools.contract import ToolSpec


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
        self._input_tokens = 0
        self._output_tokens = 0
        self._reserved = 0
        self._asked = False
        self._replies = 0
        self._cost: float | None = 0.0

    @property
    def turns(self) -> int:
        return self._turns

    def start_turn(self) -> Trip | None:
        """Take a turn, or say which limit forbids it."""
        trip = self.out_of_time()
        if trip is not None:
            return trip
        if self._turns >= self.limits.max_turns:
            return Trip("max_turns", self.limits.max_turns, self._turns, 1)
        self._turns += 1
        return None

    def time_left(self) -> float:
        """Seconds of the wall clock that are left; negative when it has run out."""
        return self.limits.wall_clock_s - (self._monotonic() - self._start)

    def out_of_time(self) -> Trip | None:
        """The wall clock, when it has run out."""
        maximum = self.limits.wall_clock_s
        # All of it is spent: by how much it was overrun is a matter of `elapsed_ms`, and of no replay.
        return Trip("wall_clock_s", maximum, maximum, 0) if self.time_left() <= 0 else None

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

    def reserve_tokens(self, wanted: int) -> Trip | None:
        """Set aside what one model call may take at most: its prompt and its output cap. Or say that it is too much,
        and change nothing. A reservation is open until it is settled."""
        spent = self._input_tokens + self._output_tokens + self._reserved
        if spent + wanted > self.limits.max_tokens:
            return Trip("max_tokens", self.limits.max_tokens, spent, wanted)
        self._reserved += wanted
        return None

    def settle_tokens(self, reserved: int, input_tokens: int, output_tokens: int) -> None:
        """Put what a call really took in the place of what was set aside for it."""
        self._asked = True
        self._reserved -= reserved
        self._input_tokens += input_tokens
        self._output_tokens += output_tokens

    def charge_money(self, cost: float | None) -> None:
        """Count a reply, and add its cost. One call of unknown cost makes that of the run unknown: no sum leaves out
        a part."""
        self._replies += 1
        self._cost = None if cost is None or self._cost is None else self._cost + cost

    def spend(self, read_tokens: int) -> Spend:
        return Spend(
            turns=self._turns,
            tool_calls=self._calls,
            read_tokens=read_tokens,
            cost_units=self._cost_units,
            latency_ms=self._latency_ms,
            input_tokens=self._input_tokens if self._asked else None,
            output_tokens=self._output_tokens if self._asked else None,
            cost=round(self._cost, 6) if self._replies and self._cost is not None else None,
            elapsed_ms=round((self._monotonic() - self._start) * 1000),
        )
