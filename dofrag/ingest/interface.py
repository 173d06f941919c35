"""The seams of ingest: what a reader gives, what parsing gives, what the pipeline stores.

bytes → reader (format → blocks) → segment (a file may hold several publications) → header → chunks.

The promise that `dof index verify` proves: the texts of a file's blocks, joined, are its normalised text; the
publications of a file tile that text; the chunks of a publication tile its text. Nothing is lost on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple, Protocol

from dofrag.domain.corpus import SourceFile
from dofrag.domain.draft import ChunkDraft, Header, ParsedPublication
from dofrag.domain.records import dataclass

__all__ = ["Block", "ChunkDraft", "DocumentMeta", "Header", "ParsedPublication", "Reader"]


class Block(NamedTuple):
    """A piece of normalised text. Joined in order, the blocks of a file are its normalised text, so each keeps its
    own line end. `level` is 1–6 for a heading, else 0."""

    kind: str  # "heading" | "paragraph" | "table" | "blank" | "article": a heading whose number goes on in its text
    text: str
    level: int = 0
    style: str = ""  # what the format says of it: "bold", "center", a Word style name…; an article's whole mark


CHUNKER_VERSION = "3"
"""Chunks depend on it: an index built by another one is refused."""


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
    branch: str | None = None


class Reader(Protocol):
    """One per format. `blocks` streams and raises `SourceUnreadable` with a reason that a person can act on."""

    name: str

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]: ...
