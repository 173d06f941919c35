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
    tables; all else is a paragraph line. An empty line goes with the line before it; only white space that is more
    than that is a blank block. Pieces of an over-long line go on in the kind they began in."""
    kind, text, level, style = "blank", "", 0, ""  # the block at hand
    for line in lines:
        if line == "\n" and text and text[-1] == "\n" and kind != "blank" and text[-3:] != "\n\n\n":
            text += line
            continue
        if text:
            yield Block(kind, text, level, style)
        if not text or text[-1] == "\n":
            kind, level, style = _classify(line)
        else:
            level, style = 0, ""  # the rest of a line longer than a piece
        text = line
    if text:
        yield Block(kind, text, level, style)


def _classify(line: str) -> tuple[str, int, str]:
    """Kind, heading level and style of a line."""
    first = line[0]
    if first == "|" or (first == "+" and line[1:3] in ("--", "==", ":-", ":=")):
        return "table", 0, ""
    if "#" in line[:12] and (m := _HEADING.match(line)):
        return "heading", len(m[1]), "bold" if "**" in line else ""
    if first == "*":
        return "paragraph", 0, "bold" if line[1:2] == "*" else ""
    if first <= " ":
        if line.isspace():
            return "blank", 0, ""
        if line.lstrip()[:1] == "|":
            return "table", 0, ""
    elif first > "\x7f" and line.isspace():
        return "blank", 0, ""
    return "paragraph", 0, ""
