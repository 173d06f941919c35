"""The figures of a report as text in cells: the same for Markdown, HTML and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.evals.metrics import Cost, Figures, Rate

COLUMNS = (
    ("category", "Category"),
    ("n", "n"),
    ("answered", "Answered"),
    ("correct", "Correct"),
    ("correct_answered", "Correct of answered"),
    ("vital", "Core nuggets"),
    ("confident_error", "Confident errors"),
    ("citation_precision", "Citation precision"),
    ("citation_recall", "Citation recall"),
    ("refusal", "Refusal ‖ false refusal"),
)
SIDE_BY_SIDE = (
    *COLUMNS,
    ("closed", "Closed"),
    ("correct_closed", "Correct of closed"),
    ("all_hops", "All hops read"),
    ("hops", "Hops read"),
    ("requirements", "Requirements met"),
)
"""Columns of the table of variants, under `Variant` in the place of the category."""
INTERVALS = (
    ("answered", "Answered"),
    ("correct", "Correct"),
    ("vital", "Core nuggets"),
    ("confident_error", "Confident errors"),
    ("citation_precision", "Citation precision"),
    ("citation_recall", "Citation recall"),
    ("refusal", "Refusal"),
    ("false_refusal", "False refusal"),
)


def percent(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.1f} %"


def rate(figure: Rate, *, of: bool = True) -> str:
    """ "34/42 (81.0 %)", or "n/a" where nothing counts; a mean is told without its sum."""
    if not figure.n:
        return "n/a"
    return (
        f"{figure.hits:g}/{figure.n} ({percent(figure.value)})" if of else f"{percent(figure.value)} (n {figure.n})"
    )


def interval(figure: Rate) -> str:
    return "n/a" if figure.low is None or figure.high is None else f"{percent(figure.low)} – {percent(figure.high)}"


def figure_row(figures: Figures) -> list[str]:
    """One row under COLUMNS."""
    return _cells(figures, COLUMNS)


def side_row(name: str, figures: Figures) -> list[str]:
    """One row under SIDE_BY_SIDE."""
    return [name, *_cells(figures, SIDE_BY_SIDE)[1:]]


def _cells(figures: Figures, columns: Sequence[tuple[str, str]]) -> list[str]:
    cells = [figures.category, str(figures.n)]
    for name, _ in columns[2:]:
        if name == "refusal":
            cells.append(refusal_pair(figures.refusal, figures.false_refusal))
        else:
            cells.append(rate(getattr(figures, name), of=not name.startswith("citation")))
    return cells


def refusal_pair(refusal: Rate | None, false_refusal: Rate | None) -> str:
    """Refusal and false refusal in one cell. Raises ValueError for one without the other: refusing everything looks
    perfect where only the first is told."""
    if refusal is None or false_refusal is None:
        raise ValueError("refusal is never told without false refusal")
    return f"{rate(refusal)} ‖ {rate(false_refusal)}"


def answers_pair(answered: Rate | None, errors: Rate | None) -> str:
    """Answers and confident errors in one cell. Raises ValueError for one without the other."""
    if answered is None or errors is None:
        raise ValueError("an answer rate is never told without its confident errors")
    return f"answered {rate(answered)}, confident errors {rate(errors)}"


def cost_rows(costs: Sequence[Cost]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the cost table."""
    head = [
        "Terminal state",
        "n",
        "Turns",
        "Calls",
        "Read tokens",
        "Cost units",
        "Seconds",
        "Context tokens (est.)",
        "Tokens",
        "US$ a run",
        "Priced",
    ]
    rows = [
        [c.state, str(c.n), f"{c.turns:.1f}", f"{c.calls:.1f}", f"{c.read_tokens:,.0f}", f"{c.cost_units:.1f}",
         f"{c.seconds:.2f}", f"{c.context_tokens:,.0f}", "n/a" if c.tokens is None else f"{c.tokens:,.0f}",
         "n/a" if c.money is None else f"{c.money:.4f}", f"{c.priced}/{c.n}"]
        for c in costs
    ]  # fmt: skip
    return head, rows


def question_rows(records: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table question by question. `said` are people's verdicts by run id: they join it where
    there are any."""
    head = [
        "Question",
        "Variant",
        "Pass",
        "Category",
        "Ended",
        "Correct",
        "Core nuggets",
        "Precision",
        "Recall",
        "What is wrong",
    ]
    rows = []
    for r in records:
        g = r["grade"]
        vital = [n for n in g["nuggets"] if n["vital"]]
        correct = {True: "yes", False: "no", None: "unscored"}[g["correct"]]
        rows.append(
            [r["question_id"], r["variant"], str(r["pass"]), r["category"],
             f"{r['terminal_state']}/{r['termination_reason']}",
             "confident error" if g["confident_error"] else correct,
             f"{sum(n['found'] for n in vital)}/{len(vital)}", percent(g["citation_precision"]),
             percent(g["citation_recall"]), "; ".join(g["why"])]
        )  # fmt: skip
        if said:
            rows[-1].append(said.get(str(r["run_id"]), ""))
    return [*head, "Human"] if said else head, rows


def summary_line(figures: Figures) -> str:
    """What is never told apart: answers with their errors, refusals with the false ones."""
    refused, wrongly = refusal_pair(figures.refusal, figures.false_refusal).split(" ‖ ")
    return f"{answers_pair(figures.answered, figures.confident_error)}; refusal {refused}, false refusal {wrongly}"
