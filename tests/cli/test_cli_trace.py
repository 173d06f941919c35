"""`dof trace list`, `show` and `verify`, through the front door."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from cli_front import dof
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_samples import EVENT, START, finished, limit_run, sound_events, started, write_trace

from dofrag.cli.output import clean
from dofrag.cli.progress import Progress
from dofrag.cli.trace_text import render_trace
from dofrag.trace.codec import Record, digest
from dofrag.trace.events import Event


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three traces: answered, stopped by a limit, killed in the middle of a line."""
    write_trace(tmp_path, "run-1")
    write_trace(tmp_path, "run-2", limit_run("run-2"))
    killed = write_trace(tmp_path, "run-3", sound_events("run-3")[:8])
    with killed.open("ab") as file:
        file.write(b'{"at":"2026-04-24T12:0')
    return tmp_path


def runs(*args: str, folder: Path) -> list[str]:
    done = dof("trace", "list", "--trace-dir", str(folder), "--json", *args)
    assert done.code == 0
    return sorted(t["run_id"] for t in done.document["traces"])


def test_list_and_its_filters(folder: Path) -> None:
    assert runs(folder=folder) == ["run-1", "run-2", "run-3"]
    assert runs("--state", "answered", folder=folder) == ["run-1"]
    assert runs("--state", "abstained", folder=folder) == ["run-2", "run-3"]
    assert runs("--reason", "interrupted", folder=folder) == ["run-3"]
    assert runs("--from", "2026-04-24", "--to", "2026-04-24", folder=folder) == ["run-1", "run-2", "run-3"]
    assert runs("--from", "2026-04-25", folder=folder) == []
    assert runs("--to", "2026-04-23", folder=folder) == []


def test_list_for_people(folder: Path) -> None:
    done = dof("trace", "list", "--trace-dir", str(folder))
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) == 3
    assert any("run-2" in line and "abstained/tool_call_limit" in line and "2 turns" in line for line in lines)


def test_list_names_what_it_cannot_read(folder: Path) -> None:
    (folder / "bad.jsonl").write_text("not a trace\n")
    done = dof("trace", "list", "--trace-dir", str(folder), "--json")
    assert len(done.document["traces"]) == 3
    assert [u["path"] for u in done.document["unreadable"]] == [str(folder / "bad.jsonl")]
    assert "does not begin with run_started" in dof("trace", "list", "--trace-dir", str(folder)).err


def test_list_of_a_missing_folder_or_a_reversed_window(tmp_path: Path) -> None:
    assert dof("trace", "list", "--trace-dir", str(tmp_path / "no")).code == 2
    assert dof("trace", "list", "--from", "2026-02-01", "--to", "2026-01-01").code == 2
    done = dof("trace", "list", "--trace-dir", str(tmp_path))
    assert (done.code, done.out) == (0, "")


def test_show_tells_the_run_turn_by_turn(folder: Path) -> None:
    done = dof("trace", "show", "run-1", "--trace-dir", str(folder))
    assert done.code == 0
    wanted = (
        "Question: ¿Cuál es el valor diario",
        "q1.r1 valor diario",
        "Turn 1",
        'c1 search_documents "valor"',
        "why: find the notice",
        "-> 14 found",
        "5778070 2026-01-09 INSTITUTO DE PRUEBA: VALOR de la Unidad",
        "Turn 2",
        "read chunk 12 of 5778070",
        "coverage 1/1",
        "q1.r1: open -> supported (chunk 12)",
        "Turn 3",
        "draft rejected:",
        "number_not_quoted at claims[0]: not there",
        "Turn 4",
        "accepted:",
        "Finished: answered (complete), closed",
    )
    places = [done.out.index(text) for text in wanted]
    assert places == sorted(places)


def test_show_a_limit_and_an_interrupted_run(folder: Path) -> None:
    stopped = dof("trace", "show", "run-2", "--trace-dir", str(folder)).out
    assert "limit reached before read_chunks: max_tool_calls 1, spent 1, wanted 1 more" in stopped
    killed = dof("trace", "show", "run-3", "--trace-dir", str(folder))
    assert killed.code == 0
    assert "coverage 1/1" in killed.out
    assert "Interrupted" in killed.out
    assert "line 9 cannot be read: was cut while it was written" in killed.err


