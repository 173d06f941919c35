"""What one run has discovered, seen and read. A new object for every run; it only ever grows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dofrag.domain.corpus import Passage, Publication
from dofrag.domain.records import dataclass
from dofrag.text.tokens import estimate_tokens
from dofrag.tools.contract import Outcome, Pointer, State


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord:
    """One search or listing of the run, for the report of what was searched. `codes` are the publications that it
    showed."""

    tool: str
    arguments: Mapping[str, Any]
    total: int
    codes: tuple[str, ...] = ()


class ResearchSession:
    """Observes the outcomes of successful calls. Nothing else can add to it, and nothing removes from it."""

    def __init__(self) -> None:
        self._publications: dict[str, Publication] = {}
        self._seen: dict[int, Pointer] = {}
        self._passages: dict[int, Passage] = {}
        self._searched: list[SearchRecord] = []
        self._read_tokens = 0

    @property
    def state(self) -> State:
        if self._passages:
            return State.RESPOND
        if self._seen:
            return State.READ
        return State.DISCOVER_EVIDENCE if self._publications else State.DISCOVER_DOCUMENTS

    @property
    def publications(self) -> Mapping[str, Publication]:
        return MappingProxyType(self._publications)

    @property
    def seen(self) -> tuple[Pointer, ...]:
        """Pointers in order of first sight."""
        return tuple(self._seen.values())

    @property
    def passages(self) -> Mapping[int, Passage]:
        """Read passages by chunk id, in order of reading."""
        return MappingProxyType(self._passages)

    @property
    def searched(self) -> tuple[SearchRecord, ...]:
        return tuple(self._searched)

    @property
    def read_tokens(self) -> int:
        return self._read_tokens

    def is_discovered(self, code: str) -> bool:
        return code in self._publications

    def is_seen(self, chunk_id: int) -> bool:
        return chunk_id in self._seen or chunk_id in self._passages

    def is_read(self, chunk_id: int) -> bool:
        return chunk_id in self._passages

    def observe(self, tool: str, arguments: Mapping[str, Any], outcome: Outcome) -> tuple[Passage, ...]:
        """Take in what a call returned. Returns the passages that are new."""
        for publication in outcome.publications:
            self._publications.setdefault(publication.code, publication)
        for pointer in outcome.pointers:
            self._seen.setdefault(pointer.chunk_id, pointer)
        fresh = tuple(p for p in outcome.passages if p.id not in self._passages)
        for passage in fresh:
            self._passages[passage.id] = passage
            self._read_tokens += estimate_tokens(passage.text)
        if outcome.searched:
            codes = tuple(p.code for p in outcome.publications)
            self._searched.append(
                SearchRecord(tool=tool, arguments=dict(arguments), total=outcome.total, codes=codes)
            )
        return fresh
