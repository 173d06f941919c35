"""Vectors of an index: made in any order of kills and goes-on, exact in what they cover, filtered before ranking."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, tiny_parse
from toy_embedder import ToyEmbedder

from dofrag.domain.corpus import PUBLIC, Filters, Kind
from dofrag.errors import IndexMismatch, StoreBusy
from dofrag.ingest.pipeline import Ingest, build, remove, update
from dofrag.search.open import OpenIndex, open_index
from dofrag.store.lock import WriterLock

np = pytest.importorskip("numpy", reason="numpy is not installed: pip install 'dofrag[vectors]'")

from dofrag.search.vectors import index as vector_module  # noqa: E402
from dofrag.search.vectors.build import embed_index  # noqa: E402
from dofrag.search.vectors.codes import Query  # noqa: E402
from dofrag.search.vectors.held import corpus_of, row_mask  # noqa: E402
from dofrag.search.vectors.index import VectorIndex  # noqa: E402
from dofrag.search.vectors.interface import Role  # noqa: E402
from dofrag.search.vectors.journal import JOURNAL  # noqa: E402
from dofrag.search.vectors.manifest import FOLDER, read_manifest  # noqa: E402
from dofrag.search.vectors.report import vector_faults, vector_status  # noqa: E402

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
OPEN = Filters(as_of=date.max, kinds=tuple(Kind))
PER, PUBLIC_CHUNKS, ALL_CHUNKS = 9, 180, 210  # a line is a chunk; the restricted ones have one more
TOPICS = ("agua potable", "pesca de camarón", "timbres fiscales", "caminos rurales", "azúcar de caña")


def write(folder: Path, code: str, topic: str, *, day: int = 1, lines: int = 4, scope: str = "", kind: str = "DOF",
          title: str | None = None) -> None:  # fmt: skip
    path = folder / f"@{scope}" / f"{code}.md" if scope else folder / f"{code}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "\n".join(f"{topic} disposición {n} de {code}" for n in range(lines))
    scope_line = f"@scope {scope}\n" if scope else ""
    path.write_text(
        f"= {code}\n{scope_line}@date 2024-01-{day:02}\n@kind {kind}\n@issuer Junta de {topic.split()[0]}\n"
        f"@title {title or 'Acuerdo sobre ' + topic}\n{body}\n",
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("vectors")
    for n in range(20):
        write(root / "corpus", f"{n:03}", TOPICS[n % 5], day=n + 1, kind="AVISO" if n % 4 == 3 else "DOF")
    for n in range(3):
        write(root / "corpus", f"r{n}", "agua potable", scope="reservado", day=n + 1)
    build([root / "corpus"], root / "index", INGEST)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made"


def embed(root: Path, embedder: ToyEmbedder | None = None, **options: object) -> object:
    return embed_index(root / "index", embedder or ToyEmbedder(), batch=7, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def embedded(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("embedded") / "made"
    shutil.copytree(made, root)
    embed(root)
    return root


def files(root: Path) -> dict[str, bytes]:
    """The arrays by name, whatever their generation."""
    place = root / "index" / FOLDER
    return {f"{p.parts[-3]}/{p.name}": p.read_bytes() for p in sorted(place.rglob("*.npy"))}


class Searched:
    def __init__(self, root: Path, *scopes: str) -> None:
        self.open: OpenIndex = open_index(root / "index")
        corpus = corpus_of(self.open.reader.meta())
        self.vectors = VectorIndex(root / "index", self.open.reader.connection, corpus, {PUBLIC, *scopes})

    def __enter__(self) -> Searched:
        return self

    def __exit__(self, *_: object) -> None:
        self.open.close()

    def codes(self, text: str, filters: Filters = OPEN, limit: int = 300) -> list[str]:
        query = Query(ToyEmbedder().embed([text], Role.QUERY)[0])
        found, _ = self.vectors.search(query, filters, limit=limit)
        passages = self.open.reader.passages([i for i, _ in found], Filters(
            as_of=date.max, kinds=tuple(Kind), scopes=frozenset({PUBLIC, "reservado"})))  # fmt: skip
        assert len(passages) == len(found)
        return [p.publication.code for p in passages]


def coverage(root: Path) -> tuple[int, int]:
    with Searched(root) as searched:
        return searched.vectors.coverage.vectors, searched.vectors.coverage.chunks


# -- building --


def test_every_chunk_gets_a_vector_and_the_nearest_is_about_the_same(root: Path) -> None:
    done = embed(root)
    assert (done.embedded, done.rows, done.chunks, done.complete) == (210, 210, 210, True)  # type: ignore[attr-defined]
    with Searched(root) as searched:
        assert str(searched.vectors.coverage) == "180 of 180 chunks (100.0 %)"
        best = searched.codes("camarón pesca", limit=16)
        assert {int(code) % 5 for code in best} == {1}


def test_a_second_time_embeds_nothing_and_changes_nothing(root: Path) -> None:
    embed(root)
    before, manifest = files(root), read_manifest(root / "index")
    again = ToyEmbedder()
    assert embed(root, again).embedded == 0  # type: ignore[attr-defined]
    assert again.texts == []
    assert (files(root), read_manifest(root / "index")) == (before, manifest)


@pytest.mark.parametrize("stop_after", [1, 7, 60, 179, 195])
def test_interrupted_and_gone_on_leaves_the_same_bytes(embedded: Path, root: Path, stop_after: int) -> None:
    first = ToyEmbedder(stop_after=stop_after)
    with pytest.raises(KeyboardInterrupt):
        embed(root, first)
    kept = read_manifest(root / "index").parts.values()  # type: ignore[union-attr]
    assert 0 <= sum(part.rows for part in kept) <= stop_after
    second = ToyEmbedder()
    embed(root, second)
    assert len(second.texts) <= ALL_CHUNKS - stop_after + 8
    assert files(root) == files(embedded)
    assert read_manifest(root / "index").stamp == read_manifest(embedded / "index").stamp  # type: ignore[union-attr]


@settings(max_examples=10, deadline=None)
@given(cut=st.floats(0, 1), garbage=st.binary(max_size=40))
def test_killed_anywhere_and_gone_on_leaves_the_same_bytes(
    made: Path, embedded: Path, tmp_path_factory: pytest.TempPathFactory, cut: float, garbage: bytes
) -> None:
    """As a kill or a power cut leaves it: a journal that ends anywhere, with anything behind, and no new manifest."""
    root = tmp_path_factory.mktemp("killed") / "made"
    shutil.copytree(made, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dofrag.search.vectors.build._finish", lambda folder, manifest: manifest)
        embed(root)
    journal = root / "index" / FOLDER / "public" / JOURNAL
    data = journal.read_bytes()
    journal.write_bytes(data[: int(len(data) * cut)] + garbage)
    embed(root)
    assert files(root) == files(embedded)


def test_at_most_so_many_this_time(root: Path) -> None:
    assert embed(root, limit=0).rows == 0  # type: ignore[attr-defined]
    assert embed(root, limit=30).rows == 30  # type: ignore[attr-defined]
    assert embed(root, limit=30).rows == 60  # type: ignore[attr-defined]
    assert coverage(root) == (60, PUBLIC_CHUNKS)


def test_one_embeds_at_a_time_and_writers_are_not_kept_waiting(root: Path) -> None:
    (root / "index" / FOLDER).mkdir()
    with WriterLock(root / "index" / FOLDER, "dof index embed"), pytest.raises(StoreBusy, match="dof index embed"):
        embed(root)
    with WriterLock(root / "index", "dof index update"):
        assert embed(root).complete  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (ToyEmbedder(name="other"), "name is 'toy', the embedder's 'other'"),
        (ToyEmbedder(prefixes=("q: ", "")), "query prefix is ''"),
        (ToyEmbedder(dimension=64), "dimension is 48"),
        (ToyEmbedder(salt="anders gestreut "), "is another model"),
    ],
)
def test_vectors_of_another_model_are_refused(root: Path, other: ToyEmbedder, said: str) -> None:
    embed(root, limit=10)
    before = files(root)
    with pytest.raises(IndexMismatch, match=said) as caught:
        embed(root, other)
    assert "dof index embed" in (caught.value.hint or "")
    assert "--fresh" in (caught.value.hint or "")
    assert files(root) == before
    assert embed(root, other, fresh=True).complete  # type: ignore[attr-defined]


# -- changes of the corpus --


def test_what_is_removed_is_never_found_and_what_is_new_is_missing(root: Path) -> None:
    embed(root)
    remove(["001"], root / "index", INGEST)
    assert coverage(root) == (171, 171)
    write(root / "corpus", "100", "pesca de camarón")
    update([root / "corpus" / "100.md"], root / "index", INGEST)
    assert coverage(root) == (171, 180)
    with Searched(root) as searched:
        found = searched.codes("camarón pesca")
        assert "001" not in found
        assert "100" not in found
        assert len(found) == 171
    more = ToyEmbedder()
    assert embed(root, more).embedded == PER  # type: ignore[attr-defined]
    assert all(text.startswith("Acuerdo sobre pesca") for text in more.texts)
    with Searched(root) as searched:
        assert "100" in searched.codes("camarón pesca", limit=20)


def test_a_new_title_makes_the_vectors_of_its_passages_stale(root: Path) -> None:
    embed(root)
    write(root / "corpus", "002", TOPICS[2], day=3, title="Lista de raya")
    update([root / "corpus" / "002.md"], root / "index", INGEST)
    assert coverage(root) == (171, 180)
    more = ToyEmbedder()
    embed(root, more)
    assert len(more.texts) == PER
    assert all(text.startswith("Lista de raya\n") for text in more.texts)
    assert coverage(root) == (180, 180)


def test_a_rebuild_keeps_the_vectors_of_what_did_not_change(root: Path) -> None:
    embed(root)
    (root / "corpus" / "004.md").unlink()
    build([root / "corpus"], root / "index", INGEST, fresh=True)
    assert coverage(root) == (171, 171)
    more = ToyEmbedder()
    assert embed(root, more).complete  # type: ignore[attr-defined]
    assert more.texts == []


def test_a_passage_that_goes_while_it_is_embedded(root: Path) -> None:
    class Removing(ToyEmbedder):
        def embed(self, texts, role):  # type: ignore[no-untyped-def]
            if role is Role.PASSAGE and not self.texts:
                remove(["000", "019"], root / "index", INGEST)
            return super().embed(texts, role)

    done = embed(root, Removing())
    assert (done.rows, done.chunks) == (192, 192)  # type: ignore[attr-defined]
    with Searched(root) as searched:
        assert not {"000", "019"} & set(searched.codes("agua potable"))


def test_coverage_is_exact_while_an_update_is_under_way(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store holds what is new; its digest is still that of before, and so is the vectors'."""
    embed(root)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dofrag.ingest.pipeline.catch_up", die)
    write(root / "corpus", "100", "pesca de camarón")
    with pytest.raises(KeyboardInterrupt):
        update([root / "corpus" / "100.md"], root / "index", INGEST)
    with WriterLock(root / "index", "dof index update"):  # as if it still ran
        assert coverage(root) == (180, 189)


