"""Heading paths, kept as trees: each publication's headings once, in the order of its text.

A chunk names the innermost heading that it stands under, a heading names the one around it. Numbers count up within a
publication, so a heading always has a higher one than what is around it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from json.encoder import encode_basestring

from dofrag.store.faults import damaged

Path = tuple[str, ...]
_KNOWN = 20_000  # paths that are remembered, a few MB


def encode_path(path: Iterable[str]) -> str:
    """A heading path as hashed: `json.dumps(path, ensure_ascii=False)`, without the encoder it makes each time."""
    return _listed(map(encode_basestring, path))


def _listed(names: Iterable[str]) -> str:
    """Names that are JSON already, as a list."""
    return f"[{', '.join(names)}]"


class HeadingWriter:
    """Numbers the heading paths of one publication. What a path shares with the one before it is kept once, so
    nothing but that one is held in memory."""

    def __init__(self, connection: sqlite3.Connection, publication_id: int, *, new: bool = False) -> None:
        """`new`: the publication has none yet."""
        self._db = connection
        self._publication = publication_id
        self.first = 0 if new else _next_number(connection, publication_id)
        """The lowest number that it gives; the headings of an older state of the publication stand below it."""
        self._next = int(self.first)
        self._path: Path = ()
        self._numbers: list[int] = []
        self._names: list[str] = []  # as JSON
        self._rows: list[tuple[int, int, int | None, str]] = []

    @property
    def encoded(self) -> str:
        """The path numbered last as `encode_path` has it; what it shares with the one before is encoded once."""
        return _listed(self._names)

    def number(self, path: Path) -> int | None:
        """Of the path's innermost heading; None for a path without any."""
        shared = 0
        for name, before in zip(path, self._path, strict=False):
            if name != before:
                break
            shared += 1
        numbers, names = self._numbers, self._names
        del numbers[shared:], names[shared:]
        for name in path[shared:]:
            self._rows.append((self._publication, self._next, numbers[-1] if numbers else None, name))
            numbers.append(self._next)
            names.append(encode_basestring(name))
            self._next += 1
        self._path = path
        return numbers[-1] if numbers else None

    def flush(self) -> None:
        """Write what is new."""
        self._db.executemany("INSERT INTO headings VALUES (?, ?, ?, ?)", self._rows)
        self._rows.clear()


def _next_number(connection: sqlite3.Connection, publication_id: int) -> int:
    (number,) = connection.execute(
        "SELECT coalesce(max(number) + 1, 0) FROM headings WHERE publication_id = ?", [publication_id]
    ).fetchone()
    return int(number)


class HeadingReader:
    """Heading paths by publication and number. Remembers what it read: for a connection whose snapshot is pinned, or
    for one use."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._known: dict[tuple[int, int], Path] = {}

    def path(self, publication_id: int, number: int | None) -> Path:
        """Outer first. Raises IndexMismatch for headings that no writer wrote."""
        if number is None:
            return ()
        found = self._known.get((publication_id, number))
        return self._read(publication_id, number) if found is None else found

    def _read(self, publication_id: int, number: int) -> Path:
        if len(self._known) > _KNOWN:
            self._known.clear()
        inner: list[tuple[int, str]] = []
        path: Path | None = None
        at: int | None = number
        while at is not None and path is None:
            row = self._db.execute(
                "SELECT parent, name FROM headings WHERE publication_id = ? AND number = ?", [publication_id, at]
            ).fetchone()
            # An outer number that is not lower would lead in circles.
            if row is None or not isinstance(row[1], str) or not (row[0] is None or _lower(row[0], at)):
                raise damaged(f"heading {number!r} of publication {publication_id}", "it does not lead to the top")
            inner.append((at, row[1]))
            at = row[0]
            path = self._known.get((publication_id, at)) if at is not None else None
        path = path or ()
        for at, name in reversed(inner):
            path = (*path, name)
            self._known[publication_id, at] = path
        return path


def _lower(outer: object, inner: int) -> bool:
    return isinstance(outer, int) and outer < inner


def drop_headings(connection: sqlite3.Connection, publication_id: int, below: int | None = None) -> None:
    """Delete a publication's headings: all, or those with numbers below one."""
    connection.execute(
        "DELETE FROM headings WHERE publication_id = ?1 AND (?2 IS NULL OR number < ?2)", [publication_id, below]
    )
