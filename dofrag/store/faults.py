"""What SQLite says, told apart: a store that is damaged, and a place or a moment in which it cannot be used."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

from dofrag.errors import CorpusError, IndexMismatch
from dofrag.store.schema import REBUILD

_SHORT_READ = sqlite3.SQLITE_IOERR_SHORT_READ  # the file ends before the store does
_SURROUNDINGS = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_INTERRUPT,
}  # fmt: skip


class _Named(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=_Named)
P = ParamSpec("P")
R = TypeVar("R")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the store itself is at fault, and not the disk, its permissions or another process."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code == _SHORT_READ or (code & 0xFF) not in _SURROUNDINGS


def refusal(name: str, error: sqlite3.Error) -> CorpusError:
    """The error for people: IndexMismatch with the command that repairs a damaged store, else CorpusError."""
    if is_damage(error):
        return IndexMismatch(f"index {name!r}: its store is damaged ({error})", hint=REBUILD)
    return CorpusError(
        f"index {name!r}: its store cannot be used now ({error})", hint="check the disk, then run again"
    )


def damaged(what: str, error: object) -> IndexMismatch:
    """The error for something stored that no writer wrote."""
    return IndexMismatch(f"the store is damaged: {what} cannot be read ({error})", hint=REBUILD)


def not_allowed(name: str) -> CorpusError:
    """The error for an index that is sound for all that is known, but belongs to somebody else."""
    return CorpusError(
        f"index {name!r} may not be read: permission denied",
        hint=f"have its owner run `chmod -R a+rX {name}`, or build one of your own with --index",
    )


def guarded(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of something with a `name` that reads a store: what SQLite raises becomes a `refusal`, and so does a
    value that no writer wrote (a date that is none)."""

    @functools.wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.DatabaseError as error:
            raise refusal(self.name, error) from error
        except UnicodeEncodeError:
            raise  # the caller's own words, not what is stored
        except ValueError as error:
            raise IndexMismatch(f"index {self.name!r}: its store is damaged ({error})", hint=REBUILD) from error

    return cast("Callable[Concatenate[S, P], R]", call)
