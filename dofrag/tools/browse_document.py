"""`browse_document`: the outline of one discovered publication, chunk by chunk, or of one of its provisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dofrag.domain.corpus import Filters
from dofrag.text.mentions import find_provisions
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
from dofrag.tools.results import FIRST_WORDS, heading_line, pointer_to, pointers_of, shorten
from dofrag.tools.search_evidence import require_discovered

PAGE = 30


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """A page of the outline in order. Entries are pointers: they may be read, and are never evidence themselves."""
    code = arguments["publication"]
    require_discovered(context, code, "publication")
    publication = context.reader.publication(code, context.filters)
    if publication is None:  # discovered, then removed from the index by another process
        raise ToolInputError(
            ErrorCode.UNKNOWN_DOCUMENT, f"publication {code!r} is no longer in the index", path="publication"
        )
    offset = int(arguments["offset"])
    if arguments["provision"] is None:
        entries, total = context.reader.outline(code, context.filters, limit=PAGE, offset=offset)
        pointers = pointers_of(code, entries)
    else:
        pointers, total = _of_provision(context, code, _path(arguments["provision"]), offset)
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
        offset=offset,
        publications=(publication,),
        pointers=pointers,
        insufficient_reason=None if pointers else "no_match",
    )


def _path(text: str) -> str:
    """The canonical path that a provision's name stands for. Raises ToolInputError where it names none."""
    found = find_provisions(text)
    if not found:
        raise ToolInputError(
            ErrorCode.SCHEMA_VIOLATION,
            f"provision {text!r} names no provision",
            path="provision",
            hint="name one as a text does: «artículo 15 Bis», «artículo 3, fracción II», «numeral 5.2»; or null",
        )
    return max((f.path for f in found), key=lambda path: path.count("/"))


def _of_provision(context: ToolContext, code: str, path: str, offset: int) -> tuple[tuple[Pointer, ...], int]:
    """A page of the chunks that are this provision. Where none begins with it, those of the provision around it: a
    short fraction stands in the chunk of its article."""
    filters: Filters = replace(context.filters, codes=(code,))
    segments = path.split("/")
    for depth in range(len(segments), 0, -1):
        page = context.backend.find_provision("/".join(segments[:depth]), filters, limit=offset + PAGE)
        if page.total:
            break
    passages = context.reader.passages([h.chunk_id for h in page.hits[offset:]], filters)
    shown = (pointer_to(p, shorten(" ".join(p.text[:400].split()), FIRST_WORDS)) for p in passages)
    return tuple(shown), page.total


BROWSE_DOCUMENT = ToolSpec(
    name="browse_document",
    summary="The outline of a discovered publication, or the part of it that is one provision: headings, provisions "
    "and first words, in order. To find an article, a numeral or a transitory.",
    schema=closed_schema(
        {
            "publication": {"type": "string", "minLength": 1, "maxLength": 80, "description": "A discovered code."},
            "provision": {
                "type": ["string", "null"],
                "minLength": 2,
                "maxLength": 80,
                "description": "Only this provision, named as in a text («artículo 15 Bis»). Null: all of it.",
            },
            "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "Entries to skip."},
        }
    ),
    opens_in=State.DISCOVER_EVIDENCE,
    run=run,
    cost_units=2,
    latency_ms=200,
)
