"""Reads. A connection is opened read-only and pins what it sees: a writer does not change a run's corpus."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from urllib.parse import quote

from dofrag.domain.corpus import PUBLIC, Chunk, Filters, Passage, Publication
from dofrag.errors import CorpusError, IndexMismatch, StoreMissing
from dofrag.store.faults import guarded, not_allowed, refusal
from dofrag.store.headings import HeadingReader
from dofrag.store.interface import Candidate, Listing, OutlineEntry
from dofrag.store.rows import (
    CHUNK_COLUMNS,
    PUBLICATION_COLUMNS,
    PUBLICATION_TABLES,
    array,
    candidate_from,
    chunk_from,
    publication_from,
    where,
)
from dofrag.store.schema import REBUILD, check_schema

_MAX_ID = 2**63 - 1
_KNOWN = 2_000  # publications that are remembered, about 3 MB
_FIRST_WORDS = 80  # characters of a chunk that its outline entry shows
_MAPPED = 2**40  # bytes of a store that may be mapped; SQLite takes less where it was built for less
_SPACE = re.compile(r"\s+")


class StoreReader:
    """Implements `CorpusReader` over one SQLite file. Close it, or use it in a `with`."""

    def __init__(self, path: Path, *, name: str | None = None) -> None:
        """Raises StoreMissing when there is no such file, CorpusError when it may not be read and IndexMismatch when
        other code wrote it."""
        self.name = name or str(path.parent)
        try:
            found = path.is_file()
        except PermissionError as error:
            raise not_allowed(self.name) from error
        if found and not os.access(path, os.R_OK):
            raise not_allowed(self.name)
        if not found:
            raise StoreMissing(f"no index at {self.name!r}", hint="build one: `dof index build PATH… --index DIR`")
        self._db = _connect(path, self.name)
        self._known: dict[int, Publication] = {}
        self._headings = HeadingReader(self._db)
        try:
            check_schema(self._db, self.name)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> StoreReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """For proofs and reports about the whole store; a run reads through the methods, under its filters."""
        return self._db

    @guarded
    def meta(self) -> dict[str, str]:
        """What the writer noted: chunker, profile, state, digest of the corpus, time of the last build."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    @guarded
    def counts(self) -> tuple[int, int]:
        """Publications and chunks stored."""
        row = self._db.execute("SELECT count(*), coalesce(sum(chunk_count), 0) FROM publications").fetchone()
        return int(row[0]), int(row[1])

    @guarded
    def dates(self, scopes: frozenset[str]) -> tuple[date, date] | None:
        rows = self._db.execute(
            """SELECT (SELECT min(published_on) FROM publications WHERE scope = j.value),
                      (SELECT max(published_on) FROM publications WHERE scope = j.value) FROM json_each(?) j""",
            [array(sorted(scopes))],
        ).fetchall()
        found = [row for row in rows if row[0] is not None]
        if not found:
            return None
        return date.fromisoformat(min(r[0] for r in found)), date.fromisoformat(max(r[1] for r in found))

    @guarded
    def restricted_scopes(self) -> frozenset[str]:
        # Steps from one scope to the next along the index instead of reading every row.
        rows = self._db.execute(
            """WITH RECURSIVE steps (scope) AS (
                   SELECT min(scope) FROM publications
                   UNION ALL
                   SELECT (SELECT min(scope) FROM publications WHERE scope > steps.scope) FROM steps
                   WHERE steps.scope IS NOT NULL)
               SELECT scope FROM steps WHERE scope IS NOT NULL AND scope <> ?""",
            [PUBLIC],
        )
        return frozenset(row[0] for row in rows)

    def publication(self, code: str, filters: Filters) -> Publication | None:
        return self.publications([code], filters).get(code)

    @guarded
    def publications(self, codes: Sequence[str], filters: Filters) -> dict[str, Publication]:
        """Those that exist under the filters, in the order asked for."""
        visible, params = where(filters)
        rows = self._db.execute(
            f"""SELECT {PUBLICATION_COLUMNS} FROM json_each(?) j CROSS JOIN publications p ON p.code = j.value
                JOIN issuers i ON i.id = p.issuer_id JOIN sources s ON s.id = p.source_id WHERE {visible}""",
            [array(dict.fromkeys(codes)), *params],
        )
        found = {row[0]: publication_from(row) for row in rows}
        return {code: found[code] for code in dict.fromkeys(codes) if code in found}

    @guarded
    def codes_of_source(self, rel: str) -> list[str]:
        """Codes of the publications that a file holds, in its order; `rel` is its path as ingested. Of an alternate,
        those of the file that was indexed for it. For evaluation: no filter applies."""
        rows = self._db.execute(
            """SELECT p.code FROM sources named JOIN sources s ON s.rel = coalesce(named.canonical, named.rel)
               JOIN publications p ON p.source_id = s.id WHERE named.rel = ? ORDER BY p.span_start, p.code""",
            [rel],
        )
        return [str(row[0]) for row in rows]

    @guarded
    def list_publications(self, filters: Filters, *, limit: int, offset: int = 0) -> Listing:
        visible, params = where(filters)
        (total,) = self._db.execute(f"SELECT count(*) FROM publications p WHERE {visible}", params).fetchone()
        rows = self._db.execute(
            f"""SELECT {PUBLICATION_COLUMNS} FROM {PUBLICATION_TABLES} WHERE {visible}
                ORDER BY p.published_on, p.edition, p.position, p.code LIMIT ? OFFSET ?""",
            [*params, max(0, limit), max(0, offset)],
        )
        return Listing(tuple(publication_from(row) for row in rows), total)

    @guarded
    def passages(self, chunk_ids: Sequence[int], filters: Filters) -> list[Passage]:
        ids = [i for i in dict.fromkeys(chunk_ids) if 0 < i <= _MAX_ID]
        rows = self._db.execute(
            f"SELECT {CHUNK_COLUMNS} FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value",
            [array(ids)],
        ).fetchall()
        publications = self._visible({row[8] for row in rows}, filters)
        found = {
            row[0]: Passage(chunk_from(row, publication.code, self._headings), publication)
            for row in rows
            if (publication := publications.get(row[8])) is not None
        }
        return [found[i] for i in ids if i in found]

    @guarded
    def candidates(self, chunk_ids: Sequence[int], filters: Filters) -> list[Candidate]:
        ids = [i for i in dict.fromkeys(chunk_ids) if 0 < i <= _MAX_ID]
        visible, params = where(filters)
        rows = self._db.execute(
            f"""SELECT c.id, p.code, p.kind, p.title, c.text FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value
                CROSS JOIN publications p ON p.id = c.publication_id WHERE {visible}""",
            [array(ids), *params],
        )
        found = {row[0]: candidate_from(row) for row in rows}
        return [found[i] for i in ids if i in found]

    def _visible(self, numbers: Iterable[int], filters: Filters) -> dict[int, Publication]:
        """Those of the publications, by the store's number, that exist under the filters. The snapshot is pinned, so
        what was read once stays true; whether it may be seen is asked each time."""
        visible, params = where(filters)
        rows = self._db.execute(
            f"""SELECT p.id FROM json_each(?) j CROSS JOIN publications p ON p.id = j.value WHERE {visible}""",
            [array(sorted(numbers)), *params],
        )
        seen = [row[0] for row in rows]
        if len(self._known) > _KNOWN:
            self._known.clear()
        new = self._db.execute(
            f"""SELECT {PUBLICATION_COLUMNS}, p.id FROM json_each(?) j CROSS JOIN publications p ON p.id = j.value
                JOIN issuers i ON i.id = p.issuer_id JOIN sources s ON s.id = p.source_id""",
            [array(number for number in seen if number not in self._known)],
        )
        self._known.update((row[-1], publication_from(row[:-1])) for row in new)
        return {number: self._known[number] for number in seen}

    @guarded
    def neighbors(self, chunk_id: int, window: int) -> list[int]:
        if not 0 < chunk_id <= _MAX_ID:
            return []
        row = self._db.execute(
            """SELECT p.first_chunk, p.chunk_count FROM chunks c JOIN publications p ON p.id = c.publication_id
               WHERE c.id = ?""",
            [chunk_id],
        ).fetchone()
        if row is None:
            return []
        first, count = row
        return list(range(max(first, chunk_id - window), min(first + count - 1, chunk_id + window) + 1))

    @guarded
    def outline(self, code: str, filters: Filters, *, limit: int, offset: int = 0) -> tuple[list[OutlineEntry], int]:
        found = self._chunk_range(code, filters)
        if found is None:
            return [], 0
        first, count = found
        start = first + max(0, offset)
        rows = self._db.execute(
            """SELECT id, ordinal, publication_id, heading, provision, substr(text, 1, 400), "end" - start FROM chunks
               WHERE id BETWEEN ? AND ? ORDER BY id""",
            [start, min(start + max(0, limit), first + count) - 1],
        )
        entries = [
            OutlineEntry(
                *(r[0], r[1], self._headings.path(r[2], r[3]), r[4]),
                *(_SPACE.sub(" ", r[5]).strip()[:_FIRST_WORDS], r[6]),
            )
            for r in rows
        ]
        return entries, count

    def chunks(self, code: str, filters: Filters) -> list[Chunk]:
        return list(self.iter_chunks(code, filters))

    def iter_chunks(self, code: str, filters: Filters) -> Iterator[Chunk]:
        """The chunks of one publication, streamed."""
        found = self._chunk_range(code, filters)
        if found is None:
            return
        first, count = found
        try:
            for row in self._db.execute(
                f"SELECT {CHUNK_COLUMNS} FROM chunks c WHERE c.id BETWEEN ? AND ? ORDER BY c.id",
                [first, first + count - 1],
            ):
                yield chunk_from(row, code, self._headings)
        except sqlite3.DatabaseError as error:
            raise refusal(self.name, error) from error

    @guarded
    def _chunk_range(self, code: str, filters: Filters) -> tuple[int, int] | None:
        visible, params = where(filters)
        row = self._db.execute(
            f"""SELECT p.first_chunk, p.chunk_count FROM json_each(?) j CROSS JOIN publications p ON p.code = j.value
                WHERE {visible}""",
            [array([code]), *params],
        ).fetchone()
        return None if row is None else (row[0], row[1])


def _connect(path: Path, name: str) -> sqlite3.Connection:
    """Open read-only and begin the read that pins the snapshot."""
    uri = f"file:{quote(str(path.resolve()))}?mode=ro"
    try:
        return _pinned(uri)
    except sqlite3.OperationalError as error:
        # In a read-only folder SQLite cannot make the shared-memory file of a WAL store. Nothing can change the file
        # there either, so it may be read as immutable, unless unmerged changes lie beside it.
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size > 0:
            raise CorpusError(
                f"index {name!r} holds changes that were not merged and its folder cannot be written ({error})",
                hint="copy the folder to a place that can be written, or run `dof index optimize --index DIR` there",
            ) from error
        try:
            return _pinned(uri + "&immutable=1")
        except sqlite3.DatabaseError as again:
            raise IndexMismatch(f"index {name!r}: its store cannot be read ({again})", hint=REBUILD) from again
    except sqlite3.DatabaseError as error:
        raise refusal(name, error) from error  # no database, or one whose first page is torn


def _pinned(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0)
    try:
        # Passages stand all over a store. Mapped, what is touched of a page is read, not copied whole.
        connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
