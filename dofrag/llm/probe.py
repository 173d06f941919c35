"""What an endpoint can do, found out by small requests, and which mode the planner will use."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dofrag.llm.actions import find_actions
from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.interface import ChatModel, ChatRequest, ChatResponse, Function, Message, Mode, Role
from dofrag.llm.modes import ORDER, action_schema

CAP = 1_000
"""Tokens that a probe may bring back: models that think first need some."""
PING = Function(
    "ping",
    "Answers a probe.",
    {
        "type": "object",
        "properties": {"value": {"type": "string", "enum": ["ok"]}},
        "required": ["value"],
        "additionalProperties": False,
    },
)
_ASK = {
    Mode.JSON_TEXT: 'Reply with this JSON object and nothing else: {"action": "ping", "arguments": {"value": "ok"}}',
    Mode.JSON_SCHEMA: 'Reply with the JSON object for the action ping with the value "ok".',
    Mode.STRICT_TOOLS: 'Call the function ping with the value "ok".',
    Mode.TOOLS: 'Call the function ping with the value "ok".',
}
_TWICE = 'Call the function ping twice, in parallel, each time with the value "ok".'


class Check(StrEnum):
    """What is looked at, in this order."""

    REACHABLE = "reachable"
    MODEL = "model"
    JSON_TEXT = "json_text"
    STRICT_TOOLS = "strict_tools"
    TOOLS = "tools"
    JSON_SCHEMA = "json_schema"
    PARALLEL = "parallel_calls"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: True, False, or None where it could not be told. `detail` is short and holds no secret."""

    check: Check
    ok: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, and the mode to start in; None when the endpoint cannot be used at all."""

    findings: tuple[Finding, ...]
    mode: Mode | None


def probe(model: ChatModel, served: Callable[[], tuple[str, ...]], timeout_s: float) -> Report:
    """Six small requests at most. `served` lists the models of the endpoint. Raises nothing on purpose."""
    try:
        first = model.complete(_request(Mode.JSON_TEXT), timeout_s)
    except ProviderFault as fault:
        return Report(_unusable(fault, served), None)
    findings = [
        Finding(Check.REACHABLE, True, ""),
        Finding(Check.MODEL, True, model.name),
        Finding(Check.JSON_TEXT, _acts(first), "" if _acts(first) else "the action was not understood"),
    ]
    found: dict[Mode, bool | None] = {}
    for mode, check in (
        (Mode.STRICT_TOOLS, Check.STRICT_TOOLS),
        (Mode.TOOLS, Check.TOOLS),
        (Mode.JSON_SCHEMA, Check.JSON_SCHEMA),
    ):
        found[mode], detail = _try(model, mode, timeout_s)
        findings.append(Finding(check, found[mode], detail))
    findings.append(_parallel(model, found, timeout_s))
    counted = first.usage.input_tokens is not None and first.usage.output_tokens is not None
    findings.append(Finding(Check.USAGE, counted, "" if counted else "no token counts: estimates are used"))
    best = next((mode for mode in ORDER if found.get(mode)), Mode.JSON_TEXT)
    return Report(tuple(findings), best)


def _unusable(fault: ProviderFault, served: Callable[[], tuple[str, ...]]) -> tuple[Finding, ...]:
    away = fault.kind in (FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.NOT_FOUND, FaultKind.REDIRECTED)
    if away:
        return (Finding(Check.REACHABLE, False, fault.message), Finding(Check.MODEL, None, ""))
    detail = fault.message
    if fault.kind is FaultKind.MODEL_NOT_FOUND:
        try:
            names = served()
        except ProviderFault:
            names = ()
        detail += f"; it serves: {', '.join(names[:12])}" if names else ""
    known = None if fault.kind is not FaultKind.MODEL_NOT_FOUND else False
    return (Finding(Check.REACHABLE, True, f"it answers {fault.kind}"), Finding(Check.MODEL, known, detail))


def _try(model: ChatModel, mode: Mode, timeout_s: float) -> tuple[bool | None, str]:
    try:
        response = model.complete(_request(mode), timeout_s)
    except ProviderFault as fault:
        refused = fault.kind in (FaultKind.UNSUPPORTED, FaultKind.BAD_REQUEST)
        return (False if refused else None), fault.message
    if mode.calls_functions:
        if not response.calls:
            return False, "accepted, and not used"
        return (True, "") if _pings(response) else (False, "another function was called, or with other arguments")
    valid = _acts(response)
    return valid, "" if valid else "accepted, and not kept to"


def _parallel(model: ChatModel, found: dict[Mode, bool | None], timeout_s: float) -> Finding:
    """Whether several calls come at once. That they do is no gap: the first runs."""
    if not found[Mode.TOOLS]:
        return Finding(Check.PARALLEL, None, "no functions")
    try:
        response = model.complete(_request(Mode.TOOLS, _TWICE), timeout_s)
    except ProviderFault as fault:
        return Finding(Check.PARALLEL, None, fault.message)
    count = _pings(response)
    return Finding(Check.PARALLEL, count > 1, f"{count} {'call' if count == 1 else 'calls'} came")


def _pings(response: ChatResponse) -> int:
    """How many calls are what was asked for: this function, with this argument."""
    return sum(call.name == PING.name and _arguments(call.arguments) == {"value": "ok"} for call in response.calls)


def _arguments(given: Any) -> Any:
    try:
        return json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return None


def _acts(response: ChatResponse) -> bool:
    actions = find_actions(response.text, ("ping",), lambda action: action.arguments == {"value": "ok"}).actions
    return bool(actions) and actions[0].name == "ping"


def _request(mode: Mode, words: str = "") -> ChatRequest:
    functions = (PING,)
    schema = action_schema(functions) if mode is Mode.JSON_SCHEMA else None
    text = words or _ASK[mode]
    return ChatRequest(
        messages=(Message(role=Role.USER, text=text),),
        functions=functions if mode.calls_functions else (),
        mode=mode,
        prompt_tokens=len(text + json.dumps(schema)) // 4,
        max_output_tokens=CAP,
        schema=schema,
    )