# -- filters --


@pytest.fixture(params=["exact", "bits"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Few candidates and many take different ways to the same filters."""
    if request.param == "bits":
        monkeypatch.setattr(vector_module, "EXACT", 1)
        monkeypatch.setattr(vector_module, "RESCORED", 30)
    return request.param


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(as_of=date(2024, 1, 5), kinds=tuple(Kind)), {f"{n:03}" for n in range(5)}),
        (Filters(as_of=date.max, published_from=date(2024, 1, 19), kinds=tuple(Kind)), {"018", "019"}),
        (Filters(as_of=date.max, published_to=date(2024, 1, 1)), {"000"}),
        (Filters(as_of=date.max, kinds=(Kind.AVISO,)), {"003", "007", "011", "015", "019"}),
        (Filters(as_of=date.max, issuer="junta caminos"), {"003", "008", "013", "018"}),
        (Filters(as_of=date.max, codes=("004", "r1", "zzz")), {"004"}),
        (Filters(as_of=date.max, codes=()), set()),
        (Filters(as_of=date(2023, 1, 1)), set()),
        (Filters(as_of=date.max, published_from=date(2024, 2, 1)), set()),
        (Filters(as_of=date.max, scopes=frozenset()), set()),
    ],
)
def test_filters_apply_before_ranking(embedded: Path, filters: Filters, expected: set[str]) -> None:
    with Searched(embedded) as searched:
        assert set(searched.codes("agua potable", filters, limit=8)) <= expected
        assert set(searched.codes("agua potable", filters)) == expected


@pytest.mark.usefixtures("way")
def test_restricted_collections_are_found_by_those_who_may_see_them_alone(embedded: Path) -> None:
    allowed = Filters(as_of=date.max, scopes=frozenset({PUBLIC, "reservado"}))
    with Searched(embedded) as searched:  # not opened for it: not even a filter that names it finds it
        assert not [c for c in searched.codes("agua potable", allowed) if c.startswith("r")]
        assert searched.vectors.coverage.chunks == PUBLIC_CHUNKS
    with Searched(embedded, "reservado") as searched:
        assert searched.vectors.coverage.chunks == ALL_CHUNKS
        assert {"r0", "r1", "r2"} <= set(searched.codes("agua potable", allowed))
        assert not [c for c in searched.codes("agua potable") if c.startswith("r")]


def test_what_is_restricted_leaves_no_mark_on_public_vectors(made: Path, embedded: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "open")
    shutil.rmtree(tmp_path / "open" / "corpus" / "@reservado")
    build([tmp_path / "open" / "corpus"], tmp_path / "open" / "index", INGEST)
    embed(tmp_path / "open")
    same = {name: data for name, data in files(embedded).items() if name.startswith("public/")}
    # Whichever was stored first has the lower ids; vectors, bits and mean are the same.
    found = files(tmp_path / "open")
    assert {n: d for n, d in found.items() if "ids" not in n} == {n: d for n, d in same.items() if "ids" not in n}


@given(
    st.lists(st.integers(1, 500), unique=True).map(sorted),
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), max_size=20),
)
def test_masks_of_ranges(ids: list[int], gaps: list[tuple[int, int]]) -> None:
    ranges, at = [], 0
    for gap, count in gaps:
        ranges.append((at + gap, count))
        at += gap + count
    inside = {i for first, count in ranges for i in range(first, first + count)}
    assert row_mask(np.array(ids, dtype=np.int64), ranges).tolist() == [i in inside for i in ids]


# -- damage --


@pytest.mark.parametrize("name", ["ids", "keys", "scales", "rows", "codes", "centre"])
@pytest.mark.parametrize("harm", ["gone", "cut", "other"])
def test_damaged_arrays_are_refused_with_the_repair(root: Path, name: str, harm: str) -> None:
    embed(root)
    path = next((root / "index" / FOLDER / "public").rglob(f"{name}.npy"))
    if harm == "gone":
        path.unlink()
    elif harm == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    else:
        np.save(path, np.array([[object()]], dtype=object), allow_pickle=True)
    with pytest.raises(IndexMismatch, match=name) as caught, Searched(root):
        pass
    assert "dof index embed" in (caught.value.hint or "")
    status = vector_status(root / "index")
    assert status is not None
    assert name in status["problem"]
    assert len(vector_faults(root / "index")) == 1
    assert embed(root, fresh=True).complete  # type: ignore[attr-defined]
    assert vector_faults(root / "index") == []


def test_a_changed_bit_is_found_by_verify(root: Path) -> None:
    embed(root)
    path = next((root / "index" / FOLDER / "public").rglob("rows.npy"))
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(bytes(data))
    assert "public/rows.npy" in vector_faults(root / "index")[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d | {"format": 2},
        lambda d: d | {"parts": {"../../etc": d["parts"]["public"]}},
        lambda d: d | {"parts": []},
        lambda d: d | {"card": d["card"] | {"dimension": 10**9}},
        lambda d: d | {"card": d["card"] | {"dimension": "48"}},
        lambda d: d | {"card": {}},
        lambda d: d | {"probe": [1, 2]},
        lambda d: [d],
    ],
)
def test_garbled_manifests_are_refused(root: Path, change) -> None:  # type: ignore[no-untyped-def]
    embed(root)
    path = root / "index" / FOLDER / "manifest.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(IndexMismatch, match=r"manifest\.json cannot be read"), Searched(root):
        pass
    assert "cannot be read" in vector_status(root / "index")["problem"]  # type: ignore[index]


def test_an_index_without_vectors_says_how_they_are_made(made: Path) -> None:
    assert vector_status(made / "index") is None
    assert vector_faults(made / "index") == []
    with pytest.raises(IndexMismatch, match="no vectors") as caught, Searched(made):
        pass
    assert "dof index embed" in (caught.value.hint or "")
