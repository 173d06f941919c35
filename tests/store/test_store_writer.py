"""Writing: one writer, whole transactions, ids that are never used twice."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.domain.corpus import Filters, Kind, SourceKind
from dofrag.domain.draft import ChunkDraft, Header, ParsedPublication
from dofrag.errors import CorpusError, IndexMismatch, StoreBusy, UsageError
from dofrag.store.corpus import StoreReader
from dofrag.store.lock import WriterLock, is_locked
from dofrag.store.schema import SCHEMA, check_schema
from dofrag.store.writer import CodeTaken, SourceRow, StoreWriter

ALL = Filters(as_of=date.max, kinds=tuple(Kind))


def source(rel: str) -> SourceRow:
    return SourceRow(
        rel=rel, format="md", bytes=1, mtime_ns=1, sha256="x", status="indexed", group_key=f"file:{rel}", rank=0
    )


def parsed(code: str, *texts: str, **changes: object) -> ParsedPublication:
    values: dict[str, object] = {
        **dict.fromkeys(("edition", "position", "section", "branch", "instrument", "url")),
        "code": code,
        "published_on": date(2024, 1, 1),
        "kind": Kind.DOF,
        "source_kind": SourceKind.PUBLICATION,
        "issuer": "X",
        "title": "T",
        "identifiers": (),
        "scope": "public",
        "source": "a.md",
    }
    at = 0
    chunks = []
    for i, text in enumerate(texts):
        chunks.append(
            ChunkDraft(
                ordinal=i, start=at, end=at + len(text), heading_path=("H",), provision=None, kind="text", text=text
            )
        )
        at += len(text)
    return ParsedPublication(Header(**{**values, **changes}), chunks)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreWriter]:
    with StoreWriter(tmp_path / "store-1.sqlite", name="test") as writer:
        yield writer


def ids(store: StoreWriter, code: str) -> list[int]:
    with StoreReader(store.path) as reader:
        return [c.id for c in reader.chunks(code, ALL)]


def put(store: StoreWriter, rel: str, *publications: ParsedPublication) -> int:
    with store.transaction():
        return store.store_source(source(rel), iter(publications), [rel])


def test_a_failing_source_leaves_nothing_behind(store: StoreWriter) -> None:
    put(store, "a.md", parsed("1", "uno"))
    bad = parsed("3", "tres")
    broken = ParsedPublication(bad.header, [*bad.chunks, *parsed("3", "lost").chunks])
    with pytest.raises(ValueError, match="does not continue"):
        put(store, "b.md", parsed("2", "dos", "tres"), broken)
    assert ids(store, "2") == []
    assert put(store, "c.md", parsed("4", "cuatro")) == 1
    assert ids(store, "4") == [2]  # the ids of what was rolled back were never given


def test_equal_chunks_keep_their_ids_and_changed_ones_get_new_ones(store: StoreWriter) -> None:
    put(store, "a.md", parsed("1", "uno", "dos"), parsed("2", "tres"))
    assert put(store, "a.md", parsed("1", "uno", "dos", title="New"), parsed("2", "cuatro")) == 1
    assert ids(store, "1") == [1, 2]
    assert ids(store, "2") == [4]
    with StoreReader(store.path) as reader:
        publication = reader.publication("1", ALL)
        assert publication is not None
        assert publication.title == "New"


def test_ids_are_not_used_again_after_a_removal(store: StoreWriter) -> None:
    put(store, "a.md", parsed("1", "uno", "dos"))
    with store.transaction():
        assert store.remove_publication("1")
        assert not store.remove_publication("1")
    put(store, "a.md", parsed("1", "uno", "dos"))
    assert ids(store, "1") == [3, 4]


def test_a_code_belongs_to_one_source(store: StoreWriter) -> None:
    put(store, "a.md", parsed("1", "uno"))
    with pytest.raises(CodeTaken):
        put(store, "b.md", parsed("1", "dos"))
    with pytest.raises(ValueError, match="twice"):
        put(store, "b.md", parsed("2", "dos"), parsed("2", "dos"))
    with pytest.raises(ValueError, match="no text"):
        put(store, "b.md", parsed("2"))
    with pytest.raises(ValueError, match="no publication"):
        put(store, "b.md")


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5), title=st.text(max_size=20))
def test_any_text_comes_back_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], title: str
) -> None:
    with StoreWriter(tmp_path_factory.mktemp("any") / "store-1.sqlite", name="test") as store:
        put(store, "a.md", parsed("1", *texts, title=title))
        with StoreReader(store.path) as reader:
            assert [c.text for c in reader.chunks("1", ALL)] == texts
            publication = reader.publication("1", ALL)
            assert publication is not None
            assert publication.title == title


def test_opening_twice_keeps_rows_and_records_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "store-1.sqlite"
    with StoreWriter(path, name="test") as store:
        put(store, "a.md", parsed("1", "uno"))
    with StoreWriter(path, name="test") as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        assert ids(store, "1") == [1]


def test_a_reader_keeps_what_it_saw(store: StoreWriter) -> None:
    put(store, "a.md", parsed("1", "uno"))
    with StoreReader(store.path) as reader:
        with store.transaction():
            store.remove_publication("1")
        assert [c.text for c in reader.chunks("1", ALL)] == ["uno"]
    assert ids(store, "1") == []


def test_the_lock_names_its_holder_and_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from dofrag.store.lock import WriterLock\n"
        f"with WriterLock(pathlib.Path({str(tmp_path)!r}), 'dof index build'):\n"
        " print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_locked(tmp_path)
        with pytest.raises(StoreBusy, match=f"process {holder.pid} \\(dof index build\\)"), WriterLock(tmp_path, "x"):
            pass
    finally:
        holder.kill()
        holder.communicate()
    assert not is_locked(tmp_path)
    with WriterLock(tmp_path, "again"):
        assert json.loads((tmp_path / "writer.lock").read_text())["command"] == "again"


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UsageError, match="cannot be written"), WriterLock(tmp_path / "file", "x"):
        pass


def test_a_full_disk_is_no_reason_to_distrust_a_store() -> None:
    """What SQLite says of its surroundings is told as such: nothing is read anew for it."""

    class Full:
        def execute(self, _: str) -> None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error

    with pytest.raises(CorpusError, match="cannot be used now") as refused:
        check_schema(Full(), "x")  # type: ignore[arg-type]
    assert not isinstance(refused.value, IndexMismatch)
