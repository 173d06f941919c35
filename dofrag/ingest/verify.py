"""Proof that an index is sound, streamed. Nothing is taken on trust but the hashes written with the texts."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import Filters, Kind
from dofrag.errors import DofError
from dofrag.search.files import damaged_files
from dofrag.search.open import open_index
from dofrag.search.scoped import ScopedIndex
from dofrag.store.digest import corpus_digest

Progress = Callable[[str, int, int], None]
_WINDOW = 20_000  # chunk ids compared with the search index at a time
REPAIR = "run `dof index build --fresh PATH… --index DIR` with the folders that it was built from"
_MAX_FAULTS = 1000  # a wreck need not be described to the last plank


@dataclass(slots=True)
class Verification:
    """What was looked at, and every fault found, each naming the publication or file it is in."""

    sources: int = 0
    publications: int = 0
    chunks: int = 0
    documents: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "ok": not self.faults,
            "sources": self.sources,
            "publications": self.publications,
            "chunks": self.chunks,
            "documents": self.documents,
            "seconds": round(self.seconds, 3),
            "faults": list(self.faults),
            "hint": REPAIR if self.faults else None,
        }

    def fault(self, text: str) -> None:
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(text)


def verify(folder: Path, progress: Progress) -> Verification:
    """Raises StoreMissing and IndexMismatch as `open_index`; damage inside the store is a fault."""
    started = time.monotonic()
    found = Verification()
    with open_index(folder) as index:
        store = index.reader.connection
        try:
            _verify_sources(store, found)
            _verify_publications(store, found, progress)
            _verify_documents(store, index.backend, found)
            if corpus_digest(store).value != index.parts["corpus"]:
                found.fault("the stamp does not fit what is stored")
        except (sqlite3.DatabaseError, UnicodeDecodeError, ValueError, DofError) as error:
            found.fault(f"the store is damaged: {error}")
    found.seconds = time.monotonic() - started
    return found


def _verify_sources(store: sqlite3.Connection, found: Verification) -> None:
    """Publications tile their files: each begins where the one before ends, the last ends with the file."""
    for rel, status, chars, removed, canonical in store.execute(
        "SELECT rel, status, chars, chars_removed, canonical FROM sources ORDER BY id"
    ):
        found.sources += 1
        spans = store.execute(
            """SELECT p.code, p.span_start, p.span_end FROM publications p JOIN sources s ON s.id = p.source_id
               WHERE s.rel = ? ORDER BY p.span_start""",
            [rel],
        )
        at = taken = 0
        for code, start, end in spans:
            if start < at or (start > at and not removed) or end < start:
                found.fault(f"file {rel}: publication {code} does not begin where the one before it ends")
            at = end
            taken += end - start
        if taken + removed != chars:
            found.fault(f"file {rel}: its publications have {taken + removed} characters, the file has {chars}")
        if status == "indexed" and not taken:
            found.fault(f"file {rel}: indexed, but nothing of it is stored")
        if status == "alternate" and not _is_indexed(store, canonical):
            found.fault(f"file {rel}: alternate of {canonical}, which is not indexed")


def _is_indexed(store: sqlite3.Connection, rel: str) -> bool:
    """Or failed, with its last good text still there."""
    row = store.execute("SELECT 1 FROM sources WHERE rel = ? AND (status = 'indexed' OR chars > 0)", [rel]).fetchone()
    return row is not None


def _verify_publications(store: sqlite3.Connection, found: Verification, progress: Progress) -> None:
    """Chunks tile each text, and joined they have the hash on record. One pass over publications, by chunk id."""
    (total,) = store.execute("SELECT count(*) FROM publications").fetchone()
    for row in store.execute(
        """SELECT id, code, first_chunk, chunk_count, span_end - span_start, lower(hex(sha256)) FROM publications
           ORDER BY first_chunk"""
    ):
        _verify_publication(store, found, *row)
        found.publications += 1
        progress("verify", found.publications, total)
    (stored,) = store.execute("SELECT count(*) FROM chunks").fetchone()
    if stored != found.chunks:
        found.fault(f"{stored} chunks are stored, {found.chunks} belong to publications")


def _verify_publication(
    store: sqlite3.Connection,
    found: Verification,
    publication_id: int,
    code: str,
    first: int,
    count: int,
    chars: int,
    sha256: str,
) -> None:
    digest = hashlib.sha256()
    at = expected = 0
    rows = store.execute(
        'SELECT publication_id, ordinal, start, "end", text FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id',
        [first, first + count - 1],
    )
    for owner, ordinal, start, end, text in rows:
        if owner != publication_id or ordinal != expected or start != at or end - start != len(text):
            found.fault(f"publication {code}: chunk {ordinal} does not continue its text at character {at}")
            return
        digest.update(text.encode())
        at = end
        expected += 1
    found.chunks += expected
    if expected != count:
        found.fault(f"publication {code}: {count} chunks on record, {expected} stored")
    if at != chars:
        found.fault(f"publication {code}: its chunks have {at} characters, it has {chars}")
    if digest.hexdigest() != sha256:
        found.fault(f"publication {code}: its text is not the one that was stored (SHA-256 differs)")


def _verify_documents(store: sqlite3.Connection, backend: ScopedIndex, found: Verification) -> None:
    """The search index holds exactly the chunks of the store, id by id."""
    found.documents = backend.documents
    for fault in damaged_files(backend.folder):
        found.fault(f"search index: {fault}")
    if found.documents != found.chunks:
        found.fault(f"the store holds {found.chunks} chunks, the search index {found.documents} documents")
    (last,) = store.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()
    for low in range(1, last + 1, _WINDOW):
        high = min(low + _WINDOW - 1, last)
        stored = [row[0] for row in store.execute("SELECT id FROM chunks WHERE id BETWEEN ? AND ?", [low, high])]
        if backend.ids_between(low, high) != sorted(stored):
            found.fault(f"store and search index differ in chunks {low} to {high}")
    _probe(store, backend, found)


def _probe(store: sqlite3.Connection, backend: ScopedIndex, found: Verification) -> None:
    """A search for a publication of each collection by its title finds it, the whole way from words to code."""
    for code, title, scope in store.execute(
        "SELECT code, title, scope FROM publications WHERE id IN (SELECT min(id) FROM publications GROUP BY scope)"
    ).fetchall():
        asked = Filters(as_of=date.max, kinds=tuple(Kind), scopes=frozenset({scope}), codes=(code,))
        hits = backend.search_publications(title, asked, limit=1).hits
        if any(hit.code != code for hit in hits):
            found.fault(f"publication {code}: a search for its title finds another one")
