"""A recorded run plays again with no provider, to the byte but for the clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bench
import model_bench as mb
import pytest
from provider import serving, wait_for
from test_provider_behaviours import CASES, HONEST, Case, played

from dofrag.agent.setup import ModelSeat
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.planner.replay import ReplayModel, ReplayPlanner, load_recording
from dofrag.trace.events import CLOCK_FIELDS


def timeless(line: bytes) -> Any:
    """A line without what a clock gives, nor the hashes that follow from it."""
    raw = json.loads(line)

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            gone = {*CLOCK_FIELDS, "prev", "sum"}
            return {k: strip(v) for k, v in value.items() if k not in gone}
        return [strip(v) for v in value] if isinstance(value, list) else value

    return strip(raw)


def replayed(lines: list[bytes], folder: Path, **more: Any) -> tuple[dict[str, Any], list[bytes]]:
    path = folder / "20240701T000000Z-000000.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    recording = load_recording(path)
    seat = ModelSeat(model=ReplayModel(recording), sleep=lambda _: None, jitter=lambda: 0.0)
    limits = Limits(**recording.start.limits)
    planner = ReplayPlanner(recording)
    result, trace, _, _ = bench.run(planner, seat=seat, limits=limits, monotonic=recording.clock, **more)
    return result, trace.lines


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_behaviour_replays(case: Case, tmp_path: Path) -> None:
    first, trace = played(case).result, played(case).trace
    again, lines = replayed(trace.lines, tmp_path)
    assert [timeless(line) for line in lines] == [timeless(line) for line in trace.lines]
    assert again["spend"] | {"elapsed_ms": 0} == first["spend"] | {"elapsed_ms": 0}
    assert again["answer"] == first["answer"]


def test_a_replay_of_the_rule_planner(tmp_path: Path) -> None:
    from dofrag.planner.rules import RulePlanner

    _, trace, _, _ = bench.run(RulePlanner(), monotonic=lambda: 0.0)
    _, lines = replayed(trace.lines, tmp_path)
    assert [timeless(line) for line in lines] == [timeless(line) for line in trace.lines]


def test_a_replay_of_an_interrupted_run(tmp_path: Path) -> None:
    class Interrupts:
        name = "tiny"

        def complete(self, request, timeout_s):
            raise KeyboardInterrupt

        def price(self, usage):
            return None

    from dofrag.llm.interface import Mode
    from dofrag.planner.model import ModelPlanner
    from dofrag.profiles.dof.profile import DofProfile
    from dofrag.tools import CORE

    planner = ModelPlanner(DofProfile().prompts("es"), CORE, Mode.TOOLS, 1_000)
    first, trace, _, _ = bench.run(planner, seat=ModelSeat(model=Interrupts()))
    assert (first["terminal_state"], first["reason"]) == ("abstained", "interrupted")
    assert [e.outcome for e in trace.events if e.event == "model_called"] == ["interrupted"]
    _, lines = replayed(trace.lines, tmp_path)
    assert [timeless(line) for line in lines] == [timeless(line) for line in trace.lines]


def test_what_is_no_whole_trace_is_refused(tmp_path: Path) -> None:
    with serving(*HONEST) as provider:
        lines = mb.run(provider.url)[1].lines
    half = tmp_path / "half.jsonl"
    half.write_bytes(b"".join(line + b"\n" for line in lines[:-1]))
    with pytest.raises(UsageError, match="not the trace of a finished run"):
        load_recording(half)
    text = tmp_path / "text.jsonl"
    text.write_text("no trace\n")
    with pytest.raises(UsageError):
        load_recording(text)
    with pytest.raises(UsageError, match="cannot be read"):
        load_recording(tmp_path / "none.jsonl")
    broken = tmp_path / "broken.jsonl"
    kept = [line for line in lines if b'"event":"tool_returned"' not in line]
    broken.write_bytes(b"".join(line + b"\n" for line in kept))
    with pytest.raises(UsageError, match="broken off"):
        load_recording(broken)


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("draft_proposed", "draft", {"claims": [{"text": 5}]}),
        ("draft_proposed", "draft", {}),
        ("model_called", "mode", "telepathy"),
        ("model_called", "reply", {"kind": "parts", "spans": [[1]]}),
        ("model_called", "reply", {"kind": "clarify"}),
        ("run_started", "limits", {"max_turns": -1}),
        ("run_started", "limits", {"max_hope": 1}),
    ],
)
def test_a_trace_with_steps_that_are_none_is_refused_before_the_run(
    event: str, field: str, value: Any, tmp_path: Path
) -> None:
    with serving(*HONEST) as provider:
        lines = mb.run(provider.url)[1].lines
    rows = [json.loads(line) for line in lines]
    for row in rows:
        if row["event"] == event:
            row[field] = value
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="holds a step that is none"):
        load_recording(path)


def test_ctrl_c_while_a_provider_is_silent() -> None:
    """The wait for a reply can be interrupted at once, whatever the provider does."""
    import signal
    import threading
    import time

    from provider import Answer

    with serving(lambda asked: Answer(body={}, hang=30)) as provider:
        main = threading.main_thread().ident
        assert main is not None

        def press() -> None:
            wait_for(lambda: bool(provider.asked))
            signal.pthread_kill(main, signal.SIGINT)

        threading.Thread(target=press, daemon=True).start()
        start = time.monotonic()
        result, trace, _, _ = mb.run(provider.url)
        assert time.monotonic() - start < 5
    assert (result["terminal_state"], result["reason"]) == ("abstained", "interrupted")
    assert trace.events[-1].event == "run_finished"
