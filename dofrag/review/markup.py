"""Text of documents as HTML that shows it and never runs it.

Three things of Markdown are drawn, since gazettes are full of them: headings, bold and tables. Everything else, HTML
included, is text. Marks (the quotes) are given as offsets of the raw text and stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from dofrag.domain.records import dataclass

ROWS_MAX = 2_000
CELLS_MAX = 40
_RULE = re.compile(r"[|:\-\s]+")
_HEADING = re.compile(r"#{1,6} ")
# Signs that turn the direction of what follows, or that no font shows, could make a text look like another.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Quoted:
    """Characters `[start, end)` of a text, and the id that its mark gets, "" for none."""

    start: int
    end: int
    anchor: str = ""


def unseen_shown(text: str) -> str:
    """The text with a sign in place of each that would not be seen."""
    return _UNSEEN.sub("\ufffd", text)


def plain(text: str) -> str:
    """Any text as HTML, its unseen signs shown."""
    return escape(unseen_shown(text), quote=True)


def render(text: str, marks: Sequence[Quoted] = ()) -> str:
    """The text as HTML. Every character of it is there, save for the signs of headings, bold and tables."""
    drawing = _Drawing(text, marks)
    return "".join(_blocks(drawing))


class _Drawing:
    """The text, and where its marks are, joined where they overlap."""

    def __init__(self, text: str, marks: Sequence[Quoted]) -> None:
        self.text = text
        self.marks: list[Quoted] = []
        self._told: set[str] = set()
        for mark in sorted(marks, key=lambda m: (m.start, m.end)):
            start, end = max(0, mark.start), min(len(text), mark.end)
            if start >= end:
                continue
            last = self.marks[-1] if self.marks else None
            if last is not None and start < last.end:
                self.marks[-1] = Quoted(last.start, max(last.end, end), last.anchor or mark.anchor)
            else:
                self.marks.append(Quoted(start, end, mark.anchor))

    def span(self, start: int, end: int) -> str:
        """Characters `[start, end)` with their marks; bold is drawn."""
        parts: list[str] = []
        bold = False
        at = start
        for stop in (*_stars(self.text, start, end), end):
            if at < stop:
                inner = self._marked(at, stop)
                parts.append(f"<b>{inner}</b>" if bold else inner)
            at, bold = stop + 2, not bold
        return "".join(parts)

    def _marked(self, start: int, end: int) -> str:
        parts: list[str] = []
        at = start
        for mark in self.marks:
            if mark.end <= at or mark.start >= end:
                continue
            first, last = max(at, mark.start), min(end, mark.end)
            parts.append(plain(self.text[at:first]))
            parts.append(f"<mark{self._anchor(mark.anchor)}>{plain(self.text[first:last])}</mark>")
            at = last
        parts.append(plain(self.text[at:end]))
        return "".join(parts)

    def _anchor(self, name: str) -> str:
        """An id is given once, to the beginning of its mark, which a table or bold may have cut in pieces."""
        if not name or name in self._told:
            return ""
        self._told.add(name)
        return f' id="{escape(name, quote=True)}" tabindex="-1"'


def _stars(text: str, start: int, end: int) -> list[int]:
    """Where `**` stands between the offsets; an odd one out is text."""
    found = [m.start() for m in re.finditer(r"\*\*", text[start:end])]
    return [start + at for at in found[: len(found) // 2 * 2]]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield at, end
        at = end + 1


def _blocks(drawing: _Drawing) -> Iterator[str]:
    """Runs of lines of one kind: tables, headings, paragraphs."""
    text = drawing.text
    kind = ""
    lines: list[tuple[int, int]] = []
    for start, end in _lines(text):
        now = _kind(text, start, end)
        if lines and (now != kind or now == "heading"):
            yield _block(drawing, kind, lines)
            lines = []
        kind = now
        lines.append((start, end))
    if lines:
        yield _block(drawing, kind, lines)


def _kind(text: str, start: int, end: int) -> str:
    if text.startswith("|", start):
        return "table"
    if _HEADING.match(text, start, end):
        return "heading"
    return "blank" if not text[start:end].strip() else "text"


def _block(drawing: _Drawing, kind: str, lines: Sequence[tuple[int, int]]) -> str:
    if kind == "blank":
        return ""
    if kind == "heading":
        start, end = lines[0]
        return f'<p class="heading">{drawing.span(start + drawing.text[start:end].index(" ") + 1, end)}</p>'
    if kind == "table" and len(lines) <= ROWS_MAX:
        return _table(drawing, lines)
    return "<p>" + "<br>".join(drawing.span(start, end) for start, end in lines) + "</p>"


def _table(drawing: _Drawing, lines: Sequence[tuple[int, int]]) -> str:
    rows = []
    for start, end in lines:
        line = drawing.text[start:end]
        if _RULE.fullmatch(line):
            continue
        rows.append("<tr>" + "".join(f"<td>{drawing.span(a, b)}</td>" for a, b in _cells(line, start)) + "</tr>")
    return f'<div class="scroll" tabindex="0"><table class="text">{"".join(rows)}</table></div>'


def _cells(line: str, offset: int) -> list[tuple[int, int]]:
    bars = [m.start() for m in re.finditer(r"\|", line)][: CELLS_MAX + 1]
    cells = []
    for left, right in zip(bars, [*bars[1:], len(line)], strict=True):
        if right == len(line) and not line[left + 1 : right].strip():
            continue  # what follows the last bar
        cells.append((offset + left + 1, offset + right))
    if len(bars) == CELLS_MAX + 1:
        cells = [*cells[:-1], (cells[-1][0], offset + len(line))]
    return cells
