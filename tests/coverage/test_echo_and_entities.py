"""What repeats the question supports nothing; a sibling of what is asked is another thing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from coverage_builders import day, prepared, year
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.coverage.closure import check_closure
from dofrag.coverage.compose import partial_claims
from dofrag.coverage.ledger import assess
from dofrag.coverage.match import meets
from dofrag.coverage.premises import check_premise
from dofrag.domain.evidence import Citation, Claim, Draft, FaultCode, PremiseStatus
from dofrag.domain.question import (
    DateRequired,
    DateRole,
    DeadlineRequired,
    Premise,
    Source,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)

BASE = {"id": "q1.r1", "label": "x", "rule": "t"}


def part(text: str, *requirements, question: str = "") -> SubQuestion:
    return SubQuestion(id="q1", text=text, origin="t", requirements=requirements, question=question or text)


CLEANING = "¿Qué material usa la limpieza de las boyas del canal norte?"
TOPIC = TopicRequired(**BASE, terms=("material", "limpieza", "boyas", "canal", "norte"))


@pytest.mark.parametrize(
    "text",
    [
        CLEANING,
        CLEANING.strip("¿?"),
        "Una vecina escribió: qué material usa la limpieza de las boyas del canal norte, y no hubo respuesta.",
        "Material de limpieza de las boyas del canal norte.",
        "Se contestó la pregunta ¿qué material usa la limpieza de las boyas del canal norte?",
    ],
)
def test_saying_the_question_again_answers_nothing(text):
    assert not meets(TOPIC, prepared(text, title="AVISO de boyas."), part(CLEANING, TOPIC)).supported


def test_the_sentence_beside_the_repetition_may_answer():
    text = f"{CLEANING} La limpieza de las boyas del canal norte usa arena de cuarzo y agua dulce."
    found = meets(TOPIC, prepared(text, title="AVISO de boyas."), part(CLEANING, TOPIC))
    assert found.supported
    assert text[slice(*found.spans[0])].startswith("La limpieza")


def test_a_title_said_again_is_no_answer():
    title = "ACUERDO sobre el material para la limpieza de boyas del canal norte."
    assert not meets(TOPIC, prepared(f"Visto el {title}", title=title), part(CLEANING, TOPIC)).supported


@settings(max_examples=300, deadline=None)
@given(
    st.permutations(["material", "limpieza", "boyas", "canal", "norte"]), st.sampled_from([", ", " de ", " y ", " "])
)
def test_no_order_of_the_words_of_the_question_is_an_answer(order, joint):
    text = joint.join(order).capitalize() + "."
    assert not meets(TOPIC, prepared(text), part(CLEANING, TOPIC)).supported


def test_how_much_needs_a_figure_when_no_value_was_recognised():
    asked = "¿Cuánto pesa el ancla mayor del muelle?"
    topic = TopicRequired(**BASE, terms=("pesa", "ancla", "mayor", "muelle"))
    said = part(asked, topic)
    assert not meets(topic, prepared("El ancla mayor del muelle pesa mucho cuando sopla el levante."), said).supported
    assert meets(topic, prepared("El ancla mayor del muelle pesa 340 kilogramos en seco."), said).supported


TARIFF = (
    "| Muelle | Cuota |\n|---|---|\n| 2 | $85.00 |\n| 3 | $91.00 |\n| 12 | $70.00 |\n\n"
    "En el muelle 5 la cuota es de $64.00 pesos."
)


def quota(*entities: str) -> ValueRequired:
    return ValueRequired(
        **BASE, terms=("cuota",), unit="MXN", entities=entities, source=Source(name=("tarifa", "muelles"))
    )


@pytest.mark.parametrize(
    ("entity", "value"), [("muelle 2", "85"), ("muelle 3", "91"), ("muelle 12", "70"), ("muelle 5", "64")]
)
def test_a_key_takes_its_own_row_or_sentence(entity, value):
    found = meets(quota(entity), prepared(TARIFF, title="TARIFA de Muelles."))
    assert found.values == (value,)


@pytest.mark.parametrize("entity", ["muelle 1", "muelle 7", "muelle 85", "muelle 25"])
def test_the_row_of_a_sibling_answers_nothing(entity):
    assert not meets(quota(entity), prepared(TARIFF, title="TARIFA de Muelles.")).supported


def test_two_keys_need_both_rows():
    both = quota("muelle 2", "muelle 3")
    assert meets(both, prepared(TARIFF, title="TARIFA de Muelles.")).values == ("85", "91")
    one = "| Muelle | Cuota |\n|---|---|\n| 2 | $85.00 |\n| 4 | $91.00 |"
    assert not meets(both, prepared(one, title="TARIFA de Muelles.")).supported


def test_a_name_is_not_its_sibling():
    topic = TopicRequired(**BASE, terms=("edad", "beca", "vela"), entities=("beca vela",))
    assert not meets(topic, prepared("Para la Beca Remo se pide una edad de 15 a 20 años.")).supported
    assert meets(topic, prepared("Para la Beca Vela se pide una edad de 15 a 20 años.")).supported


def test_the_day_of_the_opening_is_not_that_of_the_closing():
    asked = "¿Qué día cierra la recepción de planos del astillero?"
    closing = DateRequired(**BASE, role=DateRole.DATUM, terms=("cierra", "recepcion", "planos", "astillero"))
    text = "La recepción de planos del astillero abrirá el 4 de mayo de 2031."
    assert not meets(closing, prepared(text), part(asked, closing)).supported
    text = text.replace("abrirá", "cerrará")
    assert meets(closing, prepared(text), part(asked, closing)).supported


def test_an_erratum_states_what_must_be_said():
    term = DeadlineRequired(**BASE, terms=("resolver", "solicitud"), source=Source(name=("reglas", "boyas")))
    text = (
        "En la regla 4, dice:\n\nLa junta debe resolver la solicitud en un plazo de veinte días hábiles.\n\n"
        "Debe decir:\n\nLa junta debe resolver la solicitud en un plazo de treinta días hábiles."
    )
    assert meets(term, prepared(text, title="FE de erratas a las Reglas de Boyas.")).values == ("30",)


def test_words_that_a_line_end_divides_are_whole():
    effect = DateRequired(**BASE, role=DateRole.EFFECT, source=Source(name=("reglamento", "boyas")))
    text = "Este Reglamento entrará en vigor a los no-\nventa días naturales siguientes a su publicación."
    found = meets(effect, prepared(text, title="REGLAMENTO de Boyas."))
    assert found.supported
    assert "no-\nventa" in text[slice(*found.proofs[0].spans[0])]


def test_two_phases_have_a_sentence_each():
    phases = tuple(
        DateRequired(
            id=f"q1.r{n}", label=f"{n}/2", rule="t", role=DateRole.EFFECT, source=Source(name=("norma", "boyas"))
        )
        for n in (1, 2)
    )
    subs = (part("las dos fases de entrada en vigor de la norma de boyas", *phases),)
    first = "PRIMERO. Esta Norma entrará en vigor el 1 de mayo de 2031."
    second = "SEGUNDO. El numeral 5 entrará en vigor el 1 de mayo de 2032."
    whole = {1: prepared(f"{first}\n\n{second}", title="NORMA de Boyas.")}
    claims = partial_claims(subs, whole, assess(subs, whole).support)
    assert check_closure(Draft(claims=claims), subs, whole).faults == ()
    assert "2031" in claims[0].text
    assert "2032" in claims[1].text
    half = {1: prepared(first, title="NORMA de Boyas.")}
    claims = partial_claims(subs, half, assess(subs, half).support)
    assert [f.where for f in check_closure(Draft(claims=claims), subs, half).faults] == ["q1.r2"]


def test_a_padded_quote_of_a_right_passage_is_irrelevant():
    value = ValueRequired(**BASE, indicator="Cuota Vela", unit="MXN", period=year(2031))
    subs = (part("la Cuota Vela de 2031", value),)
    good = "La Cuota Vela de 2031 es de $12.50 pesos."
    pad = "Los botes se pintan de azul durante el invierno."
    read = {1: prepared(f"{good}\n\n{pad}", title="CUOTA Vela 2031.")}
    cited = tuple(Citation(chunk_id=1, quote=q) for q in (good, pad))
    for citations, refused in ((cited[:1], False), (cited, True)):
        found = check_closure(
            Draft(claims=(Claim(text=good, sub_questions=("q1",), citations=citations),)), subs, read
        )
        assert (FaultCode.IRRELEVANT_CITATION in [f.code for f in found.faults]) is refused


def test_what_became_of_an_instrument_is_told_by_another_one():
    topic = TopicRequired(**BASE, aspect="validity", source=Source(name=("acuerdo", "sogas", "nudos")))
    ended = "Se abroga el Acuerdo de Sogas y Nudos, publicado en 2029."
    assert meets(topic, prepared(ended, title="ACUERDO de Anclas.")).supported
    other = "Se abroga el Acuerdo de Remos, publicado en 2029."
    assert not meets(topic, prepared(other, title="ACUERDO de Sogas y Nudos.")).supported
    assert not meets(topic, prepared("El Acuerdo de Sogas y Nudos se publicó en 2029.", title="ACTA.")).supported


@pytest.mark.parametrize(
    ("law", "status"), [("Ley de Remos", PremiseStatus.SUPPORTED), ("Ley de Velas", PremiseStatus.FALSE)]
)
def test_the_reform_of_another_law_contradicts_the_premise(law, status):
    premise = Premise(
        id="q1.p1", slot="amended", label="x", expected="Ley de Remos", source=Source(name=("reforma",))
    )
    text = f"ÚNICO. Se reforma el artículo 4 de la {law}, para quedar como sigue:"
    read = {1: prepared(text, title="DECRETO de reforma.")}
    found = check_premise(premise, part("x", TOPIC), read)
    assert found.status is status
    assert found.span is not None


def test_a_factor_of_a_rule_is_no_value():
    value = ValueRequired(**BASE, indicator="Cuota Vela", period=None)
    text = "El valor mensual se obtiene de multiplicar el valor diario de la Cuota Vela por 30.4 y redondear."
    assert not meets(value, prepared(text, title="CUOTA Vela.")).supported


def test_what_was_worked_out_once_is_the_same_again():
    value = ValueRequired(**BASE, indicator="Cuota Vela", unit="MXN", period=day(2031, 3, 4))
    passage = prepared("El 4 de marzo de 2031 la Cuota Vela fue de $12.50 pesos.", published_on=date(2031, 3, 5))
    again = replace(value)
    assert meets(value, passage) is meets(value, passage)
    assert meets(again, passage) == meets(value, passage)
    assert not meets(replace(value, period=day(2031, 3, 5)), passage).supported
