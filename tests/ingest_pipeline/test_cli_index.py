"""`dof index` as a person or a program calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TEXT = """# SECRETARÍA DE PRUEBAS

## ACUERDO {n} por el que se prueban cosas.

Artículo 1. Se prueba la cosa número {n}.

Artículo 2. Entra en vigor al día siguiente.
"""


COMMAND = [sys.executable, "-m", "dofrag.cli.main"]


def dof(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, encoding="utf-8", timeout=120, check=False)


def note(corpus: Path, n: int) -> Path:
    path = corpus / f"2024/01/{n:02d}012024/MAT/001_DOF_202401{n:02d}_MAT_{9000 + n}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT.format(n=n), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli")
    for n in range(1, 6):
        note(root / "corpus", n)
    (root / "corpus" / "2024" / "empty.md").write_text("")
    result = dof("index", "build", str(root / "corpus"), "--index", str(root / "index"))
    assert result.returncode == 0, result.stderr
    assert "5 indexed, 0 alternates, 1 failed" in result.stdout
    assert "empty.md" in result.stdout
    assert "index: " in result.stderr
    return root


def test_status_has_the_fields_of_the_contract(made: Path) -> None:
    status = json.loads(dof("index", "status", "--index", str(made / "index"), "--json").stdout)
    wanted = ("files", "indexed", "failed", "publications", "chunks", "bytes", "alternates", "from", "to", "stamp")
    assert set(wanted) <= set(status)
    assert status["files"] == status["indexed"] + status["alternates"] + len(status["failed"]) == 6
    assert (status["from"], status["to"]) == ("2024-01-01", "2024-01-05")
    assert [f["source"] for f in status["failed"]] == ["2024/empty.md"]
    assert status["failed"][0]["reason"]
    assert status["last_build_seconds"] > 0


def test_strict_fails_and_loses_nothing(made: Path) -> None:
    result = dof(
        "index", "build", str(made / "corpus"), "--index", str(made / "index"), "--strict", "--json", "--quiet"
    )
    assert result.returncode == 1
    assert json.loads(result.stdout)["indexed"] == 5
    assert result.stderr == ""


def test_verify_show_update_remove_optimize(made: Path, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    assert dof("index", "build", str(made / "corpus"), "--index", index, "--quiet").returncode == 0
    note(tmp_path / "more", 9)
    assert dof("index", "update", str(tmp_path / "more"), "--index", index, "--quiet").returncode == 0
    shown = dof("index", "show", "9009", "--index", index, "--json")
    assert json.loads(shown.stdout)["published_on"] == "2024-01-09"
    assert "ACUERDO 9" in dof("index", "show", "9009", "--index", index).stdout
    assert dof("index", "remove", "9009", "9001", "--index", index).returncode == 0
    gone = dof("index", "show", "9009", "--index", index)
    assert gone.returncode == 2
    assert gone.stderr.startswith("dof: no publication with code '9009'")
    assert dof("index", "optimize", "--index", index, "--json").returncode == 0
    verified = json.loads(dof("index", "verify", "--index", index, "--json").stdout)
    assert verified["ok"] is True
    assert verified["publications"] == 4
    assert "sound" in dof("index", "verify", "--index", index).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["build", "{tmp}/missing", "--index", "{tmp}/i"], "no such file or folder"),
        (["build", "{tmp}", "--index", "{tmp}/i"], "no gazette files"),
        (["build", "{made}/corpus", "--index", "{tmp}/file"], "is a file, not a folder"),
        (["status", "--index", "{tmp}/i"], "no index at"),
        (["verify", "--index", "{tmp}/i"], "no index at"),
        (["update", "{made}/corpus", "--index", "{tmp}/i"], "no index at"),
        (["remove", "nothing", "--index", "{made}/index"], "'nothing'"),
        (["show", "nothing", "--index", "{made}/index"], "'nothing'"),
        (["build", "{made}/corpus"], "--index"),
    ],
)
def test_bad_calls_end_with_2_and_say_why(made: Path, tmp_path: Path, arguments: list[str], says: str) -> None:
    (tmp_path / "file").write_text("")
    words = [a.format(tmp=tmp_path, made=made) for a in arguments]
    result = dof("index", *words, "--json")
    assert result.returncode == 2, result.stderr
    assert says in json.loads(result.stdout)["error"]["message"]
    assert "Traceback" not in result.stderr


def test_an_index_of_another_version_names_the_repair(made: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    dof("index", "build", str(made / "corpus"), "--index", str(index), "--quiet")
    pointer = index / "index.json"
    data = json.loads(pointer.read_text())
    data["parts"]["analyzer"] = "es-0"
    pointer.write_text(json.dumps(data))
    refused = dof("index", "status", "--index", str(index))
    assert refused.returncode == 2
    assert "'es-0'" in refused.stderr
    assert "dof index build" in refused.stderr
    assert dof("index", "build", str(made / "corpus"), "--index", str(index), "--quiet").returncode == 0
    assert dof("index", "status", "--index", str(index)).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent otherwise on Windows")
def test_an_interrupt_keeps_what_was_taken_in(made: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    for n in range(1, 32):
        path = note(corpus, n)
        path.write_text(TEXT.format(n=n) + "\nMás texto que leer.\n" * 4000, encoding="utf-8")
    arguments = ["index", "build", str(corpus), "--index", str(tmp_path / "index")]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COMMAND, *arguments], stderr=pipe, stdout=pipe, encoding="utf-8")
    assert process.stderr is not None
    line = ""
    while "files read" not in line:
        line = process.stderr.readline()
        assert line, "the build ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "goes on" in errors
    assert "Traceback" not in errors
    started = time.monotonic()
    assert dof(*arguments, "--quiet").returncode == 0
    assert time.monotonic() - started < 120
    assert json.loads(dof("index", "verify", "--index", str(tmp_path / "index"), "--json").stdout)["ok"]
