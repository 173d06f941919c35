"""A hard end for work that may hang in the network, wherever: in a name lookup, a header, a dripping body."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SLICE_S = 0.2
"""How long Ctrl-C may have to wait where waiting on a lock cannot be interrupted."""


class DeadlinePassed(Exception):
    """The work was left behind, unfinished."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises. Raises DeadlinePassed after `seconds`.

    The work runs in a thread of its own. One that does not end in time is abandoned: it holds no lock, nobody reads
    what it brings, and as a daemon it does not keep the process alive.
    """
    done: queue.SimpleQueue[tuple[bool, object]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((True, work()))
        except BaseException as error:  # noqa: BLE001 - handed over to the caller's thread, whatever it is
            done.put((False, error))

    end = time.monotonic() + seconds
    threading.Thread(target=run, name="dof-model", daemon=True).start()
    while True:
        left = end - time.monotonic()
        try:
            fine, value = done.get(timeout=max(0.0, min(SLICE_S, left)))
        except queue.Empty:
            if left <= 0:
                raise DeadlinePassed from None
            continue
        if fine:
            return value  # type: ignore[return-value]
        assert isinstance(value, BaseException)
        raise value
