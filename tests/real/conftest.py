"""One index of the real text for all the checks that need it, whichever of the test processes asks first."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an index of all the real text, built once a session as a user would build it."""
    base = tmp_path_factory.getbasetemp()
    # pytest-xdist gives each of its processes a folder of its own within the one of the session.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "real-index"
    with (shared / "real-index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "real-index.done").exists():
            _build(folder)
            (shared / "real-index.done").touch()
    return str(folder)


def _build(folder: Path) -> None:
    data = os.environ["DOF_DATA"]
    command = [sys.executable, "-m", "dofrag.cli.main", "index", "build", f"{data}/gazette", f"{data}/dof_v4/corpus"]
    done = subprocess.run([*command, "--index", str(folder), "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
