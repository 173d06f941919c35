"""Provisions of named laws on real text: the very article, by name, acronym and adjective; days as far as read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring

pytestmark = [
    pytest.mark.realtext,
    pytest.mark.skipif("DOF_DATA" not in os.environ, reason="DOF_DATA names no folder of real text"),
]


def ask(question: str, index: str, tmp_path: Path) -> dict[str, Any]:
    outcome = wiring.run_question(question, index=Path(index), trace_dir=tmp_path)
    assert outcome.error is None
    return outcome.result


@pytest.mark.parametrize(
    ("question", "code", "said"),
    [
        ("¿Qué establece el artículo 44 de la Ley Agraria?", "LEY-LAGRA", "las tierras ejidales, por su destino"),
        ("artículo 89 de la Ley de Migración", "LEY-LMIGRA", "espacios adecuados para la estancia temporal"),
        ("¿Qué dice el artículo 170 Bis de la LFT?", "LEY-LFT", "cualquier tipo de cáncer"),
        ("¿Qué dice el artículo 170 de la LFT?", "LEY-LFT", "Las madres trabajadoras"),
        ("¿Qué dice el artículo 3 constitucional?", "LEY-CPEUM", "Toda persona tiene derecho a la educación"),
        ("¿Qué dice la fracción I del artículo 20 de la Ley Agraria?", "LEY-LAGRA", "cesión legal"),
        ("¿Qué dice el artículo 2o-A de la Ley del IVA?", "LEY-LIVA", "El impuesto se calculará aplicando la tasa"),
        ("¿Qué dice el artículo tercero transitorio del Código de Comercio?", "LEY-CCOM", "legalmente interpuestos"),
    ],
)
def test_the_very_provision_is_cited(question: str, code: str, said: str, index: str, tmp_path: Path) -> None:
    result = ask(question, index, tmp_path)
    assert result["terminal_state"] == "answered", result["reason"]
    assert {s["publication_code"] for s in result["sources"]} == {code}
    assert said in " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert result["spend"]["tool_calls"] <= 5


@pytest.mark.parametrize("law", ["la Ley de Migración", "la Ley General de Aguas"])
def test_an_article_that_a_law_does_not_have_is_not_answered(law: str, index: str, tmp_path: Path) -> None:
    assert ask(f"¿Qué dice el artículo 999 de {law}?", index, tmp_path)["terminal_state"] == "abstained"


def test_a_day_too_long_to_read_is_told_as_far_as_it_was_read(index: str, tmp_path: Path) -> None:
    result = ask("¿Qué se publicó el 12 de abril de 2024?", index, tmp_path)
    assert (result["terminal_state"], result["coverage"][0]["status"]) == ("abstained", "read")
    assert len({s["publication_code"] for s in result["sources"]}) == len(result["claims"]) >= 20
    assert any("De 87 publicaciones" in line for line in result["limitations"])


def test_all_that_an_issuer_published_is_told(index: str, tmp_path: Path) -> None:
    result = ask("¿Qué publicó el Banco de México?", index, tmp_path)
    [listing] = result["searched"]
    assert result["terminal_state"] == "answered"
    assert {s["publication_code"] for s in result["sources"]} == set(listing["publications"])
    assert len(result["claims"]) == listing["total"] > 1
