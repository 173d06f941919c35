"""The rule planner and the adversaries, whole runs on the sample gazette."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.planner.scripted import scripted

CLEAR = "¿Cuáles son los valores diario, mensual y anual de la Unidad de Cuenta Social en la Zona Serrana para 2025?"
TWO_YEARS = "¿Cómo cambió el valor diario de la Unidad de Cuenta Social de 2024 a 2025 en la Zona Serrana?"
POISONED = "¿Cuánto cuesta la entrada general a los museos de oficios durante el horario de verano de 2025?"
ABSENT = "¿Qué cuota de importación fija la gaceta para los pianos de cola fabricados en Marte?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("planner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.delenv("DOF_TRACE_DIR", raising=False)
        patch.chdir(folder)
        yield folder


def run(question: str, home: Path, planner: str = "rules", **limits: int) -> dict[str, Any]:
    outcome = wiring.run_question(question, planner=planner, limits=Limits(**limits), trace_dir=home / "traces")
    return dict(outcome.result)


def quotes(result: dict[str, Any]) -> str:
    return " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])


def calls(result: dict[str, Any]) -> list[str]:
    lines = Path(result["trace"]).read_text(encoding="utf-8").splitlines()
    called = [event for line in lines if (event := json.loads(line))["event"] == "tool_called"]
    return [json.dumps([c["tool"], c["arguments"]], sort_keys=True) for c in called]


def test_a_clear_case_takes_two_calls(home: Path) -> None:
    result = run(CLEAR, home)
    assert (result["terminal_state"], result["reason"]) == ("answered", "closed")
    assert result["spend"]["tool_calls"] == 2
    assert all(value in quotes(result) for value in ("93.50", "2,842.40", "34,108.80"))


def test_the_same_run_twice_is_the_same(home: Path) -> None:
    first, second = run(TWO_YEARS, home), run(TWO_YEARS, home)
    assert first["claims"] == second["claims"]
    assert calls(first) == calls(second)


def test_an_order_in_a_document_changes_nothing(home: Path) -> None:
    result = run(POISONED, home)
    assert result["terminal_state"] == "answered"
    assert "38.00" in result["answer"]
    assert "999.99" not in result["answer"]


@pytest.mark.parametrize("question", [CLEAR, TWO_YEARS, ABSENT, "¿Qué?", "pianos", "x" * 400])
def test_no_call_is_made_twice_and_no_limit_is_passed(question: str, home: Path) -> None:
    result = run(question, home)
    made = calls(result)
    assert len(made) == len(set(made))
    assert result["spend"]["turns"] <= 10
    assert result["spend"]["tool_calls"] <= 8
    assert result["spend"]["read_tokens"] <= 12_000
    assert result["reason"] not in ("internal_error", "planner_stalled")


def test_what_is_not_there_is_not_answered(home: Path) -> None:
    result = run(ABSENT, home)
    assert result["terminal_state"] == "abstained"
    assert result["answer"] is None
    assert result["searched"]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_tool_calls": 1}, "tool_call_limit"),
        ({"max_turns": 1}, "turn_limit"),
        ({"max_turns": 2}, "turn_limit"),
        ({"max_read_tokens": 1}, "read_limit"),
        ({"max_cost_units": 3}, "cost_limit"),
        ({"max_latency_ms": 400}, "latency_limit"),
    ],
)
def test_a_tight_budget_ends_in_a_partial_report(limits: dict[str, int], reason: str, home: Path) -> None:
    result = run(CLEAR, home, **limits)
    assert (result["terminal_state"], result["reason"]) == ("abstained", reason)
    assert result["closure"] == "incomplete"
    assert result["answer"] is None


def test_half_an_answer_is_none(home: Path) -> None:
    result = run(TWO_YEARS, home, planner="scripted:half_answer")
    assert result["terminal_state"] == "abstained"
    assert result["rejections"]


def test_invented_and_unread_citations_are_reported(home: Path) -> None:
    assert 999 in run(CLEAR, home, planner="scripted:invented_citation")["rejected_citations"]
    assert run(CLEAR, home, planner="scripted:cites_unread")["rejected_citations"]


def test_an_unknown_script_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="nobody"):
        scripted("nobody")


CURRENT = "¿Cuál es el valor diario vigente de la Unidad de Cuenta Social en la Zona Ribereña?"
UNDATED = "¿Cuál es el valor diario de la Unidad de Cuenta Social en la Zona Ribereña?"


@pytest.mark.parametrize(("question", "calls_at_most"), [(CURRENT, 5), (UNDATED, 3)])
def test_a_value_without_a_year_is_that_of_the_newest_notice(question: str, calls_at_most: int, home: Path) -> None:
    result = run(question, home)
    assert (result["terminal_state"], result["reason"]) == ("answered", "closed")
    assert {s["publication_date"] for s in result["sources"]} == {"2025-01-13"}
    assert "99.00" in result["answer"]
    assert "2025" in result["answer"], "the year is said"
    assert result["spend"]["tool_calls"] <= calls_at_most
    assert not result["rejections"]


def test_what_is_in_force_is_searched_for_later_than_its_source(home: Path) -> None:
    result = run(CURRENT, home)
    assert any(s["from"] == "2025-01-13" and s["to"] is None for s in result["searched"])


def test_a_year_that_is_asked_for_is_not_the_newest(home: Path) -> None:
    result = run(UNDATED.replace("?", " en 2023?"), home)
    assert {s["publication_date"] for s in result["sources"]} == {"2023-01-10"}


def test_an_article_of_no_law_is_asked_back(home: Path) -> None:
    result = run("¿Qué dice el artículo 5?", home)
    assert (result["terminal_state"], result["reason"]) == ("needs_clarification", "ambiguous")
    assert len(set(result["options"])) >= 2
    assert result["answer"]
    assert not result["claims"]


def test_a_number_with_two_sectors_is_asked_back_unless_the_question_tells_them_apart(home: Path) -> None:
    both = run("¿Qué exige la NOM-901?", home)
    assert both["reason"] == "ambiguous"
    assert [("SPI-2023" in o, "COM-2020" in o) for o in sorted(both["options"])] == [(False, True), (True, False)]
    told = run("¿Qué exige la NOM-901 sobre muelles?", home)
    assert told["reason"] != "ambiguous"
    full = run("¿Qué exige la NOM-901-SPI-2023?", home)
    assert full["reason"] != "ambiguous"
    one = run("¿Qué exige la NOM-014?", home)
    assert one["reason"] != "ambiguous", "there is only one"


def test_all_that_was_listed_is_told(home: Path) -> None:
    result = run("¿Qué se publicó el 20 de septiembre de 2024 en la edición vespertina?", home)
    assert result["terminal_state"] == "answered"
    assert {s["publication_code"] for s in result["sources"]} == {"9100376", "9100377", "9100378"}


def test_what_was_published_is_told_of_one_issuer(home: Path) -> None:
    result = run("¿Qué publicó la Secretaría de Gobierno Interior el 20 de septiembre de 2024?", home)
    assert result["terminal_state"] == "answered"
    assert list(dict.fromkeys(s["publication_code"] for s in result["sources"])) == ["9100376", "9100377"]
    assert result["spend"]["tool_calls"] == 2


def test_a_part_of_a_day_is_told_as_a_part(home: Path) -> None:
    question = "¿Qué se publicó el 20 de septiembre de 2024 en la edición vespertina?"
    part = run(question, home, max_read_tokens=200)
    assert (part["terminal_state"], part["reason"]) == ("abstained", "read_limit")
    told = {s["publication_code"] for s in part["sources"]}
    assert len(part["claims"]) == len(told) >= 2, "each of those that were read"
    assert part["coverage"][0]["status"] == "read", "some do not stand for all"
    [line] = [text for text in part["limitations"] if "se listaron" in text]
    assert "De 3 publicaciones" in line
    assert f"se leyeron {len(told)} " in line
    assert line.count("«") == 3 - len(told)


def test_two_values_for_one_thing_are_both_told(home: Path) -> None:
    result = run("¿De cuánto es la cuota anual de registro de embarcaciones para el ejercicio 2024?", home)
    assert (result["terminal_state"], result["reason"]) == ("answered", "closed_contested")
    assert len({p["value"] for p in result["positions"]}) == 2
    assert {p["chunk_id"] for p in result["positions"]} <= set(result["citations"])


def test_an_erratum_comes_before_what_it_mends(home: Path) -> None:
    asked = "¿en cuántos días hábiles debe resolver la Comisión la solicitud?"
    question = f"Tras la reforma de junio de 2024 y su fe de erratas, {asked}"
    result = run(question, home)
    assert result["terminal_state"] == "answered"
    first, second = (claim["text"] for claim in result["claims"])
    assert "cuarenta y cinco días" in first
    assert second.startswith("Antes de la corrección decía")
    assert {s["publication_code"] for s in result["sources"]} == {"9100351", "9100352"}


def test_a_difference_is_computed_and_declared(home: Path) -> None:
    days = "entre el valor obtenido el 5 y el obtenido el 6 de marzo de 2024"
    result = run(f"¿Cómo cambió el tipo de cambio del Banco Austral de Emisión {days}?", home)
    [computed] = [claim["computed"] for claim in result["claims"] if claim["computed"]]
    assert computed == {"operation": "difference", "inputs": ["14.3008", "14.319"], "result": "0.0182"}


def test_reasons_for_calls_are_in_the_language_of_the_question(home: Path) -> None:
    lines = Path(run(CLEAR, home)["trace"]).read_text(encoding="utf-8").splitlines()
    whys = [e["why"] for e in map(json.loads, lines) if e["event"] == "tool_called"]
    assert whys
    assert whys[0].startswith("buscar una fuente")
