"""A campaign's report, and tables of experiments, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.cli.output import clean
from dofrag.evals.metrics import Figures, Rate
from dofrag.evals.table import COLUMNS, figure_row, interval, side_row, summary_line


def report_text(folder: Path, report: Mapping[str, Any]) -> str:
    """Figures by category, or by variant where there are several; the pairs that are never told apart; where the rest
    is."""
    lines = [clean(str(report["title"]))]
    if report["banner"]:
        lines += [clean(str(report["banner"]))]
    variants = {str(v["name"]): [_figures(row) for row in v["categories"]] for v in report["variants"]}
    head = [name for _, name in COLUMNS]
    if len(variants) == 1:
        rows = [figure_row(f) for f in next(iter(variants.values()))]
    else:
        head[0] = "Variant"
        rows = [side_row(name, figures[-1])[: len(COLUMNS)] for name, figures in variants.items()]
    lines += ["", *aligned([head, *rows]), ""]
    for name, figures in variants.items():
        lines += _summary(f"{name}: " if len(variants) > 1 else "", figures[-1])
    for d in report["differences"]:
        if d["figure"] == "correct":
            reach = "n/a" if d["low"] is None else f"{d['low']:+.3f} … {d['high']:+.3f}"
            clear = "" if d["clear"] else ", does not clear its interval"
            lines.append(f"{d['first']} → {d['second']}: correct {d['difference']:+.3f} (95 % {reach}{clear})")
    for p in report["predictions"]:
        outcome = {True: "held", False: "LOST", None: "nothing to say"}[p["held"]]
        lines.append(clean(f"prediction {p['id']}: {outcome} ({p['claim']})"))
    lines.append(f"report: {clean((folder / 'report.html').as_posix())}")
    return "\n".join(lines) + "\n"


def _summary(start: str, every: Figures) -> list[str]:
    return [
        start + summary_line(every),
        f"{start}correct {interval(every.correct)}, core nuggets {interval(every.vital)} (95 %); "
        f"unscored {every.unscored} of {every.n}",
        f"{start}ended: " + ", ".join(f"{end} {n}" for end, n in every.ends.items()),
    ]


def _figures(row: Mapping[str, Any]) -> Figures:
    values: dict[str, Any] = {k: Rate(**v) if isinstance(v, dict) and "hits" in v else v for k, v in row.items()}
    return Figures(**values)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def table_text(document: Mapping[str, Any]) -> str:
    """A table of an experiment: its title, what it says of itself, and the table."""
    lines = [clean(str(document["title"])), *(clean(str(note)) for note in document["notes"]), ""]
    rows = [[clean(str(cell)) for cell in row] for row in (document["head"], *document["rows"])]
    return "\n".join([*lines, *aligned(rows)]) + "\n"
