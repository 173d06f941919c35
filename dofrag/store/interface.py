"""What the tools may ask of the store. Every read takes the run's `Filters`: what they exclude does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from dofrag.domain.corpus import Chunk, Filters, Kind, Passage, Publication
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of publications in order of date, edition, position, code; and how many there are in all."""

    publications: tuple[Publication, ...]
    total: int


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One chunk in a document's outline: where it stands and how it begins, never its text."""

    chunk_id: int
    ordinal: int
    heading_path: tuple[str, ...]
    provision: str | None
    first_words: str
    chars: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a search looks at before it chooses: the text of a chunk, and what its publication is."""

    chunk_id: int
    code: str
    kind: Kind
    title: str
    text: str


class CorpusReader(Protocol):
    """Read-only access. Opened with `mode=ro`; safe to use beside one writer."""

    def dates(self, scopes: frozenset[str]) -> tuple[date, date] | None:
        """First and last publication date visible in these scopes, None for an empty corpus."""
        ...

    def restricted_scopes(self) -> frozenset[str]:
        """Names of the collections that are not public. For the scope check of a question only."""
        ...

    def publication(self, code: str, filters: Filters) -> Publication | None: ...

    def publications(self, codes: Sequence[str], filters: Filters) -> dict[str, Publication]: ...

    def list_publications(self, filters: Filters, *, limit: int, offset: int = 0) -> Listing: ...

    def passages(self, chunk_ids: Sequence[int], filters: Filters) -> list[Passage]:
        """In the order asked for; ids that do not exist under these filters are left out."""
        ...

    def candidates(self, chunk_ids: Sequence[int], filters: Filters) -> list[Candidate]:
        """The same, of as much as ranking takes."""
        ...

    def neighbors(self, chunk_id: int, window: int) -> list[int]:
        """Ids of the chunks up to `window` before and after, in the same publication, in order, itself included."""
        ...

    def outline(
        self, code: str, filters: Filters, *, limit: int, offset: int = 0
    ) -> tuple[list[OutlineEntry], int]: ...

    def chunks(self, code: str, filters: Filters) -> list[Chunk]: ...
