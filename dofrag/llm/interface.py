"""What a model is asked and what it answers, whatever the provider. Frozen, and free of any provider's types."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from dofrag.domain.records import dataclass

JsonObject = Mapping[str, Any]


class Mode(StrEnum):
    """How a model is made to name its next action, the most reliable way first."""

    STRICT_TOOLS = "strict_tools"  # functions whose schemas the provider enforces
    TOOLS = "tools"  # plain functions
    JSON_SCHEMA = "json_schema"  # one JSON object, its schema enforced by the provider
    JSON_TEXT = "json_text"  # one JSON object somewhere in the text: needs nothing of the provider

    @property
    def calls_functions(self) -> bool:
        return self in (Mode.STRICT_TOOLS, Mode.TOOLS)


@dataclass(frozen=True, slots=True)
class Function:
    """An action that is offered. `schema` is a closed JSON Schema of its arguments."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """An action as a model named it. `arguments` are unchecked: JSON text as a rule, or any JSON value."""

    call_id: str
    name: str
    arguments: Any


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # the result of the call `call_id`


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation. `calls` are an assistant's; `carry` are items that only its provider can read
    (encrypted reasoning of the Responses API), sent back as they came, kept in memory and nowhere else."""

    role: Role
    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    call_id: str = ""
    carry: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request. `prompt_tokens` is the estimate of everything that is sent; `max_output_tokens` the cap on what
    comes back; `schema` is that of the reply in the JSON modes."""

    messages: tuple[Message, ...]
    functions: tuple[Function, ...]
    mode: Mode
    prompt_tokens: int
    max_output_tokens: int
    schema: JsonObject | None = None


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"  # cut by the cap: nothing of it may be used
    REFUSAL = "refusal"  # it declined, or a filter of the provider did


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; None where it gave no usable figure."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """One reply. Hidden reasoning is not part of it: adapters leave it out."""

    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    carry: tuple[JsonObject, ...] = ()


class ChatModel(Protocol):
    """A model at an endpoint. `name` stands in traces. `complete` raises `ProviderFault` and nothing else on
    purpose; it never takes longer than `timeout_s` seconds."""

    name: str

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse: ...

    def price(self, usage: Usage) -> float | None:
        """US dollars of one call, None where no dated price is known."""
        ...

    def close(self) -> None:
        """Give back the connections. Safe to call twice."""
        ...
