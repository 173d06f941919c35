"""The events of a Word body (WordprocessingML) → blocks, with nothing held but the paragraph or table row at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from dofrag.domain.records import dataclass
from dofrag.ingest.interface import Block
from dofrag.ingest.readers.tables import pipe_rows
from dofrag.ingest.readers.textio import normalise

BODY = "word/document.xml"
TEXT_MAX = 8_000_000
"""Characters of one paragraph or table row; a longer one is no gazette's."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_COMPAT = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# The gazette's own Word styles, then Word's.
_STYLES = {"cabeza": 1, "titulo 1": 2, "título 1": 2, "titulo1": 2, "titulo 2": 3, "título 2": 3, "titulo2": 3,
           "anotacion": 4, "anotación": 4}  # fmt: skip
_HEADING = re.compile(r"(?:heading|encabezado) (\d)$")
_OFF = frozenset(("0", "false", "off"))
_MARKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_SKIPPED = frozenset((_COMPAT, f"{W}del", f"{W}moveFrom"))


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its name and the heading level that it stands for (0: none)."""

    name: str
    level: int


def style_level(name: str) -> int:
    folded = name.strip().lower()
    m = _HEADING.match(folded)
    return min(int(m[1]), 6) if m else _STYLES.get(folded, 0)


class Target:
    """What the parser calls. A document type is refused."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError("it declares a document type, which no Word document does")

    def data(self, text: str) -> None:
        """Text that is not looked at."""

    def comment(self, text: str) -> None:
        """A comment of the markup is no text."""

    def close(self) -> None:
        """Nothing is left to do."""


class StylesTarget(Target):
    """`styles`: paragraph styles by their id; the default one also under ""."""

    def __init__(self) -> None:
        self.styles: dict[str, Style] = {}
        self._ids: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{W}style":
            self._ids = []
            if attributes.get(f"{W}type", "paragraph") == "paragraph":
                self._ids = [attributes.get(f"{W}styleId", "")]
                if attributes.get(f"{W}default") in ("1", "true", "on"):
                    self._ids.append("")
        elif tag == f"{W}name":
            name = attributes.get(f"{W}val", "")
            for key in self._ids:
                self.styles[key] = Style(name, style_level(name))
            self._ids = []

    def end(self, tag: str) -> None:
        """Nothing to do: a style's name has no content."""


@dataclass(slots=True)
class _Paragraph:
    text: list[str] = field(default_factory=list)
    style: Style = Style("", 0)
    bold: bool = True  # every run with text so far is
    run_bold: bool = False


@dataclass(slots=True)
class _Row:
    cells: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    column: int = 0
    span: int = 1
    merge: str = ""  # "restart" | "continue": of cells merged down the rows


class BodyTarget(Target):
    """A parser's target. `take` gives the blocks that are complete."""

    def __init__(self, styles: Mapping[str, Style]) -> None:
        self.known = False  # whether a body was met
        self._styles = styles
        self._done: list[Block] = []
        self._open: list[_Paragraph] = []  # a text box opens a paragraph within a paragraph
        self._tables = 0  # depth
        self._row = _Row()
        self._in_cell = False
        self._merged: dict[int, str] = {}  # column → text of the cell that is merged down
        self._skipped = 0  # depth below what is not read
        self._in_text = self._in_run_marks = False
        self._size = 0

    def take(self) -> list[Block]:
        done, self._done = self._done, []
        return done

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag == f"{W}body":
            self.known = True
        elif tag == f"{W}p":
            self._open.append(_Paragraph(style=self._styles.get("", Style("", 0))))
        elif tag.startswith(W) and (self._tables or tag == f"{W}tbl") and self._starts_table(tag, attributes):
            return
        elif self._open:
            self._starts_in_paragraph(self._open[-1], tag, attributes)

    def _starts_table(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if tag == f"{W}tbl":
            self._tables += 1
            if self._tables == 1:
                self._merged = {}
            return True
        if self._tables != 1 or self._open:
            return False  # a table within a cell is read as part of that cell
        row = self._row
        if tag == f"{W}tr":
            self._row, self._size = _Row(), 0
        elif tag == f"{W}tc":
            row.cell, row.span, row.merge = [], 1, ""
            self._in_cell = True
        elif tag == f"{W}gridSpan":
            value = attributes.get(f"{W}val", "1")
            row.span = int(value) if value.isdecimal() and len(value) < 5 else 1
        elif tag == f"{W}vMerge":
            row.merge = "restart" if attributes.get(f"{W}val") == "restart" else "continue"
        return True

    def _starts_in_paragraph(self, paragraph: _Paragraph, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in (f"{W}t", _MATH):
            self._in_text = True
        elif tag == f"{W}r":
            paragraph.run_bold = False
        elif tag == f"{W}rPr":
            self._in_run_marks = True
        elif tag == f"{W}b" and self._in_run_marks:
            paragraph.run_bold = attributes.get(f"{W}val", "1") not in _OFF
        elif tag == f"{W}pStyle":
            paragraph.style = self._styles.get(attributes.get(f"{W}val", ""), paragraph.style)
        elif tag in _MARKS and (tag != f"{W}tab" or f"{W}val" not in attributes):  # a tab stop has a value
            self._add(_MARKS[tag])

    def data(self, text: str) -> None:
        if self._in_text and self._open and not self._skipped:
            self._add(text)
            if not self._open[-1].run_bold and not text.isspace():
                self._open[-1].bold = False

    def _add(self, text: str) -> None:
        self._open[-1].text.append(text)
        self._size += len(text)
        if self._size > TEXT_MAX:
            raise ValueError(f"one of its paragraphs or table rows has more than {TEXT_MAX:,} characters")

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in (f"{W}t", _MATH):
            self._in_text = False
        elif tag == f"{W}rPr":
            self._in_run_marks = False
        elif tag == f"{W}p" and self._open:
            self._ends_paragraph(self._open.pop())
        elif tag == f"{W}tbl":
            self._tables -= 1
        elif self._tables == 1 and not self._open:
            if tag == f"{W}tc":
                self._ends_cell(self._row)
            elif tag == f"{W}tr":
                self._done.extend(pipe_rows([self._row.cells]))
                self._row = _Row()

    def _ends_paragraph(self, paragraph: _Paragraph) -> None:
        text = " ".join(normalise("".join(paragraph.text)).split())
        if self._in_cell:
            if text:
                self._row.cell.append(text)
            return
        self._size = 0
        if text:
            level = paragraph.style.level
            style = "bold" if paragraph.bold and not level else paragraph.style.name
            self._done.append(Block("heading" if level else "paragraph", text + "\n", level, style))

    def _ends_cell(self, row: _Row) -> None:
        self._in_cell = False
        text = " ".join(row.cell)
        if row.merge == "restart":
            self._merged[row.column] = text
        elif row.merge == "continue":
            text = text or self._merged.get(row.column, "")
        else:
            self._merged.pop(row.column, None)
        row.cells.append(text)
        row.column += row.span
