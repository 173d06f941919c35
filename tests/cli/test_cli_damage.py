"""A damaged index at the command line: one error document, no traceback, and a way out that works."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_front import dof, dof_process

TEXT = """# SECRETARÍA DE PRUEBAS

## ACUERDO {n} por el que se fija la tarifa de prueba.

Artículo 1. La tarifa de prueba número {n} es de {n}00 pesos.

Artículo 2. Entra en vigor al día siguiente.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("damage")
    for n in range(1, 6):
        for below, code in (("", 9000 + n), ("@dictamen/", 9100 + n)):
            path = root / f"corpus/{below}2024/01/0{n}012024/MAT/001_DOF_2024010{n}_MAT_{code}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEXT.format(n=n), encoding="utf-8")
    (root / "corpus/MANIFEST.tsv").write_text("a\tb\n")
    (root / "corpus/_catalogo.json").write_text("{}")
    (root / "corpus/@dictamen/_secreto.json").write_text("{}")
    (root / "corpus/@dictamen/vacio-reservado.md").write_text("")
    assert dof("index", "build", str(root / "corpus"), "--index", str(root / "index"), "--quiet").code == 0
    return root


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "index", tmp_path / "index"))


def zero(path: Path, start: int, length: int) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + length] = b"\0" * min(length, len(data) - start)
    path.write_bytes(data)


def tamper(index: Path) -> None:
    db = sqlite3.connect(index / "store-1.sqlite")
    db.execute("UPDATE publications SET published_on = 'pronto'")
    db.commit()
    db.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "pointer": lambda i: (i / "index.json").write_text("{"),
    "store": lambda i: (i / "store-1.sqlite").write_bytes((i / "store-1.sqlite").read_bytes()[:9000]),
    "store pages": lambda i: [zero(i / "store-1.sqlite", at, 3000) for at in range(4096, 300_000, 4096)],
    "rows": tamper,
    "search gone": lambda i: shutil.rmtree(i / "search-1"),
    "search texts": lambda i: [zero(p, 0, 100_000) for p in (i / "search-1/public").glob("*.fast")],
    "search store": lambda i: [zero(p, 10, max(0, p.stat().st_size - 150)) for p in i.rglob("*.store")],
}


@pytest.mark.parametrize("damage", sorted(DAMAGE))
def test_every_command_says_one_thing_and_build_repairs(made: Path, index: Path, tmp_path: Path, damage: str) -> None:
    DAMAGE[damage](index)
    corpus = str(made / "corpus")
    at = ["--index", str(index), "--json"]
    traces = ["--trace-dir", str(tmp_path / "traces")]
    for command in (
        ["search", "tarifa de prueba", *at, "--explain"],
        ["run", "--question", "¿Cuál es la tarifa de prueba número 3?", *at, *traces],
        ["tools", "call", "search_documents", json.dumps({"query": "tarifa"}), *at],
        ["index", "status", *at],
        ["index", "verify", *at],
        ["index", "show", "9003", *at],
        ["index", "optimize", *at],
    ):
        copy = Path(shutil.copytree(index, tmp_path / "copy"))
        done = dof(*[word.replace(str(index), str(copy)) for word in command])
        assert isinstance(done.document, dict), command
        assert "Traceback" not in done.out + done.err, command
        if done.code in (1, 2) and "error" in done.document:
            assert done.document["error"]["hint"], command
        shutil.rmtree(copy)
    built = dof("index", "build", corpus, *at, "--fresh" if damage in ("rows", "search store") else "--quiet")
    assert built.code == 0, built
    assert built.document["indexed"] == 10
    assert dof("index", "verify", *at).document["ok"] is True


def test_a_damaged_search_index_fails_the_run_and_says_what_to_do(index: Path, tmp_path: Path) -> None:
    DAMAGE["search store"](index)
    done = dof_process(
        "run", "--question", "¿Cuál es la tarifa de prueba número 3?", "--index", str(index), "--json",
        "--trace-dir", str(tmp_path / "traces"),
    )  # fmt: skip
    assert done.document["reason"] == "internal_error"
    assert "Traceback" not in done.out + done.err
    assert "search index is damaged" in done.err
    assert "dof index build" in done.err


def test_verify_names_the_build_that_repairs(made: Path, index: Path) -> None:
    DAMAGE["search store"](index)
    verified = dof("index", "verify", "--index", str(index))
    assert verified.code == 1
    assert "dof index build --fresh" in verified.out
    told = dof("index", "build", str(made / "corpus"), "--index", str(index), "--fresh")
    assert told.code == 0
    assert "read anew" in told.err
    assert "sound" in dof("index", "verify", "--index", str(index)).out


