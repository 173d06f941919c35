"""No word of a question gets lost when it is split, and what is asked side by side is asked for each by itself."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DateRole,
    DeadlineRequired,
    ListRequired,
    ProvisionRequired,
    Question,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.account import content, held_by, unaccounted
from dofrag.profiles.dof.profile import DofProfile, dof_engine
from dofrag.text.fold import stem

PROFILE = DofProfile()
AS_OF = date(2032, 6, 30)


def split(text: str) -> tuple[SubQuestion, ...]:
    return PROFILE.decompose(Question(text=text, as_of=AS_OF))


def required(text: str) -> list[Any]:
    return [r for s in split(text) for r in s.requirements]


WORDS = re.findall(
    r"\S+",
    """
    ¿ ? , . : y o de del en el la los las que qué cuál es cuánto cuántos cuándo quién dónde por si no según desde
    hasta cuota plazo multa fecha nombre número faro boya muelle Puerto Alba Bruma Ley Faros artículo 3 fracción II
    2031 mayo semanal ordinaria euros 51 empleados cien litros publicado rige aplica dejó regir NOM-099-FAR-2031 INEGI
    UMA hola gracias anexo segundo párrafo dic mínima máxima
    """,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=24).map(" ".join))
def test_every_content_word_is_accounted_for(text: str) -> None:
    question = Question(text=text, as_of=AS_OF)
    assert PROFILE.unused_words(question, PROFILE.decompose(question)) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120))
def test_nor_does_any_text_lose_a_word(text: str) -> None:
    question = Question(text=text, as_of=AS_OF)
    assert PROFILE.unused_words(question, PROFILE.decompose(question)) == ()


def test_the_account_names_what_is_missing() -> None:
    said = tuple(content("¿Qué cuota semanal pagan las boyas?", dof_engine().language, frozenset()))
    (sub,) = split("¿Qué cuota pagan las boyas?")
    left = unaccounted(said, held_by(sub.requirements, sub.premises), ())
    assert [w.text for w in left] == ["semanal"]
    other = Question(text="¿Qué cuota semanal pagan las boyas y los yates?", as_of=AS_OF)
    assert PROFILE.unused_words(other, (sub,)) == ("semanal", "yates")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("¿Cómo se determina la cuota semanal de las boyas?", "semanal"),
        ("¿Cuánto vale en euros la boya ordinaria?", "euros"),
        ("Tengo un muelle con 51 boyas: ¿qué permiso pide la Junta?", "51"),
        ("¿Qué precio medio ponderado tuvo el hielo?", "ponderado"),
        ("¿Qué cuota alta baja chica grande verde azul roja negra blanca gris parda lila de boyas rige?", "lila"),
    ],
)
def test_words_that_narrow_stand_in_a_slot(text: str, word: str) -> None:
    held = {h for s in split(text) for h in held_by(s.requirements, s.premises)}
    typed = {w for s in split(text) for w in s.typed}
    assert stem(word) in held or word in typed


def test_what_slots_hold_in_other_words_is_told() -> None:
    (sub,) = split("¿Qué publicó el INEGI el 9 de mayo de 2031?")
    assert {"inegi", "9", "mayo", "2031"} <= set(sub.typed)
    (sub,) = split("¿Cómo se determina la cuota semanal de las boyas?")
    assert "semanal" not in sub.typed
    assert sub.requirements[0].residue == ("semanal",)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("¿Cuál es la altura máxima de la boya y el plazo para pintarla?", [TopicRequired, DeadlineRequired]),
        ("¿Cuál es la cuota de amarre y la cuota de fondeo según la Ley de Faros?", [ValueRequired, ValueRequired]),
        ("Dame el número de licitación, nombre del perito y fecha del fallo", [
            TopicRequired, ActorRequired, DateRequired]),
        ("¿La veda alcanza a los botes de vela y desde cuándo?", [TopicRequired, DateRequired]),
        ("Resume el artículo 3 de la Ley de Faros, y quién pinta las boyas", [ProvisionRequired, ActorRequired]),
        ("¿Cuántas y cuáles son las boyas de la Ley de Faros?", [ValueRequired, ListRequired]),
        ("¿Qué estero y qué isla abarca el aviso?", [TopicRequired, TopicRequired]),
        ("¿Quién nombra al farero y por cuántos meses?", [ActorRequired, DeadlineRequired]),
        ("¿Cuántas boyas vendió la Junta y a qué precio?", [ValueRequired, ValueRequired]),
        ("¿Quién pinta la boya, dónde y cada cuánto?", [ActorRequired, TopicRequired, DeadlineRequired]),
        ("¿Se pinta la boya? ¿Quién la pinta?", [TopicRequired, ActorRequired]),
        ("¿Cuántas plazas hay en muelles de altura y en muelles fluviales?", [ValueRequired, ValueRequired]),
        ("¿Cuál es la cuota mínima y la máxima de amarre?", [ValueRequired, ValueRequired]),
    ],
)  # fmt: skip
def test_things_asked_side_by_side_are_asked_for_each(text: str, kinds: list[type]) -> None:
    assert [type(r) for r in required(text)] == kinds


def test_a_noun_that_a_verb_governs_is_not_asked_for() -> None:
    assert len(required("¿Qué dependencia fija las cuotas y los precios de amarre?")) == 1
    assert len(split("¿Cuál es la fórmula para calcular la cuota y el recargo?")) == 1


def test_nouns_side_by_side_share_what_follows_the_last() -> None:
    first, second = split("¿Cuál es la cuota de amarre y el plazo de pago en 2031 para botes de 3 metros?")
    assert first.text.endswith("… 2031 para botes de 3 metros")
    (value,) = first.requirements
    assert isinstance(value, ValueRequired)
    assert value.period is not None
    assert value.period.start.year == 2031
    assert {stem("botes"), "3", stem("metros")} <= held_by([value], ())
    assert isinstance(second.requirements[0], DeadlineRequired)


def test_each_stage_of_a_chronology_is_a_part() -> None:
    first, second = split(
        "¿Cuál fue la secuencia desde el aviso de las boyas hasta el decreto de los 14 muelles de Puerto Alba?"
    )
    assert first.text.endswith("… el aviso de las boyas")
    assert second.text.endswith("… el decreto de los 14 muelles de Puerto Alba")
    assert [s.id for s in (first, second)] == ["q1", "q2"]
    assert "14" in {w for s in (first, second) for w in held_by(s.requirements, s.premises)}


def test_a_possessive_takes_up_the_indicator() -> None:
    first, second = required("¿Cuál fue el tipo de cambio y su equivalente en doblones el 3 de mayo de 2031?")
    assert first.indicator == second.indicator == "tipo de cambio"
    assert second.terms == ("equivalente", "doblones")
    assert first.period == second.period


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("¿Qué cuota se paga en 2031 y en 2034?", [2031, 2034]),
        ("¿Qué cuota se paga de 2031 a 2034?", [2031, 2032, 2033, 2034]),
        ("¿Qué cuota se pagó del 2029 al 2031?", [2029, 2030, 2031]),
    ],
)
def test_each_year_is_asked_for(text: str, years: list[int]) -> None:
    assert [r.period.start.year for r in required(text)] == years


def test_months_cut_short() -> None:
    (found,) = required("UDI dic 2031")
    assert (found.period.start, found.period.end) == (date(2031, 12, 1), date(2031, 12, 31))


def test_places_side_by_side_are_one_each() -> None:
    found = required("¿Qué muelles de Sonora, Nayarit y Baja California cierran?")
    assert [r.entities for r in found] == [("sonora",), ("nayarit",), ("baja california",)]
    found = required("¿Qué muelles de Sonora y Sinaloa cierran?")
    assert [r.entities for r in found] == [("sonora",), ("sinaloa",)]


@pytest.mark.parametrize(
    "text",
    ["¿Desde qué fecha dejó de regir la tarifa de boyas?", "¿Hasta cuándo estuvo vigente la tarifa de boyas?",
     "¿Cuándo perdió vigencia la tarifa de boyas?"],
)  # fmt: skip
def test_the_end_of_effect_is_no_start(text: str) -> None:
    (found,) = required(text)
    assert found.role is DateRole.END


def test_what_ends_may_end_by_another_act() -> None:
    (found,) = required("¿Cuándo dejó de regir la Ley de Faros?")
    assert found.source.name == ()
    assert found.entities == ("ley faros",)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("¿Quién no puede pintar boyas?", True),
        ("¿Qué botes no están obligados a llevar luz?", True),
        ("¿Qué no comprende la cuota?", True),
        ("¿Qué multa hay por no pintar la boya?", False),
        ("¿Qué pasa si no se pinta la boya?", False),
    ],
)
def test_denied_questions_say_so(text: str, denied: bool) -> None:
    assert all(r.negated is denied for r in required(text))


def test_yes_or_no_keeps_its_figures() -> None:
    (found,) = required("¿Es cierto que la cuota de amarre es de 90 pesos para muelles con 51 boyas?")
    assert found.whether
    assert found.stated == ("90 pesos", "51 boyas")
    assert {"cuota", "amarre", "muelles"} <= set(found.terms)
    (provision,) = required("¿El artículo 9 de la Ley de Faros aplica a los botes?")
    assert provision.whether
    assert provision.path == "art:9"
    assert not any(r.whether for r in required("¿Publicó la Junta alguna norma de faros en 2031?"))


@pytest.mark.parametrize(
    ("text", "expected", "unit"),
    [
        ("¿Por qué la ración es de cien litros?", "cien litros", None),
        ("¿Por qué la reserva mide 40,500 hectáreas?", "40,500 hectáreas", "ha"),
        ("¿Por qué la boya se pinta cada tres años?", "cada tres años", "years"),
        ("¿Por qué la guardia dura nueve horas?", "nueve horas", "hours"),
        ("¿Quién dispuso que la luz fuera de 95 lúmenes?", "95 lúmenes", None),
    ],
)
def test_amounts_taken_for_granted_are_premises(text: str, expected: str, unit: str | None) -> None:
    (premise,) = (p for s in split(text) for p in s.premises if p.slot == "amount")
    assert (premise.expected, premise.unit) == (expected, unit)
    assert premise.terms


def test_fines_are_money_and_penalties_time() -> None:
    assert required("¿Qué multa hay por hundir una boya?")[0].unit == "money"
    assert required("¿Qué costo tiene la boya?")[0].unit == "money"
    assert required("¿Qué pena tiene hundir una boya?")[0].unit == "duration"


def test_paragraphs_are_of_what_they_stand_by() -> None:
    (found,) = required("¿Qué dice el artículo 12, apartado B, fracción III, segundo párrafo, de la Ley de Faros?")
    assert found.path == "art:12/ap:B/frac:III/par:2"


def test_courtesies_ask_for_nothing() -> None:
    (found,) = required("Hola, ¿podría decirme por favor qué cuota pagan las boyas? Gracias")
    assert found.terms == ("cuota", "pagan", "boyas")
    assert found.residue == ()
