"""The report of a campaign: every figure is computed from the episode records, and can be computed again.

DIR/report.json   the figures, with the hash of the records that they are of
DIR/report.md     tables
DIR/report.html   the same with plots, in one file that loads nothing
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dofrag.errors import EvalError
from dofrag.evals import records as store
from dofrag.evals.locate import Unit
from dofrag.evals.metrics import by_category, costs
from dofrag.evals.page import render_html
from dofrag.evals.runner import grade_row
from dofrag.evals.table import COLUMNS, INTERVALS, cost_rows, figure_row, interval, question_rows, summary_line
from dofrag.trace.codec import digest

REPORT = "report.json"
MARKDOWN, PAGE = "report.md", "report.html"

Json = dict[str, Any]


def write_report(folder: Path) -> Json:
    """Compute the report of a finished campaign, write its three files, and return it.

    Raises UsageError for a folder without a campaign, and EvalError for one that is not finished or damaged.
    """
    spec, rows = _finished(folder)
    report, files = _render(spec, rows)
    for name, text in files.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise EvalError(f"{folder / name} cannot be written: {error.strerror}") from None
    return report


def check_report(folder: Path) -> list[str]:
    """What does not add up, nothing where all does: records against their hashes and traces, grades made again from
    what was recorded, and the report's files computed again."""
    spec, rows = _finished(folder)
    items = store.read_items(folder)
    faults = []
    if store.items_sha256(folder) != spec.get("items_sha256"):
        faults.append(f"{store.ITEMS} was changed")
    for row in rows:
        name = f"{row.get('question_id')} (pass {row['pass']})"
        if row.get("sha256") != store.sha256_of(row):
            faults.append(f"{name}: the record was changed")
        faults += _grade_faults(name, row, items)
        faults += _trace_faults(name, row, folder / store.TRACES)
    _, files = _render(spec, rows)
    for file, text in files.items():
        path = folder / file
        if not path.is_file():
            faults.append(f"{file} is missing")
        elif path.read_text(encoding="utf-8") != text:
            faults.append(f"{file} is not what the records give")
    return faults


def _finished(folder: Path) -> tuple[Json, list[Json]]:
    spec = store.read_spec(folder)
    rows = store.read_records(folder)
    total = int(spec["questions"]) * int(spec["passes"])
    if len(rows) != total:
        raise EvalError(
            f"{str(folder)!r} holds {len(rows)} of {total} episodes", hint="run its campaign again: it goes on there"
        )
    return spec, rows


def _grade_faults(name: str, row: Mapping[str, Any], items: Mapping[str, Any]) -> list[str]:
    item = items.get(str(row.get("question_id")))
    if item is None:
        return [f"{name}: no such question in {store.ITEMS}"]
    try:
        units = [Unit(name=u["name"], codes=tuple(u["codes"]), chunk_ids=tuple(u["chunk_ids"])) for u in row["units"]]
        made = grade_row(item, row["result"], units)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [f"{name}: the record cannot be graded ({type(error).__name__}: {error})"]
    same = json.loads(store.canonical(made)) == row.get("grade")
    ends = (row["result"].get("terminal_state"), row["result"].get("reason"))
    agree = ends == (row.get("terminal_state"), row.get("termination_reason"))
    return [] if same and agree else [f"{name}: graded again, it is not what the record says"]


def _trace_faults(name: str, row: Mapping[str, Any], traces: Path) -> list[str]:
    """Of a trace that is still there. Reports travel without their traces."""
    path = traces / Path(str(row.get("trace"))).name
    if not path.is_file():
        return []
    last = path.read_bytes().rstrip(b"\n").rpartition(b"\n")[2]
    return [] if digest(last) == row.get("trace_sha256") else [f"{name}: its trace does not end as recorded"]


def _render(spec: Json, rows: Sequence[Json]) -> tuple[Json, dict[str, str]]:
    sha = hashlib.sha256("\n".join(store.canonical(r) for r in rows).encode()).hexdigest()
    figures = by_category(rows)
    report = {
        "schema": "dofrag.report/1",
        "title": spec["title"],
        "set_role": spec["set_role"],
        "campaign": spec,
        "episodes": len(rows),
        "episodes_sha256": sha,
        "categories": [asdict(f) for f in figures],
        "costs": [asdict(c) for c in costs(rows)],
    }
    text = json.dumps(report, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return report, {REPORT: text, MARKDOWN: _markdown(spec, rows, sha), PAGE: render_html(spec, rows, sha)}


def _markdown(spec: Json, rows: Sequence[Json], sha: str) -> str:
    figures = by_category(rows)
    every = figures[-1]
    parts = [
        f"# {spec['title']}",
        "Development figures: this set may have shaped the rules." if spec["set_role"] == "dev" else "",
        summary_line(every) + f"; unscored {every.unscored} of {every.n}",
        _table([name for _, name in COLUMNS], [figure_row(f) for f in figures]),
        "## 95 % intervals",
        "Wilson for shares of questions; bootstrap over questions for nuggets and citations.",
        _table(
            ["Category", *(dict(COLUMNS)[n] for n in INTERVALS)],
            [[f.category, *(interval(getattr(f, n)) for n in INTERVALS)] for f in figures],
        ),
        "## Cost by terminal state",
        _table(*cost_rows(costs(rows))),
        "## Question by question",
        _table(*question_rows(rows)),
        "## What ran",
        _table(["What", "Value"], spec_rows(spec, sha)),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def spec_rows(spec: Mapping[str, Any], sha: str) -> list[list[str]]:
    """The campaign's specification, and the hash of its records."""
    rows = [[k, v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, sort_keys=True)]
            for k, v in sorted(spec.items())]  # fmt: skip
    return [*rows, ["episodes_sha256", sha]]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        lines.append("| " + " | ".join(" ".join(str(c).split()).replace("|", "\\|") for c in row) + " |")
    return "\n".join(lines)
