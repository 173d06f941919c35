"""The record of files that were met and are no sources: manifests, catalogues, images."""

from __future__ import annotations

from collections.abc import Iterable

from dofrag.store.writer import StoreWriter


def set_ignored(store: StoreWriter, ignored: Iterable[tuple[str, str, str]], *, mirror: bool) -> None:
    """Keep on record (path, what it is, collection). `mirror`: these and no others. Writes nothing where nothing has
    changed. Streams: there may be an image for every publication."""
    db = store.connection
    db.execute("CREATE TEMP TABLE met (rel TEXT PRIMARY KEY, reason TEXT, scope TEXT) WITHOUT ROWID")
    with store.transaction():
        db.executemany("INSERT INTO met VALUES (?, ?, ?)", ignored)
        if mirror:
            db.execute("DELETE FROM ignored WHERE rel NOT IN (SELECT rel FROM met)")
        db.execute("DELETE FROM ignored WHERE rel IN (SELECT rel FROM sources)")
        db.execute("INSERT OR REPLACE INTO ignored SELECT * FROM met EXCEPT SELECT * FROM ignored")
    db.execute("DROP TABLE met")
