"""Markdown of any tree or converter: one block a line, streamed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dofrag.domain.corpus import SourceFile
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.textio import text_lines

_HEADING = re.compile(r"[ ]{0,3}(?:\d{1,3}\.[ ]+)?(#{1,6})[ \t]+\S")


class MarkdownReader:
    """Reads `SourceFile`s of format "markdown"."""

    name = "markdown"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        return DocumentMeta(), markdown_blocks(text_lines(source.path))


def markdown_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Lines → blocks. ATX headings (also behind a list number, as pandoc leaves them), table rows of pipe and grid
    tables, blank lines; all else is a paragraph line. Pieces of an over-long line go on in the kind they began in."""
    kind = "blank"
    whole = True  # the last line had its end
    for line in lines:
        first = line[:1]
        if not whole:
            yield Block(kind, line)
        elif first == "\n" or line.isspace():
            kind = "blank"
            yield Block(kind, line)
        elif first == "|" or (first == "+" and line[1:3] in ("--", "==", ":-", ":=")):
            kind = "table"
            yield Block(kind, line)
        elif "#" in line[:12] and (m := _HEADING.match(line)):
            kind = "paragraph"
            yield Block("heading", line, len(m[1]), "bold" if "**" in line else "")
        else:
            kind = "table" if first == " " and line.lstrip()[:1] == "|" else "paragraph"
            yield Block(kind, line, 0, "bold" if first == "*" and line.startswith("**") else "")
        whole = line.endswith("\n")
