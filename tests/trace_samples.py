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
        "limits": {"max_turns": 10, "max_tool_calls": 8, "max_read_tokens": 12_000},
        "versions": {"code": "0"},
    }
    return RunStarted(**(values | changes))


def finished(**changes: Any) -> RunFinished:
    requirement = {"id": "q1.r1", "kind": "value", "label": "valor diario", "status": "answered", "chunk_id": 12}
    values: dict[str, Any] = {
        "terminal_state": TerminalState.ANSWERED,
        "closure": Closure.COMPLETE,
        "reason": Reason.CLOSED,
        "message": None,
        "spend": {"turns": 4, "tool_calls": 2, "read_tokens": 20, "elapsed_ms": 41},
        "coverage": ({"id": "q1", "text": "valor", "status": "answered", "requirements": [requirement]},),
        "limitations": ("Gaceta inventada: ejemplo, no derecho vigente",),
        "rejected_citations": (),
    }
    return RunFinished(**(values | changes))


def sound_events(run_id: str) -> list[Event]:
    """A run of four turns: search, read, a draft that is refused, a draft that is accepted."""
    envelope = {
        "ok": True,
        "total": 14,
        "sources": {
            "5778070": {"title": "VALOR de la Unidad", "issuer": "INSTITUTO DE PRUEBA", "date": "2026-01-09"}
        },
    }
    return [
        started(run_id),
        Decomposed(
            sub_questions=(
                {
                    "id": "q1",
                    "text": "valor diario",
                    "origin": "question",
                    "requirements": [{"id": "q1.r1", "label": "valor diario"}],
                },
            )
        ),
        ToolCalled(
            turn=1, call_id="c1", tool="search_documents", arguments={"query": "valor"}, why="find the notice"
        ),
        ToolReturned(turn=1, call_id="c1", tool="search_documents", ok=True, envelope=envelope),
        ToolCalled(turn=2, call_id="c2", tool="read_chunks", arguments={"chunk_ids": [12]}, why=""),
        ToolReturned(turn=2, call_id="c2", tool="read_chunks", ok=True, envelope={"ok": True, "total": 1}),
        PassageRead(
            turn=2,
            call_id="c2",
            chunk_id=12,
            publication="5778070",
            sha256=sha256(TEXT.encode()).hexdigest(),
            chars=len(TEXT),
            tokens=20,
            excerpt=TEXT,
        ),
        CoverageChanged(
            turn=2,
            changes=(StatusChange(id="q1.r1", before="open", after="supported", chunk_id=12),),
            supported=1,
            total=1,
        ),
        DraftProposed(turn=3, draft={"claims": [CLAIM]}),
        DraftRejected(turn=3, faults=({"code": "quote_not_found", "where": "claims[0]", "message": "not there"},)),
        DraftProposed(turn=4, draft={"claims": [CLAIM]}),
        Answered(turn=4, claims=(CLAIM,), citations=(12,), premise={"status": "not_applicable"}, answer="113.14 [1]"),
        finished(),
    ]


def write_trace(folder: Path, run_id: str = "run-1", events: list[Event] | None = None) -> Path:
    path = folder / f"{run_id}.jsonl"
    with TraceWriter(path, ticking()) as trace:
        for event in sound_events(run_id) if events is None else events:
            trace.emit(event)
    return path


def limit_run(run_id: str) -> list[Event]:
    """A run that a limit stopped after one call."""
    return [
        *sound_events(run_id)[:4],
        LimitReached(turn=2, limit="max_tool_calls", maximum=1, spent=1, wanted=1, tool="read_chunks"),
        finished(
            terminal_state=TerminalState.ABSTAINED,
            closure=Closure.INCOMPLETE,
            reason=Reason.TOOL_CALL_LIMIT,
            spend={"turns": 2, "tool_calls": 1, "read_tokens": 0, "elapsed_ms": 3},
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
