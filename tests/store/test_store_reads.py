"""What the store gives under a run's filters, and what it refuses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from tiny_gazette import EVERYTHING, TinyProfile, small_corpus, tiny_parse, write

from dofrag.domain.corpus import Filters, Kind
from dofrag.errors import CorpusError, IndexMismatch, StoreMissing
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.open import open_index
from dofrag.store.corpus import StoreReader
from dofrag.store.rows import issuer_words

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
PUBLIC_2024 = Filters(as_of=date(2024, 12, 31))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reads")
    corpus = root / "corpus"
    write(corpus, "10.md", "uno", "dos", "tres", date="2024-01-10", issuer="SECRETARÍA DE ECONOMÍA")
    write(corpus, "11.md", "cuatro", date="2024-02-10", edition="VES", issuer="SECRETARÍA DE SALUD", kind="AVISO")
    write(corpus, "12.md", "cinco", date="2024-02-10", edition="MAT", position="2", issuer="Instituto del Año")
    write(corpus, "13.md", "seis", date="2025-03-10", issuer="SECRETARIA DE ECONOMIA")
    write(corpus, "14.md", "secreto", date="2024-02-11", scope="dictamen", issuer="SECRETARÍA DE ECONOMÍA")
    write(corpus, "15.md", "índice", date="2024-02-11", kind="INDICE")
    build([corpus], root / "index", INGEST)
    return root / "index"


@pytest.fixture
def reader(folder: Path) -> Iterator[StoreReader]:
    with open_index(folder) as index:
        yield index.reader


def codes(reader: StoreReader, **changes: object) -> list[str]:
    values = {"as_of": date(2024, 12, 31), **changes}
    return [p.code for p in reader.list_publications(Filters(**values), limit=50).publications]  # type: ignore[arg-type]


def test_listing_is_ordered_and_cut_off(reader: StoreReader) -> None:
    assert codes(reader) == ["10", "12", "11"]
    assert codes(reader, as_of=date(2025, 12, 31)) == ["10", "12", "11", "13"]
    assert codes(reader, as_of=date(2023, 1, 1)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"published_from": date(2024, 2, 10)}, ["12", "11"]),
        ({"published_to": date(2024, 2, 9)}, ["10"]),
        ({"published_to": date(2030, 1, 1)}, ["10", "12", "11"]),
        ({"editions": ("VES",)}, ["11"]),
        ({"kinds": (Kind.AVISO,)}, ["11"]),
        ({"kinds": (Kind.INDICE,)}, ["15"]),
        ({"kinds": ()}, []),
        ({"issuer": "secretaria de economia"}, ["10"]),
        ({"issuer": "Economía"}, ["10"]),
        ({"issuer": "secretaría"}, ["10", "11"]),
        ({"issuer": "Instituto del Ano"}, []),
        ({"issuer": "instituto año"}, ["12"]),
        ({"issuer": "de la"}, []),
        ({"issuer": "%"}, []),
        ({"codes": ("10", "13", "14")}, ["10"]),
        ({"codes": ()}, []),
        ({"scopes": frozenset({"public", "dictamen"})}, ["10", "12", "11", "14"]),
        ({"scopes": frozenset()}, []),
    ],
)
def test_filters_decide_what_exists(reader: StoreReader, changes: dict[str, object], expected: list[str]) -> None:
    assert codes(reader, **changes) == expected
    assert reader.list_publications(
        Filters(**{"as_of": date(2024, 12, 31), **changes}),
        limit=1,  # type: ignore[arg-type]
    ).total == len(expected)


def test_pages_of_a_listing_join_to_the_whole(reader: StoreReader) -> None:
    pages = [reader.list_publications(EVERYTHING, limit=2, offset=o).publications for o in range(0, 8, 2)]
    assert [p.code for page in pages for p in page] == ["10", "12", "11", "15", "13"]


def test_every_read_hides_what_the_filters_exclude(reader: StoreReader) -> None:
    secret = Filters(as_of=date.max, scopes=frozenset({"dictamen"}))
    hidden = reader.chunks("14", secret)
    assert hidden
    ids = [c.id for c in hidden]
    assert reader.publication("14", PUBLIC_2024) is None
    assert reader.publications(["14", "10"], PUBLIC_2024).keys() == {"10"}
    assert reader.passages(ids, PUBLIC_2024) == []
    assert reader.chunks("14", PUBLIC_2024) == []
    assert reader.outline("14", PUBLIC_2024, limit=10) == ([], 0)
    assert [p.id for p in reader.passages(ids, secret)] == ids


def test_passages_come_in_the_order_asked_for_without_repeats(reader: StoreReader) -> None:
    ids = [c.id for c in reader.chunks("10", PUBLIC_2024)]
    asked = [ids[2], ids[0], ids[2], 999_999, -1, 0, 2**70]
    assert [p.id for p in reader.passages(asked, PUBLIC_2024)] == [ids[2], ids[0]]


def test_chunks_tile_the_text_and_outline_pages_them(reader: StoreReader) -> None:
    chunks = reader.chunks("10", PUBLIC_2024)
    publication = reader.publication("10", PUBLIC_2024)
    assert publication is not None
    assert (
        "".join(c.text for c in chunks) == "= 10\n@date 2024-01-10\n@issuer SECRETARÍA DE ECONOMÍA\nuno\ndos\ntres\n"
    )
    assert publication.chars == sum(len(c.text) for c in chunks)
    entries, total = reader.outline("10", PUBLIC_2024, limit=2, offset=3)
    assert total == len(chunks) == 6
    assert [e.first_words for e in entries] == ["uno", "dos"]
    assert reader.outline("10", PUBLIC_2024, limit=5, offset=99) == ([], 6)


def test_neighbors_stay_within_the_publication(reader: StoreReader) -> None:
    ids = [c.id for c in reader.chunks("10", PUBLIC_2024)]
    assert reader.neighbors(ids[0], 1) == ids[:2]
    assert reader.neighbors(ids[2], 1) == ids[1:4]
    assert reader.neighbors(ids[-1], 2) == ids[-3:]
    assert reader.neighbors(10**6, 1) == []


def test_dates_and_scopes(reader: StoreReader) -> None:
    assert reader.dates(frozenset({"public"})) == (date(2024, 1, 10), date(2025, 3, 10))
    assert reader.dates(frozenset({"dictamen"})) == (date(2024, 2, 11), date(2024, 2, 11))
    assert reader.dates(frozenset({"nothing"})) is None
    assert reader.restricted_scopes() == {"dictamen"}


@pytest.mark.parametrize("code", ["", "' OR 1=1 --", "10\x00", "10\\u0000", "\ud800", "%", "x" * 100_000])
def test_hostile_codes_find_nothing(reader: StoreReader, code: str) -> None:
    assert reader.publication(code, PUBLIC_2024) is None
    assert codes(reader, codes=(code,)) == []


def test_reads_use_indexes(reader: StoreReader) -> None:
    plan = reader.connection.execute(
        "EXPLAIN QUERY PLAN SELECT c.id FROM json_each('[1]') j CROSS JOIN chunks c ON c.id = j.value "
        "CROSS JOIN publications p ON p.id = c.publication_id"
    ).fetchall()
    assert not [row for row in plan if row[3].startswith("SCAN") and "json_each" not in row[3] and " j" not in row[3]]


def test_a_missing_store_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing) as caught:
        StoreReader(tmp_path / "store-1.sqlite")
    assert "dof index build" in (caught.value.hint or "")


@pytest.mark.parametrize("content", [b"", b"not a database, whatever its name" * 100])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store-1.sqlite"
    path.write_bytes(content)
    with pytest.raises(IndexMismatch):
        StoreReader(path)


def test_a_newer_schema_is_refused(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "store-1.sqlite"
    path.write_bytes((folder / "store-1.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(IndexMismatch, match="newer"):
        StoreReader(path)


def test_unmerged_changes_in_a_read_only_folder_are_not_ignored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What SQLite says in a folder that cannot be written, said by a double: tests may run as root."""
    path = tmp_path / "store-1.sqlite"
    path.write_bytes((folder / "store-1.sqlite").read_bytes())
    real = sqlite3.connect

    def connect(name: str, **options: object) -> sqlite3.Connection:
        if "immutable" not in name:
            raise sqlite3.OperationalError("unable to open database file")
        return real(name, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("dofrag.store.corpus.sqlite3.connect", connect)
    with StoreReader(path) as reader:
        assert reader.publication("10", PUBLIC_2024) is not None
    path.with_name(path.name + "-wal").write_bytes(b"changes")
    with pytest.raises(CorpusError, match="not merged"):
        StoreReader(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SECRETARÍA DE ECONOMÍA", ("secretaria", "economia")),
        ("", ()),
        ("Año y año", ("año",)),
        ("INEGI.", ("inegi",)),
    ],
)
def test_issuer_words(name: str, words: tuple[str, ...]) -> None:
    assert issuer_words(name) == words


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE publications SET published_on = 'soon'",
        "UPDATE publications SET source_kind = 'none'",
        "UPDATE publications SET identifiers = '['",
        "UPDATE chunks SET heading = 77",
        "DROP TABLE chunks",
        "DROP TABLE publications",
    ],
)
def test_damage_is_an_error_for_people(tmp_path: Path, damage: str) -> None:
    small_corpus(tmp_path / "corpus", 4)
    build([tmp_path / "corpus"], tmp_path / "index", INGEST)
    path = tmp_path / "index/store-1.sqlite"
    db = sqlite3.connect(path)
    db.execute(damage)
    db.commit()
    db.close()
    refused = 0
    with StoreReader(path) as reader:
        for read in (
            lambda: reader.dates(frozenset({"public"})),
            lambda: reader.publication("1001", EVERYTHING),
            lambda: reader.list_publications(EVERYTHING, limit=10),
            lambda: reader.passages([1, 2, 3], EVERYTHING),
            lambda: reader.neighbors(2, 1),
            lambda: reader.outline("1001", EVERYTHING, limit=10),
            lambda: reader.chunks("1001", EVERYTHING),
            reader.restricted_scopes,
        ):
            try:
                read()
            except IndexMismatch as error:
                assert "dof index build" in str(error.hint)  # noqa: PT017  # any of these may, and some must
                refused += 1
    assert refused
