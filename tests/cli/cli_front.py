"""The command line as a person or a program meets it: `dof` in this process, or in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dofrag.cli.main import main


@dataclass(frozen=True)
class Done:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The only JSON document on stdout."""
        return json.loads(self.out)


@contextlib.contextmanager
def _process_state(argv: list[str], stdin: bytes, encoding: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    kept = sys.argv, sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.argv = argv
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding=encoding)
    sys.stderr = io.TextIOWrapper(err, encoding=encoding)
    try:
        yield out, err
    finally:
        sys.stdout.detach()
        sys.stderr.detach()
        sys.argv, sys.stdin, sys.stdout, sys.stderr = kept


def dof(*args: str, stdin: bytes = b"", encoding: str = "utf-8") -> Done:
    """Run `dof` in this process, through its real entry point."""
    with _process_state(["dof", *args], stdin, encoding) as (out, err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return Done(code, out.getvalue().decode(encoding), err.getvalue().decode(encoding))


def dof_process(*args: str, stdin: bytes = b"", **environment: str) -> Done:
    """Run `dof` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "dofrag.cli.main", *args],
        input=stdin,
        capture_output=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"))
