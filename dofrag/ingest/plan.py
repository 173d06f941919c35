"""What there is to do: walk the folders, identify each file, and compare with what the store knows.

The plan is a table in a temporary file of its own, not a list in memory: a corpus has 650,000 files.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.errors import SourceUnreadable, UsageError
from dofrag.profiles.base import GazetteProfile

_TABLE = """
CREATE TABLE files (
    rel TEXT PRIMARY KEY, path BLOB NOT NULL, format TEXT NOT NULL, rank INTEGER NOT NULL, group_key TEXT NOT NULL,
    bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, same INTEGER NOT NULL, error TEXT,
    scope TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE ignored (rel TEXT PRIMARY KEY, reason TEXT NOT NULL, scope TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX files_by_group ON files (group_key, rank, rel);
CREATE TABLE todo (group_key TEXT PRIMARY KEY, first TEXT NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;
"""
NO_FORMAT = "?"
_TOGETHER = 500  # files that are written to the plan together


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file of the plan. `same`: the store holds these very bytes. `error`: it cannot even be identified."""

    rel: str
    path: Path
    format: str
    rank: int
    group_key: str
    bytes: int
    mtime_ns: int
    sha256: str  # "" while not known
    same: bool
    error: str | None
    scope: str

    @property
    def edition(self) -> bool:
        return self.group_key.startswith("edition:")


class Plan:
    """Files by group: the conversions of one edition, or the files of one code. `todo` lists the groups to do."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)  # "" is a temporary file that SQLite removes itself
        self._db.executescript(_TABLE)
        self._rows: list[tuple[object, ...]] = []  # planned and not yet written
        self.files = self.unchanged = 0
        self.closed: list[str] = []
        """Folders that cannot be read ("." for one that was given): what is in them is not known to be gone."""

    def close(self) -> None:
        self._db.close()

    def add(self, file: PlannedFile) -> None:
        self.files += 1
        self.unchanged += file.same
        place = (file.rel, os.fsencode(file.path), file.format, file.rank, file.group_key, file.bytes, file.mtime_ns)
        self._rows.append((*place, file.sha256, file.same, file.error, file.scope))
        if len(self._rows) >= _TOGETHER:
            self.write()

    def write(self) -> None:
        """Files that were added can be asked for from now on."""
        self._db.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._rows)
        self._rows.clear()

    def ignore(self, rel: str, reason: str, scope: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO ignored VALUES (?, ?, ?)", [rel, reason, scope])

    def ignored(self) -> Iterator[tuple[str, str, str]]:
        """Files that are none of the corpus's business: (rel, reason, scope), in order of rel."""
        yield from self._db.execute("SELECT rel, reason, scope FROM ignored ORDER BY rel")

    def knows(self, rel: str) -> bool:
        return self._db.execute("SELECT 1 FROM files WHERE rel = ?", [rel]).fetchone() is not None

    def is_gone(self, rel: str) -> bool:
        """Whether a file on record is there no more, as far as can be seen."""
        if any(folder == "." or rel.startswith(f"{folder}/") for folder in self.closed):
            return False
        return not self.knows(rel)

    def bytes_to_do(self) -> int:
        """Of all files in the groups to work on."""
        row = self._db.execute(
            "SELECT coalesce(sum(bytes), 0) FROM files WHERE group_key IN (SELECT group_key FROM todo)"
        )
        return int(row.fetchone()[0])

    def members(self, group_key: str) -> list[PlannedFile]:
        """Best conversion first."""
        rows = self._db.execute("SELECT * FROM files WHERE group_key = ? ORDER BY rank, rel", [group_key])
        return [_file(row) for row in rows]

    def first_of(self, group_key: str) -> str | None:
        """The best conversion's rel; None for a group of which nothing is planned."""
        row = self._db.execute(
            "SELECT rel FROM files WHERE group_key = ? ORDER BY rank, rel LIMIT 1", [group_key]
        ).fetchone()
        return None if row is None else str(row[0])

    def file(self, rel: str) -> PlannedFile | None:
        row = self._db.execute("SELECT * FROM files WHERE rel = ?", [rel]).fetchone()
        return None if row is None else _file(row)

    def all_files(self) -> Iterator[tuple[str, str, bool]]:
        """(rel, group_key, same), in order of rel."""
        for rel, group_key, same in self._db.execute("SELECT rel, group_key, same FROM files ORDER BY rel"):
            yield rel, group_key, bool(same)

    def mark(self, group_key: str, first: str, why: str) -> None:
        """Put a group on the list of work; the first reason given stays."""
        self._db.execute("INSERT OR IGNORE INTO todo VALUES (?, ?, ?)", [group_key, first, why])

    def unmark(self, group_key: str) -> None:
        self._db.execute("DELETE FROM todo WHERE group_key = ?", [group_key])

    def todo(self, why: str | None = None) -> list[str]:
        """Groups to work on, in the order in which ids are given: by the path of the group's first file."""
        rows = self._db.execute(
            "SELECT group_key FROM todo WHERE ? IS NULL OR why = ? ORDER BY first, group_key", [why, why]
        )
        return [row[0] for row in rows]


def _file(row: tuple[str, bytes, str, int, str, int, int, str, int, str | None, str]) -> PlannedFile:
    return PlannedFile(
        rel=row[0],
        path=Path(os.fsdecode(row[1])),
        format=row[2],
        rank=row[3],
        group_key=row[4],
        bytes=row[5],
        mtime_ns=row[6],
        sha256=row[7],
        same=bool(row[8]),
        error=row[9],
        scope=row[10],
    )


def file_sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def make_plan(
    paths: Sequence[Path], profile: GazetteProfile, store: sqlite3.Connection | None, *, skip: Path, fresh: bool
) -> Plan:
    """Walk `paths` in order. `store` is what is known so far; `fresh` distrusts it; `skip` (the index) is left out.

    Raises UsageError for a path that does not exist, and when there is no file in any of them.
    """
    roots = [_root(path) for path in paths]
    plan = Plan()
    try:
        for root in dict.fromkeys(roots):
            if any(other != root and root.is_relative_to(other) for other in roots):
                continue  # met below the other one
            before = plan.files
            for path, raw_rel, error in _walk(root, skip.resolve()):
                rel: str | None = _storable(raw_rel)
                # In one folder no path comes twice, unless one has to be spelled out.
                if before or rel != raw_rel or "%" in raw_rel:
                    rel = _own_name(plan, root, path, _storable(raw_rel))
                if rel is not None:
                    _plan_file(plan, profile, store, path, rel, error, fresh)
            plan.write()
        if plan.files == 0:
            named = ", ".join(repr(str(path)) for path in paths)
            raise UsageError(f"no gazette files in {named}", hint="give a folder or a file with publications")
    except BaseException:
        plan.close()
        raise
    return plan


def _root(path: Path) -> Path:
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"no such file or folder: {str(path)!r}", hint="check the path") from error
    if not (resolved.is_dir() or resolved.is_file()):
        raise UsageError(f"{str(path)!r} is neither a file nor a folder", hint="give a folder or a file")
    return resolved


def _walk(root: Path, skip: Path) -> Iterator[tuple[Path, str, str | None]]:
    """(path, path below the root, what is wrong with it), in sorted order, never leaving the root."""
    if root.is_file():
        yield root, root.name, None
        return
    stack: list[str] = [""]
    while stack:
        below = stack.pop()
        folder = root / below if below else root
        if folder == skip:
            continue
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda e: e.name)
        except OSError as error:
            yield folder, below or ".", f"folder cannot be read: {error.strerror}"
            continue
        folders: list[str] = []
        for entry in entries:
            rel = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(rel)
            elif entry.is_symlink():
                yield from _link(root, root / rel, rel)
            elif entry.is_file(follow_symlinks=False):
                yield root / rel, rel, None
            else:
                yield root / rel, rel, "neither a file nor a folder"
        stack.extend(reversed(folders))


def _link(root: Path, path: Path, rel: str) -> Iterator[tuple[Path, str, str | None]]:
    """A symbolic link to a file within the root is that file; a link to a folder within it is met there anyway."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        yield path, rel, "symbolic link that leads nowhere"
        return
    if not target.is_relative_to(root):
        yield path, rel, "symbolic link that leads out of the folder that was given"
    elif target.is_file():
        yield path, rel, None


def _own_name(plan: Plan, root: Path, path: Path, rel: str) -> str | None:
    """What to call a file whose name another one may have; None for one that is planned already."""
    plan.write()
    if not plan.knows(rel):
        return rel
    known = plan.file(rel)
    if known is not None and known.path.resolve() == path.resolve():
        return None  # the same file by way of another root
    rel = f"{_storable(root.name)}/{rel}"
    return None if plan.knows(rel) else rel


def _plan_file(
    plan: Plan,
    profile: GazetteProfile,
    store: sqlite3.Connection | None,
    path: Path,
    rel: str,
    error: str | None,
    fresh: bool,
) -> None:
    size, mtime_ns = _size_and_time(path)
    stored = _stored(store, rel)
    trusted = stored is not None and not fresh and bool(stored[2])
    scope = profile.scope_of(rel)
    if stored and trusted and not error and (size, mtime_ns) == stored[:2] and stored[3] != NO_FORMAT:
        plan.add(_planned(rel, path, stored[3], stored[4], stored[5], size, mtime_ns, stored[2], True, None, scope))
        return
    sha = ""
    try:
        if error:
            raise SourceUnreadable(error)
        source = profile.identify(path, rel)
        if source is None:
            plan.ignore(rel, profile.why_ignored(rel), scope)
            return
        key = f"edition:{source.edition_key}" if source.edition_key else f"code:{source.code}" if source.code else ""
        format_, rank = source.format, source.rank
        if stored and trusted and size == stored[0]:
            sha = file_sha256(path)
    except (SourceUnreadable, OSError) as problem:
        key, format_, rank, error = "", NO_FORMAT, 0, reason_of(problem)
    key = _storable(key) or f"file:{rel}"
    if error:
        same = stored is not None and stored[3] == NO_FORMAT and stored[6] == error
        if path.is_dir():
            plan.closed.append(rel)
    else:
        same = bool(sha) and stored is not None and sha == stored[2] and key == stored[5]
    plan.add(_planned(rel, path, format_, rank, key, size, mtime_ns, sha, same, error, scope))


def _planned(
    rel: str,
    path: Path,
    format_: str,
    rank: int,
    group_key: str,
    size: int,
    mtime_ns: int,
    sha: str,
    same: bool,
    error: str | None,
    scope: str,
) -> PlannedFile:
    return PlannedFile(
        rel=rel,
        path=path,
        format=format_,
        rank=rank,
        group_key=group_key,
        bytes=size,
        mtime_ns=mtime_ns,
        sha256=sha,
        same=same,
        error=error,
        scope=scope,
    )


def _stored(store: sqlite3.Connection | None, rel: str) -> tuple[int, int, str, str, int, str, str | None] | None:
    if store is None:
        return None
    row: tuple[int, int, str, str, int, str, str | None] | None = store.execute(
        "SELECT bytes, mtime_ns, sha256, format, rank, group_key, reason FROM sources WHERE rel = ?",
        [rel],
    ).fetchone()
    return row


def _storable(text: str) -> str:
    """A file name as text that can be stored and printed. The backslash is spelled out too: other systems take it
    for a folder's mark."""
    return _printable(text).replace("\\", "%5C")


def _printable(text: str) -> str:
    """A text with each character that is no UTF-8 or cannot be printed spelled out by its bytes: `se%F1al.md`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _spelled(c) for c in text)


def _spelled(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # how Python holds a byte of a name that is no UTF-8
        return f"%{ord(character) - 0xDC00:02X}"
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return (found.st_size if stat.S_ISREG(found.st_mode) else 0), found.st_mtime_ns


def reason_of(problem: BaseException) -> str:
    """Why a file could not be taken in, in one line for people."""
    if isinstance(problem, SourceUnreadable):
        return _printable(problem.message)
    if isinstance(problem, OSError):
        return _printable(f"cannot be read: {problem.strerror or problem}")
    if isinstance(problem, ValueError) and type(problem) is ValueError:
        return _printable(str(problem))
    return _printable(f"reader failed: {type(problem).__name__}: {problem}")
