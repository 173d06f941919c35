"""What a run did, seen from its events: which calls ran and were refused, what they brought, what was read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.trace.events import Event, LimitReached, PassageRead, ToolCalled, ToolReturned

OVERLAP = 0.5
"""Share of what two searches show together, from which the second is said to overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """`sequence` are the executed calls in order; `refused` counts by code; `read` has chunk id → publication code.
    `empty` calls brought nothing; `recovered`: one after an empty call brought something; `identical` calls had been
    made before; `overlapping` searches showed mostly what an earlier one had."""

    sequence: tuple[str, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    read: Mapping[int, str] = field(default_factory=dict)
    read_chars: int = 0
    limit: str | None = None
    first_empty: bool = False
    empty: int = 0
    recovered: bool = False
    identical: int = 0
    overlapping: int = 0


class Observer:
    """Listens to one run."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._made: Counter[str] = Counter()
        self._shown: list[frozenset[str]] = []
        self._empties: list[bool] = []
        self._sequence: list[str] = []
        self._refused: Counter[str] = Counter()
        self._read: dict[int, str] = {}
        self._chars = 0
        self._limit: str | None = None
        self._overlapping = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, ToolCalled):
            self._asked[event.call_id] = _key(event.tool, event.arguments)
        elif isinstance(event, ToolReturned):
            self._returned(event)
        elif isinstance(event, PassageRead):
            self._read[event.chunk_id] = event.publication
            self._chars += event.chars
        elif isinstance(event, LimitReached):
            self._limit = self._limit or event.limit

    def _returned(self, event: ToolReturned) -> None:
        if not event.ok:
            self._refused[str(event.envelope["error"]["code"])] += 1
            return
        self._sequence.append(event.tool)
        self._made[self._asked.get(event.call_id, event.call_id)] += 1
        results = event.envelope["results"]
        self._empties.append(not results)
        if event.tool.startswith("search_") and results:
            shown = frozenset(str(r.get("chunk_id") or r.get("publication")) for r in results)
            self._overlapping += any(len(shown & old) >= OVERLAP * len(shown | old) for old in self._shown)
            self._shown.append(shown)

    def seen(self) -> Observed:
        """What there was to see so far."""
        empties = self._empties
        first = empties.index(True) if True in empties else len(empties)
        return Observed(
            sequence=tuple(self._sequence),
            refused=dict(sorted(self._refused.items())),
            read=dict(self._read),
            read_chars=self._chars,
            limit=self._limit,
            first_empty=bool(empties) and empties[0],
            empty=sum(empties),
            recovered=not all(empties[first:]),
            identical=sum(n - 1 for n in self._made.values()),
            overlapping=self._overlapping,
        )


def _key(tool: str, arguments: Any) -> str:
    return tool + json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
