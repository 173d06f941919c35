"""Building and changing an index: plan → parse → store → search index → pointer.

`build` makes the index mirror the folders that it is given. It works in a store of a new generation and replaces the
pointer at the end, so that readers see the old corpus or the new one; a build that is cut off goes on where it
stopped. An index that cannot be trusted any more is replaced by a new generation, read anew. `update` and `remove`
change the current store and search index in place: store first, then index, then pointer; a change that is cut off is
found by the next one and finished.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import CorpusError, IndexMismatch, StoreMissing, UsageError
from dofrag.ingest.intake import Intake, Tally, in_order
from dofrag.ingest.interface import CHUNKER_VERSION
from dofrag.ingest.mend import (
    begin_anew,
    check_store,
    index_folder,
    keep_from_emptying,
    mendable,
    search_is_whole,
    translated,
    work_generation,
)
from dofrag.ingest.parse import parse
from dofrag.ingest.plan import Plan, make_plan
from dofrag.ingest.report import Report, stored_report
from dofrag.ingest.work import mark_work
from dofrag.ingest.workers import Parser, Workers, bytes_reach, rare_collections
from dofrag.profiles.base import GazetteProfile
from dofrag.search.build import Follower, catch_up, rebuild
from dofrag.search.scoped import ScopedIndex
from dofrag.search.stamp import stamp_of, stamp_parts
from dofrag.store.digest import corpus_digest, running_digest
from dofrag.store.ignored import set_ignored
from dofrag.store.layout import Layout, Pointer
from dofrag.store.lock import WriterLock
from dofrag.store.schema import REBUILD
from dofrag.store.writer import StoreWriter

Progress = Callable[[str, int, int], None]
"""Called with a stage ("plan", "read", "index"), what is done of it, and all of it."""

_WORKERS_PAY_FROM = 3_000_000  # bytes to parse below which starting processes costs more than it saves
_START_EARLY_FROM = 12_000_000  # bytes in the folders from which a first build surely needs them


def silent(stage: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


def unheard(text: str) -> None:
    """A notice that nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """How this command works: the profile that identifies files, the parser, processes (None: one a core), progress,
    and who is told in a sentence that an index is being replaced.
    `chunker` and the profile's name and version stand in the store: another one means reading everything anew."""

    profile: GazetteProfile
    parser: Parser = parse
    chunker: str = CHUNKER_VERSION
    workers: int | None = None
    progress: Progress = silent
    notice: Callable[[str], None] = unheard

    @property
    def versions(self) -> dict[str, str]:
        return {"chunker": self.chunker, "profile": f"{self.profile.name} {self.profile.version}"}

    @property
    def processes(self) -> int:
        """How many to parse in; 0 for none but this one."""
        count = self.workers if self.workers is not None else min(8, os.cpu_count() or 1)
        return count if count > 1 else 0


def build(paths: Sequence[Path], index_dir: Path, ingest: Ingest, *, fresh: bool = False) -> Report:
    """Make the index hold what is in `paths`, no more and no less.

    Nothing that has not changed is read again, unless the index is damaged or `fresh` distrusts it: then a new
    generation is filled from the files. Raises UsageError for a path that is missing or holds no files, StoreBusy
    while another process writes, NewerIndex for an index of newer code, and CorpusError for a folder that holds an
    `index.json` of something else; also when of all files none can be read any more: the index then stays as it was.
    A file that cannot be read is in the report with its reason.
    """
    started = time.monotonic()
    layout = Layout(index_dir)
    with index_folder(index_dir, paths):
        layout.check_ours()
        with WriterLock(index_dir, "dof index build"), translated(layout):
            if fresh and (layout.stores() or layout.pointer() is not None):
                begin_anew(layout, ingest.notice, f"index {layout.name!r} is not trusted")
            try:
                with translated(layout):
                    return _build(layout, paths, ingest, started)
            except CorpusError as error:
                if not mendable(error):
                    raise
                begin_anew(layout, ingest.notice, error.message)
            return _build(layout, paths, ingest, started)


