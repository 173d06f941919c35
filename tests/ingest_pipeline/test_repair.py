"""Whatever is damaged, `build` is a way out; what is not ours, or newer, is not touched."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_gazette import EVERYTHING, TinyProfile, small_corpus, tiny_parse, write

from dofrag.domain.corpus import Chunk
from dofrag.errors import CorpusError, DofError, IndexMismatch, NewerIndex, UsageError
from dofrag.ingest.pipeline import Ingest, build, remove, silent
from dofrag.ingest.status import status
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index out of which publications went, so that ids of a build from nothing would differ."""
    root = tmp_path_factory.mktemp("repair")
    small_corpus(root / "corpus", 20)
    write(root / "corpus", "0/0000.md", "el primero de todos", "que se va")
    write(root / "corpus", "@dictamen/9000.md", "un dictamen sobre el agua", scope="dictamen")
    build([root / "corpus"], root / "index", INGEST)
    (root / "corpus/0/0000.md").unlink()
    build([root / "corpus"], root / "index", INGEST)
    assert min(min(chunks) for chunks in ids(root / "index").values()) > 1
    return root


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "index", tmp_path / "index"))


def ids(index: Path) -> dict[str, list[int]]:
    everything = replace(EVERYTHING, scopes=frozenset({"public", "dictamen"}))
    with open_index(index) as opened:
        listing = opened.reader.list_publications(everything, limit=10_000)
        return {p.code: [c.id for c in opened.reader.chunks(p.code, everything)] for p in listing.publications}


def store_of(index: Path) -> Path:
    return index / f"store-{json.loads((index / 'index.json').read_text())['store']}.sqlite"


def search_of(index: Path) -> Path:
    return index / f"search-{json.loads((index / 'index.json').read_text())['search']}"


def one(index: Path, ending: str) -> Path:
    return sorted((search_of(index) / "public").glob(f"*{ending}"))[0]


