"""Hidden reasoning in what a model sends: found in every way in which it is marked, and never parsed, run or kept.

Each family of models marks it in its own way, and a server that does not know the family passes the marks on as text.
The work is linear, whatever a text holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dofrag.text.patterns import late

_NAMES = (
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratchpad|reflection|antthinking|chain[_-]of[_-]thought|cot"
    r"|(?:inner|internal)[_-](?:monologue|thoughts?)|thought[_-]process|pensamientos?|razonamiento)"
)
# <think>, </think >, <seed:think>, <|begin_of_thought|>, <|START_THINKING|>, ◁think▷, ＜｜think｜＞
_TAG = (
    r"[<＜◁⟨]\s{0,8}[|｜]?\s{0,8}(?P<end>/?)\s{0,8}(?:[a-z]{1,20}:)?(?:(?P<word>start|begin|end|stop)[_-](?:of[_-])?)?"
    rf"{_NAMES}\b[^<>＜＞◁▷⟨⟩]{{0,80}}[>＞▷⟩]"
)
# [THINK], [/THINK]
_BRACKET = r"\[(?P<end2>/?)(?:think(?:ing)?|thoughts?|reasoning)\]"
# <|channel|>analysis<|message|>…: each channel but the last two is a thought
_CHANNEL = r"<\|channel\|?>\s{0,4}(?P<channel>[a-z]{0,20})|(?P<shut><channel\|>)"
# ```thinking … ```
_FENCE = r"(?P<fence>```)[ \t]{0,4}(?:think(?:ing)?|thoughts?|reasoning|scratchpad)[ \t]{0,4}(?=\r?\n)"
# Tokens without a name of a vocabulary, as some models use them.
_UNUSED = r"<unused9(?P<unused>[45])>"
_MARK = late("|".join((_TAG, _BRACKET, _CHANNEL, _FENCE, _UNUSED)), re.IGNORECASE)
"""Where a thought begins or ends; letters of any case."""
_SAID = frozenset(("final", "commentary"))
"""Channels in which a model speaks or acts."""
_BARE = late(r"\A\s{0,40}analysis(?=[A-Z{\[¿¡])")
_BARE_END = late(r"assistant\s{0,4}(?:final|commentary)")
"""Channels whose marks a server took away, and left their names."""
_FIELD = late(rf"[\W_]{{0,4}}{_NAMES}(?:[_-]?(?:content|text|process|details|summary))?[\W_]{{0,4}}", re.IGNORECASE)


def without_reasoning(text: str) -> str:
    """The text without its thoughts. A thought without an end swallows the rest; an end without a beginning (some
    templates open it for the model) swallows what stands before."""
    text = _unnamed(text)
    kept: list[str] = []
    at, inside = 0, False
    for mark in _MARK.finditer(text):
        if mark.start() < at:
            continue  # within a fence
        if _ends(mark):
            if not inside:
                kept = []
            at, inside = mark.end(), False
        elif not inside:
            kept.append(text[at : mark.start()])
            inside = True
            if mark["fence"]:  # nothing but its own fence ends it
                close = text.find("```", mark.end())
                at, inside = (close + 3, False) if close >= 0 else (len(text), False)
    return "".join(kept) if inside else "".join(kept) + text[at:]


def _ends(mark: Any) -> bool:
    if mark["channel"] is not None:
        return mark["channel"].lower() in _SAID or not mark["channel"]
    if mark["unused"]:
        return bool(mark["unused"] == "5")
    return bool(mark["end"] or mark["end2"] or mark["shut"]) or (mark["word"] or "").lower() in ("end", "stop")


def _unnamed(text: str) -> str:
    if not _BARE.match(text):
        return text
    ends = [mark.end() for mark in _BARE_END.finditer(text)]
    return text[ends[-1] :] if ends else ""


def names_reasoning(key: str) -> bool:
    """Whether a field of this name holds thoughts, whatever it says."""
    return _FIELD.fullmatch(key) is not None


def thoughtless(value: Any) -> Any:
    """A JSON value without thoughts: none in its texts and names, and nothing in a field that is named so. The field
    stays, empty: whether it may be there is for the schema to say. Not recursive: the depth is the model's."""
    root: list[Any] = [value]
    todo: list[list[Any] | dict[Any, Any]] = [root]
    while todo:
        held = todo.pop()
        if isinstance(held, dict):
            fresh = {_text(key): "" if names_reasoning(str(key)) else item for key, item in held.items()}
            held.clear()
            held.update(fresh)
        for place in range(len(held)) if isinstance(held, list) else list(held):
            held[place] = _own(held[place])
            if isinstance(held[place], list | dict):
                todo.append(held[place])
    return root[0]


def _own(item: Any) -> Any:
    """A value that may be changed: a text without its thoughts, containers copied one level."""
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, list | tuple):
        return list(item)
    return _text(item)


def _text(item: Any) -> Any:
    if not isinstance(item, str) or not _may_hold(item):
        return item
    return without_reasoning(item)


_HINTS = ("<", "＜", "◁", "⟨", "[", "```", "analysis")


def _may_hold(text: str) -> bool:
    return any(hint in text for hint in _HINTS)


def larger_than(value: Any, most: int) -> bool:
    """Whether a JSON value is more than `most` characters and parts in all. Looks at no more than that many."""
    size = 0
    todo = [value]
    while todo:
        held = todo.pop()
        size += len(held) if isinstance(held, str) else 1
        if size > most:
            return True
        if isinstance(held, Mapping):
            size += len(held)
            if size > most:
                return True
            todo.extend(held)
            todo.extend(held.values())
        elif isinstance(held, list | tuple):
            if size + len(held) > most:
                return True
            todo.extend(held)
    return False
