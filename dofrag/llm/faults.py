"""Every way in which a provider fails, as one closed set: what is retried, what lowers the mode, what ends a run."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from dofrag.text.patterns import late
from dofrag.text.tokens import one_line


class FaultKind(StrEnum):
    """Why a request to a model failed. Stands in the trace as the outcome of `model_called`."""

    UNAUTHORIZED = "unauthorized"  # 401: no key, or a wrong one
    FORBIDDEN = "forbidden"  # 403
    MODEL_NOT_FOUND = "model_not_found"
    NOT_FOUND = "not_found"  # 404 of the address itself
    REDIRECTED = "redirected"  # to another place, which gets nothing of ours
    CREDIT_EXHAUSTED = "credit_exhausted"  # no rate limit: waiting does not help
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"  # refused, reset, or broken off in the middle of a reply
    TIMEOUT = "timeout"
    INVALID_BODY = "invalid_body"  # a reply that is no chat completion
    REPLY_TOO_LARGE = "reply_too_large"
    CONTEXT_TOO_LONG = "context_too_long"
    UNSUPPORTED = "unsupported"  # the endpoint refuses functions, strict schemas or a response format
    BAD_REQUEST = "bad_request"  # refused without a reason that is known here


RETRIED = frozenset(
    {FaultKind.RATE_LIMITED, FaultKind.SERVER_ERROR, FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.INVALID_BODY}
)
"""The same request may succeed later."""

LOWERS_MODE = frozenset({FaultKind.UNSUPPORTED, FaultKind.BAD_REQUEST})
"""The same request never will; one that asks less of the provider may."""

BILLED = frozenset({FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.INVALID_BODY, FaultKind.REPLY_TOO_LARGE})
"""The provider may have worked, and counted, before it failed: the prompt's estimate stays spent."""

MESSAGE_MAX = 300


class ProviderFault(Exception):
    """A request that failed. `message` holds no secret; `retry_after` is what the provider asked to wait, in seconds;
    `parameter` is the request field that it refuses, where it says so."""

    def __init__(
        self, kind: FaultKind, message: str, *, retry_after: float | None = None, parameter: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.parameter = parameter


_CREDIT = late(
    r"insufficient_quota|billing_hard_limit|billing_not_active|exceeded your current quota"
    r"|insufficient (?:credit|balance|funds)|credit balance|out of credits",
    re.IGNORECASE,
)
_CONTEXT = late(
    r"context_length_exceeded|maximum context length|context (?:size|window|length)|prompt is too long"
    r"|too many tokens",
    re.IGNORECASE,
)
_MODEL = late(r"model_not_found|\bmodel\b[^\n]{0,120}\b(?:not found|not exist|unknown)|no such model", re.IGNORECASE)
_FEATURE = late(
    r"\btools?\b|tool[_ ]choice|tool[_ ]call|\bfunctions?\b|\bstrict\b|response_format|text\.format|json_schema"
    r"|structured|\bgrammar\b|\bschema\b",
    re.IGNORECASE,
)
PARAMETERS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "parallel_tool_calls", "tool_choice",
              "temperature", "store", "include")  # fmt: skip
"""Fields that a request can do without, or under another name: an endpoint that refuses one is asked again."""


def classify(
    status: int, body: Any, scrub: Callable[[str], str] = lambda text: text, retry_after: float | None = None
) -> ProviderFault:
    """The fault that an HTTP status and an error body (JSON value or text) stand for."""
    code, said = _said(body)
    text = f"{code} {said}"
    message = one_line(scrub(said or f"HTTP {status}"), MESSAGE_MAX)

    def fault(kind: FaultKind, parameter: str | None = None) -> ProviderFault:
        return ProviderFault(kind, f"HTTP {status}: {message}", retry_after=retry_after, parameter=parameter)

    if status == 402 or (status in (403, 429) and _CREDIT.search(text)):
        return fault(FaultKind.CREDIT_EXHAUSTED)
    if 300 <= status < 400:
        return fault(FaultKind.REDIRECTED)
    if status in (401, 403):
        return fault(FaultKind.UNAUTHORIZED if status == 401 else FaultKind.FORBIDDEN)
    if status in (408, 409, 425, 429):
        return fault(FaultKind.RATE_LIMITED if status == 429 else FaultKind.SERVER_ERROR)
    if _CONTEXT.search(text):
        return fault(FaultKind.CONTEXT_TOO_LONG)
    if status == 404 and not _FEATURE.search(text):
        return fault(FaultKind.MODEL_NOT_FOUND if _MODEL.search(text) else FaultKind.NOT_FOUND)
    if status in (400, 404, 405, 415, 422, 500, 501):
        parameter = _parameter(said)
        if parameter is not None and status != 500:
            return fault(FaultKind.UNSUPPORTED, parameter)
        if _MODEL.search(text) and status != 500:
            return fault(FaultKind.MODEL_NOT_FOUND)
        if _FEATURE.search(text):
            return fault(FaultKind.UNSUPPORTED)
    if status >= 500:
        return fault(FaultKind.SERVER_ERROR)
    return fault(FaultKind.BAD_REQUEST)


def _parameter(said: str) -> str | None:
    """The field that is named first: what follows it may be the remedy."""
    found = [(m.start(), name) for name in PARAMETERS if (m := re.search(rf"\b{name}\b", said))]
    return min(found)[1] if found else None


def _said(body: Any) -> tuple[str, str]:
    """The error's code and message, wherever an endpoint puts them."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key))
        said = error.get("message") or error.get("detail") or error
        return code, str(said)
    return "", str(error or "")
