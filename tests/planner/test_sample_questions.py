"""The questions of the sample gazette, whole runs: an answer may be missing, it may not be wrong.

An answered run cites nothing but the expected publications and quotes every expected passage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring
from dofrag.text.fold import fold

QUESTIONS = json.loads((Path(__file__).parents[1] / "sample" / "questions.json").read_text(encoding="utf-8"))
FLOOR = 23
"""Runs that must end in the expected state and reason with all of the expected quotes; raise it with the rules."""

NOT_ASKED = {"s01": "1 de febrero de 2025"}
"""Expected quotes for something that the question does not ask: a bonus, not a part of the answer."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def results(home: Path) -> dict[str, dict[str, Any]]:
    return {q["id"]: ask(q, home) for q in QUESTIONS}


def ask(question: dict[str, Any], home: Path) -> dict[str, Any]:
    as_of = re.search(r"--as-of (\S+)", question["options"])
    scopes = re.findall(r"--scope (\S+)", question["options"])
    outcome = wiring.run_question(
        question["question"],
        as_of=date.fromisoformat(as_of[1]) if as_of else None,
        scopes=scopes,
        trace_dir=home / "traces",
    )
    return outcome.result


def level(text: str) -> str:
    """Folded, without emphasis; a list item loses the mark that leads to the next one."""
    return re.sub(r"[,;]? [ye]$", "", " ".join(fold(text).replace("*", "").split()))


def faults(question: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """What is wrong with an answered run; an abstained one is never wrong."""
    if result["terminal_state"] != "answered":
        return []
    if question["expected_state"] != "answered":
        return [f"answered; expected {question['expected_state']}"]
    expected = {source["code"] for source in question["sources"]}
    cited = {source["publication_code"] for source in result["sources"]}
    quoted = level(" ".join(c["quote"] for claim in result["claims"] for c in claim["citations"]))
    wanted = [quote for source in question["sources"] for quote in source["quotes"]]
    return [f"cites {code}" for code in sorted(cited - expected)] + [
        f"does not quote «{quote}»"
        for quote in wanted
        if level(quote) not in quoted and quote != NOT_ASKED.get(question["id"])
    ]


@pytest.mark.parametrize("question", QUESTIONS, ids=[q["id"] for q in QUESTIONS])
def test_an_answer_is_never_wrong(question: dict[str, Any], results: dict[str, dict[str, Any]]) -> None:
    assert faults(question, results[question["id"]]) == []


def test_as_many_as_before_end_as_expected(results: dict[str, dict[str, Any]]) -> None:
    good = []
    for question in QUESTIONS:
        result = results[question["id"]]
        end = (result["terminal_state"], result["reason"])
        if end == (question["expected_state"], question["expected_reason"]) and not faults(question, result):
            good.append(question["id"])
    assert len(good) >= FLOOR, f"{len(good)} of {len(QUESTIONS)}: {' '.join(good)}"


def test_no_limit_is_passed_and_no_run_fails(results: dict[str, dict[str, Any]]) -> None:
    for result in results.values():
        assert result["terminal_state"] != "failed"
        assert result["spend"]["tool_calls"] <= 8
        assert result["spend"]["turns"] <= 10


@pytest.mark.parametrize("name", ["s29", "s30"])
def test_what_is_absent_is_found_absent_in_few_calls(name: str, results: dict[str, dict[str, Any]]) -> None:
    result = results[name]
    assert (result["terminal_state"], result["reason"]) == ("abstained", "not_in_corpus")
    assert result["spend"]["tool_calls"] <= 5
    filters = ("from", "to", "issuer", "kind")
    assert any(s["query"] and not any(s[f] for f in filters) for s in result["searched"]), (
        "one search without filters"
    )
    if name == "s30":
        assert any(s["tool"] == "list_publications" for s in result["searched"]), "the day that is named was listed"