def test_show_as_json_gives_every_event_as_it_stands(folder: Path) -> None:
    document = dof("trace", "show", "run-1", "--trace-dir", str(folder), "--json").document
    raw = (folder / "run-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert document["events"] == [json.loads(line) for line in raw]
    assert document["interrupted"] is False
    killed = dof("trace", "show", "run-3", "--trace-dir", str(folder), "--json").document
    assert killed["interrupted"] is True
    assert [fault["line"] for fault in killed["unreadable_lines"]] == [9]


def test_verify(folder: Path) -> None:
    sound = dof("trace", "verify", "run-1", "run-2", "--trace-dir", str(folder), "--json")
    assert (sound.code, sound.document) == (0, {"ok": True, "checked": 2, "compared": 0, "problems": []})
    everything = dof("trace", "verify", "--all", "--trace-dir", str(folder), "--json")
    assert everything.code == 1
    assert {p["code"] for p in everything.document["problems"]} == {"half_line", "not_finished"}
    text = dof("trace", "verify", "--all", "--trace-dir", str(folder))
    assert text.code == 1
    assert text.out.endswith("3 checked, 2 sound, 1 with problems\n")


def test_verify_takes_a_path_and_the_results_hash(folder: Path) -> None:
    path = folder / "run-1.jsonl"
    last = digest(path.read_bytes().split(b"\n")[-2])
    assert dof("trace", "verify", str(path), "--sha256", last).code == 0
    wrong = dof("trace", "verify", str(path), "--sha256", "0" * 64)
    assert wrong.code == 1
    assert "last_hash" in wrong.out


def test_a_changed_digit_makes_verify_fail(folder: Path) -> None:
    path = folder / "run-1.jsonl"
    path.write_bytes(path.read_bytes().replace(b"113.14", b"113.15", 1))
    done = dof("trace", "verify", "run-1", "--trace-dir", str(folder))
    assert done.code == 1
    assert "altered" in done.out


@pytest.mark.parametrize(
    "args", [["verify"], ["verify", "--all", "run-1"], ["verify", "run-1", "--sha256", "xyz"], ["show", "run-9"]]
)
def test_wrong_use_is_exit_2(folder: Path, args: list[str]) -> None:
    done = dof("trace", *args, "--trace-dir", str(folder), "--json")
    assert done.code == 2
    assert done.document["error"]["hint"]


@pytest.mark.parametrize("run", ["../run-1", "/etc/passwd", "..", "a\\b", "run-1.review.jsonl", "x\x00y"])
@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_run_never_names_another_file(folder: Path, command: str, run: str) -> None:
    (folder / "deep").mkdir()
    done = dof("trace", command, run, "--trace-dir", str(folder / "deep"))
    assert done.code == 2
    assert done.out == ""


def test_a_trace_cannot_drive_the_terminal(tmp_path: Path) -> None:
    bad = "\x1b[2J\x9b31m\u202e"
    events = [started("run-1", question=bad, planner=bad), finished(message=bad, limitations=(bad,))]
    write_trace(tmp_path, "run-1", events)
    for command in (
        ["list"],
        ["show", "run-1"],
        ["list", "--json"],
        ["show", "run-1", "--json"],
        ["export", "run-1"],
    ):
        out = dof("trace", *command, "--trace-dir", str(tmp_path)).out
        assert not any(sign in out for sign in bad if not sign.isalnum() and sign != "[")


def test_the_folder_comes_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOF_TRACE_DIR", str(folder))
    assert dof("trace", "show", "run-1").code == 0


@settings(deadline=None)
@given(st.lists(EVENT, max_size=4), st.integers(40, 120))
def test_any_event_can_be_shown(events: list[Event], width: int) -> None:
    """A trace that decodes may still hold objects of any shape."""
    lines = list(render_trace([Record(1, n, START, "", e, "") for n, e in enumerate(events)], width))
    assert all(clean(line) == line and "\n" not in line for line in lines)
    progress = Progress()
    with contextlib.redirect_stderr(io.StringIO()):
        for event in events:
            progress(event)
