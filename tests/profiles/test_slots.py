"""Slots that tell one thing from its siblings: names, descriptions, aspects, periods, cited provisions, versions."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DateRole,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    Period,
    ProvisionRequired,
    PublicationRequired,
    Question,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.dof.profile import DofProfile

PROFILE = DofProfile()


def split(text: str) -> tuple[SubQuestion, ...]:
    return PROFILE.decompose(Question(text=text, as_of=date(2035, 6, 30)))


def required(text: str) -> list[Any]:
    return [r for s in split(text) for r in s.requirements]


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("¿Qué documentos pide la Beca Ancla?", ("beca ancla",)),
        ("¿Qué multa hay por faltar al REGMAR?", ("regmar",)),
        ("¿Qué arancel paga la fracción 9903.11.02?", ("9903.11.02",)),
        ("¿Quién cuida la Laguna de los Patos y del Ganso?", ("laguna de los patos",)),
        ("¿Qué documentos pide la oficina?", ()),
        ("¿Qué dice el Acuerdo?", ()),
    ],
)
def test_names_and_codes_are_entities(text: str, entities: tuple[str, ...]) -> None:
    found = required(text)[0].entities
    assert found[: len(entities)] == entities
    assert bool(found) is bool(entities)


def test_names_side_by_side_are_one_requirement_each() -> None:
    found = required("¿Qué edad piden la Beca Ancla y la Beca Timón?")
    assert [r.entities for r in found] == [("beca ancla",), ("beca timon",)]
    assert "timon" not in found[0].terms
    assert "edad" in found[0].terms
    lower = required("Compara los requisitos de la boya ciega y de la boya luminosa.")
    assert [r.entities for r in lower] == [("boya ciega",), ("boya luminosa",)]


def test_a_kind_with_a_capital_names_an_instrument() -> None:
    (found,) = required("¿Quién cobra la Tarifa de Amarres?")
    assert found.source.name == ("tarifa", "amarres")
    two = required("¿Qué estudios exigen la Convocatoria Ancla y la Convocatoria Timón?")
    assert [r.source.name for r in two] == [("convocatoria", "ancla"), ("convocatoria", "timon")]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("¿Quién firmó el acuerdo de veda de ostras?", ("acuerdo", "veda", "ostras")),
        ("¿Qué agregó la tercera modificación a la NOM-099-FAR-2031?", ("tercera", "modificacion")),
        ("¿Qué puertos abarca la declaratoria de emergencia del 3 de mayo de 2031 por niebla?",
         ("declaratoria", "emergencia", "niebla")),
        ("¿Qué plazo tiene la Junta para expedir la ley nacional de boyas?", ()),
        ("¿Qué decreto creó la Junta?", ()),
    ],
)  # fmt: skip
def test_descriptions_of_instruments(text: str, about: tuple[str, ...]) -> None:
    assert required(text)[0].source.about == about


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("¿Cómo se calcula la cuota de amarre?", "method"),
        ("¿Con qué fundamento clausuró el puerto la Junta?", "basis"),
        ("¿Qué pasa si la boya se apaga?", "consequence"),
        ("¿Qué rectificó la fe de erratas de la tarifa?", "correction"),
        ("¿A qué renglones llegó la nota aclaratoria de la tarifa?", "correction"),
        ("¿Qué agregó el aviso de boyas?", "change"),
        ("¿Qué decía el aviso anulado?", "former"),
        ("¿Qué dispuso el aviso de boyas?", "operative"),
        ("¿Sigue la veda de ostras?", "validity"),
        ("¿Qué avisos dejó sin efectos la Junta?", "repeal"),
        ("¿Qué norma sustituyó a la de boyas?", "replacement"),
        ("¿Cómo se tramita el permiso?", "procedure"),
        ("¿En qué juicio se citó al armador?", "identifier"),
        ("¿En qué unidad se mide?", "unit"),
        ("¿Por qué brilla el faro que declaró la Junta?", None),
    ],
)
def test_aspects(text: str, aspect: str | None) -> None:
    assert required(text)[0].aspect == aspect


def test_how_and_until_when_are_two() -> None:
    first, second = split("¿Cómo y en qué plazo se impugna la multa de amarre?")
    assert (first.requirements[0].aspect, "multa" in first.requirements[0].terms) == ("procedure", True)
    assert type(second.requirements[0]).__name__ == "DeadlineRequired"


def test_a_value_published_for_a_day_is_no_value_published_on_it() -> None:
    (found,) = required("¿Qué valor publicó el Banco de México de la UDI para el 3 de mayo de 2031?")
    assert found.period == Period(start=date(2031, 5, 3), end=date(2031, 5, 3))
    assert found.source.published_from is None


def test_an_indicator_after_in_is_a_unit() -> None:
    (found,) = required("¿Desde qué monto en UMA debe avisarse la venta de un muelle?")
    assert (found.indicator, found.unit) == (None, "UMA")
    assert "muelle" in found.terms


def test_measures_side_by_side_are_one_value_each() -> None:
    found = required("¿Cuánto cuesta por hora y por día el amarre en los muelles 2 y 3?")
    assert {(r.zone, r.frequency, "hora" in r.terms) for r in found} == {
        (z, f, h) for z in ("muelle 2", "muelle 3") for f, h in ((None, True), ("daily", False))
    }
    later = split("¿Cuál fue en los muelles 2 y 3 la cuota de hielo por caja y cuál por tonelada?")
    assert [[type(r) for r in s.requirements] for s in later] == [[ValueRequired] * 2] * 2
    assert all("tonelada" in r.terms and "hielo" in r.terms for r in later[1].requirements)


def test_listed_cells_are_zones() -> None:
    found = required("¿Cuánto fija el convenio por muelle (norte, centro y sur)?")
    assert [r.zone for r in found] == ["muelle norte", "muelle centro", "muelle sur"]


def test_a_count_stated_before_the_question_counts() -> None:
    found = required("Son cuatro las señales que fija la Ley de Faros en su artículo 6: ¿cuáles son?")
    assert [(type(r), r.of, r.path) for r in found] == [(ItemRequired, 4, "art:6")] * 4
    assert "señales" in found[0].terms


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("¿En qué fechas se publicaron el proyecto PROY-NOM-099-FAR-2030 y la norma NOM-099-FAR-2031?",
         [(DateRole.PUBLICATION, "PROY-NOM-099-FAR-2030"), (DateRole.PUBLICATION, "NOM-099-FAR-2031")]),
        ("¿Qué fechas de visita, junta y fallo fijó la Junta?", [(DateRole.DATUM, None)] * 3),
        ("¿Qué fechas fijó el aviso para la visita al muelle y para la apertura de ofertas?",
         [(DateRole.DATUM, None)] * 2),
    ],
)  # fmt: skip
def test_each_event_has_a_date_of_its_own(text: str, roles: list[tuple[DateRole, str | None]]) -> None:
    found = required(text)
    assert {type(r) for r in found} == {DateRequired}
    assert [(r.role, r.source.identifier) for r in found] == roles
    assert len({r.terms for r in found}) == len(found)


def test_texts_are_compared_period_by_period() -> None:
    found = required("¿En qué cambiaron los días inhábiles del INE entre 2031 y 2033?")
    assert [r.period.start.year for r in found] == [2031, 2033]
    assert {r.source.issuer for r in found} == {"INSTITUTO NACIONAL ELECTORAL"}


def test_stages_without_a_verb() -> None:
    found = required("¿En qué orden salieron aviso, obra y cierre de la investigación de redes?")
    assert [type(r) for r in found] == [PublicationRequired] * 3
    assert [r.terms[0] for r in found] == ["aviso", "obra", "cierre"]


def test_whether_an_act_was_published_asks_when() -> None:
    (found,) = required("¿Hubo aclaración de la NOM-099-FAR-2031 entre enero y marzo de 2032?")
    assert isinstance(found, PublicationRequired)
    assert (found.source.published_from, found.source.published_to) == (date(2032, 1, 1), date(2032, 3, 31))


def test_what_invokes_a_provision_has_to_cite_it() -> None:
    (found,) = required(
        "¿Qué facultad ejerció la Junta con fundamento en el artículo 8, fracción II, de la Ley de Faros?"
    )
    assert (found.cited, found.path, found.aspect) == ("art:8/frac:II", None, "basis")


def test_a_reference_takes_two_steps() -> None:
    found = required("El convenio de faros invoca su anexo 4: ¿qué fija?")
    assert [(type(r), r.path, r.cited) for r in found] == [
        (ProvisionRequired, "anx:4", None), (TopicRequired, None, "anx:4")
    ]  # fmt: skip


def test_a_changed_provision_is_asked_for_in_the_reform_and_its_law_is_a_premise() -> None:
    (sub,) = split("¿Qué cambio hizo la reforma de muelles de mayo de 2031 al artículo 12 de la Ley de Faros?")
    (found,) = sub.requirements
    assert isinstance(found, ProvisionRequired)
    assert (found.path, found.source.name, found.source.published_from) == ("art:12", (), date(2031, 5, 1))
    assert ("amended", "Ley de Faros") in {(p.slot, p.expected) for p in sub.premises}
    assert all(p.slot != "instrument" for p in sub.premises)


def test_what_happened_on_a_day_is_a_premise() -> None:
    (sub,) = split("¿Cuánto subió la cuota de amarre el 3 de mayo de 2031?")
    assert ("date", "2031-05-03") in {(p.slot, p.expected) for p in sub.premises}
    (other,) = split("¿Cuánto subió la cuota de amarre en mayo de 2031?")
    assert not other.premises


def test_a_part_knows_whether_it_asks_for_what_is_in_force() -> None:
    now, then = split("¿Cuál es la cuota vigente de amarre y cuál fue la cuota en 2031?")
    assert (now.current, then.current) == (True, False)
    (rules,) = split("¿Cuáles son las reglas de operación vigentes de Redes Nuevas?")
    assert rules.current
    assert isinstance(rules.requirements[0], PublicationRequired)
    assert rules.requirements[0].source.name == ("reglas", "operacion", "redes", "nuevas")


@pytest.mark.parametrize(
    ("text", "entity"),
    [("¿Sigue vigente la Tarifa de Amarres?", "tarifa amarres"),
     ("¿Está en vigor la NOM-099-FAR-2031?", "nom-099-far-2031")],
)  # fmt: skip
def test_another_act_may_tell_that_one_is_no_longer_in_force(text: str, entity: str) -> None:
    (sub,) = split(text)
    (found,) = sub.requirements
    assert sub.current
    assert (found.aspect, found.entities) == ("validity", (entity,))
    assert (found.source.name, found.source.identifier) == ((), None)
    assert set(entity.split()) <= set(found.terms)


def test_spans_of_months_are_one_window() -> None:
    (found,) = required("avisos de boyas publicados entre enero y marzo de 2031")
    assert (found.source.published_from, found.source.published_to) == (date(2031, 1, 1), date(2031, 3, 31))


def test_provisions_that_begin_to_hold_have_a_date_each() -> None:
    found = required("¿Cuándo entran en vigor los numerales 4.2 y 7.1 de la NOM-099-FAR-2031?")
    assert [(type(r), r.entities, r.path) for r in found] == [
        (DateRequired, ("4.2",), None), (DateRequired, ("7.1",), None)
    ]  # fmt: skip


def test_what_is_counted_in_is_asked_for_too() -> None:
    found = required("¿Entre qué fechas rigió la veda de ostras, contando su prórroga?")
    assert [r.aspect for r in found if isinstance(r, TopicRequired)] == ["extension"]
    assert any(isinstance(r, DateRequired) for r in found)


def test_a_part_may_begin_with_what_it_is_decided_by() -> None:
    first, second = split("¿Qué ley abrogó la Ley de Faros y conforme a cuál se resuelve lo pendiente?")
    assert first.requirements[0].aspect == "repeal"
    assert "pendiente" in second.requirements[0].terms


def test_a_part_without_a_verb_takes_the_role_of_the_one_before() -> None:
    found = required("¿Cuándo entró en vigor la Ley de Faros y cuándo el decreto que la expidió?")
    assert [r.role for r in found] == [DateRole.EFFECT, DateRole.EFFECT]


def test_who_does_what() -> None:
    (found,) = required("¿Quién puede sancionar el descuido de las boyas?")
    assert isinstance(found, ActorRequired)
    assert found.action == "sancionar"


def test_a_defined_term_ends_where_its_source_is_named() -> None:
    (found,) = required("¿Qué se entiende por noche franca según el Reglamento de Faros?")
    assert isinstance(found, DefinitionRequired)
    assert found.term == "noche franca"


def test_zones_tell_lists_apart_too() -> None:
    (found,) = required("¿Qué puertos forman la Zona Libre de la Frontera Norte?")
    assert isinstance(found, ListRequired)
    assert found.entities == ("zona libre de la frontera norte",)


def test_court_actions_have_a_number() -> None:
    (found,) = required("¿Qué preceptos invalidó la Corte en la AI 77/2031?")
    assert (found.source.identifier, found.source.issuer) == ("77/2031", "SUPREMA CORTE DE JUSTICIA DE LA NACIÓN")


def test_versions_are_stamps_of_the_files() -> None:
    assert PROFILE.version == DofProfile().version != PROFILE.rules_version
    assert len(PROFILE.version) == len(PROFILE.rules_version) == len("1+01234567")


PIECES = st.sampled_from(
    ["Compara", "la Beca Ancla", "y la Beca Timón", ",", "¿", "?", "qué", "cambió", "el decreto", "de", "que creó",
     "por hora y por día", "(norte y sur)", "por muelle", "artículo 4", "de la Ley de Faros", "fe de erratas",
     "REGMAR",
     "9903.11.02", "¿cuáles?", "son seis los faros", "fechas de visita, junta y fallo", "vigente", "Acuerdo", "2031"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30).map(" ".join))
def test_any_mixture_has_bounded_sound_slots(text: str) -> None:
    subs = split(text)
    found = [r for s in subs for r in s.requirements]
    assert found
    assert len(found) <= 12 * 24
    for one in found:
        assert one.label
        assert len(one.entities) <= 24
        assert all(e and e == e.lower() for e in one.entities)
        assert len({*one.terms}) == len(one.terms)
        if isinstance(one, TopicRequired):
            assert one.terms
