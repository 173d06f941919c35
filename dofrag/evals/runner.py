"""Campaigns: every item of a set, passed to runs as a question and a date, in one or several processes.

An episode is written when it ends. Whatever kills a campaign, what was done is kept, and run again it goes on.
"""

from __future__ import annotations

import itertools
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from dofrag.domain.records import dataclass
from dofrag.domain.run import Reason
from dofrag.errors import CreditExhausted, EvalError, Interrupted, UsageError
from dofrag.evals import records
from dofrag.evals.conduct import conduct, conduct_row
from dofrag.evals.dataset import Item
from dofrag.evals.grade import grade
from dofrag.evals.locate import Unit
from dofrag.evals.observe import Observed
from dofrag.store.lock import WriterLock

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: its result, what was observed of it, and the error that ended it."""

    result: Json
    seen: Observed = Observed()
    error: Exception | None = None


class Bench(Protocol):
    """Where questions are run. It travels to other processes, so it holds values only. `ask` gets no item: nothing
    that is expected can reach a run; `turn` is the number of the pass, which seeds whatever chance there is."""

    def ask(self, question: str, as_of: date | None, turn: int) -> Ran: ...

    def units(self, item: Item, cited: Sequence[int]) -> tuple[Unit, ...]: ...


@dataclass(frozen=True, slots=True)
class Job:
    """One item, its place in the set, which pass it is, and in which variant it is run."""

    index: int
    item: Item
    turn: int
    variant: Json


@dataclass(frozen=True, slots=True)
class Episode:
    """A record, or the error that ends the batch without one."""

    record: Json | None
    fatal: Exception | None = None


def episode(bench: Bench, job: Job) -> Episode:
    """Run one item and grade it. A run that was broken off, or that no credit was left for, leaves no record."""
    item = job.item
    try:
        ran = bench.ask(item.question, item.as_of, job.turn)
    except UsageError as error:
        return Episode(None, UsageError(f"question {item.id!r}: {error.message}", hint=error.hint))
    if isinstance(ran.error, CreditExhausted):
        return Episode(None, CreditExhausted(ran.error.message, hint=ran.error.hint))
    result = ran.result
    if result["reason"] == Reason.INTERRUPTED:
        return Episode(None, Interrupted("the campaign was interrupted"))
    units = bench.units(item, [*result["citations"], *ran.seen.read])
    requirements = [r for sub in result["coverage"] for r in sub["requirements"]]
    seen = ran.seen
    record = {
        "index": job.index,
        "pass": job.turn,
        "variant": job.variant["name"],
        "arm": job.variant["arm"],
        "question_id": item.id,
        "category": item.category,
        "subset": item.subset,
        "phrasing": item.phrasing,
        "expected_state": item.expected_state,
        "expected_reason": item.expected_reason,
        "terminal_state": result["terminal_state"],
        "termination_reason": result["reason"],
        "closure": result["closure"],
        "sequence": list(seen.sequence),
        "calls_rejected": dict(seen.refused),
        "read": {str(chunk_id): code for chunk_id, code in seen.read.items()},
        "bound_tripped": seen.limit,
        "first_call_empty": seen.first_empty,
        "empty_calls": seen.empty,
        "recovered_after_empty": seen.recovered,
        "identical_calls": seen.identical,
        "overlap_searches": seen.overlapping,
        "context_tokens_est": seen.read_chars // 4,
        "requirements_total": len(requirements),
        "requirements_met": sum(r["status"] == "answered" for r in requirements),
        "rejected_citations": result["rejected_citations"],
        "drafts_rejected": len(result["rejections"]),
        "spend": result["spend"],
        "run_id": result["run_id"],
        "utc": result["run_id"][:16],
        "trace": Path(str(result["trace"])).name,
        "trace_sha256": result["trace_sha256"],
        "error": None if ran.error is None else f"{type(ran.error).__name__}: {ran.error}"[:500],
        "units": [asdict(u) for u in units],
        "result": {name: result[name] for name in GRADED},
        "grade": grade_row(item, result, units),
    }
    return Episode(record | {"conduct": conduct_of(item, record, units)})


GRADED = ("terminal_state", "reason", "answer", "claims", "sources", "premise")
"""What of a result a grade is made from: enough to make it again without an index."""


def grade_row(item: Item, result: Mapping[str, Any], units: Sequence[Unit]) -> Json:
    """The grade as JSON values."""
    row = asdict(grade(item, result, units))
    row["end"] = str(row["end"])
    return row | {"nuggets": list(row["nuggets"]), "forbidden": list(row["forbidden"]), "why": list(row["why"])}


def conduct_of(item: Item, record: Mapping[str, Any], units: Sequence[Unit]) -> Json:
    """How the run went about it, from what its record holds. Only `core` has the tools that items speak of."""
    return conduct_row(
        conduct(
            item,
            units,
            sequence=record["sequence"],
            read={int(chunk_id): code for chunk_id, code in record["read"].items()},
            choice=record["arm"] == "core",
            reason_ok=record["grade"]["reason_ok"],
        )
    )


def run_campaign(
    folder: Path,
    benches: Mapping[str, Bench],
    items: Sequence[Item],
    spec: Json,
    *,
    workers: int = 1,
    on_begin: Callable[[], None] = lambda: None,
    on_done: Callable[[Json, int, int], None] = lambda record, done, total: None,
) -> list[Json]:
    """Run what is missing of a campaign and return all its records: every question in every variant of the
    specification, each on its bench, in every pass. `on_begin` is called once the specification stands and before
    anything is run, `on_done` is told of each record as it is made.

    Raises UsageError for a folder that holds another campaign, CreditExhausted and Interrupted with what was kept,
    and EvalError where a process died.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{str(folder)!r} cannot be made: {error.strerror}", hint="name another with --out"
        ) from None
    with WriterLock(folder, "dof eval"):
        records.begin(folder, spec, items)
        on_begin()
        records.mend(folder)
        there = {(r["variant"], r["pass"], r["index"]) for r in records.read_records(folder)}
        jobs = [
            Job(i, item, n, variant)
            for n in range(1, int(spec["passes"]) + 1)
            for i, item in enumerate(items)
            for variant in spec["variants"]
            if (variant["name"], n, i) not in there
        ]
        done, total = len(there), records.expected_episodes(spec)
        stop = _Stop()
        try:
            for made in _episodes(benches, jobs, workers):
                if made.record is None:
                    assert made.fatal is not None
                    raise made.fatal
                records.append(folder, made.record)
                done += 1
                on_done(made.record, done, total)
        except BaseException as error:
            kept = f"{_kept(folder)} of {total} episodes are kept in {folder}"
            # Once Ctrl-C was pressed, whatever it broke is its doing.
            if stop.asked or isinstance(error, KeyboardInterrupt | Interrupted):
                raise Interrupted(kept, hint=_AGAIN) from None
            if isinstance(error, CreditExhausted):
                raise CreditExhausted(f"{error.message}; {kept}", hint=_AGAIN) from None
            if isinstance(error, BrokenProcessPool):
                raise EvalError(f"a process died; {kept}", hint=_AGAIN) from None
            if isinstance(error, OSError):
                raise EvalError(f"{error.strerror or error}; {kept}", hint=_AGAIN) from error
            raise
        finally:
            stop.leave()
        return records.read_records(folder)


