"""Actions in a model's text: found among prose, fences and thoughts, without ever running what was cut off.

A text may hold hidden reasoning, several objects, an object in a sentence. The work is bounded, whatever it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from json import JSONDecoder
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.llm.thoughts import names_reasoning, without_reasoning

TEXT_MAX = 200_000
"""Characters of a reply that are looked at; a longer one is no action."""
STARTS_MAX = 200
"""Opening braces that may turn out to be none."""

_OPENING = re.compile(r"[{\[]")
_NAME_KEYS = ("action", "name", "tool", "function")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")


@dataclass(frozen=True, slots=True)
class Action:
    """A named action with its arguments, unchecked: an object as a rule."""

    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Found:
    """The actions of a text, in order. `cut` says that it ends in the middle of an object."""

    actions: tuple[Action, ...]
    cut: bool


def objects(text: str) -> tuple[list[Any], bool]:
    """The complete top-level JSON objects (and arrays of objects) of a text, and whether it ends inside one."""
    decoder = JSONDecoder()
    found: list[Any] = []
    at, starts, end = 0, 0, len(text.rstrip())
    while starts < STARTS_MAX and (match := _OPENING.search(text, at)) is not None:
        start = match.start()
        try:
            value, at = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            out_of_text = error.pos >= end or error.msg.startswith("Unterminated string")
            if out_of_text and text[start] == "{":
                return found, True
            starts += 1
            at = start + 1
        except RecursionError:
            return found, True
        else:
            if isinstance(value, Mapping) or (isinstance(value, list) and value and isinstance(value[0], Mapping)):
                found.append(value)
    return found, False


def find_actions(text: str, names: Collection[str], valid: Callable[[Action], bool]) -> Found:
    """What a text asks to do.

    A list of actions is several calls at once. Of several objects that stand by themselves the last valid one counts,
    and where none is valid the last that names an action: its fault is then answered like that of any call. `names`
    are the actions that are offered.
    """
    if len(text) > TEXT_MAX:
        return Found((), False)
    values, cut = objects(without_reasoning(text))
    groups = [group for value in values if (group := _group(value, names))]
    if not groups:
        return Found((), cut)
    sound = [group for group in groups if all(valid(action) for action in group)]
    return Found((sound or groups)[-1], cut)


def _group(value: Any, names: Collection[str]) -> tuple[Action, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(action for item in items if isinstance(item, Mapping) and (action := _action(item, names)))


def _action(item: Mapping[str, Any], names: Collection[str]) -> Action | None:
    inner = item.get("next")
    if isinstance(inner, Mapping) and len(item) == 1:
        item = inner
    function = item.get("function")
    if isinstance(function, Mapping):  # a tool call as an API writes it
        item = function
    name = next((item[key] for key in _NAME_KEYS if isinstance(item.get(key), str)), None)
    if name is None:
        # Some models answer with the arguments of the final action alone.
        own = {key: value for key, value in item.items() if not names_reasoning(key)}
        return Action("submit_answer", own) if "claims" in item and "submit_answer" in names else None
    for key in _ARGUMENT_KEYS:
        if key in item:
            return Action(name, item[key])
    rest = {key: value for key, value in item.items() if key not in _NAME_KEYS and not names_reasoning(key)}
    return Action(name, rest)
