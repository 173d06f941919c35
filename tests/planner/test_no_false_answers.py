"""Hostile questions on the sample gazette: whatever the words have in common with a text, none may end answered.

What is asked does not exist, is not named, is denied, or is no matter of a gazette. Abstaining, asking back and
correcting a premise are right ends; a fluent answer is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring

HOSTILE = [
    # a word that narrows what is asked must be said of the value
    "¿Cuál es el valor por hora de la Unidad de Cuenta Social para 2025 en la Zona Serrana?",
    "¿Cuál fue el tipo de cambio en dólares obtenido por el Banco Austral de Emisión el 6 de marzo de 2024?",
    "¿Cuál fue el tipo de cambio de venta obtenido el 6 de marzo de 2024 por el Banco Austral de Emisión?",
    "¿Cuál fue el tipo de cambio promedio obtenido el 6 de marzo de 2024 por el Banco Austral de Emisión?",
    # a regulation of a law is not the law
    "¿Qué dice el artículo 2 del Reglamento de la Ley de Faros, Balizas y Señales Ribereñas?",
    # who is exempt is not who is bound
    "¿Qué talleres no están obligados por la NOM-014-SOT-2023?",
    # another zone, name, year, frequency, unit or term than any there is
    "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025 en la Zona Lunar?",
    "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025 en la Zona Ribereña y en la Zona Lunar?",
    "¿Cuál es el valor semanal de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?",
    "¿Cuál fue el valor diario de la Unidad de Cuenta Social en 1998?",
    "¿Cuál es el valor en dólares de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?",
    "¿Cuál es el valor diario de la Unidad de Fomento para 2025?",
    "¿Cuál es la tasa de equilibrio entre bancos a 91 días?",
    "¿Cuánto cuesta la entrada general a los museos de oficios durante el horario de invierno de 2025?",
    # comparisons of years that were never published
    "¿Cómo cambió el valor mensual de la Unidad de Cuenta Social en la Zona Serrana de 2019 a 2020?",
    "¿Cómo cambió el valor anual de la Unidad de Cuenta Social en la Zona Lunar de 2023 a 2025?",
    "¿Cuál es la diferencia entre el valor diario de la Unidad de Cuenta Social de 2023 y el de 2030?",
    # nothing is named
    "¿Cuál es el valor diario?",
    "¿Cuáles son los valores?",
    "¿Quién firmó?",
    "¿Qué se publicó?",
    "¿Quién publicó el decreto?",
    "¿Cuál es la multa?",
    "¿Qué día es hoy?",
    "¿Cuánto es?",
    "¿Qué dice la ley?",
    "Hola",
    # what a question states falsely
    "¿Por qué el Instituto fijó en $500 diarios la Unidad de Cuenta Social para 2025 en la Zona Ribereña?",
    "¿Por qué se fijó en $1 mensual la Unidad de Cuenta Social de 2025 en la Zona Serrana?",
    "¿Es verdad que se derogó la Unidad de Cuenta Social?",
    "¿Por qué la Ley General de Cuencas y Manantiales se abrogó en 2020?",
    "¿Por qué se prohibió la pesca en Puerto Bruma?",
    # other instruments, other provisions
    "¿Qué dice el artículo 3 de la Ley Federal del Trabajo?",
    "¿Qué dice el artículo 3 de la Constitución?",
    "¿Qué dice el artículo 99 de la Ley General de Cuencas y Manantiales?",
    "¿Cuántos artículos tiene la Constitución?",
    # denials
    "¿Cuándo no entra en vigor la Ley General de Cuencas y Manantiales?",
    "¿Qué objetos no enumera el artículo 3 de la Ley General de Cuencas y Manantiales?",
    "¿Quién no puede ser Comisionado de Faros?",
    "¿Qué municipios no comprende la declaratoria de utilidad pública del muelle de Puerto Bruma?",
    # another kind of the same thing, by a word that narrows it
    "¿Cuál es la cuota trimestral de registro de embarcaciones menores?",
    "¿Cuál es la cuota anual de registro de aeronaves?",
    "¿Cuál es el salario mínimo profesional de carpintero?",
    "¿Qué tiempo permitido corresponde a 103 decibeles según la NOM-014-SOT-2023?",
    "¿Cuál era el caudal del manantial Ojo de Garza en 2022?",
    # a second part that nothing answers
    "¿Cuál es el límite de exposición al ruido y el límite de temperatura en la NOM-014-SOT-2023?",
    "¿Cuál fue el tipo de cambio del 6 de marzo de 2024 y su equivalente en coronas boreales?",
    "¿La reforma de la Ley General de Cuencas y Manantiales aplica a los pozos domésticos y desde cuándo?",
    "¿Qué establece el artículo 12 de la Ley General de Cuencas y Manantiales y quién lo reformó en 2025?",
    "¿Cuántos medidores se compraron y a qué precio?",
    # what counts in a unit is not what the unit is worth
    "¿Cuál es el valor de la Unidad de Cuenta Social?",
    # a publication about the instrument is not the instrument; what one act ended says nothing of another
    "¿Cuándo se firmó la Ley General de Cuencas y Manantiales?",
    "¿Qué decreto reformó el artículo 12 de la Ley General de Cuencas y Manantiales?",
    "¿Qué reglamento abrogó la Ley de Faros, Balizas y Señales Ribereñas?",
    "¿Cuándo se publicó el decreto que abrogó la Ley General de Cuencas y Manantiales?",
    "¿Qué establece el artículo 24 Bis de la Ley General de Cuencas y Manantiales?",
    "¿Cuántos artículos tiene la Ley General de Cuencas y Manantiales?",
    # what a later act changed is not in force as it stood
    "¿Cuál es el plazo vigente para resolver la solicitud según el artículo 9 de la Ley de Registro de Embarcaciones "
    "Menores?",
    # why wants a cause, what is denied a denial, a bare name asks nothing
    "¿Por qué se prohibió la exportación de cera de abeja en 2024?",
    "¿Por qué se prorrogó la entrada en vigor del numeral 5.2 de la NOM-901-SPI-2023?",
    "¿Qué envíos de cera de abeja no están prohibidos?",
    "NOM-014",
    # a name and a number belong to the noun before them
    "¿Qué municipios comprende la declaratoria de emergencia por la crecida del río Alcandora?",
    "¿Qué meta tiene el eje general 3 del Plan de la República 2023-2028?",
    # the end of an article is not the end of its law; what was mended is asked for as mended
    "¿Qué ley abrogó la Ley de Faros, Balizas y Señales Ribereñas?",
    "¿Está vigente la Ley de Registro de Embarcaciones Menores?",
    "¿A cuántos metros debe ser visible el letrero de las áreas ruidosas según la NOM-014-SOT-2023 con su "
    "aclaración?",
    # a time that only ends, or only begins, has more values than one; an act that lists is no list of acts
    "¿Qué valores diarios tuvo la Unidad de Cuenta Social en la Zona Ribereña desde 2023?",
    "¿Qué valores diarios tuvo la Unidad de Cuenta Social en la Zona Ribereña hasta 2023?",
    "¿Qué reformas tuvo la Ley de Faros, Balizas y Señales Ribereñas?",
    "¿Qué reformas tuvo la Ley de Faros, Balizas y Señales Ribereñas antes de 2025?",
    # offices and holders
    "¿Quién es la Secretaria de Puertos Interiores?",
    "¿Quién presidía el Instituto Austral de Estadística en enero de 2024?",
    "¿Quién es el titular del Instituto?",
    "¿Quién es el director general del Instituto de Cuenta Social?",
    "¿Quién es el Presidente?",
    "¿Quién es la reina de Puerto Bruma?",
    # no matter of this gazette
    "¿Cuál es el resultado de 2+2?",
    "¿Cuál es la capital de Francia?",
    "¿Qué rey visitó el Puerto Bruma?",
    "¿Cuántas ballenas hay en Puerto Bruma?",
    "¿Cuál es la altura del muelle de Puerto Bruma?",
    "¿Se aplica la Unidad de Cuenta Social a los extranjeros?",
    "What is the capital of France?",
    "Who signed the decree?",
]


CORRECTED = {
    "¿Por qué la concesión de agua dura veinte años según el artículo 23 de la Ley General de Cuencas y "
    "Manantiales?": "quince años",
    "¿Por qué el límite de exposición al ruido de la NOM-014-SOT-2023 es de 95 decibeles?": "88 decibeles",
    "¿Por qué el examen de audición se hace cada cinco años según el numeral 5.5 de la NOM-014-SOT-2023?": "dos años",
}
"""What a question takes for granted, and what the text says instead."""
UNPROVEN = [
    "¿Por qué la dotación diaria del artículo 5 de la Ley General de Cuencas y Manantiales es de cien litros por "
    "persona?",
    "¿Por qué la multa por verter residuos es de cincuenta unidades según el artículo 41 de la Ley General de "
    "Cuencas y Manantiales?",
    "¿Por qué se expropiaron 20 inmuebles para el muelle de Puerto Bruma?",
    "¿Cuáles son las diez definiciones del numeral 4 de la NOM-014-SOT-2023?",
]
"""False as well, but no single passage says what is true: neither answered nor corrected by something beside it."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.chdir(folder)
        yield folder