def _kept(folder: Path) -> int:
    records.mend(folder)
    return len(records.read_records(folder))


class _Stop:
    """Remembers that Ctrl-C was pressed, and lets it be raised as ever. Only a process's main thread hears it."""

    def __init__(self) -> None:
        self.asked = False
        self._heard = threading.current_thread() is threading.main_thread()
        if self._heard:
            self._before = signal.signal(signal.SIGINT, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt

    def leave(self) -> None:
        if self._heard:
            signal.signal(signal.SIGINT, self._before)


_AGAIN = "run the same command again with --out: it goes on there"


def _episodes(benches: Mapping[str, Bench], jobs: Sequence[Job], workers: int) -> Iterator[Episode]:
    """As they end. Little more is handed out than is being worked on, so that an end of the batch wastes little."""
    if workers <= 1 or len(jobs) <= 1:
        yield from (episode(benches[job.variant["name"]], job) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context, initializer=_in_worker)
    waiting = iter(jobs)
    running: set[Future[Episode]] = set()
    try:
        for job in itertools.islice(waiting, workers + 1):
            running.add(pool.submit(episode, benches[job.variant["name"]], job))
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                yield future.result()
                for job in itertools.islice(waiting, 1):
                    running.add(pool.submit(episode, benches[job.variant["name"]], job))
    finally:
        # The processes are ended before the pool is: one that is in the middle of a run would be waited for.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _in_worker() -> None:
    """Ctrl-C is for the campaign's own process; and a worker does not outlive it, however it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
