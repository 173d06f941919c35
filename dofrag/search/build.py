"""Filling the search index from the store, of which it is a function: whatever was cut off can be redone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dofrag.search.bm25 import Bm25Writer
from dofrag.store.rows import PUBLICATION_COLUMNS, PUBLICATION_TABLES, publication_from

Progress = Callable[[int, int], None]
"""Called with chunks done and chunks in all."""

_SELECT = f"SELECT p.id, p.first_chunk, p.chunk_count, {PUBLICATION_COLUMNS} FROM {PUBLICATION_TABLES}"


def rebuild(connection: sqlite3.Connection, folder: Path, progress: Progress) -> int:
    """Build the index of the whole store in `folder`, which must not exist. Complete or absent: it is built beside
    itself and renamed. Returns the number of documents."""
    (total,) = connection.execute("SELECT coalesce(sum(chunk_count), 0) FROM publications").fetchone()
    part = folder.with_name(folder.name + ".part")
    writer = Bm25Writer(part, create=True)
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
    writer = Bm25Writer(folder, create=False)
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


def _add(connection: sqlite3.Connection, writer: Bm25Writer, row: tuple[Any, ...]) -> int:
    publication_id, first, count = row[:3]
    chunks = connection.execute(
        "SELECT id, headings, provision, text FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id",
        [first, first + count - 1],
    )
    return writer.add(publication_from(row[3:]), publication_id, chunks)
