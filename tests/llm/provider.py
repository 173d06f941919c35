"""A small provider on this machine: speaks Chat Completions and Responses, and misbehaves as it is told.

A script is a list of behaviours, one a request; the last one repeats. A behaviour gets the request and gives an
`Answer`, or acts on the socket itself.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def responses_api(self) -> bool:
        return self.path.endswith("/responses")

    @property
    def has_tools(self) -> bool:
        return bool(self.body.get("tools"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages") or self.body.get("input") or []


@dataclass(frozen=True)
class Answer:
    """What goes back. `raw` is sent as it stands; `drip` seconds between bytes; `cut` ends it before its length."""

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    cut: bool = False
    hang: float = 0.0


Behaviour = Callable[[Asked], Answer]


def say(
    *calls: tuple[str, Any],
    text: str | None = None,
    finish: str | None = None,
    usage: Any = (1_000, 50),
    extra: dict[str, Any] | None = None,
) -> Behaviour:
    """A turn: function calls where the request offers functions, one JSON action in the text where it does not.
    Arguments that are text already are sent as they are."""

    def answer(asked: Asked) -> Answer:
        written = [(name, a if isinstance(a, str) else json.dumps(a, ensure_ascii=False)) for name, a in calls]
        if asked.responses_api:
            return Answer(body=_responses(asked, written, text, finish, usage, extra or {}))
        return Answer(body=_chat(asked, written, text, finish, usage, extra or {}))

    return answer


def as_text(calls: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f'{{"action": "{name}", "arguments": {arguments}}}' for name, arguments in calls)


def _chat(asked: Asked, calls: list[tuple[str, str]], text, finish, usage, extra) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, **extra}
    if calls and asked.has_tools:
        message["tool_calls"] = [
            {"id": f"call_{n}_{len(asked.messages)}", "type": "function", "function": {"name": name, "arguments": a}}
            for n, (name, a) in enumerate(calls)
        ]
    elif calls:
        message["content"] = (text or "") + as_text(calls)
    body = {
        "id": "c",
        "object": "chat.completion",
        "model": asked.body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": finish or ("tool_calls" if "tool_calls" in message else "stop"),
            }
        ],
    }
    if usage is not None:
        body["usage"] = (
            usage if isinstance(usage, dict) else {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        )
    return body


def _responses(asked: Asked, calls: list[tuple[str, str]], text, finish, usage, extra) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if calls and not asked.has_tools:
        text = (text or "") + as_text(calls)
        calls = []
    if text is not None:
        output.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
    output += [
        {"type": "function_call", "call_id": f"call_{n}_{len(asked.messages)}", "name": name, "arguments": a}
        for n, (name, a) in enumerate(calls)
    ]
    body = {"id": "r", "object": "response", "model": asked.body["model"], "status": "completed", "output": output}
    if finish == "length":
        body |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    if usage is not None:
        body["usage"] = usage if isinstance(usage, dict) else {"input_tokens": usage[0], "output_tokens": usage[1]}
    return body | extra


def error(
    status: int, message: str = "no", code: str | None = None, headers: dict[str, str] | None = None
) -> Behaviour:
    body = {"error": {"message": message, "code": code, "type": "error", "param": None}}
    return lambda asked: Answer(status=status, body=body, headers=headers or {})


class Provider:
    """A running server. `asked` has every request in order."""

    def __init__(self, script: Iterable[Behaviour]) -> None:
        self.script = list(script)
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                self._send(
                    provider.answer(
                        Asked(self.path, {}, {name.lower(): value for name, value in self.headers.items()})
                    )
                )

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self._send(
                    provider.answer(
                        Asked(
                            self.path, json.loads(raw), {name.lower(): value for name, value in self.headers.items()}
                        )
                    )
                )

            def _send(self, answer: Answer) -> None:
                payload = answer.raw if answer.raw is not None else json.dumps(answer.body).encode()
                if answer.hang:
                    provider.stopping.wait(answer.hang)
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(payload)))
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    if answer.cut:
                        self.wfile.write(payload[: len(payload) // 2])
                        self.wfile.flush()
                        # A reset, not an orderly end.
                        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        self.connection.close()
                        self.close_connection = True
                    elif answer.drip:
                        for byte in payload:
                            if provider.stopping.wait(answer.drip):
                                break
                            self.wfile.write(bytes([byte]))
                            self.wfile.flush()
                    else:
                        self.wfile.write(payload)
                except OSError:
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients that go away in the middle are what some tests are about

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def answer(self, asked: Asked) -> Answer:
        with self._lock:
            behaviour = self.script[min(len(self.asked), len(self.script) - 1)]
            self.asked.append(asked)
        return behaviour(asked)

    def close(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextmanager
def serving(*script: Behaviour) -> Iterator[Provider]:
    provider = Provider(script)
    try:
        yield provider
    finally:
        provider.close()


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
