"""Which chunks there are, as ranges of ids: the chunks of a publication have consecutive ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from dofrag.domain.corpus import Filters
from dofrag.store.headings import HeadingReader
from dofrag.store.rows import where


def visible_ranges(store: sqlite3.Connection, filters: Filters) -> list[tuple[int, int]]:
    """First chunk and number of chunks of every publication that exists under these filters, ascending."""
    visible, params = where(filters)
    return store.execute(
        f"SELECT p.first_chunk, p.chunk_count FROM publications p WHERE {visible} ORDER BY p.first_chunk", params
    ).fetchall()


def stored_ranges(store: sqlite3.Connection) -> Iterator[tuple[int, int, str, str, str, str]]:
    """Of every publication, in order of its chunks: first chunk, number of chunks, scope, code, title, digest of its
    chunks."""
    yield from store.execute(
        "SELECT first_chunk, chunk_count, scope, code, title, lower(hex(chunks_sha256)) FROM publications ORDER BY 1"
    )


def range_texts(
    store: sqlite3.Connection, first: int, last: int
) -> Iterator[tuple[int, tuple[str, ...], str | None, str]]:
    """Id, heading path, provision and text of the chunks from `first` to `last`, streamed."""
    headings = HeadingReader(store)
    for chunk_id, publication_id, heading, provision, text in store.execute(
        """SELECT id, publication_id, heading, provision, text FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id""",
        [first, last],
    ):
        yield chunk_id, headings.path(publication_id, heading), provision, text
