"""Heading paths come back as they were given, each heading stored once where neighbours share it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.errors import IndexMismatch
from dofrag.store.headings import HeadingReader, HeadingWriter, drop_headings, encode_path
from dofrag.store.writer import StoreWriter

PATHS = st.lists(st.lists(st.sampled_from(["Título", "Capítulo I", "Artículo 1", "", "\0"]), max_size=4).map(tuple))


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with StoreWriter(Path(tmp_path_factory.mktemp("headings")) / "store-1.sqlite", name="test") as store:
        yield store.connection


@given(PATHS, PATHS)
def test_paths_come_back(db: sqlite3.Connection, older: list[tuple[str, ...]], newer: list[tuple[str, ...]]) -> None:
    """Also beside those of an older state of the publication, which then goes."""
    db.execute("BEGIN")
    before = HeadingWriter(db, 1)
    for path in older:
        before.number(path)
    before.flush()
    writer = HeadingWriter(db, 1)
    numbers = [writer.number(path) for path in newer]
    writer.flush()
    drop_headings(db, 1, below=writer.first)
    reader = HeadingReader(db)
    assert [reader.path(1, number) for number in numbers] == newer
    assert [HeadingReader(db).path(1, number) for number in numbers] == newer
    (kept,) = db.execute("SELECT count(*) FROM headings").fetchone()
    assert kept <= sum(map(len, newer))
    db.execute("ROLLBACK")


@given(PATHS)
def test_a_path_is_hashed_the_same_whatever_stood_before_it(
    db: sqlite3.Connection, paths: list[tuple[str, ...]]
) -> None:
    writer = HeadingWriter(db, 1, new=True)
    for path in paths:
        writer.number(path)
        assert writer.encoded == encode_path(path)


def test_what_neighbours_share_is_stored_once(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    writer = HeadingWriter(db, 1)
    for path in [("LEY", "I", "1"), ("LEY", "I", "2"), ("LEY", "I", "2"), ("LEY", "II", "1"), (), ("LEY",)]:
        writer.number(path)
    writer.flush()
    names = [name for (name,) in db.execute("SELECT name FROM headings ORDER BY number")]
    db.execute("ROLLBACK")
    assert names == ["LEY", "I", "1", "2", "II", "1", "LEY"]


@pytest.mark.parametrize(
    "rows", [[], [(1, 3, 2, "x")], [(1, 3, 3, "x")], [(1, 2, 3, "x"), (1, 3, 2, "y")], [(1, 3, None, b"x")]]
)
def test_headings_that_lead_nowhere_are_damage(db: sqlite3.Connection, rows: list[tuple[object, ...]]) -> None:
    db.execute("BEGIN")
    db.executemany("INSERT INTO headings VALUES (?, ?, ?, ?)", rows)
    with pytest.raises(IndexMismatch, match="damaged"):
        HeadingReader(db).path(1, 3)
    db.execute("ROLLBACK")
