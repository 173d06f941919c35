"""An index in a folder that cannot be written is read all the same, and refuses to be changed."""

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

from dofrag.ingest.pipeline import Ingest, build

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions work otherwise on Windows")
INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
SCRIPT = """
import os, sys
from datetime import date
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_gazette import TinyProfile, tiny_parse
import sqlite_utils
from dofrag.domain.corpus import Filters
from dofrag.errors import UsageError
from dofrag.ingest import pipeline
from dofrag.ingest.verify import verify
from dofrag.search.open import open_index
from dofrag.text.lexicon import cues
cues()  # the package itself may lie where only root can read
if os.geteuid() == 0:  # what root may write says nothing
    os.setgid(65534)
    os.setuid(65534)
root = Path(sys.argv[2])
with open_index(root / "index") as index:
    filters = Filters(as_of=date.max)
    hits = index.backend.search_chunks("agua", filters, limit=3).hits
    print(len(index.reader.passages([hit.chunk_id for hit in hits], filters)))
print(verify(root / "index", pipeline.silent).faults)
ingest = pipeline.Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)
for act in (
    lambda: pipeline.build([root / "corpus"], root / "index", ingest),
    lambda: pipeline.update([root / "corpus"], root / "index", ingest),
    lambda: pipeline.remove(["1003"], root / "index", ingest),
    lambda: pipeline.build([root / "corpus"], root / "new", ingest),
):
    try:
        act()
    except UsageError as error:
        print(error.message.rpartition(": ")[2])
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp())  # not pytest's own, which nobody else may enter
    small_corpus(root / "corpus", 8)
    build([root / "corpus"], root / "index", INGEST)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield root
    for path in [root, *root.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(root)


def test_read_only(folder: Path) -> None:
    before = sorted(p.name for p in (folder / "index").iterdir())
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1]), str(folder)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["3", "[]", *["Permission denied"] * 4]
    assert sorted(p.name for p in (folder / "index").iterdir()) == before
