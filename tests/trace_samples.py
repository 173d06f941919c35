"""A sound trace to break, and strategies for events."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from dofrag.domain.corpus import PUBLIC, Chunk, Kind, Passage, Publication, SourceKind
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.trace.events import (
    EVENTS,
    Answered,
    CoverageChanged,
    DateRange,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    PassageRead,
    RunFinished,
    RunStarted,
    StatusChange,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.writer import TraceWriter

START = datetime(2026, 4, 24, 12, 0, tzinfo=UTC)
TEXT = "El valor diario de la Unidad de Prueba es de 113.14 pesos, a partir del 1 de febrero."
QUOTE = "113.14 pesos"
CLAIM = {
    "text": "El valor diario es de 113.14 pesos.",
    "sub_questions": ["q1"],
    "citations": [
        {"chunk_id": 12, "quote": QUOTE, "start": TEXT.index(QUOTE), "end": TEXT.index(QUOTE) + len(QUOTE)}
    ],
    "computed": None,
}


LIMITS = {
    "max_turns": 10,
    "max_tool_calls": 8,
    "max_read_tokens": 12_000,
    "max_tokens": 120_000,
    "max_cost_units": 100,
    "max_latency_ms": 60_000,
    "wall_clock_s": 300.0,
}
VERSIONS = {"code": "0", "index": "sha256:0", "profile": "test/1", "contract": "sha256:1"}
SOURCE = {
    "title": "VALOR de la Unidad",
    "issuer": "INSTITUTO DE PRUEBA",
    "date": "2026-01-09",
    "edition": "MAT",
    "kind": "DOF",
}
NO_PREMISE = {"status": "not_applicable", "correction": None}
DRAFT = {
    "claims": [{**CLAIM, "citations": [{"chunk_id": 12, "quote": QUOTE, "start": None, "end": None}]}],
    "premise": NO_PREMISE,
}


FAULT = {"code": "number_not_quoted", "where": "claims[0]", "message": "not there", "chunk_id": None}


def spent(**changes: Any) -> dict[str, Any]:
    """What the sound run spends."""
    values: dict[str, Any] = {
        "turns": 4,
        "tool_calls": 2,
        "read_tokens": 22,
        "cost_units": 8,
        "latency_ms": 700,
        "input_tokens": None,
        "output_tokens": None,
        "cost": None,
        "elapsed_ms": 41,
    }
    return values | changes


def covered(status: str, chunk_id: int | None) -> tuple[dict[str, Any], ...]:
    """Final coverage of the sample's only requirement."""
    row = {"id": "q1.r1", "kind": "value", "label": "valor diario", "status": status, "chunk_id": chunk_id}
    part = {"id": "q1", "text": "valor diario", "origin": "question", "status": status, "requirements": [row]}
    return (part,)


