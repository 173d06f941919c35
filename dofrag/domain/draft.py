"""A publication and its chunks on their way into the store: parsed, not yet numbered."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from dofrag.domain.corpus import Kind, SourceKind
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A publication before its text has been seen to the end: `Publication` without `span`, `chars`, `sha256`."""

    code: str
    published_on: date
    edition: str | None
    kind: Kind
    source_kind: SourceKind
    position: int | None
    section: str | None
    branch: str | None
    issuer: str
    title: str
    instrument: str | None
    identifiers: tuple[str, ...]
    url: str | None
    scope: str
    source: str
    first_published_on: date | None = None
    last_reform_on: date | None = None
    notice: str | None = None


class ChunkDraft(NamedTuple):
    """A chunk before it has an id. `text` is characters `[start, end)` of its publication's text. A tuple, for a
    corpus has tens of millions."""

    ordinal: int
    start: int
    end: int
    heading_path: tuple[str, ...]
    provision: str | None
    kind: str  # "text" | "table"
    text: str


@dataclass(frozen=True, slots=True)
class ParsedPublication:
    """A header and a stream of chunks. The stream is to be used up before the next publication is asked for, so
    that a file of any size passes through in bounded memory."""

    header: Header
    chunks: Iterable[ChunkDraft]
