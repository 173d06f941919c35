"""Bytes of any kind in the place of a trace: read, checked, shown, compared and exported, never a traceback."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_samples import EVENT, sound_events, started, stored, write_trace

from dofrag.cli.trace_text import render_trace, standing
from dofrag.errors import DofError, TraceError
from dofrag.trace.codec import GENESIS, decode, digest, encode, intact
from dofrag.trace.compare import compare
from dofrag.trace.events import Decomposed, Event
from dofrag.trace.export.otel import to_otel
from dofrag.trace.export.report import make_report
from dofrag.trace.export.text import TABLES, to_csv, to_json, to_markdown
from dofrag.trace.reader import LINE_MAX, read_lines, summarize
from dofrag.trace.trajectory import read_trajectory
from dofrag.trace.verify import verify

WHERE = Path(__file__).parent
UNHURRIED = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def everything(path: Path) -> None:
    """All that is done with a trace; DofError is how a file is refused."""
    verify(path)
    verify(path, passage_of=stored("x"), expected_last="0" * 64)
    records = [line.record for line in read_lines(path) if line.record is not None]
    assert all(isinstance(text, str) for text in render_trace(records, 80, full=True))
    list(standing(path, records, 80))
    try:
        summarize(path)
        run = read_trajectory(path)
    except DofError:
        return
    report = make_report(run)
    for text in (to_markdown(report), to_json([report]), to_otel([run]), *(to_csv([report], t) for t in TABLES)):
        text.encode("utf-8")
    json.loads(to_json([report]))
    json.loads(to_otel([run]))
    assert compare(run, run)["same"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_trace(tmp_path_factory.mktemp("sound")).read_bytes()


@UNHURRIED
@given(st.data())
def test_mutilated_bytes(tmp_path: Path, sound: bytes, data: st.DataObject) -> None:
    raw = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(at, min(len(raw), at + 200)))
        raw[at:end] = data.draw(st.binary(max_size=20))
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(bytes(raw))
    everything(path)


@UNHURRIED
@given(st.integers(0, 20_000))
def test_a_file_cut_anywhere(tmp_path: Path, sound: bytes, cut: int) -> None:
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(sound[: cut % len(sound)])
    everything(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@UNHURRIED
@given(st.data())
def test_any_value_in_any_field_at_any_depth(tmp_path: Path, sound: bytes, data: st.DataObject) -> None:
    lines = sound.removesuffix(b"\n").split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    document: Any = json.loads(lines[at])
    target: Any = document
    while True:
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        key = data.draw(st.sampled_from(keys))
        inner = target[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        target = inner
    target[key] = data.draw(VALUES)
    lines[at] = json.dumps(document).encode("utf-8")
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    everything(path)
    assert verify(path) or target[key] == json.loads(sound.split(b"\n")[at])


@UNHURRIED
@given(st.lists(EVENT, max_size=5))
def test_events_of_any_shape_in_any_order(tmp_path: Path, events: list[Event]) -> None:
    """Well chained, each as its class allows, and nonsense together."""
    prev, lines = GENESIS, []
    for seq, event in enumerate([started("run-1"), *events, *sound_events("run-1")[3:]], 1):
        line = encode(event, seq=seq, at=datetime(2026, 4, 24, tzinfo=UTC), prev=prev)
        prev = digest(line)
        lines.append(line + b"\n")
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(b"".join(lines))
    everything(path)


NEVER_WRITTEN = {
    "a number beyond all": b"1e400",
    "an integer beyond 64 bits": b"9" * 30,
    "an integer of a million digits": b"9" * 1_000_000,
    "not a number": b"NaN",
    "half a surrogate pair": b'"\\ud83d"',
    "the other half": b'"\\uDE00"',
    "a well": b"[" * 60 + b"]" * 60,
    "a deep well": b"[" * 100_000 + b"]" * 100_000,
    "a deep well of objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "not UTF-8": b'"\xff"',
}


@pytest.mark.parametrize("name", NEVER_WRITTEN)
def test_what_no_writer_writes_is_no_event(tmp_path: Path, sound: bytes, name: str) -> None:
    lines = sound.removesuffix(b"\n").split(b"\n")
    lines[2] = lines[2].replace(b'"query":"valor"', b'"query":' + NEVER_WRITTEN[name])
    with pytest.raises(TraceError):
        decode(lines[2])
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert ("malformed", 3) in {(str(p.code), p.line) for p in verify(path)}
    everything(path)


def test_a_whole_pair_is_text() -> None:
    line = encode(started("r", question="a 😀 b"), seq=1, at=datetime(2026, 4, 24, tzinfo=UTC), prev=GENESIS)
    escaped = line.replace("😀".encode(), b"\\ud83d\\ude00")
    assert decode(escaped).event == decode(line).event
    assert intact(line)
    assert not intact(escaped)


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-04-24T12:00:00", "x"]
)
def test_a_moment_that_there_is_not(moment: str) -> None:
    line = encode(started("r"), seq=1, at=datetime(2026, 4, 24, tzinfo=UTC), prev=GENESIS)
    with pytest.raises(TraceError, match="at:"):
        decode(line.replace(b"2026-04-24T00:00:00.000Z", moment.encode()))


@pytest.mark.parametrize("day", ["2026-W17-5", "20260424", "2026-4-24", "2026-02-30"])
def test_a_day_is_written_in_one_way(day: str) -> None:
    line = encode(started("r"), seq=1, at=datetime(2026, 4, 24, tzinfo=UTC), prev=GENESIS)
    with pytest.raises(TraceError):
        decode(line.replace(b'"as_of":"2026-04-24"', f'"as_of":"{day}"'.encode()))


def test_a_line_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "run-1.jsonl"
    with path.open("wb") as file:
        file.write(write_trace(tmp_path / "a").read_bytes())
        file.truncate(file.tell() + 3 * LINE_MAX)
    *_, last = read_lines(path)
    assert last.record is None
    assert last.raw == b""
    everything(path)


def test_a_file_of_too_many_lines_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_trace(tmp_path)
    monkeypatch.setattr("dofrag.trace.verify.EVENTS_MAX", 5)
    monkeypatch.setattr("dofrag.trace.trajectory.EVENTS_MAX", 5)
    assert {str(p.code) for p in verify(path)} == {"malformed", "not_finished"}
    with pytest.raises(TraceError, match="no run writes as many"):
        read_trajectory(path)


def test_a_question_of_too_many_parts_is_not_followed(tmp_path: Path) -> None:
    start, parts, *rest = sound_events("run-1")
    assert isinstance(parts, Decomposed)
    many = Decomposed(sub_questions=tuple({**parts.sub_questions[0], "id": f"q{n}"} for n in range(2_500)))
    path = write_trace(tmp_path, "run-1", [start, many, *rest])
    assert "parts" in {str(p.code) for p in verify(path)}
