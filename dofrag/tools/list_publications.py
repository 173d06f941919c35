"""`list_publications`: everything published by an issuer, in a window, in an edition. Complete and paged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.tools.contract import (
    DATE,
    EDITION,
    ISSUER,
    KIND,
    Outcome,
    State,
    ToolContext,
    ToolSpec,
    closed_schema,
)

PAGE = 20


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """One page in order of date, edition, position. `total` is of the whole listing, so absence can be stated."""
    filters = context.narrowed(arguments)
    listing = context.reader.list_publications(filters, limit=PAGE, offset=int(arguments["offset"]))
    return Outcome(
        results=[{"publication": p.code, "position": p.position} for p in listing.publications],
        total=listing.total,
        offset=int(arguments["offset"]),
        publications=listing.publications,
        insufficient_reason=None if listing.publications else "no_match",
        searched=True,
    )


LIST_PUBLICATIONS = ToolSpec(
    name="list_publications",
    summary="List publications by date of publication, issuer, edition and kind, with the total. For 'what was "
    "published' and for stating that something is absent.",
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
