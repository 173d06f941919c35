"""Campaigns, whole: through the command line, killed, resumed, changed, compared; and planners that play badly."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from eval_front import SMALL, AgentBench, dof, lines, start

from dofrag.errors import CreditExhausted, EvalError, Interrupted, ModelUnavailable, UsageError
from dofrag.evals.dataset import load_set
from dofrag.evals.metrics import figures
from dofrag.evals.records import comparable, read_records
from dofrag.evals.report import check_report, write_report
from dofrag.evals.runner import run_campaign
from dofrag.evals.table import summary_line

SPEC: dict[str, Any] = {
    "title": "small (sample gazette)", "set_role": "dev", "questions": 6, "passes": 1,
    "variants": [{"name": "core", "arm": "core", "planner": "rules", "epsilon": 0.0, "limits": {}}],
}  # fmt: skip


@pytest.fixture(scope="module")
def campaign(home: Path) -> Path:
    """The small set, run once by the rules through `dof eval`."""
    done = dof("eval", "--set", str(SMALL), "--out", "straight", cwd=home)
    assert done.code == 0, done.err
    assert done.out.startswith(
        "small_set (sample gazette)\nDevelopment figures: this set may have shaped the rules.\n"
    )
    assert "6/6 E6" in done.err
    return home / "straight"


def played(folder: Path, bench: AgentBench) -> list[dict[str, Any]]:
    return run_campaign(folder, {"core": bench}, load_set(str(SMALL), folder).items, SPEC)


def test_the_report_says_what_was_right(campaign: Path) -> None:
    rows = {r["question_id"]: r for r in read_records(campaign)}
    assert rows["E1"]["grade"]["correct"] is True
    assert (rows["E1"]["grade"]["citation_precision"], rows["E1"]["grade"]["citation_recall"]) == (1.0, 1.0)
    assert rows["E6"]["grade"]["end"] in ("refused", "partial")
    text = (campaign / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# small_set (sample gazette)\n\nDevelopment figures")
    page = (campaign / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 6
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_report_is_made_again_from_the_records(campaign: Path, home: Path) -> None:
    done = dof("eval", "report", "straight", "--check", cwd=home)
    assert (done.code, done.out) == (0, "the report is what the records give\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["spend"].update(turns=1),
        lambda r: r["grade"].update(correct=False),
        lambda r: r["result"]["claims"].clear(),
        lambda r: r.update(category="other"),
        lambda r: r["units"].clear(),
        lambda r: r.update(trace_sha256="0" * 64),
    ],
)
@pytest.mark.parametrize("hashed_again", [False, True])
def test_a_changed_record_fails_the_check(change: Any, hashed_again: bool, campaign: Path, tmp_path: Path) -> None:
    from dofrag.evals.records import canonical, sha256_of

    copy = shutil.copytree(campaign, tmp_path / "copy")
    rows = read_records(copy)
    target = next(r for r in rows if r["question_id"] == "E1")
    before = canonical(target)
    change(target)
    assert canonical(target) != before
    if hashed_again:
        target["sha256"] = sha256_of(target)
    (copy / "episodes.jsonl").write_text("".join(canonical(r) + "\n" for r in rows), encoding="utf-8")
    assert check_report(copy)
    assert dof("eval", "report", str(copy), "--check", "--json", cwd=tmp_path).code == 1


def test_changed_items_spec_and_report_fail_the_check(campaign: Path, tmp_path: Path) -> None:
    for name, old, new in (("items.jsonl", "36,115", "36,.15"), ("spec.json", '"rules"', '"rulez"'),
                           ("report.md", "%", "°"), ("report.html", "%", "°")):  # fmt: skip
        copy = shutil.copytree(campaign, tmp_path / name)
        text = (copy / name).read_text(encoding="utf-8")
        assert old in text
        (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        assert check_report(copy), name


def test_a_campaign_goes_on_and_repeats_nothing(campaign: Path, home: Path) -> None:
    before = (campaign / "episodes.jsonl").read_bytes()
    done = dof("eval", "--set", str(SMALL), "--out", "straight", "--json", "--quiet", cwd=home)
    assert (done.code, done.err) == (0, "")
    assert done.document["episodes"] == 6
    assert (campaign / "episodes.jsonl").read_bytes() == before


def test_another_campaign_is_not_mixed_in(campaign: Path, home: Path) -> None:
    done = dof("eval", "--set", str(SMALL), "--out", "straight", "--limit", "max_turns=3", cwd=home)
    assert done.code == 2
    assert "holds another campaign: variants differ" in done.err


def test_half_a_line_is_run_again(campaign: Path, tmp_path: Path, home: Path) -> None:
    copy = shutil.copytree(campaign, home / "half")
    raw = (copy / "episodes.jsonl").read_bytes()
    (copy / "episodes.jsonl").write_bytes(raw[: len(raw) - 40])
    assert dof("eval", "report", "half", cwd=home).code == 1  # it is not finished
    assert dof("eval", "--set", str(SMALL), "--out", "half", cwd=home).code == 0
    assert [comparable(r) for r in read_records(copy)] == [comparable(r) for r in read_records(campaign)]


def test_processes_change_nothing_but_the_order(campaign: Path, home: Path) -> None:
    assert dof("eval", "--set", str(SMALL), "--out", "two", "--workers", "2", "--quiet", cwd=home).code == 0
    assert [comparable(r) for r in read_records(home / "two")] == [comparable(r) for r in read_records(campaign)]
    compared = dof("eval", "compare", "straight", "two", "--json", cwd=home).document
    assert (compared["common"], compared["changes"], compared["differs"]) == (6, [], [])


def test_killed_ten_times_it_equals_one_that_ran_through(home: Path) -> None:
    arms = ("--arm", "fixed", "--arm", "searchbox", "--arm", "core", "--epsilon", "0.3")
    arguments = ("eval", "--set", str(SMALL), "--passes", "2", "--workers", "2", "--quiet", *arms)
    chance = random.Random(6)
    killed = 0
    for _ in range(10):
        process = start(*arguments, "--out", "killed", cwd=home)
        had = lines(home / "killed")
        deadline = time.monotonic() + 60
        while process.poll() is None and lines(home / "killed") <= had and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.05)
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert killed >= 5
    assert dof(*arguments, "--out", "killed", cwd=home).code == 0
    assert dof(*arguments, "--out", "through", cwd=home).code == 0
    rows = read_records(home / "killed")
    assert len(rows) == lines(home / "killed") == 36
    assert [comparable(r) for r in rows] == [comparable(r) for r in read_records(home / "through")]
    assert dof("eval", "report", "killed", "--check", cwd=home).code == 0


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent to a process of its own by signal")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_is_done(workers: str, home: Path) -> None:
    out = f"stopped{workers}"
    arguments = ("eval", "--set", str(SMALL), "--passes", "20", "--workers", workers, "--out", out)
    process = start(*arguments, cwd=home)
    deadline = time.monotonic() + 60
    while lines(home / out) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    kept = len(read_records(home / out))
    assert f"{kept} of 120 episodes are kept in {out}".encode() in err
    assert b"Traceback" not in err


def test_the_first_hit_is_caught_where_nothing_stops_it(home: Path, tmp_path: Path) -> None:
    rows = played(tmp_path / "open", AgentBench("first_hit", tmp_path, gate=False))
    several = [r for r in rows if r["question_id"] in ("E3", "E4")]
    vital = [n["found"] for r in several for n in r["grade"]["nuggets"]]
    assert sum(vital) <= 1
    assert all(r["grade"]["confident_error"] for r in several)
    assert all("missing: " in r["grade"]["why"][0] for r in several)
    unanswerable = next(r for r in rows if r["question_id"] == "E6")
    assert unanswerable["grade"]["confident_error"]


def test_the_first_hit_meets_the_closure_check(home: Path, tmp_path: Path) -> None:
    rows = played(tmp_path / "gated", AgentBench("first_hit", tmp_path))
    several = [r for r in rows if r["question_id"] in ("E3", "E4")]
    assert all(r["terminal_state"] == "abstained" and r["drafts_rejected"] == 1 for r in several)


@pytest.mark.parametrize("planner", ["abstains", "denies"])
def test_who_always_abstains_refuses_well_and_wrongly(planner: str, home: Path, tmp_path: Path) -> None:
    rows = played(tmp_path / planner, AgentBench(planner, tmp_path))
    every = figures("all", rows)
    assert (every.refusal.value, every.false_refusal.value, every.answered.value) == (1.0, 1.0, 0.0)
    line = summary_line(every)
    assert "refusal 1/1 (100.0 %), false refusal 5/5 (100.0 %)" in line
    assert "confident errors n/a" in line


def test_nothing_that_is_expected_reaches_a_run(home: Path, tmp_path: Path) -> None:
    heard: list[Any] = []
    played(tmp_path / "heard", AgentBench("abstains", tmp_path, heard=heard))
    items = load_set(str(SMALL), tmp_path).items
    assert heard == [(i.question, i.as_of) for i in items]
    questions = {json.loads(line)["question"] for t in tmp_path.glob("r*.jsonl")
                 for line in t.read_text(encoding="utf-8").splitlines()[:1]}  # fmt: skip
    assert questions == {i.question for i in items}


def test_a_rate_limit_is_unscored_and_ends_nothing(home: Path, tmp_path: Path) -> None:
    bench = AgentBench("rules", tmp_path, errors=(("Zona Ribereña", ModelUnavailable("429")),))
    rows = played(tmp_path / "busy", bench)
    assert len(rows) == 6
    first = rows[0]["grade"]
    assert (first["scored"], first["correct"], first["confident_error"]) == (False, None, False)
    every = figures("all", rows)
    assert (every.n, every.answered.n, every.unscored) == (6, 5, 1)


def test_credit_that_is_used_up_ends_the_batch_and_leaves_no_record(home: Path, tmp_path: Path) -> None:
    bench = AgentBench("rules", tmp_path, errors=(("Banco Austral", CreditExhausted("no credit")),))
    with pytest.raises(CreditExhausted, match=r"no credit; 1 of 6 episodes are kept"):
        played(tmp_path / "poor", bench)
    assert len(played(tmp_path / "poor", AgentBench("rules", tmp_path))) == 6
    write_report(tmp_path / "poor")
    assert check_report(tmp_path / "poor") == []


def test_a_question_that_cannot_be_run_is_named(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "early.jsonl"
    item = json.loads(SMALL.read_text(encoding="utf-8").splitlines()[0]) | {"as_of": "1900-01-01"}
    path.write_text(json.dumps(item), encoding="utf-8")
    done = dof("eval", "--set", str(path), cwd=home)
    assert done.code == 2
    assert "question 'E1': as-of 1900-01-01 is before the corpus begins" in done.err


def test_compare_says_what_changed(campaign: Path, home: Path, tmp_path: Path) -> None:
    folder = home / "abstained"
    run_campaign(folder, {"core": AgentBench("abstains", tmp_path)}, load_set(str(SMALL), home).items, SPEC)
    document = dof("eval", "compare", "straight", "abstained", "--json", cwd=home).document
    first = next(c for c in document["changes"] if c["question"] == "E1")
    assert (first["way"], first["after"]["ended"]) == ("worse", "abstained/coverage_missing")
    assert document["correct"]["difference"] < 0
    text = dof("eval", "compare", "straight", "abstained", cwd=home).out
    assert "worse E1 (pass 1)" in text
    assert "lost: 99 diarios" in text


def test_two_campaigns_do_not_write_one_folder(home: Path, tmp_path: Path) -> None:
    from dofrag.errors import StoreBusy
    from dofrag.store.lock import WriterLock

    (tmp_path / "held").mkdir()
    with WriterLock(tmp_path / "held", "dof eval"), pytest.raises(StoreBusy):
        played(tmp_path / "held", AgentBench("abstains", tmp_path))


def test_interrupted_inside_a_run(home: Path, tmp_path: Path) -> None:
    class Breaks(AgentBench):
        def ask(self, question: str, as_of: Any, turn: int) -> Any:
            if "Banco Austral" in question:
                raise KeyboardInterrupt
            return super().ask(question, as_of, turn)

    with pytest.raises(Interrupted, match="1 of 6 episodes are kept"):
        played(tmp_path / "broken", Breaks("abstains", tmp_path))
    assert len(read_records(tmp_path / "broken")) == 1


def told(folder: Path) -> list[str]:
    try:
        return check_report(folder)
    except EvalError as error:
        return [error.message] if "is no episode record" in error.message else []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"spend":{', '"spent":{'), ('"end":"answered"', '"end":7'), ('"units":[', '"unitz":['),
        ('"vital":true', '"vital":"yes"'), ('"turns":', '"turnz":'), ('"pass":1', '"pass":"x"'),
        ('"answer":', '"answerz":'), ('"reason":"closed","', '"reason":"open","'),
        ('"chunk_ids":[', '"chunk_ids":["x",'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("hashed_again", [False, True])
def test_any_damage_is_told_not_thrown(
    old: str, new: str, hashed_again: bool, campaign: Path, tmp_path: Path
) -> None:
    from dofrag.evals.records import canonical, sha256_of

    copy = shutil.copytree(campaign, tmp_path / "copy")
    raw = (copy / "episodes.jsonl").read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(raw) if old in line)
    raw[at] = raw[at].replace(old, new)
    if hashed_again:
        record = json.loads(raw[at])
        raw[at] = canonical(record | {"sha256": sha256_of(record)})
    (copy / "episodes.jsonl").write_text("\n".join(raw) + "\n", encoding="utf-8")
    assert told(copy)


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("eval",), 2, "no question set is named"),
        (("eval", "--set", "nothing.jsonl"), 2, "there is no question set 'nothing.jsonl'"),
        (("eval", "--set", str(SMALL), "--planner", "replay:x"), 2, "a recording is of one question"),
        (("eval", "--set", str(SMALL), "--planner", "nobody"), 2, "there is no planner 'nobody'"),
        (("eval", "--set", str(SMALL), "--planner", "model"), 2, "no model is named"),
        (("eval", "--set", str(SMALL), "--index", "nowhere"), 2, "no index at"),
        (("eval", "--set", str(SMALL), "--workers", "0"), 2, "0 is not in the range"),
        (("eval", "--set", "v4", "report", "x"), 2, "--set goes with no sub-command"),
        (("eval", "report", "nowhere"), 2, "holds no campaign"),
        (("eval", "compare", "nowhere", "nowhere"), 2, "holds no campaign"),
        (("eval", "lint", "nothing"), 2, "there is no question set"),
    ],
)
def test_wrong_words(arguments: tuple[str, ...], code: int, text: str, home: Path) -> None:
    done = dof(*arguments, cwd=home)
    assert done.code == code
    assert text in done.err
    assert "Traceback" not in done.err


def test_a_damaged_campaign_is_refused(campaign: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(campaign, tmp_path / "copy")
    raw = (copy / "episodes.jsonl").read_bytes().split(b"\n")
    (copy / "episodes.jsonl").write_bytes(b"\n".join([raw[0], *raw]))
    done = dof("eval", "report", str(copy), "--check", "--json", cwd=tmp_path)
    assert done.code == 1
    assert done.document["error"]["code"] == "eval"
    (copy / "episodes.jsonl").write_bytes(b"\n".join([b"[1]", *raw]))
    assert dof("eval", "report", str(copy), "--check", cwd=tmp_path).code == 1
    with pytest.raises(UsageError):
        write_report(tmp_path)
