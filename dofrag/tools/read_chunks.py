"""`read_chunks`: the text of chunks that were seen. Only what this tool returns can be cited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.text.tokens import estimate_tokens
from dofrag.tools.contract import (
    ErrorCode,
    Outcome,
    State,
    ToolContext,
    ToolInputError,
    ToolSpec,
    closed_schema,
)
from dofrag.tools.results import heading_line


def run(context: ToolContext, arguments: Mapping[str, Any]) -> Outcome:
    """The asked chunks and, with `neighbor_window` 1, the ones before and after each, in document order.

    Chunks read before are left out: they were shown and stay citable. Raises ToolInputError (`unseen_chunk`,
    `budget_exhausted`) without reading anything.
    """
    asked = list(dict.fromkeys(int(i) for i in arguments["chunk_ids"]))  # JSON has 3.0 for 3
    for i, chunk_id in enumerate(asked):
        if not context.session.is_seen(chunk_id):
            raise ToolInputError(
                ErrorCode.UNSEEN_CHUNK,
                f"chunk {chunk_id} has not been seen in this run",
                path=f"chunk_ids[{i}]",
                hint="read ids that a search or an outline returned",
            )
    wanted: dict[int, None] = {}
    for chunk_id in asked:
        wanted.update(dict.fromkeys(context.reader.neighbors(chunk_id, int(arguments["neighbor_window"]))))
    fresh = [chunk_id for chunk_id in wanted if not context.session.is_read(chunk_id)]
    passages = context.reader.passages(fresh, context.filters)
    tokens = sum(estimate_tokens(p.text) for p in passages)
    if tokens > context.read_tokens_left:
        raise ToolInputError(
            ErrorCode.BUDGET_EXHAUSTED,
            f"reading these would take {tokens} tokens; {context.read_tokens_left} are left",
            path="chunk_ids",
            hint="read fewer chunks, or without neighbours",
        )
    return Outcome(
        results=[
            {
                "chunk_id": p.id,
                "publication": p.publication.code,
                "heading": heading_line(p.chunk.heading_path),
                "text": p.text,
            }
            for p in passages
        ],
        total=len(passages),
        publications=tuple({p.publication.code: p.publication for p in passages}.values()),
        passages=tuple(passages),
        insufficient_reason=None if passages else "already_read",
    )


READ_CHUNKS = ToolSpec(
    name="read_chunks",
    summary="Read the full text of chunks that a search or an outline showed. Only read passages can be cited.",
    schema=closed_schema(
        {
            "chunk_ids": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991},
                "minItems": 1,
                "maxItems": 8,
                "description": "Ids of seen chunks.",
            },
            "neighbor_window": {
                "type": "integer",
                "enum": [0, 1],
                "description": "1: also the chunk before and the one after each.",
            },
        }
    ),
    opens_in=State.READ,
    run=run,
    cost_units=5,
    latency_ms=300,
)
