"""Parsing in other processes, with results in the order of the work, whatever the number of processes.

Small files travel in batches; a file above `STREAM_ABOVE` is left to the caller, who streams it. A process that
dies takes no file but its own with it.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from dofrag.domain.corpus import SourceFile
from dofrag.domain.draft import ChunkDraft, Header, ParsedPublication
from dofrag.domain.records import dataclass
from dofrag.errors import SourceUnreadable
from dofrag.ingest.plan import file_sha256, reason_of
from dofrag.profiles.base import GazetteProfile
from dofrag.search.analysis import Terms
from dofrag.search.documents import ChunksAhead, ChunkTerms, terms_ahead

Parser = Callable[[SourceFile, Any], Iterator[ParsedPublication]]
"""`parse.parse`: a file and a profile with what parsing needs. Module-level, for it travels to other processes."""

STREAM_ABOVE = 8_000_000
"""Bytes of a file above which it is streamed in the main process instead of travelling between processes."""
_BATCH_BYTES = 2_000_000  # each one costs both sides a change of what they are at
_LAST_BYTES = 250_000  # of a batch at the end, where a large one would keep one process at work and others waiting
_BATCH_FILES = 64
_LOOK_AT = 3_000  # files a folder, to see whether processes pay
_RARELY = (1_000_000, 20, 50)  # thresholds of the collector, see `rare_collections`
_AHEAD_BYTES = 16_000_000  # of files parsed or being parsed before their turn
_ChunkRow = tuple[int, int, int, tuple[str, ...], str | None, str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to parse."""

    path: Path
    rel: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file, or the reason why it is none. Chunks are plain tuples: they cross a process border."""

    sha256: str
    publications: tuple[tuple[Header, tuple[_ChunkRow, ...]], ...] = ()
    reason: str | None = None
    terms: tuple[ChunkTerms, ...] = ()  # of each publication, when they were asked for

    def terms_by_code(self) -> dict[tuple[str, str], ChunksAhead]:
        """By source and code, as `Follower.follow` takes them."""
        return {
            (header.source, header.code): ([row[4] for row in rows], *terms)
            for (header, rows), terms in zip(self.publications, self.terms, strict=False)
        }

    def stream(self) -> Iterator[ParsedPublication]:
        if self.reason is not None:
            raise SourceUnreadable(self.reason)
        for header, rows in self.publications:
            # Drafts travel as the plain tuples that they are: naming their parts again costs as much as storing them.
            yield ParsedPublication(header, cast("Iterator[ChunkDraft]", iter(rows)))


def stream_file(job: Job, profile: GazetteProfile, parser: Parser) -> Iterator[ParsedPublication]:
    """Parse here and now. Raises whatever the reader raises."""
    source = profile.identify(job.path, job.rel)
    if source is None:
        raise SourceUnreadable("no longer recognised as a file of the gazette")
    yield from parser(source, profile)


def parse_file(job: Job, profile: GazetteProfile, parser: Parser) -> Parsed:
    """Parse a file whole. No exception leaves it: whatever a hostile file sets off is that file's reason."""
    sha = ""
    try:
        sha = file_sha256(job.path)
        return Parsed(
            sha,
            tuple(
                (publication.header, tuple([chunk[:] for chunk in publication.chunks]))
                for publication in stream_file(job, profile, parser)
            ),
        )
    except Exception as problem:  # noqa: BLE001  # reported as the file's reason, never dropped
        return Parsed(sha, reason=reason_of(problem))


