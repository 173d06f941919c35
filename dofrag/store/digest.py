"""One number for everything that is stored, whatever the order it was stored in."""

from __future__ import annotations

import hashlib
import sqlite3

from dofrag.domain.records import dataclass
from dofrag.store.rows import PUBLICATION_COLUMNS, PUBLICATION_TABLES

_ROWS = f"""SELECT p.first_chunk, p.chunk_count, lower(hex(p.chunks_sha256)), {PUBLICATION_COLUMNS}
    FROM {PUBLICATION_TABLES}"""


@dataclass(frozen=True, slots=True)
class CorpusDigest:
    """`value` covers each publication's data, the hash of its text and of its chunks, and its chunk ids."""

    value: str
    publications: int
    chunks: int


def corpus_digest(connection: sqlite3.Connection) -> CorpusDigest:
    """Streams over the publications. The sum of their hashes does not depend on order."""
    total = publications = chunks = 0
    for row in connection.execute(_ROWS):
        total += _number(row)
        publications += 1
        chunks += row[1]
    return CorpusDigest(_text(total), publications, chunks)


RUNNING = "corpus_digest_now"
"""In `meta` while an update is under way: the digest as of the last change, kept in the same transaction."""


def shift(connection: sqlite3.Connection, publication_id: int, sign: int) -> None:
    """Take a publication into the running digest (+1), or out of it (-1) before it changes, so that an update need
    not read a whole corpus. Call it before the publication is noted as pending: where others are, and no digest runs,
    the store's digest is not of what it holds, and none is begun."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", [RUNNING]).fetchone()
    if found is None:
        if connection.execute("SELECT 1 FROM pending LIMIT 1").fetchone() is not None:
            return
        found = connection.execute("SELECT value FROM meta WHERE key = 'corpus_digest'").fetchone()
        if found is None:
            return
    row = connection.execute(f"{_ROWS} WHERE p.id = ?", [publication_id]).fetchone()
    total = int(found[0], 16) + (sign * _number(row) if row is not None else 0)
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [RUNNING, _text(total)])


def running_digest(connection: sqlite3.Connection) -> str:
    """The digest of what is stored now: the running one, worked out from all where there is none."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", [RUNNING]).fetchone()
    return str(found[0]) if found is not None else corpus_digest(connection).value


def _number(row: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.sha256(repr(row).encode("utf-8", "backslashreplace")).digest(), "big")


def _text(total: int) -> str:
    return f"{total % 2**256:064x}"
