"""Hostile questions on real official text: what is asked is not there, or not as it is asked.

None was used to write a rule; each is of a kind that once passed for answered.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dofrag import wiring

DATA = os.environ.get("DOF_DATA", "")
pytestmark = [pytest.mark.realtext, pytest.mark.skipif(not DATA, reason="DOF_DATA is not set")]

UNANSWERABLE = [
    "¿Qué sanción establece el artículo 200 de la Ley de Expropiación?",
    "¿Qué establece el artículo 76 de la Ley del Seguro Social sobre vacaciones?",
    "¿Por qué la NOM-035-STPS-2018 entró en vigor el 1 de enero de 2019?",
    "¿Cuál es el salario mínimo profesional de 2026 para chofer?",
    "¿Cuál fue el tipo de cambio en euros del 9 de agosto de 2006?",
    "¿Cuál fue el tipo de cambio FIX de compra del 9 de agosto de 2006?",
    "¿Cuál es el INPC subyacente de diciembre de 2025?",
    "¿Cuál es la jornada máxima semanal según la Ley Federal del Trabajo?",
    "¿Desde qué fecha dejó de regir el salario mínimo de 2025?",
    "¿La reforma de vacaciones aplica a los trabajadores del Estado y desde cuándo?",
    "¿Qué multa prevé la NOM-035-STPS-2018 por no identificar los factores de riesgo psicosocial?",
    "¿Qué costo tiene el dictamen de la NOM-035-STPS-2018?",
    "¿Cuánto se pagó de indemnización por la expropiación para el Tren Maya?",
    "¿Cuándo se publicó el proyecto de la NOM-035-STPS-2018?",
    "¿Quién es el titular del INEGI?",
    "¿Quién es el titular del Banco de México?",
    "¿Qué Papa visitó México?",
    # a figure of something else, a denial, an opinion, what was before
    "¿Qué volumen disponible tiene la cuenca hidrológica Río Cañas 2?",
    "¿Qué días no son hábiles para el juicio de amparo?",
    "¿Es constitucional la reforma del Poder Judicial de 2024?",
    "¿Cuántos días de vacaciones otorgaba el artículo 76 de la Ley Federal del Trabajo antes de la reforma de 2022?",
    "¿Qué decía el artículo 78 de la Ley Federal del Trabajo antes de 2022?",
    "¿Cuántos ministros tenía la Suprema Corte antes de la reforma de 2024?",
    "¿Por qué el salario mínimo general bajó en 2026?",
    # bare names, and articles that an act changed
    "NOM-035",
    "Ley Federal del Trabajo",
    "salario mínimo",
    "¿Qué artículos de la Ley de Aguas Nacionales derogó el decreto del 11 de diciembre de 2025?",
    "¿Qué artículos de la Ley de Aguas Nacionales reformó el decreto del 11 de diciembre de 2025?",
]
CORRECTED = {
    "¿Por qué el artículo 83 de la Constitución fija un periodo presidencial de cuatro años?": "seis años",
    "¿Por qué la UMA diaria de 2026 quedó en 120 pesos?": "117.31",
    "¿Por qué se expropiaron 48,661 hectáreas para el Tren Maya?": "48,661.703 m²",
}
"""What a question takes for granted, and what the text says instead."""


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_nothing_passes_for_an_answer(question: str, index: str, tmp_path: Path) -> None:
    outcome = wiring.run_question(question, index=Path(index), trace_dir=tmp_path)
    assert outcome.error is None
    told = [claim["text"] for claim in outcome.result["claims"]]
    assert outcome.result["terminal_state"] != "answered", told


@pytest.mark.parametrize("question", CORRECTED)
def test_a_false_figure_is_corrected_with_the_true_one(question: str, index: str, tmp_path: Path) -> None:
    result = wiring.run_question(question, index=Path(index), trace_dir=tmp_path).result
    quotes = " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert (result["reason"], CORRECTED[question] in quotes) == ("premise_corrected", True), quotes


def test_a_false_count_is_corrected_with_each_item_whole_and_once(index: str, tmp_path: Path) -> None:
    question = (
        "¿Cuáles son los nueve objetos que enumera el artículo 3 de la Ley General de Aguas de diciembre de 2025?"
    )
    result = wiring.run_question(question, index=Path(index), trace_dir=tmp_path).result
    quotes = [c["quote"] for claim in result["claims"] for c in claim["citations"]]
    assert (result["reason"], len(quotes), len(set(quotes))) == ("premise_corrected", 7, 7)
    assert any(quote.endswith("de los que el Estado mexicano sea parte") for quote in quotes)
