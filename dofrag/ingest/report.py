"""What an index holds and what the last command did to it: the numbers of `dof index status` and of every build."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`files = indexed + alternates + len(failed)`. `bytes` are of the indexed files. `from_`/`to` are ISO dates of
    the first and last publication, over the scopes that were asked for. The second half counts this command's work;
    it is empty in a status."""

    files: int
    indexed: int
    alternates: int
    failed: tuple[tuple[str, str], ...]  # source, reason
    publications: int
    chunks: int
    bytes: int
    from_: str | None
    to: str | None
    stamp: str
    scopes: dict[str, int]
    last_build_seconds: float | None
    alternate_of: tuple[tuple[str, str], ...] = ()  # alternate, canonical
    ignored: int | None = None
    parsed: int | None = None  # files read and cut in this command
    chunks_written: int | None = None
    unchanged: int | None = None
    removed: int | None = None
    seconds: float | None = None
    problems: tuple[str, ...] = field(default=())  # what does not add up; empty is good

    def as_json(self) -> dict[str, Any]:
        values: dict[str, Any] = {
            "files": self.files,
            "indexed": self.indexed,
            "alternates": self.alternates,
            "failed": [{"source": source, "reason": reason} for source, reason in self.failed],
            "publications": self.publications,
            "chunks": self.chunks,
            "bytes": self.bytes,
            "from": self.from_,
            "to": self.to,
            "stamp": self.stamp,
            "scopes": dict(sorted(self.scopes.items())),
            "last_build_seconds": self.last_build_seconds,
            "alternate_of": [{"source": source, "canonical": canonical} for source, canonical in self.alternate_of],
            "problems": list(self.problems),
        }
        for name in ("ignored", "parsed", "chunks_written", "unchanged", "removed", "seconds"):
            value = getattr(self, name)
            if value is not None:
                values[name] = value
        return values


def stored_report(store: sqlite3.Connection, *, stamp: str, scopes: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The arguments of a Report that the store knows. `scopes` None counts all of them."""
    by_status: dict[str, int] = dict(store.execute("SELECT status, count(*) FROM sources GROUP BY status"))
    rows = store.execute(
        """SELECT scope, count(*), sum(chunk_count), min(published_on), max(published_on)
           FROM publications GROUP BY scope ORDER BY scope"""
    ).fetchall()
    seen = [row for row in rows if scopes is None or row[0] in scopes]
    (size,) = store.execute("SELECT coalesce(sum(bytes), 0) FROM sources WHERE status = 'indexed'").fetchone()
    seconds = store.execute("SELECT value FROM meta WHERE key = 'seconds'").fetchone()
    return {
        "files": sum(by_status.values()),
        "indexed": by_status.get("indexed", 0),
        "alternates": by_status.get("alternate", 0),
        "failed": tuple(store.execute("SELECT rel, reason FROM sources WHERE status = 'failed' ORDER BY rel")),
        "alternate_of": tuple(
            store.execute("SELECT rel, canonical FROM sources WHERE status = 'alternate' ORDER BY rel")
        ),
        "publications": sum(row[1] for row in seen),
        "chunks": sum(row[2] for row in seen),
        "bytes": size,
        "from_": min((row[3] for row in seen), default=None),
        "to": max((row[4] for row in seen), default=None),
        "stamp": stamp,
        "scopes": {row[0]: row[1] for row in rows if scopes is None or row[0] in scopes},
        "last_build_seconds": None if seconds is None else float(seconds[0]),
    }
