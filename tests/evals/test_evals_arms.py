"""Arms, noise, predictions, verdicts and the tables of experiments, through the command line and on small records."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from eval_front import SMALL, dof
from hypothesis import given
from hypothesis import strategies as st
from provider import say, serving

from dofrag import wiring
from dofrag.errors import EvalError, UsageError
from dofrag.evals import experiments, predictions, verdicts
from dofrag.evals.conduct import letters, matches_trajectory
from dofrag.evals.metrics import Rate, figures, of_variant
from dofrag.evals.patterns import is_trajectory, trajectory_fault
from dofrag.evals.records import read_records, read_spec
from dofrag.evals.report import check_report, write_report
from dofrag.evals.table import answers_pair, refusal_pair
from dofrag.settings import ModelChoice

ARMS = ("--arm", "fixed", "--arm", "searchbox", "--arm", "core")


@pytest.fixture(scope="module")
def campaign(home: Path) -> Path:
    """The small set in all arms, three passes with slips."""
    done = dof("eval", "--set", some(home, "E1", "E3", "E6"), *ARMS, "--passes", "3", "--epsilon", "0.4",
               "--workers", "2", "--out", "arms", "--quiet", cwd=home)  # fmt: skip
    assert done.code == 0, done.err
    assert "fixed → core: correct" in done.out
    return home / "arms"


def some(home: Path, *ids: str) -> str:
    """A file with these items of the small set."""
    path = home / f"some-{'-'.join(ids)}.jsonl"
    lines = [line for line in SMALL.read_text(encoding="utf-8").splitlines() if json.loads(line)["id"] in ids]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def of_arm(folder: Path, arm: str) -> list[dict[str, Any]]:
    return [r for r in read_records(folder) if r["arm"] == arm]


def test_only_what_may_be_called_differs(campaign: Path) -> None:
    calls = {arm: {tool for r in of_arm(campaign, arm) for tool in r["sequence"]} for arm in
             ("fixed", "searchbox", "core")}  # fmt: skip
    assert calls["fixed"] == calls["searchbox"] == {"search_evidence"}
    assert {"search_documents", "read_chunks"} <= calls["core"]
    assert all(len(r["sequence"]) <= 1 for r in of_arm(campaign, "fixed"))
    assert any(len(r["sequence"]) > 1 for r in of_arm(campaign, "searchbox"))
    limits = {json.dumps(v["limits"], sort_keys=True) for v in read_spec(campaign)["variants"]}
    assert len(limits) == 1
    assert not any(r["calls_rejected"] for r in of_arm(campaign, "fixed"))


def test_what_a_search_box_shows_was_read(campaign: Path) -> None:
    for record in of_arm(campaign, "searchbox"):
        cited = {str(s["chunk_id"]) for s in record["result"]["sources"]}
        assert cited <= set(record["read"])
    assert any(r["result"]["sources"] for r in of_arm(campaign, "fixed"))


def test_a_trace_says_its_arm_and_plays_again_in_it(campaign: Path, home: Path) -> None:
    record = next(r for r in of_arm(campaign, "searchbox") if r["terminal_state"] == "answered")
    trace = campaign / "traces" / record["trace"]
    start = json.loads(trace.read_text(encoding="utf-8").splitlines()[0])
    assert (start["tools"], start["planner"]) == ("searchbox", "rules:eps0.4")
    assert start["versions"]["contract"] != wiring.contract_hash()
    done = dof("run", "--planner", f"replay:{trace}", "--json", "--quiet", "--trace-dir", "again", cwd=home)
    assert (done.code, done.document["answer"]) == (0, record["result"]["answer"])


def test_slips_are_seeded(campaign: Path, home: Path) -> None:
    by_pass: dict[int, list[Any]] = {}
    for r in read_records(campaign):
        by_pass.setdefault(r["pass"], []).append((r["variant"], r["index"], r["sequence"], sorted(r["read"])))
    assert len({json.dumps(v) for v in by_pass.values()}) > 1
    question = "¿Cuál fue el valor diario de la Unidad de Cuenta Social en la Zona Serrana en 2023, 2024 y 2025?"

    def reads(seed: int) -> list[Any]:
        play = wiring.Play(epsilon=0.9, seed=seed)
        done = wiring.run_question(question, index=wiring.SAMPLE, trace_dir=home / "seeds", play=play)
        return [done.result["searched"], done.result["citations"]]

    assert reads(1) == reads(1)
    assert len({json.dumps(reads(seed)) for seed in range(1, 5)}) > 1


def test_the_report_of_arms_is_made_again(campaign: Path, tmp_path: Path) -> None:
    assert check_report(campaign) == []
    text = (campaign / "report.md").read_text(encoding="utf-8")
    for title in ("Side by side", "Paired differences", "Correct, by category", "core: By category"):
        assert f"\n## {title}\n" in text
    page = (campaign / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 6 + 1 + 3 * 6
    copy = shutil.copytree(campaign, tmp_path / "copy", ignore=shutil.ignore_patterns("traces"))
    assert check_report(copy) == []
    raw = (copy / "episodes.jsonl").read_text(encoding="utf-8")
    (copy / "episodes.jsonl").write_text(raw.replace('"variant":"fixed"', '"variant":"nobody"'), encoding="utf-8")
    with pytest.raises(EvalError, match="no variant 'nobody'"):
        check_report(copy)


def test_two_arms_of_one_campaign_are_compared(campaign: Path, home: Path) -> None:
    done = dof("eval", "compare", "arms", "arms", "--variant", "fixed", "--variant", "core", "--json", cwd=home)
    assert done.document["variants"] == ["fixed", "core"]
    assert (done.document["common"], done.document["differs"]) == (9, [])
    assert dof("eval", "compare", "arms", "arms", "--variant", "nobody", cwd=home).code == 2


@pytest.mark.parametrize("name", ["refusal", "noise", "agency", "traces"])
def test_tables_of_a_campaign(name: str, campaign: Path, home: Path) -> None:
    document = getattr(experiments, name)(read_spec(campaign), read_records(campaign))
    assert document["experiment"]
    assert all(len(row) == len(document["head"]) for row in document["rows"])
    if name == "refusal":
        done = dof("eval", name, "arms", cwd=home)
        assert done.code == 0
        assert done.out.startswith("some-E1-E3-E6 (sample gazette): refusal with its twin\n")
        assert re.search(r"^core +3 +\d/3 \(.*\) ‖ \d+/6", done.out, re.MULTILINE)
    if name == "noise":
        assert {f["variant"]: f["deterministic"] for f in document["figures"]} == dict.fromkeys(
            ("fixed", "searchbox", "core"), False
        )
        assert len(document["notes"]) == 3


def test_refusal_is_never_told_alone(campaign: Path) -> None:
    spec, rows = read_spec(campaign), read_records(campaign)
    for kept in (lambda r: r["question_id"] == "E6", lambda r: r["question_id"] != "E6"):
        with pytest.raises(UsageError, match="refusal is never told without false refusal"):
            experiments.refusal(spec, [r for r in rows if kept(r)])
    one = Rate(hits=1, n=1, low=None, high=None)
    for pair in ((one, None), (None, one), (None, None)):
        with pytest.raises(ValueError, match="never told without"):
            refusal_pair(*pair)
        with pytest.raises(ValueError, match="never told without"):
            answers_pair(*pair)


def test_twins_are_told_apart(campaign: Path, home: Path) -> None:
    path = home / "twins.json"
    path.write_text('[{"answerable": "E1", "unanswerable": "E6"}]', encoding="utf-8")
    rows = read_records(campaign)
    document = experiments.refusal(read_spec(campaign), rows, experiments.read_twins(path))
    core = next(f for f in document["figures"] if f["variant"] == "core")
    both = {q: all(r["grade"]["correct"] for r in of_variant(rows, "core") if r["question_id"] == q)
            for q in ("E1", "E6")}  # fmt: skip
    assert (core["n_answerable"], core["n_unanswerable"]) == (3, 3)
    assert core["pairs"] == [int(both["E1"] and both["E6"]), 1]
    for wrong in ("[]", "{", '[{"answerable": "E1"}]', "7"):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(UsageError):
            experiments.read_twins(path)


def test_noise_and_agency_say_what_they_need(campaign: Path) -> None:
    spec, rows = read_spec(campaign), read_records(campaign)
    with pytest.raises(UsageError, match="noise needs 3"):
        experiments.noise(spec | {"passes": 2}, rows)
    with pytest.raises(UsageError, match="no variant 'none'"):
        experiments.agency(spec, rows, "none")


def test_noise_of_what_has_no_chance_is_said_to_be_none(campaign: Path) -> None:
    spec, rows = read_spec(campaign), read_records(campaign)
    first = [r for r in rows if r["pass"] == 1 and r["variant"] == "core"]
    same = [r | {"pass": n} for n in (1, 2, 3) for r in first]
    calm = spec | {"variants": [v | {"epsilon": 0.0} for v in spec["variants"] if v["name"] == "core"]}
    (row,) = experiments.noise(calm, same)["figures"]
    assert (row["spread"], row["flips"], row["deterministic"]) == (0.0, 0, True)


def test_a_budget_sweep_never_goes_over(home: Path) -> None:
    done = dof("eval", "budget", "--set", some(home, "E1", "E4"), "--dim", "tool_calls=2..3",
              "--dim", "cost=40", "--workers", "2",
               "--out", "sweep", "--json", "--quiet", cwd=home)  # fmt: skip
    assert done.code == 0, done.err
    rows = {f["variant"]: f for f in done.document["figures"]}
    assert list(rows) == ["generous", "max_tool_calls=1", "max_cost_units=5", "max_turns=2", "max_tool_calls=2",
                          "max_tool_calls=3", "max_cost_units=40"]  # fmt: skip
    assert not any(f["over_limit"] for f in rows.values())
    assert rows["max_tool_calls=1"]["calls"] <= 2 < rows["max_tool_calls=3"]["calls"]
    assert "max_tool_calls" in rows["max_tool_calls=1"]["tripped"]
    assert rows["max_tool_calls=3"]["marginal_correct_per_extra_call"] is not None
    assert rows["generous"]["correct"] >= rows["max_turns=2"]["correct"]
    assert check_report(home / "sweep") == []


def test_a_dial_of_planners(home: Path) -> None:
    done = dof("eval", "dial", "--set", some(home, "E1"), "--planners",
              "rules,rules:eps1,scripted:never_stops", "--out",
               "dial", "--quiet", cwd=home)  # fmt: skip
    assert done.code == 0, done.err
    assert re.search(r"^rules +1/1", done.out, re.MULTILINE)
    assert re.search(r"^scripted:never_stops +0/1", done.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("eval", "--set", "v4", "--arm", "graph"), "there is no arm 'graph'"),
        (("eval", "budget"), "no question set is named"),
        (("eval", "budget", "--set", "v4", "--dim", "hope=1..2"), "names no limit"),
        (("eval", "budget", "--set", "v4", "--dim", "turns=0..900"), "no range"),
        (("eval", "dial", "--set", "v4"), "nothing to compare"),
        (("eval", "dial", "--set", "v4", "--planners", "rules:eps9"), "rate of slips"),
        (("eval", "--set", "v4", "--frozen-commit"), "the set v4 is not sealed"),
        (("eval", "--set", "v4", "--predictions", "nowhere"), "cannot be read"),
        (("eval", "refusal", "nowhere"), "holds no campaign"),
    ],
)
def test_wrong_words_of_experiments(words: tuple[str, ...], text: str, home: Path) -> None:
    done = dof(*words, cwd=home)
    assert done.code == 2
    assert text in done.err
    assert "Traceback" not in done.err


def told(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "told.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


GOOD: dict[str, Any] = {
    "id": "P",
    "text": "t",
    "left": {"figure": "correct", "variant": "core"},
    "is": ">=",
    "right": 0,
}


@pytest.mark.parametrize(
    "change",
    [
        {"is": "=="}, {"id": ""}, {"right": "much"}, {"right": True}, {"by": -1}, {"extra": 1}, {"left": 3},
        {"left": {"figure": "charm"}}, {"left": {"figure": "correct", "category": "a", "subset": "b"}},
        {"left": {"figure": "n"}}, {"right": {"figure": "correct", "arm": "core"}}, {"text": None},
    ],
)  # fmt: skip
def test_a_prediction_that_is_none_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        predictions.read(told(tmp_path, GOOD | change))
    with pytest.raises(UsageError):
        predictions.read(told(tmp_path, GOOD, GOOD))


def test_predictions_are_scored_and_losses_told(campaign: Path, tmp_path: Path) -> None:
    rows = read_records(campaign)
    core, fixed = (figures("", of_variant(rows, name)).answered.value for name in ("core", "fixed"))
    assert core is not None
    assert fixed is not None
    a, b = ({"figure": "answered", "variant": name} for name in ("core", "fixed"))
    path = told(
        tmp_path,
        GOOD | {"id": "1", "left": a, "is": ">", "right": b},
        GOOD | {"id": "2", "left": a, "is": "<=", "right": b},
        GOOD | {"id": "3", "left": a, "is": "~", "right": a},
        GOOD | {"id": "4", "left": a, "is": ">=", "right": a, "by": 0.01},
        GOOD | {"id": "5", "left": a | {"category": "nowhere"}},
        GOOD
        | {"id": "6", "left": {"figure": "refusal", "variant": "core", "category": "absent"}, "is": ">=", "right": 0},
    )
    held = {p.id: p.held for p in predictions.score(predictions.read(path), rows)}
    assert held == {"1": core > fixed, "2": core <= fixed, "3": True, "4": False, "5": None, "6": True}


def test_verdicts_join_the_report(campaign: Path, home: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, home / "judged")
    rows = [r for r in read_records(folder) if r["result"]["claims"] and r["variant"] == "core"]
    first, second = rows[0]["run_id"], rows[1]["run_id"]
    said = [
        {"run": first, "claim": 0, "verdict": "correct", "reason": "as printed", "author": "A"},
        {"run": first, "claim": None, "verdict": "correct", "reason": "", "author": "A"},
        {"run": second, "claim": 0, "verdict": "incorrect", "reason": "another year", "author": "A"},
        {"schema": "dofrag.verdict/1", "run_id": second, "claim": None, "verdict": "correct", "reasons": [],
         "note": "", "author": "B", "at": "2026-01-01T00:00:00+00:00", "blind": True, "trace_sha256": "0"},
    ]  # fmt: skip
    path = told(tmp_path, *said)
    assert dof("eval", "report", "judged", "--verdicts", str(path), "--quiet", cwd=home).code == 2
    done = dof("eval", "report", "judged", "--verdicts", str(path), cwd=home)
    assert (done.code, done.err) == (0, "4 verdicts added\n")
    assert verdicts.take_in(path, folder, read_records(folder)) == 0  # the same again adds nothing
    kept = verdicts.read_verdicts(folder / "verdicts.jsonl", read_records(folder))
    assert verdicts.run_verdicts(kept) == {first: "correct", second: "unresolved"}
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "\n## Human verdicts\n" in text
    assert "| core | 2 | 1 | 0 | 0 | 1 |" in text
    assert check_report(folder) == []
    (folder / "verdicts.jsonl").write_bytes(b"")
    assert check_report(folder)
    write_report(folder)
    for wrong in ({"run": "nobody"}, {"claim": 99}, {"claim": True}, {"verdict": "good"}, {"author": " "},
                  {"verdict": "partial", "reason": ""}):  # fmt: skip
        with pytest.raises(UsageError):
            verdicts.take_in(told(tmp_path, said[1] | wrong), folder, read_records(folder))
    assert (folder / "verdicts.jsonl").read_bytes() == b""


def test_trajectories() -> None:
    run = ["search_documents", "search_evidence", "read_chunks"]
    assert letters(run) == "DER"
    assert matches_trajectory("d+e?r+", run)
    assert not matches_trajectory("DR", run)
    assert is_trajectory("D+(E|B)?R{1,3}")
    assert not is_trajectory("buscar y leer")
    assert trajectory_fault("buscar y (leer") is None  # a remark, for people
    for bad in ("(D", "(D+)+R", "(D*)*(E*)*", "D+" * 120, "[[D]"):
        assert trajectory_fault(bad) is not None


@given(st.text(alphabet="LDEBR()|+*?{}0123,.[]", max_size=40))
def test_any_trajectory_that_is_taken_can_be_tried(pattern: str) -> None:
    if trajectory_fault(pattern) is None:
        matches_trajectory(pattern, ["search_documents", "read_chunks"] * 20)


@pytest.mark.parametrize("arm", ["fixed", "searchbox"])
def test_a_model_plays_in_an_arm(arm: str, home: Path, tmp_path: Path) -> None:
    """In `fixed` it is shown what the pipeline read and has nothing to call; in `searchbox` one tool."""
    question = "¿En qué horario atiende la Oficialía de Partes del Archivo de Cuencas?"
    look = ("search_evidence", {"query": "Archivo de Cuencas", "publications": None, "date_from": None,
                                "date_to": None, "prefer_recent": False})  # fmt: skip
    script = [say(("abstain", {"why": "no lo dice"}))]
    with serving(*([say(look)] if arm == "searchbox" else []), *script) as provider:
        done = wiring.run_question(
            question, index=wiring.SAMPLE, trace_dir=tmp_path, planner="model", play=wiring.Play(arm=arm),
            model=ModelChoice(name="tiny", base_url=provider.url),
        )  # fmt: skip
    assert done.error is None
    assert done.result["terminal_state"] == "abstained"
    last = provider.asked[-1]
    offered = {f["function"]["name"] for f in last.body["tools"]}
    assert {"submit_answer", "abstain"} <= offered
    assert ("search_evidence" in offered) is (arm == "searchbox")
    assert not {"search_documents", "read_chunks", "list_publications"} & offered
    trace = next(tmp_path.glob("*.jsonl"))
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    read = [e for e in events if e["event"] == "passage_read"]
    shown = json.dumps(last.messages, ensure_ascii=False)
    assert read
    assert all(str(e["chunk_id"]) in shown for e in read)
    assert len(provider.asked) == (1 if arm == "fixed" else 2)
    again = wiring.run_question(None, index=wiring.SAMPLE, trace_dir=tmp_path / "again", planner=f"replay:{trace}")
    assert (again.error, again.result["reason"]) == (None, done.result["reason"])
    assert [s["query"] for s in again.result["searched"]] == [s["query"] for s in done.result["searched"]]
