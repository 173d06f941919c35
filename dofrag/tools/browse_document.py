"""`browse_document`: the outline of one discovered publication, chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.tools.contract import (
    ErrorCode,
    Outcome,
    Pointer,
    State,
    ToolContext,
    ToolInputError,
    ToolSpec,
    closed_schema,
)
from dofrag.tools.results import heading_line, shorten
from dofrag.tools.search_evidence import require_discovered

PAGE = 30
FIRST_WORDS = 70


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """A page of the outline in order. Entries are pointers: they may be read, and are never evidence themselves."""
    code = arguments["publication"]
    require_discovered(context, code, "publication")
    publication = context.reader.publication(code, context.filters)
    if publication is None:  # discovered, then removed from the index by another process
        raise ToolInputError(
            ErrorCode.UNKNOWN_DOCUMENT, f"publication {code!r} is no longer in the index", path="publication"
        )
    entries, total = context.reader.outline(code, context.filters, limit=PAGE, offset=int(arguments["offset"]))
    pointers = tuple(
        Pointer(e.chunk_id, code, e.heading_path, e.provision, shorten(e.first_words, FIRST_WORDS)) for e in entries
    )
    return Outcome(
        results=[
            {
                "chunk_id": p.chunk_id,
                "heading": heading_line(p.heading_path),
                "provision": p.provision,
                "first_words": p.snippet,
            }
            for p in pointers
        ],
        total=total,
        offset=int(arguments["offset"]),
        publications=(publication,),
        pointers=pointers,
        insufficient_reason=None if pointers else "no_match",
    )


BROWSE_DOCUMENT = ToolSpec(
    name="browse_document",
    summary="The outline of a discovered publication: headings, provisions and first words, in order. To find an "
    "article, a numeral or a transitory.",
    schema=closed_schema(
        {
            "publication": {"type": "string", "minLength": 1, "maxLength": 80, "description": "A discovered code."},
            "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "Entries to skip."},
        }
    ),
    opens_in=State.DISCOVER_EVIDENCE,
    run=run,
    cost_units=2,
    latency_ms=200,
)
