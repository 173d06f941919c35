"""`dof review` as a person types it, over traces that runs really left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from cli_front import dof
from review_front import NOON, make_campaign

from dofrag.review.verdicts import Mark, Verdict, Why, append

QUESTION = (
    "¿Cuáles son los valores diario, mensual y anual de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?"
)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli-review")
    assert dof("run", "--question", QUESTION, "--trace-dir", str(folder), "--quiet").code == 0
    return folder


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = make_campaign(tmp_path / "c")
    for author, mark in (("ana", Mark.PARTIAL), ("luz", Mark.INCORRECT)):
        said = Verdict(run_id="run-good", claim=None, verdict=mark, reasons=(Why.WRONG_VALUE,), note="ñ",
                       author=author, at=NOON, blind=False, trace_sha256="")  # fmt: skip
        append(folder / "traces" / "run-good.jsonl", said)
    return folder


def test_a_real_run_is_copied_with_its_passages_from_the_sample(traces: Path, tmp_path: Path) -> None:
    done = dof("review", "export", str(tmp_path / "copy"), "--trace-dir", str(traces), "--lang", "en")
    assert done.code == 0, done.err
    (run,) = (tmp_path / "copy" / "runs").iterdir()
    html = run.read_text(encoding="utf-8")
    assert "<mark id=" in html
    assert "EJEMPLO DOF" in html
    assert "The chain of the trace is whole." in html
    assert "Only its beginning is known" not in html


def test_a_copy_is_written_over_a_copy_and_over_nothing_else(campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    for _ in range(2):
        assert dof("review", "export", str(folder), "--campaign", str(campaign)).code == 0
    assert "luz" in (folder / "runs" / "run-good.html").read_text(encoding="utf-8")
    assert (folder / "verdicts.jsonl").read_text(encoding="utf-8").count("\n") == 2
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("x")
    done = dof("review", "export", str(other), "--campaign", str(campaign))
    assert (done.code, "holds other files" in done.err) == (2, True)


def test_a_blind_copy_tells_nothing(campaign: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    assert dof("review", "export", str(folder), "--campaign", str(campaign), "--blind").code == 0
    assert not (folder / "verdicts.jsonl").exists()
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "model-x" not in text
        assert "luz" not in text


def test_verdicts_are_handed_on_as_lines(campaign: Path, tmp_path: Path) -> None:
    done = dof("review", "verdicts", "--campaign", str(campaign))
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [(r["run_id"], r["claim"], r["verdict"], r["reasons"], r["author"]) for r in rows] == [
        ("run-good", None, "partial", ["wrong_value"], "ana"),
        ("run-good", None, "incorrect", ["wrong_value"], "luz"),
    ]
    out = tmp_path / "verdicts.jsonl"
    assert dof("review", "verdicts", "--campaign", str(campaign), "--out", str(out)).out == ""
    assert out.read_text(encoding="utf-8") == done.out


def test_agreement_is_printed(campaign: Path) -> None:
    document = dof("review", "agreement", "--campaign", str(campaign), "--json").document
    assert document["verdicts"] == {"correct": 0, "partial": 1, "incorrect": 1, "unresolved": 0}
    assert document["runs"][0] | {"table": None} == {
        "reviewers": ["ana", "luz"], "n": 1, "observed": 0.0, "kappa": 0.0, "table": None,
    }  # fmt: skip
    assert "ana and luz: kappa 0.00" in dof("review", "agreement", "--campaign", str(campaign)).out


@pytest.mark.parametrize("command", [["verdicts"], ["agreement"], ["export", "x"]])
def test_a_folder_that_is_not_there_is_named(command: list[str], tmp_path: Path) -> None:
    done = dof("review", *command, "--trace-dir", str(tmp_path / "none"))
    assert done.code == 2
    assert "none" in done.err
    assert dof("review", *command, "--campaign", str(tmp_path)).code == 2


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, campaign: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = dof("review", "--campaign", str(campaign), "--port", "0")
    assert done.code == 2
    assert "dofrag[review]" in done.err


def test_the_command_line_without_the_page_imports_none_of_it() -> None:
    code = "import sys, dofrag.cli.main, dofrag.cli.review, dofrag.review.verdicts, dofrag.review.agreement; " \
           "print([m for m in ('starlette', 'uvicorn', 'jinja2') if m in sys.modules])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_serves_until_it_is_interrupted(traces: Path) -> None:
    command = [sys.executable, "-m", "dofrag.cli.main", "review", "--trace-dir", str(traces), "--port", "0"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as made:
        assert made.stderr is not None
        try:
            address = made.stderr.readline().split()[0]
            assert address.startswith("http://127.0.0.1:")
            body = ""
            for _ in range(200):
                try:
                    body = urllib.request.urlopen(address + "c/traces", timeout=20).read().decode()
                    break
                except OSError:
                    time.sleep(0.05)
            assert "Unidad de Cuenta Social" in body
            made.send_signal(signal.SIGINT)
            made.wait(20)
            assert "Traceback" not in made.stderr.read()
        finally:
            made.kill()
