"""A recorded run, played again with no model and no network: the same steps, the same requests, the same faults.

What the run decides (dispatch, limits, coverage, closure) is decided anew, so that a replay shows what the present
code makes of a recorded planner. On the same index and code its trace differs only in fields that come from a clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dofrag.domain.evidence import Draft
from dofrag.domain.run import Limits, Reason
from dofrag.errors import ModelUnavailable, TraceError, UsageError
from dofrag.llm.bodies import REPLY_MAX
from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.interface import ChatRequest, ChatResponse, Mode, Usage
from dofrag.planner.interface import UNUSABLE, Abstain, Ask, Clarify, Parts, Step, ToolCall, Understood, View
from dofrag.text.tokens import CHARS_PER_TOKEN
from dofrag.trace.codec import restore
from dofrag.trace.events import (
    DraftProposed,
    Event,
    LimitReached,
    ModelCalled,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.reader import records


@dataclass
class Recording:
    """One trace, ready to be played. `turns` has the events of each turn; `waiting` the model calls still to come."""

    start: RunStarted
    finish: RunFinished
    turns: Mapping[int, list[Event]]
    waiting: list[ModelCalled]
    over: bool = field(default=False)

    def clock(self) -> float:
        """Seconds, as the run saw them at its end once everything was played; before, none have passed."""
        wall = float(self.start.limits.get("wall_clock_s", math.inf))
        elapsed = float(self.finish.spend.get("elapsed_ms") or 0) / 1000
        if not self.over:
            return 0.0
        ran_out = self.finish.reason is Reason.WALL_CLOCK
        return max(elapsed, wall) if ran_out else min(elapsed, math.nextafter(wall, 0))


def load_recording(path: Path) -> Recording:
    """Raises UsageError for a file that is no finished trace, or that of a run which cannot be played again."""
    events = [record.event for record in records(path)]
    start, finish = (events[0], events[-1]) if events else (None, None)
    if not isinstance(start, RunStarted) or not isinstance(finish, RunFinished):
        raise UsageError(f"{path} is not the trace of a finished run", hint="dof trace verify")
    calls = {e.call_id for e in events if isinstance(e, ToolCalled)}
    returned = {e.call_id for e in events if isinstance(e, ToolReturned)}
    if finish.reason is Reason.INTERNAL_ERROR or calls != returned:
        raise UsageError(f"{path} was broken off in the middle of a step: it cannot be played again")
    replies = [e.reply or {} for e in events if isinstance(e, ModelCalled)]
    if finish.reason is Reason.AMBIGUOUS and not any(r.get("kind") == "clarify" for r in replies):
        raise UsageError(f"{path} does not keep what the run asked back: it cannot be played again")
    turns: dict[int, list[Event]] = {}
    for event in events[1:-1]:
        turns.setdefault(getattr(event, "turn", 0), []).append(event)
    waiting = [e for e in events if isinstance(e, ModelCalled)]
    try:
        # A file may hold anything: what cannot be played is told before the run, not in the middle of it.
        Limits(**start.limits)
        for own in turns.values():
            _bounded(_step(own, {}))
        for call in waiting:
            _check(call)
            _request(call)
            _bounded(_step([], call.reply or {}))
    except (TraceError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{path} holds a step that is none: {error}", hint="dof trace verify") from None
    return Recording(start, finish, turns, waiting)


COUNT_MAX = 10**9
"""Tokens that one call can have cost, by any count."""
DRAFT_CLAIMS_MAX = 300
DRAFT_CITATIONS_MAX = 3_000
DRAFT_CHARS_MAX = 1_000_000
"""Of a recorded draft in all. A rule planner's may list more than a model's may; each claim is checked."""


def _check(call: ModelCalled) -> None:
    """Raises ValueError for counts that no run can have had: limits rest on them, and a reply of that size is
    made."""
    counts = (call.prompt_tokens, call.max_output_tokens, call.input_tokens, call.output_tokens, call.attempt)
    if any(count is not None and not 0 <= count <= COUNT_MAX for count in counts):
        raise ValueError("a count of tokens that cannot be")
    if not 0 <= call.output_estimate <= REPLY_MAX:
        raise ValueError("a reply of a size that cannot be")
    if call.cost is not None and not 0 <= call.cost <= COUNT_MAX:
        raise ValueError("a cost that cannot be")
    if call.outcome not in (*FaultKind, "ok", "interrupted", *UNUSABLE):
        raise ValueError(f"no outcome {call.outcome[:40]!r}")


def _bounded(step: Step | None) -> None:
    """Raises ValueError for a draft beyond all drafts: the work of checking one grows with it."""
    if not isinstance(step, Draft):
        return
    quotes = [c.quote for claim in step.claims for c in claim.citations]
    size = sum(map(len, quotes)) + sum(len(claim.text) for claim in step.claims)
    if len(step.claims) > DRAFT_CLAIMS_MAX or len(quotes) > DRAFT_CITATIONS_MAX or size > DRAFT_CHARS_MAX:
        raise ValueError(
            f"a draft of {len(step.claims):,} claims, {len(quotes):,} citations and {size:,} characters; at most "
            f"{DRAFT_CLAIMS_MAX:,}, {DRAFT_CITATIONS_MAX:,} and {DRAFT_CHARS_MAX:,} are checked"
        )


class ReplayModel:
    """The model of a recording: answers with what was counted, fails as it failed."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        first = next(iter(recording.waiting), None)
        self.name = first.model if first else recording.start.planner
        self._cost: float | None = None

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse:
        """The next recorded reply, as far as a trace keeps one: its size and its usage."""
        waiting = self._recording.waiting
        call = waiting.pop(0)
        again = bool(waiting) and waiting[0].turn == call.turn
        self._recording.over = not waiting and not _acts(self._recording.turns.get(call.turn, []))
        if call.outcome == "interrupted":
            raise KeyboardInterrupt
        if call.outcome in list(FaultKind):
            message = (self._recording.finish.message or "").removeprefix(f"{self.name}: {call.outcome}: ")
            raise ProviderFault(FaultKind(call.outcome), message, retry_after=0.0 if again else math.inf)
        self._cost = call.cost
        text = "x" * (call.output_estimate * CHARS_PER_TOKEN)
        return ChatResponse(text=text, usage=Usage(call.input_tokens, call.output_tokens))

    def price(self, usage: Usage) -> float | None:
        """What was counted then."""
        return self._cost

    def close(self) -> None:
        """Nothing to give back."""


