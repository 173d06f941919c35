"""The run's scribe: turns what happens into trace events, and tells a listener."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from dofrag.agent.budget import Trip
from dofrag.agent.setup import Setup
from dofrag.coverage.interface import Coverage, Verdict
from dofrag.domain.corpus import Passage
from dofrag.domain.evidence import Draft
from dofrag.domain.question import Question, Status, SubQuestion
from dofrag.planner.interface import ToolCall
from dofrag.text.tokens import estimate_tokens
from dofrag.tools.dispatch import Dispatched
from dofrag.trace.codec import jsonable
from dofrag.trace.events import (
    EXCERPT_MAX,
    Answered,
    CitationRejected,
    CoverageChanged,
    DateRange,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    PassageRead,
    RunFinished,
    RunStarted,
    StatusChange,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.writer import TraceSink

SUPPORTED = frozenset({Status.SUPPORTED, Status.ANSWERED})


class Recorder:
    """Writes each event to the trace, then offers it to the listener."""

    def __init__(self, trace: TraceSink, listener: Callable[[Event], None] | None) -> None:
        self._trace = trace
        self._listener = listener
        self.began = False  # whether anything was written

    def emit(self, event: Event) -> None:
        self._trace.emit(event)
        self.began = True
        if self._listener is not None:
            try:
                self._listener(event)
            except Exception:  # noqa: BLE001 - progress is a courtesy: a listener that fails is dropped, the run goes on
                self._listener = None

    def started(self, question: Question, setup: Setup) -> None:
        first, last = setup.corpus.dates
        self.emit(
            RunStarted(
                run_id=setup.run_id,
                question=question.text,
                as_of=question.as_of,
                scopes=tuple(sorted(question.scopes)),
                corpus=setup.corpus.name,
                corpus_dates=DateRange(first=first, last=last),
                planner=setup.planner.name,
                strategy=setup.strategy,
                tools=setup.tools_name,
                limits=jsonable(setup.limits),
                versions=dict(setup.versions),
            )
        )

    def decomposed(self, sub_questions: tuple[SubQuestion, ...]) -> None:
        self.emit(Decomposed(sub_questions=tuple(jsonable(s) for s in sub_questions)))

    def called(self, turn: int, call_id: str, step: ToolCall) -> None:
        arguments = jsonable(step.arguments)
        self.emit(ToolCalled(turn=turn, call_id=call_id, tool=step.tool, arguments=arguments, why=step.why))

    def returned(self, turn: int, call_id: str, done: Dispatched) -> None:
        envelope = done.envelope
        self.emit(
            ToolReturned(
                turn=turn, call_id=call_id, tool=envelope["tool"], ok=envelope["ok"], envelope=lean(envelope)
            )
        )

    def read(self, turn: int, call_id: str, passage: Passage) -> None:
        self.emit(
            PassageRead(
                turn=turn,
                call_id=call_id,
                chunk_id=passage.id,
                publication=passage.publication.code,
                sha256=hashlib.sha256(passage.text.encode()).hexdigest(),
                chars=len(passage.text),
                tokens=estimate_tokens(passage.text),
                excerpt=passage.text[:EXCERPT_MAX],
            )
        )

    def covered(self, turn: int, before: Coverage, after: Coverage) -> None:
        changes = tuple(
            StatusChange(
                id=key,
                before=str(before.status.get(key, Status.OPEN)),
                after=str(status),
                chunk_id=next(iter(after.support.get(key, ())), None),
            )
            for key, status in after.status.items()
            if status is not before.status.get(key, Status.OPEN)
        )
        if changes:
            # `support` has the requirements; `status` has the sub-questions as well.
            supported = sum(after.status[key] in SUPPORTED for key in after.support)
            self.emit(CoverageChanged(turn=turn, changes=changes, supported=supported, total=len(after.support)))

    def proposed(self, turn: int, draft: Draft) -> None:
        self.emit(DraftProposed(turn=turn, draft=jsonable(draft)))

    def rejected(self, turn: int, verdict: Verdict) -> None:
        for fault in verdict.faults:
            if fault.chunk_id is not None:
                self.emit(
                    CitationRejected(
                        turn=turn, claim=fault.where, chunk_id=fault.chunk_id, code=fault.code, message=fault.message
                    )
                )
        self.emit(DraftRejected(turn=turn, faults=tuple(jsonable(f) for f in verdict.faults)))

    def limit(self, turn: int, trip: Trip, tool: str | None) -> None:
        self.emit(
            LimitReached(
                turn=turn, limit=trip.limit, maximum=trip.maximum, spent=trip.spent, wanted=trip.wanted, tool=tool
            )
        )

    def answered(self, turn: int, result: dict[str, Any]) -> None:
        self.emit(
            Answered(
                turn=turn,
                claims=tuple(result["claims"]),
                citations=tuple(result["citations"]),
                premise=result["premise"],
                answer=result["answer"],
            )
        )

    def finished(self, event: RunFinished) -> None:
        self.emit(event)


def lean(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope without the texts that were read: `passage_read` identifies each by its hash."""
    results = envelope.get("results")
    if not results or "text" not in results[0]:
        return envelope
    bare = [{k: v for k, v in r.items() if k != "text"} for r in results]
    return {**envelope, "results": bare}
