"""What a process must not import: parsers, validators and clients take longer than a question."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"jsonschema", "lxml", "docx", "pypdf", "rich", "openai", "sqlite_utils", "charset_normalizer", "http", "ssl"}
SHOW = """
import sys
from dofrag.cli.main import main
try:
    main()
finally:
    print("LOADED", *sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], HEAVY | {"tantivy", "sqlite3", "tomllib"}),
        (["run", "--question", "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025?"], HEAVY),
    ],
    ids=["help", "run"],
)
def test_a_process_imports_only_what_it_needs(arguments: list[str], unwanted: set[str], tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOF_")} | {"DOF_TRACE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SHOW, *arguments]
    # The first process may have the sample's index to build, which does need more.
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    loaded = set(done.stderr.partition("LOADED")[2].split())
    assert "dofrag" in loaded
    assert not loaded & unwanted
