"""Notes that say the same stand together, a series stays apart; notices are left out of questions of norms."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.domain.corpus import Filters, Hit, Kind
from dofrag.ingest.pipeline import Ingest, build
from dofrag.search.copies import group_copies
from dofrag.search.evidence import Evidence, find_by_default, find_evidence
from dofrag.search.kinds import by_default
from dofrag.search.open import OpenIndex, open_index
from dofrag.store.interface import Candidate
from dofrag.tools.contract import Outcome, ToolContext
from dofrag.tools.search_documents import SEARCH_DOCUMENTS
from dofrag.tools.search_evidence import SEARCH_EVIDENCE
from dofrag.tools.session import ResearchSession

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
NOW = Filters(as_of=date(2025, 12, 31))
EDICT = "Se emplaza a la naviera Los Bajos, expediente 31/2024, para que comparezca en treinta días."
RATE = "El tipo de amarre obtenido el día {day} de mayo de 2024 fue de {value} coronas por bita."
FINAL = "Este Acuerdo entrará en vigor al día siguiente de su publicación en la gaceta."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIndex]:
    root = tmp_path_factory.mktemp("copies")
    corpus = root / "corpus"
    write(corpus, "e1.md", EDICT, title="EDICTO a la naviera", kind="AVISO")
    shouted = EDICT.replace("Se emplaza", "SE EMPLAZA").replace("Los Bajos", "“Los Bajos”")  # of no code page
    write(corpus, "e2.md", shouted, title="EDICTO a la “Naviera”.", kind="AVISO")
    write(corpus, "e3.md", f"Segunda publicación.  {EDICT}", title="EDICTO a la naviera", kind="AVISO")
    write(corpus, "e4.md", EDICT.replace("Los Bajos", "Los Altos"), title="EDICTO a la naviera", kind="AVISO")
    for day, value in ((7, "4.10"), (8, "4.10"), (9, "4.35")):
        write(corpus, f"r{day}.md", RATE.format(day=day, value=value), title="TIPO de amarre por bita")
    write(corpus, "a1.md", FINAL, title="ACUERDO de las boyas")
    write(corpus, "a2.md", FINAL, title="ACUERDO de los faros")
    write(corpus, "l1.md", "Las boyas se pintan cada año.", title="LEY de Boyas")
    write(corpus, "l2.md", "Las boyas se pintan cada año.", title="LEY de Boyas", kind="LEY")
    write(corpus, "n1.md", "Se venden boyas usadas conforme a la Ley de Boyas.", title="VENTA de boyas", kind="AVISO")
    build([corpus], root / "index", INGEST)
    with open_index(root / "index") as opened:
        yield opened


def find(index: OpenIndex, query: str, limit: int = 10) -> Evidence:
    return find_evidence(index.backend, index.reader, query, NOW, limit=limit)


def codes(found: Evidence) -> list[str]:
    """Of the passages that are no lines of a header, each of which is a passage of its own here."""
    return [hit.code for hit in found.hits if found.passages[hit.chunk_id].text[0] not in "@="]


def copied(found: Evidence) -> list[set[str]]:
    """The publications of each group of passages that say the same, header lines apart."""
    groups = [[found.passages[i] for i in (first, *others)] for first, others in found.copies.items()]
    return [{p.publication.code for p in group} for group in groups if group[0].text[0] not in "@="]


def test_the_printings_of_one_edict_take_one_place_and_are_listed(index: OpenIndex) -> None:
    found = find(index, "naviera, expediente, comparezca", limit=40)
    assert sorted(codes(found)) == ["e1", "e4"]
    assert copied(found) == [{"e1", "e2", "e3"}]


def test_a_series_keeps_every_note_whatever_the_value(index: OpenIndex) -> None:
    found = find(index, "tipo de amarre por bita obtenido el 9 de mayo de 2024", limit=40)
    assert {"r7", "r8", "r9"} <= set(codes(found))
    assert not copied(found)


def test_one_sentence_of_two_acts_is_no_copy_and_a_law_none_of_its_publication(index: OpenIndex) -> None:
    assert {"a1", "a2"} <= set(codes(find(index, "entrará en vigor este acuerdo al día siguiente")))
    assert {"l1", "l2"} <= set(codes(find(index, "cada año se pintan las boyas")))


TOLD_APART = [
    ("Se otorga el permiso a la naviera.", "No se otorga el permiso a la naviera."),
    ("Las barcas podrán atracar y no quedan sujetas.", "Las barcas no podrán atracar y quedan sujetas."),
    ("Se vende con impuesto.", "Se vende sin impuesto."),
    ("Rige hasta mayo.", "Rige desde mayo."),
    ("Es requisito el acta y el plano.", "Es requisito el acta o el plano."),
    ("Lo pagan todos los muelles.", "Lo pagan algunos muelles."),
    ("Fallo de Laura Peña contra Juan Ruiz.", "Fallo de Juan Ruiz contra Laura Peña."),
    ("El dos por ciento, primera quincena.", "El uno por ciento, segunda quincena."),
    ("Se cita a la segunda almoneda.", "Se cita a la tercera almoneda."),
    ("El plazo corre desde la segunda publicación.", "El plazo corre desde la tercera publicación."),
    ("Se publica por primera vez la vacante.", "Se publica por segunda vez la vacante."),
    ("El ajuste es de -3.5 puntos.", "El ajuste es de 3.5 puntos."),
    ("El ajuste es de +2.5 puntos.", "El ajuste es de –2.5 puntos."),
    ("La cuota es de 1.500 coronas.", "La cuota es de 1,500 coronas."),
    ("La cuota es de 10 % del flete.", "La cuota es de 10 del flete."),
    ("La cuota es de $10 del flete.", "La cuota es de 10 del flete."),
    ("Los numerales 5.2 y 6 de la norma.", "Los numerales 5 y 2.6 de la norma."),
    ("La boya pesa < 5 quintales.", "La boya pesa > 5 quintales."),
    ("El saldo es de - 5 coronas.", "El saldo es de 5 coronas."),
    ("El saldo es de (1,500.00).", "El saldo es de 1,500.00."),
    ("El saldo es de ￥5.", "El saldo es de ₡5."),
    ("La tasa es de .5 por ciento.", "La tasa es de 5 por ciento."),
    ("La calificación es mxAA+.", "La calificación es mxAA-."),
    ("Es a + b.", "Es a − b."),
    ("El muelle mide 5′ 3″.", "El muelle mide 5″ 3′."),
    ("☑ procede el pago.", "☐ procede el pago."),
    ("(✓) Sí ( ) No", "( ) Sí (✓) No"),
    ("| X | |", "| | X |"),
    ("~~No~~ procede el pago.", "No procede el pago."),
    ("Se publica el мой.", "Se publica el мои."),
    ("Conforme a la fracción I-\nV.", "Conforme a la fracción IV."),
    ("Rige desde la (segunda publicación) del edicto.", "Rige desde la (tercera publicación) del edicto."),
    ("Corre a partir de la\nprimera publicación.", "Corre a partir de la\ntercera publicación."),
    ("Al firmar. Segunda publicación: $500.", "Al firmar. Tercera publicación: $500."),
    ("Segunda publicación: $500", "Tercera publicación: $500"),
    ("Segunda publicación", "Primera publicación"),
    ("Cláusulas:\nPRIMERA\nPublicación.\nEl aviso.", "Cláusulas:\nSEGUNDA\nPublicación.\nEl aviso."),
]
SAME = [
    ("Se emplaza a la naviera.", "SE EMPLAZA  a la\nnaviera"),
    ("Se emplaza a la naviera.", "Segunda publicación. Se emplaza a la naviera."),
    ("Quinta publicación\nSe emplaza a la naviera.", "Se emplaza a la naviera. (Última Publicación)"),
    ("Se emplaza a la «naviera».", "**Se emplaza** a la “naviera”:"),
    ("Que comparezca en treinta días.", "Que compa-\nrezca en trein\u00adta días."),
    ("Cuota de 1,500.00 coronas, 10% menos.", "Cuota de 1,500.00 coronas; 10 % menos."),
    ("Expediente 31/2024, ante el juez.", "**Expediente 31 / 2024** ante el juez"),
    (
        "# Segunda publicación\nSe emplaza el día 5. (R.- 5)",
        "Se emplaza el di\u0301a 5. (R.- 5) (Tercera publicación)",
    ),
]


def grouped(one: str, other: str, *headings: tuple[str, ...]) -> bool:
    """Whether two passages under one title are taken for copies."""
    texts = {1: one, 2: other}
    passages = {n: Candidate(n, f"c{n}", Kind.AVISO, "AVISO de la naviera", text) for n, text in texts.items()}
    hits = [Hit(n, 1.0, n, f"c{n}") for n in texts]
    paths = dict(zip(texts, headings or ((), ()), strict=True))
    kept, copies = group_copies(hits, passages, lambda chunks: {chunk: paths[chunk] for chunk in chunks})
    assert len(kept) == 2 - len(copies)
    return copies == {1: (2,)}


@pytest.mark.parametrize(("one", "other"), TOLD_APART)
def test_what_says_something_else_is_no_copy(one: str, other: str) -> None:
    assert not grouped(one, other)
    assert not grouped(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_layout_and_the_printing_make_no_difference(one: str, other: str) -> None:
    assert grouped(one, other)
    assert grouped(other, one)


@given(st.text(st.sampled_from("aÁñ 1.-\n“_*ºQ"), min_size=1, max_size=40), st.sampled_from("á1ñq%"))
def test_a_text_is_a_copy_of_itself_alone(text: str, more: str) -> None:
    assert grouped(text, text)
    assert not grouped(text, f"{text} {more}")


@pytest.mark.parametrize("sign", ["\n", "(", "\n(", ".", ". ", " ", "*", "segunda ", "segunda publicación. "])
def test_any_text_is_looked_at_in_a_moment(sign: str) -> None:
    text = (sign * 8_000)[:8_000]
    hits = [Hit(n, 1.0, n, f"c{n}") for n in range(50)]
    passages = {n: Candidate(n, f"c{n}", Kind.AVISO, "AVISO", text) for n in range(50)}
    assert len(group_copies(hits, passages, lambda chunks: dict.fromkeys(chunks, ()))[0]) == 1


def test_the_same_words_under_other_headings_are_no_copy() -> None:
    assert grouped(FINAL, FINAL, ("ZONA A",), ("Zona A.",))
    assert not grouped(FINAL, FINAL, ("ZONA A",), ("ZONA B",))


def test_copies_beyond_those_that_are_listed_are_counted(tmp_path: Path) -> None:
    for n in range(8):
        write(tmp_path / "corpus", f"e{n}.md", EDICT, title="EDICTO a la naviera", kind="AVISO")
    build([tmp_path / "corpus"], tmp_path / "index", INGEST)
    with open_index(tmp_path / "index") as index:
        outcome = call(index, "emplaza Los Bajos, expediente 31/2024, comparezca en treinta días")
    (result,) = [r for r in outcome.results if r["snippet"].startswith("Se emplaza")]
    assert (len(result["also"]), result["also_more"]) == (5, 2)


def test_a_place_that_a_copy_leaves_goes_to_another_passage(index: OpenIndex) -> None:
    assert len(find(index, "edicto naviera expediente", limit=2).hits) == 2


def call(index: OpenIndex, query: str, session: ResearchSession | None = None) -> Outcome:
    context = ToolContext(
        reader=index.reader,
        backend=index.backend,
        session=session or ResearchSession(),
        as_of=NOW.as_of,
        scopes=frozenset(),
        read_tokens_left=9_000,
        canonical_issuer=str,
    )
    window = {"date_from": None, "date_to": None}
    return SEARCH_EVIDENCE.run(context, {"query": query, "publications": None, "prefer_recent": False} | window)


def test_the_tool_lists_copies_and_they_count_as_seen(index: OpenIndex) -> None:
    outcome = call(index, "emplaza Los Bajos, expediente 31/2024, comparezca en treinta días")
    (result,) = [r for r in outcome.results if "also" in r and r["snippet"].startswith("S")]
    session = ResearchSession()
    session.observe("search_evidence", {}, outcome)
    assert len(result["also"]) == 2
    assert all(session.is_seen(copy["chunk_id"]) for copy in result["also"])
    assert all(session.is_discovered(copy["publication"]) for copy in result["also"])


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ("¿Qué dice el artículo 1 de la Ley de Boyas?", (Kind.AVISO,)),
        ("¿Qué aviso de venta cita la Ley de Boyas?", ()),
        ("boyas usadas que se venden", ()),
    ],
)
def test_notices_are_left_out_where_norms_are_asked_for(
    index: OpenIndex, query: str, left_out: tuple[Kind, ...]
) -> None:
    outcome = call(index, query)
    assert outcome.left_out == left_out
    assert ("n1" in {r["publication"] for r in outcome.results}) is (not left_out)


def test_where_only_notices_answer_they_are_found(index: OpenIndex) -> None:
    found, left_out = find_by_default(index.backend, index.reader, "venden usadas según la Ley del Mar", NOW, limit=5)
    assert set(codes(found)) == {"n1"}
    assert left_out == ()


def test_a_kind_that_was_named_is_what_is_searched() -> None:
    asked = Filters(as_of=NOW.as_of, kinds=(Kind.AVISO,))
    assert by_default("¿Qué dice la Ley de Boyas?", asked) == (asked, ())


def test_the_documents_tool_says_so_too(index: OpenIndex) -> None:
    context = ToolContext(
        reader=index.reader, backend=index.backend, session=ResearchSession(), as_of=NOW.as_of, scopes=frozenset(),
        read_tokens_left=9_000, canonical_issuer=str,
    )  # fmt: skip
    asked = dict.fromkeys(("date_from", "date_to", "issuer", "edition", "kind")) | {"prefer_recent": False}
    outcome = SEARCH_DOCUMENTS.run(context, asked | {"query": "¿Qué dice la Ley de Boyas?"})
    assert outcome.left_out == (Kind.AVISO,)
    assert "n1" not in {r["publication"] for r in outcome.results}
    named = SEARCH_DOCUMENTS.run(context, asked | {"query": "¿Qué dice la Ley de Boyas?", "kind": "AVISO"})
    assert named.left_out == ()
