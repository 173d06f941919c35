"""What the rule planner does, said by a model: every question of the sample ends alike, whoever says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dofrag.agent.setup import Corpus, ModelSeat, Setup
from dofrag.domain.evidence import Draft
from dofrag.domain.question import Question
from dofrag.llm.interface import ChatRequest, ChatResponse, FunctionCall, Mode, Usage
from dofrag.planner.interface import Abstain, Clarify, Step, ToolCall, View
from dofrag.planner.model import ModelPlanner
from dofrag.planner.rules import RulePlanner
from dofrag.text.language import language_of
from dofrag.tools import CORE
from dofrag.trace.codec import jsonable
from dofrag.trace.writer import MemoryTrace

SAMPLE = json.loads((Path(__file__).parents[1] / "sample" / "questions.json").read_text(encoding="utf-8"))


def as_action(step: Step) -> tuple[str, Any]:
    match step:
        case ToolCall():
            return step.tool, dict(step.arguments)
        case Draft():
            draft = jsonable(step)
            for claim in draft["claims"]:
                claim["citations"] = [{k: c[k] for k in ("chunk_id", "quote")} for c in claim["citations"]]
            return "submit_answer", draft
        case Abstain():
            return "abstain", {"why": step.why}
        case Clarify():
            return "ask_clarification", {"about": None, "publications": list(step.options)}
        case _:
            raise AssertionError(step)


class Honest(ModelPlanner):
    """The model planner, whose model knows what the rules would do with the same view."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.action: tuple[str, Any] = ("", {})

    def next_step(self, view: View) -> Any:
        self.action = as_action(RulePlanner().next_step(view))
        return super().next_step(view)


class Says:
    """The model: says its planner's action, in the form that the mode asks for."""

    name = "honest"

    def __init__(self, planner: Honest) -> None:
        self.planner = planner
        self.said = 0

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse:
        name, arguments = self.planner.action
        self.said += 1
        assert request.prompt_tokens <= 24_000
        if request.mode.calls_functions:
            offered = {f.name for f in request.functions}
            assert name in offered or (name == "abstain" and self.said == 1)
            return ChatResponse(calls=(FunctionCall(f"c{self.said}", name, json.dumps(arguments)),))
        return ChatResponse(text=json.dumps({"action": name, "arguments": arguments}))

    def price(self, usage: Usage) -> float | None:
        return None

    def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from dofrag.wiring import open_corpus

    return open_corpus(None)


def play(opened: Any, text: str, mode: Mode | None) -> dict[str, Any]:
    from datetime import UTC, datetime

    from dofrag.agent.loop import execute
    from dofrag.agent.result import finish
    from dofrag.wiring import cutoff

    chosen, dates = cutoff(opened, None, ())
    planner: Any = RulePlanner()
    seat = None
    if mode is not None:
        planner = Honest(opened.profile.prompts(language_of(text)), CORE, mode, 4_000)
        seat = ModelSeat(model=Says(planner))
    setup = Setup(
        run_id="run",
        corpus=Corpus(name="sample", reader=opened.reader, backend=opened.backend, dates=dates, stamp=opened.stamp),
        profile=opened.profile,
        planner=planner,
        trace=MemoryTrace(lambda: datetime(2026, 1, 1, tzinfo=UTC)),
        monotonic=lambda: 0.0,
        seat=seat,
    )
    run, end = execute(Question(text=text, as_of=chosen), setup)
    return finish(run, end)


SAME = ("terminal_state", "reason", "citations", "positions", "options", "coverage")


def quoted(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What each claim cites, and for what. A model's claims are told in the words of their quotes alone, which are
    widened to whole sentences."""
    return [(c["sub_questions"], {q["chunk_id"] for q in c["citations"]}, c["computed"]) for c in result["claims"]]


@pytest.mark.parametrize("row", SAMPLE, ids=[row["id"] for row in SAMPLE])
def test_the_sample_ends_alike_whoever_says_it(row: dict[str, Any], opened: Any) -> None:
    by_rules = play(opened, row["question"], None)
    mode = Mode.TOOLS if int(row["id"][1:]) % 2 else Mode.JSON_TEXT
    by_model = play(opened, row["question"], mode)
    if by_rules["terminal_state"] == "needs_clarification":  # which the program words for a model
        assert by_model["answer"] == opened.profile.prompts(language_of(row["question"]))("clarify")
    assert {k: by_model[k] for k in SAME} == {k: by_rules[k] for k in SAME}
    assert quoted(by_model) == quoted(by_rules)
    assert by_model["premise"]["status"] == by_rules["premise"]["status"]
