"""Hybrid search, through the backend that a run gets."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tiny_gazette import TinyProfile, tiny_parse
from tiny_gazette import write as write_file
from toy_embedder import ToyEmbedder

from dofrag.domain.corpus import PUBLIC, Filters
from dofrag.errors import ModelUnavailable
from dofrag.ingest.pipeline import Ingest, build, remove
from dofrag.search.interface import SearchBackend
from dofrag.search.open import OpenIndex, open_index

np = pytest.importorskip("numpy", reason="numpy is not installed: pip install 'dofrag[vectors]'")

from dofrag.search.hybrid import HybridIndex, VectorOnly  # noqa: E402
from dofrag.search.vectors.build import embed_index  # noqa: E402
from dofrag.search.vectors.index import VectorIndex  # noqa: E402
from dofrag.search.vectors.interface import PROBE, Role  # noqa: E402
from dofrag.search.vectors.pool import PoolEmbedder  # noqa: E402

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
NOW = Filters(as_of=date(2024, 12, 31))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hybrid")
    corpus = root / "corpus"
    write_file(
        corpus, "1.md", "verificación de automóvil particular", title="Programa de verificación", date="2024-01-01"
    )
    write_file(corpus, "2.md", "verificación de pesas", "verificación de medidas", title="Pesas", date="2024-01-02")
    write_file(corpus, "3.md", "tarifa de agua", title="Aguas", date="2024-01-03")
    write_file(corpus, "4.md", "cuota de automóvil eléctrico", title="Cuotas", date="2024-01-04", kind="AVISO")
    write_file(corpus, "5.md", "automóvil oficial de la federación", title="Parque", date="2025-06-01")
    write_file(corpus, "6.md", "norma de ruido", title="Ruido", date="2024-01-06", id="NOM-080-AGUA-2024")
    write_file(corpus, "@secreto/7.md", "automóvil blindado", title="Reserva", date="2024-01-07", scope="secreto")
    for n in range(10, 40):
        write_file(
            corpus, f"{n}.md", f"remate número {n} en el juzgado", title="Edicto", date="2024-02-01", kind="AVISO"
        )
    build([corpus], root / "index", INGEST)
    embed_index(root / "index", ToyEmbedder(), batch=32)
    return root


def vectors_of(opened: OpenIndex, root: Path, *scopes: str) -> VectorIndex:
    corpus = opened.reader.meta()["corpus_digest"]
    return VectorIndex(root / "index", opened.reader.connection, corpus, {PUBLIC, *scopes})


def embed(text: str) -> Any:
    return ToyEmbedder().embed([text], Role.QUERY)[0]


@pytest.fixture
def opened(made: Path) -> OpenIndex:
    return open_index(made / "index")


@pytest.fixture
def hybrid(made: Path, opened: OpenIndex) -> SearchBackend:
    return HybridIndex(opened.backend, opened.reader, embed, vectors=vectors_of(opened, made))


def codes(backend: SearchBackend, query: str, filters: Filters = NOW, limit: int = 10) -> list[str]:
    return list(dict.fromkeys(h.code for h in backend.search_chunks(query, filters, limit=limit).hits))


def test_lay_words_find_what_words_miss(hybrid: SearchBackend, opened: OpenIndex) -> None:
    query = "verificación de coches"
    assert "4" not in codes(opened.backend, query)
    assert codes(hybrid, query)[0] == "1"
    assert "4" in codes(hybrid, query)


def test_where_words_find_nothing_it_finds_nothing(hybrid: SearchBackend) -> None:
    for query in ("", "   ", "de la que", "xyzzy", "coches"):
        assert hybrid.search_chunks(query, NOW, limit=5).hits == ()
        assert hybrid.search_publications(query, NOW, limit=5).total == 0


def test_filters_and_restricted_collections(hybrid: SearchBackend) -> None:
    query = "verificación de coches"
    assert not {"5", "7"} & set(codes(hybrid, query))
    assert set(codes(hybrid, query, Filters(as_of=date(2024, 1, 1)))) == {"1"}
    assert set(codes(hybrid, query, Filters(as_of=date(2024, 12, 31), codes=("2",)))) == {"2"}
    everything = Filters(as_of=date(2024, 12, 31), scopes=frozenset({PUBLIC, "secreto"}))
    assert "7" not in codes(hybrid, "verificación de coches", everything, limit=50)  # not opened for it


def test_a_restricted_collection_that_was_opened(made: Path, opened: OpenIndex) -> None:
    backend = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors_of(opened, made, "secreto"))
    everything = Filters(as_of=date(2024, 12, 31), scopes=frozenset({PUBLIC, "secreto"}))
    assert "7" in codes(backend, "verificación de coches", everything, limit=50)
    assert "7" not in codes(backend, "verificación de coches", limit=50)


def test_what_is_named_by_its_identifier_stays_ahead(hybrid: SearchBackend) -> None:
    page = hybrid.search_chunks("verificación de coches de la NOM-080-AGUA-2024", NOW, limit=20)
    assert page.hits[0].code == "6"
    assert [(-h.score, h.chunk_id) for h in page.hits] == sorted((-h.score, h.chunk_id) for h in page.hits)


def test_explain_shows_both_scores(hybrid: SearchBackend) -> None:
    for hit in hybrid.search_chunks("verificación de coches", NOW, limit=20, explain=True).hits:
        parts = dict(hit.parts)
        assert hit.score == pytest.approx((parts["words_z"] + parts["vector_z"]) / 2, abs=1e-5)
        assert ("words" in parts) == ("text" in parts)
        assert -1 <= parts["vector"] <= 1


def test_ranks_are_whole_and_short_lists_begin_long_ones(hybrid: SearchBackend) -> None:
    whole = hybrid.search_chunks("verificación de coches", NOW, limit=40)
    assert [h.rank for h in whole.hits] == list(range(1, len(whole.hits) + 1))
    assert whole.total >= len(whole.hits)
    for limit in (1, 3, 17):
        part = hybrid.search_chunks("verificación de coches", NOW, limit=limit)
        assert part.hits == whole.hits[:limit]
    assert hybrid.search_chunks("verificación", NOW, limit=0).hits == ()


def test_publications_are_grouped(hybrid: SearchBackend) -> None:
    page = hybrid.search_publications("verificación de coches", NOW, limit=4, per_publication=2)
    found = [h.code for h in page.hits]
    assert found[0] == "1"
    assert len(set(found)) == 4
    assert all(found.count(code) <= 2 for code in found)
    assert page.total >= 4
    assert len({h.chunk_id for h in page.hits}) == len(page.hits)


def test_provisions_are_those_of_the_words_index(hybrid: SearchBackend, opened: OpenIndex) -> None:
    assert hybrid.find_provision("art:1", NOW, limit=5) == opened.backend.find_provision("art:1", NOW, limit=5)


def test_reciprocal_rank_is_there_to_compare(made: Path, opened: OpenIndex) -> None:
    backend = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors_of(opened, made), fusion="rrf")
    page = backend.search_chunks("verificación de coches", NOW, limit=5)
    assert page.hits[0].code == "1"
    assert page.hits[0].score < 0.04


def test_vectors_alone(made: Path, opened: OpenIndex) -> None:
    backend = VectorOnly(opened.backend, opened.reader, embed, vectors_of(opened, made))
    assert set(codes(backend, "coches", limit=2)) <= {"1", "4"}
    page = backend.search_chunks("coches", NOW, limit=2, explain=True)
    assert page.hits[0].parts == (("vector", page.hits[0].score),)
    grouped = backend.search_publications("coches", NOW, limit=2)
    assert {h.code for h in grouped.hits} == {"1", "4"}
    assert backend.search_chunks("", NOW, limit=2).hits == ()


# -- without vectors in the index --


@pytest.fixture
def bare(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "bare")
    shutil.rmtree(tmp_path / "bare" / "index" / "vectors")
    return tmp_path / "bare"


def pooled(bare: Path, cache: Path | None, embedder: ToyEmbedder) -> SearchBackend:
    opened = open_index(bare / "index")
    probe = ToyEmbedder().embed([PROBE], Role.QUERY)[0]
    pool = PoolEmbedder(embedder, probe, opened.reader, cache)
    return HybridIndex(opened.backend, opened.reader, embed, vectors=None, pool=pool)


def test_the_pool_of_the_words_is_embedded_and_kept(bare: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "vectors.sqlite"
    first, second = ToyEmbedder(), ToyEmbedder()
    found = pooled(bare, cache, first).search_chunks("verificación de coches", NOW, limit=10)
    assert found.hits[0].code == "1"
    assert 0 < len(first.texts) == len(set(first.texts))
    assert all("remate" not in text for text in first.texts)  # what words did not find is not looked at
    assert pooled(bare, cache, second).search_chunks("verificación de coches", NOW, limit=10) == found
    assert second.texts == []


def test_cosines_of_the_pool_are_those_of_the_index(bare: Path, hybrid: SearchBackend) -> None:
    by_pool = pooled(bare, None, ToyEmbedder()).search_chunks("verificación de coches", NOW, limit=50, explain=True)
    by_index = hybrid.search_chunks("verificación de coches", NOW, limit=50, explain=True)
    known = {h.chunk_id: dict(h.parts)["vector"] for h in by_index.hits}
    assert by_pool.hits
    assert all(dict(h.parts)["vector"] == known[h.chunk_id] for h in by_pool.hits)


@pytest.mark.parametrize("harm", ["garbage", "folder", "none"])
def test_a_cache_that_cannot_be_used_is_done_without(bare: Path, tmp_path: Path, harm: str) -> None:
    cache = tmp_path / "vectors.sqlite"
    if harm == "garbage":
        cache.write_bytes(b"not a database" * 100)
    elif harm == "folder":
        cache.mkdir()
    path = None if harm == "none" else cache
    assert pooled(bare, path, ToyEmbedder()).search_chunks("verificación", NOW, limit=5).hits


def test_a_cached_vector_of_another_size_is_made_again(bare: Path, tmp_path: Path) -> None:
    cache = tmp_path / "vectors.sqlite"
    found = pooled(bare, cache, ToyEmbedder()).search_chunks("verificación", NOW, limit=5)
    with sqlite3.connect(cache) as connection:
        connection.execute("UPDATE vectors SET numbers = x'00'")
    connection.close()
    assert pooled(bare, cache, ToyEmbedder()).search_chunks("verificación", NOW, limit=5) == found


def test_a_part_that_is_embedded_and_the_rest_of_the_pool(made: Path, bare: Path, hybrid: SearchBackend) -> None:
    embed_index(bare / "index", ToyEmbedder(), batch=8, limit=6)
    opened = open_index(bare / "index")
    more = ToyEmbedder()
    pool = PoolEmbedder(more, ToyEmbedder().embed([PROBE], Role.QUERY)[0], opened.reader, None)
    backend = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors_of(opened, bare), pool=pool)
    page = backend.search_chunks("verificación de coches", NOW, limit=50, explain=True)
    whole = open_index(bare / "index").backend.search_chunks("verificación de coches", NOW, limit=50)
    assert {h.chunk_id for h in page.hits} == {h.chunk_id for h in whole.hits}  # no chunk is favoured for having one
    assert 0 < len(more.texts) < len(page.hits)


def test_a_removed_passage_is_not_shown_by_whoever_opens_it_then(bare: Path, made: Path) -> None:
    embed_index(bare / "index", ToyEmbedder(), batch=32)
    remove(["1"], bare / "index", INGEST)
    opened = open_index(bare / "index")
    backend = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors_of(opened, bare))
    assert "1" not in codes(backend, "verificación de coches", limit=50)
    assert "1" not in codes(
        VectorOnly(opened.backend, opened.reader, embed, vectors_of(opened, bare)), "coches", limit=50
    )


def test_an_embedder_that_is_gone_is_said(made: Path, opened: OpenIndex) -> None:
    def gone(_: str) -> Any:
        raise ModelUnavailable("no answer")

    backend = HybridIndex(opened.backend, opened.reader, gone, vectors=vectors_of(opened, made))
    with pytest.raises(ModelUnavailable):
        backend.search_chunks("verificación", NOW, limit=5)
