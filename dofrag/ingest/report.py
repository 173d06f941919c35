"""What an index holds and what the last command did to it: the numbers of `dof index status` and of every build."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import field
from typing import Any

from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`files = indexed + alternates + len(failed)`; what is ignored is no source. `bytes` are of the indexed files.
    `from_`/`to` are ISO dates of the first and last publication, over the scopes that were asked for. The second half
    counts this command's work; it is empty in a status."""

    files: int
    indexed: int
    alternates: int
    failed: tuple[tuple[str, str], ...]  # source, reason
    ignored: tuple[tuple[str, str], ...]  # file that is no source (a manifest, a catalogue), what it is
    publications: int
    chunks: int
    bytes: int
    from_: str | None
    to: str | None
    stamp: str
    scopes: dict[str, int]
    last_build_seconds: float | None
    alternate_of: tuple[tuple[str, str], ...] = ()  # alternate, canonical
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
            "ignored": [{"source": source, "reason": reason} for source, reason in self.ignored],
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
        for name in ("parsed", "chunks_written", "unchanged", "removed", "seconds"):
            value = getattr(self, name)
            if value is not None:
                values[name] = value
        return values


_STAYS = "'; what it said before stays in the index'"
_IN_SCOPES = "(:scopes IS NULL OR s.scope IN (SELECT value FROM json_each(:scopes)))"
_VISIBLE = f"""({_IN_SCOPES} AND (:scopes IS NULL OR NOT EXISTS (
    SELECT 1 FROM publications p JOIN sources o ON o.id = p.source_id
    WHERE o.rel IN (s.rel, s.canonical) AND p.scope NOT IN (SELECT value FROM json_each(:scopes)))))"""
# A file is as restricted as its folder and as whatever was cut out of it, or out of the file that stands for it.


def stored_report(store: sqlite3.Connection, *, stamp: str, scopes: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The arguments of a Report that the store knows. `scopes` None counts all of them; others neither
    count nor name what lies in a collection that is not among them."""
    asked = {"scopes": None if scopes is None else json.dumps(sorted(scopes))}
    by_status: dict[str, int] = dict(
        store.execute(f"SELECT s.status, count(*) FROM sources s WHERE {_VISIBLE} GROUP BY s.status", asked)
    )
    rows = store.execute(
        """SELECT scope, count(*), sum(chunk_count), min(published_on), max(published_on)
           FROM publications GROUP BY scope ORDER BY scope"""
    ).fetchall()
    seen = [row for row in rows if scopes is None or row[0] in scopes]
    (size,) = store.execute(
        f"SELECT coalesce(sum(s.bytes), 0) FROM sources s WHERE s.status = 'indexed' AND {_VISIBLE}",
        asked,
    ).fetchone()
    seconds = store.execute("SELECT value FROM meta WHERE key = 'seconds'").fetchone()
    return {
        "files": sum(by_status.values()),
        "indexed": by_status.get("indexed", 0),
        "alternates": by_status.get("alternate", 0),
        "failed": tuple(
            store.execute(
                f"""SELECT s.rel, s.reason || iif(s.chars > 0, {_STAYS}, '') FROM sources s
                    WHERE s.status = 'failed' AND {_VISIBLE} ORDER BY s.rel""",
                asked,
            )
        ),
        "ignored": tuple(
            store.execute(f"SELECT s.rel, s.reason FROM ignored s WHERE {_IN_SCOPES} ORDER BY s.rel", asked)
        ),
        "alternate_of": tuple(
            store.execute(
                f"""SELECT s.rel, s.canonical FROM sources s WHERE s.status = 'alternate' AND {_VISIBLE}
                    ORDER BY s.rel""",
                asked,
            )
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
