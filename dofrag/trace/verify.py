"""Does a trace hold together? Hash chain, order, counts, and every citation against what was read.

The chain shows any change to a line, save to lines rewritten with all that follow: against that, compare the hash of
the last line with the one that the result carries (`expected_last`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, assert_never

from dofrag.domain.question import Status
from dofrag.domain.records import dataclass
from dofrag.domain.run import ENDS, Reason
from dofrag.text.fold import fold_with_map
from dofrag.trace.codec import GENESIS, Record, digest, intact
from dofrag.trace.events import (
    EXCERPT_MAX,
    Answered,
    CitationRejected,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.reader import Line, read_lines

TextOf = Callable[[int], str | None]
"""Chunk id → its text in the store, None when the store has no such chunk (under the run's cut-off and scopes)."""


class ProblemCode(StrEnum):
    """What can be wrong with a trace. Closed set, documented in docs/trace-format.md."""

    EMPTY = "empty"
    HALF_LINE = "half_line"
    MALFORMED = "malformed"
    ALTERED = "altered"
    HASH_CHAIN = "hash_chain"
    SEQUENCE = "sequence"
    FIRST_EVENT = "first_event"
    REPEATED_START = "repeated_start"
    RUN_ID = "run_id"
    TURN_ORDER = "turn_order"
    CALL_PAIRS = "call_pairs"
    COUNTS = "counts"
    OVER_LIMIT = "over_limit"
    PASSAGE = "passage"
    CITED_NOT_READ = "cited_not_read"
    QUOTE = "quote"
    END_STATE = "end_state"
    AFTER_FINISH = "after_finish"
    NOT_FINISHED = "not_finished"
    LAST_HASH = "last_hash"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` is a line number from 1, None for the trace as a whole."""

    code: ProblemCode
    line: int | None
    message: str


def verify(path: Path, *, text_of: TextOf | None = None, expected_last: str | None = None) -> list[Problem]:
    """Every problem of a trace file, in order of line; none for a sound one.

    `text_of` checks passages and quotes against a store, `expected_last` the hash of the last line against
    the result's `trace_sha256`.
    """
    check = _Check(path.stem, text_of)
    for line in read_lines(path):
        check.line(line)
    check.end(expected_last)
    return check.problems


class _Check:
    """What is known of the trace up to the present line."""

    def __init__(self, run_id: str, text_of: TextOf | None) -> None:
        self.problems: list[Problem] = []
        self._run_id = run_id
        self._text_of = text_of
        self._at: int | None = None
        self._number = 0
        self._seq = 0
        self._last = GENESIS
        self._turn = 0
        self._start: RunStarted | None = None
        self._finish: RunFinished | None = None
        self._answer: Answered | None = None
        self._open_calls: dict[str, str] = {}
        self._calls: set[str] = set()
        self._ok_returns = 0
        self._counted = {"input_tokens": 0, "output_tokens": 0}
        self._read: dict[int, PassageRead] = {}

    def _say(self, code: ProblemCode, message: str) -> None:
        self.problems.append(Problem(code, self._at, message))

    def line(self, line: Line) -> None:
        self._at = self._number = line.number
        if line.half:
            self._say(
                ProblemCode.HALF_LINE, "the last line has no line end: the writer was stopped in the middle of it"
            )
        if line.record is None:
            if not line.half:
                self._say(ProblemCode.MALFORMED, line.fault or "cannot be read")
        else:
            self._chain(line, line.record)
            self._order(line.record.event)
            self._event(line.record.event)
        self._seq = line.record.seq if line.record else self._seq + 1
        self._last = digest(line.raw)

    def _chain(self, line: Line, record: Record) -> None:
        if not intact(line.raw):
            self._say(
                ProblemCode.ALTERED, "the line's own checksum does not fit it: it was changed after it was written"
            )
        if record.prev != self._last:
            self._say(ProblemCode.HASH_CHAIN, "`prev` is not the SHA-256 of the line before")
        if record.seq != self._seq + 1:
            self._say(ProblemCode.SEQUENCE, f"sequence number {record.seq} after {self._seq}")

    def _order(self, event: Event) -> None:
        if self._finish is not None:
            self._say(ProblemCode.AFTER_FINISH, f"{event.event} after run_finished")
        if self._number == 1 and not isinstance(event, RunStarted):
            self._say(ProblemCode.FIRST_EVENT, f"begins with {event.event}, not run_started")
        turn = getattr(event, "turn", None)
        if isinstance(turn, int):
            if turn < self._turn:
                self._say(ProblemCode.TURN_ORDER, f"turn {turn} after turn {self._turn}")
            self._turn = max(self._turn, turn)

    def _event(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._started(event)
            case ToolCalled():
                if event.call_id in self._calls:
                    self._say(ProblemCode.CALL_PAIRS, f"call {event.call_id} is made twice")
                self._calls.add(event.call_id)
                self._open_calls[event.call_id] = event.tool
            case ToolReturned():
                if self._open_calls.pop(event.call_id, None) != event.tool:
                    self._say(ProblemCode.CALL_PAIRS, f"return of {event.tool} {event.call_id}, which was not called")
                self._ok_returns += event.ok
            case PassageRead():
                self._passage(event)
            case CoverageChanged():
                if not 0 <= event.supported <= event.total:
                    self._say(ProblemCode.COUNTS, f"{event.supported} of {event.total} requirements supported")
            case Answered():
                self._answered(event)
            case RunFinished():
                self._finished(event)
            case ModelCalled():
                self._counted["input_tokens"] += event.input_tokens or 0
                self._counted["output_tokens"] += event.output_tokens or 0
            case Decomposed() | DraftProposed() | DraftRejected() | CitationRejected() | LimitReached():
                pass  # these stand by themselves: their fields were checked when the line was decoded
            case _:
                assert_never(event)

    def _started(self, event: RunStarted) -> None:
        if self._start is not None:
            self._say(ProblemCode.REPEATED_START, "a second run_started")
        if event.run_id != self._run_id:
            self._say(ProblemCode.RUN_ID, f"run {event.run_id!r} in a file named {self._run_id!r}")
        self._start = event

    def _passage(self, event: PassageRead) -> None:
        if event.chunk_id in self._read:
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} is read a second time")
        if event.call_id not in self._calls:
            self._say(
                ProblemCode.PASSAGE, f"chunk {event.chunk_id} is read by call {event.call_id}, which was not made"
            )
        if len(event.excerpt) > EXCERPT_MAX or len(event.excerpt) > event.chars:
            self._say(ProblemCode.PASSAGE, f"the excerpt of chunk {event.chunk_id} is longer than it may be")
        self._read[event.chunk_id] = event
        text = self._text_of(event.chunk_id) if self._text_of else None
        if text is not None and (_sha(text) != event.sha256 or len(text) != event.chars):
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} has another text in the index")
        elif text is None and self._text_of:
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} is not in the index")

    def _answered(self, event: Answered) -> None:
        self._answer = event
        cited = [c for claim in event.claims for c in _objects(claim.get("citations"))]
        for citation in cited:
            self._citation(citation)
        ids = {c["chunk_id"] for c in cited if type(c.get("chunk_id")) is int}
        if ids != set(event.citations):
            self._say(ProblemCode.COUNTS, "`citations` are not the chunks that the claims cite")
        if any(not _objects(claim.get("citations")) for claim in event.claims):
            self._say(ProblemCode.CITED_NOT_READ, "a claim without a citation")

    def _citation(self, citation: Mapping[str, Any]) -> None:
        chunk_id = citation.get("chunk_id")
        passage = self._read.get(chunk_id) if type(chunk_id) is int else None
        quote, start, end = citation.get("quote"), citation.get("start"), citation.get("end")
        if passage is None:
            self._say(ProblemCode.CITED_NOT_READ, f"chunk {str(chunk_id)[:40]} is cited, and was never read")
            return
        if not (isinstance(quote, str) and type(start) is int and type(end) is int and 0 <= start < end):
            self._say(ProblemCode.QUOTE, f"a citation of chunk {passage.chunk_id} has no span")
            return
        if end > passage.chars:
            self._say(ProblemCode.QUOTE, f"a quote ends at {end} of {passage.chars} characters of {passage.chunk_id}")
            return
        text = self._text_of(passage.chunk_id) if self._text_of else None
        # Without a store, only what the excerpt shows can be checked.
        if text is None and end < len(passage.excerpt):
            text = passage.excerpt
        if text is not None and _level(text[start:end]) != _level(quote):
            self._say(ProblemCode.QUOTE, f"a quote does not stand at {start}–{end} of chunk {passage.chunk_id}")

    def _finished(self, event: RunFinished) -> None:
        self._finish = event
        state, closure = ENDS[event.reason]
        if (event.terminal_state, event.closure) != (state, closure):
            self._say(
                ProblemCode.END_STATE,
                f"{event.reason} ends in {state}, {closure}; not {event.terminal_state}, {event.closure}",
            )
        if (event.terminal_state == "answered") is (self._answer is None):
            self._say(
                ProblemCode.END_STATE,
                f"{event.terminal_state}, and answered is {'missing' if not self._answer else 'there'}",
            )
        if self._answer is not None:
            self._covered(event.coverage, set(self._answer.citations))
        # A run that something broke off may have been in the middle of a call.
        broken_off = event.reason in (Reason.INTERRUPTED, Reason.INTERNAL_ERROR)
        for call_id in () if broken_off else sorted(self._open_calls):
            self._say(ProblemCode.CALL_PAIRS, f"call {call_id} has no return")
        self._spend(event.spend, broken_off)

    def _covered(self, coverage: tuple[Mapping[str, Any], ...], cited: set[int]) -> None:
        """Every requirement of an answered run is answered by a cited chunk, or falls with a corrected premise."""
        for requirement in (r for sub in coverage for r in _objects(sub.get("requirements"))):
            status, chunk_id = requirement.get("status"), requirement.get("chunk_id")
            if status not in (Status.ANSWERED, Status.CONTRADICTED):
                self._say(ProblemCode.END_STATE, f"answered, and {requirement.get('id')} is {status}")
            elif status == Status.ANSWERED and (type(chunk_id) is not int or chunk_id not in cited):
                self._say(
                    ProblemCode.COUNTS, f"{requirement.get('id')} is answered by {chunk_id}, which is not cited"
                )

    def _spend(self, spend: Mapping[str, Any], broken_off: bool) -> None:
        read = sum(p.tokens for p in self._read.values())
        for name, counted, exact in (
            ("tool_calls", self._ok_returns, not broken_off),
            ("read_tokens", read, not broken_off),
            ("turns", self._turn, False),  # a turn in which the planner gave up or stalled leaves no event
            # Where a provider did not count, an estimate is spent.
            *((name, tokens, False) for name, tokens in self._counted.items() if tokens),
        ):
            spent = spend.get(name)
            if not isinstance(spent, int) or spent < counted or (exact and spent != counted):
                self._say(ProblemCode.COUNTS, f"spend says {name} {spent}; the events say {counted}")
        limits = self._start.limits if self._start else {}
        for name in ("turns", "tool_calls", "read_tokens", "cost_units", "latency_ms"):
            spent, limit = spend.get(name), limits.get(f"max_{name}")
            if isinstance(spent, int) and isinstance(limit, int) and spent > limit:
                self._say(ProblemCode.OVER_LIMIT, f"{name}: {spent} spent, {limit} allowed")

    def end(self, expected_last: str | None) -> None:
        self._at = None
        if self._number == 0:
            self._say(ProblemCode.EMPTY, "the file holds nothing")
        elif self._finish is None:
            self._say(ProblemCode.NOT_FINISHED, "no run_finished: the run was interrupted")
        if expected_last is not None and expected_last != self._last:
            self._say(ProblemCode.LAST_HASH, f"the last line's SHA-256 is {self._last}, not {expected_last}")


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _level(text: str) -> str:
    return fold_with_map(text).text.strip()
