"""Writing and reading trace files, whole and broken."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import finished, limit_run, sound_events, started, ticking, write_trace

from dofrag.domain.run import Reason, TerminalState
from dofrag.errors import TraceError, UsageError
from dofrag.trace.codec import GENESIS
from dofrag.trace.events import Event
from dofrag.trace.reader import find, read_lines, records, summarize, trace_files
from dofrag.trace.writer import MemoryTrace, TraceSink, TraceWriter


def test_each_line_carries_the_hash_of_the_one_before(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    values = [json.loads(line) for line in lines]
    assert values[0]["prev"] == GENESIS
    assert [v["seq"] for v in values] == list(range(1, len(lines) + 1))
    for before, after in pairwise(zip(lines, values, strict=True)):
        assert after[1]["prev"] == sha256(before[0]).hexdigest()
    assert all({"v", "seq", "at", "event", "prev"} <= v.keys() for v in values)


def test_same_events_and_clock_give_the_same_bytes(tmp_path: Path) -> None:
    a, b = write_trace(tmp_path / "a"), write_trace(tmp_path / "b")
    assert a.read_bytes() == b.read_bytes()


def test_memory_and_file_write_the_same_lines(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    memory = MemoryTrace(ticking())
    sink: TraceSink = memory
    for event in sound_events("run-1"):
        sink.emit(event)
    sink.close()
    assert b"".join(line + b"\n" for line in memory.lines) == path.read_bytes()
    assert memory.last_hash == sha256(memory.lines[-1]).hexdigest()
    assert memory.events == sound_events("run-1")


def test_lines_are_on_disk_as_they_happen(tmp_path: Path) -> None:
    path = tmp_path / "run-1.jsonl"
    with TraceWriter(path, ticking()) as trace:
        for n, event in enumerate(sound_events("run-1"), 1):
            trace.emit(event)
            assert path.read_bytes().count(b"\n") == n
            assert trace.last_hash == sha256(path.read_bytes().split(b"\n")[-2]).hexdigest()


def test_order_of_events_is_kept(tmp_path: Path) -> None:
    trace = MemoryTrace(ticking())
    with pytest.raises(ValueError, match="comes first"):
        trace.emit(finished())
    trace.emit(started("r"))
    with pytest.raises(ValueError, match="once"):
        trace.emit(started("r"))
    trace.emit(finished())
    with pytest.raises(ValueError, match="after run_finished"):
        trace.emit(finished())


def test_a_trace_is_never_overwritten(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    before = path.read_bytes()
    with pytest.raises(TraceError, match="exists already"):
        TraceWriter(path, ticking())
    assert path.read_bytes() == before


def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(TraceError, match="cannot be written") as caught:
        TraceWriter(tmp_path / "file" / "run.jsonl", ticking())
    assert "--trace-dir" in (caught.value.hint or "")


def test_nothing_is_written_after_close(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "r.jsonl", ticking())
    trace.close()
    trace.close()
    with pytest.raises(TraceError, match="closed"):
        trace.emit(started("r"))


class _Interrupting:
    """A clock that is interrupted on its n-th call."""

    def __init__(self, at: int) -> None:
        self.calls, self.at = 0, at
        self.clock = ticking()

    def __call__(self) -> datetime:
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return self.clock()


@pytest.mark.parametrize("at", [2, 5])
def test_an_interrupt_while_a_line_is_made_leaves_a_sound_chain(tmp_path: Path, at: int) -> None:
    path = tmp_path / "run-1.jsonl"
    with TraceWriter(path, _Interrupting(at)) as trace:
        for event in sound_events("run-1"):
            try:
                trace.emit(event)
            except KeyboardInterrupt:
                continue
    got = list(read_lines(path))
    assert [line.record.seq for line in got if line.record] == list(range(1, len(sound_events("run-1"))))
    for before, after in pairwise(got):
        assert after.record is not None
        assert after.record.prev == sha256(before.raw).hexdigest()


@pytest.mark.parametrize("kept", [0, 1, 50, None])
def test_an_interrupt_in_the_middle_of_a_write_is_made_good(tmp_path: Path, kept: int | None) -> None:
    """As if a signal had come after `kept` bytes of the second line (None: after all of them) had been written."""
    path = tmp_path / "run-1.jsonl"
    events = sound_events("run-1")
    trace = TraceWriter(path, ticking())
    trace.emit(events[0])
    real = trace._file

    class Cut:
        closed = False

        def fileno(self) -> int:
            return real.fileno()

        def write(self, data: bytes) -> int:
            os.write(real.fileno(), data[:kept])
            raise KeyboardInterrupt

    trace._file = Cut()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        trace.emit(events[1])
    trace._file = real
    for event in events[2:]:
        trace.emit(event)
    trace.close()
    assert path.read_bytes() == write_trace(tmp_path / "whole").read_bytes()


# --- reading -----------------------------------------------------------------------------------------------------


def test_reading_gives_back_what_was_written(tmp_path: Path) -> None:
    assert [r.event for r in records(write_trace(tmp_path))] == sound_events("run-1")


@settings(deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_reads_as_interrupted_with_all_it_holds(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = write_trace(tmp_path_factory.mktemp("t"))
    raw = whole.read_bytes()
    first = raw.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(raw) - 1))
    path = whole.with_name("cut.jsonl")
    path.write_bytes(raw[:cut])
    lines = list(read_lines(path))
    assert sum(line.record is not None and not line.half for line in lines) == raw[:cut].count(b"\n")
    assert any(line.half for line in lines) is not raw[:cut].endswith(b"\n")
    summary = summarize(path)
    # Cut just before the last line end, the last event is whole.
    assert (summary.reason is Reason.INTERRUPTED) is (cut < len(raw) - 1)


def test_a_summary_comes_from_both_ends(tmp_path: Path) -> None:
    summary = summarize(write_trace(tmp_path, "run-2", limit_run("run-2")))
    assert (summary.run_id, summary.reason, summary.tool_calls) == ("run-2", Reason.TOOL_CALL_LIMIT, 1)
    assert summary.started_at == datetime(2026, 4, 24, 12, 0, tzinfo=UTC)


def test_a_last_line_longer_than_the_tail_is_found(tmp_path: Path) -> None:
    many = tuple(f"limitation {n} " + "x" * 40_000 for n in range(12))
    events: list[Event] = [*sound_events("run-3")[:-1], finished(limitations=many)]
    assert summarize(write_trace(tmp_path, "run-3", events)).terminal_state is TerminalState.ANSWERED


def test_summary_of_something_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(TraceError, match="does not begin with run_started"):
        summarize(path)


def test_list_leaves_other_files_out(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "run-1.review.jsonl").write_text("{}")
    (tmp_path / "dir.jsonl").mkdir()
    assert trace_files(tmp_path) == [path]


@pytest.mark.parametrize(
    "run",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "..\\x",
        "a\0b",
        "run-1.review.jsonl",
        "%2e%2e",
        "a b",
        "x" * 200,
        "-x",
    ],
)
def test_a_run_id_never_leaves_its_folder(tmp_path: Path, run: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "x").write_text("secret")
    (tmp_path / "run-1.review.jsonl").write_text("{}")
    with pytest.raises(UsageError):
        find(tmp_path / "in", run)


def test_find_by_id_and_by_path(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    assert find(tmp_path, "run-1") == path
    assert find(Path("elsewhere"), str(path)) == path
    with pytest.raises(UsageError, match="there is no trace"):
        find(tmp_path, "run-9")
