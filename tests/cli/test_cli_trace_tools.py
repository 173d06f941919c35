"""`dof trace replay`, `diff`, `export`, lists and checks of campaigns: on runs over a copy of the sample gazette."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_front import Done, dof
from trace_samples import limit_run, sound_events, write_trace

from dofrag.sample.index import sample_index
from dofrag.trace.codec import GENESIS, decode, digest, encode
from dofrag.trace.events import Event, RunStarted
from dofrag.wiring import profile, settings

QUESTIONS = {
    "Q1": "¿Cuáles son los valores diario, mensual y anual de la Unidad de Cuenta Social en la Zona Serrana para "
    "2025?",
    "Q2": "¿Qué publicó la Secretaría de Comercio Interior sobre etiquetado de cabos y cuerdas?",
    "Q3": "¿Cuánto cuesta un dirigible de recreo en 2025?",
}


def ask(question: str, index: str, traces: str, *more: str) -> dict[str, Any]:
    done = dof(
        "run", "--question", QUESTIONS[question], "--index", index, "--trace-dir", traces, "--json", "--quiet", *more
    )
    return dict(done.document)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an index `idx`, and a campaign of three runs over it in `campaign`."""
    folder = tmp_path_factory.mktemp("tools")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.delenv("DOF_TRACE_DIR", raising=False)
        patch.chdir(folder)
        shutil.copytree(sample_index(settings().cache, profile(), lambda _: None), folder / "idx")
        rows = []
        for name in QUESTIONS:
            result = ask(name, "idx", "campaign/traces")
            rows.append(
                {"question_id": name, "trace": Path(result["trace"]).name, "trace_sha256": result["trace_sha256"]}
            )
        (folder / "campaign" / "spec.json").write_text(json.dumps({"set_id": "tiny"}))
        (folder / "campaign" / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield folder


def of(document: dict[str, Any], question: str) -> dict[str, Any]:
    [found] = [t for t in document["traces"] if t["question_id"] == question]
    return dict(found)


def trace_of(home: Path, question: str) -> Path:
    rows = [json.loads(line) for line in (home / "campaign" / "episodes.jsonl").read_text().splitlines()]
    return home / "campaign" / "traces" / next(r["trace"] for r in rows if r["question_id"] == question)


def rewritten(path: Path, target: Path, **changes: Any) -> Path:
    """A copy of a trace with another start, its chain computed anew."""
    prev, lines = GENESIS, []
    for raw in path.read_bytes().splitlines():
        record = decode(raw)
        event: Event = record.event
        if isinstance(event, RunStarted):
            from dataclasses import replace

            event = replace(event, run_id=target.stem, **changes)
        line = encode(event, seq=record.seq, at=record.at, prev=prev)
        prev = digest(line)
        lines.append(line + b"\n")
    target.write_bytes(b"".join(lines))
    return target


# --- replay -------------------------------------------------------------------------------------------------------


def test_nothing_differs_on_an_unchanged_index(home: Path) -> None:
    done = dof("trace", "replay", "--campaign", "campaign", "--index", "idx", "--json")
    assert (done.code, done.document["ok"], done.document["replayed"]) == (0, True, 3)
    for trace in done.document["traces"]:
        assert (trace["same"], trace["versions"], trace["error"]) == (True, {}, None)
        assert trace["calls"]
        assert not [c for c in trace["calls"] if c["differences"] or c["skipped"]]
    text = dof("trace", "replay", "--campaign", "campaign", "--index", "idx")
    assert text.out.endswith("3 replayed, 3 without differences, 0 with\n")


@pytest.fixture(scope="module")
def reduced(home: Path) -> tuple[Path, str]:
    """A copy of the index without the publication that answers Q1, and that publication's code."""
    shutil.copytree(home / "idx", home / "less")
    finish = json.loads(trace_of(home, "Q1").read_bytes().splitlines()[-2])
    chunk_id = finish["citations"][0]
    read = [json.loads(line) for line in trace_of(home, "Q1").read_bytes().splitlines()]
    code = next(r["publication"] for r in read if r["event"] == "passage_read" and r["chunk_id"] == chunk_id)
    assert dof("index", "remove", code, "--index", str(home / "less")).code == 0
    return home / "less", code


def test_a_removed_publication_names_exactly_the_calls_it_touches(home: Path, reduced: tuple[Path, str]) -> None:
    index, code = reduced
    done = dof("trace", "replay", "--campaign", "campaign", "--index", str(index), "--json")
    assert done.code == 1
    first = of(done.document, "Q1")
    assert "index" in first["versions"]
    events = [json.loads(line) for line in trace_of(home, "Q1").read_bytes().splitlines()]
    showed = {e["call_id"] for e in events if e["event"] == "tool_returned" and code in e["envelope"]["sources"]}
    gone = {c["call_id"] for c in first["calls"] if any(d["kind"] == "gone" for d in c["differences"])}
    assert showed
    assert gone == showed
    for trace in done.document["traces"]:
        for call in trace["calls"]:
            # A call that did not show it differs at most in how many matched.
            told = {d["what"] for d in call["differences"] if d["kind"] != "gone"}
            assert call["call_id"] in showed or told <= {"total", "truncated"} or trace is not first
    text = dof("trace", "replay", str(trace_of(home, "Q1")), "--index", str(index))
    assert text.code == 1
    assert f"publication {code} is no longer found" in text.out


def test_a_changed_text_is_named_and_nothing_else(home: Path) -> None:
    """The trace is made to have read another text than the index holds."""
    path = trace_of(home, "Q1")
    lines = path.read_bytes().splitlines()
    at = next(n for n, raw in enumerate(lines) if json.loads(raw)["event"] == "passage_read")
    read = json.loads(lines[at])
    target = home / "other-text.jsonl"
    target.write_bytes(path.read_bytes().replace(read["sha256"].encode(), b"0" * 64))
    [trace] = dof("trace", "replay", str(target), "--index", "idx", "--json").document["traces"]
    found = [(c["call_id"], d["kind"], d["what"]) for c in trace["calls"] for d in c["differences"]]
    assert found == [(read["call_id"], "text", f"chunk {read['chunk_id']}")]


def test_a_run_that_was_broken_off_is_replayed_as_far_as_it_goes(home: Path) -> None:
    lines = trace_of(home, "Q1").read_bytes().splitlines(keepends=True)
    at = [n for n, raw in enumerate(lines) if json.loads(raw)["event"] == "tool_called"][1]
    target = home / "cut.jsonl"
    target.write_bytes(b"".join(lines[: at + 1]) + b'{"at":"20')
    done = dof("trace", "replay", str(target), "--index", "idx", "--json")
    assert done.code == 0
    [trace] = done.document["traces"]
    assert [c["skipped"] is None for c in trace["calls"]] == [True, False]
    assert "broken off" in dof("trace", "replay", str(target), "--index", "idx").out


def test_scopes_of_a_trace_have_to_be_granted(home: Path) -> None:
    path = rewritten(trace_of(home, "Q3"), home / "scoped.jsonl", scopes=("reservado",))
    done = dof("trace", "replay", str(path), "--index", "idx", "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "usage")
    assert "--scope reservado" in done.document["error"]["hint"]
    granted = dof("trace", "replay", str(path), "--index", "idx", "--scope", "reservado", "--json")
    assert granted.code == 2  # this index has no such collection


def test_a_cut_off_holds_in_a_replay(home: Path) -> None:
    from datetime import date

    path = rewritten(trace_of(home, "Q1"), home / "earlier.jsonl", as_of=date(2021, 1, 1))
    [trace] = dof("trace", "replay", str(path), "--index", "idx", "--json").document["traces"]
    now = [d for c in trace["calls"] for d in c["differences"] if d["what"] == "as_of"]
    assert now
    assert all(d["now"] == "2021-01-01" for d in now)
    assert all(c["differences"] for c in trace["calls"])


def test_limits_hold_in_a_replay(home: Path) -> None:
    start = decode(trace_of(home, "Q1").read_bytes().splitlines()[0]).event
    assert isinstance(start, RunStarted)
    limits = {**start.limits, "max_tool_calls": 1}
    path = rewritten(trace_of(home, "Q1"), home / "limited.jsonl", limits=limits)
    [trace] = dof("trace", "replay", str(path), "--index", "idx", "--json").document["traces"]
    assert not trace["calls"][0]["differences"]
    assert [(d["kind"], d["now"]) for d in trace["calls"][1]["differences"]] == [("refused", "budget_exhausted")]
    broken = rewritten(trace_of(home, "Q1"), home / "unlimited.jsonl", limits={"max_turns": -1})
    assert dof("trace", "replay", str(broken), "--index", "idx").code == 1


def test_an_index_is_never_opened_because_a_file_names_it(home: Path) -> None:
    done = dof("trace", "replay", str(trace_of(home, "Q1")), "--json")
    assert done.code == 2
    assert "--index" in done.document["error"]["hint"]


def test_of_many_one_that_cannot_be_replayed_is_told_and_the_rest_goes_on(home: Path, tmp_path: Path) -> None:
    shutil.copy(trace_of(home, "Q3"), tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text("no trace\n")
    done = dof("trace", "replay", "--all", "--trace-dir", str(tmp_path), "--index", "idx", "--json")
    assert (done.code, done.document["different"]) == (1, 1)
    assert [bool(t["error"]) for t in done.document["traces"]] == [False, True]


# --- verify of a campaign -----------------------------------------------------------------------------------------


def test_a_campaign_is_verified_against_its_records_and_index(home: Path) -> None:
    done = dof("trace", "verify", "--campaign", "campaign", "--index", "idx", "--json")
    assert (done.code, done.document) == (0, {"ok": True, "checked": 3, "compared": 3, "problems": []})
    alone = dof("trace", "verify", "--campaign", "campaign")
    assert alone.code == 0
    assert "3 were not held against an index" in alone.err


def test_a_trace_written_anew_is_caught_by_the_campaigns_record(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "campaign", tmp_path / "copy")
    path = tmp_path / "copy" / "traces" / trace_of(home, "Q3").name
    rewritten(path, path, corpus="another")
    done = dof("trace", "verify", "--campaign", str(tmp_path / "copy"), "--json")
    assert [p["code"] for p in done.document["problems"]] == ["last_hash"]
    path.unlink()
    assert dof("trace", "verify", "--campaign", str(tmp_path / "copy")).code == 2


def test_the_sample_is_the_index_of_runs_over_the_sample(home: Path) -> None:
    asked = dof("run", "--question", QUESTIONS["Q1"], "--trace-dir", "sampled", "--json", "--quiet")
    assert asked.code == 0
    done = dof("trace", "verify", "--all", "--trace-dir", "sampled", "--json")
    assert (done.code, done.document["compared"]) == (0, 1)
    assert dof("trace", "replay", "--all", "--trace-dir", "sampled", "--json").code == 0


# --- list ---------------------------------------------------------------------------------------------------------


def test_a_campaigns_runs_are_listed_with_their_questions(home: Path) -> None:
    told = dof("trace", "list", "--campaign", "campaign", "--json").document
    assert sorted(t["question_id"] for t in told["traces"]) == ["Q1", "Q2", "Q3"]
    answered = dof("trace", "list", "--campaign", "campaign", "--state", "answered", "--json").document
    assert "Q1" in [t["question_id"] for t in answered["traces"]]
    assert "Q1 ¿Cuáles" in dof("trace", "list", "--campaign", "campaign").out


def test_runs_are_listed_by_set(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "campaign", tmp_path / "eval" / "one")
    (tmp_path / "eval" / "two").mkdir()
    (tmp_path / "eval" / "two" / "spec.json").write_text("[" * 100_000)
    told = dof("trace", "list", "--set", "tiny", "--trace-dir", str(tmp_path), "--json").document
    assert told["total"] == 3
    assert dof("trace", "list", "--set", "other", "--trace-dir", str(tmp_path)).code == 2
    assert dof("trace", "list", "--set", "tiny", "--campaign", "campaign").code == 2
    assert dof("trace", "list", "--campaign", str(tmp_path)).code == 2


def test_a_list_is_paged(tmp_path: Path) -> None:
    for n in range(7):
        write_trace(tmp_path, f"run-{n}", sound_events(f"run-{n}"))
    pages = [
        dof("trace", "list", "--trace-dir", str(tmp_path), "--limit", "3", "--offset", str(n)) for n in (0, 3, 6)
    ]
    assert [page.out.count("\n") for page in pages] == [3, 3, 1]
    assert "1 to 3 of 7; the next: --offset 3" in pages[0].err
    assert "7 to 7 of 7" in pages[2].err
    whole = dof("trace", "list", "--trace-dir", str(tmp_path), "--limit", "0", "--json").document
    assert [t["run_id"] for t in whole["traces"]] == [f"run-{n}" for n in reversed(range(7))]
    beyond = dof("trace", "list", "--trace-dir", str(tmp_path), "--offset", "9", "--json").document
    assert (beyond["total"], beyond["traces"]) == (7, [])


# --- show ---------------------------------------------------------------------------------------------------------


def test_show_in_full_tells_every_result_and_draft(home: Path) -> None:
    brief = dof("trace", "show", str(trace_of(home, "Q1"))).out
    full = dof("trace", "show", str(trace_of(home, "Q1")), "--full").out
    events = [json.loads(line) for line in trace_of(home, "Q1").read_bytes().splitlines()]
    results = [r for e in events if e["event"] == "tool_returned" for r in e["envelope"]["results"]]
    assert full.count("\n      1. ") >= 1
    assert all(f"publication {r['publication']}" in full for r in results if "publication" in r)
    assert len(full) > len(brief)
    assert "93.50" in full


def test_an_interrupted_run_shows_its_coverage_as_it_stood(tmp_path: Path) -> None:
    write_trace(tmp_path, "run-1", sound_events("run-1")[:8])
    out = dof("trace", "show", "run-1", "--trace-dir", str(tmp_path)).out
    assert out.index("Interrupted") < out.index("q1.r1 valor diario: supported")


# --- diff ---------------------------------------------------------------------------------------------------------


def test_two_runs_of_one_thing_do_not_differ(home: Path) -> None:
    again = ask("Q1", "idx", "again")
    done = dof("trace", "diff", str(trace_of(home, "Q1")), again["trace"], "--json")
    assert (done.code, done.document["same"]) == (0, True)
    assert "no differences" in dof("trace", "diff", str(trace_of(home, "Q1")), again["trace"]).out


def test_what_differs_is_told_section_by_section(home: Path, reduced: tuple[Path, str]) -> None:
    other = ask("Q1", str(reduced[0]), "other", "--limit", "max_tool_calls=4")
    done = dof("trace", "diff", str(trace_of(home, "Q1")), other["trace"], "--json")
    assert done.code == 1
    found = done.document
    assert {"corpus", "limit max_tool_calls", "version index"} <= {row["name"] for row in found["settings"]}
    assert {row["name"]: row["a"] for row in found["end"]}["terminal_state"] == "answered"
    assert any(
        reduced[1] in d["what"] for call in found["calls"] if call["side"] == "both" for d in call["differences"]
    )
    assert {row["side"] for row in found["claims"]} == {"a"}
    assert next(row["a"] for row in found["coverage"]) == "answered"
    text = dof("trace", "diff", str(trace_of(home, "Q1")), other["trace"]).out
    assert all(f"\n{section}\n" in text for section in ("settings", "end", "calls", "coverage", "claims", "spend"))


def test_traces_of_two_questions_are_not_compared(home: Path) -> None:
    assert dof("trace", "diff", str(trace_of(home, "Q1")), str(trace_of(home, "Q2"))).code == 2


def test_a_broken_off_run_is_compared_as_far_as_it_goes(tmp_path: Path) -> None:
    write_trace(tmp_path, "run-1", sound_events("run-1"))
    write_trace(tmp_path, "run-2", sound_events("run-2")[:5])
    found = dof("trace", "diff", "run-1", "run-2", "--trace-dir", str(tmp_path), "--json").document
    assert [(c["side"], c.get("broken_off")) for c in found["calls"]] == [("both", "b")]
    assert {row["name"]: row["b"] for row in found["end"]}["reason"] == "interrupted"
    assert dof("trace", "diff", "run-1", "run-2", "--trace-dir", str(tmp_path)).code == 1


# --- export -------------------------------------------------------------------------------------------------------


def export(home: Path, *args: str, question: str = "Q1") -> Done:
    return dof("trace", "export", str(trace_of(home, question)), *args)


def test_an_export_goes_to_stdout_or_to_a_new_file(home: Path, tmp_path: Path) -> None:
    text = export(home, "--index", "idx")
    assert text.code == 0
    assert text.out.startswith("# Informe")
    assert "93.50" in text.out
    target = tmp_path / "informe.md"
    assert export(home, "--index", "idx", "--out", str(target)).code == 0
    assert target.read_text(encoding="utf-8") == text.out
    assert export(home, "--out", str(target)).code == 2
    assert export(home, "--index", "idx", "--out", str(target), "--force").code == 0


def test_numbers_and_ways_to_cite_are_those_of_the_result(home: Path) -> None:
    result = ask("Q1", "idx", "cited")
    document = dof("trace", "export", result["trace"], "--format", "json", "--index", "idx").document
    assert [s["chunk_id"] for s in document["sources"]] == result["citations"]
    assert document["answer"] == result["answer"]
    for mine, theirs in zip(document["sources"], result["sources"], strict=True):
        assert (mine["cite_as"], mine["url"], mine["date"]) == (
            theirs["cite_as"],
            theirs["url"],
            theirs["publication_date"],
        )
    without = dof("trace", "export", result["trace"], "--format", "json").document
    assert [s["cite_as"] for s in without["sources"]] == [s["cite_as"] for s in document["sources"]]


@pytest.mark.parametrize("form", ["csv", "json", "otel"])
def test_many_runs_in_one_file(home: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / "all.out"
    done = dof("trace", "export", "--campaign", "campaign", "--format", form, "--out", str(target))
    assert done.code == 0
    text = target.read_text(encoding="utf-8-sig")
    assert all(trace_of(home, question).stem in text for question in QUESTIONS)


@pytest.mark.parametrize(("form", "ending"), [("markdown", "md"), ("docx", "docx")])
def test_many_runs_in_a_folder(home: Path, tmp_path: Path, form: str, ending: str) -> None:
    done = dof("trace", "export", "--campaign", "campaign", "--format", form, "--out", str(tmp_path))
    assert done.code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        f"{trace_of(home, q).stem}.{ending}" for q in QUESTIONS
    )
    assert dof("trace", "export", "--campaign", "campaign", "--format", form, "--out", str(tmp_path)).code == 2


@pytest.mark.parametrize(
    "args",
    [
        ["--format", "docx"],
        ["--out", "no/such/folder.md"],
        ["--out", "a.jsonl"],
        ["--out", "."],
        ["--format", "pdf"],
        ["--all"],
    ],
)
def test_wrong_use_of_export_is_exit_2(home: Path, args: list[str]) -> None:
    assert export(home, *args).code == 2


def test_a_limit_run_exports_in_every_format(tmp_path: Path) -> None:
    write_trace(tmp_path, "run-2", limit_run("run-2"))
    for form in ("markdown", "csv", "json", "otel"):
        done = dof("trace", "export", "run-2", "--trace-dir", str(tmp_path), "--format", form)
        assert done.code == 0
        assert done.out
