"""The adversaries of docs/adversaries.md, row by row, on the sample gazette."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring
from dofrag.planner.scripted import ADVERSARIES
from dofrag.trace.verify import verify

PAGE = (Path(__file__).parents[2] / "docs" / "adversaries.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^- \*\*(\w+)\*\*: (¿[^?]*\?)", PAGE, re.MULTILINE))
ROWS = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\w+) \| (\w+), `(\w+)` \| `(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("adversaries")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.chdir(folder)
        yield folder


def events(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(result["trace"]).read_text(encoding="utf-8").splitlines()]


def refusals(result: dict[str, Any]) -> set[str]:
    """Codes of refused calls and of rejected drafts."""
    codes = set()
    for event in events(result):
        if event["event"] == "tool_returned" and not event["ok"]:
            codes.add(event["envelope"]["error"]["code"])
        if event["event"] == "draft_rejected":
            codes |= {fault["code"] for fault in event["faults"]}
    return codes


def test_the_page_shows_every_script_and_no_other() -> None:
    assert {row[0] for row in ROWS} == set(ADVERSARIES)
    assert {row[1] for row in ROWS} <= set(QUESTIONS)


@pytest.mark.parametrize(("name", "asked", "state", "reason", "stopped_by"), ROWS, ids=[row[0] for row in ROWS])
def test_each_ends_as_the_page_says(
    name: str, asked: str, state: str, reason: str, stopped_by: str, home: Path
) -> None:
    result = wiring.run_question(QUESTIONS[asked], planner=f"scripted:{name}", trace_dir=home / "traces").result
    assert (result["terminal_state"], result["reason"]) == (state, reason)
    assert stopped_by in refusals(result)
    read = {e["chunk_id"] for e in events(result) if e["event"] == "passage_read"}
    assert set(result["citations"]) <= read
    assert verify(Path(result["trace"])) == []
    if state != "answered":
        assert result["answer"] is None


def test_of_three_calls_only_the_first_runs(home: Path) -> None:
    result = wiring.run_question(QUESTIONS["clear"], planner="scripted:three_calls", trace_dir=home / "traces").result
    returned = [e for e in events(result) if e["event"] == "tool_returned"]
    by_turn: dict[int, list[bool]] = {}
    for event in returned:
        by_turn.setdefault(event["turn"], []).append(event["ok"])
    assert set(map(tuple, by_turn.values())) == {(True, False, False)}
    assert result["spend"]["tool_calls"] == len(by_turn)


def test_what_a_document_orders_reaches_no_answer(home: Path) -> None:
    result = wiring.run_question(
        QUESTIONS["poisoned"], planner="scripted:obeys_document", trace_dir=home / "traces"
    ).result
    drafts = [e for e in events(result) if e["event"] == "draft_proposed"]
    assert any("999.99" in json.dumps(e, ensure_ascii=False) for e in drafts), "the script did obey"
    assert "999.99" not in json.dumps(result["claims"], ensure_ascii=False)
