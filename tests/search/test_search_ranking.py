"""What ranks first, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.domain.corpus import Filters
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.analysis import Terms, identifier_keys, named_identifiers, normalize, provision_keys
from dofrag.search.open import OpenIndex, open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
NOW = Filters(as_of=date(2025, 12, 31))
NORM = "NOM-901-STPX-2018"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    root = tmp_path_factory.mktemp("ranking")
    corpus = root / "corpus"
    write(corpus, "1.md", "Ruido en talleres.", title=f"NORMA {NORM}, Ruido en talleres", id=NORM)
    cited = " ".join([f"Conforme a la {NORM} y otra vez {NORM}, {NORM}, talleres, ruido."] * 5)
    write(corpus, "2.md", cited, cited, title=f"CONVOCATORIA para certificar la {NORM}")
    write(corpus, "3.md", cited, title=f"ACLARACIÓN a la {NORM}")
    write(corpus, "4.md", "Ruido en naves.", title="NORMA NOM-901-SSAX-2018, Ruido en naves", id="NOM-901-SSAX-2018")
    write(
        corpus,
        "5.md",
        "[art:1] Artículo 1. Esta ley regula los pozos de riego.",
        "[art:3] Artículo 3. Es objeto de esta ley ordenar los pozos.",
        "[art:10] Artículo 10. Conforme al artículo 3, los pozos de riego del artículo 3 se miden (artículo 3).",
        "[art:13] Artículo 13. Los pozos.",
        "[art:7/frac:II] II. Los pozos cegados, según el artículo 3;",
        title="LEY de Pozos",
    )
    long = "Del padrón de pescadores. " + "Otras palabras que no vienen al caso en nada. " * 80
    same = "Las presas se vigilan por turnos."
    write(corpus, "7.md", same, kind="LEY", title="LEY de Presas")
    write(corpus, "8.md", same, kind="DOF", title="LEY de Presas")
    write(corpus, "9.md", "La cuota de riego por surco será de 4.20.", title="AVISO de cuota")
    write(corpus, "10.md", "Un surco.", "La cuota.", title="AVISO de surcos")
    write(corpus, "6.md", "Padrón de pescadores.", long, title="REGISTRO")
    build([corpus], root / "index", INGEST)
    names = {"crs": ("cuota de riego por surco",), "presas": ("cuota de riego por surco",)}
    with open_index(root / "index", expansions=lambda: names) as opened:
        yield opened


def codes(index: OpenIndex, query: str) -> list[str]:
    hits = index.backend.search_publications(query, NOW, limit=10, per_publication=1).hits
    return [hit.code for hit in hits]


def texts(index: OpenIndex, query: str, limit: int = 5) -> list[str]:
    hits = index.backend.search_chunks(query, NOW, limit=limit).hits
    return [p.text for p in index.reader.passages([h.chunk_id for h in hits], NOW)]


@pytest.mark.parametrize(
    "query", [NORM, f"¿Qué dice la {NORM} sobre talleres y ruido?", NORM.lower(), "NOM-901-STPX"]
)
def test_the_issuing_norm_outranks_those_that_cite_it(index: OpenIndex, query: str) -> None:
    assert codes(index, query)[0] == "1"


def test_the_same_number_of_another_sector_stays_behind(index: OpenIndex) -> None:
    assert codes(index, "NOM-901-SSAX-2018 ruido en talleres")[0] == "4"
    assert set(codes(index, "NOM-901")[:2]) == {"1", "4"}


def test_the_provision_itself_outranks_mentions_of_it(index: OpenIndex) -> None:
    assert texts(index, "artículo 3 de la Ley de Pozos de riego")[0].startswith("[art:3]")
    assert texts(index, "artículo 1 de la Ley de Pozos de riego")[0].startswith("[art:1]")
    assert texts(index, "fracción II del artículo 7 de la Ley de Pozos")[0].startswith("[art:7/frac:II]")


def test_a_provision_alone_brings_no_strangers(index: OpenIndex) -> None:
    assert "6" not in codes(index, "artículo 3 de la Ley de Pozos")


def test_length_alone_wins_nothing(index: OpenIndex) -> None:
    assert texts(index, "padrón de pescadores")[0] == "Padrón de pescadores.\n"


def test_the_title_belongs_to_the_searched_text(index: OpenIndex) -> None:
    assert "3" in codes(index, "aclaración")


def test_what_was_published_comes_before_a_law_of_the_same_words(index: OpenIndex) -> None:
    assert codes(index, "vigilancia de las presas por turnos")[:2] == ["8", "7"]
    assert codes(index, "texto vigente de la vigilancia de las presas por turnos")[:2] == ["7", "8"]


def test_another_name_of_what_is_asked_is_found_below_its_own_words(index: OpenIndex) -> None:
    assert codes(index, "CRS de este año") == ["9"]
    assert codes(index, "presas") == ["8", "7", "9"]
    hit = index.backend.search_chunks("crs", NOW, limit=1, explain=True).hits[0]
    parts = dict(hit.parts)
    assert parts["expansion"] > 0
    assert parts["expansion"] == pytest.approx(hit.score, rel=1e-3)


def test_explain_gives_the_score_of_each_part(index: OpenIndex) -> None:
    hit = index.backend.search_chunks(f"ruido {NORM}", NOW, limit=1, explain=True).hits[0]
    parts = dict(hit.parts)
    assert set(parts) == {"text", "title", "presence", "identifier"}
    assert parts["identifier"] > 0
    assert sum(parts.values()) == pytest.approx(hit.score, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("RESOLUCIÓN", "resoluciones"),
        ("resolucion.", "resoluciones."),
        ("nacional", "nacional"),
        ("Año 1º, m²", "año 1o, m2"),
        ("ﬁjación", "fijaciones"),
        ("Ç à ê", "c a e"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalize(text) == normal


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(st.characters() | st.sampled_from("ñÑáÁ\u0301\u0303\x00½™~_ .cion "), max_size=20), max_size=6)
)
def test_terms_are_the_words_of_the_normal_form(texts: list[str]) -> None:
    terms = Terms(lambda word: [word])
    assert [t.split() for t in terms.of(texts)] == [
        [normalize(word) for word in re.findall(r"[^\W_]+", normalize(text)) if len(word.encode()) <= 64]
        for text in texts
    ]


def test_terms_of_endless_words_and_vocabularies() -> None:
    terms = Terms(lambda word: [] if word == "el" else [word])
    assert [t.split() for t in terms.of(["El pozo " + "x" * 100_000])] == [["pozo"]]
    many = [str(i) for i in range(450_000)]
    assert "".join(terms.of([" ".join(many)])).split() == many


def test_identifier_keys() -> None:
    assert identifier_keys(["Acuerdo A/041/2023"]) == ["ACUERDO A/041/2023", "A/041/2023", "A/041"]
    assert named_identifiers("la nom-901-stpx-2018 y el 5.2 y auto-consumo") == ["NOM-901-STPX-2018"]


def test_provision_keys() -> None:
    assert provision_keys("art:3/frac:II") == ["art:3/frac:ii", "frac:ii"]
    assert provision_keys("regla:2.7.1") == ["num:2.7.1"]
    assert provision_keys(None) == []
