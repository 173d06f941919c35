"""The report as Markdown, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dofrag.trace.export.escape import cell, markdown, official, one_line, safe_json
from dofrag.trace.export.report import SCHEMA, CallLine, ClaimLine, Report, Source
from dofrag.trace.export.words import words_of


def to_json(reports: Sequence[Report]) -> str:
    """`dofrag.report/1`: one object, or with several runs `{"schema", "reports"}`."""
    rows = [{"schema": SCHEMA, **asdict(report)} for report in reports]
    return safe_json(rows[0] if len(rows) == 1 else {"schema": SCHEMA, "reports": rows}) + "\n"


def brief_arguments(arguments: Any) -> str:
    """The arguments that say something, as `name=value`."""
    if not isinstance(arguments, Mapping):
        return one_line(json.dumps(arguments, ensure_ascii=False))[:300]
    told = {k: v for k, v in sorted(arguments.items()) if v not in (None, False, [], "")}
    return ", ".join(f"{k}={v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}" for k, v in told.items())


def outcome_of(call: CallLine, words: Mapping[str, str]) -> str:
    """How many a call found, or why it was refused."""
    if call.outcome == "ok":
        return "?" if call.total is None else str(call.total)
    return f"{words['refused']}: {call.outcome}" if call.outcome else words["broken_off"]


def source_text(source: Source, words: Mapping[str, str]) -> str:
    """A source on one line: how it is cited, its title and issuer, its date, which passage."""
    told = [source.cite_as, source.title, source.issuer, source.date if not source.cite_as else None]
    where = f"{source.publication}, {words['chunk']} {source.chunk_id}".removeprefix(", ")
    ended = [t if t.endswith("…") else f"{t.rstrip('.')}." for t in told if t]
    return " ".join([*ended, f"({where})"])


def to_markdown(report: Report) -> str:
    """CommonMark with GitHub's tables. The only links are to official pages."""
    words = words_of(report.language)
    lines = [f"# {words['title']}", "", f"**{words['question']}:** {markdown(report.question)}", ""]
    lines += [
        f"- {words['as_of']}: {markdown(report.as_of)}",
        f"- {words['corpus']}: {markdown(report.corpus)}",
        f"- {words['state']}: {markdown(f'{report.terminal_state} / {report.closure} / {report.reason}')}",
        "",
    ]
    if report.interrupted:
        lines += [f"**{words['interrupted']}**", ""]
    lines += [f"## {words['answer']}", ""]
    if not report.claims:
        lines += [words["no_answer"], ""]
    for claim in report.claims:
        lines += _claim(claim)
    if report.premise and report.premise.get("status") not in (None, "not_applicable"):
        told = f"{report.premise.get('status')}. {report.premise.get('correction') or ''}"
        lines += [f"**{words['premise']}:** {markdown(told)}", ""]
    if report.sources:
        lines += [f"## {words['sources']}", ""]
        lines += [_source(source, words) for source in report.sources]
        lines.append("")
    lines += _tables(report, words)
    lines += _rest(report, words)
    return "\n".join(lines) + "\n"


def _claim(claim: ClaimLine) -> list[str]:
    marks = "".join(rf"\[{n}\]" for n in claim.numbers)
    lines = [f"{markdown(claim.text)} {marks}".strip(), ""]
    for quote in claim.quotes:
        lines += [f"> {markdown(f'«{one_line(quote.quote)}»')} \\[{quote.number}\\]", ""]
    return lines


def _source(source: Source, words: Mapping[str, str]) -> str:
    link = official(source.url)
    return f"- \\[{source.number}\\] {markdown(source_text(source, words))}" + (f" <{link}>" if link else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(markdown(text) for text in row) + " |" for row in rows),
        "",
    ]


def coverage_rows(report: Report) -> list[tuple[str, str, str, str]]:
    """Part, requirement, status, number of the source."""
    return [
        (f"{r.part} {r.part_text}", f"{r.id} {r.label}", r.status, "" if r.number is None else f"[{r.number}]")
        for r in report.coverage
    ]


