"""A trace as text for people: turn by turn, what was asked for, found, covered and refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, assert_never

from dofrag.cli.labels import OUTCOMES
from dofrag.cli.output import one_line, wrap
from dofrag.cli.progress import aim, outcome
from dofrag.trace.codec import Record
from dofrag.trace.events import (
    Answered,
    CitationRejected,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.trajectory import gather

SHOWN_SOURCES = 5


def render_trace(records: Iterable[Record], width: int, *, full: bool = False) -> Iterable[str]:
    """Lines of at most `width` columns, streamed as the records come. `full` shows every result and every draft."""
    turn = 0
    for record in records:
        now = getattr(record.event, "turn", 0)
        if now > turn:
            turn = now
            yield ""
            yield f"Turn {turn}"
        more = _more(record.event) if full else []
        for text, indent in [*_describe(record.event), *more]:
            yield from wrap(text, width, " " * indent, " " * (indent + 2)) or [""]


def standing(path: Path, records: list[Record], width: int) -> Iterable[str]:
    """Coverage as it stood when a trace breaks off; nothing of one that does not begin like a trace."""
    if not records or not isinstance(records[0].event, RunStarted):
        return
    for sub in gather(path, records).coverage:
        for r in _objects(sub.get("requirements")):
            yield from wrap(f"{r.get('id')} {r.get('label')}: {r.get('status')}", width, "  ", "    ")


def _more(event: Event) -> list[tuple[str, int]]:
    """What a call found, result by result; what a draft says."""
    if isinstance(event, DraftProposed):
        return [(_claim(c), 4) for c in _objects(event.draft.get("claims"))]
    if not isinstance(event, ToolReturned):
        return []
    lines = []
    for n, result in enumerate(_objects(event.envelope.get("results")), 1):
        shown = [result, *_objects(result.get("passages"))]
        lines.append((f"{n}. {_result(result)}", 6))
        lines += [(_result(passage), 9) for passage in shown[1:]]
    return lines


def _result(result: Mapping[str, Any]) -> str:
    where = [f"{name} {result[name]}" for name in ("publication", "chunk_id", "provision") if result.get(name)]
    text = result.get("snippet") or result.get("first_words") or ""
    heading = f" {result['heading']}" if result.get("heading") else ""
    return one_line(f"{', '.join(where)}{heading}{': ' if text else ''}{text}", 400)


def _describe(event: Event) -> list[tuple[str, int]]:
    """(text, indent) pairs."""
    match event:
        case RunStarted():
            return _started(event)
        case Decomposed():
            return _parts(event)
        case ModelCalled():
            used = f"{_count(event.input_tokens)} in, {_count(event.output_tokens)} out"
            cost = "n/a" if event.cost is None else f"US$ {event.cost:.4f}"
            told = f"{event.outcome} ({event.mode}; {used}; cost {cost})"
            return [(f"model {event.model}, attempt {event.attempt}: {told}", 2)]
        case ToolCalled():
            why = [(f"why: {one_line(event.why, 300)}", 4)] if event.why else []
            return [(f"{event.call_id} {one_line(event.tool, 60)} {aim(event.arguments)}", 2), *why]
        case ToolReturned():
            found = "{total} read" if event.tool == "read_chunks" else "{total} found"
            return [(f"-> {outcome(event, found, 'refused: {why}')}", 4), *_sources(event)]
        case PassageRead():
            size = f"{event.chars:,} characters, {event.tokens:,} tokens"
            return [
                (f"read chunk {event.chunk_id} of {event.publication}: {size}", 4),
                (f'"{one_line(event.excerpt, 160)}"', 6),
            ]
        case CoverageChanged():
            return _coverage(event)
        case DraftProposed():
            return [(f"proposes to close with {len(_objects(event.draft.get('claims')))} claims", 2)]
        case DraftRejected():
            return [("draft rejected:", 2), *((_fault(f), 4) for f in event.faults)]
        case CitationRejected():
            return [
                (f"citation of chunk {event.chunk_id} in {event.claim} dropped: {event.code}, {event.message}", 2)
            ]
        case LimitReached():
            return [(_limit(event), 2)]
        case Answered():
            claims = [(_claim(c), 4) for c in event.claims]
            return [("accepted:", 2), *claims]
        case RunFinished():
            return _finished(event)
        case _:
            assert_never(event)


def _started(event: RunStarted) -> list[tuple[str, int]]:
    reach = f" ({event.corpus_dates.first} to {event.corpus_dates.last})" if event.corpus_dates else ""
    lines = [
        (f"Run {event.run_id}", 0),
        (f"Question: {event.question}", 2),
        (f"As of {event.as_of}; corpus {event.corpus}{reach}", 2),
        (f"Planner {event.planner}, tools {event.tools}, search {event.strategy}", 2),
    ]
    if event.scopes:
        lines.append((f"Restricted collections allowed: {', '.join(event.scopes)}", 2))
    lines.append(("Limits: " + ", ".join(f"{k} {v}" for k, v in sorted(event.limits.items())), 2))
    return lines


def _parts(event: Decomposed) -> list[tuple[str, int]]:
    lines = [("Parts of the question:", 2)]
    for sub in event.sub_questions:
        lines.append((f"{sub.get('id')} {sub.get('text')} [{sub.get('origin')}]", 4))
        lines += [(f"{r.get('id')} {r.get('label')}", 6) for r in _objects(sub.get("requirements"))]
    return lines


def _sources(event: ToolReturned) -> list[tuple[str, int]]:
    sources = event.envelope.get("sources")
    if not isinstance(sources, Mapping):
        return []
    lines = []
    for code, source in sources.items():
        if isinstance(source, Mapping):
            issuer, title = (one_line(str(source.get(key) or "-"), 100) for key in ("issuer", "title"))
            lines.append((f"{code} {source.get('date')} {issuer}: {title}", 6))
    more = len(lines) - SHOWN_SOURCES
    return lines[:SHOWN_SOURCES] + ([(f"and {more} more", 6)] if more > 0 else [])


def _coverage(event: CoverageChanged) -> list[tuple[str, int]]:
    lines = [(f"coverage {event.supported}/{event.total}", 4)]
    for change in event.changes:
        by = f" (chunk {change.chunk_id})" if change.chunk_id is not None else ""
        lines.append((f"{change.id}: {change.before} -> {change.after}{by}", 6))
    return lines


def _limit(event: LimitReached) -> str:
    before = f" before {event.tool}" if event.tool else ""
    return (
        f"limit reached{before}: {event.limit} {event.maximum:g}, spent {event.spent:g}, wanted {event.wanted:g} more"
    )


def _claim(claim: Mapping[str, Any]) -> str:
    ids = dict.fromkeys(str(c.get("chunk_id")) for c in _objects(claim.get("citations")))
    return f"{claim.get('text')} [chunk {', '.join(ids)}]"


def _fault(fault: Mapping[str, Any]) -> str:
    where = f" at {fault['where']}" if fault.get("where") else ""
    return f"{fault.get('code')}{where}: {fault.get('message')}"


def _finished(event: RunFinished) -> list[tuple[str, int]]:
    spend = ", ".join(f"{k} {v}" for k, v in sorted(event.spend.items()) if v is not None)
    lines = [("", 0), (f"Finished: {event.terminal_state} ({event.closure}), {event.reason}", 0)]
    if event.message:
        told = OUTCOMES["en"].get(event.message)
        lines.append((f"the model's last reply: {told} ({event.message})" if told else event.message, 2))
    lines.append((f"Spent: {spend}", 2))
    for sub in event.coverage:
        lines += [
            (f"{r.get('id')} {r.get('label')}: {r.get('status')}", 2) for r in _objects(sub.get("requirements"))
        ]
    if event.rejected_citations:
        lines.append((f"Citations dropped: {', '.join(map(str, event.rejected_citations))}", 2))
    return lines + [(f"Limitation: {text}", 2) for text in event.limitations]


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
