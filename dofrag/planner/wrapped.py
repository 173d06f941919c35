"""Planners around a planner, for experiments: a single pass, and slips of a given rate.

They keep nothing between turns: what they do follows from the view, as for any planner.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dofrag.domain.evidence import Draft
from dofrag.planner.interface import Abstain, Ask, Planner, Step, ToolCall, Understood, View
from dofrag.planner.queries import evidence_arguments

Answer = Step | Ask
QUERY_MAX = 400


def in_search_box(call: ToolCall) -> ToolCall:
    """A search for publications as a search for passages in all of them: the one thing that a search box can do."""
    if call.tool != "search_documents":
        return call
    kept = {name: call.arguments[name] for name in ("query", "date_from", "date_to", "prefer_recent")}
    return replace(call, tool="search_evidence", arguments={**kept, "publications": None})


class SinglePass:
    """The pipeline: one search with the question's own words, then one composition by `inner`, which has no tools.
    What is composed stands or falls; nothing is looked up again."""

    def __init__(self, inner: Planner) -> None:
        self.name = inner.name
        self._inner = inner

    def next_step(self, view: View) -> Answer:
        if not view.history:
            return ToolCall("search_evidence", evidence_arguments(view.question.text[:QUERY_MAX], ()), "single pass")
        if view.rejections or not view.passages:
            return Abstain("single pass")
        return _changed(self._inner.next_step(replace(view, tools=())), _composed)


def _composed(step: Step) -> Step:
    """The one thing that is left to do: to answer, or not to."""
    return step if isinstance(step, Draft | Abstain) else Abstain("single pass")


class Slips:
    """With probability `epsilon` a call goes out with something missing: a word of its query, one of the chunks to
    read. Seeded by `seed`, the question and the turn: the same seed slips in the same places."""

    def __init__(self, inner: Planner, epsilon: float, seed: int) -> None:
        self.name = f"{inner.name}:eps{epsilon:g}"
        self._inner = inner
        self._epsilon = epsilon
        self._seed = seed

    def next_step(self, view: View) -> Answer:
        chance = random.Random(f"{self._seed}\n{view.turn}\n{view.question.text}")
        slips = chance.random() < self._epsilon
        step = self._inner.next_step(view)
        return _changed(step, lambda made: _slipped(made, chance)) if slips else step


def _slipped(step: Step, chance: random.Random) -> Step:
    if not isinstance(step, ToolCall):
        return step
    arguments: dict[str, Any] = dict(step.arguments)
    words, ids = str(arguments.get("query") or "").split(), arguments.get("chunk_ids")
    if len(words) > 1:
        del words[chance.randrange(len(words))]
        arguments["query"] = " ".join(words)
    elif isinstance(ids, list) and len(ids) > 1:
        gone = chance.randrange(len(ids))
        arguments["chunk_ids"] = [i for n, i in enumerate(ids) if n != gone]
    return replace(step, arguments=arguments)


def _changed(answer: Answer, change: Callable[[Step], Step]) -> Answer:
    """A step changed, now or once a model has replied."""
    if not isinstance(answer, Ask):
        return change(answer)

    def read(response: Any) -> Understood:
        understood = answer.read(response)
        return understood if understood.step is None else replace(understood, step=change(understood.step))

    def lower(fault: Any) -> Ask | None:
        lowered = answer.lower(fault)
        return None if lowered is None else _asked(lowered)

    def _asked(ask: Ask) -> Ask:
        changed = _changed(ask, change)
        assert isinstance(changed, Ask)
        return changed

    return replace(answer, read=read, lower=lower)