def _build(layout: Layout, paths: Sequence[Path], ingest: Ingest, started: float) -> Report:
    pointer: Pointer | None = layout.pointer()
    base = layout.unfinished()
    if pointer is not None and base is None:
        check_store(layout, pointer)
        base = pointer.store
    workers = Workers(ingest.processes, ingest.profile, ingest.parser, terms=pointer is None)
    if base is None and bytes_reach(paths, _START_EARLY_FROM):
        workers.start()  # they import while this process plans
    try:
        with rare_collections():
            return _build_with(workers, layout, base, pointer, paths, ingest, started)
    finally:
        workers.close()


def _build_with(
    workers: Workers,
    layout: Layout,
    base: int | None,
    pointer: Pointer | None,
    paths: Sequence[Path],
    ingest: Ingest,
    started: float,
) -> Report:
    other_code, plan = _plan(layout, base, paths, ingest)
    try:
        tally = Tally()
        unfinished = base is not None and (pointer is None or base != pointer.store)
        if pointer is None or unfinished or other_code or plan.todo():
            generation = work_generation(layout, base, pointer)
            with StoreWriter(layout.store(generation), name=layout.name) as store:
                store.resume_from_old()
                if other_code:
                    _start_over(store, ingest)
                follower = None
                if pointer is None:  # else most was stored before, and is indexed in one pass at the end
                    layout.drop_search(1)
                    follower = Follower(store.connection, layout.search(1))
                tally = _read(plan, store, ingest, workers, mirror=True, follower=follower)
                keep_from_emptying(layout, pointer, store)
                set_ignored(store, plan.ignored(), mirror=True)
                store.forget_old()
                pointer = _publish(layout, store, generation, pointer, ingest, started, follower)
        else:
            with StoreWriter(layout.store(pointer.store), name=layout.name) as store:
                set_ignored(store, plan.ignored(), mirror=True)
                pointer = _settle(layout, store, pointer, ingest)
        layout.clean(pointer.store, pointer.search)
        return _report(layout, pointer, started, plan, tally, mirrored=True)
    finally:
        plan.close()


def update(paths: Sequence[Path], index_dir: Path, ingest: Ingest) -> Report:
    """Add and change what is in `paths`; whatever else the index holds stays. Raises IndexMismatch for an index that
    another chunker or profile made: mixed ones are refused."""
    started = time.monotonic()
    layout = Layout(index_dir)
    _current(layout)
    with WriterLock(index_dir, "dof index update"), translated(layout):
        pointer = _current(layout)
        with StoreWriter(layout.store(pointer.store), name=layout.name) as store:
            _check_versions(store, pointer, ingest, layout.name)
            plan = make_plan(paths, ingest.profile, store.connection, skip=index_dir, fresh=False)
            try:
                mark_work(plan, store.connection, ingest.profile, ingest.parser, mirror=False)
                workers = Workers(ingest.processes, ingest.profile, ingest.parser)
                tally = _read(plan, store, ingest, workers, mirror=False)
                set_ignored(store, plan.ignored(), mirror=False)
                pointer = _settle(layout, store, pointer, ingest)
            finally:
                plan.close()
        layout.clean(pointer.store, pointer.search)
        return _report(layout, pointer, started, plan, tally)


def remove(codes: Sequence[str], index_dir: Path, ingest: Ingest) -> Report:
    """Remove publications from store and search index. Raises UsageError, and removes none, when one is unknown. A
    later build or update that is given their files brings them back."""
    started = time.monotonic()
    layout = Layout(index_dir)
    _current(layout)
    with WriterLock(index_dir, "dof index remove"), translated(layout):
        pointer = _current(layout)
        with StoreWriter(layout.store(pointer.store), name=layout.name) as store:
            _check_versions(store, pointer, ingest, layout.name)
            with store.transaction():
                store.set_meta({"state": "dirty"})
                unknown = [code for code in dict.fromkeys(codes) if not store.remove_publication(code)]
                if unknown:
                    named = ", ".join(repr(code) for code in unknown)
                    raise UsageError(f"no publication with code {named}", hint="`dof index show CODE` shows one")
            pointer = _settle(layout, store, pointer, ingest)
        return _report(layout, pointer, started, None, Tally(removed=len(set(codes))))


