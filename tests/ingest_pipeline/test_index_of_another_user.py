"""An index is readable by whoever may enter its folder; one that may not be read is called that, and not damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_gazette import TinyProfile, small_corpus, tiny_parse

from dofrag.ingest.pipeline import Ingest, build, update

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions work otherwise on Windows")
INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
SCRIPT = """
import os, sys
from pathlib import Path
from dofrag.errors import CorpusError
from dofrag.ingest.status import status
from dofrag.search.open import open_index
if os.geteuid() == 0:  # what root may read says nothing
    os.setgid(65534)
    os.setuid(65534)
index = Path(sys.argv[1])
for name in ["", "index.json", "store-1.sqlite", "search-1/public/meta.json", "search-1/public", "search-1", "."]:
    print(name, end=": ", flush=True)
    sys.stdin.readline()
    try:
        print(status(index).indexed, flush=True)
    except CorpusError as error:
        print(type(error).__name__, error.message.rpartition(": ")[2], "|", error.hint, flush=True)
"""


@pytest.fixture
def index() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp())  # not pytest's own, which nobody else may enter
    root.chmod(0o755)
    small_corpus(root / "corpus", 8)
    build([root / "corpus"], root / "index", INGEST)
    yield root / "index"
    shutil.rmtree(root)


def private(path: Path) -> int:
    """Take the right to read from everybody else; from the owner as well where the reader is the owner."""
    before = path.stat().st_mode & 0o777
    path.chmod(0o600 & ~0o077 if os.geteuid() == 0 and path.is_file() else 0o700 if os.geteuid() == 0 else 0)
    return before


def test_whoever_may_enter_may_read(index: Path) -> None:
    expected = (index / "search-1/public").stat().st_mode & 0o666
    names = ("meta.json", ".managed.json")
    assert [(index / "search-1/public" / name).stat().st_mode & 0o777 for name in names] == [expected] * 2
    small_corpus(index.parent / "corpus", 9)
    update([index.parent / "corpus"], index, INGEST)
    assert [(index / "search-1/public" / name).stat().st_mode & 0o777 for name in names] == [expected] * 2


def test_what_may_not_be_read_is_no_damage(index: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(index)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for name in ["", "index.json", "store-1.sqlite", "search-1/public/meta.json", "search-1/public", "search-1", "."]:
        before = private(index / name) if name else 0
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if name:
            (index / name).chmod(before)
            assert line.startswith(f"{name}: CorpusError permission denied | have its owner run `chmod -R a+rX"), line
        else:
            assert line.startswith(": 8") or line[2:].strip().isdigit(), line
    process.communicate(timeout=60)
    assert process.returncode == 0
