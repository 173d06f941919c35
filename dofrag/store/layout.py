"""Where the parts of an index lie. One small file, replaced atomically, says which store and which search index hold.

    index.json        the pointer: names of the two below, and the stamp
    store-N.sqlite    the store, Nth generation
    search-N/         the search index, Nth generation; the two count separately
    writer.lock       held by the process that writes

A rebuild makes new generations beside the old ones and then replaces the pointer; whoever has the old ones open keeps
them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.errors import CorpusError, IndexMismatch, NewerIndex
from dofrag.store.faults import not_allowed
from dofrag.store.schema import NEWER, REBUILD

POINTER = "index.json"
_FORMAT = 1
_STORE = re.compile(r"store-(\d{1,9})\.sqlite")
_OURS = re.compile(
    r"(?:store-\d{1,9}\.sqlite(?:\.part)?(?:-wal|-shm|-journal)?|search-\d{1,9}(?:\.part)?|index\.json\.part)"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """What `index.json` says. `parts` are what the stamp hashes, by name."""

    store: int
    search: int
    stamp: str
    parts: dict[str, str]


class Layout:
    """Names and moves of an index folder's files. Creates nothing until asked to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)

    def store(self, generation: int) -> Path:
        return self.folder / f"store-{generation}.sqlite"

    def search(self, generation: int) -> Path:
        return self.folder / f"search-{generation}"

    def pointer(self) -> Pointer | None:
        """None when there is none. Raises NewerIndex for one that newer code wrote, IndexMismatch for one that is
        garbled or older, CorpusError for one that may not be read."""
        try:
            data = json.loads((self.folder / POINTER).read_text(encoding="utf-8"))
            if data["format"] != _FORMAT:
                text = f"index {self.name!r} has layout {data['format']!r}, this dofrag reads {_FORMAT}"
                newer = isinstance(data["format"], int) and data["format"] > _FORMAT
                raise NewerIndex(text, hint=NEWER) if newer else IndexMismatch(text, hint=REBUILD)
            parts = {str(part): str(value) for part, value in dict(data["parts"]).items()}
            return Pointer(int(data["store"]), int(data["search"]), str(data["stamp"]), parts)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise not_allowed(self.name) from error
        except OSError as error:
            raise CorpusError(
                f"index {self.name!r}: {POINTER} cannot be read ({error.strerror})", hint="check its permissions"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise IndexMismatch(f"index {self.name!r}: {POINTER} cannot be read ({error})", hint=REBUILD) from error

    def write_pointer(self, pointer: Pointer) -> None:
        """Replace the pointer so that a reader sees the old one or the new one, never a part."""
        data = {
            "format": _FORMAT,
            "store": pointer.store,
            "search": pointer.search,
            "stamp": pointer.stamp,
            "parts": dict(sorted(pointer.parts.items())),
        }
        part = self.folder / f"{POINTER}.part"
        with part.open("w", encoding="utf-8") as handle:
            json.dump(data, handle, indent=1)
            handle.write("\n")
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(self.folder / POINTER)

    def unfinished(self) -> int | None:
        """The store generation of a build that was begun and not finished, None when there is none."""
        if not self.folder.is_dir():
            return None
        current = self.pointer()
        newest = max(self.stores(), default=0)
        return newest if newest > (current.store if current else 0) else None

    def stores(self) -> list[int]:
        """The store generations that lie in the folder, newest first."""
        found = (_STORE.fullmatch(p.name) for p in self.folder.iterdir()) if self.folder.is_dir() else ()
        return sorted((int(m[1]) for m in found if m), reverse=True)

    def check_ours(self) -> None:
        """Raise CorpusError for a folder whose `index.json` is none of ours: other software's, say."""
        try:
            self.pointer()
        except NewerIndex:
            raise
        except IndexMismatch as fault:
            if not any(_OURS.fullmatch(path.name) for path in self.folder.iterdir()):
                raise CorpusError(
                    f"{self.name!r} holds an {POINTER} that is not of an index, and no store beside it",
                    hint="choose another folder with --index, or remove that file",
                ) from fault

    def drop_pointer(self) -> None:
        """Remove a pointer that cannot be read: the index is then one that is half built."""
        (self.folder / POINTER).unlink(missing_ok=True)

    def drop_search(self, number: int) -> None:
        """Remove a search index that was left behind before anything pointed to it."""
        for path in (self.search(number), self.folder / f"search-{number}.part"):
            if path.is_dir():
                shutil.rmtree(path)

    def clean(self, store: int, search: int | None) -> None:
        """Remove other generations than these, and parts of unfinished moves. On systems that refuse to remove an
        open file, it stays for the next time."""
        names = {self.store(store).name} | ({self.search(search).name} if search is not None else set())
        for path in sorted(self.folder.iterdir()):
            base = re.sub(r"-(?:wal|shm|journal)$", "", path.name)
            if _OURS.fullmatch(path.name) and base not in names:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif os.name == "nt":
                    _unlink_if_free(path)
                else:
                    path.unlink(missing_ok=True)


def _unlink_if_free(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return  # some reader has it open; a later write removes it
