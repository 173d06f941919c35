"""The server of the page: on this machine only."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from dofrag.errors import UsageError

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes any. Raises UsageError for one that is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError as error:
        found.close()
        raise UsageError(f"port {port} cannot be used: {error.strerror}", hint="--port 0 takes a free one") from None
    return found


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server with limits, to be run on a socket of `listen`."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        limit_concurrency=64,
        timeout_keep_alive=15,
        h11_max_incomplete_event_size=32_768,
        proxy_headers=False,
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `ready` gets the address."""
    with listen(port) as found:
        ready(f"http://{HOST}:{found.getsockname()[1]}/")
        make_server(app).run(sockets=[found])
