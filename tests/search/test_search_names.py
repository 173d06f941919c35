"""A law that a query names comes first; its provision is found exactly, without a ranking."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.domain.corpus import Filters
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.analysis import outer_keys
from dofrag.search.open import OpenIndex, open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
NOW = Filters(as_of=date(2025, 12, 31))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    root = tmp_path_factory.mktemp("names")
    corpus = root / "corpus"
    lines = [f"[art:{n}] Artículo {n}. De las algas, parte {n}." for n in range(1, 40)]
    lines[4:5] = [
        "[art:5] Artículo 5. Los permisos son:",
        "[art:5/frac:II] II. De recolección;",
        "[art:5/frac:III] III. De venta.",
    ]
    write(corpus, "1.md", *lines, kind="LEY", title="LEY Alguera")
    longer = "Ley Alguera, algas, artículo 4, Universidad Alguera. " * 6
    write(corpus, "2.md", longer, longer, kind="LEY", title="LEY Orgánica de la Universidad Alguera")
    write(corpus, "3.md", longer, title="DECRETO que reforma la Ley Alguera")
    write(
        corpus,
        "4.md",
        "[art:4] Artículo 4. Otra.",
        kind="LEY",
        title='LEY de Buceo, Compresores y Aire (Antes "Ley Buza")',
    )
    write(corpus, "5.md", "[art:4] Artículo 4. Gasto.", kind="LEY", title="PRESUPUESTO de Faros para el Año 2031")
    build([corpus], root / "index", INGEST)
    names = {"lal": ("ley alguera",)}
    with open_index(root / "index", expansions=lambda: names) as opened:
        yield opened


def codes(index: OpenIndex, query: str) -> list[str]:
    return [h.code for h in index.backend.search_publications(query, NOW, limit=8, per_publication=1).hits]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("artículo 4 de la Ley Alguera", "1"),
        ("universidad ley alguera algas", "1"),
        ("art. 4 LAL", "1"),
        ("ley orgánica de la universidad alguera", "2"),
        ("ley de buceo, compresores y aire", "4"),
        ("ley de buceo", "4"),
        ("ley buza", "4"),
        ("presupuesto de faros para el año", "5"),
        ("presupuesto de faros para el año 2031", "5"),
    ],
)
def test_the_law_of_that_very_name_comes_first(index: OpenIndex, query: str, code: str) -> None:
    assert codes(index, query)[0] == code


def test_a_long_law_leaves_room_for_others(index: OpenIndex) -> None:
    assert {"1", "2", "3"} <= set(codes(index, "artículo 4 de la Ley Alguera"))
    assert codes(index, "algas de la universidad")[0] == "2", "no law is named"


def test_the_provision_of_the_named_law_comes_first_among_passages(index: OpenIndex) -> None:
    page = index.backend.search_chunks("artículo 4 de la ley alguera", NOW, limit=3, explain=True)
    [first] = index.reader.passages([page.hits[0].chunk_id], NOW)
    assert (first.publication.code, first.chunk.provision) == ("1", "art:4")
    assert page.hits[0].score == pytest.approx(sum(score for _, score in page.hits[0].parts), rel=1e-3)


def test_a_provision_is_found_with_all_that_lies_within_it(index: OpenIndex) -> None:
    within = Filters(as_of=NOW.as_of, codes=("1",))
    page = index.backend.find_provision("art:5", within, limit=10)
    paths = [p.chunk.provision for p in index.reader.passages([h.chunk_id for h in page.hits], NOW)]
    assert (page.total, paths) == (3, ["art:5", "art:5/frac:II", "art:5/frac:III"])
    assert index.backend.find_provision("art:5/frac:III", within, limit=10).total == 1
    assert index.backend.find_provision("art:5", within, limit=1).hits == page.hits[:1]
    assert index.backend.find_provision("art:50", within, limit=10).total == 0
    assert {h.code for h in index.backend.find_provision("art:4", NOW, limit=10).hits} == {"1", "4", "5"}
    assert index.backend.find_provision("art:4", Filters(as_of=date(1900, 1, 1)), limit=10).total == 0


def test_outer_paths_are_all_but_the_inner_ends() -> None:
    assert outer_keys("art:3/frac:II/inc:a") == ["art:3", "art:3/frac:ii", "frac:ii"]
    assert outer_keys("art:3") == []
    assert outer_keys(None) == []
