"""What every search backend offers. Filters apply before ranking, inside the index; ties break by id."""

from __future__ import annotations

from typing import Protocol

from dofrag.domain.corpus import Filters, Hit
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """The best hits and how many there were in all."""

    hits: tuple[Hit, ...]
    total: int


class SearchBackend(Protocol):
    """Raw questions are fine: no query syntax, nothing a user types can raise."""

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        """Ranked chunks. An empty query, or one of stop words only, finds nothing. Without `codes` hits may leave the
        code of their publication empty, for a caller who reads the passages anyway."""
        ...

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        """Ranked chunks grouped by publication: publications in rank order, each with its best
        `per_publication` chunks in order. `total` counts publications."""
        ...

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        """The chunks that are a provision (a canonical path) or lie within it, by id; no scores."""
        ...
