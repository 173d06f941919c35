"""`search_evidence`: find passages by words, in discovered publications or in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dofrag.search.evidence import find_by_default
from dofrag.search.snippet import snippet
from dofrag.tools.contract import (
    DATE,
    PREFER_RECENT,
    QUERY,
    ErrorCode,
    JsonObject,
    Outcome,
    Pointer,
    State,
    ToolContext,
    ToolInputError,
    ToolSpec,
    closed_schema,
    order_hits,
)
from dofrag.tools.results import heading_line, pointer_to

TOP = 10
SNIPPET = 200


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """The best passages in rank order, as pointers. `publications` null searches all of what the run may see.

    Raises ToolInputError (`undiscovered_document`) for a publication that no earlier result has shown.
    """
    query = arguments["query"]
    filters = context.narrowed(arguments)
    codes = arguments["publications"]
    if codes is not None:
        for i, code in enumerate(codes):
            require_discovered(context, code, f"publications[{i}]")
        # Named publications are searched whole, whatever their kind.
        filters = replace(filters, codes=tuple(sorted(set(codes))), kinds=context.filters.kinds)
    found, left_out = find_by_default(context.backend, context.reader, query, filters, limit=TOP)
    passages = found.passages
    publications = {p.publication.code: p.publication for p in passages.values()}
    dates = {code: p.published_on for code, p in publications.items()}
    ordered = order_hits(found.hits, dates, prefer_recent=arguments["prefer_recent"])
    shown = [pointer_to(passages[h.chunk_id], snippet(passages[h.chunk_id].text, query, SNIPPET)) for h in ordered]
    # A copy is seen with the passage that it repeats, and may be read in its place.
    copies = {
        p.chunk_id: [pointer_to(passages[other], p.snippet) for other in found.copies.get(p.chunk_id, ())]
        for p in shown
    }
    pointers = [*shown, *(copy for one in copies.values() for copy in one)]
    return Outcome(
        results=[_result(p, copies[p.chunk_id], found.unlisted.get(p.chunk_id, 0)) for p in shown],
        total=found.total,
        publications=tuple(publications[code] for code in dict.fromkeys(p.code for p in pointers)),
        pointers=tuple(pointers),
        insufficient_reason=None if pointers else "no_match",
        left_out=left_out,
        searched=True,
    )


def _result(shown: Pointer, copies: Sequence[Pointer], unlisted: int) -> JsonObject:
    result: JsonObject = {
        "chunk_id": shown.chunk_id,
        "publication": shown.code,
        "heading": heading_line(shown.heading_path),
        "provision": shown.provision,
        "snippet": shown.snippet,
    }
    if copies:
        result["also"] = [{"chunk_id": copy.chunk_id, "publication": copy.code} for copy in copies]
    if unlisted:
        result["also_more"] = unlisted
    return result


def require_discovered(context: ToolContext, code: str, path: str) -> None:
    """Refuse a publication that this run has not come across.

    A code that does not exist and one that exists but was not shown get the same answer: nothing may tell a
    planner what lies outside its scope or cut-off.
    """
    if not context.session.is_discovered(code):
        raise ToolInputError(
            ErrorCode.UNDISCOVERED_DOCUMENT,
            f"publication {code!r} has not been discovered in this run",
            path=path,
            hint="use a code that list_publications or search_documents returned",
        )


SEARCH_EVIDENCE = ToolSpec(
    name="search_evidence",
    summary="Find passages by words, within discovered publications or (null) within all. Returns pointers to read.",
    schema=closed_schema(
        {
            "query": QUERY,
            "publications": {
                "type": ["array", "null"],
                "items": {"type": "string", "minLength": 1, "maxLength": 80},
                "minItems": 1,
                "maxItems": 20,
                "description": "Codes of discovered publications, or null for all.",
            },
            "date_from": DATE,
            "date_to": DATE,
            "prefer_recent": PREFER_RECENT,
        }
    ),
    opens_in=State.DISCOVER_EVIDENCE,
    run=run,
    cost_units=3,
    latency_ms=400,
)