def test_a_newer_index_is_refused_with_another_hint(made: Path, index: Path) -> None:
    (index / "index.json").write_text('{"format": 2}')
    for command in (["search", "tarifa"], ["index", "build", str(made / "corpus")]):
        error = dof(*command, "--index", str(index), "--json").document["error"]
        assert error["code"] == "index_mismatch"
        assert "another index" in error["hint"]


def test_every_file_is_accounted_for(made: Path) -> None:
    status = dof("index", "status", "--index", str(made / "index"), "--json", "--scope", "dictamen").document
    assert [i["source"] for i in status["ignored"]] == ["@dictamen/_secreto.json", "MANIFEST.tsv", "_catalogo.json"]
    assert all(i["reason"] for i in status["ignored"])
    listed = status["indexed"] + status["alternates"] + len(status["failed"]) + len(status["ignored"])
    assert listed == sum(path.is_file() for path in (made / "corpus").rglob("*"))


def test_status_without_a_scope_does_not_know_what_is_restricted(made: Path, tmp_path: Path) -> None:
    corpus = Path(shutil.copytree(made / "corpus", tmp_path / "corpus"))
    shutil.rmtree(corpus / "@dictamen")
    assert dof("index", "build", str(corpus), "--index", str(tmp_path / "public"), "--quiet").code == 0
    with_it, without = (
        dof("index", "status", "--index", str(folder), "--json").document
        for folder in (made / "index", tmp_path / "public")
    )
    assert "dictamen" not in json.dumps(with_it)
    for own in ("stamp", "last_build_seconds"):
        del with_it[own], without[own]
    assert with_it == without
    text = dof("index", "status", "--index", str(made / "index")).out
    assert "dictamen" not in text
    assert "reservado" not in text


def test_scores_do_not_depend_on_what_is_restricted(made: Path, tmp_path: Path) -> None:
    corpus = Path(shutil.copytree(made / "corpus", tmp_path / "corpus"))
    shutil.rmtree(corpus / "@dictamen")
    assert dof("index", "build", str(corpus), "--index", str(tmp_path / "public"), "--quiet").code == 0
    query = ["search", "tarifa de prueba número 3 pesos", "--json", "--explain"]
    with_it, without = (dof(*query, "--index", str(f)).document for f in (made / "index", tmp_path / "public"))
    assert with_it["total"] == without["total"] > 0

    def scores(document: dict[str, list[dict[str, object]]]) -> list[tuple[object, ...]]:
        return [(h["publication_code"], h["score"], h["parts"]) for h in document["hits"]]

    assert scores(with_it) == scores(without)
    granted = dof(*query, "--index", str(made / "index"), "--scope", "dictamen", "--top-k", "50").document
    assert granted["total"] == 2 * without["total"]
    # The restricted ones say the same as the public ones, and stand behind them as their copies.
    copies = {copy["publication_code"] for h in granted["hits"] for copy in h.get("also", [])}
    assert {h["publication_code"] for h in granted["hits"]} | copies >= {"9003", "9103"}
    ranks = [(-h["score"], h["chunk_id"]) for h in granted["hits"]]
    assert ranks == sorted(ranks)
    places = [h["rank"] for h in granted["hits"]]
    assert places[0] == 1
    assert places == sorted(set(places)), "a copy keeps the place that it had"


@pytest.mark.parametrize(
    "command",
    [
        ["search", "agua", "--index"],
        ["run", "--question", "¿Qué?", "--index"],
        ["run", "--question", "¿Qué?", "--trace-dir"],
        ["tools", "call", "list_publications", "{}", "--index"],
        ["trace", "list", "--trace-dir"],
        ["index", "status", "--index"],
        ["index", "build", ".", "--index"],
    ],
)
def test_an_empty_folder_name_and_a_file_are_refused_by_name(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for value, says in (("", "is empty"), (" ", "is empty"), (str(tmp_path / "file"), "is a file, not a folder")):
        done = dof(*command, value, "--json")
        assert done.code == 2
        error = done.document["error"]
        assert error["code"] == "usage"
        assert says in error["message"]
        assert command[-1] in error["message"]


def test_an_empty_folder_leaves_no_index_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert dof("index", "build", str(tmp_path / "empty"), "--index", str(tmp_path / "new"), "--json").code == 2
    assert not (tmp_path / "new").exists()
