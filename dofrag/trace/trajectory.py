"""A trace read as a whole: the calls with what they brought, the drafts with their verdicts, coverage as it stood.

For showing, comparing and exporting. Whatever a file holds is taken as it stands and nothing is checked but its form
(that is `verify`): a run that was broken off reads as interrupted, with all that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path

from dofrag.domain.question import Status
from dofrag.domain.records import dataclass
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.errors import TraceError
from dofrag.trace.codec import GENESIS, Record, digest
from dofrag.trace.events import (
    Answered,
    CitationRejected,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    JsonObject,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
    RunStarted,
    StatusChange,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.problems import objects
from dofrag.trace.reader import EVENTS_MAX, Line, read_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call with what came of it. `returned` is None where the run was broken off in the middle of it."""

    asked: ToolCalled
    asked_at: datetime
    returned: ToolReturned | None = None
    returned_at: datetime | None = None
    passages: tuple[PassageRead, ...] = ()
    changes: tuple[StatusChange, ...] = ()
    supported: int | None = None
    """Requirements supported after it; None where coverage did not move."""

    @property
    def ok(self) -> bool:
        return self.returned is not None and self.returned.ok

    @property
    def envelope(self) -> JsonObject:
        return self.returned.envelope if self.returned is not None else {}

    @property
    def results(self) -> list[JsonObject]:
        return objects(self.envelope.get("results"))

    @property
    def error(self) -> JsonObject | None:
        """Why it was refused; None where it ran or never came back."""
        found = self.envelope.get("error")
        return found if isinstance(found, Mapping) and not self.ok else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTried:
    """A draft and its verdict: "rejected", "accepted", or "open" where the run ended before there was one."""

    turn: int
    draft: JsonObject
    verdict: str = "open"
    faults: tuple[JsonObject, ...] = ()
    citations: tuple[CitationRejected, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """All that a trace holds. Times are UTC; lists are in the order of the run."""

    path: Path
    start: RunStarted
    started_at: datetime
    last_at: datetime
    last_hash: str
    records: tuple[Record, ...]
    unreadable: tuple[Line, ...] = ()
    parts: tuple[JsonObject, ...] = ()
    calls: tuple[Call, ...] = ()
    models: tuple[ModelCalled, ...] = ()
    drafts: tuple[DraftTried, ...] = ()
    limits: tuple[LimitReached, ...] = ()
    answer: Answered | None = None
    finish: RunFinished | None = None
    coverage: tuple[JsonObject, ...] = ()
    """As `run_finished` has it; of an interrupted run, as it stood when the trace breaks off."""
    sources: Mapping[str, JsonObject] = field(default_factory=dict)
    """Publication code → what an envelope told of it (`title`, `issuer`, `date`, `edition`, `kind`)."""
    passages: Mapping[int, PassageRead] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        return self.start.run_id

    @property
    def interrupted(self) -> bool:
        return self.finish is None or self.finish.reason is Reason.INTERRUPTED

    @property
    def terminal_state(self) -> TerminalState:
        return self.finish.terminal_state if self.finish else TerminalState.ABSTAINED

    @property
    def closure(self) -> Closure:
        return self.finish.closure if self.finish else Closure.INCOMPLETE

    @property
    def reason(self) -> Reason:
        return self.finish.reason if self.finish else Reason.INTERRUPTED

    @property
    def cited(self) -> tuple[int, ...]:
        """Chunk ids in order of their citation numbers, the first being 1: those of the answer, else those that
        coverage names, part by part."""
        if self.answer is not None:
            return tuple(dict.fromkeys(self.answer.citations))
        found = (r.get("chunk_id") for part in self.coverage for r in objects(part.get("requirements")))
        return tuple(dict.fromkeys(i for i in found if type(i) is int))


def read_trajectory(path: Path) -> Trajectory:
    """Read a trace. Raises UsageError for a file that is not there, TraceError for one that does not begin with
    `run_started` or holds more than EVENTS_MAX events."""
    found: list[Record] = []
    unreadable: list[Line] = []
    last = GENESIS
    for line in read_lines(path):
        if line.number > EVENTS_MAX:
            raise TraceError(f"{path}: more than {EVENTS_MAX:,} lines: no run writes as many")
        last = digest(line.raw)
        if line.record is not None:
            found.append(line.record)
        else:
            unreadable.append(line)
    return gather(path, found, unreadable, last)


def gather(path: Path, found: list[Record], unreadable: Iterable[Line] = (), last_hash: str = GENESIS) -> Trajectory:
    """A trajectory from its records. Raises TraceError where the first is not `run_started`."""
    start = found[0].event if found else None
    if not isinstance(start, RunStarted):
        raise TraceError(f"{path}: does not begin with run_started", hint="dof trace verify")
    made = _Gathering()
    for record in found:
        made.take(record)
    coverage = made.finish.coverage if made.finish else _standing(made.parts, made.status)
    return Trajectory(
        path=path,
        start=start,
        started_at=found[0].at,
        last_at=max(record.at for record in found),
        last_hash=last_hash,
        records=tuple(found),
        unreadable=tuple(unreadable),
        parts=made.parts,
        calls=tuple(_call(rows, made) for rows in made.calls.values()),
        models=tuple(made.models),
        drafts=tuple(made.drafts),
        limits=tuple(made.limits),
        answer=made.answer,
        finish=made.finish,
        coverage=coverage,
        sources=made.sources,
        passages=made.passages,
    )


class _Gathering:
    """What was seen so far."""

    def __init__(self) -> None:
        self.parts: tuple[JsonObject, ...] = ()
        self.calls: dict[str, list[Record]] = {}
        self.read: dict[str, list[PassageRead]] = {}
        self.moved: dict[str, CoverageChanged] = {}
        self.models: list[ModelCalled] = []
        self.drafts: list[DraftTried] = []
        self.limits: list[LimitReached] = []
        self.answer: Answered | None = None
        self.finish: RunFinished | None = None
        self.status: dict[str, StatusChange] = {}
        self.sources: dict[str, JsonObject] = {}
        self.passages: dict[int, PassageRead] = {}
        self._dropped: list[CitationRejected] = []
        self._call = ""

    def take(self, record: Record) -> None:
        match record.event:
            case Decomposed() as event:
                self.parts = event.sub_questions
            case ToolCalled() as event:
                self._call = event.call_id
                self.calls.setdefault(event.call_id, []).append(record)
            case ToolReturned() as event:
                self.calls.setdefault(event.call_id, []).append(record)
                self._sources(event)
            case PassageRead() as event:
                self.read.setdefault(event.call_id, []).append(event)
                self.passages.setdefault(event.chunk_id, event)
            case CoverageChanged() as event:
                self.moved[self._call] = event
                self.status.update({change.id: change for change in event.changes})
            case ModelCalled() as event:
                self.models.append(event)
            case LimitReached() as event:
                self.limits.append(event)
            case RunFinished() as event:
                self.finish = event
            case DraftProposed() | CitationRejected() | DraftRejected() | Answered() as event:
                self._draft(event)

    def _sources(self, event: ToolReturned) -> None:
        sources = event.envelope.get("sources")
        for code, source in sources.items() if isinstance(sources, Mapping) else ():
            if isinstance(source, Mapping):
                self.sources.setdefault(code, source)

    def _draft(self, event: DraftProposed | CitationRejected | DraftRejected | Answered) -> None:
        match event:
            case DraftProposed():
                self.drafts.append(DraftTried(turn=event.turn, draft=event.draft))
                return
            case CitationRejected():
                self._dropped.append(event)
                return
            case DraftRejected():
                verdict, faults = "rejected", event.faults
            case Answered():
                self.answer = event
                verdict, faults = "accepted", ()
        # A trace may have lost the draft itself: its verdict still shows.
        draft = self.drafts.pop().draft if self.drafts and self.drafts[-1].verdict == "open" else {}
        self.drafts.append(
            DraftTried(turn=event.turn, draft=draft, verdict=verdict, faults=faults, citations=tuple(self._dropped))
        )
        self._dropped = []


def _call(rows: list[Record], made: _Gathering) -> Call:
    """A return without its call is shown with what it says of the call."""
    asked = next((r for r in rows if isinstance(r.event, ToolCalled)), None)
    returned = next((r for r in rows if isinstance(r.event, ToolReturned)), None)
    first = rows[0].event
    assert isinstance(first, ToolCalled | ToolReturned)
    call = ToolCalled(turn=first.turn, call_id=first.call_id, tool=first.tool, arguments={}, why="")
    if asked is not None and isinstance(asked.event, ToolCalled):
        call = asked.event
    back = returned.event if returned is not None else None
    moved = made.moved.get(first.call_id)
    return Call(
        asked=call,
        asked_at=rows[0].at,
        returned=back if isinstance(back, ToolReturned) else None,
        returned_at=returned.at if returned is not None else None,
        passages=tuple(made.read.get(first.call_id, ())),
        changes=moved.changes if moved else (),
        supported=moved.supported if moved else None,
    )


def _standing(parts: tuple[JsonObject, ...], status: Mapping[str, StatusChange]) -> tuple[JsonObject, ...]:
    """Coverage as `run_finished` would have it, from what had moved."""

    def row(asked: JsonObject) -> JsonObject:
        change = status.get(str(asked.get("id")))
        return {
            "id": asked.get("id"),
            "kind": asked.get("rule"),
            "label": asked.get("label"),
            "status": change.after if change else str(Status.OPEN),
            "chunk_id": change.chunk_id if change else None,
        }

    return tuple(
        {
            "id": part.get("id"),
            "text": part.get("text"),
            "origin": part.get("origin"),
            "status": row(part)["status"],
            "requirements": [row(r) for r in objects(part.get("requirements"))],
        }
        for part in parts
    )