class Workers:
    """Ordered parsing. With `count` 0 everything happens in this process. `terms`: the processes also
    work out what the search index takes of the chunks."""

    def __init__(self, count: int, profile: GazetteProfile, parser: Parser, *, terms: bool = False) -> None:
        self._count = count
        self._profile = profile
        self._parser = parser
        self._terms_wanted = terms
        self._pool: ProcessPoolExecutor | None = None

    def results(self, jobs: Iterable[Job], in_all: int) -> Iterator[tuple[Job, Parsed | None]]:
        """Each job in order with its result; None for one that is too large to travel: the caller streams it.
        `in_all`: bytes of all of them, or more."""
        pending: deque[tuple[list[Job], Future[list[Parsed]] | None]] = deque()
        ahead = 0
        for batch in _batches(jobs, in_all, self._count):
            small = batch[0].bytes <= STREAM_ABOVE
            pending.append((batch, self._submit(batch) if small and self._count else None))
            ahead += sum(job.bytes for job in batch) if small else 0
            # A slow file holds up those behind it, for order is kept; so work runs ahead of it, within bounds.
            while pending and (ahead > _AHEAD_BYTES or self._is_due(pending[0][1], len(pending))):
                first, future = pending.popleft()
                ahead -= sum(job.bytes for job in first) if first[0].bytes <= STREAM_ABOVE else 0
                yield from self._finish(first, future)
        while pending:
            yield from self._finish(*pending.popleft())

    def _is_due(self, future: Future[list[Parsed]] | None, waiting: int) -> bool:
        """Whether the first batch can be taken without waiting for it. One that is parsed here is taken when the
        processes have enough to do meanwhile."""
        return future.done() if future is not None else waiting > 2 * self._count

    def start(self) -> None:
        """Start the processes ahead of the work, before anything else is opened. Copies of this one have no more to
        import; where it cannot be copied safely, the new ones import meanwhile."""
        if self._count and self._pool is None and _may_fork():
            getattr(self._profile, "anatomy", None)  # what parsing needs of it is compiled once for all of them
            self._pool = self._new_pool(self._count, "fork")
        for _ in range(self._count):
            self._submit([])

    def do_without(self) -> None:
        """Parse in this process."""
        self.close()
        self._count = 0

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _submit(self, batch: list[Job]) -> Future[list[Parsed]] | None:
        if self._pool is None:
            self._pool = self._new_pool(self._count)
        try:
            with _interrupts_held():
                return self._pool.submit(_parse_batch, batch)
        except BrokenProcessPool:
            return None  # found out here rather than at the result; `_finish` parses such a batch apart

    def _new_pool(self, count: int, method: str = "spawn") -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            count,
            mp_context=multiprocessing.get_context(method),
            initializer=_start_worker,
            initargs=(self._profile, self._parser, self._terms_wanted),
        )

    def _finish(self, batch: list[Job], future: Future[list[Parsed]] | None) -> Iterator[tuple[Job, Parsed | None]]:
        if batch[0].bytes > STREAM_ABOVE:
            yield batch[0], None
        elif not self._count:
            for job in batch:
                yield job, parse_file(job, self._profile, self._parser)
        else:
            try:
                results = future.result() if future is not None else None
            except BrokenProcessPool:
                results = None
            yield from zip(batch, results or self._apart(batch), strict=True)

    def _apart(self, batch: list[Job]) -> list[Parsed]:
        """A process died over this batch, or over a neighbour's: find the file that kills, keep the others. Where no
        process can even start (a session whose main module cannot be imported, say), go on in this one."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        found = self._in_a_new_process(batch)  # most batches only stood beside the one that killed
        if found is None and not self._can_start():
            self._count = 0
            return [parse_file(job, self._profile, self._parser) for job in batch]
        return self._halved(batch) if found is None else found

    def _halved(self, batch: list[Job]) -> list[Parsed]:
        """A batch that killed a process, in ever smaller parts."""
        if len(batch) == 1:
            return [Parsed("", reason="the process that read it died")]
        parts = batch[: len(batch) // 2], batch[len(batch) // 2 :]
        return [parsed for part in parts for parsed in self._in_a_new_process(part) or self._halved(part)]

    def _in_a_new_process(self, batch: list[Job]) -> list[Parsed] | None:
        """None when it died."""
        with self._new_pool(1) as pool:
            try:
                return pool.submit(_parse_batch, batch).result()
            except BrokenProcessPool:
                return None

    def _can_start(self) -> bool:
        return bool(self._count) and self._in_a_new_process([]) is not None


def bytes_reach(paths: Iterable[Path], enough: int) -> bool:
    """Whether the files in these folders add up to so many bytes; looks no further once they do, and at no more than
    a few thousand."""
    size = 0
    for path in paths:
        found = path.rglob("*") if path.is_dir() else [path]
        for file in itertools.islice(found, _LOOK_AT):
            with contextlib.suppress(OSError):
                size += file.stat().st_size
            if size >= enough:
                return True
    return False


def _batches(jobs: Iterable[Job], left: int, processes: int) -> Iterator[list[Job]]:
    """Handfuls of jobs, in order: smaller ones where few bytes are left."""
    batch: list[Job] = []
    size = 0
    most = _BATCH_BYTES
    for job in jobs:
        if batch and (size + job.bytes > most or len(batch) >= _BATCH_FILES):
            yield batch
            left -= size
            batch, size = [], 0
            most = min(_BATCH_BYTES, max(_LAST_BYTES, left // (2 * processes + 1)))
        batch.append(job)
        size += job.bytes
    if batch:
        yield batch


def _may_fork() -> bool:
    """Whether this process may be copied: only on Linux, and only while it has one thread, of whatever language.
    A copy has the others' locks without the threads that would open them."""
    try:
        return sys.platform == "linux" and len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Results are plain tuples without cycles: looking for cycles among them all the time is wasted time."""
    before = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process that starts here inherits the block, so that Ctrl-C reaches the main process alone, even while the
    new one still imports; what came in meanwhile is delivered at the end."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# One worker process serves one build: what it parses with is set once, when it starts.
_setup: list[tuple[GazetteProfile, Parser, Terms | None]] = []


def _start_worker(profile: GazetteProfile, parser: Parser, terms: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what an interrupt means
    threading.Thread(target=_die_with_parent, daemon=True).start()
    gc.freeze()  # what came with the program stays: no collection need look at it
    gc.set_threshold(*_RARELY)
    cut = None
    if terms:
        from dofrag.search.engine import index_terms

        cut = index_terms()
    _setup.append((profile, parser, cut))


def _die_with_parent() -> None:
    """A killed main process closes no pools; without this its workers would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _parse_batch(batch: list[Job]) -> list[Parsed]:
    profile, parser, terms = _setup[0]
    found = [parse_file(job, profile, parser) for job in batch]
    return found if terms is None else [_with_terms(parsed, terms) for parsed in found]


def _with_terms(parsed: Parsed, terms: Terms) -> Parsed:
    try:
        ahead = [terms_ahead(((row[3], row[6]) for row in rows), terms) for _, rows in parsed.publications]
    except UnicodeError:
        return parsed  # text that the store refuses, with its reason
    return replace(parsed, terms=tuple(ahead))
