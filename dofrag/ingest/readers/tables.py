"""Tables of any format as pipe rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dofrag.ingest.interface import Block


def pipe_rows(rows: Iterable[list[str]]) -> Iterator[Block]:
    """Rows of cell texts → table blocks `| a | b |`; a pipe inside a cell is a broken bar. Empty rows are dropped."""
    for cells in rows:
        if any(cells):
            yield Block("table", "| " + " | ".join(c.replace("|", "¦").replace("\n", " ") for c in cells) + " |\n")
