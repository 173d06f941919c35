"""`dof run` on the sample gazette, whole: output, exit codes, traces that verify, interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_front import Done, dof, dof_process

from dofrag.domain.run import ENDS, EXIT_CODES, Reason
from dofrag.planner.scripted import ADVERSARIES
from dofrag.trace.codec import digest
from dofrag.trace.events import CLOCK_FIELDS
from dofrag.trace.verify import verify

QUESTION = (
    "¿Cuáles son los valores diario, mensual y anual de la Unidad de Cuenta Social en la Zona Serrana para 2025?"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty working folder with a cache of its own, where the sample index is built once."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.delenv("DOF_TRACE_DIR", raising=False)
        patch.chdir(folder)
        yield folder


def ask(*args: str, question: str = QUESTION) -> Done:
    return dof("run", "--question", question, "--quiet", *args)


@pytest.fixture(scope="module")
def answered(home: Path) -> dict[str, Any]:
    done = ask("--json")
    document: dict[str, Any] = done.document
    assert (done.code, document["reason"]) == (0, "closed")
    return document


def trace_of(result: dict[str, Any], home: Path) -> Path:
    return home / result["trace"]


def test_an_answered_run(answered: dict[str, Any], home: Path) -> None:
    assert (answered["terminal_state"], answered["closure"]) == ("answered", "complete")
    text = " ".join(c["quote"] for claim in answered["claims"] for c in claim["citations"])
    assert all(value in text for value in ("93.50", "2,842.40", "34,108.80"))
    assert answered["corpus"] == "sample"
    assert answered["limitations"][0] == "Gaceta inventada: ejemplo, no derecho vigente"
    assert {s["chunk_id"] for s in answered["sources"]} == set(answered["citations"])
    for source in answered["sources"]:
        assert source["url"] is None
        assert source["cite_as"].startswith("EJEMPLO")


def test_its_trace_verifies_and_the_result_names_its_end(answered: dict[str, Any], home: Path) -> None:
    path = trace_of(answered, home)
    assert verify(path, expected_last=answered["trace_sha256"]) == []
    assert digest(path.read_bytes().split(b"\n")[-2]) == answered["trace_sha256"]
    assert dof("trace", "verify", "--all").code == 0
    index = next((home / "cache").rglob("store*")).parent
    checked = dof("trace", "verify", answered["run_id"], "--index", str(index), "--json")
    assert (checked.code, checked.document["problems"]) == (0, [])
    shown = dof("trace", "show", answered["run_id"])
    assert "Finished: answered (complete), closed" in shown.out


def test_people_read_the_answer_first(answered: dict[str, Any]) -> None:
    done = ask()
    assert done.code == 0
    assert done.out.startswith(answered["answer"].split()[0])
    assert "EJEMPLO" in done.out
    assert done.out.count("Gaceta inventada") == 1
    assert "answered/closed" in done.out
    assert max(map(len, done.out.splitlines())) <= 120


def test_quiet_is_quiet_and_progress_is_told() -> None:
    assert ask().err == ""
    told = dof("run", "--question", QUESTION)
    assert "turno 1: " in told.err
    assert "cubierto 3/3" in told.err
    assert told.out.startswith("E") or "turno" not in told.out.splitlines()[0]


def test_a_question_on_standard_input(answered: dict[str, Any]) -> None:
    done = dof("run", "--question", "-", "--quiet", "--json", stdin=f"\ufeff{QUESTION}\r\n".encode())
    assert done.code == 0
    assert done.document["answer"] == answered["answer"]


LIMITS = {
    "max_tool_calls=1": ("never_stops", "tool_call_limit"),
    "max_turns=1": ("never_stops", "turn_limit"),
    "max_cost_units=3": ("never_stops", "cost_limit"),
    "max_latency_ms=400": ("never_stops", "latency_limit"),
    "max_read_tokens=1": ("closes_early", "read_limit"),
    "wall_clock_s=0.0000001": ("never_stops", "wall_clock"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_ends_in_a_partial_report(limit: str, home: Path) -> None:
    planner, reason = LIMITS[limit]
    done = ask("--limit", limit, "--planner", f"scripted:{planner}", "--json")
    result = done.document
    assert (done.code, result["terminal_state"], result["reason"]) == (3, "abstained", reason)
    assert result["answer"] is None
    assert verify(trace_of(result, home)) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_the_rules_under_a_limit_never_look_answered(limit: str, home: Path) -> None:
    done = ask("--limit", limit)
    assert done.code == 3
    assert done.out.startswith("NO RESPONDIDA")
    assert "Falta:" in done.out
    assert dof("trace", "verify", "--all").code == 0


@pytest.mark.parametrize("name", sorted(ADVERSARIES))
def test_whatever_a_planner_does_the_trace_verifies(name: str, home: Path) -> None:
    done = ask("--planner", f"scripted:{name}", "--json")
    result = done.document
    state, closure = ENDS[Reason(result["reason"])]
    assert (result["terminal_state"], result["closure"], done.code) == (state, closure, EXIT_CODES[state])
    assert verify(trace_of(result, home), expected_last=result["trace_sha256"]) == []
    assert done.err == ""
    shown = ask("--planner", f"scripted:{name}")
    assert shown.code == done.code


def _without_clock(value: Any, run_id: str) -> Any:
    if isinstance(value, dict):
        hashes = ("prev", "sum", "trace_sha256", *CLOCK_FIELDS)
        return {k: _without_clock(v, run_id) for k, v in value.items() if k not in hashes}
    if isinstance(value, list):
        return [_without_clock(v, run_id) for v in value]
    return value.replace(run_id, "RUN") if isinstance(value, str) else value


def test_two_runs_differ_in_clock_and_id_only(answered: dict[str, Any], home: Path) -> None:
    again = ask("--json").document
    assert _without_clock(again, again["run_id"]) == _without_clock(answered, answered["run_id"])
    traces = [
        [_without_clock(json.loads(line), r["run_id"]) for line in trace_of(r, home).read_text("utf-8").splitlines()]
        for r in (again, answered)
    ]
    assert traces[0] == traces[1]


def test_as_of_before_the_corpus_names_the_range() -> None:
    done = ask("--as-of", "1999-01-01", "--json")
    assert done.code == 2
    assert "1999-01-01" in done.document["error"]["message"]
    assert "reaches from 20" in done.document["error"]["message"]


def test_an_index_without_publications_of_a_kind_is_searched_all_the_same() -> None:
    done = dof("search", "zzqx", "--json")
    assert (done.code, done.document["hits"]) == (0, [])


# --- as a process of its own ---------------------------------------------------------------------------------------


def test_piped_and_under_the_c_locale(answered: dict[str, Any]) -> None:
    args = ("run", "--question", QUESTION, "--quiet")
    done = dof_process(*args, "--json", LC_ALL="C", PYTHONIOENCODING="", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.code == 0
    assert done.document["answer"] == answered["answer"]
    assert done.err == ""
    text = dof_process(*args, LC_ALL="C")
    assert text.code == 0
    assert "Limitaciones" in text.out


def test_json_survives_a_console_that_cannot_show_it(answered: dict[str, Any]) -> None:
    done = dof_process("run", "--question", QUESTION, "--quiet", "--json", PYTHONIOENCODING="cp437", PYTHONUTF8="0")
    assert done.out.isascii()
    assert done.document["answer"] == answered["answer"]


@pytest.mark.skipif(os.name == "nt", reason="closes streams through a POSIX shell")
@pytest.mark.parametrize(("closed", "out"), [("2>&-", "answered"), (">&-", ""), ("2>/dev/full", "answered")])
def test_a_stream_that_is_closed_or_full_does_not_change_the_run(closed: str, out: str, home: Path) -> None:
    if "full" in closed and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    command = f'"{sys.executable}" -m dofrag.cli.main run --question "{QUESTION}" --json {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert (json.loads(done.stdout)["terminal_state"] if done.stdout else "") == out


ENDLESS = ["--planner", "scripted:never_stops", "--json"]
for _name in ("max_turns", "max_tool_calls", "max_cost_units", "max_latency_ms"):
    ENDLESS += ["--limit", f"{_name}=1000000000"]


def _endless(traces: Path) -> subprocess.Popen[bytes]:
    """A run that goes on until it is stopped, once it has made some calls."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "dofrag.cli.main",
            "run",
            "--question",
            QUESTION,
            *ENDLESS,
            "--trace-dir",
            str(traces),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stderr is not None
    for line in process.stderr:
        if b"turno 4" in line:
            return process
    raise AssertionError("the run ended by itself")


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_ctrl_c_ends_in_a_partial_report_and_a_sound_trace(home: Path, tmp_path: Path) -> None:
    process = _endless(tmp_path)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    result = json.loads(out)
    assert (process.returncode, result["terminal_state"], result["reason"]) == (130, "abstained", "interrupted")
    assert verify(tmp_path / f"{result['run_id']}.jsonl", expected_last=result["trace_sha256"]) == []


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_a_killed_run_leaves_what_it_did(home: Path, tmp_path: Path) -> None:
    process = _endless(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    listed = dof("trace", "list", "--trace-dir", str(tmp_path), "--json").document["traces"]
    assert [(t["terminal_state"], t["reason"]) for t in listed] == [("abstained", "interrupted")]
    codes = {str(p.code) for p in verify(tmp_path / f"{listed[0]['run_id']}.jsonl")}
    assert codes <= {"not_finished", "half_line", "call_pairs"}
    assert "not_finished" in codes
