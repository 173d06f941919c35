"""A run: its limits, what it spent, and the one state it ends in."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum

from dofrag.domain.records import dataclass


class TerminalState(StrEnum):
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    NEEDS_CLARIFICATION = "needs_clarification"
    ESCALATED = "escalated"
    FAILED = "failed"


class Closure(StrEnum):
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Reason(StrEnum):
    CLOSED = "closed"
    CLOSED_CONTESTED = "closed_contested"
    PREMISE_CORRECTED = "premise_corrected"
    COVERAGE_MISSING = "coverage_missing"
    TURN_LIMIT = "turn_limit"
    TOOL_CALL_LIMIT = "tool_call_limit"
    READ_LIMIT = "read_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    LATENCY_LIMIT = "latency_limit"
    WALL_CLOCK = "wall_clock"
    PREMISE_UNCLEAR = "premise_unclear"
    INTERRUPTED = "interrupted"
    NOT_IN_CORPUS = "not_in_corpus"
    AMBIGUOUS = "ambiguous"
    SCOPE_DENIED = "scope_denied"
    APPROVAL_REQUIRED = "approval_required"
    PROVIDER_ERROR = "provider_error"
    PLANNER_STALLED = "planner_stalled"
    INTERNAL_ERROR = "internal_error"


ENDS: dict[Reason, tuple[TerminalState, Closure]] = {
    Reason.CLOSED: (TerminalState.ANSWERED, Closure.COMPLETE),
    Reason.CLOSED_CONTESTED: (TerminalState.ANSWERED, Closure.COMPLETE),
    Reason.PREMISE_CORRECTED: (TerminalState.ANSWERED, Closure.COMPLETE),
    Reason.COVERAGE_MISSING: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.TURN_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.TOOL_CALL_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.READ_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.TOKEN_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.COST_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.LATENCY_LIMIT: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.WALL_CLOCK: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.PREMISE_UNCLEAR: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.INTERRUPTED: (TerminalState.ABSTAINED, Closure.INCOMPLETE),
    Reason.NOT_IN_CORPUS: (TerminalState.ABSTAINED, Closure.COMPLETE),
    Reason.AMBIGUOUS: (TerminalState.NEEDS_CLARIFICATION, Closure.INCOMPLETE),
    Reason.SCOPE_DENIED: (TerminalState.ESCALATED, Closure.INCOMPLETE),
    Reason.APPROVAL_REQUIRED: (TerminalState.ESCALATED, Closure.INCOMPLETE),
    Reason.PROVIDER_ERROR: (TerminalState.FAILED, Closure.INCOMPLETE),
    Reason.PLANNER_STALLED: (TerminalState.FAILED, Closure.INCOMPLETE),
    Reason.INTERNAL_ERROR: (TerminalState.FAILED, Closure.INCOMPLETE),
}
"""The only pairs of state and closure that a reason may end in."""

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

EXIT_CODES: dict[TerminalState, int] = {
    TerminalState.ANSWERED: 0,
    TerminalState.ABSTAINED: 3,
    TerminalState.NEEDS_CLARIFICATION: 4,
    TerminalState.ESCALATED: 5,
    TerminalState.FAILED: 1,
}
INTERRUPTED_EXIT = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may spend at most. Only the caller sets these; no tool or model output can."""

    max_turns: int = 10  # a draft is a turn
    max_tool_calls: int = 8
    max_read_tokens: int = 12_000
    max_tokens: int = 120_000  # model input + output
    max_cost_units: int = 100  # a tariff charged per tool
    max_latency_ms: int = 60_000  # likewise a tariff, not a stopwatch
    wall_clock_s: float = 300.0

    def __post_init__(self) -> None:
        for f in fields(self):
            if not getattr(self, f.name) > 0:
                raise ValueError(f"limit {f.name} must be above zero")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What a run has spent. Token counts are None while no model was called."""

    turns: int = 0
    tool_calls: int = 0
    read_tokens: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_units: int = 0
    latency_ms: int = 0
    cost: float | None = None  # money, where a dated price is known
    elapsed_ms: int = 0