def cut(path: Path, share: float = 0.5) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def fill(path: Path, start: int, piece: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[start : start + len(piece)] = piece[: max(0, len(data) - start)]
    path.write_bytes(data)


def sql(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


PLAIN: dict[str, Callable[[Path], object]] = {
    "pointer empty": lambda i: (i / "index.json").write_text(""),
    "pointer garbled": lambda i: (i / "index.json").write_bytes(b"\xff\x00{"),
    "pointer older": lambda i: (i / "index.json").write_text('{"format": 0}'),
    "pointer of another kind": lambda i: (i / "index.json").write_text('{"format": "1"}'),
    "pointer gone": lambda i: (i / "index.json").unlink(),
    "store gone": lambda i: store_of(i).unlink(),
    "store empty": lambda i: store_of(i).write_bytes(b""),
    "store cut": lambda i: cut(store_of(i)),
    "store no database": lambda i: store_of(i).write_bytes(b"not a database" * 1000),
    "store pages garbled": lambda i: [fill(store_of(i), at, b"\xa5" * 3000) for at in range(4096, 400_000, 4096)],
    "store without a table": lambda i: sql(store_of(i), "DROP TABLE sources"),
    "search gone": lambda i: shutil.rmtree(search_of(i)),
    "search public gone": lambda i: shutil.rmtree(search_of(i) / "public"),
    "search restricted gone": lambda i: shutil.rmtree(next(search_of(i).glob("restricted-*"))),
    "search store cut": lambda i: cut(one(i, ".store")),
    "search idx cut": lambda i: cut(one(i, ".idx")),
    "search terms gone": lambda i: one(i, ".term").unlink(),
    "search meta garbled": lambda i: (search_of(i) / "public/meta.json").write_text("{"),
    "search footer flipped": lambda i: fill(one(i, ".fast"), one(i, ".fast").stat().st_size - 8, b"\xff" * 8),
    "everything": lambda i: [p.write_bytes(b"x") for p in i.rglob("*") if p.is_file()],
}
HIDDEN: dict[str, Callable[[Path], object]] = {
    "text tampered": lambda i: sql(store_of(i), "UPDATE chunks SET text = upper(text) WHERE id = 20"),
    "date tampered": lambda i: sql(store_of(i), "UPDATE publications SET published_on = '1999-01-01' WHERE id = 3"),
    "date no date": lambda i: sql(store_of(i), "UPDATE publications SET published_on = 'soon' WHERE id = 3"),
    "source tampered": lambda i: sql(store_of(i), "UPDATE publications SET source_id = 2 WHERE id = 5"),
    "stray chunk": lambda i: sql(store_of(i), "INSERT INTO chunks VALUES (999, 1, 0, 0, 1, NULL, 'text', 'x', NULL)"),
    "search stored texts zeroed": lambda i: fill(one(i, ".store"), 20, b"\0" * 300),
    "search terms zeroed": lambda i: fill(one(i, ".term"), 50, b"\0" * 300),
    "search postings zeroed": lambda i: fill(one(i, ".idx"), 50, b"\0" * 300),
}


def uses(index: Path) -> None:
    """What people do with an index raises nothing but errors for people."""
    for use in (lambda: ids(index), lambda: status(index), lambda: search(index), lambda: verify(index, silent)):
        with contextlib.suppress(DofError):
            use()


def search(index: Path) -> None:
    with open_index(index) as opened:
        for limit in (1, 200):
            opened.backend.search_chunks("agua potable ruido", EVERYTHING, limit=limit, explain=True)
            opened.backend.search_publications("ACUERDO número", EVERYTHING, limit=limit)


@pytest.mark.parametrize("damage", sorted(PLAIN))
def test_a_plain_build_repairs(made: Path, index: Path, damage: str) -> None:
    before = ids(made / "index")
    (index / "notes.txt").write_text("not ours")
    PLAIN[damage](index)
    uses(index)
    told: list[str] = []
    report = build([made / "corpus"], index, replace(INGEST, notice=told.append))
    assert report.problems == ()
    assert verify(index, silent).faults == []
    assert told or damage == "pointer gone"
    assert (index / "notes.txt").read_text() == ("x" if damage == "everything" else "not ours")
    if "begin anew" in "".join(told):
        assert damage.startswith("store") or damage == "everything"
    else:
        assert ids(index) == before
    assert build([made / "corpus"], index, INGEST).parsed == 0


@pytest.mark.parametrize("damage", sorted(HIDDEN))
def test_what_verify_finds_a_fresh_build_repairs(made: Path, index: Path, damage: str) -> None:
    before = ids(made / "index")
    HIDDEN[damage](index)
    uses(index)
    found = verify(index, silent)
    assert found.faults
    assert "--fresh" in found.as_json()["hint"]
    report = build([made / "corpus"], index, INGEST, fresh=True)
    assert report.problems == ()
    assert verify(index, silent).faults == []
    after = ids(index)
    assert after.keys() == before.keys()
    changed = {code for code, chunks in after.items() if chunks != before[code]}
    assert len(changed) <= 1
    highest = max(i for chunks in before.values() for i in chunks)
    assert all(i > highest for code in changed for i in after[code])


def test_a_fresh_build_that_changes_nothing_keeps_ids_and_stamp(made: Path, index: Path) -> None:
    before = status(index)
    for _ in range(2):
        report = build([made / "corpus"], index, INGEST, fresh=True)
        assert report.parsed
        assert report.stamp == before.stamp
    assert ids(index) == ids(made / "index")


def test_a_fresh_build_that_is_cut_off_goes_on(made: Path, index: Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if stage == "read" and done == 9:
            raise KeyboardInterrupt

    (index / "index.json").write_text("")
    with pytest.raises(KeyboardInterrupt):
        build([made / "corpus"], index, replace(INGEST, progress=stop))
    with pytest.raises(KeyboardInterrupt):
        build([made / "corpus"], index, replace(INGEST, progress=stop), fresh=True)
    report = build([made / "corpus"], index, INGEST)
    assert report.parsed
    assert ids(index) == ids(made / "index")
    assert verify(index, silent).faults == []
    assert len(list(index.glob("store-*.sqlite"))) == 1


def test_ids_that_were_given_are_never_given_again(made: Path, index: Path, tmp_path: Path) -> None:
    corpus = Path(shutil.copytree(made / "corpus", tmp_path / "corpus"))
    highest = max(i for chunks in ids(index).values() for i in chunks)
    remove(["1000", "2000"], index, INGEST)
    (index / "index.json").write_text("{")
    write(corpus, "3/1003.md", "otro texto", "en otras líneas")
    build([corpus], index, INGEST)
    after, before = ids(index), ids(made / "index")
    for code in ("1000", "2000", "1003"):
        assert min(after[code]) > highest, code
    assert after["1004"] == before["1004"]


@pytest.mark.parametrize("newer", ["pointer", "store"])
def test_an_index_of_newer_code_is_not_touched(made: Path, index: Path, newer: str) -> None:
    if newer == "pointer":
        (index / "index.json").write_text('{"format": 2, "anything": 1}')
    else:
        sql(store_of(index), "PRAGMA user_version = 99")
    before = {p: p.read_bytes() for p in index.rglob("*") if p.is_file() and p.suffix in (".json", ".sqlite")}
    for fresh in (False, True):
        with pytest.raises(NewerIndex) as caught:
            build([made / "corpus"], index, INGEST, fresh=fresh)
        assert "remove" in (caught.value.hint or "")
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.parametrize("text", ["{}", "", '{"name": "website"}', "[1]"])
def test_a_folder_of_something_else_is_not_touched(made: Path, tmp_path: Path, text: str) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.json").write_text(text)
    for fresh in (False, True):
        with pytest.raises(CorpusError, match="not of an index"):
            build([made / "corpus"], site, INGEST, fresh=fresh)
    assert [p.name for p in site.iterdir()] == ["index.json"]
    assert (site / "index.json").read_text() == text


def test_nothing_to_build_from_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError):
        build([tmp_path / "empty"], tmp_path / "a/b/index", INGEST)
    assert [p.name for p in tmp_path.iterdir()] == ["empty"]


# Back to schema 2: heading paths as JSON with every chunk, digests as text.
BEFORE_V3 = """ALTER TABLE chunks ADD COLUMN headings TEXT NOT NULL DEFAULT '[]';
    UPDATE chunks SET headings = (SELECT json_array(name) FROM headings h
        WHERE h.publication_id = chunks.publication_id AND number = heading) WHERE heading IS NOT NULL;
    ALTER TABLE chunks DROP COLUMN heading; DROP TABLE headings; DROP INDEX sources_by_status;
    CREATE INDEX sources_by_status ON sources (status, rel); PRAGMA user_version = 2;
    UPDATE publications SET sha256 = lower(hex(sha256)), chunks_sha256 = lower(hex(chunks_sha256));
    UPDATE chunks SET kind = 'text' WHERE kind = '';
    DELETE FROM _sqlite_migrations WHERE name IN ('v3', 'v4');"""
HEADED = ("# Título Primero", "uno", "dos", "# Título Segundo", "tres", "# Título Primero", "cuatro")


@pytest.mark.parametrize("fresh", [False, True])
def test_heading_paths_of_an_older_store_are_kept_once(made: Path, tmp_path: Path, fresh: bool) -> None:
    """Taken over where they stand, or read anew with the same ids."""
    corpus, index = tmp_path / "corpus", tmp_path / "index"
    shutil.copytree(made / "corpus", corpus)
    write(corpus, "1/5001.md", *HEADED)
    write(corpus, "2/5002.md", "sin título", *HEADED)
    build([corpus], index, INGEST)
    before, known = contents(index), ids(index)
    assert {c.heading_path for c in before["5002"]} == {(), ("Título Primero",), ("Título Segundo",)}
    with contextlib.closing(sqlite3.connect(store_of(index))) as db:
        db.executescript(BEFORE_V3)
    with pytest.raises(IndexMismatch, match="store schema 2"):
        open_index(index)
    report = build([corpus], index, INGEST, fresh=fresh)
    assert report.chunks_written == (sum(map(len, known.values())) if fresh else 0)
    assert contents(index) == before
    assert ids(index) == known
    assert verify(index, silent).faults == []
    remove(["5001"], index, INGEST)
    with contextlib.closing(sqlite3.connect(store_of(index))) as db:
        (left,) = db.execute(
            "SELECT count(*) FROM headings WHERE publication_id NOT IN (SELECT id FROM publications)"
        ).fetchone()
    assert not left


def contents(index: Path) -> dict[str, list[Chunk]]:
    with open_index(index) as opened:
        listing = opened.reader.list_publications(EVERYTHING, limit=100).publications
        return {p.code: opened.reader.chunks(p.code, EVERYTHING) for p in listing}


def test_an_older_store_is_brought_up_to_date(made: Path, index: Path) -> None:
    before = status(index, ("dictamen",))
    db = sqlite3.connect(store_of(index))
    db.executescript(
        f"""{BEFORE_V3} DROP TABLE ignored; ALTER TABLE sources DROP COLUMN scope; PRAGMA user_version = 1;
           DELETE FROM _sqlite_migrations WHERE name = 'v2';"""
    )
    db.close()
    with pytest.raises(IndexMismatch, match="store schema 1"):
        open_index(index)
    report = build([made / "corpus"], index, INGEST)
    assert (report.stamp, report.ignored, report.chunks_written) == (before.stamp, before.ignored, 0)
    assert status(index).files == before.files - 1
    assert verify(index, silent).faults == []
