"""How fast traces are checked, listed and read: many copies of real ones, each with an id and a chain of its own.

    python benchmarks/traces.py FOLDER… [--copies 1000] [--list 5000] [--index DIR] [--keep DIR]

FOLDER holds traces (`traces/`, or `traces/` of a campaign). Seconds are of the processor, not of the clock: other
work on the machine does not count. Exit code 1 when a copy is not sound or a tampered one passes.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from dofrag.trace.codec import GENESIS, Record, digest, encode
from dofrag.trace.events import RunStarted
from dofrag.trace.export.report import make_report
from dofrag.trace.export.text import to_markdown
from dofrag.trace.reader import records, summarize, trace_files
from dofrag.trace.trajectory import read_trajectory
from dofrag.trace.verify import verify
from dofrag.tracing import Indexes


def main() -> int:
    """Make the copies, time what is done with them, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--copies", type=int, default=1000, help="traces to verify")
    parser.add_argument("--list", type=int, default=5000, dest="listed", help="traces to list")
    parser.add_argument("--index", type=Path, help="hold passages and quotes against this index as well")
    parser.add_argument("--keep", type=Path, help="leave the copies in this folder")
    options = parser.parse_args()
    runs = [list(records(path)) for folder in options.folders for path in trace_files(folder)]
    runs = [run for run in runs if run and isinstance(run[0].event, RunStarted)]
    if not runs:
        print("no traces in these folders", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as place:
        folder = options.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        paths = copies(runs, folder / "verify", options.copies)
        events = [len(runs[n % len(runs)]) for n in range(options.copies)]
        size = sum(path.stat().st_size for path in paths)
        print(f"{len(runs)} real traces, {len(paths)} copies: {sum(events):,} events, {size / 1e6:.1f} MB")
        print(f"events a trace: median {statistics.median(events):.0f}, most {max(events)}")
        return table(paths, copies(runs, folder / "list", options.listed), options.index)


def copies(runs: Sequence[list[Record]], folder: Path, count: int) -> list[Path]:
    """Write `count` copies, run by run in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for n in range(count):
        path = folder / f"20260101T000000Z-{n:06x}.jsonl"
        prev, lines = GENESIS, []
        for seq, record in enumerate(runs[n % len(runs)], 1):
            event = record.event
            if isinstance(event, RunStarted):
                event = dataclasses.replace(event, run_id=path.stem)
            line = encode(event, seq=seq, at=record.at, prev=prev)
            prev = digest(line)
            lines.append(line + b"\n")
        path.write_bytes(b"".join(lines))
        made.append(path)
    return made


def table(paths: list[Path], many: list[Path], index: Path | None) -> int:
    """Time each thing and print a row for it."""
    found: Counter[str] = Counter()

    def check(path: Path) -> None:
        found.update(str(problem.code) for problem in verify(path))

    seconds = timed(check, paths)
    row("verify", len(paths), seconds)
    if index is not None:
        indexes = Indexes(index)
        seconds = timed(lambda path: stored(path, indexes, found), paths)
        row("verify with an index", len(paths), seconds)
        indexes.close()
    row("list", len(many), timed(summarize, many))
    row("read as a whole", len(paths), timed(read_trajectory, paths))
    row("export as Markdown", len(paths), timed(lambda path: to_markdown(make_report(read_trajectory(path))), paths))
    missed = [path.name for path in paths[:200] if not caught(path)]
    print(f"one changed byte in each of {len(paths[:200])}: {len(missed)} not caught")
    print(f"problems of the copies: {dict(found) or 'none'}")
    return 1 if missed or set(found) - {"not_finished", "half_line"} else 0


def stored(path: Path, indexes: Indexes, found: Counter[str]) -> None:
    """Verify a trace against an index."""
    start = next(records(path)).event
    assert isinstance(start, RunStarted)
    found.update(str(problem.code) for problem in verify(path, passage_of=indexes.at_hand(start)))


def caught(path: Path) -> bool:
    """Whether a byte changed anywhere (seeded by the name) is found."""
    raw = bytearray(path.read_bytes())
    chance = random.Random(path.name)
    raw[chance.randrange(len(raw))] ^= chance.randrange(1, 256)
    changed = path.with_name(f"changed-{path.name}")
    changed.write_bytes(raw)
    try:
        return bool({p.code for p in verify(changed)} - {"run_id"})
    finally:
        changed.unlink()


def timed(do: Callable[[Path], object], paths: Sequence[Path]) -> float:
    """Processor seconds for all of them."""
    start = time.process_time()
    for path in paths:
        do(path)
    return time.process_time() - start


def row(name: str, count: int, seconds: float) -> None:
    """One line of the table."""
    print(f"{name:<24} {count:>6} traces {seconds:>7.2f} s  {seconds / count * 1000:>7.2f} ms each")


if __name__ == "__main__":
    sys.exit(main())