def call_rows(report: Report, words: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """Turn, tool, arguments, what came of it."""
    return [
        (str(c.turn), f"{c.call_id} {c.tool}", brief_arguments(c.arguments), outcome_of(c, words))
        for c in report.calls
    ]


def _tables(report: Report, words: Mapping[str, str]) -> list[str]:
    lines = []
    if report.coverage:
        head = [words[key] for key in ("part", "requirement", "status", "source")]
        lines += [f"## {words['coverage']}", "", *_table(head, coverage_rows(report))]
    if report.calls:
        head = [words[key] for key in ("turn", "tool", "arguments", "found")]
        lines += [f"## {words['calls']}", "", *_table(head, call_rows(report, words))]
    return lines


def _rest(report: Report, words: Mapping[str, str]) -> list[str]:
    lines = []
    if report.rejections:
        lines += [f"## {words['drafts']}", ""]
        lines += [
            f"- {words['turn']} {r.turn}: {markdown(text)}" for r in report.rejections for text in faults(r.faults)
        ]
        lines.append("")
    if report.limitations:
        lines += [f"## {words['limitations']}", "", *(f"- {markdown(text)}" for text in report.limitations), ""]
    lines += [
        f"## {words['record']}",
        "",
        *(f"- {name}: {markdown(text)}" for name, text in record_rows(report, words)),
    ]
    return lines


def faults(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each fault as `code (where): message`."""
    return [
        f"{f.get('code')}{' (' + str(f['where']) + ')' if f.get('where') else ''}: {f.get('message')}" for f in rows
    ]


def record_rows(report: Report, words: Mapping[str, str]) -> list[tuple[str, str]]:
    """What identifies the run and what it spent, as name and text."""
    spend = ", ".join(f"{k} {v}" for k, v in sorted(report.spend.items()) if v is not None)
    versions = ", ".join(f"{k} {v}" for k, v in sorted(report.versions.items()))
    rows = [
        ("run", f"{report.run_id} ({report.started_at}, {report.planner})"),
        (words["spend"], spend or "?"),
        (words["versions"], versions),
        (words["hash"], report.trace_sha256),
    ]
    if report.unreadable:
        rows.append((words["unreadable"], ", ".join(map(str, report.unreadable))))
    return rows


TABLES = ("citations", "coverage", "calls")
"""What a CSV file may hold."""
_HEADS = {
    "citations": (
        "run_id", "question", "terminal_state", "reason", "claim", "claim_text", "sub_questions", "number",
        "chunk_id", "quote", "start", "end", "publication", "title", "issuer", "date", "cite_as", "url",
    ),
    "coverage": (
        "run_id", "question", "terminal_state", "reason", "part", "part_text", "requirement", "label", "status",
        "number", "chunk_id", "publication",
    ),
    "calls": (
        "run_id", "question", "terminal_state", "reason", "turn", "call_id", "tool", "arguments", "why", "outcome",
        "total", "read",
    ),
}  # fmt: skip


def to_csv(reports: Sequence[Report], table: str = "citations") -> str:
    """Rows of one table, of all runs: `citations` (a row a quote, a source without one, or a run without either),
    `coverage`, `calls`."""
    rows = {"citations": _citation_rows, "coverage": _coverage_cells, "calls": _call_cells}[table]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(_HEADS[table])
    for report in reports:
        head = (report.run_id, report.question, report.terminal_state, report.reason)
        for row in rows(report):
            writer.writerow([_cell(value) for value in (*head, *row)])
    return out.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else cell(value) if isinstance(value, str) else str(value)


def _citation_rows(report: Report) -> Iterable[Sequence[Any]]:
    sources = {s.number: s for s in report.sources}
    shown = set()
    for n, claim in enumerate(report.claims, 1):
        for quote in claim.quotes:
            shown.add(quote.number)
            source = sources.get(quote.number) if quote.number is not None else None
            yield (
                n, claim.text, " ".join(claim.sub_questions), quote.number, quote.chunk_id, quote.quote, quote.start,
                quote.end, *_source_cells(source),
            )  # fmt: skip
    for source in report.sources:
        if source.number not in shown:
            yield None, None, None, source.number, source.chunk_id, None, None, None, *_source_cells(source)
    if not report.sources and not shown:
        yield (None,) * 14  # a run that cites nothing is a row as well


def _source_cells(source: Source | None) -> Sequence[Any]:
    if source is None:
        return (None,) * 6
    return source.publication, source.title, source.issuer, source.date, source.cite_as, official(source.url)


def _coverage_cells(report: Report) -> Iterable[Sequence[Any]]:
    sources = {s.number: s for s in report.sources}
    for row in report.coverage:
        source = sources.get(row.number) if row.number is not None else None
        chunk = (source.chunk_id, source.publication) if source else (None, None)
        yield row.part, row.part_text, row.id, row.label, row.status, row.number, *chunk


def _call_cells(report: Report) -> Iterable[Sequence[Any]]:
    for call in report.calls:
        yield (
            call.turn, call.call_id, call.tool, brief_arguments(call.arguments), call.why, call.outcome, call.total,
            " ".join(map(str, call.read)),
        )  # fmt: skip
