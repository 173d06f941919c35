"""The report as sections, each words, a table and plots: written as Markdown and as HTML from the same values."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.evals import predictions, verdicts
from dofrag.evals.ledger import ledger_rows
from dofrag.evals.look import Standing, standing_of
from dofrag.evals.metrics import (
    Figures,
    Paired,
    Rate,
    Record,
    by_category,
    by_subset,
    costs,
    difference,
    figures,
    of_variant,
)
from dofrag.evals.table import (
    COLUMNS,
    INTERVALS,
    SIDE_BY_SIDE,
    cost_rows,
    figure_row,
    interval,
    percent,
    question_rows,
    side_row,
    summary_line,
)

Json = dict[str, Any]
Bars = tuple[str, Sequence[tuple[str, Rate]], str]
PLOTS = (
    ("correct", "Correct", ""),
    ("vital", "Core nuggets found", ""),
    ("citation_precision", "Citation precision", ""),
    ("citation_recall", "Citation recall", ""),
    ("confident_error", "Confident errors, of answered", "bad"),
    ("false_refusal", "False refusals, of answerable", "bad"),
)
_INTERVALS = "Wilson for shares of questions; bootstrap over questions for nuggets and citations."


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`plain`: the last row is no total. `plots`: title, (name, rate) a bar, and "bad" where less is better."""

    title: str
    text: tuple[str, ...] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    plots: tuple[Bars, ...] = ()
    plain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What of a campaign stands beside its records. `standing` is of a sealed set."""

    standing: Standing | None = None
    predicted: tuple[predictions.Scored, ...] = ()
    predictions_sha256: str | None = None
    judged: tuple[verdicts.Judged, ...] = ()
    said: Mapping[str, str] | None = None


def extras_of(folder: Path, spec: Mapping[str, Any], rows: Sequence[Record], sha: str) -> Extras:
    """Raises SetTampered and EvalError where ledger or predictions are not as they were kept, UsageError for verdicts
    that are none."""
    told = predictions.kept(folder, spec)
    said = verdicts.read_verdicts(folder / verdicts.FILE, rows)
    return Extras(
        standing=standing_of(folder, spec, sha),
        predicted=tuple(predictions.score(told, rows)) if told else (),
        predictions_sha256=told.sha256 if told else None,
        judged=tuple(verdicts.judged(said, rows, names_of(spec))),
        said=verdicts.run_verdicts(said),
    )


def names_of(spec: Mapping[str, Any]) -> list[str]:
    """The campaign's variants, in order."""
    return [str(v["name"]) for v in spec["variants"]]


def banner(spec: Mapping[str, Any], extras: Extras) -> str:
    """What these figures are, in one line."""
    if extras.standing is not None:
        return extras.standing.said[0].upper() + extras.standing.said[1:] + "."
    return "Development figures: this set may have shaped the rules." if spec["set_role"] == "dev" else ""


def sections(spec: Json, rows: Sequence[Record], extras: Extras, sha: str) -> list[Section]:
    """All of the report, in order."""
    names = names_of(spec)
    made = [_summary(names, rows)]
    if len(names) > 1:
        made += _side_by_side(names, rows)
    if extras.predicted:
        made.append(_predicted(extras))
    if extras.standing is not None:
        head, lines = ledger_rows(extras.standing.entries)
        made.append(Section(title="Ledger of this set", head=head, rows=lines))
    if extras.judged:
        made.append(_judged(extras.judged))
    for name in names:
        made += _of_variant(f"{name}: " if len(names) > 1 else "", of_variant(rows, name))
    head, lines = question_rows(rows, extras.said or {})
    made.append(Section(title="Question by question", head=head, rows=lines))
    made.append(Section(title="What ran", head=("What", "Value"), rows=spec_rows(spec, sha)))
    return made


def _summary(names: Sequence[str], rows: Sequence[Record]) -> Section:
    lines = []
    for name in names:
        every = by_category(of_variant(rows, name))[-1]
        start = f"{name}: " if len(names) > 1 else ""
        lines.append(f"{start}{summary_line(every)}; unscored {every.unscored} of {every.n}")
    return Section(title="", text=tuple(lines))


