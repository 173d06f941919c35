"""What stands before a question: a scene, a need, an order, what the answer is wanted for. All of it invented."""

from __future__ import annotations

from datetime import date

import pytest

from dofrag.domain.question import (
    ListRequired,
    PublicationRequired,
    Question,
    SubQuestion,
    ValueRequired,
)
from dofrag.profiles.dof.profile import DofProfile

PROFILE = DofProfile()


def split(text: str) -> tuple[SubQuestion, ...]:
    return PROFILE.decompose(Question(text=text, as_of=date(2032, 6, 30)))


def test_a_scene_tells_which_and_asks_for_nothing() -> None:
    (part,) = split("Mi primo amarra su yate en Puerto Alba. ¿De cuánto es la cuota de amarre?")
    (asked,) = part.requirements
    assert isinstance(asked, ValueRequired)
    assert "cuota" in asked.terms
    assert "yate" not in asked.terms
    assert {"yate", "alba"} <= set(asked.context)
    assert part.text == "De cuánto es la cuota de amarre"


def test_what_is_asked_for_may_stand_in_the_statement() -> None:
    (part,) = split("Para cobrar la fianza de 2031 necesito el precio del hielo en la Zona Lacustre; ¿cuál era?")
    (asked,) = part.requirements
    assert isinstance(asked, ValueRequired)
    assert "hielo" in asked.terms
    assert "fianza" not in asked.terms
    assert asked.zone == "zona Lacustre"
    assert asked.period is not None
    assert asked.period.start.year == 2031


def test_an_elliptic_part_takes_its_subject_from_the_statement() -> None:
    (part,) = split("La fianza publicada en mayo de 2031 contra Boyas del Mar, ¿de cuánto fue?")
    (asked,) = part.requirements
    assert {"fianza", "boyas"} <= set(asked.terms)
    assert "boyas del mar" in asked.entities


def test_what_an_answer_is_wanted_for_says_nothing_of_it() -> None:
    (part,) = split("Para un recibo de la lonja: ¿cuál era el precio del hielo en 2031?")
    assert part.requirements[0].context == ()


@pytest.mark.parametrize(
    "text",
    [
        "El armador zarpa mañana. Enumera todos los faros que la Ley de Boyas menciona.",
        "Cíteme los faros que la Ley de Boyas menciona",
    ],
)
def test_an_order_to_name_all_asks_for_a_list(text: str) -> None:
    (part,) = split(text)
    (asked,) = part.requirements
    assert isinstance(asked, ListRequired)
    assert asked.terms[0] == "faros"


def test_a_series_that_is_ordered_has_one_value_a_year() -> None:
    (part,) = split("Arme una tabla del precio mensual del hielo, año por año, de 2028 a 2030.")
    values = [r for r in part.requirements if isinstance(r, ValueRequired)]
    assert [r.period.start.year for r in values if r.period] == [2028, 2029, 2030]
    assert {r.frequency for r in values} == {"monthly"}


def test_thing_by_thing_asks_for_every_row() -> None:
    (part,) = split("¿Qué altura, faro por faro, informó la Junta?")
    assert isinstance(part.requirements[0], ListRequired)
    assert "faro" not in part.requirements[0].terms


def test_an_exclusion_of_what_followed_is_no_subject() -> None:
    (part,) = split("¿Qué playas cerró, sin contar las prórrogas, la veda de mayo de 2031?")
    assert "prorrogas" not in part.requirements[0].terms
    assert "prorrogas" in part.typed


def test_a_body_without_alias_is_an_issuer_where_its_publications_are_asked_for() -> None:
    (part,) = split("Hazme el seguimiento de la Junta de Mareas Bajas: todo lo que publicó de enero a marzo de 2031.")
    (asked,) = part.requirements
    assert isinstance(asked, PublicationRequired)
    assert asked.source.issuer == "Junta de Mareas Bajas"
    assert asked.source.published_from == date(2031, 1, 1)


def test_a_draft_and_its_norm_are_asked_each_for_each_value() -> None:
    parts = split("¿Cómo pasaron del proyecto a la norma final el peso de la boya y el largo del cabo de la NOM-777?")
    assert len(parts) == 2
    keys = [[r.source.identifier for r in part.requirements] for part in parts]
    assert keys == [["PROY-NOM-777", "NOM-777"]] * 2
    assert "boya" in parts[0].requirements[0].terms
    assert "cabo" in parts[1].requirements[0].terms


def test_an_amount_that_a_statement_takes_for_granted_is_a_premise() -> None:
    (part,) = split("Con la rebaja del diez por ciento dispuesta en mayo de 2031, ¿cuál es el tope por muelle?")
    (premise,) = [p for p in part.premises if p.stated]
    assert (premise.slot, premise.terms, premise.unit) == ("amount", ("rebaja",), "percent")


def test_a_bare_term_is_no_premise() -> None:
    (part,) = split("El plazo de nueve días que trajo la reforma de mayo de 2031, ¿desde cuándo se aplica?")
    assert not any(p.stated for p in part.premises)


def test_a_letter_that_joins_names_no_zone() -> None:
    (part,) = split("¿Qué facultades tiene la Dirección de Muelles y Faros?")
    assert not any("muelle y" in e for e in part.requirements[0].entities)


def test_a_figure_of_a_name_stays_with_it() -> None:
    (part,) = split("¿Qué caudal tiene la cuenca Río Faro 2?")
    assert "rio faro 2" in part.requirements[0].entities
