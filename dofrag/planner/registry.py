"""Planners by the name that `--planner` takes."""

from __future__ import annotations

from dofrag.coverage.closure import Message, plain_message
from dofrag.errors import UsageError
from dofrag.planner.interface import Planner


def make_planner(name: str, message: Message = plain_message) -> Planner:
    """`rules` or `scripted:NAME`; `message` words its reasons. Raises UsageError that lists what there is."""
    kind, _, script = name.partition(":")
    if kind == "scripted":
        from dofrag.planner.scripted import scripted

        return scripted(script)
    if name == "rules":
        from dofrag.planner.rules import RulePlanner

        return RulePlanner(message)
    raise UsageError(f"there is no planner {name!r}", hint="use rules, model, replay:FILE or scripted:NAME")