def _side_by_side(names: Sequence[str], rows: Sequence[Record]) -> list[Section]:
    every = {name: by_category(of_variant(rows, name))[-1] for name in names}
    head = ["Variant", *(title for _, title in SIDE_BY_SIDE[1:])]
    plots = tuple((title, [(n, getattr(f, key)) for n, f in every.items()], kind) for key, title, kind in PLOTS)
    made = [Section(title="Side by side", head=head, rows=[side_row(n, f) for n, f in every.items()], plots=plots)]
    made.append(
        Section(
            title="Paired differences",
            text=("Second minus first, question by question, mean over passes; bootstrap over questions, 95 %.",),
            head=("First", "Second", "Figure", "n", "Difference", "Interval", "Clears it"),
            rows=[_paired_row(a, b, difference(of_variant(rows, a), of_variant(rows, b), figure))
                  for a, b in itertools.combinations(names, 2) for figure in ("correct", "vital")],
        )
    )  # fmt: skip
    subsets = [(n, f) for n in names for f in by_subset(of_variant(rows, n))]
    if subsets:
        lines = [[f.category, *side_row(n, f)] for n, f in sorted(subsets, key=lambda s: s[1].category)]
        made.append(Section(title="By subset", head=["Subset", *head], rows=lines))
    categories = by_category(rows)[:-1]
    lines = [
        [c.category, *(percent(_of_category(rows, n, c.category).correct.value) for n in names)] for c in categories
    ]
    bars: Bars = ("Correct, by category", [
        (f"{c.category} · {n}", _of_category(rows, n, c.category).correct) for c in categories for n in names
    ], "")  # fmt: skip
    made.append(Section(title="Correct, by category", head=["Category", *names], rows=lines, plots=(bars,)))
    return made


def _of_category(rows: Sequence[Record], name: str, category: str) -> Figures:
    return figures(category, [r for r in of_variant(rows, name) if r["category"] == category])


def _paired_row(first: str, second: str, found: Paired) -> list[str]:
    reach = "n/a" if found.low is None or found.high is None else f"{found.low:+.3f} … {found.high:+.3f}"
    what = {"correct": "correct", "vital": "core nuggets"}[found.figure]
    return [first, second, what, str(found.n), f"{found.difference:+.3f}", reach, "yes" if found.clear else "no"]


def _predicted(extras: Extras) -> Section:
    held = {True: "held", False: "LOST", None: "nothing to say"}
    counts = [sum(p.held is outcome for p in extras.predicted) for outcome in (True, False, None)]
    return Section(
        title="Predictions, registered before the run",
        text=(
            f"held {counts[0]}, lost {counts[1]}, nothing to say {counts[2]}",
            f"SHA-256 of the file: {extras.predictions_sha256}",
        ),
        head=("", "Prediction", "As figures", "Left", "Right", "Outcome"),
        rows=[[p.id, p.text, p.claim, _value(p.left), _value(p.right), held[p.held]] for p in extras.predicted],
    )


def _value(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _judged(rows: Sequence[verdicts.Judged]) -> Section:
    return Section(
        title="Human verdicts",
        head=("Variant", "Judged", *verdicts.VERDICTS, "Grader agrees"),
        rows=[
            [r.variant, str(r.n), *(str(r.verdicts[v]) for v in verdicts.VERDICTS), f"{r.agree}/{r.compared}"]
            for r in rows
        ],
    )


def _of_variant(start: str, rows: Sequence[Record]) -> list[Section]:
    parts = by_category(rows)
    plots = tuple((title, [(f.category, getattr(f, key)) for f in parts], kind) for key, title, kind in PLOTS)
    head, lines = cost_rows(costs(rows))
    return [
        Section(title=f"{start}By category", head=[name for _, name in COLUMNS],
                rows=[figure_row(f) for f in parts], plain=False),
        Section(title=f"{start}95 % intervals", text=(_INTERVALS,),
                head=["Category", *(name for _, name in INTERVALS)],
                rows=[[f.category, *(interval(getattr(f, n)) for n, _ in INTERVALS)] for f in parts],
                plots=plots, plain=False),
        Section(title=f"{start}Cost by terminal state", head=head, rows=lines, plain=False),
        Section(title=f"{start}How runs ended", head=("Category", "Ends"),
                rows=[[f.category, ", ".join(f"{end} {n}" for end, n in f.ends.items())] for f in parts],
                plain=False),
    ]  # fmt: skip


def spec_rows(spec: Mapping[str, Any], sha: str) -> list[list[str]]:
    """The campaign's specification, and the hash of its records."""
    rows = [[k, v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, sort_keys=True)]
            for k, v in sorted(spec.items())]  # fmt: skip
    return [*rows, ["episodes_sha256", sha]]
