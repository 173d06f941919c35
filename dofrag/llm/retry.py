"""When a failed request is sent again, and after how long. Pure: clock, sleep and randomness are the caller's."""

from __future__ import annotations

from dofrag.llm.faults import RETRIED, ProviderFault

MAX_ATTEMPTS = 5
"""Requests of one kind in one turn at most, the first included."""
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0


def wait_before(fault: ProviderFault, attempt: int, jitter: float) -> float | None:
    """Seconds to wait before attempt `attempt + 1`, None when there must be none.

    `attempt` counts from 1; `jitter` lies in [0, 1). What the provider asks to wait is honoured, with the jitter on
    top; without a word of it, the wait doubles each time and is spread over its upper half, so that many clients do
    not come back at once.
    """
    if fault.kind not in RETRIED or attempt >= MAX_ATTEMPTS:
        return None
    if fault.retry_after is not None:
        return fault.retry_after + jitter * FIRST_WAIT_S
    full: float = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))
    return full * (0.5 + jitter / 2)
