"""Questions about an invented gazette, split by the Spanish rules into typed requirements."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.domain.question import (
    ActorRequired,
    Base,
    DateRequired,
    DateRole,
    DeadlineRequired,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    Period,
    ProvisionRequired,
    PublicationRequired,
    Question,
    RangeRequired,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.dof.profile import DofProfile
from dofrag.text.fold import fold

PROFILE = DofProfile()
AS_OF = date(2032, 6, 30)


def split(text: str, as_of: date = AS_OF) -> tuple[SubQuestion, ...]:
    return PROFILE.decompose(Question(text=text, as_of=as_of))


def required(text: str) -> list[Any]:
    return [r for s in split(text) for r in s.requirements]


def kinds(found: Iterable[Base]) -> list[str]:
    return [type(r).__name__.removesuffix("Required") for r in found]


def test_frequencies_named_together_are_one_requirement_each() -> None:
    found = required("¿Qué valor diario, mensual y anual tuvo la UMA en 2031?")
    assert kinds(found) == ["Value"] * 3
    assert [r.frequency for r in found] == ["daily", "monthly", "annual"]
    assert {r.indicator for r in found} == {"UMA"}
    assert {r.period for r in found} == {Period(start=date(2031, 1, 1), end=date(2031, 12, 31))}


def test_periods_cross_with_zones() -> None:
    found = required("¿Cómo cambió el salario mínimo de 2030 a 2031 en la zona general y en la ZLFN?")
    assert len({(r.period.start.year, r.zone) for r in found}) == len(found) == 4


def test_a_data_date_is_no_publication_date() -> None:
    (found,) = required("¿Cuál fue el tipo de cambio obtenido por Banxico el 3 de mayo de 2031?")
    assert isinstance(found, ValueRequired)
    assert found.period == Period(start=date(2031, 5, 3), end=date(2031, 5, 3))
    assert found.source.issuer == "BANCO DE MÉXICO"
    assert found.source.published_from is None


def test_each_indicator_keeps_its_own_date() -> None:
    found = required("¿Qué publicó Banxico el 4 de mayo de 2031: cuánto TIIE a 28 y 91 días y la UDI del 9 de mayo?")
    values = [r for r in found if isinstance(r, ValueRequired)]
    assert [r.indicator for r in values] == ["TIIE 28", "TIIE 91", "UDI"]
    assert values[-1].period == Period(start=date(2031, 5, 9), end=date(2031, 5, 9))
    assert all(r.source.published_from == date(2031, 5, 4) for r in found)


def test_a_stated_count_is_one_requirement_an_item() -> None:
    found = required("Enumera los cinco fines que fija el artículo 4 de la Ley de Faros publicada en marzo de 2031.")
    assert kinds(found) == ["Item"] * 5
    assert [(r.ordinal, r.of) for r in found] == [(n, 5) for n in range(1, 6)]
    one = found[0]
    assert isinstance(one, ItemRequired)
    assert one.path == "art:4"
    assert one.source.name == ("ley", "faros")
    assert (one.source.published_from, one.source.published_to) == (date(2031, 3, 1), date(2031, 3, 31))
    assert one.source.gazette_only


def test_two_lists_stay_apart() -> None:
    found = required("¿Cuáles son los dos ejes rectores y las tres metas costeras del Plan de Puertos 2031-2036?")
    assert [(r.of, r.terms[:2]) for r in found] == [(2, ("ejes", "rectores"))] * 2 + [(3, ("metas", "costeras"))] * 3
    assert {r.source.name for r in found} == {("plan", "puertos", "2031-2036")}


def test_ranges_are_one_requirement_each() -> None:
    found = required("¿Qué debe pagar un puerto con hasta 10 muelles, entre 11 y 40, y con más de 40 muelles?")
    assert kinds(found) == ["Range"] * 3
    assert [(r.low, r.high, r.low_inclusive) for r in found] == [(None, 10, True), (11, 40, True), (40, None, False)]
    assert {r.unit for r in found} == {"muelles"}
    worded = required("¿Qué pasa con diez o menos boyas y con menos de cinco faros?")
    assert [(r.high, r.high_inclusive) for r in worded if isinstance(r, RangeRequired)] == [(10, True), (5, False)]


def test_years_are_no_range_of_quantities() -> None:
    assert "Range" not in kinds(required("¿Cómo cambió la UMA de 2030 a 2031?"))


def test_who_since_when_and_how_much_are_three() -> None:
    subs = split("¿Quién cobra la cuota de boyas, desde cuándo y cuánto?")
    assert [kinds(s.requirements) for s in subs] == [["Actor"], ["Date"], ["Value"]]
    assert [s.id for s in subs] == ["q1", "q2", "q3"]
    assert all("boyas" in r.terms for s in subs for r in s.requirements)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("¿Cuándo entró en vigor el Reglamento de Boyas?", DateRole.EFFECT),
        ("¿Desde qué fecha rigen las cuotas de faros?", DateRole.EFFECT),
        ("¿Qué día se publicó el Reglamento de Boyas?", DateRole.PUBLICATION),
        ("¿En qué fecha se firmó el convenio de boyas?", DateRole.SIGNATURE),
        ("¿Hasta cuándo se reciben propuestas de faros?", DateRole.DEADLINE),
        ("¿Por qué la cuota comenzó a regir el 3 de mayo de 2031?", DateRole.EFFECT),
    ],
)
def test_dates_carry_their_role(text: str, role: DateRole) -> None:
    (found,) = required(text)
    assert isinstance(found, DateRequired)
    assert found.role is role


def test_coordinated_subjects_have_a_date_each() -> None:
    found = required("¿En qué fechas entraron en vigor la cuota básica y las tarifas altas de la NOM-099-FAR-2031?")
    assert [r.terms for r in found] == [("cuota", "basica"), ("tarifas", "altas")]
    assert {r.source.identifier for r in found} == {"NOM-099-FAR-2031"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("¿Qué plazo tienen los puertos para inscribir sus boyas?", DeadlineRequired),
        ("¿Cuántos días hábiles hay para pagar la patente?", DeadlineRequired),
        ("¿Ante qué autoridad se inscribe una boya?", ActorRequired),
        ("¿Cómo define el Reglamento de Boyas la boya ciega?", DefinitionRequired),
        ("¿Cuál es el objetivo del programa de faros?", DefinitionRequired),
        ("¿Qué documentos pide la Junta?", ListRequired),
        ("¿Qué dice el artículo 9 de la Ley de Faros?", ProvisionRequired),
        ("¿Qué publicó el INEGI el 3 de mayo de 2031?", PublicationRequired),
        ("¿Qué porcentaje cobra la aduana?", ValueRequired),
        ("¿Por qué brilla el faro?", TopicRequired),
        ("What does the lighthouse act say?", TopicRequired),
        ("xqz wvk", TopicRequired),
    ],
)
def test_kind(text: str, kind: type[Base]) -> None:
    assert kind in {type(r) for r in required(text)}


def test_definition_leaves_out_what_defines() -> None:
    (found,) = required("¿Cómo define el Reglamento de Boyas la boya ciega?")
    assert found.term == "boya ciega"
    assert found.source.name == ("reglamento", "boyas")


def test_monitoring_has_issuer_date_and_edition() -> None:
    (found,) = required("¿Qué publicó la Secretaría de Marina el 9 de mayo en la edición vespertina?")
    assert found.source.issuer == "SECRETARÍA DE MARINA"
    assert found.source.edition == "VES"
    assert found.source.published_from == found.source.published_to == date(2032, 5, 9)  # the year of the cut-off
    (earlier,) = required("¿Qué publicó la Secretaría de Marina el 9 de agosto?")
    assert earlier.source.published_from == date(2031, 8, 9)  # that of 2032 has not come yet


def test_today_dates_a_publication_and_nothing_else() -> None:
    (published,) = required("¿Qué publicó hoy la Secretaría de Marina?")
    assert published.source.published_from == published.source.published_to == AS_OF
    assert published.source.issuer == "SECRETARÍA DE MARINA"
    (value,) = required("¿Cuánto vale hoy la UMA?")
    assert value.period is None


def test_a_span_of_days_is_one_range_of_publication() -> None:
    (found,) = required("avisos de boyas publicados entre el 3 y el 10 de mayo de 2031")
    assert (found.source.published_from, found.source.published_to) == (date(2031, 5, 3), date(2031, 5, 10))
    compared = required("¿Cómo cambió la UDI entre el 3 y el 10 de mayo de 2031?")
    assert [r.period.start.day for r in compared] == [3, 10]


def test_context_names_provisions_that_are_asked_for() -> None:
    subs = split(
        "El tercer transitorio de la NOM-099-FAR-2031 aplazó el numeral 6.1: ¿qué exige y a qué empresas obliga?"
    )
    assert [r.path for r in subs[0].requirements] == ["trans:3", "num:6.1"]
    assert subs[1].requirements[0].path == "num:6.1"
    assert {p.slot for p in subs[0].premises} >= {"instrument", "provision"}


def test_a_provision_that_is_only_invoked_is_no_source() -> None:
    found = required("¿Qué facultad ejerció la Junta con fundamento en el artículo 8 de la Ley de Faros?")
    assert kinds(found) == ["Topic"]
    assert found[0].source.name == ()
    assert "faros" in found[0].terms


def test_sources_named_side_by_side_are_one_requirement_each() -> None:
    found = required("¿Qué diferencia hay entre la NOM-099-FAR-2031 y la NOM-099-BOY-2030?")
    assert [r.source.identifier for r in found] == ["NOM-099-FAR-2031", "NOM-099-BOY-2030"]


def test_a_part_without_source_inherits_the_only_one() -> None:
    subs = split("¿Cuándo entró en vigor la Ley de Faros publicada el 3 de mayo de 2031 y qué plazo dio al puerto?")
    assert [s.requirements[0].source.name for s in subs] == [("ley", "faros")] * 2


@pytest.mark.parametrize(
    ("text", "slot", "expected"),
    [
        ("¿En qué puertos están los 12 muelles concesionados?", "number", "12 muelles"),
        ("¿Quién vendió las 40,000 m² del faro?", "number", "40,000 m²"),
        ("¿Qué establece el artículo 90 de la Ley de Faros?", "provision", "art:90"),
        ("¿Por qué la cuota comenzó a aplicarse el 3 de mayo de 2031?", "date", "2031-05-03"),
        ("¿En qué fecha quedó abrogada la Ley de Faros?", "act", "abrogada"),
        ("¿Qué dispone la Ley de Faros?", "instrument", "Ley de Faros"),
    ],
)
def test_presuppositions_are_premises(text: str, slot: str, expected: str) -> None:
    premises = [p for s in split(text) for p in s.premises]
    assert (slot, expected) in {(p.slot, p.expected) for p in premises}
    assert [p.id for p in premises] == [f"q1.p{n}" for n in range(1, len(premises) + 1)]


def test_chronology_has_a_requirement_a_stage() -> None:
    found = required("¿Cuál fue la secuencia desde el aviso de faros hasta el decreto de boyas?")
    assert kinds(found) == ["Publication", "Publication"]
    timed = required("¿Cuál fue la secuencia de actos y plazos desde el aviso de faros hasta el decreto de boyas?")
    assert kinds(timed) == ["Publication", "Deadline"] * 2
    staged = required("Cronología de las dos fases de entrada en vigor de la NOM-099-FAR-2031 y la reforma de boyas")
    assert kinds(staged) == ["Date"] * 3
    assert [r.source.identifier for r in staged] == ["NOM-099-FAR-2031"] * 2 + [None]


@pytest.mark.parametrize(("text", "asks"), [
    ("¿Cuáles son las cuotas vigentes?", True), ("¿Sigue en vigor la ley?", True), ("¿Qué dice hoy?", True),
    ("¿Cuánto valía en 2031?", False), ("la actualización de 2031", False), ("valores vigentes desde mayo", False),
])  # fmt: skip
def test_what_is_in_force_now(text: str, asks: bool) -> None:
    assert PROFILE.asks_current(text) is asks


def test_named_scopes_are_whole_words() -> None:
    scopes = frozenset({"dictamen", "reservado"})
    assert PROFILE.named_scopes("¿Qué dice el Dictámen 4?", scopes) == {"dictamen"}
    assert PROFILE.named_scopes("los dictámenes de la Junta", scopes) == {"dictamen"}
    assert PROFILE.named_scopes("¿Qué dictaminó la Junta?", scopes) == frozenset()
    assert PROFILE.named_scopes("dictamen", frozenset()) == frozenset()


def test_names_and_expansions() -> None:
    assert PROFILE.canonical_issuer("Inegi") == "INSTITUTO NACIONAL DE ESTADÍSTICA Y GEOGRAFÍA"
    assert PROFILE.canonical_issuer("Junta de Faros") == "Junta de Faros"
    expansions = PROFILE.expansions()
    assert "unidad de medida y actualizacion" in expansions["uma"]
    assert "uma" in expansions["unidad de medida y actualizacion"]
    assert "salud" not in expansions
    for term, others in expansions.items():
        assert fold(term) == term
        assert others
        assert term not in others


WORDS = st.sampled_from(
    ["¿", "?", "qué", "cuál", "cuándo", "y", "desde", "hasta", "los", "siete", "faros", "artículo", "3", "de", "la",
     "Ley", "General", "NOM-099", "2031", "1 de mayo", "entre", "más de", "publicó", "INEGI", "UMA", "por qué",
     ",", ":", "vigente", "abrogó", "cada", "region 1", "compara", "cronología", "\n"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)))
def test_any_text_has_requirements_and_sound_ids(text: str) -> None:
    subs = split(text)
    assert subs == split(text)
    assert [s.id for s in subs] == [f"q{n}" for n in range(1, len(subs) + 1)]
    for sub in subs:
        assert sub.text
        assert [r.id for r in sub.requirements] == [f"{sub.id}.r{n}" for n in range(1, len(sub.requirements) + 1)]
        for requirement in sub.requirements:
            assert requirement.label
            assert requirement.rule
            assert requirement.span is not None
            assert 0 <= requirement.span.start <= requirement.span.end <= len(text)
            if isinstance(requirement, TopicRequired):
                assert requirement.terms  # never a free pass


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "¿qué y " * 15_000, "artículo 1, " * 9_000, "de 1 a 2 " * 12_000, "\x00\x07\x1b" * 30_000,
     "Ley de Ley de " * 8_000, "1 de mayo de 2031 " * 6_000, "((((" * 25_000],
    ids=["letters", "asks", "articles", "ranges", "controls", "laws", "dates", "brackets"],
)  # fmt: skip
def test_work_is_bounded(text: str) -> None:
    started = time.perf_counter()
    subs = split(text)
    assert time.perf_counter() - started < 5  # seconds
    assert len(subs) <= 12
    assert sum(len(s.requirements) for s in subs) <= 12 * 24


def test_profile_files_are_read_once_and_messages_are_complete() -> None:
    assert "2031" in PROFILE.message("limitation.consolidated", title="Ley de Faros 2031")
    with pytest.raises(KeyError):
        PROFILE.message("limitation.unknown")
