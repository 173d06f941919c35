"""Questions on the sample gazette as people put them: with a scene, a need or an order before what they ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring


def ask(question: str, folder: Path) -> dict[str, Any]:
    return wiring.run_question(question, trace_dir=folder).result


ANSWERED = {
    "Mi taller trae velas de cera de la Isla de Tormes. ¿Cuánto es por kilogramo la cuota compensatoria?": ("$5.75",),
    "Prepara una tabla del valor anual de la Unidad de Cuenta Social en la Zona Serrana, de 2022 a 2024.": (
        "$28,910.40",
        "$31,190.40",
        "$32,740.80",
    ),
    "Una viuda del puerto riega con 3,000 metros cúbicos al año. ¿Cuál es la cuota por metro cúbico en 2024?": (
        "$0.85",
    ),
}
"""A question, and what its answer quotes."""

NEVER = [
    # the scene is of something that the gazette does not speak of
    "Mi tío pilota un globo aerostático en la montaña. ¿De cuánto es la cuota anual?",
    # a later act had been published by then: which of the two governs is for its transitory provisions to say
    "Presenté mi solicitud de concesión de agua el 9 de julio de 2024. ¿En cuántos días resuelve la Comisión?",
    # what is taken for granted is said nowhere
    "Con la rebaja del noventa por ciento que trajo la tarifa de 2024, ¿cuál es la cuota fija anual de los talleres?",
]


@pytest.mark.parametrize("question", ANSWERED)
def test_what_stands_before_a_question_does_not_hide_it(question: str, tmp_path: Path) -> None:
    result = ask(question, tmp_path)
    assert result["terminal_state"] == "answered", result["coverage"]
    quoted = " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert [value for value in ANSWERED[question] if value not in quoted] == []


@pytest.mark.parametrize("question", NEVER)
def test_what_stands_before_a_question_is_held_against_its_answer(question: str, tmp_path: Path) -> None:
    result = ask(question, tmp_path)
    assert result["terminal_state"] != "answered" or result["reason"] == "premise_corrected", result["answer"]
