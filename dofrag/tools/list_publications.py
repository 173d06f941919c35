"""`list_publications`: everything published by an issuer, in a window, in an edition. Complete and paged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.domain.corpus import Filters, Publication
from dofrag.tools.contract import (
    DATE,
    EDITION,
    ISSUER,
    KIND,
    Outcome,
    Pointer,
    State,
    ToolContext,
    ToolSpec,
    closed_schema,
)
from dofrag.tools.results import pointers_of

PAGE = 20


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """One page in order of date, edition, position, each with its first passage as a pointer. `total` is of the whole
    listing, so absence can be stated."""
    filters = context.narrowed(arguments)
    listing = context.reader.list_publications(filters, limit=PAGE, offset=int(arguments["offset"]))
    first = {p.code: _first(context, p, filters) for p in listing.publications}
    return Outcome(
        results=[
            {"publication": p.code, "position": p.position, "chunk_id": None if at is None else at.chunk_id}
            for p, at in zip(listing.publications, first.values(), strict=True)
        ],
        total=listing.total,
        offset=int(arguments["offset"]),
        publications=listing.publications,
        pointers=tuple(pointer for pointer in first.values() if pointer is not None),
        insufficient_reason=None if listing.publications else "no_match",
        searched=True,
    )


def _first(context: ToolContext, publication: Publication, filters: Filters) -> Pointer | None:
    entries, _ = context.reader.outline(publication.code, filters, limit=1)
    return pointers_of(publication.code, entries)[0] if entries else None


LIST_PUBLICATIONS = ToolSpec(
    name="list_publications",
    summary="List publications by date of publication, issuer, edition and kind, with the total, each with its first "
    "passage to read. For 'what was published' and for stating that something is absent.",
    schema=closed_schema(
        {
            "date_from": DATE,
            "date_to": DATE,
            "issuer": ISSUER,
            "edition": EDITION,
            "kind": KIND,
            "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "Entries to skip."},
        }
    ),
    opens_in=State.DISCOVER_DOCUMENTS,
    run=run,
    cost_units=2,
    latency_ms=200,
)
