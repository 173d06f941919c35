"""One request through the `openai` client: bounded in time and size, every failure a `ProviderFault`.

The client makes the request (addresses, headers, proxies, certificates). A hook takes each response before anything
else does: its body is read within bounds, whatever its status, and a redirect to another place is refused. The reply
is parsed here, so that one of any shape is a value and not an exception from the inside of a library.
"""

from __future__ import annotations

import json
import math
import re
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError
from dofrag.llm.bodies import read_body
from dofrag.llm.deadline import DeadlinePassed, within
from dofrag.llm.faults import FaultKind, ProviderFault, classify
from dofrag.text.tokens import one_line

REDIRECTS_MAX = 3
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
        self._end = threading.local()  # of the request that a thread makes
        self._key: re.Pattern[str] | None = None

    def send(self, create: Create, body: Mapping[str, Any], timeout_s: float) -> Any:
        """The reply as JSON values. Raises ProviderFault; takes `timeout_s` seconds at most."""
        timeout_s = max(timeout_s, 0.001)
        end = time.monotonic() + timeout_s
        try:
            raw = within(timeout_s, lambda: self._raw(create, body, timeout_s, end))
        except DeadlinePassed:
            self._forget()
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
        self._forget()

    def _forget(self) -> None:
        """Close the client, so that a request left behind reads nothing more. The next one gets a new one."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def scrub(self, text: str) -> str:
        """The text without the key, wherever an endpoint echoes it, letters escaped as JSON may (`\\u002d`, `\\/`) at
        any depth of strings within strings."""
        key = self.endpoint.api_key
        if not key or len(key) < KEY_MIN:
            return text
        if "\\" not in text:  # nothing is escaped: no pattern is needed
            return text.replace(key, REDACTED)
        if self._key is None:
            self._key = _pattern(key)
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

    def _raw(self, create: Create, body: Mapping[str, Any], timeout_s: float, end: float) -> bytes:
        import openai

        self._end.at = end
        try:
            with create(self._connected().with_options(timeout=timeout_s), body) as response:
                return b"".join(response.iter_bytes())
        except openai.APIStatusError as error:
            body_said = error.body if error.body is not None else error.message
            raise classify(error.status_code, body_said, self.scrub, _retry_after(error.response.headers)) from None
        except openai.APITimeoutError:
            raise ProviderFault(FaultKind.TIMEOUT, f"no reply within {timeout_s:.0f} s") from None
        except (openai.APIConnectionError, OSError) as error:
            if isinstance(error.__cause__, ProviderFault):  # what the hook raised, as some versions wrap it
                raise error.__cause__ from None
            if type(error.__cause__).__name__ == "TooManyRedirects":
                raise ProviderFault(FaultKind.REDIRECTED, f"redirected more than {REDIRECTS_MAX} times") from None
            text = one_line(self.scrub(str(error.__cause__ or error)), 200)
            raise ProviderFault(FaultKind.CONNECTION, f"connection failed: {text}") from None
        except openai.OpenAIError as error:
            raise ProviderFault(FaultKind.BAD_REQUEST, one_line(self.scrub(str(error)), 200)) from None
        except Exception as error:
            # The HTTP library's own errors, where the client lets them through. It is httpx in one version of the
            # client and httpx2 in the next; both name their base class so.
            names = {cls.__name__ for cls in type(error).__mro__}
            if "TimeoutException" in names:
                raise ProviderFault(FaultKind.TIMEOUT, f"no complete reply within {timeout_s:.0f} s") from None
            if "TooManyRedirects" in names:
                raise ProviderFault(FaultKind.REDIRECTED, f"redirected more than {REDIRECTS_MAX} times") from None
            if names & {"RequestError", "StreamError", "InvalidURL"}:
                text = one_line(self.scrub(str(error)), 200)
                raise ProviderFault(FaultKind.CONNECTION, f"the reply broke off: {text}") from None
            raise

    def _watch(self, request: Any) -> None:
        """The hook before a request: each step of it (connecting, sending, waiting) looks at the clock first."""
        request.extensions["trace"] = self._step

    def _step(self, name: str, info: Mapping[str, Any]) -> None:
        if name.endswith(".failed") or ".response_closed." in name:
            return  # something ends, perhaps long after anybody waits for it
        if time.monotonic() >= self._end.at:  # nobody waits for the reply any more: nothing more is sent
            raise ProviderFault(FaultKind.TIMEOUT, "no connection in time")

    def _take(self, response: Any) -> None:
        """The hook: put the body, read within bounds, in the place of the stream, and nothing for a client to unpack
        or decode by. Raises ProviderFault."""
        headers = response.headers
        encoding = headers.get("content-encoding", "")
        if response.has_redirect_location:
            why = _elsewhere(response.request.url, headers.get("location", ""), response.status_code)
            if why:
                text = one_line(self.scrub(why), 200)
                raise ProviderFault(FaultKind.REDIRECTED, f"HTTP {response.status_code} {text}: not followed")
        body = read_body(response.stream, encoding, response.status_code, self._end.at, time.monotonic)
        response.stream.close()
        headers.pop("content-encoding", None)
        headers["content-type"] = "application/json"
        response.stream = sys.modules[type(response).__module__.partition(".")[0]].ByteStream(body)

    def _connected(self) -> Any:
        if self._client is None:
            import openai

            try:
                self._client = openai.OpenAI(
                    api_key=self.endpoint.api_key or NO_KEY,
                    base_url=self.endpoint.base_url,
                    max_retries=0,  # waiting is the run's business: it has a wall clock
                    http_client=openai.DefaultHttpxClient(
                        event_hooks={"request": [self._watch], "response": [self._take]},
                        headers={"accept-encoding": "identity"},
                        max_redirects=REDIRECTS_MAX,
                    ),
                )
            except ValueError as error:  # a malformed address, before anything is sent
                text = self.scrub(f"the base URL is no address: {error}")
                raise ProviderFault(FaultKind.BAD_REQUEST, text) from None
        return self._client


KEY_MIN = 4
"""Characters of a key that can be told from other text."""


def _pattern(key: str) -> re.Pattern[str]:
    """A key, letters escaped or not. It begins where a run of backslashes does: looking for it from the middle of one
    again would take time by the square of the run."""
    return re.compile(r"(?<!\\)" + "".join(map(_escaped, key)))


def _escaped(char: str) -> str:
    """A pattern of one character of a key, as it is or escaped once or more."""
    return rf"(?:\\*{re.escape(char)}|\\+u(?i:{ord(char):04x}))"


def _elsewhere(url: Any, location: str, status: int) -> str:
    """Why a redirect is not followed; "" where it is. A question, and a key, go to the endpoint that was named and to
    no other place; and only 307 and 308 leave a request what it is."""
    try:
        there = url.join(location)
        host = f"{there.scheme}://{there.netloc.decode('ascii')}"
        path = there.raw_path.decode("ascii")
    except Exception as error:
        if isinstance(error, ValueError) or type(error).__name__ == "InvalidURL":
            return "to what is no address"
        raise
    if _origin(there) != _origin(url):
        return f"to another place, {host}"
    return "" if status in (307, 308) else f"to {path}"


def _origin(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


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
        plain = not any(char.isspace() or not char.isprintable() or char == "\\" for char in endpoint.base_url)
        after = parts.netloc.rpartition("@")[2].rpartition("]")[2]  # of an IPv6 address: a port or nothing
        plain = plain and ("[" not in parts.netloc or after == "" or after.startswith(":"))
        sound = plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond all ports, a bracket that does not close
        sound = False
    if not sound:
        raise UsageError("the base URL is not an http(s) address", hint="--base-url http://127.0.0.1:8000/v1")
