"""An index in use while it is written: readers in other processes, and a second writer."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import textwrap
from datetime import date
from pathlib import Path

import pytest
from tiny_gazette import TinyProfile, small_corpus, tiny_parse, write

from dofrag.domain.corpus import Filters
from dofrag.ingest.pipeline import Ingest, build, optimize, update
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index
from dofrag.store.lock import WriterLock

INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]

OPEN = Filters(as_of=date.max)
READER = textwrap.dedent(
    """
    import sys, time
    from datetime import date
    from pathlib import Path
    from dofrag.domain.corpus import Filters
    from dofrag.search.open import open_index
    folder, stop = Path(sys.argv[1]), Path(sys.argv[2])
    seen, rounds = set(), 0
    while not stop.exists() or rounds < 3:
        with open_index(folder) as index:
            page = index.backend.search_chunks("agua potable", Filters(as_of=date.max), limit=50)
            found = index.reader.passages([h.chunk_id for h in page.hits], Filters(as_of=date.max))
            assert page.total > 0 and found, "nothing found"
            seen.add(index.reader.counts()[0])
        rounds += 1
        time.sleep(0.01)
    print(rounds, max(seen))
    """
)


def dof(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "dofrag.cli.main", *args], capture_output=True, text=True)


def test_two_processes_read_while_one_writes(tmp_path: Path) -> None:
    corpus, index, stop = tmp_path / "corpus", tmp_path / "index", tmp_path / "stop"
    small_corpus(corpus, 20)
    build([corpus], index, INGEST)
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(index), str(stop)], env=paths, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    with open_index(index) as before:
        there = before.reader.counts()[0]
    for n in range(6):
        path = write(corpus, f"new/{9000 + n}.md", "más agua potable", date="2024-05-01", title=f"Nuevo {n}")
        update([path], index, INGEST)
    optimize(index, INGEST)
    stop.touch()
    for reader in readers:
        out, err = reader.communicate(timeout=120)
        assert reader.returncode == 0, err
        rounds, last = map(int, out.split())
        assert rounds >= 3
        assert last == there + 6
    assert verify(index, lambda *_: None).faults == []


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dofrag.sample import sample_root

    index = tmp_path_factory.mktemp("sample") / "index"
    done = dof("index", "build", str(sample_root()), "--index", str(index), "--quiet", "--workers", "1")
    assert done.returncode == 0, done.stderr
    return index


@pytest.mark.parametrize("command", ["build", "update", "remove", "optimize"])
def test_a_second_writer_is_refused_clearly(sample: Path, command: str) -> None:
    from dofrag.sample import sample_root

    what = {"build": [str(sample_root())], "update": [str(sample_root())], "remove": ["x"], "optimize": []}[command]
    with WriterLock(sample, "dof index update"):
        done = dof("index", command, *what, "--index", str(sample), "--json")
        assert done.returncode == 1
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "store_busy"
        assert f"process {os.getpid()} (dof index update)" in error["message"]
        assert "Traceback" not in done.stderr
        assert dof("search", "agua", "--index", str(sample)).returncode == 0


def test_the_engines_own_lock_is_no_traceback(tmp_path: Path) -> None:
    """Whatever holds the engine's lock without holding ours."""
    from dofrag.search.scoped import ScopedWriter

    corpus, index = tmp_path / "corpus", tmp_path / "index"
    small_corpus(corpus, 3)
    build([corpus], index, INGEST)
    held = ScopedWriter(index / "search-1", create=False)
    path = write(corpus, "new.md", "más agua", title="Nuevo")
    with contextlib.closing(held):
        update([path], index, INGEST)
    with open_index(index) as opened:
        assert "new" in {h.code for h in opened.backend.search_chunks("más agua", OPEN, limit=50).hits}
    assert verify(index, lambda *_: None).faults == []


def test_optimize_merges_what_many_updates_left(tmp_path: Path) -> None:
    corpus, index = tmp_path / "corpus", tmp_path / "index"
    small_corpus(corpus, 5)
    build([corpus], index, INGEST)
    for n in range(5):
        update([write(corpus, f"{9000 + n}.md", "agua", title=f"Nuevo {n}")], index, INGEST)

    def parts() -> int:
        return sum(1 for _ in index.glob("search-*/public/*.term"))

    before = parts()
    optimize(index, INGEST)
    assert parts() == 1 < before
    assert verify(index, lambda *_: None).faults == []
