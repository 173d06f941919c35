"""`verify` names every kind of tampering, and finds nothing wrong with a sound trace."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import (
    CLAIM,
    DRAFT,
    LIMITS,
    TEXT,
    covered,
    finished,
    limit_run,
    refused,
    sound_events,
    spent,
    started,
    stored,
    write_trace,
)

from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.trace.codec import digest
from dofrag.trace.events import (
    Answered,
    Event,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.verify import ProblemCode, verify


def codes(path: Path, **options: Any) -> list[str]:
    return [str(p.code) for p in verify(path, **options)]


def tamper(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    path.write_bytes(b"".join(line + b"\n" for line in change(lines)))
    return path


def test_sound_traces_have_no_problems(tmp_path: Path) -> None:
    assert verify(write_trace(tmp_path), passage_of=stored(TEXT)) == []
    assert verify(write_trace(tmp_path, "run-2", limit_run("run-2"))) == []


LINES = len(sound_events("x"))


@pytest.mark.parametrize("at", range(LINES))
def test_a_changed_digit_is_found_in_every_line_even_the_last(tmp_path: Path, at: int) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        last_digit = max(m.start() for m in re.finditer(rb"\d", lines[at]))
        digit = b"7" if lines[at][last_digit : last_digit + 1] != b"7" else b"3"
        return [*lines[:at], lines[at][:last_digit] + digit + lines[at][last_digit + 1 :], *lines[at + 1 :]]

    found = verify(tamper(write_trace(tmp_path), change))
    assert any(p.line == at + 1 for p in found)
    assert at == LINES - 1 or "hash_chain" in {p.code for p in found}


@settings(deadline=None)
@given(st.data())
def test_any_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = write_trace(tmp_path_factory.mktemp("t"))
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    assert verify(path)


@pytest.mark.parametrize("at", range(LINES))
def test_a_removed_event_is_found(tmp_path: Path, at: int) -> None:
    assert verify(tamper(write_trace(tmp_path), lambda lines: lines[:at] + lines[at + 1 :]))


@pytest.mark.parametrize("at", range(LINES - 1))
def test_two_swapped_events_are_found(tmp_path: Path, at: int) -> None:
    path = tamper(write_trace(tmp_path), lambda ls: [*ls[:at], ls[at + 1], ls[at], *ls[at + 2 :]])
    assert {"hash_chain", "sequence"} <= set(codes(path))


@pytest.mark.parametrize("at", range(LINES - 2))
def test_recomputing_one_hash_does_not_hide_a_change(tmp_path: Path, at: int) -> None:
    def change(lines: list[bytes]) -> list[bytes]:
        lines[at] = lines[at].replace(b'"event":', b'"event": ')
        after = json.loads(lines[at + 1])
        lines[at + 1] = lines[at + 1].replace(after["prev"].encode(), sha256(lines[at]).hexdigest().encode())
        return lines

    found = verify(tamper(write_trace(tmp_path), change))
    assert {(p.code, p.line) for p in found} >= {
        (ProblemCode.ALTERED, at + 1),
        (ProblemCode.ALTERED, at + 2),
        (ProblemCode.HASH_CHAIN, at + 3),
    }


def test_a_chain_rewritten_to_its_end_is_found_by_the_results_hash(tmp_path: Path) -> None:
    kept = digest(write_trace(tmp_path / "a").read_bytes().split(b"\n")[-2])
    other = [started("run-1", corpus="another"), *sound_events("run-1")[1:]]
    forged = write_trace(tmp_path / "b", events=other)
    assert verify(forged) == []
    assert codes(forged, expected_last=kept) == ["last_hash"]


def test_a_truncated_trace_is_reported_and_nothing_else_is(tmp_path: Path) -> None:
    path = tamper(write_trace(tmp_path), lambda lines: lines[:7])
    assert codes(path) == ["not_finished"]
    path.write_bytes(path.read_bytes() + b'{"at":"2026')
    assert codes(path) == ["half_line", "not_finished"]
    path.write_bytes(b"")
    assert codes(path) == ["empty"]


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    path = tamper(write_trace(tmp_path), lambda lines: [*lines[:3], b"oops", *lines[3:]])
    assert ("malformed", 4) in {(str(p.code), p.line) for p in verify(path)}


def replaced(at: int, **changes: Any) -> list[Event]:
    events = sound_events("run-1")
    events[at] = dataclasses.replace(events[at], **changes)
    return events


CITATION = CLAIM["citations"][0]  # type: ignore[index]


def citing(**changes: Any) -> list[Event]:
    claim = {**CLAIM, "citations": [{**CITATION, **changes}]}  # type: ignore[dict-item]
    return replaced(11, claims=(claim,), citations=(changes.get("chunk_id", 12),))


CONSISTENCY: dict[str, tuple[list[Event], str]] = {
    "another run's file": (replaced(0, run_id="other"), "run_id"),
    "a call without a return": ([*sound_events("run-1")[:5], *sound_events("run-1")[6:]], "call_pairs"),
    "a return without a call": ([*sound_events("run-1")[:4], *sound_events("run-1")[5:]], "call_pairs"),
    "one id for two calls": (replaced(4, call_id="c1"), "call_pairs"),
    "turns that go back": (replaced(8, turn=1), "turn_order"),
    "more calls than were made": (replaced(12, spend=spent(tool_calls=3)), "counts"),
    "fewer tokens than were read": (replaced(12, spend=spent(read_tokens=21)), "counts"),
    "fewer turns than were taken": (replaced(12, spend=spent(turns=3)), "counts"),
    "no spend": (replaced(12, spend={}), "counts"),
    "more coverage than there is": (replaced(7, supported=2), "counts"),
    "over a limit": (replaced(0, limits=LIMITS | {"max_tool_calls": 1}), "over_limit"),
    "the passage was not read": (citing(chunk_id=13), "cited_not_read"),
    "a claim without citation": (replaced(11, claims=({**CLAIM, "citations": []},), citations=()), "cited_not_read"),
    "citations that no claim has": (replaced(11, citations=(12, 13)), "counts"),
    "a digit changed in a quote": (citing(quote="113.15 pesos"), "quote"),
    "a quote beyond the passage": (citing(end=5000), "quote"),
    "a quote without span": (citing(start=None), "quote"),
    "a passage read twice": ([*sound_events("run-1")[:7], *sound_events("run-1")[6:]], "passage"),
    "a passage of no call": (replaced(6, call_id="c9"), "passage"),
    "a whole text as excerpt": (replaced(6, excerpt="x" * 301), "passage"),
    "a state that the reason has not": (replaced(12, closure=Closure.INCOMPLETE), "end_state"),
    "answered without an answer": ([*sound_events("run-1")[:11], finished()], "end_state"),
    "answered, and a part is open": (
        replaced(12, coverage=covered("read", None)),
        "end_state",
    ),
    "answered by a chunk that is not cited": (
        replaced(12, coverage=covered("answered", 13)),
        "coverage",
    ),
    "an answer, and abstained": (
        replaced(
            12,
            terminal_state=TerminalState.ABSTAINED,
            closure=Closure.INCOMPLETE,
            reason=Reason.COVERAGE_MISSING,
        ),
        "end_state",
    ),
}


@pytest.mark.parametrize("name", CONSISTENCY)
def test_well_chained_traces_that_contradict_themselves(tmp_path: Path, name: str) -> None:
    events, code = CONSISTENCY[name]
    assert code in codes(write_trace(tmp_path, events=events))


def test_an_interrupt_may_leave_a_call_open(tmp_path: Path) -> None:
    end = finished(
        terminal_state=TerminalState.ABSTAINED,
        closure=Closure.INCOMPLETE,
        reason=Reason.INTERRUPTED,
        spend=spent(turns=2, read_tokens=0),
        coverage=covered("not_found", None),
    )
    assert codes(write_trace(tmp_path, events=[*sound_events("run-1")[:5], end])) == []


def test_a_provider_may_count_more_than_was_reserved(tmp_path: Path) -> None:
    called = ModelCalled(
        turn=1, model="m", attempt=1, mode="tools", prompt_tokens=10, max_output_tokens=10, input_tokens=70,
        output_tokens=60, output_estimate=5, cost=0.5, outcome="ok", reply={"kind": "call"},
    )  # fmt: skip
    trip = LimitReached(turn=2, limit="max_tokens", maximum=100, spent=130, wanted=20, tool=None)
    start, parts, *rest = limit_run("run-2")
    assert isinstance(start, RunStarted)
    assert isinstance(rest[-1], RunFinished)
    spend = spent(turns=2, tool_calls=1, read_tokens=0, cost_units=3, latency_ms=400)
    spend |= {"input_tokens": 70, "output_tokens": 60, "cost": 0.5}
    end = dataclasses.replace(rest[-1], reason=Reason.TOKEN_LIMIT, message="max_tokens", spend=spend)
    start = dataclasses.replace(start, limits=LIMITS | {"max_tokens": 100})
    events: list[Event] = [start, parts, called, *rest[:2], trip, end]
    assert codes(write_trace(tmp_path, "run-2", events)) == []
    for wrong in ({"input_tokens": 69}, {"cost": 0.4}):
        told = [*events[:-1], dataclasses.replace(end, spend=spend | wrong)]
        assert codes(write_trace(tmp_path / str(wrong), "run-2", told)) == ["counts"]


def test_a_refused_call_costs_nothing(tmp_path: Path) -> None:
    events = sound_events("run-1")
    more: list[Event] = [
        ToolCalled(turn=2, call_id="c3", tool="shell", arguments="not json", why=""),
        ToolReturned(turn=2, call_id="c3", tool="shell", ok=False, envelope=refused("c3", "shell", "unknown_tool")),
    ]
    assert codes(write_trace(tmp_path, events=[*events[:8], *more, *events[8:]])) == []


def test_the_store_is_asked_when_there_is_one(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    assert codes(path, passage_of=lambda _: None) == ["passage"]
    assert codes(path, passage_of=stored(TEXT.replace("113.14", "113.15"))) == ["passage", "quote"]


def test_a_quote_beyond_the_excerpt_is_checked_against_the_store(tmp_path: Path) -> None:
    text = "x" * 400 + "113.14 pesos"
    events = citing(start=400, end=412)
    events[6] = PassageRead(
        turn=2, call_id="c2", chunk_id=12, publication="5778070", sha256=sha256(text.encode()).hexdigest(),
        chars=412, tokens=103, excerpt=text[:300],
    )  # fmt: skip
    quote = {**CITATION, "start": 400, "end": 412}
    events[10] = dataclasses.replace(events[10], draft={**DRAFT, "claims": [{**CLAIM, "citations": [quote]}]})
    events[12] = finished(spend=spent(read_tokens=103))
    path = write_trace(tmp_path, events=events)
    assert codes(path, passage_of=stored(text)) == []
    assert codes(path, passage_of=stored(text.replace("14 pesos", "41 pesos"))) == ["passage", "quote"]


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["chunk_id", "quote", "start", "end"]),
        st.none() | st.lists(st.integers()) | st.text(max_size=3),
    )
)
def test_claims_of_any_shape_are_judged_not_choked_on(
    tmp_path_factory: pytest.TempPathFactory, odd: dict[str, Any]
) -> None:
    answered = Answered(
        turn=4, claims=({"citations": [odd]}, {"citations": 5}), citations=(), premise={}, answer=None
    )
    events = [*sound_events("run-1")[:11], answered, finished()]
    assert verify(write_trace(tmp_path_factory.mktemp("t"), events=events))


def test_every_problem_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "trace-format.md").read_text(encoding="utf-8")
    assert [code for code in ProblemCode if f"| `{code}` |" not in text] == []
