"""A figure in a table row, with what its column and its row say of it."""

from __future__ import annotations

from functools import cached_property

from dofrag.coverage.assign import Mention
from dofrag.coverage.prepared import PreparedPassage, Sentence, frequencies, zones
from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import fold_chars


@dataclass(frozen=True)
class CellContext:
    """Texts that qualify a cell: the header of its column, and the other cells of its row that hold no figure."""

    column: str
    row: str

    @cached_property
    def frequencies(self) -> tuple[Mention[str], ...]:
        """The column's, else the row's."""
        return frequencies(fold_chars(self.column)) or frequencies(fold_chars(self.row))

    @cached_property
    def zones(self) -> tuple[Mention[frozenset[str]], ...]:
        return zones(fold_chars(self.column)) or zones(fold_chars(self.row))

    @cached_property
    def dates(self) -> list[FoundDate]:
        return find_dates(self.column) or find_dates(self.row)


def cell_context(prepared: PreparedPassage, sentence: Sentence, start: int) -> CellContext | None:
    """The context of the figure at `start` of the text; None where the row and the header do not line up."""
    if sentence.header is None:
        return None
    key = ("cell", start)
    if key not in prepared.memo:
        prepared.memo[key] = _context(prepared, sentence, sentence.header, start)
    found: CellContext | None = prepared.memo[key]
    return found


def _context(
    prepared: PreparedPassage, sentence: Sentence, header_span: tuple[int, int], start: int
) -> CellContext | None:
    row = cells_of(prepared.text, sentence.start, sentence.end)
    header = cells_of(prepared.text, *header_span)
    at = next((n for n, (a, b) in enumerate(row) if a <= start < b), None)
    if at is None or at >= len(header):
        return None
    column = prepared.text[header[at][0] : header[at][1]]
    others = [prepared.text[a:b] for n, (a, b) in enumerate(row) if n != at]
    labels = [cell for n, cell in enumerate(others) if n == 0 or not any(c.isdigit() for c in cell)]
    return CellContext(column, " ".join(labels))


def cells_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Spans of the cells of a row `| a | b |`."""
    cells: list[tuple[int, int]] = []
    at = start + 1 if text[start : start + 1] == "|" else start
    while at < end:
        bar = text.find("|", at, end)
        stop = bar if bar >= 0 else end
        if stop > at or bar >= 0:
            cells.append((at, stop))
        at = stop + 1
    return cells
