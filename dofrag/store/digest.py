"""One number for everything that is stored, whatever the order it was stored in."""

from __future__ import annotations

import hashlib
import sqlite3

from dofrag.domain.records import dataclass
from dofrag.store.rows import PUBLICATION_COLUMNS, PUBLICATION_TABLES


@dataclass(frozen=True, slots=True)
class CorpusDigest:
    """`value` covers each publication's data, the hash of its text and of its chunks, and its chunk ids."""

    value: str
    publications: int
    chunks: int


def corpus_digest(connection: sqlite3.Connection) -> CorpusDigest:
    """Streams over the publications. The sum of their hashes does not depend on order."""
    total = publications = chunks = 0
    for row in connection.execute(
        f"SELECT p.first_chunk, p.chunk_count, p.chunks_sha256, {PUBLICATION_COLUMNS} FROM {PUBLICATION_TABLES}"
    ):
        total += int.from_bytes(hashlib.sha256(repr(row).encode("utf-8", "backslashreplace")).digest(), "big")
        publications += 1
        chunks += row[1]
    return CorpusDigest(f"{total % 2**256:064x}", publications, chunks)
