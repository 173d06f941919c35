"""Reading traces: streaming, tolerant of a run that was killed while it wrote, strict about which file is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.errors import TraceError, UsageError
from dofrag.trace.codec import Record, decode
from dofrag.trace.events import RunFinished, RunStarted

SUFFIX = ".jsonl"
LINE_MAX = 8 * 1024 * 1024
"""Bytes of one line at most; a longer one is not a trace's."""
EVENTS_MAX = 20_000
"""Events of one trace at most: a run with wide limits writes a few hundred."""
_TAIL = 8 * 1024
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a trace file, from 1. Either `record` is set, or `fault` says why it could not be read.
    `half` marks a last line without its line end: the writer was stopped in the middle of it."""

    number: int
    raw: bytes
    record: Record | None
    fault: str | None
    half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One run in a list. A trace without `run_finished` is `abstained`, `incomplete`, `interrupted`."""

    run_id: str
    path: Path
    started_at: datetime
    question: str
    as_of: str
    planner: str
    terminal_state: TerminalState
    closure: Closure
    reason: Reason
    turns: int | None
    tool_calls: int | None
    read_tokens: int | None


def read_lines(path: Path) -> Iterator[Line]:
    """Every line of the file, in order, one in memory at a time. Raises UsageError when there is no such file."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"trace {path} cannot be read: {error.strerror}", hint="dof trace list") from error
    with file:
        number = 0
        while raw := file.readline(LINE_MAX + 1):
            number += 1
            half = not raw.endswith(b"\n")
            if len(raw) > LINE_MAX:
                yield Line(number, b"", None, f"longer than {LINE_MAX} bytes; reading stops here")
                return
            yield _line(number, raw.removesuffix(b"\n"), half)


def _line(number: int, raw: bytes, half: bool) -> Line:
    try:
        return Line(number, raw, decode(raw), None, half)
    except TraceError as error:
        return Line(number, raw, None, error.message, half)


def records(path: Path) -> Iterator[Record]:
    """The events that can be read, in order."""
    return (line.record for line in read_lines(path) if line.record is not None)


def find(folder: Path, run: str) -> Path:
    """The trace that `run` names: a run id in `folder`, or a path to a `.jsonl` file.

    An id never leaves the folder. Raises UsageError for a malformed id, a path to another kind of file, or
    a trace that is not there.
    """
    if "/" in run or "\\" in run or run.endswith(SUFFIX):
        path = Path(run)
        if path.suffix != SUFFIX or "\0" in run or path.name.endswith(".review" + SUFFIX):
            raise UsageError(f"{run!r} is neither a run id nor a trace file (*{SUFFIX})", hint="dof trace list")
    elif _RUN_ID.fullmatch(run):
        path = folder / (run + SUFFIX)
    else:
        raise UsageError(f"{run!r} is not a run id: letters, digits, '-' and '_' only", hint="dof trace list")
    if not path.is_file():
        raise UsageError(f"there is no trace {path}", hint=f"dof trace list --trace-dir {folder}")
    return path


def trace_files(folder: Path) -> list[Path]:
    """The trace files of a folder, by name. Reviews and other files are left out."""
    try:
        return sorted(p for p in folder.iterdir() if p.suffix == SUFFIX and _RUN_ID.fullmatch(p.stem) and p.is_file())
    except OSError as error:
        raise UsageError(
            f"trace folder {folder} cannot be read: {error.strerror}", hint="name the folder with --trace-dir"
        ) from error


def summarize(path: Path) -> Summary:
    """The run in brief, from the first and the last line. Raises TraceError when the first is not `run_started`."""
    first = next(read_lines(path), None)
    if first is None or first.record is None or not isinstance(first.record.event, RunStarted):
        raise TraceError(f"{path}: does not begin with run_started")
    start, end = first.record.event, _last_event(path)
    return Summary(
        run_id=start.run_id,
        path=path,
        started_at=first.record.at,
        question=start.question,
        as_of=start.as_of.isoformat(),
        planner=start.planner,
        terminal_state=end.terminal_state if end else TerminalState.ABSTAINED,
        closure=end.closure if end else Closure.INCOMPLETE,
        reason=end.reason if end else Reason.INTERRUPTED,
        turns=_count(end, "turns"),
        tool_calls=_count(end, "tool_calls"),
        read_tokens=_count(end, "read_tokens"),
    )


def _count(end: RunFinished | None, name: str) -> int | None:
    value = end.spend.get(name) if end else None
    return value if isinstance(value, int) else None


def _last_event(path: Path) -> RunFinished | None:
    """The `run_finished` at the end of the file, if there is one: from the file's tail, since a list reads many."""
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, 2)
        length = _TAIL
        while True:
            file.seek(max(0, size - length))
            lines = file.read(length).removesuffix(b"\n").split(b"\n")
            if len(lines) > 1 or length >= min(size, LINE_MAX):
                break
            length *= 4
    record = _line(0, lines[-1], half=False).record
    event = record.event if record else None
    return event if isinstance(event, RunFinished) else None
