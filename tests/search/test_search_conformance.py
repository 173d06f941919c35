"""What every search backend has to do. A new backend joins by being added to `BACKENDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.domain.corpus import Filters, Kind
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.interface import SearchBackend
from dofrag.search.open import OpenIndex, open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
BACKENDS: dict[str, Callable[[OpenIndex], SearchBackend]] = {"bm25": lambda index: index.backend}
NOW = Filters(as_of=date(2025, 12, 31))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    root = tmp_path_factory.mktemp("conformance")
    corpus = root / "corpus"
    agua = "Las concesiones de agua se otorgan por escrito."
    write(
        corpus, "20.md", agua, "[art:3] Artículo 3. Del permiso.", date="2024-01-10", issuer="SECRETARÍA DE ECONOMÍA"
    )
    write(corpus, "21.md", agua, date="2024-06-10", edition="VES", kind="AVISO", issuer="COMISIÓN DEL AGUA")
    write(corpus, "22.md", agua, date="2025-01-10", issuer="COMISIÓN DEL AGUA")
    write(corpus, "23.md", agua, agua + " Y del riego.", date="2025-02-10", scope="dictamen")
    write(corpus, "24.md", agua, date="2025-02-10", kind="INDICE")
    write(corpus, "25.md", "Ganado y maíz.", "Cada año se cuenta.", date="2025-03-01")
    write(corpus, "26.md", "El ano del animal.", date="2025-03-02")
    for code in range(30, 60):
        write(corpus, f"{code}.md", "Remate de bienes idénticos.", date="2025-04-01", title="EDICTO de remate")
    build([corpus], root / "index", INGEST)
    with open_index(root / "index") as opened:
        yield opened


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest, index: OpenIndex) -> SearchBackend:
    return BACKENDS[request.param](index)


def found(backend: SearchBackend, query: str, **changes: object) -> set[str]:
    filters = Filters(**{"as_of": date(2025, 12, 31), **changes})  # type: ignore[arg-type]
    by_chunk = {hit.code for hit in backend.search_chunks(query, filters, limit=50).hits}
    by_publication = {hit.code for hit in backend.search_publications(query, filters, limit=50).hits}
    assert by_chunk == by_publication
    return by_chunk


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"20", "21", "22"}),
        ({"as_of": date(2024, 12, 31)}, {"20", "21"}),
        ({"as_of": date(2024, 1, 10)}, {"20"}),
        ({"as_of": date(1990, 1, 1)}, set()),
        ({"published_from": date(2024, 6, 10)}, {"21", "22"}),
        ({"published_to": date(2024, 6, 10)}, {"20", "21"}),
        ({"published_from": date(2025, 1, 1), "published_to": date(2024, 1, 1)}, set()),
        ({"editions": ("VES",)}, {"21"}),
        ({"editions": ("EXT",)}, set()),
        ({"kinds": (Kind.AVISO,)}, {"21"}),
        ({"kinds": (Kind.INDICE,)}, {"24"}),
        ({"kinds": ()}, set()),
        ({"issuer": "comision agua"}, {"21", "22"}),
        ({"issuer": "comision economia"}, set()),
        ({"issuer": "de la"}, set()),
        ({"codes": ("22", "23", "nothing")}, {"22"}),
        ({"codes": ()}, set()),
        ({"scopes": frozenset({"public", "dictamen"})}, {"20", "21", "22", "23"}),
        ({"scopes": frozenset({"dictamen"})}, {"23"}),
        ({"scopes": frozenset()}, set()),
    ],
)
def test_filters_decide_what_can_be_found(
    backend: SearchBackend, changes: dict[str, object], expected: set[str]
) -> None:
    assert found(backend, "concesiones de agua", **changes) == expected


def test_filters_apply_before_the_limit(backend: SearchBackend) -> None:
    filters = Filters(as_of=NOW.as_of, codes=("59",))
    page = backend.search_chunks("remate de bienes idénticos", filters, limit=1)
    assert [hit.code for hit in page.hits] == ["59"]


def test_a_hidden_collection_changes_no_count(backend: SearchBackend) -> None:
    assert backend.search_publications("agua riego", NOW, limit=10).total == 3
    assert backend.search_chunks("riego", NOW, limit=10).total == 0


@pytest.mark.parametrize("query", ["CONCESION", "concesión", "Concesiones", "concesion de aguas"])
def test_accents_case_and_number_do_not_matter(backend: SearchBackend, query: str) -> None:
    assert {"20", "21", "22"} <= found(backend, query)


def test_n_with_tilde_is_a_letter_of_its_own(backend: SearchBackend) -> None:
    assert found(backend, "año") == {"25"}
    assert found(backend, "an\u0303o") == {"25"}
    assert found(backend, "ano") == {"26"}


@pytest.mark.parametrize("query", ["", "   ", "de la que y los", "¿?", "...", "\x00", "()[]{}*:^~\"'\\"])
def test_nothing_to_search_finds_nothing(backend: SearchBackend, query: str) -> None:
    assert backend.search_chunks(query, NOW, limit=5).hits == ()
    assert backend.search_publications(query, NOW, limit=5).total == 0


@pytest.mark.parametrize("query", ["agua", "remate", "bienes idénticos", "EDICTO"])
def test_ranks_scores_and_ties(backend: SearchBackend, query: str) -> None:
    page = backend.search_chunks(query, NOW, limit=40)
    assert [hit.rank for hit in page.hits] == list(range(1, len(page.hits) + 1))
    order = [(-hit.score, hit.chunk_id) for hit in page.hits]
    assert order == sorted(order)


def test_a_tie_at_the_edge_is_settled_by_id(backend: SearchBackend) -> None:
    whole = [h.chunk_id for h in backend.search_chunks("remate bienes idénticos", NOW, limit=60).hits]
    for limit in (1, 2, 5, 13, 29):
        assert [h.chunk_id for h in backend.search_chunks("remate bienes idénticos", NOW, limit=limit).hits] == whole[
            :limit
        ]


def test_publications_are_grouped_and_counted(backend: SearchBackend) -> None:
    page = backend.search_publications("remate de bienes", NOW, limit=4, per_publication=2)
    assert page.total == 30
    codes = [hit.code for hit in page.hits]
    assert list(dict.fromkeys(codes)) == ["30", "31", "32", "33"]
    for code in set(codes):
        scores = [hit.score for hit in page.hits if hit.code == code]
        assert 1 <= len(scores) <= 2
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("limit", [0, -1])
def test_no_room_finds_nothing(backend: SearchBackend, limit: int) -> None:
    assert backend.search_chunks("agua", NOW, limit=limit).hits == ()


@settings(max_examples=150, deadline=None)
@given(query=st.text(max_size=200) | st.from_regex(r"(?s)[\w\-/:\"'()*^~ +]{0,80}"))
def test_no_query_raises(index: OpenIndex, query: str) -> None:
    for make in BACKENDS.values():
        page = make(index).search_chunks(query, NOW, limit=3)
        assert page.total >= len(page.hits)
        make(index).search_publications(query, NOW, limit=2)


@pytest.mark.parametrize("query", ["\ud800 agua", "agua " * 50_000, "NOM-" * 30_000 + "1", "x" * 100_000])
def test_hostile_queries_are_bounded(backend: SearchBackend, query: str) -> None:
    assert len(backend.search_chunks(query, NOW, limit=3).hits) <= 3


@pytest.mark.parametrize("value", ["\ud800", "x\x00y", "a" * 70_000, ""])
def test_hostile_filters_find_nothing(backend: SearchBackend, value: str) -> None:
    assert found(backend, "agua", codes=(value,)) == set()
    assert found(backend, "agua", scopes=frozenset({value})) == set()
    assert found(backend, "agua", issuer=value) == set()
