"""The Responses API. Nothing is stored at the provider: the conversation is sent whole each time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.interface import ChatRequest, ChatResponse, Finish, FunctionCall, Message, Mode, Role, Usage
from dofrag.llm.modes import provider_schema
from dofrag.llm.openai_model import EndpointModel, said_in
from dofrag.llm.usage import tokens

REQUIRED = frozenset({"max_output_tokens"})
"""Fields that a request is never made without: the budget rests on them."""


class Responses(EndpointModel):
    """A `ChatModel` over one endpoint. Remembers which optional fields the endpoint refused, and no conversation."""

    def _may_leave_out(self, name: str) -> bool:
        return name not in REQUIRED

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "input": [item for m in request.messages for item in _items(m)],
            "max_output_tokens": request.max_output_tokens,
            "temperature": 0,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if request.mode.calls_functions:
            strict = request.mode is Mode.STRICT_TOOLS
            body["tools"] = [
                {
                    "type": "function",
                    "name": f.name,
                    "description": f.description,
                    "parameters": provider_schema(f.schema, strict),
                    "strict": strict,
                }
                for f in request.functions
            ]
            body["tool_choice"] = "required" if strict else "auto"
            if strict:
                body["parallel_tool_calls"] = False
        elif request.mode is Mode.JSON_SCHEMA:
            schema = {"type": "json_schema", "name": "action", "strict": True, "schema": request.schema}
            body["text"] = {"format": schema}
        return {key: value for key, value in body.items() if key not in self._refused}

    def _create(self, client: Any, body: Mapping[str, Any]) -> Any:
        return client.responses.with_streaming_response.create(**body)

    def _read(self, body: Any) -> ChatResponse:
        return _response(body)


def _items(message: Message) -> list[dict[str, Any]]:
    if message.role is Role.TOOL:
        return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
    items: list[dict[str, Any]] = [dict(item) for item in message.carry]
    if message.text:
        items.append({"role": str(message.role), "content": message.text})
    for call in message.calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": arguments})
    return items


def _response(body: Any) -> ChatResponse:
    """The reply. Reasoning is not looked at; its encrypted form, which only the provider can read, is carried on."""
    output = body.get("output") if isinstance(body, Mapping) else None
    if not isinstance(output, list):
        raise ProviderFault(FaultKind.INVALID_BODY, "the reply holds no output")
    if body.get("status") == "failed" or (isinstance(body.get("error"), Mapping) and not output):
        raise ProviderFault(FaultKind.SERVER_ERROR, "the provider says that the response failed")
    texts: list[str] = []
    calls: list[FunctionCall] = []
    carry: list[dict[str, Any]] = []
    refused = False
    for item in (i for i in output if isinstance(i, Mapping)):
        match item.get("type"):
            case "message":
                parts = item.get("content")
                for part in parts if isinstance(parts, list) else []:
                    texts.append(said_in(part))
                    refused = refused or (isinstance(part, Mapping) and part.get("type") == "refusal")
            case "function_call":
                call_id = str(item.get("call_id") or item.get("id") or "")
                calls.append(FunctionCall(call_id, str(item.get("name") or ""), item.get("arguments", "")))
            case "reasoning":
                if isinstance(item.get("encrypted_content"), str):
                    kept = ("type", "id", "encrypted_content")
                    carry.append({key: item[key] for key in kept if key in item} | {"summary": []})
            case _:
                pass  # items of tools that were never offered
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return ChatResponse(
        text="".join(texts),
        calls=tuple(calls),
        finish=_finish(body, bool(calls), refused),
        usage=Usage(tokens(usage.get("input_tokens")), tokens(usage.get("output_tokens"))),
        carry=tuple(carry),
    )


def _finish(body: Mapping[str, Any], called: bool, refused: bool) -> Finish:
    if body.get("status") == "incomplete":
        details = body.get("incomplete_details")
        why = details.get("reason") if isinstance(details, Mapping) else None
        return Finish.REFUSAL if why == "content_filter" else Finish.LENGTH
    if called:
        return Finish.CALLS
    return Finish.REFUSAL if refused else Finish.STOP
