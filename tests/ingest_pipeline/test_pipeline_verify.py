"""Whatever is wrong with an index, `verify` names it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tiny_gazette import TinyProfile, small_corpus, tiny_parse

from dofrag.errors import IndexMismatch
from dofrag.ingest.pipeline import Ingest, build, silent
from dofrag.ingest.verify import verify

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    small_corpus(tmp_path / "corpus", 8)
    build([tmp_path / "corpus"], tmp_path / "index", INGEST)
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("damage", "names"),
    [
        ("UPDATE chunks SET text = 'Xxxxxxx' WHERE id = 1", "publication 1000"),
        ("UPDATE chunks SET text = upper(text) WHERE id = (SELECT max(id) FROM chunks)", "SHA-256"),
        ("UPDATE chunks SET start = start + 1 WHERE id = 2", "publication 1000"),
        ("UPDATE chunks SET publication_id = 2 WHERE id = 3", "publication 1000"),
        ("DELETE FROM chunks WHERE id = 4", "publication 1000"),
        ("DELETE FROM publications WHERE code = 'E-1'", "file 20240412-MAT.a.md"),
        ("UPDATE publications SET span_start = span_start + 1 WHERE code = 'E-2'", "publication E-2"),
        ("UPDATE publications SET title = 'Another' WHERE code = '1001'", "stamp"),
        ("UPDATE sources SET chars = chars + 1 WHERE rel = '2000.md'", "file 2000.md"),
        ("UPDATE sources SET canonical = 'gone' WHERE rel = '2000.txt'", "alternate of gone"),
        ("INSERT INTO chunks VALUES (99999, 1, 0, 0, 1, NULL, 'text', 'x', NULL)", "search index differ"),
    ],
)
def test_damage_is_named(index: Path, damage: str, names: str) -> None:
    assert verify(index, silent).faults == []
    store = sqlite3.connect(index / "store-1.sqlite")
    store.execute(damage)
    store.commit()
    store.close()
    faults = verify(index, silent).faults
    assert any(names in fault for fault in faults), faults


def test_a_torn_store_is_refused_or_named(index: Path) -> None:
    path = index / "store-1.sqlite"
    data = bytearray(path.read_bytes())
    for at in range(8192, len(data), 4096):
        data[at : at + 200] = b"\xa5" * 200
    path.write_bytes(data)
    with pytest.raises(IndexMismatch, match="damaged"):
        verify(index, silent)
