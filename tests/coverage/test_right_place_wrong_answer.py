"""Passages of the right source that share the words of a question and do not answer it. All of it invented."""

from __future__ import annotations

from datetime import date

import pytest
from coverage_builders import prepared

from dofrag import wiring
from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Support
from dofrag.coverage.match import PreparedPassage, meets
from dofrag.domain.corpus import SourceKind
from dofrag.domain.question import Question

FEES = """**PRIMERO.-** Las cuotas de entrada a la Feria del Dique para 2031 son las siguientes:

| Persona | Feria del Dique |
|---|---|
| General | $52.00 |
| Menor de seis años | $11.00 |
| Mayor de sesenta años | $23.00 |
"""


def held(question: str, passage: PreparedPassage) -> list[Support]:
    asked = Question(text=question, as_of=date(2033, 1, 1), scopes=frozenset())
    return [meets(r, passage, sub) for sub in wiring.profile().decompose(asked) for r in sub.requirements]


def fees() -> PreparedPassage:
    return prepared(FEES, title="ACUERDO por el que se fijan las cuotas de entrada a la Feria del Dique para 2031")


@pytest.mark.parametrize(
    ("scene", "value"),
    [
        ("Mi tío tiene 71 años, ", "23.00"),
        ("Mi sobrina tiene 4 años, ", "11.00"),
        ("Mi prima tiene 30 años, ", "52.00"),
    ],
)
def test_a_row_for_an_age_answers_for_who_is_of_that_age(scene: str, value: str) -> None:
    (found,) = held(f"{scene}¿cuánto paga por entrar a la Feria del Dique en 2031?", fees())
    text = fees().text
    assert found.supported
    assert any(value in text[a:b] for a, b in found.spans)
    assert found.supported == (value != "none")


PLAN = {"title": "PROGRAMA Rector de Muelles 2031-2035"}


def test_a_sentence_that_counts_the_items_lists_none_of_them() -> None:
    question = "Enumera las metas del Programa Rector de Muelles 2031-2035."
    counts = "Se integra con tres metas, nueve acciones y dos indicadores, que se medirán cada mes de junio."
    names = "El Programa tiene tres metas: dragar el canal, ordenar los muelles y alumbrar la barra."
    assert not held(question, prepared(counts, **PLAN))[0].supported
    assert held(question, prepared(names, **PLAN))[0].supported


def test_a_list_of_another_kind_of_thing_is_none_of_what_is_asked() -> None:
    question = "Reglas de navegación emitidas en mayo de 2031: ¿de qué programas?"
    text = "2.1 El Programa opera en las provincias de Alba, Bruma y Coral."
    passage = prepared(
        text, title="ACUERDO por el que se emiten las Reglas de Navegación", published_on=date(2031, 5, 6)
    )
    assert not any(s.supported for s in held(question, passage))


RULES = {"title": "REGLAMENTO de la Ley de Boyas", "provision": "trans:1", "headings": ("TRANSITORIOS",)}
CLAUSE = (
    "PRIMERO.- El presente Reglamento entrará en vigor al día siguiente de su publicación en el Diario Oficial, "
    "con excepción del Capítulo II, que {}."
)


@pytest.mark.parametrize(
    ("rest", "value"),
    [
        ("entrará en vigor en la misma fecha que el Título Quinto de la Ley", None),
        ("entrará en vigor el 9 de mayo de 2032", "2032-05-09"),
    ],
)
def test_what_a_clause_excepts_has_its_own_date_or_none(rest: str, value: str | None) -> None:
    passage = prepared(CLAUSE.format(rest), **RULES)
    found = held("¿Cuándo entró en vigor el Capítulo II del Reglamento de la Ley de Boyas?", passage)[0]
    assert found.supported == (value is not None)
    assert value is None or found.values == (value,)


def test_the_rest_begins_when_the_clause_says_and_not_with_what_it_excepts() -> None:
    passage = prepared(CLAUSE.format("entrará en vigor el 9 de mayo de 2032"), **RULES)
    found = held("¿Cuándo entró en vigor el Reglamento de la Ley de Boyas?", passage)[0]
    assert found.supported
    assert "2032-05-09" not in found.values


def test_an_exception_that_stands_first_changes_nothing() -> None:
    text = "PRIMERO.- Salvo lo previsto en el artículo 2, este Reglamento entrará en vigor el 3 de abril de 2032."
    found = held("¿Cuándo entró en vigor el Reglamento de la Ley de Boyas?", prepared(text, **RULES))[0]
    assert found.values == ("2032-04-03",)


def test_which_law_is_told_by_a_sentence_that_names_one() -> None:
    question = "¿Con qué ley se resuelve una solicitud de amarre de barcazas?"
    title = {"title": "ACUERDO de amarre de barcazas"}
    bare = "La capitanía resolverá la solicitud de amarre de barcazas dentro de los diez días siguientes."
    names = "La solicitud de amarre de barcazas se resolverá conforme a la Ley de Dársenas."
    assert not held(question, prepared(bare, **title))[0].supported
    assert held(question, prepared(names, **title))[0].supported


CASE = """Artículo 40.- Queda prohibido el trabajo de niñas y niños a bordo.

Tratándose de aprendices, el patrón deberá:

I. Darles bitácora.

II. Fijar guardias que no excedan de cinco horas diarias.
"""


@pytest.mark.parametrize(("lead", "whole"), [("El patrón deberá:", True), ("", False)])
def test_an_item_of_one_case_answers_no_general_question(lead: str, whole: bool) -> None:
    text = CASE.replace("Tratándose de aprendices, el patrón deberá:", lead) if lead else CASE
    passage = prepared(text, title="LEY de Navegación de Cabotaje", provision="art:40")
    question = "¿De cuántas horas diarias son las guardias según la Ley de Navegación de Cabotaje?"
    assert held(question, passage)[0].supported == whole


LIST_OF_THINGS = """Artículo 51.- No se tienen por parte de la paga:

I. El uniforme;

II. Guardia ordinaria y de noche, cuando ésta no exceda de ocho horas semanales;
"""


def test_an_item_of_a_list_of_other_things_is_not_what_something_is() -> None:
    law = {"title": "LEY de Navegación de Cabotaje", "provision": "art:51", "source_kind": SourceKind.CONSOLIDATED}
    question = "¿Cuál es la guardia máxima semanal según la Ley de Navegación de Cabotaje?"
    assert not held(question, prepared(LIST_OF_THINGS, **law))[0].supported
    rule = "Artículo 50.- La guardia máxima semanal será de cuarenta horas."
    assert held(question, prepared(rule, **{**law, "provision": "art:50"}))[0].supported


@pytest.mark.parametrize("name", ["excepted", "title_alters"])
def test_the_cues_do_not_try_for_ever(name: str) -> None:
    assert cue(name).search("con " * 3000) is None
