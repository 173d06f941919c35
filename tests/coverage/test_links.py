"""Two passages that answer together, rows of an interval, and what a scene demands. All of it invented."""

from __future__ import annotations

from dataclasses import replace

import pytest
from coverage_builders import prepared, year

from dofrag.coverage.brackets import other_row
from dofrag.coverage.closure import check_closure
from dofrag.coverage.ledger import assess
from dofrag.coverage.links import linked
from dofrag.coverage.match import PreparedPassage, meets
from dofrag.coverage.source import elsewhere
from dofrag.domain.evidence import NO_PREMISE, Citation, Claim, Draft, FaultCode
from dofrag.domain.question import DateRequired, DateRole, Source, Status, SubQuestion, ValueRequired

TITLE = "NORMA Oficial Mexicana NOM-777-MAR-2031, Boyas."
KEY = ("NOM-777-MAR-2031",)
DUTY = "4.2 Pintar con barniz reflejante los flotadores de la boya."
CLAUSE = "SEGUNDO.- El numeral 4.2 entrará en vigor el 5 de mayo de 2033."
TEXT = "Desde cuándo hay que pintar con barniz reflejante los flotadores según la NOM-777-MAR-2031"


def duty(**given: object) -> PreparedPassage:
    return prepared(DUTY, **{"id": 1, "title": TITLE, "identifiers": KEY, "provision": "num:4.2", **given})


def clause(text: str = CLAUSE, **given: object) -> PreparedPassage:
    own = {"id": 2, "title": TITLE, "identifiers": KEY, "provision": "trans:2", "headings": ("TRANSITORIOS",)}
    return prepared(text, **{**own, **given})


def begins() -> SubQuestion:
    asked = DateRequired(
        id="q1.r1", label="fecha", rule="x", role=DateRole.EFFECT,
        terms=("pintar", "barniz", "reflejante", "flotadores"), source=Source(identifier=KEY[0]),
    )  # fmt: skip
    return SubQuestion(id="q1", text=TEXT, origin="x", requirements=(asked,), question=f"¿{TEXT}?")


def read(*passages: PreparedPassage) -> dict[int, PreparedPassage]:
    return {p.id: p for p in passages}


def test_a_clause_that_names_the_provision_answers_with_it() -> None:
    sub = begins()
    both = read(duty(), clause())
    assert not any(meets(sub.requirements[0], p, sub).supported for p in both.values())
    (link,) = linked(sub.requirements[0], sub, both)
    assert link.chunk_id == 2
    assert [chunk_id for chunk_id, _ in link.via] == [1]
    assert assess((sub,), both).status["q1.r1"] is Status.SUPPORTED


@pytest.mark.parametrize(
    "other",
    [
        clause("SEGUNDO.- El numeral 4.3 entrará en vigor el 5 de mayo de 2033."),
        clause("SEGUNDO.- El numeral 4.2 se aplicará con prudencia."),
        clause(
            code="9000002",
            title="NORMA Oficial Mexicana NOM-778-MAR-2031, Anclas.",
            identifiers=("NOM-778-MAR-2031",),
        ),
    ],
)
def test_another_provision_or_another_norm_answers_nothing(other: PreparedPassage) -> None:
    sub = begins()
    assert linked(sub.requirements[0], sub, read(duty(), other)) == ()


def test_a_provision_about_something_else_is_no_link() -> None:
    sub = begins()
    beside = replace(duty(), passage=prepared("4.2 Anotar la carga en la bitácora.", id=1).passage)
    other = prepared(
        "4.2 Anotar cada mes la carga del bote en la bitácora.",
        id=1, title=TITLE, identifiers=KEY, provision="num:4.2",
    )  # fmt: skip
    assert beside.id == other.id
    assert linked(sub.requirements[0], sub, read(other, clause())) == ()


def test_a_later_act_that_prolongs_comes_first() -> None:
    sub = begins()
    later = clause(
        "ÚNICO.- Se prorroga la entrada en vigor del numeral 4.2 de la NOM-777-MAR-2031 hasta el 1 de enero de 2035.",
        id=3, code="9000003", title="ACUERDO que prorroga la NOM-777-MAR-2031.", provision=None,
        published_on=year(2032).start,
    )  # fmt: skip
    found = linked(sub.requirements[0], sub, read(duty(), clause(), later))
    assert [k.chunk_id for k in found] == [3, 2]


