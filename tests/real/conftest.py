"""One index of the real text for all the checks that need it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an index of all the real text, built as a user would build it."""
    data = os.environ["DOF_DATA"]
    folder = tmp_path_factory.mktemp("real") / "index"
    command = [sys.executable, "-m", "dofrag.cli.main", "index", "build", f"{data}/gazette", f"{data}/dof_v4/corpus"]
    done = subprocess.run([*command, "--index", str(folder), "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return str(folder)
