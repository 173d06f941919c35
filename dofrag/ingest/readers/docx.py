"""DOCX: paragraphs by their Word style, tables as pipe rows."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.tables import pipe_rows
from dofrag.ingest.readers.textio import normalise

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

UNPACKED_MAX = 1 << 30
"""Bytes that a container may unpack to; more is taken for a bomb."""
# The gazette's own Word styles, then Word's.
_STYLES = {"cabeza": 1, "titulo 1": 2, "título 1": 2, "titulo1": 2, "titulo 2": 3, "título 2": 3, "titulo2": 3,
           "anotacion": 4, "anotación": 4}  # fmt: skip
_HEADING = re.compile(r"(?:heading|encabezado) (\d)$")


class DocxReader:
    """Reads `SourceFile`s of format "docx"."""

    name = "docx"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        return DocumentMeta(), iter(docx_blocks(source.path, source.path.name))


def docx_blocks(path: Path, name: str) -> list[Block]:
    """All blocks of a container. Raises SourceUnreadable for one that is damaged, no Word document, or a bomb."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from lxml.etree import LxmlError

    try:
        with zipfile.ZipFile(path) as container:
            unpacked = sum(info.file_size for info in container.infolist())
            if "word/document.xml" not in container.namelist():
                raise SourceUnreadable(f"{name} is a ZIP container, but no Word document", hint="unpack it first")
        if unpacked > UNPACKED_MAX:
            raise SourceUnreadable(f"{name} unpacks to {unpacked >> 20} MB", hint="convert it to Markdown")
        document = docx.Document(str(path))
        return [block for item in document.iter_inner_content() for block in _blocks(item)]
    except (zipfile.BadZipFile, PackageNotFoundError, LxmlError, KeyError, ValueError, OSError, EOFError) as error:
        raise SourceUnreadable(f"{name} is a damaged Word document: {error}", hint="download it again") from error


def _blocks(item: Paragraph | Table) -> Iterator[Block]:
    from docx.table import Table

    if isinstance(item, Table):
        yield from pipe_rows(_rows(item))
        return
    paragraph = item
    text = " ".join(normalise(paragraph.text).split())
    if text:
        style = (paragraph.style.name if paragraph.style is not None else "") or ""
        level = _level(style)
        bold = not level and all(run.bold for run in paragraph.runs if run.text.strip())
        yield Block("heading" if level else "paragraph", text + "\n", level, "bold" if bold else style)


def _level(style: str) -> int:
    folded = style.strip().lower()
    m = _HEADING.match(folded)
    return min(int(m[1]), 6) if m else _STYLES.get(folded, 0)


def _rows(table: Table) -> Iterator[list[str]]:
    for row in table.rows:
        cells: list[str] = []
        last = None
        for cell in row.cells:
            if cell._tc is not last:  # a merged cell comes once a column
                cells.append(" ".join(normalise(cell.text).split()))
            last = cell._tc
        yield cells
