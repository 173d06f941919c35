"""Whatever an endpoint sends, of whatever status: bytes and time have an end, and nothing goes to another place."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import model_bench as mb
import pytest
from provider import Answer, Asked, error, say, serving, wait_for
from test_provider_behaviours import HONEST

from dofrag.domain.run import Limits
from dofrag.llm.bodies import ERROR_MAX, REPLY_MAX, read_body
from dofrag.llm.faults import FaultKind, ProviderFault
from dofrag.llm.openai_http import Endpoint, Transport, _elsewhere

HEAD = "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n{more}\r\n"
MEGABYTE = b"x" * 1_000_000


class Flood:
    """A server that sends until it is left. `sent` counts bytes; `left` is set when the client went away."""

    def __init__(self, head: bytes, part: bytes, pause: float = 0.0) -> None:
        self.head, self.part, self.pause = head, part, pause
        self.sent = 0
        self.requests = 0
        self.left = threading.Event()
        self.stop = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.recv(65_536)
            self.requests += 1
            try:
                connection.sendall(self.head)
                while not self.stop.wait(self.pause):
                    connection.sendall(self.part)
                    self.sent += len(self.part)
            except OSError:
                self.left.set()


@contextmanager
def flooding(head: bytes, part: bytes, pause: float = 0.0) -> Iterator[Flood]:
    flood = Flood(head, part, pause)
    try:
        yield flood
    finally:
        flood.stop.set()
        flood.socket.close()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def head(status: int, more: str = "") -> bytes:
    return HEAD.format(status=status, more=more).encode()


def outcomes(trace: Any) -> list[str]:
    return [e.outcome for e in trace.events if e.event == "model_called"]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "reply_too_large"), (302, "redirected"), (401, "unauthorized"), (503, "server_error")],
)
def test_a_body_without_an_end_is_left(status: int, outcome: str) -> None:
    """A status is an answer: what comes after the first bytes of an error is never read."""
    with flooding(
        head(status, "Location: http://192.0.2.1/" + "\r\n" if status == 302 else ""), chunk(MEGABYTE)
    ) as flood:
        result, trace, _, _ = mb.run(flood.url)
        assert (result["terminal_state"], result["reason"]) == ("failed", "provider_error")
        assert outcomes(trace)[0] == outcome
        wait_for(flood.left.is_set)
        # What a socket's buffers hold is sent and never read.
        assert flood.sent / flood.requests < REPLY_MAX + 12_000_000


@cache
def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(MEGABYTE) for _ in range(megabytes)), packer.flush()])


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip, gzip", "br", "deflate"])
def test_nobody_unpacks_a_bomb(status: int, encoding: str) -> None:
    packed = bomb(80)
    for _ in range(encoding.count(",")):
        packed = gzip.compress(packed)
    if encoding == "deflate":
        packer = zlib.compressobj(9, wbits=-15)
        packed = packer.compress(MEGABYTE * 40) + packer.flush()
    transport = Transport(Endpoint(model="m", base_url="http://127.0.0.1:9/v1"))
    with serving(lambda a: Answer(status, raw=packed, headers={"Content-Encoding": encoding})) as provider:
        transport.endpoint = Endpoint(model="m", base_url=provider.url)
        tracemalloc.start()
        try:
            with pytest.raises(ProviderFault) as raised:
                transport.served(20)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            transport.close()
    assert peak < 40_000_000
    fine = {FaultKind.REPLY_TOO_LARGE, FaultKind.INVALID_BODY} if status == 200 else {FaultKind.SERVER_ERROR}
    assert raised.value.kind in fine


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "Identity"])
def test_an_honest_reply_may_be_packed(encoding: str) -> None:
    """Some servers pack whatever was asked for."""
    pack: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}

    def packed(asked: Asked) -> Answer:
        assert asked.headers["accept-encoding"] == "identity"
        turn = sum(m["role"] == "assistant" for m in asked.messages)
        raw = json.dumps(HONEST[turn](asked).body).encode()
        return Answer(raw=pack.get(encoding, bytes)(raw), headers={"Content-Encoding": encoding} if encoding else {})

    with serving(packed) as provider:
        assert mb.run(provider.url)[0]["terminal_state"] == "answered"


def test_no_header_chooses_what_decodes_an_error() -> None:
    packed = zlib.compress(MEGABYTE * 30)
    with serving(lambda a: Answer(400, raw=packed, headers={"Content-Type": "text/plain; charset=zlib_codec"})) as p:
        tracemalloc.start()
        try:
            result, _, _, _ = mb.run(p.url)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert result["reason"] == "provider_error"
    assert peak < 40_000_000


@pytest.fixture(scope="module")
def warm() -> None:
    """The client is imported, and has made a request: neither counts in a test whose time is short."""
    with serving(error(401, "no")) as provider:
        mb.run(provider.url)


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (head(200), chunk(b" ")),
        (head(429), chunk(b" ")),
        (b"HTTP/1.1 200 X\r\nX-Slow: ", b"y"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["reply", "error", "header", "continue"],
)
def test_nothing_is_read_after_the_deadline(start: bytes, part: bytes, warm: None) -> None:
    """The server sends for ever: that the run ends at all, and that it is left, is what is looked at."""
    with flooding(start, part, pause=0.02) as flood:
        result, trace, _, _ = mb.run(flood.url, limits=Limits(wall_clock_s=0.6))
        assert result["reason"] in ("wall_clock", "provider_error"), outcomes(trace)
        # On a machine so busy that nothing was sent in time, nothing was read either.
        wait_for(lambda: flood.left.is_set() or not flood.requests, 60)


def test_after_the_deadline_a_connection_can_be_closed_and_nothing_else() -> None:
    late = cast("Transport", SimpleNamespace(_end=SimpleNamespace(at=0.0)))
    for name in ("http11.receive_response_body.failed", "http11.response_closed.started"):
        Transport._step(late, name, {})
    for name in ("connection.connect_tcp.started", "http11.send_request_headers.started"):
        with pytest.raises(ProviderFault):
            Transport._step(late, name, {})


def test_a_long_run_of_backslashes_takes_no_time_by_its_square() -> None:
    pad = {"choices": [], "pad": "\\" * 1_500_000}
    with serving(lambda a: Answer(body=pad), *HONEST) as provider:
        before = time.process_time()
        assert mb.run(provider.url)[0]["terminal_state"] == "answered"
        assert time.process_time() - before < 10


def test_read_body_at_its_bounds() -> None:
    clock = lambda: 0.0  # noqa: E731
    assert read_body([b"a", b"b"], "", 200, 1, clock) == b"ab"
    assert len(read_body([b"x" * REPLY_MAX], "", 200, 1, clock)) == REPLY_MAX
    with pytest.raises(ProviderFault):
        read_body([b"x" * REPLY_MAX, b"y"], "", 200, 1, clock)
    assert len(read_body(iter(lambda: b"x" * 1000, b""), "", 500, 1, clock)) == ERROR_MAX
    with pytest.raises(ProviderFault) as raised:
        read_body([b"no gzip"], "gzip", 200, 1, clock)
    assert raised.value.kind is FaultKind.INVALID_BODY
    assert read_body([b"no gzip"], "gzip", 500, 1, clock) == b""
    # Bytes that unpack to nothing have an end as well.
    start = zlib.compressobj(wbits=31).flush(zlib.Z_FULL_FLUSH)
    blocks = [start, *[b"\0\0\0\xff\xff" * 10_000] * 100]
    with pytest.raises(ProviderFault):
        read_body(blocks, "gzip", 200, 1, clock)


# Redirects


def redirect(status: int, location: str) -> Callable[[Asked], Answer]:
    return lambda asked: Answer(status, body={"error": {"message": "moved"}}, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_another_place_gets_nothing(status: int) -> None:
    with serving(*HONEST) as other:
        with serving(redirect(status, f"{other.url}/chat/completions?key={mb.KEY}")) as provider:
            result, trace, _, end = mb.run(provider.url)
        assert other.asked == []
    assert (result["terminal_state"], result["reason"]) == ("failed", "provider_error")
    assert outcomes(trace) == ["redirected"], "neither tried again nor asked in another mode"
    assert "another place" in end.message
    assert "--base-url" in end.error.hint
    assert mb.KEY not in f"{end.message} {end.error}"


@pytest.mark.parametrize("status", [307, 308])
def test_within_the_place_that_was_named_it_is_followed(status: int) -> None:
    def moved(asked: Asked) -> Answer:
        if not asked.path.startswith("/v1/new"):
            return redirect(status, "/v1/new" + asked.path)(asked)
        assert asked.headers["authorization"] == f"Bearer {mb.KEY}"
        return HONEST[sum(m["role"] == "assistant" for m in asked.messages)](asked)

    with serving(moved) as provider:
        assert mb.run(provider.url)[0]["terminal_state"] == "answered"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_change_the_request_is_an_error(status: int) -> None:
    with serving(redirect(status, "/v1/elsewhere")) as provider:
        _, trace, _, _ = mb.run(provider.url)
        assert [a.path for a in provider.asked] == ["/v1/chat/completions"]
    assert outcomes(trace) == ["redirected"]


def test_a_circle_of_redirects_ends() -> None:
    with serving(redirect(307, "/v1/chat/completions")) as provider:
        result, _, _, _ = mb.run(provider.url)
        assert len(provider.asked) <= 4 * 5
    assert result["reason"] == "provider_error"


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("/v1/b", True),
        ("https://a.example:443/v1", True),
        ("HTTPS://A.EXAMPLE/v1", True),
        ("http://a.example/v1", False),
        ("http://a.example:443/v1", False),
        ("https://a.example:8443/v1", False),
        ("https://b.a.example/v1", False),
        ("//b.example/v1", False),
        ("https://a.example@b.example/v1", False),
        ("https://a.example.b.example/v1", False),
        ("ftp://a.example/v1", False),
        ("https://[::1/v1", False),
        ("https://a.example:99999/v1", False),
    ],
)
def test_the_same_place_is_scheme_host_and_port(location: str, followed: bool) -> None:
    why = _elsewhere(httpx2.URL("https://a.example/v1/chat/completions"), location, 307)
    assert (why == "") is followed


# Hints


def test_a_refused_connection_is_told_as_one() -> None:
    """Nobody asked to wait, so the hint says nothing of waiting, however short the run's time is."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
    for limits in (None, Limits(wall_clock_s=0.4)):
        _, _, _, end = mb.run(url, limits=limits)
        assert "refused" in end.message
        assert "is the server running" in end.error.hint
        assert "asks to wait" not in end.error.hint


def test_a_wait_that_was_asked_for_is_told_as_one() -> None:
    with serving(error(429, "later", headers={"Retry-After": "86400"}), say()) as provider:
        _, _, _, end = mb.run(provider.url)
    assert "asks to wait 86400 s" in end.error.hint
