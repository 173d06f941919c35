"""The store's schema, as sqlite-utils migrations, and the refusal of a store that other code wrote.

Text lives once, as chunks. The chunks of a publication have consecutive ids, because one writer inserts them in one
transaction, so a publication needs only its first id and its count: no second index over millions of rows.
`AUTOINCREMENT` keeps an id from being used again after a removal.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from dofrag.errors import IndexMismatch, NewerIndex

if TYPE_CHECKING:
    from sqlite_utils import Database

SCHEMA = 4
"""Number of the newest migration; stands in the file's `user_version`."""
HEADINGS_ONCE = 3
"""The schema from which heading paths are trees; before, they stood with every chunk as JSON."""

REBUILD = "run `dof index build PATH… --index DIR` with the folders that it was built from"
NEWER = "upgrade dofrag, build another index with --index, or remove this folder first"

_V1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE issuers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, words TEXT NOT NULL);
CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    rel TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('indexed', 'alternate', 'failed')),
    reason TEXT,
    canonical TEXT,
    group_key TEXT NOT NULL,
    rank INTEGER NOT NULL,
    chars INTEGER NOT NULL DEFAULT 0,
    chars_removed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE pending (publication_id INTEGER PRIMARY KEY);
CREATE INDEX sources_by_group ON sources (group_key);
CREATE INDEX sources_by_status ON sources (status, rel);
CREATE TABLE publications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    code TEXT NOT NULL UNIQUE,
    source_id INTEGER NOT NULL REFERENCES sources (id),
    published_on TEXT NOT NULL,
    edition TEXT,
    kind TEXT NOT NULL,
    source_kind TEXT NOT NULL,
    position INTEGER,
    section TEXT,
    branch TEXT,
    issuer_id INTEGER NOT NULL REFERENCES issuers (id),
    title TEXT NOT NULL,
    instrument TEXT,
    identifiers TEXT NOT NULL,
    url TEXT,
    scope TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    first_published_on TEXT,
    last_reform_on TEXT,
    notice TEXT,
    first_chunk INTEGER NOT NULL,
    chunk_count INTEGER NOT NULL,
    chunks_sha256 TEXT NOT NULL
);
CREATE INDEX publications_by_source ON publications (source_id, span_start);
CREATE INDEX publications_by_date
    ON publications (published_on, edition, position, code, kind, scope, issuer_id);
CREATE INDEX publications_by_scope ON publications (scope, published_on);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    publication_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    headings TEXT NOT NULL,
    provision TEXT,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
);
"""

_V2 = """
ALTER TABLE sources ADD COLUMN scope TEXT NOT NULL DEFAULT 'public';
UPDATE sources SET sha256 = '', mtime_ns = 0 WHERE status <> 'indexed';
UPDATE sources SET scope = coalesce(
    (SELECT min(p.scope) FROM publications p WHERE p.source_id = sources.id AND p.scope <> 'public'), 'public');
CREATE TABLE ignored (rel TEXT PRIMARY KEY, reason TEXT NOT NULL, scope TEXT NOT NULL) WITHOUT ROWID
"""

_V3 = """
CREATE TABLE headings (
    publication_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    parent INTEGER,
    name TEXT NOT NULL,
    PRIMARY KEY (publication_id, number)
) WITHOUT ROWID;
ALTER TABLE chunks ADD COLUMN heading INTEGER;
DROP INDEX sources_by_status;
CREATE INDEX sources_by_status ON sources (status)
"""

_V4 = """
UPDATE publications SET sha256 = unhexed(sha256), chunks_sha256 = unhexed(chunks_sha256);
UPDATE chunks SET kind = '' WHERE kind = 'text'
"""
_BATCH = 2_000  # chunks of an older store whose heading paths are taken over together


def migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring a store up to `SCHEMA`, keeping its rows. `connection` must be in autocommit mode.

    Raises NewerIndex for a store that newer code wrote: it is never touched.
    """
    check_schema(connection, name, allow_older=True)
    # Imported here: sqlite_utils takes 150 ms, and only writers migrate.
    from sqlite_utils import Database, Migrations

    migrations = Migrations("dofrag")
    connection.create_function("unhexed", 1, bytes.fromhex, deterministic=True)

    @migrations()
    def v1(db: Database) -> None:
        _run(db, _V1)

    @migrations()
    def v2(db: Database) -> None:
        _run(db, _V2)

    @migrations()
    def v3(db: Database) -> None:
        _run(db, _V3)
        _keep_headings_once(db.conn)
        db.execute("ALTER TABLE chunks DROP COLUMN headings")

    @migrations()
    def v4(db: Database) -> None:
        _run(db, _V4)

    migrations.apply(Database(connection))
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _run(db: Database, script: str) -> None:
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)


def _keep_headings_once(connection: sqlite3.Connection) -> None:
    """Take the heading paths that stand with every chunk as JSON over into trees. What it frees in the file is
    given back by `dof index optimize`."""
    from dofrag.store.headings import HeadingWriter

    writer: HeadingWriter | None = None
    publication = last = 0
    select = "SELECT id, publication_id, headings FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
    while rows := connection.execute(select, [last, _BATCH]).fetchall():
        numbers = []
        for last, owner, path in rows:  # the last one of the batch is where the next begins
            if writer is None or owner != publication:
                if writer is not None:
                    writer.flush()
                writer, publication = HeadingWriter(connection, owner), owner
            numbers.append((writer.number(_path_of(path, last)), last))
        if writer is not None:
            writer.flush()
        connection.executemany("UPDATE chunks SET heading = ? WHERE id = ?", numbers)


def _path_of(stored: str, chunk_id: int) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(stored)))
    except (ValueError, TypeError) as error:
        raise IndexMismatch(
            f"the store is damaged: chunk {chunk_id} cannot be read ({error})", hint=REBUILD
        ) from error


def check_schema(connection: sqlite3.Connection, name: str, *, allow_older: bool = False) -> None:
    """Raise IndexMismatch when the store's schema is not the one that this code reads."""
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        from dofrag.store.faults import is_damage, refusal  # which tells what to run in words of this module

        if not is_damage(error):  # a full disk is no reason to distrust what is on it
            raise refusal(name, error) from error
        raise IndexMismatch(
            f"index {name!r}: its store is not a readable database ({error})", hint=REBUILD
        ) from error
    if found > SCHEMA:
        raise NewerIndex(
            f"index {name!r} was written by a newer dofrag (store schema {found}, this one reads {SCHEMA})",
            hint=NEWER,
        )
    if found < SCHEMA and not allow_older:
        raise IndexMismatch(
            f"index {name!r} has store schema {found}, this dofrag reads {SCHEMA}",
            hint=f"to bring it up to date, {REBUILD}",
        )
