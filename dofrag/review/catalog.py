"""What there is to review: a folder of traces, and campaigns with a folder of traces each.

A list is asked for often and its files hardly change, so that each file is read again only when its size or its time
of change is another. What is looked up by a name from outside is looked up here, never on the disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError
from dofrag.review.summaries import Row, make_row, read_facts
from dofrag.review.verdicts import SUFFIX, Verdict, path_of, read_verdicts

T = TypeVar("T")
Json = Mapping[str, Any]
_RUN_FILE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,127})\.jsonl")
JSON_LINE_MAX = 4_000_000
CAMPAIGNS_MAX = 500


class FileCache(Generic[T]):
    """What `read` makes of a file, kept until the file's size or time of change is another."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        self._read = read
        self._kept: dict[str, tuple[tuple[int, int], T]] = {}

    def get(self, path: str, stat: os.stat_result) -> T:
        stamp = (stat.st_mtime_ns, stat.st_size)
        kept = self._kept.get(path)
        if kept is None or kept[0] != stamp:
            kept = (stamp, self._read(Path(path)))
            self._kept[path] = kept
        return kept[1]


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs of a collection, newest first, and the verdicts on each by run id."""

    rows: tuple[Row, ...]
    verdicts: Mapping[str, Sequence[Verdict]]


class Collection:
    """One folder of traces. `id` names it in addresses; `campaign` is the campaign's folder or None."""

    def __init__(self, id: str, traces: Path, campaign: Path | None = None) -> None:
        self.id = id
        self.traces = traces
        self.campaign = campaign
        self._reviews: FileCache[list[Verdict]] = FileCache(lambda p: read_verdicts(p)[0])
        self._records: FileCache[dict[str, Json]] = FileCache(_records)
        self._items: FileCache[dict[str, Json]] = FileCache(_items)
        self._spec: FileCache[Json] = FileCache(_spec)
        self._rows: dict[str, tuple[int, int, Json | None, Row]] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return (self.campaign or self.traces).name or str(self.traces)

    def spec(self) -> Json:
        """The campaign's specification; empty for plain traces."""
        return self._beside("spec.json", self._spec, {})

    def item(self, question_id: str) -> Json:
        """What the set says of a question; empty where it says nothing."""
        return self._beside("items.jsonl", self._items, {}).get(question_id, {})

    def listing(self) -> Listing:
        """Everything as it lies there now."""
        with self._lock:
            records = self._beside("episodes.jsonl", self._records, {})
            rows, verdicts = [], {}
            for name, entry in sorted(_entries(self.traces).items(), reverse=True):
                if name.endswith(SUFFIX):
                    run = name.removesuffix(SUFFIX)
                    verdicts[run] = self._reviews.get(entry.path, entry.stat())
                elif matched := _RUN_FILE.fullmatch(name):
                    rows.append(self._row(matched[1], entry, records.get(matched[1])))
            rows.sort(key=lambda r: (r.facts.started, r.run_id), reverse=True)
            return Listing(tuple(rows), verdicts)

    def _row(self, run: str, entry: os.DirEntry[str], record: Json | None) -> Row:
        stat = entry.stat()
        kept = self._rows.get(run)
        if kept is not None and kept[0] == stat.st_mtime_ns and kept[1] == stat.st_size:
            if kept[2] is record:
                return kept[3]
            facts = kept[3].facts
        else:
            facts = read_facts(Path(entry.path))
        row = make_row(Path(entry.path), facts, record)
        self._rows[run] = (stat.st_mtime_ns, stat.st_size, record, row)
        return row

    def recorded(self) -> int:
        """Runs that the campaign has a record of, whether their traces are there or not."""
        return len(self._beside("episodes.jsonl", self._records, {}))

    def record(self, run: str) -> Json:
        """The campaign's record of a run; empty where there is none."""
        return self._beside("episodes.jsonl", self._records, {}).get(run, {})

    def verdicts_on(self, row: Row) -> list[Verdict]:
        """Those on one run, in the order in which they were given."""
        return read_verdicts(path_of(row.path))[0]

    def _beside(self, name: str, cache: FileCache[T], empty: T) -> T:
        path = None if self.campaign is None else self.campaign / name
        try:
            return empty if path is None else cache.get(str(path), path.stat())
        except OSError:  # a campaign that is being moved, or whose records were not kept
            return empty


def _entries(folder: Path) -> dict[str, os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return {e.name: e for e in found if e.name.endswith(".jsonl") and e.is_file(follow_symlinks=False)}
    except FileNotFoundError:
        return {}


def _lines(path: Path) -> list[Json]:
    rows: list[Json] = []
    with path.open("rb") as file:
        while line := file.readline(JSON_LINE_MAX + 1):
            try:
                row = json.loads(line) if len(line) <= JSON_LINE_MAX else None
            except (ValueError, RecursionError):
                row = None  # half a line of a campaign that is running, or one that is damaged: `dof eval` says so
            if isinstance(row, dict):
                rows.append(row)
    return rows


_KEPT = ("question_id", "category", "pass", "variant", "arm", "expected_state", "expected_reason", "grade", "model")


def _records(path: Path) -> dict[str, Json]:
    return {str(r.get("run_id")): {k: r[k] for k in _KEPT if k in r} | _partial(r) for r in _lines(path)}


def _partial(record: Json) -> dict[str, Any]:
    """The claims of a partial report: a trace has those of an answer alone."""
    result = record.get("result")
    if record.get("terminal_state") == "answered" or not isinstance(result, dict):
        return {}
    return {"partial": result.get("claims")}


def _items(path: Path) -> dict[str, Json]:
    return {str(r.get("id")): r for r in _lines(path)}


def _spec(path: Path) -> Json:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class Catalog:
    """All collections by id, in order: the traces, the campaigns under them, and those that were named."""

    def __init__(self, traces: Path | None, campaigns: Sequence[Path] = ()) -> None:
        """Raises UsageError for a campaign that is none."""
        self._traces = traces
        self._named = tuple(campaigns)
        for folder in self._named:
            if not _is_campaign(folder):
                raise UsageError(f"{str(folder)!r} holds no campaign", hint="dof eval --set v4 --out DIR")
        self._known: dict[str, Collection] = {}
        self._lock = threading.Lock()

    def collections(self) -> list[Collection]:
        """As they lie there now."""
        with self._lock:
            found = []
            if self._traces is not None:
                found.append(self._known.setdefault("traces", Collection("traces", self._traces)))
            for folder in (*self._named, *self._under()):
                collection = self._campaign(folder)
                if collection not in found:
                    found.append(collection)
            return found

    def get(self, id: str) -> Collection | None:
        """A collection that `collections` has shown."""
        return next((c for c in self.collections() if c.id == id), None)

    def _campaign(self, folder: Path) -> Collection:
        where = folder.resolve()
        # An address tells nothing of the folder's name, which may be that of an arm: blind is blind.
        name = "c" + hashlib.sha256(str(where).encode("utf-8", "replace")).hexdigest()[:10]
        if name not in self._known:
            self._known[name] = Collection(name, folder / "traces", folder)
        return self._known[name]

    def _under(self) -> list[Path]:
        """Campaigns in the usual place: folders of `eval` in the folder of traces, newest first."""
        if self._traces is None or not (self._traces / "eval").is_dir():
            return []
        with os.scandir(self._traces / "eval") as found:
            folders = [Path(e.path) for e in found if e.is_dir(follow_symlinks=False)]
        return sorted((f for f in folders if _is_campaign(f)), reverse=True)[:CAMPAIGNS_MAX]


def _is_campaign(folder: Path) -> bool:
    return (folder / "spec.json").is_file()
