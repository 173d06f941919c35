"""`search_documents`: find publications by words, each with its best passages as pointers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.domain.corpus import Hit
from dofrag.search.kinds import by_default
from dofrag.search.snippet import snippet
from dofrag.tools.contract import (
    DATE,
    EDITION,
    ISSUER,
    KIND,
    PREFER_RECENT,
    QUERY,
    JsonObject,
    Outcome,
    Pointer,
    State,
    ToolContext,
    ToolSpec,
    closed_schema,
    order_hits,
)
from dofrag.tools.results import heading_line, pointer_to

TOP = 8
PER_PUBLICATION = 2
SNIPPET = 140


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """The best publications in rank order, each with up to two pointers. Pointers count as seen."""
    query = arguments["query"]
    asked = context.narrowed(arguments)
    filters, left_out = by_default(query, asked)
    page = context.backend.search_publications(query, filters, limit=TOP, per_publication=PER_PUBLICATION)
    if left_out and not page.hits:
        filters, left_out = asked, ()
        page = context.backend.search_publications(query, filters, limit=TOP, per_publication=PER_PUBLICATION)
    publications = context.reader.publications([h.code for h in page.hits], filters)
    passages = {p.id: p for p in context.reader.passages([h.chunk_id for h in page.hits], filters)}
    groups: dict[str, list[Hit]] = {}
    for hit in page.hits:
        if hit.code in publications and hit.chunk_id in passages:
            groups.setdefault(hit.code, []).append(hit)
    dates = {code: p.published_on for code, p in publications.items()}
    best = order_hits(tuple(hits[0] for hits in groups.values()), dates, prefer_recent=arguments["prefer_recent"])
    results: list[JsonObject] = []
    pointers: list[Pointer] = []
    for top in best:
        found = [passages[hit.chunk_id] for hit in groups[top.code]]
        shown = [pointer_to(passage, snippet(passage.text, query, SNIPPET)) for passage in found]
        pointers += shown
        results.append(
            {
                "publication": top.code,
                "passages": [
                    {"chunk_id": p.chunk_id, "heading": heading_line(p.heading_path), "snippet": p.snippet}
                    for p in shown
                ],
            }
        )
    return Outcome(
        results=results,
        total=page.total,
        publications=tuple(publications[top.code] for top in best),
        pointers=tuple(pointers),
        insufficient_reason=None if results else "no_match",
        left_out=left_out,
        searched=True,
    )


SEARCH_DOCUMENTS = ToolSpec(
    name="search_documents",
    summary="Find publications by words. Each comes with its best one or two passages as pointers to read.",
    schema=closed_schema(
        {
            "query": QUERY,
            "date_from": DATE,
            "date_to": DATE,
            "issuer": ISSUER,
            "edition": EDITION,
            "kind": KIND,
            "prefer_recent": PREFER_RECENT,
        }
    ),
    opens_in=State.DISCOVER_DOCUMENTS,
    run=run,
    cost_units=3,
    latency_ms=400,
)
