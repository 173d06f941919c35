"""Does a trace hold together? Hash chain, order, shapes, counts, and every citation against what was read.

The chain shows any change to a line, save to lines rewritten with all that follow. Against that, three things help:
what a trace says in several places has to agree (`witnesses/`), the store has the texts (`passage_of`), and the
result carries the hash of the last line (`expected_last`).
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import assert_never

from dofrag.domain.run import Reason
from dofrag.trace.codec import GENESIS, Record, digest, intact
from dofrag.trace.events import (
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
from dofrag.trace.problems import PassageOf, Problem, ProblemCode
from dofrag.trace.reader import EVENTS_MAX, Line, read_lines
from dofrag.trace.schema import misfits
from dofrag.trace.witnesses.calls import Calls
from dofrag.trace.witnesses.coverage import Coverage
from dofrag.trace.witnesses.drafts import Drafts
from dofrag.trace.witnesses.spending import Spending

__all__ = ["PassageOf", "Problem", "ProblemCode", "verify"]

_WHILE_READING = (PassageRead,)
_WHILE_JUDGED = (CitationRejected, DraftRejected, Answered, RunFinished)


def verify(path: Path, *, passage_of: PassageOf | None = None, expected_last: str | None = None) -> list[Problem]:
    """Every problem of a trace file, in order of line; none for a sound one.

    `passage_of` checks passages and quotes against a store, `expected_last` the hash of the last line against
    the result's `trace_sha256`.
    """
    check = _Check(path.stem, passage_of)
    for line in read_lines(path):
        check.line(line)
        if line.number > EVENTS_MAX:
            check.too_long()
            break
    check.end(expected_last)
    return check.problems


class _Check:
    """What is known of the trace up to the present line."""

    def __init__(self, run_id: str, passage_of: PassageOf | None) -> None:
        self.problems: list[Problem] = []
        self._run_id = run_id
        self._at: int | None = None
        self._number = 0
        self._seq = 0
        self._last = GENESIS
        self._clock: datetime | None = None
        self._turn = 0
        self._start: RunStarted | None = None
        self._finish: RunFinished | None = None
        self._calls = Calls(self._say, passage_of)
        self._coverage = Coverage(self._say)
        self._drafts = Drafts(self._say, passage_of)
        self._spending = Spending(self._say)

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
            for why in misfits(line.record.event):
                self._say(ProblemCode.SHAPE, why)
            self._event(line.record.event)
        self._seq = line.record.seq if line.record else self._seq + 1
        self._last = digest(line.raw)

    def too_long(self) -> None:
        """What follows is not read: a file may be made to take for ever."""
        self._say(ProblemCode.MALFORMED, f"more than {EVENTS_MAX:,} lines: no run writes as many")

    def _chain(self, line: Line, record: Record) -> None:
        if not intact(line.raw):
            self._say(
                ProblemCode.ALTERED, "the line's own checksum does not fit it: it was changed after it was written"
            )
        if record.prev != self._last:
            self._say(ProblemCode.HASH_CHAIN, "`prev` is not the SHA-256 of the line before")
        if record.seq != self._seq + 1:
            self._say(ProblemCode.SEQUENCE, f"sequence number {record.seq} after {self._seq}")
        if self._clock is not None and record.at < self._clock:
            self._say(ProblemCode.CLOCK, f"written at {record.at.isoformat()}, before the line before it")
        self._clock = record.at

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
        if not isinstance(event, (*_WHILE_READING, RunFinished)):
            self._calls.settled()
        if not isinstance(event, _WHILE_JUDGED):
            self._drafts.settled(event.event)

    def _event(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._started(event)
            case Decomposed():
                self._coverage.decomposed(event)
            case ModelCalled():
                self._spending.model(event)
            case ToolCalled():
                self._calls.called(event)
            case ToolReturned():
                self._calls.returned(event)
            case PassageRead():
                self._calls.passage(event)
            case CoverageChanged():
                self._coverage.changed(event, self._calls.read)
            case DraftProposed():
                self._drafts.proposed(event)
            case CitationRejected():
                self._drafts.citation(event)
            case DraftRejected():
                self._drafts.rejected(event)
            case LimitReached():
                self._spending.limit(event)
            case Answered():
                self._drafts.answered(event, self._calls.read, self._coverage.parts)
            case RunFinished():
                self._finished(event)
            case _:
                assert_never(event)

    def _started(self, event: RunStarted) -> None:
        if self._start is not None:
            self._say(ProblemCode.REPEATED_START, "a second run_started")
        if event.run_id != self._run_id:
            self._say(ProblemCode.RUN_ID, f"run {event.run_id!r} in a file named {self._run_id!r}")
        self._start = event
        self._calls.started(event)
        self._coverage.started(event)
        self._spending.started(event)

    def _finished(self, event: RunFinished) -> None:
        self._finish = event
        broken_off = event.reason in (Reason.INTERRUPTED, Reason.INTERNAL_ERROR)
        answer, read = self._drafts.answer, self._calls.read
        self._calls.finished(broken_off)
        self._drafts.finished(event, broken_off)
        if not broken_off:
            self._coverage.finished(event, answer, read, self._calls.ran)
        self._spending.finished(event, answer, self._calls, read, self._turn)

    def end(self, expected_last: str | None) -> None:
        self._at = None
        if self._number == 0:
            self._say(ProblemCode.EMPTY, "the file holds nothing")
        elif self._finish is None:
            self._say(ProblemCode.NOT_FINISHED, "no run_finished: the run was interrupted")
        if expected_last is not None and expected_last != self._last:
            self._say(ProblemCode.LAST_HASH, f"the last line's SHA-256 is {self._last}, not {expected_last}")
