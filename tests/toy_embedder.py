"""A deterministic embedding model: the sum of a fixed direction a word. In this process, or behind a small server on
this machine that speaks the OpenAI embeddings API and misbehaves as it is told."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from dofrag.search.vectors.interface import Card, Role
from dofrag.text.fold import fold

SYNONYMS = {"coche": "automovil", "coches": "automovil", "automoviles": "automovil", "carro": "automovil"}
"""What the model knows and words do not."""


def direction(word: str, dimension: int) -> list[float]:
    digest = b"".join(hashlib.sha256(f"{i} {word}".encode()).digest() for i in range(-(-dimension // 32)))
    return [byte / 127.5 - 1.0 for byte in digest[:dimension]]


def vector(text: str, dimension: int) -> list[float]:
    total = [0.0] * dimension
    for word in fold(text).split():
        word = word.strip(".,:;¿?()«»")
        total = [a + b for a, b in zip(total, direction(SYNONYMS.get(word, word), dimension), strict=True)]
    length = math.sqrt(math.fsum(v * v for v in total)) or 1.0
    return [v / length for v in total]


class ToyEmbedder:
    """Implements `Embedder`. `stop_after`: texts after which it behaves like Ctrl-C."""

    def __init__(
        self, dimension: int = 48, name: str = "toy", *, prefixes: tuple[str, str] = ("", ""), salt: str = "",
        stop_after: int | None = None,
    ) -> None:  # fmt: skip
        self.card = Card(
            name=name, revision="1", dimension=dimension, query_prefix=prefixes[0], passage_prefix=prefixes[1]
        )
        self._salt = salt
        self._stop_after = stop_after
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        if role is Role.PASSAGE:
            self.texts += texts
            if self._stop_after is not None and len(self.texts) > self._stop_after:
                raise KeyboardInterrupt
        return [vector(self._salt + self.card.prefix(role) + text, self.card.dimension) for text in texts]

    def close(self) -> None:
        pass


@dataclass
class Served:
    """What a server was asked, and where it is."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)


Answer = Callable[[dict[str, Any], int], tuple[int, Any]]
"""From a request's body and its number to status and reply; a reply that is bytes is sent as it stands."""


def fine(body: dict[str, Any], _: int) -> tuple[int, Any]:
    rows = [{"index": i, "embedding": vector(t, 48)} for i, t in enumerate(body["input"])]
    return 200, {"data": list(reversed(rows)), "model": body["model"]}


@contextmanager
def served(answer: Answer = fine) -> Iterator[Served]:
    state = Served("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.bodies.append(body)
            status, reply = answer(body, len(state.bodies))
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
