"""What people said of runs: one JSON line a verdict, appended beside the trace and never changed.

`<run_id>.review.jsonl` holds the verdicts of one run. A person may judge the run (`claim` None) and each of its
claims; who judges again adds a line, and the last one counts. Standard library only: reports may import this.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError

SCHEMA = "dofrag.verdict/1"
SUFFIX = ".review.jsonl"
NOTE_MAX = 4_000
AUTHOR_MAX = 60
CLAIM_MAX = 1_000
LINE_MAX = 64_000
"""Bytes of one line: a longer one is not a verdict's."""


class Mark(StrEnum):
    """The four verdicts."""

    CORRECT = "correct"
    PARTIAL = "partial"
    INCORRECT = "incorrect"
    UNRESOLVED = "unresolved"


class Why(StrEnum):
    """What is wrong: a closed list."""

    MISSING_PART = "missing_part"
    WRONG_VALUE = "wrong_value"
    WRONG_PERIOD = "wrong_period"
    WRONG_SOURCE = "wrong_source"
    UNSUPPORTED = "unsupported"
    PREMISE_MISSED = "premise_missed"
    OVER_ABSTAINED = "over_abstained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One person's word on a run, or on claim number `claim` (from 0) of its answer. `at` is in UTC; `blind` says
    that arm and model were hidden; `trace_sha256` is of the last line of the trace that was judged."""

    run_id: str
    claim: int | None
    verdict: Mark
    reasons: tuple[Why, ...]
    note: str
    author: str
    at: datetime
    blind: bool
    trace_sha256: str

    def row(self) -> dict[str, Any]:
        """As JSON values, `schema` included."""
        return {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "claim": self.claim,
            "verdict": str(self.verdict),
            "reasons": [str(r) for r in self.reasons],
            "note": self.note,
            "author": self.author,
            "at": self.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "blind": self.blind,
            "trace_sha256": self.trace_sha256,
        }

    def line(self) -> bytes:
        """As it is written, line end included."""
        return (json.dumps(self.row(), ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8")


def check(verdict: Verdict) -> Verdict:
    """The same. Raises UsageError where verdict and reasons do not go together, or something has no author or is too
    long."""
    fault = None
    if verdict.verdict in (Mark.PARTIAL, Mark.INCORRECT) and not verdict.reasons:
        fault = f"{verdict.verdict} needs a reason"
    elif verdict.verdict is Mark.CORRECT and verdict.reasons:
        fault = "what is correct has no reason against it"
    elif not verdict.author.strip():
        fault = "a verdict needs an author"
    elif len(verdict.author) > AUTHOR_MAX or not verdict.author.isprintable():
        fault = f"an author's name has {AUTHOR_MAX} printable characters at most"
    elif len(verdict.note) > NOTE_MAX:
        fault = f"a note has {NOTE_MAX} characters at most"
    elif verdict.claim is not None and not 0 <= verdict.claim < CLAIM_MAX:
        fault = f"there is no claim {verdict.claim}"
    if fault is not None:
        raise UsageError(fault, hint="reasons: " + ", ".join(Why))
    return verdict


def parse(line: bytes) -> Verdict | None:
    """A verdict as it was written, None for anything else."""
    try:
        row = json.loads(line) if len(line) <= LINE_MAX else None
        if not isinstance(row, dict) or row.get("schema") != SCHEMA:
            return None
        found = Verdict(
            run_id=_text(row["run_id"]),
            claim=_claim(row["claim"]),
            verdict=Mark(row["verdict"]),
            reasons=tuple(Why(r) for r in row["reasons"]),
            note=_text(row["note"]),
            author=_text(row["author"]),
            at=datetime.fromisoformat(row["at"]),
            blind=row["blind"] is True,
            trace_sha256=_text(row["trace_sha256"]),
        )
        return check(found) if found.at.tzinfo else None
    except (ValueError, KeyError, TypeError, RecursionError, UsageError):
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value.encode("utf-8", "replace").decode("utf-8")


def _claim(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise TypeError("not a claim's number")
    return value


def path_of(trace: Path) -> Path:
    """Where the verdicts on a trace stand."""
    return trace.with_name(trace.name.removesuffix(".jsonl") + SUFFIX)


def read_verdicts(path: Path) -> tuple[list[Verdict], int]:
    """All verdicts of one file in the order in which they were given, and how many lines are none. No file: none."""
    found: list[Verdict] = []
    bad = 0
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        return [], 0
    with handle:
        while line := handle.readline(LINE_MAX + 1):
            verdict = parse(line)
            if verdict is not None:
                found.append(verdict)
            elif line.strip():
                bad += 1
    return found, bad


def current(verdicts: Iterable[Verdict]) -> dict[tuple[str, int | None, str], Verdict]:
    """What counts: the last verdict of each (run, claim, author)."""
    return {(v.run_id, v.claim, v.author): v for v in verdicts}


def append(trace: Path, verdict: Verdict) -> None:
    """Add a verdict to those on a trace; on the disk when this returns.

    Two that write at once wait for each other; half a line that a crash left is closed off, not joined to.
    Raises UsageError for a verdict that does not hold together, or a file that cannot be written.
    """
    line = check(verdict).line()
    path = path_of(trace)
    try:
        with path.open("a+b") as handle:
            _lock(handle)
            end = handle.seek(0, os.SEEK_END)
            if end:
                handle.seek(end - 1)
                if handle.read(1) != b"\n":
                    line = b"\n" + line
            handle.write(line)
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise UsageError(f"verdict not kept: {path}: {error.strerror}", hint="is the folder writable?") from error


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: IO[bytes]) -> None:
        handle.seek(1 << 30)  # beyond what the file holds: the lock is advisory, reading goes on
        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _lock(handle: IO[bytes]) -> None:
        fcntl.flock(handle.fileno(), fcntl.LOCK_EX)


def counts(verdicts: Iterable[Verdict]) -> Mapping[str, int]:
    """How many of each verdict, in their order, zeros included."""
    found = dict.fromkeys((str(m) for m in Mark), 0)
    for verdict in verdicts:
        found[verdict.verdict] += 1
    return found
