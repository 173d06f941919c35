"""Opening an index for reading: store and search index that belong together, or a clear refusal."""

from __future__ import annotations

from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.errors import IndexMismatch, StoreMissing
from dofrag.search.reading import Expansions
from dofrag.search.scoped import ScopedIndex
from dofrag.search.stamp import check_stamp
from dofrag.store.corpus import StoreReader
from dofrag.store.layout import Layout, Pointer
from dofrag.store.lock import is_locked
from dofrag.store.schema import REBUILD
from dofrag.text.mentions import find_provisions


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """Both halves of an index, as they stood when it was opened. Close it, or use it in a `with`."""

    name: str
    reader: StoreReader
    backend: ScopedIndex
    stamp: str
    parts: dict[str, str]

    def close(self) -> None:
        self.reader.close()

    def __enter__(self) -> OpenIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_index(folder: Path, *, chunker: str | None = None, expansions: Expansions | None = None) -> OpenIndex:
    """Open for reading; changes nothing in the folder and works beside a writer.

    `chunker` is the version that the index must have been cut by, None for any; `expansions` as in `Bm25Index`.
    Raises StoreMissing when there is no index and IndexMismatch, with the command that repairs it, when it was built
    by other code, is half built, or its store and search index differ.
    """
    layout = Layout(folder)
    pointer = _pointer(layout)
    try:
        return _open(layout, pointer, chunker, expansions)
    except (StoreMissing, IndexMismatch):
        # A rebuild may have replaced the pointer between the two steps; the new one is then good.
        again = _pointer(layout)
        if again == pointer:
            raise
        return _open(layout, again, chunker, expansions)


def _named_provisions(query: str) -> list[str]:
    return [found.path for found in find_provisions(query)]


def _pointer(layout: Layout) -> Pointer:
    pointer = layout.pointer()
    if pointer is not None:
        return pointer
    if layout.unfinished() is not None:
        raise IndexMismatch(
            f"index {layout.name!r} is half built",
            hint="run the same `dof index build` command again: it goes on where it stopped",
        )
    raise StoreMissing(f"no index at {layout.name!r}", hint="build one: `dof index build PATH… --index DIR`")


def _open(layout: Layout, pointer: Pointer, chunker: str | None, expansions: Expansions | None) -> OpenIndex:
    reader = StoreReader(layout.store(pointer.store), name=layout.name)
    try:
        meta = reader.meta()
        if meta.get("state") == "clean":
            check_stamp(pointer, meta, layout.name, chunker)
        elif not is_locked(layout.folder):
            raise IndexMismatch(
                f"index {layout.name!r}: an update was cut off, its store and search index differ",
                hint=f"run the update again, or {REBUILD}",
            )
        folder = layout.search(pointer.search)
        backend = ScopedIndex(folder, name=layout.name, provisions=_named_provisions, expansions=expansions)
        return OpenIndex(layout.name, reader, backend, pointer.stamp, pointer.parts)
    except BaseException:
        reader.close()
        raise
