"""The report of a campaign: every figure is computed from the episode records, and can be computed again.

DIR/report.json   the figures, with the hash of the records that they are of
DIR/report.md     tables
DIR/report.html   the same with plots, in one file that loads nothing
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dofrag.errors import EvalError
from dofrag.evals import records as store
from dofrag.evals.locate import Unit
from dofrag.evals.look import standing_of
from dofrag.evals.metrics import by_category, by_subset, costs, difference, of_variant
from dofrag.evals.page import render_html
from dofrag.evals.runner import conduct_of, grade_row
from dofrag.evals.sections import Section, banner, extras_of, names_of, sections
from dofrag.trace.codec import digest

REPORT = "report.json"
MARKDOWN, PAGE = "report.md", "report.html"

Json = dict[str, Any]


def write_report(folder: Path) -> Json:
    """Compute the report of a finished campaign, write its three files, and return it.

    Raises UsageError for a folder without a campaign, and EvalError for one that is not finished or damaged.
    """
    spec, rows = finished(folder)
    report, files = _render(folder, spec, rows)
    for name, text in files.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise EvalError(f"{folder / name} cannot be written: {error.strerror}") from None
    return report


def check_report(folder: Path) -> list[str]:
    """What does not add up, nothing where all does: records against their hashes and traces, grades made again from
    what was recorded, and the report's files computed again."""
    spec, rows = finished(folder)
    items = store.read_items(folder)
    faults = []
    if store.items_sha256(folder) != spec.get("items_sha256"):
        faults.append(f"{store.ITEMS} was changed")
    for row in rows:
        name = f"{row.get('question_id')} ({row['variant']}, pass {row['pass']})"
        if row.get("sha256") != store.sha256_of(row):
            faults.append(f"{name}: the record was changed")
        faults += _grade_faults(name, row, items)
        faults += _trace_faults(name, row, folder / store.TRACES)
    standing = standing_of(folder, spec, episodes_sha256(spec, rows))
    if standing is not None and standing.fault:
        faults.append(standing.fault)
    _, files = _render(folder, spec, rows)
    for file, text in files.items():
        path = folder / file
        if not path.is_file():
            faults.append(f"{file} is missing")
        elif path.read_text(encoding="utf-8") != text:
            faults.append(f"{file} is not what the records give")
    return faults


def finished(folder: Path) -> tuple[Json, list[Json]]:
    """Specification and records of a finished campaign. Raises UsageError for a folder without one, and EvalError for
    one that is not finished or damaged."""
    spec = store.read_spec(folder)
    rows = store.read_records(folder)
    total = store.expected_episodes(spec)
    unknown = sorted({str(r["variant"]) for r in rows} - set(names_of(spec)))
    if unknown:
        raise EvalError(f"{str(folder)!r} has no variant {unknown[0]!r}", hint="restore its records")
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
        went = conduct_of(item, row, units)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [f"{name}: the record cannot be graded ({type(error).__name__}: {error})"]
    same = json.loads(store.canonical(made)) == row.get("grade") and went == row.get("conduct")
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


def episodes_sha256(spec: Mapping[str, Any], rows: Sequence[Json]) -> str:
    """The hash of a campaign's records, all of them."""
    return hashlib.sha256("\n".join(store.canonical(r) for r in _in_order(spec, rows)).encode()).hexdigest()


def _in_order(spec: Mapping[str, Any], rows: Sequence[Json]) -> list[Json]:
    return sorted(rows, key=lambda r: (names_of(spec).index(r["variant"]), r["pass"], r["index"]))


def _render(folder: Path, spec: Json, rows: Sequence[Json]) -> tuple[Json, dict[str, str]]:
    rows, sha = _in_order(spec, rows), episodes_sha256(spec, rows)
    extras = extras_of(folder, spec, rows, sha)
    names = names_of(spec)
    report = {
        "schema": "dofrag.report/2",
        "title": spec["title"],
        "set_role": spec["set_role"],
        "banner": banner(spec, extras),
        "campaign": spec,
        "episodes": len(rows),
        "episodes_sha256": sha,
        "variants": [_of_variant(name, of_variant(rows, name)) for name in names],
        "differences": [
            {"first": a, "second": b, **asdict(difference(of_variant(rows, a), of_variant(rows, b), figure))}
            for a, b in itertools.combinations(names, 2)
            for figure in ("correct", "vital")
        ],
        "predictions": [asdict(p) for p in extras.predicted],
        "verdicts": [asdict(j) for j in extras.judged],
        "ledger": extras.standing.entries if extras.standing else None,
        "locked_result": extras.standing.locked if extras.standing else None,
    }
    parts = sections(spec, rows, extras, sha)
    text = json.dumps(report, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    page = render_html(str(spec["title"]), banner(spec, extras), parts, rows)
    return report, {REPORT: text, MARKDOWN: _markdown(spec, banner(spec, extras), parts), PAGE: page}


def _of_variant(name: str, rows: Sequence[Mapping[str, Any]]) -> Json:
    return {
        "name": name,
        "categories": [asdict(f) for f in by_category(rows)],
        "subsets": [asdict(f) for f in by_subset(rows)],
        "costs": [asdict(c) for c in costs(rows)],
    }


def _markdown(spec: Json, said: str, parts: Sequence[Section]) -> str:
    lines = [f"# {spec['title']}", said]
    for part in parts:
        lines += [f"## {part.title}" if part.title else "", *part.text]
        lines.append(markdown_table(part.head, part.rows) if part.head else "")
    return "\n\n".join(p for p in lines if p) + "\n"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        lines.append("| " + " | ".join(" ".join(str(c).split()).replace("|", "\\|") for c in row) + " |")
    return "\n".join(lines)
