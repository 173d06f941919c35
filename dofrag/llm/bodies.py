"""The body of any response, read whole under three bounds: bytes as they come, bytes as they unpack, and the clock.

It is read here before the client sees it, success, error or redirect alike: a client reads the body of an error
without any bound, unpacks what is packed several times over, and decodes it by whatever the header names.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

from dofrag.llm.faults import FaultKind, ProviderFault

REPLY_MAX = 4 * 1024 * 1024
"""Bytes of one reply at most, unpacked."""
ERROR_MAX = 64 * 1024
"""Bytes of an error's body that are read: it says what is wrong at its beginning. The rest is left unread."""
ERROR_S = 5.0
"""Seconds that an error's body may take: its status says enough."""
_PACKED = frozenset(("gzip", "x-gzip", "deflate"))


def read_body(stream: Iterable[bytes], encoding: str, status: int, end: float, clock: Callable[[], float]) -> bytes:
    """The body as plain bytes. `encoding` is the `Content-Encoding`, "" where there is none; `end` is a time of
    `clock` after which nothing more is read.

    Raises ProviderFault for the reply that is too long, too slow, or packed in another way; what is no reply is cut
    there.
    """
    good = 200 <= status < 300
    most, end = (REPLY_MAX, end) if good else (ERROR_MAX, min(end, clock() + ERROR_S))
    try:
        unpack = _unpacker(encoding)
        return _joined(stream, unpack, most, end, clock, whole=good)
    except zlib.error:
        fault = ProviderFault(FaultKind.INVALID_BODY, "the reply does not unpack")
    except ProviderFault as error:
        fault = error
    if good:
        raise fault
    return b""  # the status tells more than that its body cannot be read


def _joined(
    stream: Iterable[bytes],
    unpack: Callable[[bytes, int], bytes],
    most: int,
    end: float,
    clock: Callable[[], float],
    *,
    whole: bool,
) -> bytes:
    parts: list[bytes] = []
    size = 0
    came = 0
    for packed in stream:
        came += len(packed)
        part = unpack(packed, most - size + 1)
        size += len(part)
        parts.append(part)
        if size > most or came > most:
            if whole:
                raise ProviderFault(FaultKind.REPLY_TOO_LARGE, f"the reply is longer than {most:,} bytes")
            break
        if clock() >= end:
            if whole:
                raise ProviderFault(FaultKind.TIMEOUT, "no complete reply in time")
            break
    return b"".join(parts)[:most]


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function from the next bytes, and how many may come of them, to plain bytes."""
    named = [one.strip().lower() for one in encoding.split(",")]
    packed = [one for one in named if one not in ("", "identity")]
    if not packed:
        return lambda part, most: part
    if len(packed) > 1 or packed[0] not in _PACKED:
        raise ProviderFault(FaultKind.INVALID_BODY, "the reply is packed in a way that was not asked for")
    return _Inflate().more


class _Inflate:
    """gzip and both kinds of deflate. Bytes beyond what is asked for stay packed: nobody unpacks a whole bomb."""

    def __init__(self) -> None:
        self._zip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        self._first = True

    def more(self, part: bytes, most: int) -> bytes:
        part = self._zip.unconsumed_tail + part
        try:
            out = self._zip.decompress(part, most)
        except zlib.error:
            if not self._first:
                raise
            self._zip = zlib.decompressobj(wbits=-zlib.MAX_WBITS)  # deflate without a header, as some send it
            out = self._zip.decompress(part, most)
        self._first = False
        return out
