"""The events of a trace for a page: so many of them, and how it ended, however long the file is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dofrag.errors import TraceError, UsageError
from dofrag.review.shapes import objs
from dofrag.trace.codec import Record, decode, digest
from dofrag.trace.events import Answered
from dofrag.trace.reader import LINE_MAX

CLAIMS_MAX = 200
FAULTS_MAX = 20
_ANSWERED = b'"event":"answered"'


def _lines(path: Path) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"trace {path.name} cannot be read: {error.strerror}") from error
    with file:
        while raw := file.readline(LINE_MAX + 1):
            if len(raw) > LINE_MAX:
                return
            yield raw


def read_events(path: Path, most: int) -> tuple[list[Record], list[str], bool]:
    """The first `most` events, and of a longer trace the answer and the end too; what cannot be read, by line; and
    whether events were left out. Raises UsageError for a file that is not there."""
    records: list[Record] = []
    faults: list[str] = []
    answered = last = b""
    for number, raw in enumerate(_lines(path), 1):
        if len(records) < most:
            record = _decoded(raw, number, faults)
            if record is not None:
                records.append(record)
        elif raw.endswith(b"\n"):
            last = raw
            answered = raw if _ANSWERED in raw else answered
    for raw in (answered, last if last != answered else b""):
        record = _decoded(raw, 0, []) if raw else None
        if record is not None:
            records.append(record)
    return records, faults, bool(last)


def _decoded(raw: bytes, number: int, faults: list[str]) -> Record | None:
    try:
        return decode(raw.removesuffix(b"\n"))
    except TraceError as error:
        if len(faults) < FAULTS_MAX:
            faults.append(f"{number}: {error.message}")
        return None


def judged(path: Path) -> tuple[int, str]:
    """How many claims of a trace can be judged, and the SHA-256 of its last whole line. Raises UsageError for a file
    that is not there."""
    answered = last = b""
    for raw in _lines(path):
        if raw.endswith(b"\n"):
            last = raw.removesuffix(b"\n")
            answered = last if _ANSWERED in raw else answered
    record = _decoded(answered, 0, []) if answered else None
    claims = record.event.claims if record is not None and isinstance(record.event, Answered) else ()
    return len(objs(claims, CLAIMS_MAX)), digest(last)