class ReplayPlanner:
    """The planner of a recording. It has the recorded planner's name: what it proposes is what that one proposed."""

    def __init__(self, recording: Recording) -> None:
        self.name = recording.start.planner
        self._recording = recording

    def next_step(self, view: View) -> Step | Ask:
        """The recorded step of this turn. Raises what ended the recorded run, where no step did."""
        events = self._recording.turns.get(view.turn, [])
        calls = [e for e in events if isinstance(e, ModelCalled)]
        if calls:
            return self._ask(calls, events)
        trip = next((e for e in events if isinstance(e, LimitReached) and e.limit == "max_tokens"), None)
        if trip is not None:
            return self._refused(trip)
        step = self._recorded(events, {})
        if step is not None:
            return step
        self._recording.over = True
        finish = self._recording.finish
        if finish.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        if finish.reason is Reason.PROVIDER_ERROR:
            raise ModelUnavailable(finish.message or "")
        return Abstain(finish.message or "")

    def _ask(self, calls: list[ModelCalled], events: list[Event]) -> Ask:
        call, rest = calls[0], calls[1:]
        # A failed attempt that was made again as it stood is the model's business; a lower mode is the planner's.
        later = next((n for n, c in enumerate(rest) if c.mode != call.mode), None)
        last = [c for c in calls if c.mode == call.mode][-1]
        return Ask(
            request=_request(call),
            read=lambda response: Understood(
                step=self._recorded(events, last.reply or {}),
                outcome=last.outcome,
                message=last.outcome,
                reply=last.reply or {},
            ),
            lower=lambda fault: self._ask(rest[later:], events) if later is not None else None,
        )

    def _refused(self, trip: LimitReached) -> Ask:
        request = ChatRequest(
            messages=(), functions=(), mode=Mode.JSON_TEXT, prompt_tokens=int(trip.wanted), max_output_tokens=0
        )
        return Ask(request=request, read=lambda response: Understood(step=None), lower=lambda fault: None)

    def _recorded(self, events: list[Event], reply: Mapping[str, Any]) -> Step | None:
        step = _step(events, reply)
        if not self._recording.waiting and step is not None:
            last = max(self._recording.turns, default=0)
            self._recording.over = self._recording.turns.get(last) is events
        return step


def _request(call: ModelCalled) -> ChatRequest:
    return ChatRequest(
        messages=(),
        functions=(),
        mode=Mode(call.mode),
        prompt_tokens=call.prompt_tokens,
        max_output_tokens=call.max_output_tokens,
    )


def _acts(events: list[Event]) -> bool:
    return any(isinstance(e, ToolCalled | DraftProposed) for e in events)


def _step(events: list[Event], reply: Mapping[str, Any]) -> Step | None:
    """What was proposed in a turn: from the events that it left, else from what the trace keeps of the reply."""
    made = [ToolCall(event.tool, event.arguments, event.why) for event in events if isinstance(event, ToolCalled)]
    if made:
        return tuple(made) if len(made) > 1 else made[0]
    draft = next((e for e in events if isinstance(e, DraftProposed)), None)
    if draft is not None:
        return restore(draft.draft, Draft)
    match reply.get("kind"):
        case "abstain":
            return Abstain(str(reply["why"]))
        case "clarify":
            return Clarify(str(reply["message"]), tuple(reply["options"]))
        case "parts":
            return Parts(tuple((int(a), int(b)) for a, b in reply["spans"]))
        case _:
            return None
