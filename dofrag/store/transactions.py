"""What is committed together. Connections are in autocommit mode: every transaction begins and ends here."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_GATHERED = 4_000
"""Changed rows after which a gathered transaction is committed: a second of work, a few MB of the log. A commit
writes each page that a publication touched, so that of a small one costs as much as storing hundreds of chunks."""


class Transactions:
    """Of one connection. `undone` is called whenever something is rolled back: ids given meanwhile may be gone."""

    def __init__(self, connection: sqlite3.Connection, undone: Callable[[], None]) -> None:
        self._db = connection
        self._undone = undone
        self._gathering = False
        self._committed = 0  # changes of the connection at the last commit

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Everything in it happens, or nothing does. Committed at its end, in `gathered` with those after it."""
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        try:
            with self.attempt():
                yield
        except BaseException:
            if not self._gathering:
                self._roll_back()
            raise
        if not self._gathering or self._db.total_changes - self._committed >= _GATHERED:
            self._commit()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Inside a transaction: undo just this part when it raises."""
        self._db.execute("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            self._undone()
            if self._db.in_transaction:  # a full disk ends it at once
                self._db.execute("ROLLBACK TO attempt")
                self._db.execute("RELEASE attempt")
            raise
        self._db.execute("RELEASE attempt")

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Transactions in it are committed several at a time; when one fails, those that were whole are. A full disk
        takes the uncommitted ones with it: SQLite undoes all of them."""
        self._gathering = True
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # what went wrong first is what is told
                self._commit()
            raise
        else:
            self._commit()
        finally:
            self._gathering = False

    def _commit(self) -> None:
        if not self._db.in_transaction:
            return
        try:
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self._committed = self._db.total_changes

    def _roll_back(self) -> None:
        self._undone()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
