"""What the corpus holds: publications, their chunks, and a chunk as a run reads it."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from pathlib import Path

from dofrag.domain.records import dataclass

PUBLIC = "public"
"""The scope of everything that is not restricted."""


class SourceKind(StrEnum):
    """What a text is as a legal source."""

    PUBLICATION = "publication"
    CONSOLIDATED = "consolidated"  # a law with its later reforms worked in; never cited as a gazette publication


class Kind(StrEnum):
    """The gazette's own kinds, plus two that an index needs."""

    DOF = "DOF"  # notes of the State: laws, decrees, agreements, norms
    AVISO = "AVISO"  # paid and third-party notices: tenders, edicts, calls
    LEY = "LEY"  # consolidated law (source kind `consolidated`)
    INDICE = "INDICE"  # front matter, contents and running index of a whole edition: kept, never searched by default


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One instrument as published.

    `published_on` of a consolidated law is the date of its last reform (its first publication when it has
    none). `span` is the half-open range of characters in the normalised text of `source`, the ingested file's
    path relative to the folder that was given. `chars` and `sha256` are of the publication's own text.
    """

    code: str
    published_on: date
    edition: str | None
    kind: Kind
    source_kind: SourceKind
    position: int | None
    section: str | None
    branch: str | None
    issuer: str  # "" when the text names none
    title: str
    instrument: str | None  # "DECRETO", "ACUERDO", "NORMA OFICIAL MEXICANA"…
    identifiers: tuple[str, ...]  # its own (NOM, acuerdo, oficio…), never those it cites
    url: str | None
    scope: str
    source: str
    span: tuple[int, int]
    chars: int
    sha256: str
    first_published_on: date | None = None
    last_reform_on: date | None = None
    notice: str | None = None  # an invalidity notice that the text itself carries

    @property
    def consolidated(self) -> bool:
        return self.source_kind is SourceKind.CONSOLIDATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stored, citable unit. The chunks of a publication, in order of `ordinal`, tile its text exactly:
    `text` is characters `[start, end)` of it."""

    id: int
    code: str
    ordinal: int
    start: int
    end: int
    heading_path: tuple[str, ...]
    provision: str | None  # canonical path, e.g. "art:3/frac:II", "num:5.2", "trans:2"; see text/provisions.py
    kind: str  # "text" | "table"
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked pointer. It can be read later; it cannot be cited."""

    rank: int
    score: float
    chunk_id: int
    code: str
    parts: tuple[tuple[str, float], ...] = ()  # score of each part, for `--explain`


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as read in a run, with the publication it belongs to. Only passages can be cited."""

    chunk: Chunk
    publication: Publication

    @property
    def id(self) -> int:
        return self.chunk.id

    @property
    def text(self) -> str:
        return self.chunk.text


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file to ingest, identified from its path and its first bytes only.

    `rel` is the path relative to the folder that was given, with `/`. `format` is the reader's name. `rank` is the
    profile's preference among conversions (0 is best). `edition_key` is set for a whole edition
    ("20240412-MAT"): files that share it are alternates of one edition. `code`, `position`, `kind`, `published_on`
    and `edition` are what the path says, None where it says nothing. `warnings` hold what is odd about
    the path (an impossible date, say).
    """

    path: Path
    rel: str
    format: str
    rank: int = 0
    scope: str = PUBLIC
    edition_key: str | None = None
    code: str | None = None
    position: int | None = None
    kind: Kind | None = None
    published_on: date | None = None
    edition: str | None = None
    warnings: tuple[str, ...] = ()


SEARCHABLE = (Kind.DOF, Kind.AVISO, Kind.LEY)
"""Kinds that a search covers unless it names others: everything but the running index of an edition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be found at all. `as_of` is the cut-off of the run; `published_from`/`published_to` narrow it,
    inclusive. `scopes` is what this run may see: an item of another scope does not exist for it.
    `codes` None means any publication."""

    as_of: date
    published_from: date | None = None
    published_to: date | None = None
    editions: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = SEARCHABLE
    issuer: str | None = None
    codes: tuple[str, ...] | None = None
    scopes: frozenset[str] = frozenset({PUBLIC})
