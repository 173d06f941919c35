"""Where an export goes. Nothing is overwritten unasked, no link is followed, no file is left half written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from dofrag.errors import UsageError
from dofrag.trace.reader import SUFFIX


def check_target(path: Path, *, force: bool) -> None:
    """Raises UsageError for a place that an export may not be written to."""
    shown = repr(str(path))
    if "\0" in str(path) or not path.name:
        raise UsageError(f"{shown} is no file name", hint="--out FILE")
    if str(path) == "-":
        raise UsageError("'-' is no file name here", hint="leave --out away to write to stdout")
    if path.suffix == SUFFIX:
        raise UsageError(f"{shown} is named like a trace", hint=f"give it another ending than {SUFFIX}")
    if path.is_symlink():
        raise UsageError(f"{shown} is a link", hint="name the file itself")
    if path.is_dir():
        raise UsageError(f"{shown} is a folder", hint="name a file in it")
    if path.exists() and not path.is_file():
        raise UsageError(f"{shown} is no ordinary file", hint="name another")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {str(path.parent)!r}", hint="make it first")
    if path.exists() and not force:
        raise UsageError(f"{shown} exists already", hint="name another file, or give --force")


def write_target(path: Path, content: bytes, *, force: bool) -> None:
    """Write a whole file, or none. Raises UsageError for what `check_target` refuses or the disk does."""
    check_target(path, force=force)
    # What is there is replaced in one step; what is not is made, unless someone was faster.
    part = path.with_name(f".{path.name[:40]}.{os.getpid()}.part") if force else path
    made = False
    try:
        with part.open("xb") as file:
            made = True
            file.write(content)
        if force:
            part.replace(path)
        made = False
    except FileExistsError:
        raise UsageError(f"{str(part)!r} exists already", hint="name another file, or give --force") from None
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror or error}", hint="name another") from None
    finally:
        if made:
            with contextlib.suppress(OSError):
                part.unlink()
