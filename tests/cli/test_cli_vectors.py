"""Vectors from the command line: embed, status, search, run, doctor, and every refusal with its way out."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_front import dof
from toy_embedder import Served, fine, served, vector

pytest.importorskip("numpy", reason="numpy is not installed: pip install 'dofrag[vectors]'")

QUESTION = "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dofrag.sample import sample_root

    index = tmp_path_factory.mktemp("vectors") / "index"
    assert dof("index", "build", str(sample_root()), "--index", str(index), "--quiet").code == 0
    return index


@pytest.fixture
def index(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "index"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Served]:
    with served() as running:
        monkeypatch.setenv("DOF_EMBEDDER", running.url)
        monkeypatch.setenv("DOF_EMBEDDER_MODEL", "toy")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("DOF_TRACE_DIR", str(tmp_path / "traces"))
        yield running


def refused(*args: str) -> dict[str, str]:
    done = dof(*args, "--json")
    assert done.code == 2, done.out
    error: dict[str, str] = done.document["error"]
    assert error["hint"]
    return error


def test_embed_search_run_and_status(index: Path, server: Served) -> None:
    at = ["--index", str(index)]
    done = dof("index", "embed", *at, "--batch", "64", "--json")
    assert done.code == 0
    made = done.document
    assert made["complete"] is True
    assert made["embedded"] == made["rows"] == made["chunks"] > 100
    assert "chunks have a vector" in done.err
    assert max(len(body["input"]) for body in server.bodies) == 64

    status = dof("index", "status", *at, "--json").document
    assert status["vectors"]["complete"] is True
    assert status["vectors"]["chunks"] == status["chunks"]
    assert status["vectors"]["stamp"] == made["stamp"] or len(status["scopes"]) == 1
    assert "vectors       toy, 48 numbers, all" in dof("index", "status", *at).out

    for strategy in ("hybrid", "vector"):
        found = dof("search", "Unidad de Cuenta Social", *at, "--strategy", strategy, "--explain", "--json").document
        assert found["hits"]
        assert all("vector" in hit["parts"] for hit in found["hits"])
    assert "words_z" in dof("search", "Unidad de Cuenta Social", *at, "--strategy", "hybrid", "--explain").out

    ran = dof("run", "--question", QUESTION, *at, "--strategy", "hybrid", "--json", "--quiet")
    assert ran.code == 0, ran.out
    assert ran.document["versions"]["vectors"].startswith("sha256:")
    trace = Path(ran.document["trace"])
    assert json.loads(trace.read_text(encoding="utf-8").splitlines()[0])["strategy"] == "hybrid"
    again = dof("run", "--planner", f"replay:{trace}", *at, "--json", "--quiet").document
    assert again["versions"] == ran.document["versions"]
    assert again["claims"] == ran.document["claims"]
    plain = dof("run", "--question", QUESTION, *at, "--json", "--quiet").document
    assert "vectors" not in plain["versions"]


def test_without_any_vector_what_words_find_is_ranked(index: Path, server: Served) -> None:
    args = ["search", "Unidad de Cuenta Social", "--index", str(index), "--strategy", "hybrid"]
    error = refused(*args)
    assert "has no vectors" in error["message"]
    assert "dof index embed" in error["hint"]
    found = dof(*args, "--allow-partial", "--json").document
    asked = len(server.bodies)
    assert found["hits"]
    assert dof(*args, "--allow-partial", "--json").document == found
    assert len(server.bodies) == asked + 2  # the probe and the question; the passages are kept
    assert not (index / "vectors").exists()


def test_a_part_is_refused_unless_it_is_asked_for(index: Path, server: Served) -> None:
    at = ["--index", str(index)]
    assert dof("index", "embed", *at, "--max-chunks", "10", "--quiet").code == 0
    assert "10 of" in dof("index", "status", *at).out
    for strategy in ("hybrid", "vector"):
        error = refused("search", "agua", *at, "--strategy", strategy)
        assert "only 10 of" in error["message"]
        assert "--allow-partial" in error["hint"]
        assert dof("search", "valor", *at, "--strategy", strategy, "--allow-partial").code == 0
        assert refused("run", "--question", QUESTION, *at, "--strategy", strategy)["message"] == error["message"]


def test_another_model_is_refused_before_anything_is_searched(index: Path, server: Served) -> None:
    at = ["--index", str(index)]
    assert dof("index", "embed", *at, "--quiet").code == 0
    error = refused("search", "agua", *at, "--strategy", "hybrid", "--embedder-model", "other")
    assert "name is 'toy', the embedder's 'other'" in error["message"]
    assert "--fresh" in error["hint"]

    def changed(body: dict[str, Any], _: int) -> tuple[int, Any]:
        return 200, {"data": [{"embedding": vector("otra sal " + t[::-1], 48)} for t in body["input"]]}

    with served(changed) as other:
        error = refused("run", "--question", QUESTION, *at, "--strategy", "hybrid", "--embedder", other.url)
    assert "another model" in error["message"]


def test_refusals(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ["--index", str(index)]
    for name in ("DOF_EMBEDDER", "DOF_EMBEDDER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    hybrid = ["search", "agua", *at, "--strategy", "hybrid"]
    assert "no embedder" in refused(*hybrid)["message"]
    assert "neither" in refused(*hybrid, "--embedder", "ftp://x", "--embedder-model", "m")["message"]
    assert "model is not named" in refused("index", "embed", *at, "--embedder", "http://127.0.0.1:9/v1")["message"]
    assert not (index / "vectors").exists()
    missing = dof("index", "embed", "--index", str(index.with_name("no")), "--embedder", "http://127.0.0.1:9/v1",
                  "--model", "m", "--json")  # fmt: skip
    assert missing.document["error"]["code"] == "store_missing"
    assert not index.with_name("no").exists()


def test_an_endpoint_that_is_gone_is_an_error_and_what_was_embedded_is_kept(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(body: dict[str, Any], n: int) -> tuple[int, Any]:
        return fine(body, n) if n <= 4 else (401, {"error": {"message": "no more"}})

    with served(dies) as server:
        to = ["--embedder", server.url, "--model", "toy"]
        done = dof("index", "embed", "--index", str(index), *to, "--batch", "5", "--json")
    assert done.code == 1
    assert done.document["error"]["code"] == "model_unavailable"
    assert dof("index", "status", "--index", str(index), "--json").document["vectors"]["vectors"] == 15


def test_doctor_tells_of_vectors_and_embedder(index: Path, server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ["--index", str(index)]

    def rows() -> dict[str, Any]:
        return {row["check"]: row for row in dof("doctor", *at, "--json").document["checks"]}

    assert rows()["vectors"]["ok"] is None
    assert rows()["embedder"]["ok"] is True
    dof("index", "embed", *at, "--max-chunks", "10", "--quiet")
    assert "not complete" in rows()["vectors"]["detail"]
    assert "dof index embed" in rows()["vectors"]["action"]
    dof("index", "embed", *at, "--quiet")
    assert rows()["vectors"]["ok"] is True
    monkeypatch.setenv("DOF_EMBEDDER_MODEL", "other")
    assert rows()["embedder"]["ok"] is False
    next((index / "vectors").rglob("rows.npy")).unlink()
    assert rows()["vectors"]["ok"] is False
    assert dof("index", "verify", *at).code == 1


def test_ctrl_c_keeps_what_was_embedded(index: Path) -> None:
    def slow(body: dict[str, Any], n: int) -> tuple[int, Any]:
        time.sleep(0.3 if n > 3 else 0)
        return fine(body, n)

    with served(slow) as server:
        embed = ["index", "embed", "--index", str(index), "--embedder", server.url, "--model", "toy", "--batch", "4"]
        process = subprocess.Popen(
            [sys.executable, "-m", "dofrag.cli.main", *embed],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        while len(server.bodies) < 6 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "it goes on there" in err
    kept = dof("index", "status", "--index", str(index), "--json").document["vectors"]
    assert kept["vectors"] >= 8
    assert kept["problem"] is None


def test_a_search_by_words_imports_nothing_of_this(built: Path) -> None:
    code = (
        "import sys; sys.argv = ['dof', 'search', 'agua', '--index', sys.argv[1]]\n"
        "from dofrag.cli.main import cli\n"
        "cli.main(standalone_mode=False)\n"
        "found = [m for m in sys.modules if m in ('numpy', 'faiss', 'openai') or 'vectors' in m]\n"
        "print(sorted(found), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(built)], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
