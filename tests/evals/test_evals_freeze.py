"""Sealed sets, on a copy of the package in a repository of its own: what is refused, labelled and kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from eval_front import SMALL, Done, environment

import dofrag
from dofrag.errors import EvalError, SetTampered
from dofrag.evals.code import tree_hash
from dofrag.evals.dataset import load_set
from dofrag.evals.ledger import add, read_ledger, standing
from dofrag.evals.look import looked_at, standing_of
from dofrag.evals.records import canonical, sha256_of
from dofrag.evals.report import check_report, episodes_sha256, finished, write_report

PACKAGE = Path(dofrag.__file__).parent
NOTICE = "2025/10/13102025/MAT/099_DOF_20251013_MAT_9109999.md"
TEXT = """**SECRETARÍA DE CUENCAS**

**AVISO por el que se da a conocer el horario de la ventanilla de Llano Verde.**

La ventanilla de Llano Verde atenderá al público de lunes a viernes de 9:15 a 13:45 horas.
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@dataclass(frozen=True)
class Copy:
    """A checkout of its own, with a small locked set."""

    root: Path

    @property
    def set(self) -> Path:
        return self.root / "eval" / "locked"

    def git(self, *words: str) -> str:
        name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", "-C", str(self.root), *name, *words], capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, text: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", text)
        return self.git("rev-parse", "HEAD")

    def dof(self, *words: str) -> Done:
        """`dof` of this checkout's package, in a folder outside of it."""
        away = self.root.parent
        done = subprocess.run(
            [sys.executable, "-P", "-m", "dofrag.cli.main", *words],
            capture_output=True, timeout=300, cwd=away,
            env=environment(away) | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def look(self, out: str, *words: str) -> Done:
        return self.dof("eval", "--set", "locked", "--out", out, "--json", "--quiet", *words)

    def ledger(self) -> list[dict[str, Any]]:
        return read_ledger(self.set / "ledger.jsonl")


def code_of(done: Done) -> str:
    assert done.code == 6, (done.code, done.out, done.err)
    return str(done.document["error"]["code"])


@pytest.fixture(scope="module")
def fresh(home: Path) -> Copy:
    """A committed checkout, not sealed."""
    root = home / "fresh" / "repo"
    shutil.copytree(PACKAGE, root / "dofrag", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    shutil.copy(PACKAGE.parent / "pyproject.toml", root)
    (root / ".gitignore").write_text("__pycache__/\nwriter.lock\n", encoding="utf-8")
    folder = root / "eval" / "locked"
    (folder / "corpus" / NOTICE).parent.mkdir(parents=True)
    (folder / "corpus" / NOTICE).write_text(TEXT, encoding="utf-8")
    first, *_, last = SMALL.read_text(encoding="utf-8").splitlines()
    own = json.loads(first) | {
        "id": "L1", "question": "¿En qué horario atenderá al público la ventanilla de Llano Verde?",
        "sub_questions": [{"id": "q1", "text": "horario", "nuggets": [
            {"text": "9:15 a 13:45", "vital": True, "accept": ["9:15 a 13:45"]}]}],
        "gold": [{"source": "9109999", "quotes": ["de lunes a viernes de 9:15 a 13:45 horas"]}],
        "expected_tools": ["search_documents"], "trajectory": "D+E*R+", "hops": 1, "subset": "single_hop",
    }  # fmt: skip
    lines = [json.dumps(own, ensure_ascii=False), last]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    copy = Copy(root)
    copy.git("init", "-q")
    copy.commit("all")
    return copy


@pytest.fixture(scope="module")
def sealed(fresh: Copy, home: Path) -> Copy:
    """Sealed, and not looked at."""
    copy = Copy(shutil.copytree(fresh.root.parent, home / "sealed") / "repo")
    done = copy.dof("eval", "lock", "locked", "--author", "A. Nónima", "--json")
    assert done.code == 0, done.err
    return copy


@pytest.fixture(scope="module")
def looked(sealed: Copy, home: Path) -> Copy:
    """Looked at once, as it should be: all arms, predictions, from the package as it lies there."""
    copy = Copy(shutil.copytree(sealed.root.parent, home / "looked") / "repo")
    copy.commit("seal")  # a seal and a ledger that are committed break nothing
    told = {
        "id": "P1",
        "text": "core is right",
        "left": {"figure": "correct", "variant": "core"},
        "is": ">",
        "right": 0,
    }
    wrong = told | {"id": "P2", "text": "core is wrong", "is": "<"}
    (copy.root.parent / "told.jsonl").write_text(f"{json.dumps(told)}\n{json.dumps(wrong)}\n", encoding="utf-8")
    done = copy.look("first", "--frozen-commit", "--arm", "fixed", "--arm", "core", "--predictions", "told.jsonl")
    assert done.code == 0, done.err
    return copy


@pytest.fixture
def again(tmp_path: Path) -> Any:
    """Copies of a fixture's checkout, to be spoiled."""

    def make(copy: Copy) -> Copy:
        return Copy(shutil.copytree(copy.root.parent, tmp_path / "again") / "repo")

    return make


def test_the_tree_is_hashed_as_git_hashes_it(fresh: Copy) -> None:
    assert tree_hash(fresh.root / "dofrag") == fresh.git("rev-parse", "HEAD:dofrag")
    (fresh.root / "dofrag" / "evals" / "__pycache__").mkdir(exist_ok=True)
    (fresh.root / "dofrag" / "evals" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert tree_hash(fresh.root / "dofrag") == fresh.git("rev-parse", "HEAD:dofrag")


def test_a_set_that_is_not_sealed_is_not_run(fresh: Copy) -> None:
    for words in ((), ("--frozen-commit", "HEAD")):
        done = fresh.look("unsealed", *words)
        assert done.code == 2
        assert "is not sealed" in done.document["error"]["message"]
    assert not (fresh.root.parent / "unsealed").exists()


def test_the_seal_says_what_git_says(sealed: Copy) -> None:
    seal = json.loads((sealed.set / "seal.json").read_text(encoding="utf-8"))
    assert seal["code"] == {"tree": sealed.git("rev-parse", "HEAD:dofrag"),
                            "project": sealed.git("rev-parse", "HEAD:pyproject.toml")}  # fmt: skip
    assert (seal["commit"], seal["author"], seal["questions"]) == (sealed.git("rev-parse", "HEAD"), "A. Nónima", 2)
    assert seal["corpus_files"] == 1
    assert [e["event"] for e in sealed.ledger()] == ["sealed"]


@pytest.mark.parametrize("where", ["dofrag/new.py", "eval/locked/questions.jsonl"])
def test_a_dirty_tree_is_not_sealed(where: str, fresh: Copy, again: Any) -> None:
    copy = again(fresh)
    with (copy.root / where).open("a", encoding="utf-8") as handle:
        handle.write("\n")
    assert code_of(copy.dof("eval", "lock", "locked", "--author", "A", "--json")) == "dirty_tree"
    assert not (copy.set / "seal.json").exists()


def test_a_first_look_without_the_sealed_code_is_not_taken(sealed: Copy) -> None:
    done = sealed.look("loose")
    assert done.code == 2
    assert "has not been looked at yet" in done.document["error"]["message"]
    assert [e["event"] for e in sealed.ledger()] == ["sealed"]


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [
        ("questions.jsonl", "9:15", "9:16"),
        (f"corpus/{NOTICE}", "13:45", "13:46"),
        ("seal.json", "nima", "nim"),
        ("ledger.jsonl", "sealed", "look"),
        ("ledger.jsonl", "A. N", "B. N"),
        ("ledger.jsonl", None, None),
        ("corpus/more.md", None, "new"),
    ],
)
def test_what_was_changed_since_is_refused(
    where: str, old: str | None, new: str | None, sealed: Copy, again: Any
) -> None:
    copy = again(sealed)
    path = copy.set / where
    if new is None:
        path.unlink()
    elif old is None:
        path.write_text(new, encoding="utf-8")
    else:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    if where == "questions.jsonl":  # one through the command line
        copy.git("add", "-A")  # in whatever way git is told of it
        assert code_of(copy.look("spoiled", "--frozen-commit")) == "tampered"
        assert not (copy.root.parent / "spoiled").exists()
    with pytest.raises(SetTampered):
        looked_at(load_set(str(copy.set / "questions.jsonl"), copy.root), True, False)


def test_other_code_is_refused_dirty_or_committed(sealed: Copy, again: Any) -> None:
    copy = again(sealed)
    with (copy.root / "dofrag" / "errors.py").open("a", encoding="utf-8") as handle:
        handle.write("\n# later\n")
    assert code_of(copy.look("dirty", "--frozen-commit")) == "dirty_tree"
    later = copy.commit("later")
    assert code_of(copy.look("other", "--frozen-commit")) == "wrong_code"
    assert code_of(copy.look("other", "--frozen-commit", later)) == "wrong_code"
    assert copy.look("other", "--frozen-commit", "nobody").code == 2
    assert copy.look("other", "--frozen-commit=--version").code == 2
    assert not (copy.root.parent / "other").exists()
    assert [e["event"] for e in copy.ledger()] == ["sealed"]


def test_from_a_clean_checkout_of_the_sealed_commit(sealed: Copy, again: Any) -> None:
    copy = again(sealed)
    commit = copy.git("rev-parse", "HEAD")
    (copy.root / "dofrag" / "grading.py").write_text("raise SystemExit\n", encoding="utf-8")
    copy.commit("later")
    done = copy.look("pure", "--frozen-commit", commit[:10], "--workers", "2")
    assert done.code == 0, done.err
    assert done.document["locked_result"] is True
    assert done.document["campaign"]["lock"]["commit"] == commit
    (look,) = [e for e in copy.ledger() if e["event"] == "look"]
    assert (look["sealed_code"], look["tree"]) == (True, copy.git("rev-parse", f"{commit}:dofrag"))


def test_the_first_look_is_a_locked_result(looked: Copy) -> None:
    folder = looked.root.parent / "first"
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["locked_result"] is True
    assert report["banner"] == "Locked result: first look, with the sealed code."
    assert [e["event"] for e in report["ledger"]] == ["sealed", "look", "finished"]
    assert (folder / "ledger.jsonl").read_bytes() == (looked.set / "ledger.jsonl").read_bytes()
    assert [v["name"] for v in report["variants"]] == ["fixed", "core"]
    assert {r["id"]: r["held"] for r in report["predictions"]} == {"P1": True, "P2": False}
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# locked (sample gazette and 1 publications)\n\nLocked result")
    assert "| LOST |" in text
    assert "## Ledger of this set" in text
    assert looked.dof("eval", "report", "first", "--check").code == 0
    _, look, done = looked.ledger()
    assert done["episodes_sha256"] == report["episodes_sha256"]
    assert (look["look"], look["variants"], look["sealed_code"]) == (1, ["fixed", "core"], True)
    assert look["predictions_sha256"] == report["campaign"]["predictions_sha256"]


def test_going_on_is_no_second_look(looked: Copy, again: Any) -> None:
    copy = again(looked)
    path = copy.root.parent / "first" / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    ledger = copy.set / "ledger.jsonl"
    begun = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(begun[:2]))  # as it stood while the campaign ran
    words = ("--frozen-commit", "--arm", "fixed", "--arm", "core", "--predictions", "told.jsonl")
    done = copy.look("first", *words)
    assert done.code == 0, done.err
    assert done.document["locked_result"] is True
    assert [e["event"] for e in copy.ledger()] == ["sealed", "look", "finished"]
    assert copy.ledger()[-1]["episodes_sha256"] == done.document["episodes_sha256"]
    path.write_bytes(b"".join(lines[:2]))  # a finished campaign is not run anew
    assert code_of(copy.look("first", *words)) == "tampered"
    (copy.root.parent / "told.jsonl").write_text(
        '{"id": "P", "text": "after", "left": {"figure": "correct"}, "is": ">", "right": 0}', encoding="utf-8"
    )
    assert copy.look("first", *words).code == 2  # other predictions: another campaign


def test_a_second_look_and_newer_code_are_labelled(looked: Copy, again: Any) -> None:
    copy = again(looked)
    second = copy.look("second", "--frozen-commit")
    assert second.document["banner"] == "No longer a locked result: look 2 at this set."
    with (copy.root / "dofrag" / "errors.py").open("a", encoding="utf-8") as handle:
        handle.write("\n# later\n")
    third = copy.look("third")
    assert (third.code, third.document["locked_result"]) == (0, False)
    assert third.document["banner"] == ("No longer a locked result: look 3 at this set, other code than was sealed.")
    page = (copy.root.parent / "third" / "report.html").read_text(encoding="utf-8")
    assert "No longer a locked result" in page
    assert page.count("look 3") >= 2
    assert check_report(copy.root.parent / "first") == []  # what came later takes nothing from the first
    copy.commit("later")
    again_sealed = copy.dof("eval", "lock", "locked", "--author", "B", "--json")
    assert again_sealed.code == 2
    assert "has been looked at" in again_sealed.document["error"]["message"]


def _alter_a_record(folder: Path) -> None:
    """Another number of turns, and the line's hash computed anew."""
    path = folder / "episodes.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(first)
    row["spend"]["turns"] += 1
    row["sha256"] = sha256_of(row)
    path.write_text("\n".join([canonical(row), *others]) + "\n", encoding="utf-8")


def _cut(path: Path, lines: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def _finish_anew(folder: Path) -> None:
    """The end in the ledger that a campaign kept, with the hash of the records as they are now."""
    path = folder / "ledger.jsonl"
    *_, end = read_ledger(path)
    _cut(path, 2)
    sha = episodes_sha256(*finished(folder))
    add(path, "finished", {k: end[k] for k in ("utc", "look", "campaign")} | {"episodes_sha256": sha})


@pytest.mark.parametrize(
    ("kept", "beside", "fault"),
    [
        ("whole", False, "the records are not those of the look"),
        ("cut", True, "the records are not those of the look"),
        ("cut", False, "no ledger says that this look ended, and with which records"),
        ("anew", True, "the ledger that it kept is not that of the set"),
    ],
)
def test_altered_records_are_not_those_of_the_look(
    kept: str, beside: bool, fault: str, looked: Copy, again: Any
) -> None:
    copy = again(looked)
    folder = copy.root.parent / "first"
    if beside:  # in the checkout of its set
        folder = Path(shutil.move(folder, copy.root / "result"))
    _alter_a_record(folder)
    if kept == "cut":
        _cut(folder / "ledger.jsonl", 2)
    elif kept == "anew":
        _finish_anew(folder)
    write_report(folder)
    assert check_report(folder) == [fault]
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert (report["locked_result"], report["banner"]) == (False, f"No locked result: {fault}.")
    if kept == "whole":
        done = copy.dof("eval", "report", "first", "--check")
        assert (done.code, done.out.strip()) == (1, fault)


def test_a_campaign_that_kept_no_end_has_it_from_its_set(looked: Copy, again: Any) -> None:
    copy = again(looked)
    folder = Path(shutil.move(copy.root.parent / "first", copy.root / "result"))
    _cut(folder / "ledger.jsonl", 2)
    assert write_report(folder)["locked_result"] is True
    assert check_report(folder) == []
    copy.commit("the look")
    shutil.copy(copy.set / "ledger.jsonl", folder)
    _alter_a_record(folder)
    _finish_anew(folder)
    shutil.copy(folder / "ledger.jsonl", copy.set)
    with pytest.raises(SetTampered, match="lacks lines that are committed"):
        check_report(folder)
    (copy.set / "ledger.jsonl").unlink()
    with pytest.raises(SetTampered, match="lacks lines that are committed"):
        check_report(folder)


@pytest.mark.parametrize("what", ["cut", "gone", "seal gone", "both gone", "other"])
def test_a_look_that_is_committed_cannot_be_hidden(what: str, looked: Copy, again: Any) -> None:
    copy = again(looked)
    copy.commit("the look")
    path, seal = copy.set / "ledger.jsonl", copy.set / "seal.json"
    if what == "cut":
        _cut(path, 1)
    elif what == "other":
        _cut(path, 1)
        add(path, "look", {"utc": "2026", "look": 1, "campaign": "x", "sealed_code": True})
        add(path, "finished", {"utc": "2026", "look": 1, "campaign": "x", "episodes_sha256": "x"})
    elif what == "gone":
        path.unlink()
    else:
        seal.unlink()
        if what == "both gone":
            path.unlink()
    chosen = load_set(str(copy.set / "questions.jsonl"), copy.root)
    with pytest.raises(SetTampered):
        looked_at(chosen, True, False)
    if what == "cut":  # through the command line
        for words in (("--frozen-commit",), ("--frozen-commit", "HEAD")):
            assert code_of(copy.look("hidden", *words)) == "tampered"
        assert not (copy.root.parent / "hidden").exists()
        # what was looked at is checked against the ledger beside it, which has to be whole
        assert copy.dof("eval", "report", "first", "--check").code == 6
    if what == "both gone":  # nor can it be sealed anew
        assert code_of(copy.dof("eval", "lock", "locked", "--author", "B", "--json")) == "tampered"


def test_the_result_of_the_project_is_that_of_its_look() -> None:
    folder = PACKAGE.parent / "docs" / "results" / "locked"
    spec, rows = finished(folder)
    found = standing_of(folder, spec, episodes_sha256(spec, rows))
    assert found is not None
    assert (found.locked, found.fault) == (True, "")


@pytest.mark.parametrize("what", ["ledger", "predictions", "spec"])
def test_what_a_campaign_kept_is_checked(what: str, looked: Copy, again: Any) -> None:
    copy = again(looked)
    folder = copy.root.parent / "first"
    name, old, new = {
        "ledger": ("ledger.jsonl", '"look":1', '"look":2'),
        "predictions": ("predictions.jsonl", "core is wrong", "core is right"),
        "spec": ("spec.json", '"sealed_code": true', '"sealed_code": false'),
    }[what]
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    if what == "spec":
        assert check_report(folder)  # the ledger does not know such a campaign
        return
    with pytest.raises(EvalError, match=r"was changed since the campaign began|is not what was written"):
        check_report(folder)


def test_a_sealed_set_runs_on_its_own_corpus(looked: Copy) -> None:
    done = looked.look("elsewhere", "--frozen-commit", "--index", "somewhere")
    assert done.code == 2
    assert "sealed together with its corpus" in done.document["error"]["message"]
    rows = [json.loads(line) for line in (looked.root.parent / "first" / "episodes.jsonl").read_text().splitlines()]
    own = next(r for r in rows if (r["question_id"], r["variant"]) == ("L1", "core"))
    assert "9109999" in own["read"].values()
    assert (own["conduct"]["hops_total"], own["conduct"]["all_hops"]) == (1, True)
    assert own["conduct"]["tool_selection"] is True
    fixed = next(r for r in rows if (r["question_id"], r["variant"]) == ("L1", "fixed"))
    assert (fixed["sequence"], fixed["conduct"]["tool_selection"]) == (["search_evidence"], None)


def test_the_ledger_is_a_chain(looked: Copy, tmp_path: Path) -> None:
    lines = (looked.set / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    for spoiled in (
        lines[1:],
        [lines[0], *lines[2:]],
        [lines[0], lines[0]],
        [lines[0].replace(b"1", b"2", 1), *lines[1:]],
        [b"[]\n"],
    ):
        path = tmp_path / "ledger.jsonl"
        path.write_bytes(b"".join(spoiled))
        with pytest.raises(SetTampered):
            read_ledger(path)
    assert standing(read_ledger(looked.set / "ledger.jsonl"), "nobody") == (
        False,
        "not in the ledger: no locked result",
    )
    assert read_ledger(tmp_path / "none.jsonl") == []


def test_nothing_but_a_checkout_is_sealed(fresh: Copy, tmp_path: Path) -> None:
    bare = Copy(shutil.copytree(fresh.root.parent, tmp_path / "bare") / "repo")
    shutil.rmtree(bare.root / ".git")
    done = bare.dof("eval", "lock", "locked", "--author", "A", "--json")
    assert done.code == 2
    assert "is not a git checkout" in done.document["error"]["message"]
