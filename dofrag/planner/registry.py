"""Planners by the name that `--planner` takes."""

from __future__ import annotations

from collections.abc import Collection

from dofrag.coverage.closure import Message, plain_message
from dofrag.errors import UsageError
from dofrag.planner.interface import Planner


def make_planner(name: str, message: Message = plain_message, tools: Collection[str] | None = None) -> Planner:
    """`rules` or `scripted:NAME`; `message` words its reasons. `tools`: names of those that the run has, where they
    are not the five. Raises UsageError that lists what there is."""
    kind, _, script = name.partition(":")
    if kind == "scripted":
        from dofrag.planner.scripted import scripted

        return scripted(script)
    if name == "rules":
        from dofrag.planner.rules import RulePlanner

        if tools is not None and "search_documents" not in tools:
            from dofrag.planner.wrapped import in_search_box

            return RulePlanner(message, in_search_box)
        return RulePlanner(message)
    raise UsageError(f"there is no planner {name!r}", hint="use rules, model, replay:FILE or scripted:NAME")
