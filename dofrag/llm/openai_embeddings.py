"""Embeddings from an OpenAI-compatible endpoint (`POST …/embeddings`): sent again where that may help, within a time
limit. Whatever comes back is checked before it is a vector."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dofrag.errors import CreditExhausted, ModelUnavailable
from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.openai_http import Endpoint, Transport, check_endpoint
from dofrag.llm.retry import wait_before
from dofrag.search.vectors.interface import PROBE, Card, Role, Vectors, prefixes_of

PATIENCE_S = 300.0
"""Seconds that one call may take, with all its attempts."""
REQUEST_S = 120.0
ROLE = "{role}"
"""Stands in a model's name for `query` or `passage`, where a server tells the two apart by it."""
_HALVED = frozenset({FaultKind.REPLY_TOO_LARGE, FaultKind.CONTEXT_TOO_LONG})
_SHORTEST = 200  # characters below which a text that is too long for a model is not halved again
_DIMENSION_MAX = 16_384
_NUMBER_MAX = 1e18  # nothing that is infinite, not a number, or whose square is


class OpenAIEmbeddings:
    """Implements `Embedder`. `clock`, `sleep` and `jitter` are injected, so that tests need not wait."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        revision: str = "",
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Prefixes that are None are what the model's family is known to need. Raises UsageError for an address that
        cannot be one."""
        check_endpoint(endpoint)
        self._transport = Transport(endpoint)
        family = prefixes_of(endpoint.model)
        self._prefixes = (
            family[0] if query_prefix is None else query_prefix,
            family[1] if passage_prefix is None else passage_prefix,
        )
        self._revision = revision
        self._patience_s = patience_s
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._dimension: int | None = None

    @property
    def card(self) -> Card:
        if self._dimension is None:
            self.embed([PROBE], Role.QUERY)
        return self._card(self._dimension or 0)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        prefix = self._card(0).prefix(role)
        return self._embedded([prefix + text for text in texts], role, self._clock() + self._patience_s)

    def close(self) -> None:
        self._transport.close()

    def _card(self, dimension: int) -> Card:
        return Card(
            name=self._transport.endpoint.model,
            revision=self._revision,
            dimension=dimension,
            query_prefix=self._prefixes[0],
            passage_prefix=self._prefixes[1],
        )

    def _embedded(self, texts: list[str], role: Role, end: float) -> list[list[float]]:
        try:
            return self._asked(texts, role, end)
        except ProviderFault as fault:
            if fault.kind in _HALVED and len(texts) > 1:
                half = len(texts) // 2
                return self._embedded(texts[:half], role, end) + self._embedded(texts[half:], role, end)
            if fault.kind is FaultKind.CONTEXT_TOO_LONG and len(texts[0]) > _SHORTEST:
                # Most servers cut by themselves; for one that refuses, the beginning stands for the whole.
                return self._embedded([texts[0][: len(texts[0]) // 2]], role, end)
            kind = CreditExhausted if fault.kind is FaultKind.CREDIT_EXHAUSTED else ModelUnavailable
            raise kind(
                f"embedding model {self._transport.endpoint.model!r}: {fault.message}",
                hint="is the server running? `--embedder` names its address, which usually ends in /v1",
            ) from None

    def _asked(self, texts: list[str], role: Role, end: float) -> list[list[float]]:
        """One request, sent again where that may help. Raises ProviderFault."""
        model = self._transport.endpoint.model.replace(ROLE, str(role))
        body = {"model": model, "input": texts, "encoding_format": "float"}
        attempt = 1
        while True:
            left = end - self._clock()
            try:
                if left <= 0:
                    raise ProviderFault(FaultKind.TIMEOUT, f"no reply within {self._patience_s:.0f} s")
                return self._checked(self._transport.send(_create, body, min(left, REQUEST_S)), len(texts))
            except ProviderFault as fault:
                wait = wait_before(fault, attempt, self._jitter())
                if wait is None or self._clock() + wait >= end:
                    raise
                self._sleep(wait)
                attempt += 1

    def _checked(self, reply: Any, count: int) -> list[list[float]]:
        """The vectors in the order of the texts. Raises ProviderFault for anything else."""
        data = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(data, list) or len(data) != count or not all(isinstance(row, dict) for row in data):
            raise _bad(f"the reply does not hold {count} embeddings")
        places = [row.get("index", i) for i, row in enumerate(data)]
        if sorted(p for p in places if isinstance(p, int)) != list(range(count)):
            raise _bad("the embeddings are not numbered from 0 on")
        found: list[list[float]] = [[]] * count
        for place, row in zip(places, data, strict=True):
            found[place] = self._vector(row.get("embedding"))
        return found

    def _vector(self, value: Any) -> list[float]:
        if not isinstance(value, list) or not 0 < len(value) <= _DIMENSION_MAX:
            raise _bad("an embedding is not a list of numbers")
        if not all(type(v) in (float, int) and abs(v) < _NUMBER_MAX for v in value):
            raise _bad("an embedding holds something that is not a finite number")
        if self._dimension not in (None, len(value)):
            raise _bad(f"an embedding has {len(value)} numbers, others had {self._dimension}")
        self._dimension = len(value)
        return [float(v) for v in value]


def _create(client: Any, body: Mapping[str, Any]) -> Any:
    return client.embeddings.with_streaming_response.create(**body)


def _bad(text: str) -> ProviderFault:
    return ProviderFault(FaultKind.INVALID_BODY, text)
