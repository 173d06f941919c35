"""What a store that is no longer trusted still has to say: which chunk ids were given, and to what.

A new generation is filled from the sources alone. Where the old store holds, row by row, the very chunks that the
sources give, they keep their ids; every other chunk gets one above the highest that was ever given.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from dofrag.errors import IndexMismatch, NewerIndex
from dofrag.store.headings import HeadingReader, encode_path
from dofrag.store.rows import CHUNK_KIND
from dofrag.store.schema import HEADINGS_ONCE, check_schema
from dofrag.store.tally import ChunkTally

_BATCH = 500  # chunks that are hashed together


class OldIds:
    """Reads a store as far as it can be read; whatever cannot be read of it is not known."""

    def __init__(self, path: Path, name: str = "") -> None:
        """Raises NewerIndex for a store that newer code wrote: it is no wreck."""
        self.path = path
        self.last = 0
        """The highest chunk id ever given, 0 when it cannot be told."""
        self._db: sqlite3.Connection | None = None
        self._column = "heading"
        if not path.is_file():
            return
        try:
            self._db = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True, isolation_level=None)
            check_schema(self._db, name or str(path.parent), allow_older=True)
            row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
            self.last = int(row[0]) if row is not None else 0
            (schema,) = self._db.execute("PRAGMA user_version").fetchone()
            self._column = "heading" if schema >= HEADINGS_ONCE else "headings"
        except NewerIndex:
            self.close()
            raise
        except (sqlite3.DatabaseError, IndexMismatch, ValueError, TypeError):
            self.last = 0

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    def source(self) -> str:
        """Name of the store that this one itself began from, "" for none."""
        try:
            row = self._db.execute("SELECT value FROM meta WHERE key = 'salvage'").fetchone() if self._db else None
        except sqlite3.DatabaseError:
            return ""
        return str(row[0]) if row is not None else ""

    def place(self, new: sqlite3.Connection, code: str, before: int, tally: ChunkTally) -> int:
        """Chunks of a publication were stored behind id `before` of a new store: move them to the ids that they have
        here, where they are the same and those are free. Returns the first of their ids."""
        old = self.first_chunk(code, tally.count, tally.chunks_sha256)
        if old is None or old + tally.count > before + 1:
            return before + 1
        window = [old, old + tally.count - 1]
        if new.execute("SELECT 1 FROM chunks WHERE id BETWEEN ? AND ? LIMIT 1", window).fetchone() is not None:
            return before + 1
        new.execute("UPDATE chunks SET id = id + ? WHERE id > ?", [old - before - 1, before])
        new.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'chunks'", [before])
        return old

    def first_chunk(self, code: str, count: int, chunks_sha256: str) -> int | None:
        """The first of the consecutive ids that a publication's chunks had, when they were exactly these."""
        if self._db is None or not self.last:
            return None
        try:
            row = self._db.execute("SELECT first_chunk FROM publications WHERE code = ?", [code]).fetchone()
            if row is None:
                return None
            first = int(row[0])
            return first if 0 < first <= self.last - count + 1 and self._holds(first, count, chunks_sha256) else None
        except (sqlite3.DatabaseError, IndexMismatch, ValueError, TypeError, AttributeError):
            return None  # that part of the old store cannot be read: its ids are not used again

    def _holds(self, first: int, count: int, chunks_sha256: str) -> bool:
        assert self._db is not None
        tally = ChunkTally("")
        headings = HeadingReader(self._db)
        rows = self._db.execute(
            f"""SELECT publication_id, ordinal, start, "end", {self._column}, provision, {CHUNK_KIND}, text, NULL
                FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id""",
            [first, first + count - 1],
        )
        while batch := rows.fetchmany(_BATCH):
            if self._column == "heading":
                batch = [(*row[:4], encode_path(headings.path(row[0], row[4])), *row[5:]) for row in batch]
            tally.take(batch)
        tally.close()
        return tally.count == count and tally.chunks_sha256 == chunks_sha256
