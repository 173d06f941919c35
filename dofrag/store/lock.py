"""One writer at a time: an advisory lock that the system releases when its holder dies, however it dies."""

from __future__ import annotations

import json
import os
import sys
import weakref
from pathlib import Path
from types import TracebackType
from typing import IO

from dofrag.errors import StoreBusy, UsageError

LOCK_FILE = "writer.lock"

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: IO[bytes]) -> bool:
        try:
            handle.seek(1 << 20)  # beyond what the file holds, so that others can still read who has it
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: IO[bytes]) -> bool:
        try:
            fcntl.flock(handle.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class WriterLock:
    """`with WriterLock(index_dir, "dof index build"):` holds the index for writing.

    Raises StoreBusy, naming the process that holds it, and UsageError for a folder that cannot be written.
    """

    def __init__(self, index_dir: Path, command: str) -> None:
        self._path = index_dir / LOCK_FILE
        self._command = command
        self._handle: IO[bytes] | None = None

    def __enter__(self) -> WriterLock:
        try:
            handle = self._path.open("a+b")
        except OSError as error:
            raise UsageError(
                f"index folder {str(self._path.parent)!r} cannot be written: {error.strerror}",
                hint="choose another folder with --index, or change its permissions",
            ) from error
        if not _try_lock(handle):
            handle.seek(0)
            holder = handle.read(1000)
            handle.close()
            raise _busy(self._path.parent, holder)
        handle.truncate(0)
        handle.write(json.dumps({"pid": os.getpid(), "command": self._command}).encode())
        handle.flush()
        self._handle = handle
        _leave_to_parent(handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.close()  # closing releases the lock
            self._handle = None


def _leave_to_parent(handle: IO[bytes]) -> None:
    """A forked worker lets go of the file at once: the lock must die with the process that took it."""
    held = weakref.ref(handle)

    def let_go() -> None:
        if (inherited := held()) is not None:
            inherited.close()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=let_go)


def is_locked(index_dir: Path) -> bool:
    """Whether some process is writing this index now. Creates and changes nothing."""
    try:
        handle = (index_dir / LOCK_FILE).open("rb+" if sys.platform == "win32" else "rb")
    except OSError:
        return False
    with handle:
        return not _try_lock(handle)


def _busy(index_dir: Path, holder: bytes) -> StoreBusy:
    try:
        who = json.loads(holder)
        name = f"process {int(who['pid'])} ({str(who['command'])[:80]})"
    except (ValueError, KeyError, TypeError):
        name = "another process"
    return StoreBusy(
        f"index {str(index_dir)!r} is being written by {name}",
        hint="wait until it ends, then run the command again",
    )
