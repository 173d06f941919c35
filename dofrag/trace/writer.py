"""Where a run's events go: a file, or memory. Both chain the lines in the same way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from dofrag.domain.records import dataclass
from dofrag.errors import TraceError
from dofrag.trace.codec import GENESIS, digest, encode
from dofrag.trace.events import Event, RunFinished, RunStarted

Clock = Callable[[], datetime]
"""Gives the present moment, with its time zone."""


class TraceSink(Protocol):
    """What the loop needs of a trace."""

    @property
    def last_hash(self) -> str:
        """SHA-256 in hex of the last line; 64 zeros before the first."""
        ...

    def emit(self, event: Event) -> None: ...

    def close(self) -> None:
        """Release the sink. Safe to call twice. A trace closed without `run_finished` reads as interrupted."""
        ...


@dataclass(frozen=True, slots=True)
class _State:
    """Where a trace stands after a line."""

    seq: int = 0
    last_hash: str = GENESIS
    finished: bool = False
    size: int = 0  # bytes, line ends included
    at: datetime | None = None


def _next(state: _State, event: Event, clock: Clock) -> tuple[bytes, _State]:
    """The line that comes next, with its line end, and the state after it. Events out of order are a bug of the
    caller: ValueError."""
    if state.finished:
        raise ValueError(f"{event.event} after run_finished")
    if isinstance(event, RunStarted) is not (state.seq == 0):
        raise ValueError(f"{event.event} as event {state.seq + 1}: run_started comes first, and once")
    # A clock that is set back while a run goes on must not turn its record about.
    at = clock() if state.at is None else max(state.at, clock())
    line = encode(event, seq=state.seq + 1, at=at, prev=state.last_hash)
    after = _State(state.seq + 1, digest(line), isinstance(event, RunFinished), state.size + len(line) + 1, at)
    return line + b"\n", after


class TraceWriter:
    """Writes one trace file, a line an event, flushed as it happens and synced to disk at the end.

    Makes the folder. Never overwrites: an existing file is a TraceError, as is anything that the disk refuses.
    An interrupt (Ctrl-C) in the middle of `emit` leaves a trace that goes on soundly.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._state = _State()
        self._pending: tuple[bytes, _State] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: a line is with the system when `emit` returns, even if the process is killed next.
            self._file = path.open("xb", buffering=0)
        except OSError as error:
            if path.is_file():
                raise TraceError(f"trace {path} exists already", hint="give each run an id of its own") from error
            raise self._refused(error) from error

    @property
    def last_hash(self) -> str:
        return self._state.last_hash

    def emit(self, event: Event) -> None:
        if self._file.closed:
            raise TraceError(f"trace {self.path} is closed")
        try:
            self._settle()
            self._pending = _next(self._state, event, self._clock)
            self._settle()
            if self._state.finished:
                os.fsync(self._file.fileno())
        except OSError as error:
            # A half-written line must stay the last one.
            with contextlib.suppress(OSError):
                self._file.close()
            raise self._refused(error) from error

    def _settle(self) -> None:
        """Write what is pending, from where the file ends: an interrupt may have come at any point of an earlier
        attempt, even between the write and the note of it."""
        if self._pending is None or self._pending[1] is self._state:
            return
        line, after = self._pending
        while rest := line[os.fstat(self._file.fileno()).st_size - self._state.size :]:
            self._file.write(rest)
        self._state = after

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refused(self, error: OSError) -> TraceError:
        return TraceError(
            f"trace {self.path} cannot be written: {error.strerror or error}",
            hint="name a folder that can be written with --trace-dir",
        )


class MemoryTrace:
    """A sink for tests: keeps events and lines (without their line ends)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state = _State()
        self.events: list[Event] = []
        self.lines: list[bytes] = []

    @property
    def last_hash(self) -> str:
        return self._state.last_hash

    def emit(self, event: Event) -> None:
        line, self._state = _next(self._state, event, self._clock)
        self.lines.append(line.removesuffix(b"\n"))
        self.events.append(event)

    def close(self) -> None:
        """Nothing to release."""
