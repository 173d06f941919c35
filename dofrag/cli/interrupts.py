"""Ctrl-C, pressed once or in a hurry: the first ends the work, and the second does not end the writing down of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """The first Ctrl-C raises KeyboardInterrupt; the second is passed over, since by then a trace is being finished
    and a result printed; the third raises again, for what hangs. Where Ctrl-C is ignored or handled by somebody
    already, or off the main thread, nothing is changed."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    pressed = 0

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1
        if pressed != 2:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