def optimize(index_dir: Path, ingest: Ingest) -> Report:
    """Write the search index anew, without what removals left in it, and give free space of the store back."""
    started = time.monotonic()
    layout = Layout(index_dir)
    _current(layout)
    with WriterLock(index_dir, "dof index optimize"), translated(layout):
        pointer = _current(layout)
        with StoreWriter(layout.store(pointer.store), name=layout.name) as store:
            _check_versions(store, pointer, ingest, layout.name)
            store.compact()
            pointer = _publish(layout, store, pointer.store, pointer, ingest, None)
        layout.clean(pointer.store, pointer.search)
        return _report(layout, pointer, started, None, Tally())


def _current(layout: Layout) -> Pointer:
    pointer = layout.pointer()
    if pointer is None:
        half = layout.unfinished() is not None
        text = f"index {layout.name!r} is half built" if half else f"no index at {layout.name!r}"
        hint = "run `dof index build` " + ("again: it goes on where it stopped" if half else "first")
        raise IndexMismatch(text, hint=hint) if half else StoreMissing(text, hint=hint)
    return pointer


def _check_versions(store: StoreWriter, pointer: Pointer, ingest: Ingest, name: str) -> None:
    meta = store.meta()
    for part, value in ingest.versions.items():
        if meta.get(part) != value:
            raise IndexMismatch(
                f"index {name!r} was built by {part} {meta.get(part)!r}, need {value!r}", hint=REBUILD
            )
    needed = stamp_parts(meta)
    for part in ("schema", "analyzer"):
        if pointer.parts.get(part) != needed[part]:
            raise IndexMismatch(
                f"index {name!r} was built by {part} {pointer.parts.get(part)!r}, need {needed[part]!r}", hint=REBUILD
            )


def _plan(layout: Layout, base: int | None, paths: Sequence[Path], ingest: Ingest) -> tuple[bool, Plan]:
    """Whether everything is to be read anew, and the plan."""
    ingest.progress("plan", 0, 0)
    if base is None:
        plan = make_plan(paths, ingest.profile, None, skip=layout.folder, fresh=True)
        mark_work(plan, None, ingest.profile, ingest.parser, mirror=True)
        return False, plan
    with StoreWriter(layout.store(base), name=layout.name) as store:
        meta = store.meta()
        # The versions are written with the first file that is taken in: before that there is nothing to distrust.
        fresh = any(meta.get(part, value) != value for part, value in ingest.versions.items())
        plan = make_plan(paths, ingest.profile, store.connection, skip=layout.folder, fresh=fresh)
        try:
            mark_work(plan, store.connection, ingest.profile, ingest.parser, mirror=True)
        except BaseException:
            plan.close()
            raise
        return fresh, plan


def _start_over(store: StoreWriter, ingest: Ingest) -> None:
    with store.transaction():
        store.forget_sources()
        store.set_meta({**ingest.versions, "state": "dirty"})


def _read(
    plan: Plan,
    store: StoreWriter,
    ingest: Ingest,
    workers: Workers,
    *,
    mirror: bool,
    follower: Follower | None = None,
) -> Tally:
    """Parse and store the groups on the plan's list, in its order; the workers are closed afterwards."""
    intake = Intake(plan, store, ingest.profile, ingest.parser, mirror=mirror)
    todo = plan.todo()
    if (in_all := plan.bytes_to_do()) < _WORKERS_PAY_FROM:
        workers.do_without()
    if todo:
        store.set_meta(ingest.versions)
    try:
        with store.gathered():
            for done, (group_key, ahead) in enumerate(in_order(todo, in_all, intake, workers), start=1):
                intake.take(group_key, ahead)
                if follower is not None:
                    follower.hear(ahead[1].terms_by_code() if ahead and ahead[1] else {})
                ingest.progress("read", done, len(todo))
            if follower is not None:
                follower.follow()  # what was parsed ahead is not what is read again below
        for group_key in store.orphaned_groups():
            if plan.members(group_key):
                intake.take(group_key, None)
    finally:
        workers.close()
    return intake.tally


