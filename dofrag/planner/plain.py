"""One plain search in the question's own words, its hits read together; and when a look was honest enough to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dofrag.coverage.source import names_anything
from dofrag.domain.question import Requirement, ValueRequired
from dofrag.planner.interface import PastCall, ToolCall, View
from dofrag.planner.queries import Arguments, evidence_arguments

AT_ONCE = 8
"""Chunks of one call at most: a call is dearer than what it reads."""
TOKENS_A_CHUNK = 900
"""What a chunk takes to read, as a guess before any was read."""
MAX_PARTS = 3
"""Parts of a question that are searched for in their own words."""
LEFT_OVER = 1
"""Calls that a run leaves when it looked well: it ends because it looked, not because it was stopped."""


def room(view: View) -> int:
    """How many chunks may be read at once: as many as fit, judged by the size of those that were read."""
    left = view.limits.max_read_tokens - view.spend.read_tokens
    each = TOKENS_A_CHUNK
    if view.passages:
        # Half as much again as the mean of what was read: chunks of one corpus are of like size.
        each = max(60, min(TOKENS_A_CHUNK, 3 * view.spend.read_tokens // (2 * len(view.passages)) + 1))
    # One is tried however little is left: then the run ends on the limit that stopped it, not for want of a source.
    return max(1, min(AT_ONCE, left // each))


def plain(view: View, missing: Sequence[Requirement], limit: int, why: str, why_read: str) -> Iterator[ToolCall]:
    """Search everything in the question's own words, then for each part of several that is open, in its words; what a
    search showed is read before the next one is made."""
    wanted = [view.question.text]
    if len(view.sub_questions) > 1:
        open_ids = {r.id for r in missing}
        parts = [sub for sub in view.sub_questions if any(r.id in open_ids for r in sub.requirements)]
        wanted += [sub.text for sub in parts[:MAX_PARTS]]
    for text in wanted:
        arguments = _in_own_words(text)
        past = _made(view, arguments)
        if past is None:
            yield ToolCall("search_evidence", arguments, why)
            continue
        unread = [i for i in shown(past) if i not in view.passages]
        # What a search showed is read right after it; what was left for want of room comes among all other pointers.
        after = view.history[view.history.index(past) + 1 :]
        if unread and not any(later.tool == "read_chunks" for later in after):
            yield ToolCall("read_chunks", {"chunk_ids": unread[:limit], "neighbor_window": 0}, why_read)


def of_any_source(requirement: Requirement) -> bool:
    """Whether a value is asked for at a time, and neither the question nor the name of an indicator says by whom it
    is fixed: another authority may have fixed another, so that one look at everything comes before an answer."""
    if not isinstance(requirement, ValueRequired) or requirement.indicator or requirement.period is None:
        return False
    if requirement.frequency or requirement.zone:
        return False  # one of the values that a body gives side by side, in one table
    return not names_anything(replace(requirement.source, gazette_only=False))


def looked_well(view: View) -> bool:
    """Whether a run that has not found it all may stop: it searched everything in the question's own words, read what
    that showed, and has all but spent its calls."""
    if view.spend.tool_calls < view.limits.max_tool_calls - LEFT_OVER:
        return False
    past = _made(view, _in_own_words(view.question.text))
    return past is not None and (not shown(past) or any(i in view.passages for i in shown(past)))


def shown(past: PastCall) -> list[int]:
    """The chunks that an evidence search showed, in its order."""
    return [int(result["chunk_id"]) for result in past.envelope.get("results") or ()]


def _in_own_words(text: str) -> Arguments:
    return evidence_arguments(" ".join(text.split())[:400], ())


def _made(view: View, arguments: Arguments) -> PastCall | None:
    """The search with these very arguments, if it was made and went well."""
    for past in view.history:
        if past.tool == "search_evidence" and past.envelope.get("ok") and dict(past.arguments) == arguments:
            return past
    return None
