"""How fast files become a searchable index, and in how much memory.

    python benchmarks/ingest.py PATH… [--large-mb 300] [--workers N]

Prints one row a case: MB/s from file to searchable index, peak memory of the process tree, seconds of an unchanged
second build, and the same chunks put into SQLite's FTS5 in the same run, as a ratio. Then where the processor time
went: planning, parsing (in the workers), storing and indexing (in the main process, while they parse), and indexing
alone. Needs psutil for the memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil


def timed(command: list[str]) -> tuple[float, str]:
    """Seconds of a process, and what it printed. Nothing looks at it meanwhile."""
    started = time.perf_counter()
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - started
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}: {ended.stdout[:500]}")
    return seconds, ended.stdout


def peak_memory(command: list[str]) -> int:
    """Bytes that a process and its children hold together at most. Looking takes time from them, a
    twentieth where the processors have nothing to spare: a run that is timed is another one."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    root = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        peak = max(peak, tree_memory(root))
        time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return peak


def tree_memory(root: psutil.Process) -> int:
    """Bytes that a process and its children hold: proportional shares where the system tells, so that shared pages
    count once."""
    total = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    for process in processes:
        try:
            info = process.memory_full_info()
            total += getattr(info, "pss", info.rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total


def fts5(store: Path, folder: Path) -> float:
    """Seconds that SQLite's own full-text search takes for the chunks of a finished store: titles and texts, no
    stemming, no filters. What reading and cutting takes is not in it."""
    started = time.perf_counter()
    target = sqlite3.connect(folder / "fts5.sqlite")
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("CREATE VIRTUAL TABLE f USING fts5(title, text, tokenize = 'unicode61 remove_diacritics 2')")
    target.execute("ATTACH ? AS store", [str(store)])
    target.execute(
        """INSERT INTO f (rowid, title, text) SELECT c.id, p.title, c.text FROM store.chunks c
           JOIN store.publications p ON p.id = c.publication_id"""
    )
    target.commit()
    target.close()
    return time.perf_counter() - started


def reindex(index: Path) -> tuple[float, float]:
    """Seconds, and seconds of processor time, that the search index alone takes from the same store: what FTS5 is
    compared with."""
    from dofrag.search.build import rebuild

    connection = sqlite3.connect(next(index.glob("store-*.sqlite")))
    started, busy = time.perf_counter(), time.process_time()
    rebuild(connection, index / "bench", lambda done, total: None)
    connection.close()
    return time.perf_counter() - started, time.process_time() - busy


def stages(paths: list[str], index: Path, workers: int | None) -> dict[str, float]:
    """Processor seconds of one build by stage, measured in this process and in its workers."""
    from dofrag.ingest.pipeline import Ingest, build
    from dofrag.wiring import profile

    marks: dict[str, tuple[float, float]] = {}
    begun = processor()
    build(
        [Path(path) for path in paths],
        index,
        Ingest(profile=profile(), workers=workers, progress=lambda stage, *_: marks.setdefault(stage, processor())),
    )
    ended = processor()
    planned = marks.get("read", begun)
    return {"plan": planned[0] - begun[0], "parse": ended[1] - begun[1], "store and index": ended[0] - planned[0]}


def processor() -> tuple[float, float]:
    """Seconds used so far by this process, and by its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def large_file(folder: Path, megabytes: int) -> None:
    """One publication of that size: numbered articles and a long table."""
    path = folder / "2024/01/10012024/MAT/001_DOF_20240110_MAT_9000001.md"
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as handle:
        handle.write("# SECRETARÍA DE PRUEBA\n\n## ACUERDO que pone a prueba la memoria\n\n")
        article = 0
        while handle.tell() < megabytes * 1_000_000:
            article += 1
            handle.write(f"Artículo {article}. Las personas obligadas llevarán un registro del folio {article}.\n\n")
            if article % 50 == 0:
                handle.write("| Folio | Zona | Importe |\n|---|---|---|\n")
                handle.writelines(f"| {article}-{i} | zona {i % 7} | {i * 13}.50 |\n" for i in range(2000))
                handle.write("\n")


def case(name: str, paths: list[str], workers: int | None) -> None:
    """Build, build again, compare; print a row."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        command = [sys.executable, "-m", "dofrag.cli.main", "index", "build", *paths]
        command += ["--json", "--quiet", *(["--workers", str(workers)] if workers else []), "--index"]
        seconds, output = timed([*command, str(index)])
        report = json.loads(output)
        again, second = timed([*command, str(index)])
        assert json.loads(second)["parsed"] == 0, "the second build read files again"
        memory = peak_memory([*command, str(Path(folder) / "watched")])
        megabytes = report["bytes"] / 1e6
        (tantivy, alone), other = reindex(index), fts5(next(index.glob("store-*.sqlite")), Path(folder))
        print(
            f"| {name} | {megabytes:.1f} | {report['chunks']:,} | {seconds:.1f} | {megabytes / seconds:.1f} "
            f"| {memory / 1e6:.0f} | {again:.1f} | {tantivy:.1f} | {tantivy / other:.2f} |"
        )
        spent = stages(paths, Path(folder) / "stages", workers) | {"index alone": alone}
        print("  processor seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in spent.items()))


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="folders of real text; none: only the generated file")
    parser.add_argument("--large-mb", type=int, default=300, help="size of the generated file, 0 for none")
    parser.add_argument("--workers", type=int, default=None)
    options = parser.parse_args()
    print("| case | MB | chunks | seconds | MB/s | peak MB (tree) | 2nd build s | index alone s | index / FTS5 |")
    print("|---|---|---|---|---|---|---|---|---|")
    if options.paths:
        case("given folders", options.paths, options.workers)
    if options.large_mb:
        with tempfile.TemporaryDirectory() as folder:
            large_file(Path(folder), options.large_mb)
            case(f"one file of {options.large_mb} MB", [folder], options.workers)


if __name__ == "__main__":
    main()