def claim(*cited: tuple[int, str]) -> Claim:
    text = " ".join(quote for _, quote in cited)
    return Claim(
        text=text, sub_questions=("q1",), citations=tuple(Citation(chunk_id=i, quote=quote) for i, quote in cited)
    )


def test_an_answer_cites_both() -> None:
    sub, both = begins(), read(duty(), clause())
    whole = Draft(claims=(claim((1, DUTY)), claim((2, CLAUSE))), premise=NO_PREMISE)
    assert check_closure(whole, (sub,), both).faults == ()
    half = Draft(claims=(claim((2, CLAUSE)),), premise=NO_PREMISE)
    codes = {f.code for f in check_closure(half, (sub,), both).faults}
    assert FaultCode.REQUIREMENT_MISSING in codes


FINES = (
    "Artículo 8.- Las infracciones del artículo anterior se sancionarán con multa:\n\n"
    "I. De cinco a nueve pesos, en el caso de la fracción II, y\n\nII. De diez a doce pesos, en los demás casos."
)
ACTS = "Artículo 7.- Son infracciones:\n\nI. Soltar amarras;\n\nII. Romper el candado del farol, y\n\nIII. Dormir."


def fine() -> SubQuestion:
    asked = ValueRequired(
        id="q1.r1", label="multa", rule="x", unit="money", terms=("multa", "romper", "candado", "farol"),
        source=Source(name=("ley", "muelles")),
    )  # fmt: skip
    text = "Qué multa hay por romper el candado del farol según la Ley de Muelles"
    return SubQuestion(id="q1", text=text, origin="x", requirements=(asked,), question=f"¿{text}?")


def test_a_fine_stands_in_the_article_after_the_offence() -> None:
    sub = fine()
    acts = prepared(ACTS, id=1, title="LEY de Muelles.", provision="art:7")
    fines = prepared(FINES, id=2, title="LEY de Muelles.", provision="art:8")
    found = linked(sub.requirements[0], sub, read(acts, fines))
    assert [(k.chunk_id, [i for i, _ in k.via]) for k in found] == [(2, [1])]
    assert "nueve pesos" in fines.text[slice(*found[0].support.spans[0])]


def test_the_fraction_of_another_article_is_another_offence() -> None:
    sub = fine()
    acts = prepared(ACTS.replace("7", "3"), id=1, title="LEY de Muelles.", provision="art:3")
    fines = prepared(FINES, id=2, title="LEY de Muelles.", provision="art:8")
    assert linked(sub.requirements[0], sub, read(acts, fines)) == ()


def test_a_row_of_another_interval_is_another_row() -> None:
    table = prepared("| Litros al mes | Cuota |\n|---|---|\n| De 1 a 500 | $9.00 |\n| De 501 a 900 | $12.00 |\n")
    text = "Qué cuota toca a quien usa 700 litros"
    asked = ValueRequired(id="q1.r1", label="cuota", rule="x", terms=("cuota",))
    sub = SubQuestion(id="q1", text=text, origin="x", requirements=(asked,), question=f"¿{text}?")
    rows = [s for s in table.sentences if s.header is not None]
    assert [other_row(s, table, sub) for s in rows] == [True, False]


def test_what_the_scene_speaks_of_has_to_be_there() -> None:
    asked = ValueRequired(id="q1.r1", label="", rule="x", terms=("cuota",), context=("yate", "laguna", "verde"))
    assert elsewhere(asked, prepared("La cuota de los museos es de $5.00.", title="MUSEOS")) == "yate"
    assert elsewhere(asked, prepared("La cuota del yate es de $5.00.", title="CUOTAS de la Laguna Verde")) == ""
    assert elsewhere(replace(asked, source=Source(name=("ley", "faroles"))), prepared("La cuota es de $5.00.")) == ""


def test_the_values_of_one_year_are_not_those_of_another() -> None:
    asked = ValueRequired(
        id="q1.r1", label="", rule="x", terms=("precio", "hielo"), frequency="daily", period=year(2030)
    )
    notice = prepared(
        "Que el índice de diciembre de 2030 se aplica a los valores.\n\nEl precio diario del hielo es de $7.00.",
        title="PRECIO del hielo para 2031",
    )
    assert not meets(asked, notice).supported
    assert meets(replace(asked, period=year(2031)), notice).supported
