"""One way in for every tool call: schema → gate → budget → run. A refusal is data, never an exception.

What a provider promised about a call's arguments counts for nothing here: they are validated again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from dofrag.domain.records import dataclass
from dofrag.text.tokens import estimate_tokens
from dofrag.tools.arguments import checked_arguments
from dofrag.tools.contract import (
    ErrorCode,
    JsonObject,
    Outcome,
    State,
    ToolContext,
    ToolInputError,
    ToolSpec,
)
from dofrag.tools.results import source_line

RESULT_TOKENS = 1_500
"""A search result stays under this, text apart."""


class Reservation(Protocol):
    """The budget, as dispatch sees it."""

    def refuse(self, spec: ToolSpec) -> str | None:
        """Name of the limit that this call would go over, or None. Changes nothing."""
        ...

    def charge(self, spec: ToolSpec) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """The envelope that goes back, and what the session may observe (None for a refused call)."""

    envelope: JsonObject
    arguments: Mapping[str, Any]
    outcome: Outcome | None = None
    error: ErrorCode | None = None
    limit: str | None = None  # the limit that refused it, for `limit_reached`


def open_tools(tools: Iterable[ToolSpec], state: State) -> tuple[ToolSpec, ...]:
    """The tools that are valid in a state."""
    return tuple(t for t in tools if t.opens_in.order <= state.order)


def dispatch(
    name: str,
    arguments: object,
    *,
    call_id: str,
    tools: tuple[ToolSpec, ...],
    state: State,
    context: ToolContext,
    budget: Reservation,
    versions: Mapping[str, str],
) -> Dispatched:
    """Check a call and run it. `arguments` is a mapping, or JSON text as a provider sends it."""
    parsed: Mapping[str, Any] = {}
    limit: str | None = None
    try:
        spec = _find(name, tools)
        parsed = checked_arguments(spec.name, spec.schema, arguments)
        _gate(spec, tools, state)
        limit = budget.refuse(spec)
        if limit is not None:
            raise ToolInputError(
                ErrorCode.BUDGET_EXHAUSTED, f"this call would go over {limit}", hint="close with what was read"
            )
        outcome = spec.run(context, parsed)
    except ToolInputError as error:
        if error.code is ErrorCode.BUDGET_EXHAUSTED and limit is None:
            limit = "max_read_tokens"
        return Dispatched(
            envelope=error_envelope(name, call_id, error), arguments=parsed, error=error.code, limit=limit
        )
    budget.charge(spec)
    outcome = _bounded(outcome)
    return Dispatched(
        envelope=_envelope(spec, call_id, outcome, context, versions), arguments=parsed, outcome=outcome
    )


def error_envelope(name: str, call_id: str, error: ToolInputError) -> JsonObject:
    """The refusal that a planner sees."""
    return {
        "tool": name,
        "call_id": call_id,
        "ok": False,
        "error": {
            "code": str(error.code),
            "message": str(error),
            "path": error.path,
            "allowed": list(error.allowed),
            "hint": error.hint,
        },
    }


def _find(name: str, tools: tuple[ToolSpec, ...]) -> ToolSpec:
    for spec in tools:
        if spec.name == name:
            if not spec.read_only:
                raise ToolInputError(ErrorCode.APPROVAL_REQUIRED, f"{name!r} is not read-only")
            return spec
    raise ToolInputError(
        ErrorCode.UNKNOWN_TOOL, f"there is no tool {name[:80]!r}", allowed=tuple(t.name for t in tools)
    )


def _gate(spec: ToolSpec, tools: tuple[ToolSpec, ...], state: State) -> None:
    if spec.opens_in.order > state.order:
        raise ToolInputError(
            ErrorCode.TOOL_NOT_IN_STATE,
            f"{spec.name} opens in state {spec.opens_in}; this run is in {state}",
            allowed=tuple(t.name for t in open_tools(tools, state)),
            hint="discover publications first" if state is State.DISCOVER_DOCUMENTS else "search first",
        )


def _bounded(outcome: Outcome) -> Outcome:
    """Drop results from the end until the envelope is lean enough. What is dropped was not shown, so it does not
    count as seen. Read passages are text and are bounded by the read limit instead."""
    if outcome.passages:
        return outcome
    results = outcome.results
    while len(results) > 1 and _tokens(results, outcome) > RESULT_TOKENS:
        results = results[:-1]
    if len(results) == len(outcome.results):
        return outcome
    shown = {r.get("chunk_id") for r in results}
    shown |= {p["chunk_id"] for r in results for name in ("passages", "also") for p in r.get(name, ())}
    codes = _codes(results) or {p.code for p in outcome.publications}
    return Outcome(
        results=results,
        total=outcome.total,
        offset=outcome.offset,
        publications=tuple(p for p in outcome.publications if p.code in codes),
        pointers=tuple(p for p in outcome.pointers if p.chunk_id in shown),
        insufficient_reason=outcome.insufficient_reason,
        left_out=outcome.left_out,
        searched=outcome.searched,
    )


def _codes(results: list[JsonObject]) -> set[str]:
    """The publications that results show."""
    one = [r for r in results if "publication" in r]
    return {r["publication"] for r in [*one, *(also for r in one for also in r.get("also", ()))]}


def _tokens(results: list[JsonObject], outcome: Outcome) -> int:
    codes = _codes(results)
    lines = [source_line(p) for p in outcome.publications if p.code in codes or not codes]
    return estimate_tokens(json.dumps([results, lines], ensure_ascii=False))


def _envelope(
    spec: ToolSpec, call_id: str, outcome: Outcome, context: ToolContext, versions: Mapping[str, str]
) -> JsonObject:
    left_out = {"left_out": [str(kind) for kind in outcome.left_out]} if outcome.left_out else {}
    return {
        "tool": spec.name,
        "call_id": call_id,
        "ok": True,
        "results": outcome.results,
        "sources": {p.code: source_line(p) for p in outcome.publications},
        "total": outcome.total,
        "returned": len(outcome.results),
        "truncated": outcome.total > outcome.offset + len(outcome.results),
        "insufficient": not outcome.results,
        "insufficient_reason": outcome.insufficient_reason,
        "as_of": context.as_of.isoformat(),
        "validity": None,
        **left_out,
        "versions": dict(versions),
        "charged": {"cost_units": spec.cost_units, "latency_ms": spec.latency_ms},
    }
