"""Ways out of an index that cannot be trusted: a new generation, filled from the sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dofrag.errors import CorpusError, IndexMismatch, NewerIndex, StoreMissing, UsageError
from dofrag.search.scoped import ScopedIndex
from dofrag.store.faults import refusal
from dofrag.store.layout import Layout, Pointer
from dofrag.store.lock import LOCK_FILE
from dofrag.store.salvage import OldIds
from dofrag.store.writer import StoreWriter

Notice = Callable[[str], None]


@contextmanager
def index_folder(index_dir: Path, paths: Sequence[Path]) -> Iterator[None]:
    """The index folder, made where it is missing; one in which nothing was begun goes again."""
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {str(path)!r}", hint="check the path")
    if not paths:
        raise UsageError("nothing to build from", hint="name folders or files: `dof index build PATH… --index DIR`")
    missing = [folder for folder in (index_dir, *index_dir.parents) if not folder.exists()]
    try:
        index_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"index folder {str(index_dir)!r} cannot be made: {error.strerror}", hint="choose another with --index"
        ) from error
    try:
        yield
    except BaseException:
        if missing and [path.name for path in index_dir.iterdir()] in ([], [LOCK_FILE]):
            (index_dir / LOCK_FILE).unlink(missing_ok=True)
            for folder in missing:
                folder.rmdir()
        raise


@contextmanager
def translated(layout: Layout) -> Iterator[None]:
    """What SQLite raises in it becomes the error for people."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise refusal(layout.name, error) from error


def mendable(error: CorpusError) -> bool:
    """Whether a new generation is the way out: not for an index of newer code, nor for a full disk."""
    return isinstance(error, IndexMismatch | StoreMissing) and not isinstance(error, NewerIndex)


def check_store(layout: Layout, pointer: Pointer) -> None:
    """Raise IndexMismatch when the store that the pointer names is gone or lost what it held."""
    if not layout.store(pointer.store).is_file():
        raise IndexMismatch(f"index {layout.name!r}: its store is missing")
    with translated(layout), StoreWriter(layout.store(pointer.store), name=layout.name) as store:
        if "corpus_digest" not in store.meta():
            raise IndexMismatch(f"index {layout.name!r}: its store is empty")


def begin_anew(layout: Layout, notice: Notice, why: str) -> None:
    """Begin a store of a new generation; a build then goes on with it as with one that was cut off.

    The store that is replaced stays until the build is complete, and is asked for the ids of chunks that did not
    change. Raises NewerIndex, before anything is changed, for an index that newer code wrote.
    """
    try:
        pointer = layout.pointer()
    except NewerIndex:
        raise
    except IndexMismatch:
        pointer = None
    stores = layout.stores()
    newest = max([*stores, pointer.store if pointer else 0], default=0)
    old = _old_ids(layout, pointer, stores)
    try:
        kept = "chunk ids are kept" if old.last else "the old store cannot be read: chunk ids begin anew"
        notice(f"{why}: everything is read anew ({kept})")
        with StoreWriter(layout.store(newest + 1), name=layout.name) as store:
            store.begin_from(old)
    finally:
        old.close()
    if pointer is None:
        layout.drop_pointer()


def search_is_whole(layout: Layout, pointer: Pointer, store: StoreWriter) -> bool:
    """Whether the search index opens and counts as many documents as the store has chunks."""
    (chunks,) = store.connection.execute("SELECT coalesce(sum(chunk_count), 0) FROM publications").fetchone()
    try:
        return ScopedIndex(layout.search(pointer.search), name=layout.name).documents == int(chunks)
    except IndexMismatch:
        return False


def keep_from_emptying(layout: Layout, pointer: Pointer | None, store: StoreWriter) -> None:
    """Raise CorpusError, and leave the index as it was, when of all files none could be read but the index held some:
    a disk that is not there or rights that were lost are no reason to forget a corpus."""
    if pointer is None or _indexed(store.connection):
        return
    old = sqlite3.connect(layout.store(pointer.store))
    try:
        held = _indexed(old)
    finally:
        old.close()
    if not held:
        return
    rel, reason = store.connection.execute(
        "SELECT rel, reason FROM sources WHERE reason <> '' ORDER BY rel LIMIT 1"
    ).fetchone()
    (files,) = store.connection.execute("SELECT count(*) FROM sources").fetchone()
    store.close()
    layout.clean(pointer.store, pointer.search)
    raise CorpusError(
        f"none of {files} files can be read ({rel}: {reason}): index {layout.name!r} stays as it was",
        hint="make them readable and run the same `dof index build` again, or build another index with --index",
    )


def _indexed(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sources WHERE status = 'indexed'").fetchone()[0])


def _old_ids(layout: Layout, pointer: Pointer | None, stores: list[int]) -> OldIds:
    """The store that was in use: the pointer's, else the newest, else the one which that one was begun from."""
    old = OldIds(layout.store(pointer.store if pointer else max(stores, default=0)), layout.name)
    source = old.source()
    if pointer is None and source and source in {layout.store(n).name for n in stores}:
        old.close()
        old = OldIds(layout.folder / source, layout.name)
    return old


def work_generation(layout: Layout, base: int | None, pointer: Pointer | None) -> int:
    """The store to work in: one that was left unfinished, else a copy of the current one, else a new one."""
    if base is None:
        return 1
    if pointer is None or base != pointer.store:
        return base
    target = layout.store(base + 1)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    source = sqlite3.connect(layout.store(base))
    copy = sqlite3.connect(part)
    try:
        source.backup(copy, pages=20_000)
    finally:
        copy.close()
        source.close()
    part.rename(target)
    return base + 1
