"""Writes. One writer holds the index's lock; a transaction takes in whole sources, so a kill leaves half of none.

Whatever changes a publication also notes its id in `pending`, in the same transaction: that is what the search index
still has to take over. While anything is pending the store says that it is `dirty`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from dofrag.domain.draft import Header, ParsedPublication
from dofrag.store.digest import RUNNING, shift
from dofrag.store.faults import refusal
from dofrag.store.headings import HeadingWriter, drop_headings
from dofrag.store.rows import array, issuer_words
from dofrag.store.salvage import OldIds
from dofrag.store.schema import migrate
from dofrag.store.sources import CodeTaken, Owner, SourceRow
from dofrag.store.tally import ChunkRow, ChunkTally
from dofrag.store.transactions import Transactions

_PAGE = 32_768  # bytes: chunks fit whole, little of a page stays empty, and a store is written in few calls
_HEADER = (
    *("source_id", "published_on", "edition", "kind", "source_kind", "position", "section", "branch", "issuer_id"),
    *("title", "instrument", "identifiers", "url", "scope", "span_start", "first_published_on", "last_reform_on"),
    "notice",
)
"""Columns of a publication that its header fills, and where it begins in its file."""
_SOURCE = ("format", "bytes", "mtime_ns", "sha256", "status", "reason", "canonical", "group_key", "rank", "scope")
"""Columns of a source but its path."""
_WAIT = 60  # seconds for a lock
_PATIENCE = 5  # seconds for readers to come off the log
_BATCH = 500  # chunks a statement; bounds memory whatever the size of a publication


class StoreWriter:
    """Opens or creates one store file for writing and brings its schema up to date."""

    def __init__(self, path: Path, *, name: str) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None, timeout=_WAIT)
        try:
            self._db.execute(f"PRAGMA page_size = {_PAGE}")  # of a new store; another one keeps its own
            migrate(self._db, name)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA cache_size = -65536")
            self._db.execute("PRAGMA temp_store = MEMORY")  # what a savepoint keeps would go to a file and back
            # Pages, 32 MB: each checkpoint waits for the disk.
            self._db.execute(f"PRAGMA wal_autocheckpoint = {32_000_000 // _PAGE}")
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise refusal(name, error) from error
        except BaseException:
            self._db.close()
            raise
        self._issuers: dict[str, int] = {}
        self._transactions = Transactions(self._db, self._issuers.clear)  # ids may have gone with a transaction
        self._old: OldIds | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """For reads that belong to writing: plans, digests, feeding the index."""
        return self._db

    def close(self) -> None:
        if self._old is not None:
            self._old.close()
        self._db.close()

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def set_meta(self, values: Mapping[str, str]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def begin_from(self, old: OldIds | None) -> None:
        """In a new store: give chunks the ids that they have in `old`, and others none that was ever given there."""
        if old is not None and old.last:
            self._db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', ?)", [old.last])
            self.set_meta({"salvage": old.path.name})

    def resume_from_old(self) -> None:
        """Use the old store that `begin_from` noted, as long as this store is being filled."""
        name = self.meta().get("salvage")
        if name and self._old is None:
            self._old = OldIds(self.path.with_name(name))

    def forget_old(self) -> None:
        self._db.execute("DELETE FROM meta WHERE key = 'salvage'")

    def transaction(self) -> AbstractContextManager[None]:
        """Everything in it happens, or nothing does."""
        return self._transactions.whole()

    def attempt(self) -> AbstractContextManager[None]:
        """Inside a transaction: undo just this part when it raises."""
        return self._transactions.attempt()

    def gathered(self) -> AbstractContextManager[None]:
        """Around many transactions: they are committed several at a time, each still whole or not at all."""
        return self._transactions.gathered()

    def record(self, row: SourceRow) -> int:
        """Insert or overwrite what is known of a file; its id stays the same. Returns the id."""
        values = [row.format, row.bytes, row.mtime_ns, row.sha256, row.status, row.reason, row.canonical]
        values += [row.group_key, row.rank, row.scope]
        source_id = self._source_id(row.rel)
        if source_id is None:
            cursor = self._db.execute(
                f"INSERT INTO sources (rel, {', '.join(_SOURCE)}) VALUES (?{', ?' * len(_SOURCE)})",
                [row.rel, *values],
            )
            source_id = cursor.lastrowid
            assert source_id is not None
        else:
            columns = ", ".join(f"{name} = ?" for name in _SOURCE)
            self._db.execute(f"UPDATE sources SET {columns} WHERE id = ?", [*values, source_id])
        return source_id

    def _source_id(self, rel: str) -> int | None:
        row = self._db.execute("SELECT id FROM sources WHERE rel = ?", [rel]).fetchone()
        return None if row is None else int(row[0])

    def group(self, group_key: str) -> list[SourceRow]:
        """The files on record of one group."""
        return [
            SourceRow(
                rel=r[0], format=r[1], bytes=r[2], mtime_ns=r[3], sha256=r[4], status=r[5], group_key=r[6], rank=r[7],
                reason=r[8], canonical=r[9],
            )
            for r in self._db.execute(
                """SELECT rel, format, bytes, mtime_ns, sha256, status, group_key, rank, reason, canonical
                   FROM sources WHERE group_key = ? ORDER BY rank, rel""",
                [group_key],
            )
        ]  # fmt: skip

    def store_source(self, row: SourceRow, publications: Iterator[ParsedPublication], replaces: list[str]) -> int:
        """Store a file's publications, in place of those of the sources named in `replaces` (itself included).

        Publications whose chunks did not change keep their chunk ids. Returns how many chunks were written. Raises
        CodeTaken when a code belongs to a source outside `replaces`; the caller rolls back.
        """
        known = replaces != [row.rel] or self._source_id(row.rel) is not None
        source_id = self.record(row)
        old = self._publications_of(replaces) if known else {}
        at = count = 0
        seen: set[str] = set()
        for parsed in publications:
            code = parsed.header.code
            if code in seen:
                raise ValueError(f"code {code} occurs twice in one file")
            seen.add(code)
            if code not in old and self.owner(code) is not None:
                raise CodeTaken(code)
            written, chars = self._store_publication(parsed, source_id, at, old.pop(code, None))
            at += chars
            count += written
        if not seen:
            raise ValueError("no publication found in it")
        for publication_id, _ in old.values():
            self._delete_publication(publication_id)
        self._db.execute("UPDATE sources SET chars = ?, chars_removed = 0 WHERE id = ?", [at, source_id])
        for rel in replaces:
            if rel != row.rel:
                self._db.execute("UPDATE sources SET chars = 0, chars_removed = 0 WHERE rel = ?", [rel])
        return count

    def owner(self, code: str) -> Owner | None:
        row = self._db.execute(
            """SELECT s.rel, s.format, lower(hex(p.sha256)), s.status = 'failed' FROM publications p
               JOIN sources s ON s.id = p.source_id WHERE p.code = ?""",
            [code],
        ).fetchone()
        return None if row is None else Owner(row[0], row[1], row[2], bool(row[3]))

    def holds_current(self, rel: str) -> bool:
        """Whether publications of a file are stored as the code in use cuts them (see `forget_sources`)."""
        row = self._db.execute(
            """SELECT 1 FROM sources s WHERE s.rel = ? AND (s.sha256 <> '' OR s.status = 'failed')
               AND EXISTS (SELECT 1 FROM publications p WHERE p.source_id = s.id)""",
            [rel],
        ).fetchone()
        return row is not None

    def drop_publications(self, rel: str) -> None:
        """Remove what is stored of a file; the file stays on record."""
        for publication_id, _ in self._publications_of([rel]).values():
            self._delete_publication(publication_id)
        self._db.execute("UPDATE sources SET chars = 0, chars_removed = 0 WHERE rel = ?", [rel])

    def drop_source(self, rel: str) -> None:
        """Remove a file and all that is stored of it."""
        self.drop_publications(rel)
        self._db.execute("DELETE FROM sources WHERE rel = ?", [rel])

    def remove_publication(self, code: str) -> bool:
        """Remove one publication; False when there is none. A file left without any goes from the record, with its
        alternates; one that keeps others is read anew by the next build."""
        row = self._db.execute(
            """SELECT p.id, s.id, s.rel, p.span_end - p.span_start FROM publications p
               JOIN sources s ON s.id = p.source_id WHERE p.code = ?""",
            [code],
        ).fetchone()
        if row is None:
            return False
        publication_id, source_id, rel, chars = row
        self._delete_publication(publication_id)
        (left,) = self._db.execute("SELECT count(*) FROM publications WHERE source_id = ?", [source_id]).fetchone()
        if left:
            self._db.execute(
                "UPDATE sources SET chars_removed = chars_removed + ?, sha256 = '', mtime_ns = 0 WHERE id = ?",
                [chars, source_id],
            )
        else:
            self._db.execute(
                "DELETE FROM sources WHERE rel = ? OR (status = 'alternate' AND canonical = ?)", [rel, rel]
            )
        return True

    def orphaned_groups(self) -> list[str]:
        """Groups with an alternate of a file that is no longer indexed."""
        rows = self._db.execute(
            """SELECT DISTINCT a.group_key FROM sources a LEFT JOIN sources c ON c.rel = a.canonical
               WHERE a.status = 'alternate' AND (c.status IS NULL OR c.status <> 'indexed') ORDER BY a.group_key"""
        )
        return [row[0] for row in rows]

    def clear_pending(self) -> None:
        """Everything is taken over, and the digest is noted."""
        self._db.execute("DELETE FROM pending")
        self._db.execute("DELETE FROM meta WHERE key = ?", [RUNNING])

    def checkpoint(self) -> None:
        """Merge the write-ahead log into the store as far as readers allow; where there are none, the file alone is
        whole. They are waited for a few seconds: beside some that come and go the log would grow with each change."""
        self._db.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {_WAIT * 1000}")

    def compact(self) -> None:
        """Give free pages back, and gather the statistics that SQLite plans reads by."""
        self._db.execute("VACUUM")
        self._db.execute("ANALYZE")

    def forget_sources(self) -> None:
        """Have every file read anew, because the code that cuts them has changed. Ids of equal chunks survive; what
        stayed of files that could not be read goes."""
        for (rel,) in self._db.execute("SELECT rel FROM sources WHERE status = 'failed' AND chars > 0").fetchall():
            self.drop_publications(rel)
        self._db.execute("UPDATE sources SET sha256 = '', mtime_ns = 0")

    def _publications_of(self, rels: list[str]) -> dict[str, tuple[int, str]]:
        rows = self._db.execute(
            """SELECT p.code, p.id, lower(hex(p.chunks_sha256)) FROM json_each(?) j
               CROSS JOIN sources s ON s.rel = j.value CROSS JOIN publications p ON p.source_id = s.id""",
            [array(rels)],
        )
        return {code: (publication_id, digest) for code, publication_id, digest in rows}

    def _store_publication(
        self, parsed: ParsedPublication, source_id: int, at: int, old: tuple[int, str] | None
    ) -> tuple[int, int]:
        """Returns chunks written and characters taken in."""
        if old:
            return self._store_again(parsed, source_id, at, *old)
        publication_id = self._insert_header(parsed.header, source_id, at)
        before = self._last_chunk_id()
        tally = self._insert_chunks(parsed, publication_id, HeadingWriter(self._db, publication_id, new=True))
        self._note_chunks(publication_id, parsed.header.code, before, tally, at)
        shift(self._db, publication_id, +1)
        self._db.execute("INSERT OR IGNORE INTO pending VALUES (?)", [publication_id])
        return tally.count, tally.chars

    def _store_again(
        self, parsed: ParsedPublication, source_id: int, at: int, publication_id: int, digest: str
    ) -> tuple[int, int]:
        """A publication that is stored already, whose chunks had this digest."""
        shift(self._db, publication_id, -1)
        before = self._last_chunk_id()
        self._db.execute("SAVEPOINT chunks")
        numbered = HeadingWriter(self._db, publication_id)
        tally = self._insert_chunks(parsed, publication_id, numbered)
        written = tally.count
        if digest == tally.chunks_sha256:
            self._db.execute("ROLLBACK TO chunks")  # nothing changed: the old rows and their ids stay
            written = 0
        else:
            self._delete_chunks(publication_id)
            drop_headings(self._db, publication_id, below=numbered.first)
            self._note_chunks(publication_id, parsed.header.code, before, tally, at)
        self._db.execute("RELEASE chunks")
        columns = ", ".join(f"{name} = ?" for name in _HEADER)
        values = [*self._header_values(parsed.header, source_id, at), at + tally.chars, publication_id]
        self._db.execute(f"UPDATE publications SET {columns}, span_end = ? WHERE id = ?", values)
        shift(self._db, publication_id, +1)
        self._db.execute("INSERT OR IGNORE INTO pending VALUES (?)", [publication_id])
        return written, tally.chars

    def _note_chunks(self, publication_id: int, code: str, before: int, tally: ChunkTally, at: int) -> None:
        first = before + 1
        if self._old is not None:
            first = self._old.place(self._db, code, before, tally)
        digests = map(bytes.fromhex, (tally.chunks_sha256, tally.sha256))
        self._db.execute(
            """UPDATE publications SET first_chunk = ?, chunk_count = ?, span_end = ?, chunks_sha256 = ?, sha256 = ?
               WHERE id = ?""",
            [first, tally.count, at + tally.chars, *digests, publication_id],
        )

    def _insert_chunks(self, parsed: ParsedPublication, publication_id: int, numbered: HeadingWriter) -> ChunkTally:
        tally = ChunkTally(parsed.header.code)
        batch: list[ChunkRow] = []
        path: tuple[str, ...] | None = None
        headings = numbered.encoded
        number: int | None = None
        for ordinal, start, end, heading_path, provision, kind, text in parsed.chunks:
            if heading_path != path:  # neighbours share their path
                path = heading_path
                number = numbered.number(path)
                headings = numbered.encoded
            batch.append((publication_id, ordinal, start, end, headings, provision, kind, text, number))
            if len(batch) >= _BATCH:
                self._insert_batch(batch, tally)
                numbered.flush()
        self._insert_batch(batch, tally)
        numbered.flush()
        tally.close()
        return tally

    def _last_chunk_id(self) -> int:
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
        return 0 if row is None else int(row[0])

    def _insert_batch(self, batch: list[ChunkRow], tally: ChunkTally) -> None:
        self._db.executemany(
            """INSERT INTO chunks (publication_id, ordinal, start, "end", heading, provision, kind, text)
               VALUES (?1, ?2, ?3, ?4, ?9, ?6, iif(?7 = 'text', '', ?7), ?8)""",
            batch,
        )
        tally.take(batch)
        batch.clear()

    def _insert_header(self, header: Header, source_id: int, at: int) -> int:
        names = ("code", *_HEADER, "span_end", "sha256", "first_chunk", "chunk_count", "chunks_sha256")
        values = [header.code, *self._header_values(header, source_id, at), at, b"", 0, 0, b""]
        cursor = self._db.execute(
            f"INSERT INTO publications ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _header_values(self, header: Header, source_id: int, at: int) -> list[object]:
        """Of the columns `_HEADER`."""
        return [
            *(source_id, header.published_on.isoformat(), header.edition, header.kind, header.source_kind),
            *(header.position, header.section, header.branch, self._issuer(header.issuer), header.title),
            *(header.instrument, json.dumps(header.identifiers, ensure_ascii=False), header.url, header.scope),
            *(at, _iso(header.first_published_on), _iso(header.last_reform_on), header.notice),
        ]

    def _issuer(self, name: str) -> int:
        if name not in self._issuers:
            words = f" {' '.join(issuer_words(name))} "
            self._db.execute("INSERT OR IGNORE INTO issuers (name, words) VALUES (?, ?)", [name, words])
            (issuer_id,) = self._db.execute("SELECT id FROM issuers WHERE name = ?", [name]).fetchone()
            if len(self._issuers) > 10_000:
                self._issuers.clear()
            self._issuers[name] = issuer_id
        return self._issuers[name]

    def _delete_publication(self, publication_id: int) -> None:
        shift(self._db, publication_id, -1)
        self._delete_chunks(publication_id)
        drop_headings(self._db, publication_id)
        self._db.execute("DELETE FROM publications WHERE id = ?", [publication_id])
        self._db.execute("INSERT OR IGNORE INTO pending VALUES (?)", [publication_id])

    def _delete_chunks(self, publication_id: int) -> None:
        first, count = self._db.execute(
            "SELECT first_chunk, chunk_count FROM publications WHERE id = ?", [publication_id]
        ).fetchone()
        self._db.execute("DELETE FROM chunks WHERE id BETWEEN ? AND ?", [first, first + count - 1])


def _iso(value: object) -> str | None:
    return None if value is None else str(value)
