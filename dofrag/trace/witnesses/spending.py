"""Money, turns and calls: what the end says was spent against what the events say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dofrag.domain.run import ENDS, LIMIT_REASONS, Reason
from dofrag.trace.events import Answered, LimitReached, ModelCalled, PassageRead, RunFinished, RunStarted
from dofrag.trace.problems import ProblemCode, Say
from dofrag.trace.witnesses.calls import Calls

_MAY_EXCEED = ("max_tokens", "wall_clock_s")
IDLE = 3
"""Turns in a row that may leave no event: a planner that cannot be understood is given up then."""


class Spending:
    """Follows what is spent, and the limits that stop it."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._limits: Mapping[str, Any] = {}
        self._models: list[ModelCalled] = []
        self._attempts: Counter[int] = Counter()
        self._trips: list[LimitReached] = []
        self._tripped: set[tuple[int, str, str | None]] = set()

    def started(self, event: RunStarted) -> None:
        self._limits = event.limits

    def model(self, event: ModelCalled) -> None:
        self._attempts[event.turn] += 1
        if event.attempt != (number := self._attempts[event.turn]):
            self._say(ProblemCode.COUNTS, f"attempt {event.attempt} of turn {event.turn} is number {number}")
        self._models.append(event)

    def limit(self, event: LimitReached) -> None:
        if event.limit not in LIMIT_REASONS or self._limits.get(event.limit) != event.maximum:
            self._say(
                ProblemCode.LIMITS,
                f"{event.limit} is {event.maximum} when it is reached; the run began with"
                f" {self._limits.get(event.limit)}",
            )
        # A provider may count more than was reserved, and a clock does not wait.
        over = event.spent > event.maximum and event.limit not in _MAY_EXCEED
        if over or (event.limit != "wall_clock_s" and event.spent + event.wanted <= event.maximum):
            self._say(
                ProblemCode.LIMITS,
                f"{event.limit}: {event.spent} spent, {event.wanted} wanted, {event.maximum} allowed",
            )
        if (step := (event.turn, event.limit, event.tool)) in self._tripped:
            self._say(ProblemCode.LIMITS, f"{event.limit} is reached twice in one step")
        self._tripped.add(step)
        self._trips.append(event)

    def finished(
        self, event: RunFinished, answer: Answered | None, calls: Calls, read: Mapping[int, PassageRead], turn: int
    ) -> None:
        state, closure = ENDS[event.reason]
        if (event.terminal_state, event.closure) != (state, closure):
            self._say(
                ProblemCode.END_STATE,
                f"{event.reason} ends in {state}, {closure}; not {event.terminal_state}, {event.closure}",
            )
        # A run that something broke off may have spent what no event tells of.
        broken_off = event.reason in (Reason.INTERRUPTED, Reason.INTERNAL_ERROR)
        self._stopped(event)
        exact = {
            "tool_calls": len(calls.ran),
            "read_tokens": sum(p.tokens for p in read.values()),
            **calls.spent,
            **self._tokens(),
        }
        for name, counted in exact.items():
            spent = event.spend.get(name)
            if spent != counted and not (broken_off and _more(spent, counted)):
                self._say(ProblemCode.COUNTS, f"spend says {name} {spent}; the events say {counted}")
        self._money(event.spend.get("cost"))
        self._turns(event, answer, turn)
        for name in ("turns", "tool_calls", "read_tokens", "cost_units", "latency_ms"):
            spent, limit = event.spend.get(name), self._limits.get(f"max_{name}")
            if isinstance(spent, int) and isinstance(limit, int) and spent > limit:
                self._say(ProblemCode.OVER_LIMIT, f"{name}: {spent} spent, {limit} allowed")

    def _stopped(self, event: RunFinished) -> None:
        """A run that ends at a limit reached it first of all; and one that gives up had reached none."""
        first = self._trips[0].limit if self._trips else None
        if event.reason in LIMIT_REASONS.values() and (
            first is None or LIMIT_REASONS.get(first) is not event.reason or event.message != first
        ):
            self._say(ProblemCode.END_STATE, f"{event.reason}, and the first limit that was reached is {first}")
        if event.reason in (Reason.COVERAGE_MISSING, Reason.NOT_IN_CORPUS) and first is not None:
            self._say(ProblemCode.END_STATE, f"{event.reason}, and the run was stopped by {first}")

    def _tokens(self) -> dict[str, int | None]:
        """Provider's figures, and ours where it gave none. A request that failed is counted where it may be billed,
        which its event does not tell: then nothing is claimed."""
        if not self._models:
            return {"input_tokens": None, "output_tokens": None}
        answered = [m for m in self._models if m.reply is not None or m.output_estimate or m.input_tokens is not None]
        if len(answered) != len(self._models):
            return {}
        sent = sum(m.prompt_tokens if m.input_tokens is None else m.input_tokens for m in answered)
        got = sum(m.output_estimate if m.output_tokens is None else m.output_tokens for m in answered)
        return {"input_tokens": sent, "output_tokens": got}

    def _money(self, spent: Any) -> None:
        known = [m.cost for m in self._models if m.cost is not None]
        if isinstance(spent, int | float) and abs(spent - sum(known)) > 1e-6:
            self._say(ProblemCode.COUNTS, f"spend says cost {spent}; the events say {sum(known):.6f}")

    def _turns(self, event: RunFinished, answer: Answered | None, turn: int) -> None:
        turns = event.spend.get("turns")
        most = turn + (0 if answer is not None else IDLE)
        if not isinstance(turns, int) or not turn <= turns <= most:
            self._say(ProblemCode.COUNTS, f"spend says turns {turns}; the events say {turn}")


def _more(spent: Any, counted: int | None) -> bool:
    return spent is None or counted is None or (isinstance(spent, int) and spent >= counted)
