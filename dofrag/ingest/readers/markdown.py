"""Markdown of any tree or converter: one block a line, streamed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dofrag.domain.corpus import SourceFile
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.textio import spaced_lines

_HEADING = re.compile(r"[ ]{0,3}(?:\d{1,3}\.[ ]+)?(#{1,6})[ \t]+\S")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZáéíóúñÁÉÍÓÚÑ.(")
"""A line that begins so is a paragraph."""


class MarkdownReader:
    """Reads `SourceFile`s of format "markdown"."""

    name = "markdown"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        return DocumentMeta(), markdown_blocks(spaced_lines(source.path))


def markdown_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Spaced lines → blocks. ATX headings (also behind a list number, as pandoc leaves them), table rows of pipe and
    grid tables; all else is a paragraph line. Empty lines go with the line before them; only white space that is more
    than that is a blank block. Pieces of an over-long line go on in the kind they began in."""
    kind, whole = "paragraph", True  # of the piece before; whether its line ended
    block = tuple.__new__  # what `Block(…)` comes to in the end
    for line in lines:
        if not whole:
            yield block(Block, (kind, line, 0, ""))
        elif line[0] in _PLAIN:
            kind = "paragraph"
            yield block(Block, (kind, line, 0, ""))
        else:
            kind, level, style = _classify(line)
            yield block(Block, (kind, line, level, style))
        whole = line[-1] == "\n"


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
