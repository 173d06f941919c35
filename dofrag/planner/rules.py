"""The offline planner: no model, no key, no memory. Everything it does follows from the view of the turn.

It works through the open requirements: find the publication, read what points at the answer, look further within the
right publication (outline, neighbours), reformulate when nothing new comes, and draft when all is supported. It asks
back when the question names what several publications are, and gives up when its ideas or its budget run out.
"""

from __future__ import annotations

from collections.abc import Callable

from dofrag.coverage.closure import Message, plain_message
from dofrag.coverage.listing import asks_for_all
from dofrag.domain.question import Requirement, Status
from dofrag.planner.ambiguity import choice
from dofrag.planner.drafts import answer, correction, false_premise, preferred
from dofrag.planner.ideas import affordable, corrections, ideas, later_steps, made
from dofrag.planner.interface import Abstain, Clarify, Step, ToolCall, View
from dofrag.planner.monitoring import left_out, next_page
from dofrag.planner.plain import looked_well
from dofrag.planner.pointers import parsed
from dofrag.planner.rivals import rival_days

DONE = frozenset({Status.SUPPORTED, Status.ANSWERED})


class RulePlanner:
    """Deterministic: the same view gives the same step. `message` says why, in the language of the question;
    `translate` puts a call into the terms of another registry."""

    name = "rules"

    def __init__(
        self, message: Message = plain_message, translate: Callable[[ToolCall], ToolCall] = lambda call: call
    ) -> None:
        self._message = message
        self._translate = translate

    def next_step(self, view: View) -> Step:
        prepared = {chunk_id: parsed(passage) for chunk_id, passage in view.passages.items()}
        wrong = false_premise(view, prepared)
        if wrong is not None and _drafts(view) == 0:
            mended = corrections(view, wrong[1].chunk_id, self._message) if affordable(view) else iter(())
            unread = next((c for c in mended if c.tool in view.tools and not made(view, c)), None)
            return unread or correction(view, prepared, *wrong, self._message)
        missing = _missing(view)
        asked = choice(view, missing)
        if asked is not None:
            return Clarify(self._message(asked.key, named=asked.named), asked.codes)
        if affordable(view) and not (missing and looked_well(view)):
            later = [] if missing else list(later_steps(view, self._message))
            fresh = ideas(view, missing, prepared, self._message) if missing else iter(later)
            for call in map(self._translate, fresh):
                if call.tool in view.tools and not made(view, call):
                    return call
        rivals = rival_days(view, prepared) if not missing else None
        if rivals is not None:
            return Clarify(self._message(rivals.key, named=rivals.named), rivals.codes)
        if not missing and view.passages and _drafts(view) < 2:
            return answer(view, prepared, self._message)
        return Abstain(self._message("why.nothing_more" if affordable(view) else "why.used_up"))


def _missing(view: View) -> list[Requirement]:
    every = [r for sub in view.sub_questions for r in sub.requirements]
    return [r for r in every if not _settled(view, r)]


def _settled(view: View, requirement: Requirement) -> bool:
    """Supported by a passage that may stand for it, and by all of them where all are asked for."""
    if view.coverage.get(requirement.id, Status.OPEN) not in DONE or not preferred(view, requirement):
        return False
    if not asks_for_all(requirement):
        return True
    return next_page(view, requirement) is None and not left_out(view, requirement)


def _drafts(view: View) -> int:
    """Drafts made so far: turns that were no calls."""
    return max(0, view.turn - 1 - len({past.call_id.split(".")[0] for past in view.history}))
