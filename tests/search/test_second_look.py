"""Candidates, what lifts them, and what the second look adds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.domain.corpus import Filters, Hit
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.anchors import find_anchors
from dofrag.search.engine import index_terms
from dofrag.search.evidence import find_evidence
from dofrag.search.expansions import Expanded
from dofrag.search.open import OpenIndex, open_index
from dofrag.search.secondlook import second_look

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
NOW = Filters(as_of=date(2025, 12, 31))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    root = tmp_path_factory.mktemp("second_look")
    corpus = root / "corpus"
    for n in range(12):
        write(corpus, f"{n}.md", f"Otras reglas de remolque número {n}.", title=f"CIRCULAR {n}")
    write(corpus, "20.md", "El remolque de lanchas exige aviso.", title="REGLAS", date="2024-03-05")
    write(corpus, "21.md", "El remolque de lanchas exige aviso.", title="REGLAS", date="2024-05-05")
    write(
        corpus,
        "22.md",
        "El boyero lleva registro de lanchas, que comprende:",
        "Eslora, manga y calado;",
        "[trans:1] Primero. Estas reglas entrarán en vigor a los diez días.",
        "[trans:2] Segundo. Se abroga lo anterior.",
        title="REGLAS del boyero",
    )
    write(corpus, "23.md", "El boyero cobra lo suyo allí.", title="TARIFA de boyeros")
    write(corpus, "24.md", "El boyero cobra 40 pesos.", title="TARIFA de boyeros")
    write(corpus, "25.md", "La baliza se pinta.", kind="LEY", title="LEY de Balizas")
    write(corpus, "26.md", "La baliza se pinta.", kind="DOF", title="LEY de Balizas")
    build([corpus], root / "index", INGEST)
    with open_index(root / "index", expansions=lambda: {"bote": ("lancha",)}) as opened:
        yield opened


def found(index: OpenIndex, query: str, limit: int = 10) -> list[tuple[str, str]]:
    evidence = find_evidence(index.backend, index.reader, query, NOW, limit=limit)
    return [(hit.code, evidence.passages[hit.chunk_id].text.strip()) for hit in evidence.hits]


def test_the_named_day_comes_first(index: OpenIndex) -> None:
    assert found(index, "remolque de lanchas publicado el 5 de marzo de 2024")[0][0] == "20"
    assert found(index, "remolque de lanchas publicado en mayo de 2024")[0][0] == "21"


def test_an_entry_into_force_is_told_by_a_transitory(index: OpenIndex) -> None:
    assert "entrarán en vigor" in found(index, "¿Cuándo entran en vigor las reglas del boyero?")[0][1]


def test_what_goes_on_in_the_next_passage_comes_along(index: OpenIndex) -> None:
    assert "Eslora" in " ".join(text for _, text in found(index, "registro de lanchas del boyero", limit=6))


def test_a_value_of_the_sort_that_is_asked_for_comes_first(index: OpenIndex) -> None:
    assert found(index, "¿Qué monto cobra el boyero?")[0][0] == "24"


def test_a_consolidated_law_lacks_the_sign_of_what_was_published(index: OpenIndex) -> None:
    for query, published in (("se pinta la baliza", True), ("texto vigente: se pinta la baliza", False)):
        evidence = find_evidence(index.backend, index.reader, query, NOW, limit=30, explain=True)
        shown = {hit.code: "published" in dict(hit.parts) for hit in evidence.hits if hit.code in ("25", "26")}
        assert shown == {"25": False, "26": published}


def test_another_name_in_any_number_is_found(index: OpenIndex) -> None:
    assert {"20", "21"} <= {code for code, _ in found(index, "botes")}


def test_each_part_of_a_score_is_told_and_they_add_up(index: OpenIndex) -> None:
    query = "¿Qué monto cobra el boyero desde el 5 de marzo de 2024 por botes?"
    evidence = find_evidence(index.backend, index.reader, query, NOW, limit=20, explain=True)
    for hit in evidence.hits:
        assert sum(value for _, value in hit.parts) == pytest.approx(hit.score, rel=1e-3), hit
    names = {name for hit in evidence.hits for name, _ in hit.parts}
    assert {"text", "title", "presence", "expansion", "date", "published", "shown", "beside"} <= names
    plain = find_evidence(index.backend, index.reader, query, NOW, limit=20)
    assert [(h.chunk_id, h.score) for h in plain.hits] == [(h.chunk_id, h.score) for h in evidence.hits]


def test_the_limit_only_cuts(index: OpenIndex) -> None:
    every = [h.chunk_id for h in find_evidence(index.backend, index.reader, "reglas", NOW, limit=30).hits]
    for limit in range(8):
        some = find_evidence(index.backend, index.reader, "reglas", NOW, limit=limit)
        assert [h.chunk_id for h in some.hits] == every[:limit]
        assert set(some.passages) - {i for ids in some.copies.values() for i in ids} == set(every[:limit])


@given(st.lists(st.integers(1, 30), unique=True, max_size=30), st.lists(st.floats(0, 50), min_size=30, max_size=30))
def test_what_may_not_be_seen_is_dropped(ids: list[int], scores: list[float]) -> None:
    hits = [Hit(n, score, i, "1") for n, (i, score) in enumerate(zip(ids, scores, strict=False), start=1)]
    assert second_look("¿Cuál es la cuota?", hits, {}, {1: 2}) == []


def test_what_a_query_names() -> None:
    named = find_anchors("la cuota de 2024 de la NOM-001 publicada el 9 de enero, artículo 3", ["art:3", "regla:2"])
    assert named.days == ((date(2024, 1, 9).toordinal(),) * 2,)
    assert (named.identifiers, named.provisions, named.transitory) == (("NOM-001",), ("art:3", "num:2"), False)
    assert find_anchors("cuotas de 2023 y 2024", ()).days == (), "whole years are no days"
    assert find_anchors("¿Cuándo quedó abrogada?", ()).transitory


def test_other_names_go_by_terms() -> None:
    known = Expanded({"bote": ["lancha", "bote de motor"], "el": ["lancha"]}, index_terms())
    assert known.names(["bot"]) == [("lanch",), ("bot", "motor")]
    assert known.names(["bot", "lanch"]) == [("bot", "motor")]
    assert known.names([]) == []
