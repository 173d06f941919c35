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
from dofrag.planner.scripted import ADVERSARIES, scripted

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


@pytest.mark.parametrize("limits", [{"max_tool_calls": 1}, {"max_turns": 1}, {"max_read_tokens": 1}])
def test_a_tight_budget_ends_in_a_partial_report(limits: dict[str, int], home: Path) -> None:
    result = run(CLEAR, home, **limits)
    assert result["terminal_state"] == "abstained"
    assert result["closure"] == "incomplete"
    assert result["answer"] is None


@pytest.mark.parametrize("name", sorted(ADVERSARIES))
def test_no_adversary_gets_an_answer_past_the_checks(name: str, home: Path) -> None:
    result = run(CLEAR, home, planner=f"scripted:{name}")
    assert result["terminal_state"] != "answered"
    assert result["reason"] not in ("internal_error",)
    read = {s["chunk_id"] for s in result["sources"]}
    assert 999 not in read


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
