"""`search_evidence` as a search box: hits come with their text, and count as read.

A control for experiments, not a tool of the product: who has only this can search, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dofrag.domain.corpus import Passage
from dofrag.text.tokens import estimate_tokens
from dofrag.tools.contract import ErrorCode, Outcome, State, ToolContext, ToolInputError
from dofrag.tools.results import heading_line
from dofrag.tools.search_evidence import SEARCH_EVIDENCE
from dofrag.tools.search_evidence import run as find


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """The best passages in rank order, with their text: as many as the read limit has room for. Those read before are
    left out. Raises what `search_evidence` raises, and `budget_exhausted` where there is room for none."""
    found = find(context, arguments)
    fresh = [p.chunk_id for p in found.pointers if not context.session.is_read(p.chunk_id)]
    held = {p.id: p for p in context.reader.passages(fresh, context.filters)}
    passages: list[Passage] = []
    left = context.read_tokens_left
    for passage in (held[i] for i in fresh if i in held):
        left -= estimate_tokens(passage.text)
        if left < 0:
            break
        passages.append(passage)
    if held and not passages:
        raise ToolInputError(ErrorCode.BUDGET_EXHAUSTED, "no hit fits into what may still be read")
    shown = {p.id for p in passages}
    return replace(
        found,
        results=[
            {
                "chunk_id": p.id,
                "publication": p.publication.code,
                "heading": heading_line(p.chunk.heading_path),
                "text": p.text,
            }
            for p in passages
        ],
        passages=tuple(passages),
        pointers=tuple(p for p in found.pointers if p.chunk_id in shown),
        insufficient_reason=found.insufficient_reason or (None if passages else "already_read"),
    )


SEARCHBOX = replace(
    SEARCH_EVIDENCE,
    summary="Find passages by words, within discovered publications or (null) within all. Returns their text, which "
    "can be cited.",
    opens_in=State.DISCOVER_DOCUMENTS,
    run=run,
    cost_units=8,
    latency_ms=700,
)
"""Its tariff is that of the search and the reading that it does at once."""
