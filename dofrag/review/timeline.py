"""What happened in a run, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from dofrag.review.shapes import Found, Json, Step, number, obj, objs, pairs, text
from dofrag.trace.codec import Record
from dofrag.trace.events import (
    CitationRejected,
    CoverageChanged,
    DraftProposed,
    DraftRejected,
    LimitReached,
    ModelCalled,
    PassageRead,
    ToolCalled,
    ToolReturned,
)

FOUND_MAX = 40
FOUND_IN_ALL = 800
STEPS_MAX = 400


def timeline(records: Sequence[Record]) -> tuple[Step, ...]:
    """The steps of a trace, in its order."""
    if not records:
        return ()
    start = records[0].at
    returned = {r.event.call_id: r for r in records if isinstance(r.event, ToolReturned)}
    read: dict[str, list[int]] = {}
    for record in records:
        if isinstance(record.event, PassageRead):
            read.setdefault(record.event.call_id, []).append(record.event.chunk_id)
    steps: list[Step] = []
    left = FOUND_IN_ALL
    for record in records:
        step = _step(record, start, returned, read)
        if step is not None and len(steps) < STEPS_MAX:
            step = step if len(step.found) <= left else replace(step, found=step.found[:left])
            left -= len(step.found)
            steps.append(step)
    return tuple(steps)


def _ms(after: datetime, before: datetime) -> int:
    return max(0, round((after - before).total_seconds() * 1000))


def _step(record: Record, start: datetime, returned: dict[str, Record], read: dict[str, list[int]]) -> Step | None:
    event, after = record.event, _ms(record.at, start)
    match event:
        case ToolCalled():
            return _call(record, event, start, returned.get(event.call_id), tuple(read.get(event.call_id, ())))
        case ModelCalled():
            tokens = [("mode", event.mode), ("input_tokens", text(event.input_tokens)),
                      ("output_tokens", text(event.output_tokens)), ("attempt", str(event.attempt)),
                      ("reply", text(obj(event.reply).get("kind")))]  # fmt: skip
            money = "" if event.cost is None else f"${event.cost:.4f}"
            return Step(kind="model", turn=event.turn, after_ms=after, title=event.model, ok=event.outcome == "ok",
                        why="" if event.outcome == "ok" else event.outcome, cost=money,
                        fields=tuple((k, v) for k, v in tokens if v))  # fmt: skip
        case CoverageChanged():
            changes = tuple((text(c.id), text(c.before), text(c.after), c.chunk_id) for c in event.changes[:100])
            return Step(kind="coverage", turn=event.turn, after_ms=after, total=event.total, shown=event.supported,
                        changes=changes)  # fmt: skip
        case DraftProposed():
            return Step(kind="draft", turn=event.turn, after_ms=after, shown=len(objs(event.draft.get("claims"))))
        case DraftRejected():
            fields = tuple((text(f.get("code")), text(f.get("message"))) for f in event.faults[:20])
            return Step(kind="rejected", turn=event.turn, after_ms=after, ok=False, fields=fields)
        case CitationRejected():
            fields = ((event.code, text(event.message)),)
            return Step(kind="citation", turn=event.turn, after_ms=after, ok=False, title=f"#{event.chunk_id}",
                        fields=fields)  # fmt: skip
        case LimitReached():
            fields = (("maximum", str(event.maximum)), ("spent", str(event.spent)), ("wanted", str(event.wanted)),
                      ("tool", event.tool or ""))  # fmt: skip
            return Step(kind="limit", turn=event.turn, after_ms=after, ok=False, title=event.limit,
                        fields=tuple((k, v) for k, v in fields if v))  # fmt: skip
    return None


def _call(record: Record, event: ToolCalled, start: datetime, back: Record | None, read: tuple[int, ...]) -> Step:
    arguments = event.arguments if isinstance(event.arguments, dict) else {"": text(event.arguments)}
    answer = back.event if back is not None else None
    envelope = obj(answer.envelope) if isinstance(answer, ToolReturned) else {}
    error = obj(envelope.get("error"))
    charged = obj(envelope.get("charged"))
    return Step(
        kind="call",
        turn=event.turn,
        after_ms=_ms(record.at, start),
        title=text(event.tool),
        why=text(error.get("message")) if error else text(event.why),
        took_ms=_ms(back.at, record.at) if back is not None else None,
        ok=isinstance(answer, ToolReturned) and answer.ok,
        fields=pairs(arguments),
        found=tuple(_found(envelope)),
        total=number(envelope.get("total")),
        shown=number(envelope.get("returned")) or 0,
        cost=text(charged.get("cost_units")),
        read=read,
    )


def _found(envelope: Json) -> list[Found]:
    """What a call found, as pointers: a publication with its best passages, or passages."""
    sources = obj(envelope.get("sources"))
    rows: list[Found] = []
    for result in objs(envelope.get("results"), FOUND_MAX):
        code = text(result.get("publication"))
        title = text(obj(sources.get(code)).get("title"))
        passages = objs(result.get("passages"), 4) or [result]
        for n, passage in enumerate(passages):
            heading, snippet = (
                text(passage.get("heading")),
                text(passage.get("snippet") or passage.get("first_words")),
            )
            rows.append(Found(chunk_id=number(passage.get("chunk_id")), code=code, title="" if n else title[:300],
                              heading=heading[:200], snippet=snippet[:400]))  # fmt: skip
    return rows[:FOUND_MAX]
