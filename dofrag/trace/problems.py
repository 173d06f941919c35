"""What can be wrong with a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from dofrag.domain.corpus import Passage
from dofrag.domain.records import dataclass


class ProblemCode(StrEnum):
    """Closed set, documented in docs/trace-format.md."""

    EMPTY = "empty"
    HALF_LINE = "half_line"
    MALFORMED = "malformed"
    SHAPE = "shape"
    ALTERED = "altered"
    HASH_CHAIN = "hash_chain"
    SEQUENCE = "sequence"
    CLOCK = "clock"
    FIRST_EVENT = "first_event"
    REPEATED_START = "repeated_start"
    RUN_ID = "run_id"
    TURN_ORDER = "turn_order"
    CALL_PAIRS = "call_pairs"
    CUT_OFF = "cut_off"
    PARTS = "parts"
    COVERAGE = "coverage"
    DRAFTS = "drafts"
    COUNTS = "counts"
    LIMITS = "limits"
    OVER_LIMIT = "over_limit"
    PASSAGE = "passage"
    SOURCE = "source"
    CITED_NOT_READ = "cited_not_read"
    CITATION_NUMBERS = "citation_numbers"
    QUOTE = "quote"
    END_STATE = "end_state"
    AFTER_FINISH = "after_finish"
    NOT_FINISHED = "not_finished"
    LAST_HASH = "last_hash"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `line` is a line number from 1, None for the trace as a whole."""

    code: ProblemCode
    line: int | None
    message: str


Say = Callable[[ProblemCode, str], None]
"""Reports a problem of the present line."""
PassageOf = Callable[[int], Passage | None]
"""Chunk id → its passage in the store, None when the store has no such chunk (under the run's cut-off and scopes)."""


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The JSON objects of a JSON list; none of anything else."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def as_id(value: Any) -> int | None:
    """A JSON value as a chunk id; None for any other."""
    return value if type(value) is int else None
