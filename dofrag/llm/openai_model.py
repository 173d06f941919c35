"""What the two ways to ask an OpenAI-compatible endpoint have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dofrag.llm.faults import ProviderFault
from dofrag.llm.interface import ChatRequest, ChatResponse, Usage
from dofrag.llm.openai_http import Endpoint, Transport
from dofrag.llm.prices import Price, price_of


def said_in(part: Any) -> str:
    """What a model says in one part of a message; "" for a part of any other kind, a thought above all."""
    if not isinstance(part, Mapping) or part.get("type") not in ("text", "output_text") or part.get("thought"):
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


class EndpointModel(ABC):
    """A `ChatModel` over one endpoint. Remembers which optional fields the endpoint refused, and no conversation."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.model
        self._transport = Transport(endpoint)
        self._price: Price | None = price_of(endpoint.model, endpoint.base_url)
        self._refused: set[str] = set()

    def price(self, usage: Usage) -> float | None:
        """By the dated table; None off the list."""
        return self._price.of(usage) if self._price else None

    def close(self) -> None:
        """Give back the connections."""
        self._transport.close()

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse:
        """One reply. A field that the endpoint refuses by name is left out and the request made again, once each."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                response = self._read(self._transport.send(self._create, self._body(request), end - time.monotonic()))
                # Text that came in parts is whole only now.
                return replace(response, text=self._transport.scrub(response.text))
            except ProviderFault as fault:
                name = fault.parameter
                if name is None or name in self._refused or not self._may_leave_out(name):
                    raise
                self._refused.add(name)

    @abstractmethod
    def _may_leave_out(self, name: str) -> bool:
        """Whether a request may be made without a field: never without a cap on the reply, which the budget rests
        on."""

    @abstractmethod
    def _body(self, request: ChatRequest) -> dict[str, Any]:
        """What is sent."""

    @abstractmethod
    def _create(self, client: Any, body: Mapping[str, Any]) -> Any:
        """Open the streamed response to a body."""

    @abstractmethod
    def _read(self, body: Any) -> ChatResponse:
        """The reply in a response's JSON. Raises ProviderFault."""
