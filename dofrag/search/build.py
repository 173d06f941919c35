"""Filling the search index from the store, of which it is a function: whatever was cut off can be redone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from dofrag.search.documents import ChunksAhead, IndexedChunk, with_terms
from dofrag.search.scoped import ScopedWriter
from dofrag.store.ranges import range_texts
from dofrag.store.rows import PUBLICATION_COLUMNS, PUBLICATION_TABLES, publication_from

Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called with chunks done and chunks in all."""

_TOGETHER = 64  # changes of the store that are taken over together
_ENOUGH = 500  # chunks that are taken over at once
_SELECT = f"SELECT p.id, p.first_chunk, p.chunk_count, {PUBLICATION_COLUMNS} FROM {PUBLICATION_TABLES}"


class Follower:
    """Builds the index of a store while the store is being filled, in a folder beside the final one: storing and
    indexing then share the processors with parsing. It takes what is `pending` off the store's hands."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._part = folder.with_name(folder.name + ".part")
        self._writer = ScopedWriter(self._part, create=True)
        # A build that was cut off took over some, into an index that is lost.
        connection.execute("INSERT OR IGNORE INTO pending SELECT id FROM publications")
        self._last = 0
        self._ahead: dict[tuple[str, str], ChunksAhead] = {}
        self._heard = self._chunks = 0  # changes, and their chunks, that are not taken over yet
        self.stale = False
        """Whether something changed after it was taken over. Then the index has to be built anew."""

    def hear(self, ahead: Mapping[tuple[str, str], ChunksAhead]) -> None:
        """Something was stored. `ahead`: what the index takes of it, worked out with the parsing, by source and code;
        whatever is not in it is read from the store. Taken over together with what comes next where it is little."""
        self._ahead |= ahead
        self._heard += 1
        self._chunks += sum(len(texts) for _, texts, _ in ahead.values())
        if self._heard >= _TOGETHER or self._chunks >= _ENOUGH:
            self.follow()

    def follow(self) -> None:
        """Take over what has been stored since the last time."""
        waiting = [row[0] for row in self._connection.execute("SELECT publication_id FROM pending ORDER BY 1")]
        for publication_id in waiting:
            row = self._connection.execute(f"{_SELECT} WHERE p.id = ?", [publication_id]).fetchone()
            if publication_id <= self._last or row is None:
                self.stale = True
            else:
                _add(self._connection, self._writer, row, self._ahead)
                self._last = publication_id
        self._connection.execute("DELETE FROM pending")
        self._ahead = {}
        self._heard = self._chunks = 0

    def finish(self, meanwhile: Callable[[], Result]) -> Result:
        """Complete the folder, or leave none when it is stale. While the engine writes, `meanwhile` is done here."""
        self.follow()
        with ThreadPoolExecutor(1) as beside:
            committed = beside.submit(self._writer.commit)
            done = meanwhile()
            committed.result()
        self._writer.close()
        if not self.stale:
            self._part.rename(self._folder)
        return done


def rebuild(connection: sqlite3.Connection, folder: Path, progress: Progress) -> int:
    """Build the index of the whole store in `folder`, which must not exist. Complete or absent: it is built beside
    itself and renamed. Returns the number of documents."""
    (total,) = connection.execute("SELECT coalesce(sum(chunk_count), 0) FROM publications").fetchone()
    part = folder.with_name(folder.name + ".part")
    writer = ScopedWriter(part, create=True)
    done = 0
    for row in connection.execute(f"{_SELECT} ORDER BY p.first_chunk"):
        done += _add(connection, writer, row)
        progress(done, total)
    writer.commit()
    writer.close()
    part.rename(folder)
    return done


def catch_up(connection: sqlite3.Connection, folder: Path, progress: Progress) -> int:
    """Take over what is `pending` in the store: deleted, then added as it now stands, so that doing it twice does no
    harm. Returns how many publications were taken over."""
    writer = ScopedWriter(folder, create=False)
    (total,) = connection.execute("SELECT count(*) FROM pending").fetchone()
    done = 0
    for (publication_id,) in connection.execute("SELECT publication_id FROM pending ORDER BY publication_id"):
        writer.delete(publication_id)
        row = connection.execute(f"{_SELECT} WHERE p.id = ?", [publication_id]).fetchone()
        if row is not None:
            _add(connection, writer, row)
        done += 1
        progress(done, total)
    writer.commit()
    writer.close()
    return done


def _add(
    connection: sqlite3.Connection,
    writer: ScopedWriter,
    row: tuple[Any, ...],
    ahead: Mapping[tuple[str, str], ChunksAhead] | None = None,
) -> int:
    publication_id, first, count = row[:3]
    publication = publication_from(row[3:])
    known = ahead.get((publication.source, publication.code)) if ahead else None
    chunks: Iterable[IndexedChunk]
    if known is not None:
        chunks = zip(range(first, first + count), *known, strict=True)
    else:
        chunks = with_terms(range_texts(connection, first, first + count - 1), writer.terms)
    return writer.add(publication, publication_id, chunks)
