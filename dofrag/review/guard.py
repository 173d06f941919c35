"""What every request goes through: this machine only, this page only, nothing long; and headers that let nothing run.

A page of another site can make a browser send requests here. `Host` shows a name that was rebound to this machine,
`Origin` and the token show a form that is not ours.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_MAX = 32_768
"""Bytes of a form."""
PATH_MAX = 4_096
"""Characters of a path with its query."""
HOSTS = ("127.0.0.1", "localhost", "[::1]")
SESSION = "dof_session"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cache-Control": "no-store",
}
Refuse = Callable[[int, Headers], Response]


class Guard:
    """Wraps the page. `refuse` makes the answer to what is not let through. A request that is gets `scope["csrf"]`,
    the token for its forms, and, where it is a form, `scope["form"]`."""

    def __init__(self, app: ASGIApp, refuse: Refuse) -> None:
        self._app = app
        self._refuse = refuse
        self._secret = secrets.token_bytes(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket: the server closes what is not accepted
        headers = Headers(scope=scope)
        session = _cookie(headers, SESSION)
        fresh = "" if session else secrets.token_urlsafe(24)
        scope["csrf"] = self._token(session or fresh)
        guarded = _with_headers(send, fresh)
        status = _misplaced(scope, headers)
        if status is None and scope["method"] == "POST":
            status = await self._read_form(scope, headers, session, receive)
        if status is not None:
            await self._refuse(status, headers)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _token(self, session: str) -> str:
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()

    async def _read_form(self, scope: Scope, headers: Headers, session: str, receive: Receive) -> int | None:
        """Read the form; the status to refuse it with, if it is refused."""
        if headers.get("origin") != f"http://{headers['host']}":
            return 403
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/x-www-form-urlencoded":
            return 400
        body = await _body(receive)
        if body is None:
            return 413
        try:
            form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=40, errors="strict")
        except ValueError:
            return 400
        sent = form.pop("csrf", [""])[0]
        if not session or not hmac.compare_digest(sent.encode(), self._token(session).encode()):
            return 403
        scope["form"] = form
        return None


def _misplaced(scope: Scope, headers: Headers) -> int | None:
    name, colon, port = headers.get("host", "").rpartition(":")
    if not colon or port.endswith("]"):
        name, port = headers.get("host", ""), "80"
    if len(headers.getlist("host")) != 1 or name.lower() not in HOSTS or not (port.isascii() and port.isdigit()):
        return 421
    if scope["method"] not in ("GET", "HEAD", "POST"):
        return 405
    if len(scope["path"]) + len(scope["query_string"]) > PATH_MAX:
        return 413
    return None


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, None where it is too long; what is too long is not read."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None  # the other side went away
        part = message.get("body", b"")
        size += len(part)
        if size > BODY_MAX:
            return None
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def _cookie(headers: Headers, name: str) -> str:
    return cookies(headers).get(name, "")


def cookies(headers: Headers) -> dict[str, str]:
    """The cookies of a request; none of them where they are garbled."""
    try:
        return {k: m.value for k, m in SimpleCookie(headers.get("cookie", "")[:4_096]).items()}
    except CookieError:
        return {}


def _with_headers(send: Send, fresh: str) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if fresh:
                headers.append("Set-Cookie", f"{SESSION}={fresh}; HttpOnly; SameSite=Strict; Path=/")
        await send(message)

    return sending