def ask(question: str, home: Path) -> dict[str, Any]:
    outcome = wiring.run_question(question, trace_dir=home / "traces")
    assert outcome.error is None
    return outcome.result


@pytest.mark.parametrize("question", HOSTILE)
def test_nothing_passes_for_an_answer(question: str, home: Path) -> None:
    result = ask(question, home)
    told = [claim["text"] for claim in result["claims"]]
    # A premise may be corrected: that says what is true instead, and answers nothing that was not there.
    assert result["reason"] == "premise_corrected" or result["terminal_state"] != "answered", told


@pytest.mark.parametrize("question", CORRECTED)
def test_a_false_figure_is_corrected_with_the_true_one(question: str, home: Path) -> None:
    result = ask(question, home)
    quotes = " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert (result["reason"], CORRECTED[question] in quotes) == ("premise_corrected", True), quotes


@pytest.mark.parametrize("question", UNPROVEN)
def test_a_false_figure_is_not_corrected_by_something_else(question: str, home: Path) -> None:
    assert ask(question, home)["terminal_state"] != "answered"


def test_a_comparison_of_two_years_takes_each_from_its_own_notice(home: Path) -> None:
    question = "¿Cómo cambió el valor diario de la Unidad de Cuenta Social en la Zona Ribereña de 2024 a 2025?"
    result = ask(question, home)
    assert result["reason"] == "closed"
    assert [s["publication_code"] for s in result["sources"]] == ["9100304", "9100402"]
    quotes = " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert "$95.25" in quotes
    assert "$99.00" in quotes
