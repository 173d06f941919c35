"""One request through the `openai` client: bounded in time and size, every failure a `ProviderFault`.

The client makes the request (addresses, headers, proxies, certificates); the body is read here, piece by piece, so
that a reply that drips or never ends is stopped, and it is parsed here, so that a reply of any shape is a value and
not an exception from the inside of a library.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError
from dofrag.llm.deadline import DeadlinePassed, within
from dofrag.llm.faults import FaultKind, ProviderFault, classify
from dofrag.text.tokens import one_line

REPLY_MAX = 4 * 1024 * 1024
"""Bytes of one reply at most."""
NO_KEY = "none"
"""What is sent as a key to an endpoint of one's own that asks for none."""
REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is. `api_key` None: the endpoint asks for none. Never printed, never traced."""

    model: str
    base_url: str
    api_key: str | None = None

    def __repr__(self) -> str:
        return f"Endpoint(model={self.model!r})"


class Create(Protocol):
    """One of the client's raw `create` methods: opens a streamed response."""

    def __call__(self, client: Any, body: Mapping[str, Any]) -> Any: ...


class Transport:
    """Sends JSON, returns JSON. One client for a run, so that connections are kept."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._client: Any = None
        self._key: re.Pattern[str] | None = None

    def send(self, create: Create, body: Mapping[str, Any], timeout_s: float) -> Any:
        """The reply as JSON values. Raises ProviderFault; takes `timeout_s` seconds at most."""
        timeout_s = max(timeout_s, 0.001)
        try:
            raw = within(timeout_s, lambda: self._raw(create, body, timeout_s))
        except DeadlinePassed:
            raise ProviderFault(FaultKind.TIMEOUT, f"no complete reply within {timeout_s:.0f} s") from None
        text = self.scrub(raw.decode("utf-8", "replace"))
        try:
            return self._clean(json.loads(text))
        except (ValueError, RecursionError):
            start = one_line(text, 80)
            raise ProviderFault(FaultKind.INVALID_BODY, f"the reply is not JSON: {start!r}") from None

    def served(self, timeout_s: float) -> tuple[str, ...]:
        """The models that the endpoint says it serves, sorted; empty when its list has another shape."""
        listed = self.send(lambda client, body: client.models.with_streaming_response.list(), {}, timeout_s)
        rows = listed.get("data") if isinstance(listed, dict) else None
        names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return tuple(sorted(name for name in names if isinstance(name, str)))

    def close(self) -> None:
        """Give back the connections. A request that was left behind fails at once."""
        if self._client is not None:
            self._client.close()

    def scrub(self, text: str) -> str:
        """The text without the key, wherever an endpoint echoes it, letters escaped as JSON may (`\\u002d`, `\\/`) at
        any depth of strings within strings."""
        key = self.endpoint.api_key
        if not key or len(key) < KEY_MIN:
            return text
        if self._key is None:
            self._key = re.compile("".join(map(_escaped, key)))
        return self._key.sub(REDACTED, text)

    def _clean(self, value: Any) -> Any:
        """JSON values without the key, and without halves of surrogate pairs, which nothing can be sent or written
        with. Not recursive: the depth is the endpoint's."""
        root = [value]
        todo: list[Any] = [root]
        while todo:
            held = todo.pop()
            places = range(len(held)) if isinstance(held, list) else list(held)
            for place in places:
                one = held[place]
                if isinstance(one, str):
                    held[place] = self.scrub(one.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
                elif isinstance(one, (list, dict)):
                    todo.append(one)
        return root[0]

    def _raw(self, create: Create, body: Mapping[str, Any], timeout_s: float) -> bytes:
        import openai

        try:
            with create(self._connected().with_options(timeout=timeout_s), body) as response:
                return _bounded(response)
        except openai.APIStatusError as error:
            body_said = error.body if error.body is not None else error.message
            raise classify(error.status_code, body_said, self.scrub, _retry_after(error.response.headers)) from None
        except openai.APITimeoutError:
            raise ProviderFault(FaultKind.TIMEOUT, f"no reply within {timeout_s:.0f} s") from None
        except (openai.APIConnectionError, OSError) as error:
            text = one_line(self.scrub(str(error.__cause__ or error)), 200)
            raise ProviderFault(FaultKind.CONNECTION, f"connection failed: {text}") from None
        except openai.OpenAIError as error:
            raise ProviderFault(FaultKind.BAD_REQUEST, one_line(self.scrub(str(error)), 200)) from None
        except Exception as error:
            # The HTTP library's own errors, while a body is read. It is httpx in one version of the client and httpx2
            # in the next; both name their base class so.
            names = {cls.__name__ for cls in type(error).__mro__}
            if "TimeoutException" in names:
                raise ProviderFault(FaultKind.TIMEOUT, f"no complete reply within {timeout_s:.0f} s") from None
            if names & {"RequestError", "StreamError", "InvalidURL"}:
                text = one_line(self.scrub(str(error)), 200)
                raise ProviderFault(FaultKind.CONNECTION, f"the reply broke off: {text}") from None
            raise

    def _connected(self) -> Any:
        if self._client is None:
            import openai

            try:
                self._client = openai.OpenAI(
                    api_key=self.endpoint.api_key or NO_KEY,
                    base_url=self.endpoint.base_url,
                    max_retries=0,  # waiting is the run's business: it has a wall clock
                )
            except ValueError as error:  # a malformed address, before anything is sent
                text = self.scrub(f"the base URL is no address: {error}")
                raise ProviderFault(FaultKind.BAD_REQUEST, text) from None
        return self._client


KEY_MIN = 4
"""Characters of a key that can be told from other text."""


def _escaped(char: str) -> str:
    """A pattern of one character of a key, as it is or escaped once or more."""
    return rf"(?:\\*{re.escape(char)}|\\+u(?i:{ord(char):04x}))"


def _bounded(response: Any) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > REPLY_MAX:
            raise ProviderFault(FaultKind.REPLY_TOO_LARGE, f"the reply is longer than {REPLY_MAX:,} bytes")
        parts.append(part)
    return b"".join(parts)


def _retry_after(headers: Any) -> float | None:
    """Seconds that `Retry-After` asks to wait: a number, or a date, which needs the sender's own clock."""
    value = headers.get("retry-after-ms")
    scale = 1000.0 if value else 1.0
    value = value or headers.get("retry-after")
    if not value:
        return None
    try:
        seconds = float(value) / scale
    except ValueError:
        seconds = _until(str(value), headers.get("date"))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(value: str, now: str | None) -> float:
    from email.utils import parsedate_to_datetime

    try:
        return (parsedate_to_datetime(value) - parsedate_to_datetime(now or "")).total_seconds()
    except (TypeError, ValueError):
        return math.nan


def check_endpoint(endpoint: Endpoint) -> None:
    """Raises UsageError for an address that cannot be one."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(endpoint.base_url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port beyond all ports, a bracket that does not close
        sound = False
    if not sound:
        raise UsageError("the base URL is not an http(s) address", hint="--base-url http://127.0.0.1:8000/v1")
