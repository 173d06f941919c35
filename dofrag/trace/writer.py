"""Where a run's events go: a file, or memory. Both chain the lines in the same way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

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


class _Chain:
    """Sequence and hash of the lines so far, and the order that events must keep."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seq = 0
        self._finished = False
        self.last_hash = GENESIS

    def line(self, event: Event) -> bytes:
        """The next line. Events out of order are a bug of the caller: ValueError."""
        if self._finished:
            raise ValueError(f"{event.event} after run_finished")
        if isinstance(event, RunStarted) is not (self._seq == 0):
            raise ValueError(f"{event.event} as event {self._seq + 1}: run_started comes first, and once")
        line = encode(event, seq=self._seq + 1, at=self._clock(), prev=self.last_hash)
        self._seq += 1
        self._finished = isinstance(event, RunFinished)
        self.last_hash = digest(line)
        return line


class TraceWriter:
    """Writes one trace file, a line an event, flushed as it happens and synced to disk at the end.

    Makes the folder. Never overwrites: an existing file is a TraceError, as is anything that the disk refuses.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._chain = _Chain(clock)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: a line is with the system when `emit` returns, even if the process is killed next.
            self._file = path.open("xb", buffering=0)
        except FileExistsError as error:
            raise TraceError(f"trace {path} exists already", hint="give each run an id of its own") from error
        except OSError as error:
            raise self._refused(error) from error

    @property
    def last_hash(self) -> str:
        return self._chain.last_hash

    def emit(self, event: Event) -> None:
        if self._file.closed:
            raise TraceError(f"trace {self.path} is closed")
        rest = self._chain.line(event) + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            if isinstance(event, RunFinished):
                os.fsync(self._file.fileno())
        except OSError as error:
            # A half-written line must stay the last one.
            with contextlib.suppress(OSError):
                self._file.close()
            raise self._refused(error) from error

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
    """A sink for tests: keeps events and lines."""

    def __init__(self, clock: Clock) -> None:
        self._chain = _Chain(clock)
        self.events: list[Event] = []
        self.lines: list[bytes] = []

    @property
    def last_hash(self) -> str:
        return self._chain.last_hash

    def emit(self, event: Event) -> None:
        self.lines.append(self._chain.line(event))
        self.events.append(event)

    def close(self) -> None:
        """Nothing to release."""