def _publish(
    layout: Layout,
    store: StoreWriter,
    generation: int,
    pointer: Pointer | None,
    ingest: Ingest,
    started: float | None,
    follower: Follower | None = None,
) -> Pointer:
    """Give the store its digest, build a new search index from it or finish the one that followed it, and replace the
    pointer: the moment of truth."""
    search = pointer.search + 1 if pointer else 1
    meta = follower.finish(lambda: _finish_store(store)) if follower is not None else _finish_store(store)
    if follower is None or follower.stale:
        layout.drop_search(search)
        rebuild(store.connection, layout.search(search), lambda done, total: ingest.progress("index", done, total))
    if started is not None:
        store.set_meta({"seconds": f"{time.monotonic() - started:.3f}"})
    store.checkpoint()
    parts = stamp_parts(meta)
    fresh = Pointer(generation, search, stamp_of(parts), parts)
    layout.write_pointer(fresh)
    return fresh


def _settle(layout: Layout, store: StoreWriter, pointer: Pointer, ingest: Ingest) -> Pointer:
    """Bring the search index up to what the store holds, if it is not."""
    meta = store.meta()
    wanted = stamp_parts(meta)
    if meta.get("state") == "clean" and pointer.parts == wanted and stamp_of(wanted) == pointer.stamp:
        if search_is_whole(layout, pointer, store):
            return pointer
        ingest.notice(f"index {layout.name!r}: its search index is missing or damaged; it is written anew")
        return _publish(layout, store, pointer.store, pointer, ingest, None)
    same_code = all(pointer.parts.get(part) == wanted[part] for part in ("schema", "analyzer"))
    if meta.get("state") == "clean" or not same_code:
        return _publish(layout, store, pointer.store, pointer, ingest, None)
    try:
        catch_up(store.connection, layout.search(pointer.search), lambda d, t: ingest.progress("index", d, t))
    except IndexMismatch:
        ingest.notice(f"index {layout.name!r}: its search index is missing or damaged; it is written anew")
        return _publish(layout, store, pointer.store, pointer, ingest, None)
    digest = running_digest(store.connection)
    meta = {**meta, "corpus_digest": digest}
    # Pointer before store: while the store says "dirty", the next command does all of this again, without harm.
    parts = stamp_parts(meta)
    fresh = Pointer(pointer.store, pointer.search, stamp_of(parts), parts)
    layout.write_pointer(fresh)
    _finish_store(store, digest)
    return fresh


def _finish_store(store: StoreWriter, digest: str | None = None) -> dict[str, str]:
    """Note that all is taken over, and give up the log. `digest` where it is known: working it out reads every
    publication."""
    with store.transaction():
        store.set_meta({"corpus_digest": digest or corpus_digest(store.connection).value, "state": "clean"})
        store.clear_pending()
    store.checkpoint()
    return store.meta()


def _report(
    layout: Layout, pointer: Pointer, started: float, plan: Plan | None, tally: Tally, *, mirrored: bool = False
) -> Report:
    """Count what is there, and say what does not add up."""
    connection = sqlite3.connect(layout.store(pointer.store), isolation_level=None)
    try:
        values: dict[str, Any] = stored_report(connection, stamp=pointer.stamp)
    finally:
        connection.close()
    documents = ScopedIndex(layout.search(pointer.search), name=layout.name).documents
    problems = []
    if documents != values["chunks"]:
        problems.append(f"the store holds {values['chunks']} chunks, the search index {documents} documents")
    if plan is not None and mirrored and not plan.closed and plan.files != values["files"]:
        problems.append(f"{plan.files} files were found, {values['files']} are on record")
    if values["files"] != values["indexed"] + values["alternates"] + len(values["failed"]):
        problems.append("files on record are not indexed, alternate or failed")
    if mirrored and values["indexed"] == 0:
        problems.append("no file could be indexed")
    return Report(
        **values,
        parsed=tally.parsed,
        chunks_written=tally.chunks_written,
        unchanged=plan.unchanged if plan else None,
        removed=tally.removed,
        seconds=round(time.monotonic() - started, 3),
        problems=tuple(problems),
    )
