"""From an endpoint to a `ChatModel`. Nothing is sent before the first request; the client is imported then."""

from __future__ import annotations

from dofrag.llm.interface import ChatModel
from dofrag.llm.openai_http import Endpoint, Transport, check_endpoint


def connect(endpoint: Endpoint, api: str = "chat") -> ChatModel:
    """`api` is "chat" (Chat Completions) or "responses". Raises UsageError for an address that cannot be one."""
    check_endpoint(endpoint)
    if api == "responses":
        from dofrag.llm.openai_responses import Responses

        return Responses(endpoint)
    from dofrag.llm.openai_chat import ChatCompletions

    return ChatCompletions(endpoint)


def served_models(endpoint: Endpoint, timeout_s: float) -> tuple[str, ...]:
    """The models that an endpoint lists. Raises ProviderFault."""
    transport = Transport(endpoint)
    try:
        return transport.served(timeout_s)
    finally:
        transport.close()
