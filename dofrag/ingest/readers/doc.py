"""Legacy Word files (and RTF) through LibreOffice, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.docx import docx_blocks

TIMEOUT_S = 180.0
"""Seconds for one conversion; a large file gets one more a megabyte."""
_INSTALL = "install libreoffice or convert to .docx"
_FILTERS = {"ole": "MS Word 97", "rtf": "Rich Text Format"}
# Without a named filter LibreOffice takes any bytes for plain text.
_RUNS = re.compile(r"[^\W\d_]+|\d+|[^\s.·…_-]")  # rows of dots and dashes say nothing either way
_STREAM = "WordDocument".encode("utf-16-le")


class DocReader:
    """Reads `SourceFile`s of format "doc". `program` None finds LibreOffice on PATH; `timeout_s` is for one file."""

    name = "doc"

    def __init__(self, program: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._program = program
        self._timeout_s = timeout_s

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        name = source.path.name
        program = self._program or shutil.which("soffice") or shutil.which("libreoffice")
        if program is None:
            raise SourceUnreadable(f"{name} is an old Word document and LibreOffice is not installed", hint=_INSTALL)
        kind = _kind(source.path)
        with tempfile.TemporaryDirectory(prefix="dofrag-doc-") as folder:
            converted = self._convert(program, source.path, Path(folder), _FILTERS[kind])
            blocks = list(docx_blocks(converted, name))
        if not is_plausible(block.text for block in blocks):
            raise SourceUnreadable(f"{name} is a damaged Word document: it holds no words", hint="download it again")
        return DocumentMeta(), iter(blocks)

    def _convert(self, program: str, path: Path, folder: Path, filter_: str) -> Path:
        """Convert into `folder`. A private profile keeps runs apart; the whole process group dies on time-out, for
        `soffice` is a script that starts the real program."""
        copy = folder / "source.doc"  # the source's own name may begin with a dash or hold anything
        shutil.copyfile(path, copy)
        command = [
            program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--norestore",
            f"--infilter={filter_}", "--convert-to", "docx", "--outdir", str(folder / "out"), str(copy),
        ]  # fmt: skip
        timeout = self._timeout_s + path.stat().st_size / 1e6
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise SourceUnreadable(f"LibreOffice cannot be started: {error}", hint=_INSTALL) from error
        try:
            _, said = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise SourceUnreadable(
                f"LibreOffice did not convert {path.name} within {timeout:.0f} s", hint="convert it to .docx by hand"
            ) from error
        finally:
            _kill_group(process)
        converted = folder / "out" / "source.docx"
        if not converted.is_file():
            why = said.decode("utf-8", "replace").strip().splitlines()
            raise SourceUnreadable(
                f"LibreOffice could not convert {path.name}{': ' + why[-1][:200] if why else ''}",
                hint="convert it to .docx by hand",
            )
        return converted


def _kind(path: Path) -> str:
    """RTF, or an OLE container with a sound header and a Word text in its directory. Raises SourceUnreadable else."""
    with path.open("rb") as file:
        head = file.read(512)
        if head.startswith(b"{\\rtf"):
            return "rtf"
        shift = int.from_bytes(head[30:32], "little")
        sound = len(head) == 512 and head[28:30] == b"\xfe\xff" and shift in (9, 12)
        if not sound or not _holds(file, _STREAM):
            raise SourceUnreadable(
                f"{path.name} begins like an old Word document, but holds none", hint="download it again"
            )
    return "ole"


def _holds(file: BinaryIO, needle: bytes) -> bool:
    tail = b""
    while piece := file.read(1 << 20):
        if needle in tail + piece:
            return True
        tail = piece[-len(needle) :]
    return False


def is_plausible(texts: Iterable[str]) -> bool:
    """Whether half of the first characters stand in words of one case, or in numbers, as in any writing; bytes that
    were taken for text do not. Vacuous for a document without text."""
    usual = seen = 0
    for text in texts:
        for run in _RUNS.findall(text):
            seen += len(run)
            written = run.isdigit() or (len(run) > 1 and (run.islower() or run.istitle() or run == run.upper()))
            usual += len(run) if written and run[0].isalnum() else 0
        if seen > 20_000:
            break
    return 2 * usual >= seen


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the conversion's own process group."""
    if process.poll() is None or _alive(process.pid):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        finally:
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
