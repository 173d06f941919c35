"""Plain text: one block a line, streamed; no line is a heading until segmentation says so."""

from __future__ import annotations

from collections.abc import Iterator

from dofrag.domain.corpus import SourceFile
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.textio import text_lines


class PlainReader:
    """Reads `SourceFile`s of format "text"."""

    name = "text"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        return DocumentMeta(), (
            Block("blank" if line.isspace() else "paragraph", line) for line in text_lines(source.path)
        )