def brought(call_id: str, tool: str, results: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """The envelope of a call that ran."""
    charged = {"cost_units": 5, "latency_ms": 300} if tool == "read_chunks" else {"cost_units": 3, "latency_ms": 400}
    values: dict[str, Any] = {
        "tool": tool,
        "call_id": call_id,
        "ok": True,
        "results": results,
        "sources": {"5778070": SOURCE},
        "total": len(results),
        "returned": len(results),
        "truncated": False,
        "insufficient": not results,
        "insufficient_reason": None if results else "no_match",
        "as_of": "2026-04-24",
        "validity": None,
        "versions": VERSIONS,
        "charged": charged,
    }
    return values | changes


def refused(call_id: str, tool: str, code: str) -> dict[str, Any]:
    """The envelope of a call that was refused."""
    error = {"code": code, "message": f"{tool} is refused", "path": "", "allowed": [], "hint": ""}
    return {"tool": tool, "call_id": call_id, "ok": False, "error": error}


def ticking() -> Callable[[], datetime]:
    """A clock that moves one second a call."""
    moments = iter(START + timedelta(seconds=n) for n in range(10_000))
    return lambda: next(moments)


def started(run_id: str, **changes: Any) -> RunStarted:
    values: dict[str, Any] = {
        "run_id": run_id,
        "question": "¿Cuál es el valor diario de la Unidad de Prueba?",
        "as_of": date(2026, 4, 24),
        "scopes": (),
        "corpus": "sample",
        "corpus_dates": DateRange(first=date(2024, 1, 2), last=date(2026, 4, 24)),
        "planner": "rules",
        "strategy": "lexical",
        "tools": "core",
        "limits": LIMITS,
        "versions": VERSIONS,
    }
    return RunStarted(**(values | changes))


def finished(**changes: Any) -> RunFinished:
    values: dict[str, Any] = {
        "terminal_state": TerminalState.ANSWERED,
        "closure": Closure.COMPLETE,
        "reason": Reason.CLOSED,
        "message": None,
        "spend": spent(),
        "coverage": covered("answered", 12),
        "limitations": ("Gaceta inventada: ejemplo, no derecho vigente",),
        "rejected_citations": (),
    }
    return RunFinished(**(values | changes))


def sound_events(run_id: str) -> list[Event]:
    """A run of four turns: search, read, a draft that is refused, a draft that is accepted."""
    pointer = {"chunk_id": 12, "heading": "", "snippet": "es de 113.14 pesos"}
    found = brought("c1", "search_documents", [{"publication": "5778070", "passages": [pointer]}], total=14)
    text = brought("c2", "read_chunks", [{"chunk_id": 12, "publication": "5778070", "heading": ""}])
    return [
        started(run_id),
        Decomposed(
            sub_questions=(
                {
                    "id": "q1",
                    "text": "valor diario",
                    "question": "¿Cuál es el valor diario de la Unidad de Prueba?",
                    "origin": "question",
                    "requirements": [{"id": "q1.r1", "label": "valor diario"}],
                },
            )
        ),
        ToolCalled(
            turn=1, call_id="c1", tool="search_documents", arguments={"query": "valor"}, why="find the notice"
        ),
        ToolReturned(turn=1, call_id="c1", tool="search_documents", ok=True, envelope=found),
        ToolCalled(
            turn=2, call_id="c2", tool="read_chunks", arguments={"chunk_ids": [12], "neighbor_window": 0}, why=""
        ),
        ToolReturned(turn=2, call_id="c2", tool="read_chunks", ok=True, envelope=text),
        PassageRead(
            turn=2,
            call_id="c2",
            chunk_id=12,
            publication="5778070",
            sha256=sha256(TEXT.encode()).hexdigest(),
            chars=len(TEXT),
            tokens=22,
            excerpt=TEXT,
        ),
        CoverageChanged(
            turn=2,
            changes=(
                StatusChange(id="q1.r1", before="open", after="supported", chunk_id=12),
                StatusChange(id="q1", before="open", after="supported", chunk_id=None),
            ),
            supported=1,
            total=1,
        ),
        DraftProposed(turn=3, draft=DRAFT),
        DraftRejected(turn=3, faults=(FAULT,)),
        DraftProposed(turn=4, draft=DRAFT),
        Answered(turn=4, claims=(CLAIM,), citations=(12,), premise=NO_PREMISE, answer=f"{CLAIM['text']} [1]"),
        finished(),
    ]


def stored(text: str, code: str = "5778070") -> Callable[[int], Passage | None]:
    """A store that holds this text as chunk 12, and nothing else."""
    chunk = Chunk(
        id=12, code=code, ordinal=0, start=0, end=len(text), heading_path=(), provision=None, kind="text", text=text
    )
    publication = Publication(
        code=code, published_on=date(2026, 1, 9), edition="MAT", kind=Kind.DOF, source_kind=SourceKind.PUBLICATION,
        position=None, section=None, branch=None, issuer="INSTITUTO DE PRUEBA", title="VALOR de la Unidad",
        instrument=None, identifiers=(), url=None, scope=PUBLIC, source="a.md", span=(0, len(text)), chars=len(text),
        sha256="",
    )  # fmt: skip
    return {12: Passage(chunk, publication)}.get


def write_trace(folder: Path, run_id: str = "run-1", events: list[Event] | None = None) -> Path:
    path = folder / f"{run_id}.jsonl"
    with TraceWriter(path, ticking()) as trace:
        for event in sound_events(run_id) if events is None else events:
            trace.emit(event)
    return path


def limit_run(run_id: str) -> list[Event]:
    """A run that a limit stopped after one call."""
    return [
        started(run_id, limits=LIMITS | {"max_tool_calls": 1}),
        *sound_events(run_id)[1:4],
        LimitReached(turn=2, limit="max_tool_calls", maximum=1, spent=1, wanted=1, tool="read_chunks"),
        finished(
            terminal_state=TerminalState.ABSTAINED,
            closure=Closure.INCOMPLETE,
            reason=Reason.TOOL_CALL_LIMIT,
            message="max_tool_calls",
            spend=spent(turns=2, tool_calls=1, read_tokens=0, cost_units=3, latency_ms=400),
            coverage=covered("not_found", None),
        ),
    ]


# Letters only: what looks like a key is redacted, which a round trip must not depend on.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40).filter(
    lambda s: not any(word in s.lower() for word in ("sk-", "key", "bearer", "authorization"))
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS
SCALARS |= st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.text("abcxyz_ñ", min_size=1, max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def strategy_of(to: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    if to is Any:
        return VALUES
    origin = get_origin(to)
    if origin in (Union, types.UnionType):
        return st.one_of(*(strategy_of(option) for option in get_args(to)))
    if origin is tuple:
        return st.lists(strategy_of(get_args(to)[0]), max_size=3).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        return OBJECTS
    if dataclasses.is_dataclass(to):
        hints = get_type_hints(to)
        return st.builds(to, **{f.name: strategy_of(hints[f.name]) for f in dataclasses.fields(to)})
    if issubclass(to, Enum):
        return st.sampled_from(list(to))
    simple = {str: TEXTS, int: st.integers(-(2**63), 2**63 - 1), bool: st.booleans(), date: st.dates()}
    return {**simple, float: st.floats(allow_nan=False, allow_infinity=False), type(None): st.none()}[to]


EVENT = st.one_of(*(strategy_of(cls) for cls in EVENTS))
