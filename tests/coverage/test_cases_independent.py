"""Question–passage pairs written without looking at the rules, each with the verdict that a careful lawyer gives that
passage alone. A case is changed when the lawyer was wrong, never because the program says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_coverage_cases import cases, reached

CASES: list[dict[str, Any]] = cases(Path(__file__).with_name("cases_independent.jsonl"))


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_independent_case_gets_its_verdict(case: dict[str, Any]) -> None:
    got, seen = reached(case)
    assert got == case["verdict"], "\n".join([case["question"], case["passage"], case["why"], *seen])


@pytest.mark.parametrize("case", {c["question"]: c for c in CASES}.values(), ids=lambda c: c["id"])
@pytest.mark.parametrize("frame", ["{}", "Se recibió una consulta: {}"])
def test_a_question_is_not_its_own_answer(case: dict[str, Any], frame: str) -> None:
    """A passage that repeats every word of the question, from the right publication, tells nothing but its date."""
    _, seen = reached({**case, "passage": frame.format(case["question"]), "headings": []})
    met = [line for line in seen if ": supported (" in line and ": supported (published " not in line]
    assert met == []


def test_the_set_is_balanced() -> None:
    verdicts = [c["verdict"] for c in CASES]
    assert len({c["id"] for c in CASES}) == len(CASES) >= 80
    assert verdicts.count("all") * 2 <= len(CASES)
    assert verdicts.count("some") >= 10
    assert min(verdicts.count("all"), verdicts.count("none")) >= len(CASES) // 3
