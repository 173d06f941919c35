"""An index that does not fit is refused, with the command that repairs it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from tiny_gazette import TinyProfile, small_corpus, tiny_parse

from dofrag.errors import IndexMismatch, NewerIndex, StoreMissing
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.open import open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stamp")
    small_corpus(root / "corpus", 8)
    build([root / "corpus"], root / "index", INGEST)
    return root


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "index", tmp_path / "index"))


def refused(index: Path, **options: str) -> IndexMismatch:
    with pytest.raises(IndexMismatch) as caught:
        open_index(index, **options)  # type: ignore[arg-type]
    assert "dof index build" in (caught.value.hint or "")
    return caught.value


def change_pointer(index: Path, **changes: object) -> None:
    path = index / "index.json"
    data = json.loads(path.read_text())
    data["parts"].update({k: v for k, v in changes.items() if k in data["parts"]})
    data.update({k: v for k, v in changes.items() if k not in data["parts"]})
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("part", ["schema", "analyzer", "chunker"])
def test_other_code_is_refused_by_name(index: Path, part: str) -> None:
    change_pointer(index, **{part: "other"})
    assert f"built by {part} 'other'" in refused(index).message


def test_another_chunker_than_the_callers_is_refused(index: Path) -> None:
    with open_index(index, chunker="t1") as opened:
        assert opened.stamp.startswith("sha256:")
    assert "chunker" in refused(index, chunker="t2").message


def test_a_forged_stamp_is_refused(index: Path) -> None:
    change_pointer(index, stamp="sha256:0")
    refused(index)


def test_a_store_that_differs_from_its_index_is_refused(index: Path) -> None:
    store = sqlite3.connect(index / "store-1.sqlite")
    store.execute("UPDATE meta SET value = 'x' WHERE key = 'corpus_digest'")
    store.commit()
    store.close()
    assert "does not hold what its store holds" in refused(index).message


def test_a_cut_off_update_is_told_from_one_that_runs(index: Path) -> None:
    store = sqlite3.connect(index / "store-1.sqlite")
    store.execute("UPDATE meta SET value = 'dirty' WHERE key = 'state'")
    store.commit()
    store.close()
    assert "cut off" in refused(index).message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 0}', "\udcff"])
def test_a_broken_pointer_is_refused(index: Path, text: str) -> None:
    (index / "index.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(index)


def test_an_index_of_newer_code_is_refused_with_another_way_out(index: Path) -> None:
    change_pointer(index, format=99)
    with pytest.raises(NewerIndex) as caught:
        open_index(index)
    assert "upgrade" in (caught.value.hint or "")
    assert "remove" in (caught.value.hint or "")


def test_a_missing_search_index_is_refused(index: Path) -> None:
    shutil.rmtree(index / "search-1")
    refused(index)


def test_no_index_and_a_half_built_one_are_told_apart(index: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        open_index(tmp_path / "nothing")
    (index / "index.json").unlink()
    assert "half built" in refused(index).message


def test_opening_changes_nothing(index: Path) -> None:
    before = {p.name: p.read_bytes() for p in index.rglob("*") if p.is_file()}
    with open_index(index) as opened:
        assert opened.backend.documents == opened.reader.counts()[1]
    after = {
        p.name: p.read_bytes() for p in index.rglob("*") if p.is_file() and not p.name.endswith(("-wal", "-shm"))
    }
    assert after == {name: data for name, data in before.items() if not name.endswith(("-wal", "-shm"))}
