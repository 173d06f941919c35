"""The conversation with a model: it only grows at its end, so that a provider's cache of its beginning holds.

When the next prompt would be too long, the oldest results of searches give way to a line that says so, then earlier
drafts. Passages that were read stay: they are what may be quoted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from dofrag.domain.records import dataclass
from dofrag.llm.interface import Function, FunctionCall, Message, Role
from dofrag.text.tokens import estimate_tokens

PROMPT_MAX = 22_000
"""Tokens, estimated, from which a prompt is shortened. The promise to users is 24,000: the rest is for estimates that
are too low."""
PER_MESSAGE = 8
"""Tokens that a message takes besides its text."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, and what stands for it once it has to make room (None: it never does)."""

    message: Message
    stub: Message | None = None


class Talk:
    """The messages after the opening. Only `add` and `shorten` change it."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def add(self, message: Message, stub: str | None = None) -> None:
        """Append. `stub` is the text that stands for it when room is needed; a draft's calls then lose their
        arguments."""
        short = None
        if stub is not None:
            calls = tuple(replace(call, arguments={}) for call in message.calls)
            short = replace(message, calls=calls, text="" if calls else stub)
        self._entries.append(Entry(message, short))

    def shorten(self, fixed: int) -> bool:
        """Make room, from the oldest on, while the prompt (with `fixed` tokens besides the conversation) is too long:
        first results, then drafts, never the last message of either kind. Whether anything was shortened."""
        size = fixed + sum(message_tokens(e.message) for e in self._entries)
        shortened = False
        for own in (False, True):
            places = [n for n, e in enumerate(self._entries) if (e.message.role is Role.ASSISTANT) is own]
            for n in places[:-1]:
                entry = self._entries[n]
                if size > PROMPT_MAX and entry.stub is not None:
                    size -= message_tokens(entry.message) - message_tokens(entry.stub)
                    self._entries[n] = Entry(entry.stub)
                    shortened = True
        return shortened

    def without_calls(self) -> Talk:
        """The same conversation for a model without functions: calls as JSON actions, results as the user's words."""
        told = Talk()
        told._entries = [Entry(_as_text(e.message), _as_text(e.stub) if e.stub else None) for e in self._entries]
        return told

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(e.message for e in self._entries)


def _as_text(message: Message) -> Message:
    if message.role is Role.TOOL:
        return Message(role=Role.USER, text=message.text)
    if message.calls:
        first = message.calls[0]
        action = {"action": first.name, "arguments": first.arguments}
        return Message(role=message.role, text=json.dumps(action, ensure_ascii=False))
    return message


def message_tokens(message: Message) -> int:
    """Tokens of a message, estimated."""
    calls = sum(estimate_tokens(c.name + arguments_text(c)) + PER_MESSAGE for c in message.calls)
    carried = sum(estimate_tokens(json.dumps(item)) for item in message.carry)
    return PER_MESSAGE + estimate_tokens(message.text) + calls + carried


def function_tokens(functions: Sequence[Function]) -> int:
    """Tokens of the functions that go along with a prompt, estimated."""
    return sum(
        estimate_tokens(f.name + f.description + json.dumps(f.schema, ensure_ascii=False)) + PER_MESSAGE
        for f in functions
    )


def arguments_text(call: FunctionCall) -> str:
    """The arguments of a call as they are sent."""
    return json.dumps(call.arguments, ensure_ascii=False)


def alternating(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with neighbours of the user's joined into one: some chat templates refuse two in a row."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1].role is Role.USER and message.role is Role.USER:
            out[-1] = replace(out[-1], text=f"{out[-1].text}\n\n{message.text}")
        else:
            out.append(message)
    return tuple(out)
