"""A build killed at any moment and run again ends as one that ran through: same stamp, same chunk ids."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny_gazette import EVERYTHING, TinyProfile, small_corpus, tiny_parse, write

from dofrag.errors import IndexMismatch, StoreMissing
from dofrag.ingest.pipeline import Ingest, build, silent
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
KILLS = 20
SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_gazette import TinyProfile, tiny_parse
from dofrag.ingest import pipeline
def main():
    pipeline._WORKERS_PAY_FROM = 0
    if sys.argv[5] == "early":  # processes start before anything else and may be copies of this one
        pipeline._START_EARLY_FROM = 0
    ingest = pipeline.Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=int(sys.argv[4]))
    print("go", flush=True)
    pipeline.build([Path(sys.argv[2])], Path(sys.argv[3]), ingest)
    print("done", flush=True)
if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True)
class Reference:
    """What uninterrupted builds came to: of the first corpus, and of the second one over the index of the first."""

    root: Path
    first: tuple[str, dict[str, list[int]]]
    second: tuple[str, dict[str, list[int]]]
    seconds: float


def outcome(index: Path) -> tuple[str, dict[str, list[int]]]:
    with open_index(index) as opened:
        listing = opened.reader.list_publications(EVERYTHING, limit=10_000)
        chunks = {p.code: [c.id for c in opened.reader.chunks(p.code, EVERYTHING)] for p in listing.publications}
        return opened.stamp, chunks


def _outcome_or_hint(index: Path) -> object:
    """What the index holds, or the command that the refusal to open it names."""
    try:
        return outcome(index)
    except (IndexMismatch, StoreMissing) as refusal:
        return "dof index build" if "dof index build" in (refusal.hint or "") else refusal


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    root = tmp_path_factory.mktemp("kill")
    small_corpus(root / "one", 100)
    (root / "one" / "bad.md").write_text("FAIL")
    shutil.copytree(root / "one", root / "two")
    for i in range(1000, 1100, 3):
        write(root / "two", f"{i % 5}/{i}.md", f"un texto nuevo del número {i}", date="2024-03-01")
    (root / "two" / "1" / "1001.md").unlink()
    process, _ = start(root / "one", root / "index", 1)
    began = time.monotonic()
    assert process.communicate(timeout=120)[0] == "done\n"
    seconds = time.monotonic() - began
    first = outcome(root / "index")
    shutil.copytree(root / "index", root / "index-one")
    build([root / "two"], root / "index", INGEST)
    return Reference(root, first, outcome(root / "index"), seconds)


def start(corpus: Path, index: Path, workers: int, when: str = "late") -> tuple[subprocess.Popen[str], float]:
    """A build in a process of its own, past its imports."""
    arguments = [str(Path(__file__).parents[1]), str(corpus), str(index), str(workers), when]
    script = index.parent / "run_build.py"  # a file, for worker processes import the main module
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(script), *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    return process, time.monotonic()


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_and_run_again(reference: Reference, tmp_path: Path, seed: int) -> None:
    rebuilding = seed % 2 == 1
    index = tmp_path / "index"
    if rebuilding:
        shutil.copytree(reference.root / "index-one", index)
    corpus = reference.root / ("two" if rebuilding else "one")
    process, began = start(corpus, index, workers=2 if seed % 3 == 0 else 1, when="late" if seed % 2 else "early")
    moment = random.Random(seed).random() * reference.seconds
    time.sleep(max(0.0, began + moment - time.monotonic()))
    process.kill()
    process.communicate()
    if rebuilding:  # the old corpus serves until the new one is complete
        assert outcome(index) in (reference.first, reference.second)
    else:
        assert _outcome_or_hint(index) in (reference.first, "dof index build")
    report = build([corpus], index, INGEST)
    assert report.problems == ()
    assert outcome(index) == (reference.second if rebuilding else reference.first)
    assert verify(index, silent).faults == []


@pytest.mark.parametrize("when", ["late", "early"])
def test_no_worker_outlives_a_killed_build(reference: Reference, tmp_path: Path, when: str) -> None:
    psutil = pytest.importorskip("psutil", reason="psutil looks for the workers")
    process, _ = start(reference.root / "one", tmp_path / "index", workers=2, when=when)
    parent = psutil.Process(process.pid)
    children: list[object] = []
    for _ in range(200):
        try:
            found = parent.children(recursive=True)
            children = [c for c in found if "resource_tracker" not in " ".join(c.cmdline())]
        except psutil.NoSuchProcess:
            break
        if children:
            break
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert children, "the build started no workers before it ended"
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
