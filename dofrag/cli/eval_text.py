"""A campaign's report for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.cli.output import clean
from dofrag.evals.metrics import Figures, Rate
from dofrag.evals.table import COLUMNS, figure_row, interval, summary_line


def report_text(folder: Path, report: Mapping[str, Any]) -> str:
    """Figures by category, the two pairs that are never told apart, and where the rest is."""
    figures = [_figures(row) for row in report["categories"]]
    every = figures[-1]
    lines = [clean(str(report["title"])) + (": development figures" if report["set_role"] == "dev" else "")]
    lines += ["", *_aligned([[name for _, name in COLUMNS], *(figure_row(f) for f in figures)]), ""]
    lines.append(summary_line(every))
    lines.append(
        f"correct {interval(every.correct)}, core nuggets {interval(every.vital)} (95 %); "
        f"unscored {every.unscored} of {every.n}"
    )
    lines.append("ended: " + ", ".join(f"{end} {n}" for end, n in every.ends.items()))
    lines.append(f"report: {clean((folder / 'report.html').as_posix())}")
    return "\n".join(lines) + "\n"


def _figures(row: Mapping[str, Any]) -> Figures:
    values: dict[str, Any] = {k: Rate(**v) if isinstance(v, dict) and "hits" in v else v for k, v in row.items()}
    return Figures(**values)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
