"""One run in brief, from one pass over its file: what a list shows, filters by and counts.

Only the first and the last line are decoded. A trace that a crash cut off reads as interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.errors import DofError, TraceError
from dofrag.text.fold import fold
from dofrag.trace.codec import Record, decode
from dofrag.trace.events import RunFinished, RunStarted
from dofrag.trace.reader import LINE_MAX

Json = Mapping[str, Any]
QUESTION_SHOWN = 4_000
_WORDED = (b'"event":"draft_rejected"', b'"event":"citation_rejected"', b'"event":"limit_reached"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a trace file says of its run. `fault` is set, and most else empty, where it is no trace."""

    run_id: str
    question: str = ""
    started: str = ""
    as_of: str = ""
    planner: str = ""
    corpus: str = ""
    state: str = TerminalState.ABSTAINED
    reason: str = Reason.INTERRUPTED
    closure: str = Closure.INCOMPLETE
    turns: int | None = None
    tool_calls: int | None = None
    elapsed_ms: int | None = None
    cost: float | None = None
    model: str = ""
    supported: int = 0
    required: int = 0
    drafts_rejected: int = 0
    citations_rejected: int = 0
    limits_reached: int = 0
    size: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run in a list: its trace's facts, and what its campaign's record adds. `risk` is of `RISKS`."""

    facts: Facts
    path: Path
    question_id: str = ""
    category: str = ""
    arm: str = ""
    turn: int = 1
    expected: str = ""
    folded: str = ""
    risk: str = "low"
    risk_why: tuple[str, ...] = ()

    @property
    def run_id(self) -> str:
        return self.facts.run_id


RISKS = ("high", "medium", "low")


def read_facts(path: Path) -> Facts:
    """The facts of one trace; a file that is none says why in `fault`."""
    try:
        return _facts(path)
    except (OSError, DofError) as error:
        reason = error.message if isinstance(error, DofError) else str(error.strerror)
        return Facts(run_id=path.stem, fault=reason[:300])


def _facts(path: Path) -> Facts:
    tally = dict.fromkeys(_WORDED, 0)
    first: bytes | None = None
    last = b""
    model = b""
    size = 0
    with path.open("rb") as file:
        while raw := file.readline(LINE_MAX + 1):
            size += len(raw)
            if len(raw) > LINE_MAX:
                break
            if first is None:
                first = raw
            if raw.endswith(b"\n"):  # half a line is that of a writer who was stopped: the one before counts
                last = raw
            for words in _WORDED:
                tally[words] += words in raw
            if not model and b'"event":"model_called"' in raw:
                model = raw
    start = decode((first or b"").removesuffix(b"\n"))
    if not isinstance(start.event, RunStarted):
        raise TraceError(f"{path.name}: does not begin with run_started")
    end = _ended(last)
    spend = end.spend if end else {}
    requirements = [r for part in (end.coverage if end else ()) for r in _dicts(part.get("requirements"))]
    return Facts(
        run_id=path.stem,
        question=start.event.question[:QUESTION_SHOWN],
        started=start.at.strftime("%Y-%m-%d %H:%M:%S"),
        as_of=start.event.as_of.isoformat(),
        planner=start.event.planner,
        corpus=start.event.corpus,
        state=str(end.terminal_state if end else TerminalState.ABSTAINED),
        reason=str(end.reason if end else Reason.INTERRUPTED),
        closure=str(end.closure if end else Closure.INCOMPLETE),
        turns=_whole(spend.get("turns")),
        tool_calls=_whole(spend.get("tool_calls")),
        elapsed_ms=_whole(spend.get("elapsed_ms")),
        cost=_number(spend.get("cost")),
        model=_model(model),
        supported=sum(r.get("status") in ("supported", "answered") for r in requirements),
        required=len(requirements),
        drafts_rejected=tally[_WORDED[0]],
        citations_rejected=tally[_WORDED[1]],
        limits_reached=tally[_WORDED[2]],
        size=size,
    )


def _ended(raw: bytes) -> RunFinished | None:
    try:
        record: Record = decode(raw.removesuffix(b"\n"))
    except TraceError:
        return None
    return record.event if isinstance(record.event, RunFinished) else None


def _model(raw: bytes) -> str:
    if not raw:
        return ""
    try:
        return str(getattr(decode(raw.removesuffix(b"\n")).event, "model", ""))[:80]
    except TraceError:
        return ""


def _dicts(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def make_row(path: Path, facts: Facts, record: Json | None) -> Row:
    """A row of a list. `record` is the campaign's of this run, where there is one."""
    record = record or {}
    points, why = weigh(facts)
    named = str(record.get("question_id") or "")
    expected = "/".join(str(record[k]) for k in ("expected_state", "expected_reason") if record.get(k))
    return Row(
        facts=facts,
        path=path,
        question_id=named,
        category=str(record.get("category") or ""),
        arm=str(record.get("variant") or record.get("arm") or ""),
        turn=_whole(record.get("pass")) or 1,
        expected=expected,
        folded=fold(f"{named} {facts.run_id} {facts.question}"),
        risk=RISKS[0] if points >= 4 else RISKS[1] if points >= 2 else RISKS[2],
        risk_why=why,
    )


_RISKY_REASONS = {Reason.CLOSED_CONTESTED: 3, Reason.PREMISE_CORRECTED: 2, Reason.NOT_IN_CORPUS: 2}


def weigh(facts: Facts) -> tuple[int, tuple[str, ...]]:
    """How much there is to be wrong about, in points, and what gave them. From the trace alone: it knows no grade."""
    parts: list[tuple[str, int]] = []
    if facts.state == TerminalState.ANSWERED:
        parts.append(("answered", 2))
    parts.append((facts.reason, _RISKY_REASONS.get(Reason(facts.reason), 0)))
    parts.append(("drafts_rejected", min(facts.drafts_rejected, 2)))
    parts.append(("citations_rejected", min(facts.citations_rejected, 1)))
    if facts.state == TerminalState.ANSWERED and facts.required >= 3:
        parts.append(("many_parts", 1))
    return sum(p for _, p in parts), tuple(name for name, p in parts if p)
