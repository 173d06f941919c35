"""The seams of ingest: what a reader gives, what parsing gives, what the pipeline stores.

bytes → reader (format → blocks) → segment (a file may hold several publications) → header → chunks.

The promise that `dof index verify` proves: the texts of a file's blocks, joined, are its normalised text; the
publications of a file tile that text; the chunks of a publication tile its text. Nothing is lost on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from dofrag.domain.corpus import Kind, SourceFile, SourceKind


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of normalised text. Joined in order, the blocks of a file are its normalised text, so each keeps its
    own line end. `level` is 1–6 for a heading, else 0."""

    kind: str  # "heading" | "paragraph" | "table" | "blank"
    text: str
    level: int = 0
    style: str = ""  # what the format says of it: "bold", "center", a Word style name…


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMeta:
    """What a format says of the whole document beside its text: a page's own title, date, code."""

    title: str | None = None
    code: str | None = None
    published_on: date | None = None
    edition: str | None = None
    url: str | None = None
    issuer: str | None = None
    section: str | None = None


class Reader(Protocol):
    """One per format. `blocks` streams and raises `SourceUnreadable` with a reason that a person can act on."""

    name: str

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]: ...


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk before it has an id. `text` is characters `[start, end)` of its publication's text."""

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
