"""How the product does at full size: a made-up gazette of N chunks through the real pipeline, store and index.

    python benchmarks/scale.py --chunks 1000000 --folder DIR [--markdown] [--optimize] [--write FILE]

Files → `build` → sizes → searches and reads → SQLite's FTS5 over the same chunks → 500 more publications while two
processes read. Each stage is a process of its own and leaves its figures in DIR; a stage that is done is not done
again. Without --markdown, files hold the chunks ready made, so that what is measured is planning, storing and
indexing; with it, files hold the text and everything is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import synthetic
from report import write_between
from scaling import asking

SEED = 1
ADDED = 500
Figures = dict[str, Any]


def write_files(folder: Path, chunks: int, markdown: bool) -> Figures:
    gazette = synthetic.gazette(SEED)
    number = count = 0
    while count < chunks:
        text = gazette.publication(number)
        write(text, folder / "files", markdown)
        count += len(text.passages)
        number += 1
    return {"publications": number, "chunks": count}


def write(text: synthetic.Text, folder: Path, markdown: bool) -> None:
    if markdown:
        synthetic.write_markdown(text, folder)
    else:
        synthetic.write_ready(text, folder)


def ingest(markdown: bool) -> Any:
    from dofrag.ingest.parse import parse
    from dofrag.ingest.pipeline import Ingest
    from dofrag.wiring import profile

    return Ingest(profile=profile(), parser=parse if markdown else synthetic.parse)


def spent() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def clocked(work: Callable[[], Any]) -> tuple[Any, Figures]:
    begun, busy = time.perf_counter(), spent()
    result = work()
    return result, {"seconds": time.perf_counter() - begun, "cpu_seconds": spent() - busy}


def build(folder: Path, markdown: bool) -> Figures:
    from dofrag.ingest import pipeline

    report, took = clocked(lambda: pipeline.build([folder / "files"], folder / "index", ingest(markdown)))
    assert not report.failed, report.failed[:3]
    return took | {"chunks": report.chunks, "publications": report.publications} | sizes(folder / "index")


def sizes(index: Path) -> Figures:
    """Bytes of the store, of the search index, and of the texts as UTF-8."""
    store = next(index.glob("store-*.sqlite"))
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    (text,) = connection.execute("SELECT sum(length(CAST(text AS BLOB))) FROM chunks").fetchone()
    connection.close()
    search = sum(p.stat().st_size for p in next(index.glob("search-*")).rglob("*") if p.is_file())
    return {"store": store.stat().st_size, "search": search, "text": text}


def update(folder: Path, markdown: bool) -> Figures:
    """More publications of the same gazette while two processes search and a second writer is turned away."""
    from dofrag.ingest import pipeline

    done = json.loads((folder / "files.json").read_text())
    index = folder / "index"
    more = folder / "more"
    for number in range(done["publications"], done["publications"] + ADDED):
        write(synthetic.gazette(SEED).publication(number), more, markdown)
    stop = folder / "stop"
    stop.unlink(missing_ok=True)
    readers = [stage(folder, "reader", wait=False) for _ in range(2)]
    try:
        time.sleep(3)
        second = subprocess.Popen([sys.executable, __file__, "--stage", "second", "--folder", str(folder)],
                                  stdout=subprocess.PIPE, text=True)  # fmt: skip
        report, took = clocked(lambda: pipeline.update([more], index, ingest(markdown)))
        refused = json.loads(second.communicate()[0])
        time.sleep(1)
    finally:
        stop.touch()  # else they would search for ever
    said = [json.loads(reader.communicate()[0]) for reader in readers]
    assert report.chunks_written
    assert all(reader.returncode == 0 for reader in readers)
    return took | {"publications": ADDED, "chunks": report.chunks_written, "readers": said, "second writer": refused}


def reader(folder: Path) -> Figures:
    """Search until told to stop; open the index anew every twenty searches, as a new run would."""
    done = json.loads((folder / "files.json").read_text())
    times, opened = [], 0
    product = asking.Product(folder / "index")
    asked = asking.questions(SEED, done["publications"], 20, product.newest)
    synthetic.gazette.cache_clear()
    while not (folder / "stop").exists():
        opened += 1
        times += _searched(asking.Product(folder / "index"), asked)
    return {"searches": len(times), "opened": opened} | asking.spread(times)


def _searched(product: asking.Product, asked: list[asking.Asked]) -> list[tuple[float, float]]:
    return [asking.timed(lambda one=one: product.evidence(one)) for one in asked]


def second(folder: Path) -> Figures:
    """A second writer, by the command line: told that another one is at work."""
    command = [sys.executable, "-m", "dofrag.cli.main", "index", "update", str(folder / "more"), "--json"]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        run = subprocess.run(
            [*command, "--index", str(folder / "index")], capture_output=True, text=True, check=False
        )
        said = json.loads(run.stdout)
        if "error" in said:
            return {"exit": run.returncode, "code": said["error"]["code"]}
    return {"exit": None, "code": None}


def optimize(folder: Path, markdown: bool) -> Figures:
    from dofrag.ingest import pipeline

    return clocked(lambda: pipeline.optimize(folder / "index", ingest(markdown)))[1] | sizes(folder / "index")


def build_fts5(folder: Path, titles: bool) -> Figures:
    target = folder / FTS5[titles]
    target.unlink(missing_ok=True)
    seconds = asking.build_fts5(next((folder / "index").glob("store-*.sqlite")), target, titles=titles)
    return {"seconds": seconds, "bytes": target.stat().st_size}


def fts5(folder: Path, titles: bool, count: int) -> Figures:
    done = json.loads((folder / "files.json").read_text())
    return asking.measure_fts5(folder / FTS5[titles], folder / "index", SEED, done["publications"], count)


def search(folder: Path, count: int) -> Figures:
    done = json.loads((folder / "files.json").read_text())
    return asking.measure_search(folder / "index", SEED, done["publications"], count)


def stage(folder: Path, name: str, *, wait: bool = True) -> Any:
    """Run a stage in a new process of this script; its figures, or the process itself."""
    command = [sys.executable, __file__, "--stage", name, "--folder", str(folder), *FLAGS]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path[:1], os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    if not wait:
        return process
    output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"stage {name} ended with {process.returncode}")
    return json.loads(output)


FLAGS: list[str] = []
FTS5 = ("fts5.sqlite", "fts5-titles.sqlite")
STAGES = (
    "files",
    "build",
    "fts5-build",
    "fts5-titles-build",
    "search",
    "fts5",
    "fts5-titles",
    "update",
    "search-after",
    "optimize",
    "search-optimized",
)


def one(name: str, options: argparse.Namespace) -> Figures:
    folder, markdown = options.folder, options.markdown
    match name:
        case "files":
            return write_files(folder, options.chunks, markdown)
        case "build":
            shutil.rmtree(folder / "index", ignore_errors=True)
            return build(folder, markdown)
        case "search" | "search-after" | "search-optimized":
            return search(folder, options.questions)
        case "fts5-build" | "fts5-titles-build":
            return build_fts5(folder, "titles" in name)
        case "fts5" | "fts5-titles":
            return fts5(folder, "titles" in name, min(20, options.questions))
        case "update":
            return update(folder, markdown)
        case "optimize":
            return optimize(folder, markdown)
        case "reader":
            return reader(folder)
        case "second":
            return second(folder)
    raise SystemExit(f"no stage named {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, required=True, help="where files, index and figures go")
    parser.add_argument("--markdown", action="store_true", help="files hold the text, and the real parser reads them")
    parser.add_argument("--optimize", action="store_true", help="also write the search index anew, and search it")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this document, too")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        json.dump(one(options.stage, options), sys.stdout)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    FLAGS[:] = ["--chunks", str(options.chunks), "--questions", str(options.questions)]
    FLAGS.extend(["--markdown"] * options.markdown)
    figures: Figures = {}
    for name in STAGES if options.optimize else STAGES[:-2]:
        path = options.folder / f"{name}.json"
        if not path.exists():
            print(f"{name} …", file=sys.stderr)
            path.write_text(json.dumps(stage(options.folder, name), indent=1), encoding="utf-8")
        figures[name] = json.loads(path.read_text(encoding="utf-8"))
    from scaling.tables import tables

    text = tables(figures, options.markdown)
    print(text)
    if options.write:
        write_between(options.write, "scale.py --markdown" if options.markdown else "scale.py", text)


if __name__ == "__main__":
    main()
