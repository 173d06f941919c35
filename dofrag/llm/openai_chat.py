"""Chat Completions, as OpenAI, vLLM, llama.cpp, Ollama and most others speak it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.interface import ChatRequest, ChatResponse, Finish, FunctionCall, Message, Mode, Role, Usage
from dofrag.llm.modes import provider_schema
from dofrag.llm.openai_model import EndpointModel, said_in
from dofrag.llm.usage import tokens

FINISH = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
}
ALTERNATIVES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class ChatCompletions(EndpointModel):
    """A `ChatModel` over one endpoint. Remembers which optional fields the endpoint refused, and no conversation."""

    def _may_leave_out(self, name: str) -> bool:
        return ALTERNATIVES.get(name) not in self._refused

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [_message(m) for m in request.messages],
            "max_tokens": request.max_output_tokens,
            "temperature": 0,
            "store": False,
        }
        if request.mode.calls_functions:
            strict = request.mode is Mode.STRICT_TOOLS
            body["tools"] = [_tool(f.name, f.description, f.schema, strict) for f in request.functions]
            body["tool_choice"] = "required" if strict else "auto"
            if strict:
                body["parallel_tool_calls"] = False
        elif request.mode is Mode.JSON_SCHEMA:
            schema = {"name": "action", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        for name in self._refused & body.keys():
            value = body.pop(name)
            other = ALTERNATIVES.get(name)
            if other is not None and other not in self._refused:
                body[other] = value
        return body

    def _create(self, client: Any, body: Mapping[str, Any]) -> Any:
        return client.chat.completions.with_streaming_response.create(**body)

    def _read(self, body: Any) -> ChatResponse:
        return _response(body)


def _tool(name: str, description: str, schema: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    parameters = provider_schema(schema, strict)
    function: dict[str, Any] = {"name": name, "description": description, "parameters": parameters}
    if strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _message(message: Message) -> dict[str, Any]:
    if message.role is Role.TOOL:
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    out: dict[str, Any] = {"role": str(message.role), "content": message.text}
    if message.calls:
        out["content"] = message.text or None
        out["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in message.calls
        ]
    return out


def _response(body: Any) -> ChatResponse:
    """The reply of any endpoint. Fields that are missing or of another type are as good as empty; a body without a
    choice is a ProviderFault. Reasoning, under whatever name, is not looked at."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, Mapping) else {}
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise ProviderFault(FaultKind.INVALID_BODY, "the reply holds no choice")
    calls = _calls(message)
    finish = FINISH.get(str(choice.get("finish_reason")), Finish.CALLS if calls else Finish.STOP)
    text = message.get("content")
    if isinstance(text, list):  # content in parts
        text = "".join(map(said_in, text))
    if isinstance(message.get("refusal"), str) and message["refusal"] and not calls:
        finish = Finish.REFUSAL
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return ChatResponse(
        text=text if isinstance(text, str) else "",
        calls=calls,
        finish=finish,
        usage=Usage(tokens(usage.get("prompt_tokens")), tokens(usage.get("completion_tokens"))),
    )


def _calls(message: Mapping[str, Any]) -> tuple[FunctionCall, ...]:
    raw: Any = message.get("tool_calls")
    items: Sequence[Any] = raw if isinstance(raw, list) else []
    if not items and isinstance(message.get("function_call"), Mapping):  # the older form
        items = [{"function": message["function_call"]}]
    found = []
    for item in items:
        function = item.get("function") if isinstance(item, Mapping) else None
        if isinstance(function, Mapping):
            call_id, name = str(item.get("id") or ""), str(function.get("name") or "")
            found.append(FunctionCall(call_id, name, function.get("arguments", "")))
    return tuple(found)
