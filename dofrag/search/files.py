"""Checksums of a search index's files. The engine writes one at each file's end and never looks at it again."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

_END = struct.Struct("<II")  # length of the footer, a number that marks it
_MAGIC = 1337
_FOOTER_MAX = 50_000
_PIECE = 1 << 20
_ENDINGS = (".idx", ".term", ".pos", ".store", ".fast", ".fieldnorm", ".del")


def damaged_files(folder: Path) -> Iterator[str]:
    """One line for each file of a search index, below `folder`, that is not as it was written. Streams."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in _ENDINGS and not _is_whole(path):
            yield f"file {path.relative_to(folder).as_posix()} is damaged"


def _is_whole(path: Path) -> bool:
    """The file is what its footer says: a CRC-32 of all that comes before."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        try:
            handle.seek(size - _END.size)
            length, magic = _END.unpack(handle.read(_END.size))
            body = size - _END.size - length
            if magic != _MAGIC or length > _FOOTER_MAX or body < 0:
                return False
            handle.seek(body)
            expected = int(json.loads(handle.read(length))["crc"])
        except (OSError, ValueError, KeyError, TypeError, struct.error):
            return False
        handle.seek(0)
        crc, left = 0, body
        while left:
            piece = handle.read(min(_PIECE, left))
            if not piece:
                return False
            crc = zlib.crc32(piece, crc)
            left -= len(piece)
    return crc == expected
