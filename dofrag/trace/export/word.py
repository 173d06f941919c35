"""The report as a DOCX file. Needs python-docx (extra `docx`), which is imported only here, when one is made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dofrag.errors import UsageError
from dofrag.trace.export.escape import official, one_line, visible
from dofrag.trace.export.report import Report
from dofrag.trace.export.text import call_rows, coverage_rows, faults, record_rows, source_text
from dofrag.trace.export.words import words_of


def to_docx(report: Report) -> bytes:
    """The bytes of the file; the same report gives the same. Raises UsageError where python-docx is not installed."""
    try:
        from docx import Document
    except ImportError:
        raise UsageError("python-docx is not installed", hint='pip install "dofrag[docx]"') from None
    document = Document()
    words = words_of(report.language)
    document.add_heading(words["title"], 0)
    _line(document, words["question"], report.question)
    _line(document, words["as_of"], report.as_of)
    _line(document, words["corpus"], report.corpus)
    _line(document, words["state"], f"{report.terminal_state} / {report.closure} / {report.reason}")
    if report.interrupted:
        document.add_paragraph(words["interrupted"], style="Intense Quote")
    _answer(document, report, words)
    if report.sources:
        document.add_heading(words["sources"], 1)
    for source in report.sources:
        link = official(source.url)
        text = f"[{source.number}] {source_text(source, words)}" + (f" {link}" if link else "")
        document.add_paragraph(one_line(text))
    if report.coverage:
        document.add_heading(words["coverage"], 1)
        head = [words[key] for key in ("part", "requirement", "status", "source")]
        _table(document, head, coverage_rows(report))
    if report.calls:
        document.add_heading(words["calls"], 1)
        head = [words[key] for key in ("turn", "tool", "arguments", "found")]
        _table(document, head, call_rows(report, words))
    _rest(document, report, words)
    return _bytes(document, report)


def _line(document: Any, name: str, text: str) -> None:
    paragraph = document.add_paragraph()
    paragraph.add_run(f"{name}: ").bold = True
    paragraph.add_run(one_line(text))


def _answer(document: Any, report: Report, words: Mapping[str, str]) -> None:
    document.add_heading(words["answer"], 1)
    if not report.claims:
        document.add_paragraph(words["no_answer"])
    for claim in report.claims:
        marks = "".join(f"[{n}]" for n in claim.numbers)
        document.add_paragraph(f"{one_line(claim.text)} {marks}".strip())
        for quote in claim.quotes:
            document.add_paragraph(f"«{visible(quote.quote).strip()}» [{quote.number}]", style="Quote")
    if report.premise and report.premise.get("status") not in (None, "not_applicable"):
        _line(document, words["premise"], f"{report.premise.get('status')}. {report.premise.get('correction') or ''}")


def _rest(document: Any, report: Report, words: Mapping[str, str]) -> None:
    if report.rejections:
        document.add_heading(words["drafts"], 1)
    for rejection in report.rejections:
        for text in faults(rejection.faults):
            document.add_paragraph(one_line(f"{words['turn']} {rejection.turn}: {text}"), style="List Bullet")
    if report.limitations:
        document.add_heading(words["limitations"], 1)
    for text in report.limitations:
        document.add_paragraph(one_line(text), style="List Bullet")
    document.add_heading(words["record"], 1)
    for name, text in record_rows(report, words):
        _line(document, name, text)


def _table(document: Any, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=1 + len(rows), cols=len(head), style="Table Grid")
    for cell, text in zip(table._cells, [*head, *(t for row in rows for t in row)], strict=True):
        cell.text = one_line(text)


def _bytes(document: Any, report: Report) -> bytes:
    properties = document.core_properties
    properties.author, properties.title = "dofrag", report.run_id
    moment = datetime.fromisoformat(report.started_at).astimezone(UTC).replace(tzinfo=None)
    properties.created = properties.modified = moment
    out = io.BytesIO()
    document.save(out)
    return _without_clock(out)


def _without_clock(saved: io.BytesIO) -> bytes:
    """The archive with the day zero of its format on every part: python-docx writes the time of saving there."""
    out = io.BytesIO()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            entry = zipfile.ZipInfo(part.filename)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, old.read(part))
    return out.getvalue()
