"""How `dof index` shows its work: a progress line on stderr, summaries on stdout."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.output import clean, one_line
from dofrag.domain.records import dataclass

if TYPE_CHECKING:
    from dofrag.domain.corpus import Publication
    from dofrag.ingest.report import Report
    from dofrag.ingest.verify import Verification
    from dofrag.store.interface import OutlineEntry

_STAGES = {
    "plan": "looking for files",
    "read": "files read",
    "index": "chunks indexed",
    "verify": "publications verified",
    "embed": "chunks have a vector",
}
_TERMINAL_EVERY = 0.2  # seconds between updates of the line on a terminal
_PIPED_EVERY = 10.0  # … and between lines where there is none
_LISTED = 20  # failures listed in a summary; --json has all of them


class Meter:
    """A progress line on stderr: one that changes on a terminal, a line now and then elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._next = 0.0
        self._stage = ""
        self._dirty = False

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._dirty:
            click.echo("", err=True)

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._quiet or (now < self._next and stage == self._stage and done != total):
            return
        ended = done == total and total > 0
        text = _STAGES.get(stage, stage)
        text = f"index: {done:,} of {total:,} {text}" if total else f"index: {text}"
        if self._terminal:
            click.echo(f"\r{text:<60}", nl=ended, err=True)
            self._dirty = not ended
        else:
            click.echo(text, err=True)
        self._stage = stage
        self._next = now + (_TERMINAL_EVERY if self._terminal else _PIPED_EVERY)


def summary(report: Report, folder: Path) -> str:
    """Counts, dates and failures, for people."""
    lines = [
        f"index {folder}",
        f"  files         {report.files:,} ({report.indexed:,} indexed, {report.alternates:,} alternates, "
        f"{len(report.failed):,} failed)",
        f"  publications  {report.publications:,}, {report.chunks:,} chunks, {report.bytes / 1e6:,.1f} MB",
        f"  dates         {report.from_ or '-'} to {report.to or '-'}",
        f"  stamp         {report.stamp}",
    ]
    restricted = [f"{scope} ({count:,})" for scope, count in sorted(report.scopes.items()) if scope != "public"]
    if restricted:
        lines.append(f"  restricted    {', '.join(clean(scope) for scope in restricted)}")
    if report.seconds is not None:
        lines.append(
            f"  this time     {report.parsed or 0:,} files read, {report.chunks_written or 0:,} chunks written, "
            f"{report.removed or 0:,} removed, {report.seconds:,.1f} s"
        )
    elif report.last_build_seconds is not None:
        lines.append(f"  last build    {report.last_build_seconds:,.1f} s")
    for source, reason in report.failed[:_LISTED]:
        lines.append(f"  failed        {one_line(source, 100)}: {one_line(reason, 200)}")
    if len(report.failed) > _LISTED:
        lines.append(f"                … and {len(report.failed) - _LISTED:,} more; --json lists all of them")
    for source, reason in report.ignored[:_LISTED]:
        lines.append(f"  ignored       {one_line(source, 100)}: {one_line(reason, 200)}")
    if len(report.ignored) > _LISTED:
        lines.append(f"                … and {len(report.ignored) - _LISTED:,} more; --json lists all of them")
    lines += [f"  PROBLEM       {clean(problem)}" for problem in report.problems]
    return "\n".join(lines)


def describe(found: Verification, folder: Path) -> str:
    """What a verification found, for people."""
    lines = [
        f"index {folder}: {found.sources:,} files, {found.publications:,} publications, {found.chunks:,} chunks, "
        f"{found.seconds:,.1f} s",
    ]
    lines += [f"  FAULT  {one_line(fault, 300)}" for fault in found.faults]
    lines.append(
        "  sound"
        if not found.faults
        else f"  {len(found.faults):,} faults; `dof index build --fresh PATH… --index {folder}` reads all of it anew"
    )
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Shown:
    """A publication for programs and for people."""

    data: dict[str, Any]
    text: str


def show_publication(publication: Publication, outline: list[OutlineEntry], total: int) -> Shown:
    """Everything known of a publication, and where its chunks begin."""
    p = publication
    data: dict[str, Any] = {
        "code": p.code,
        "title": p.title,
        "issuer": p.issuer,
        "published_on": p.published_on.isoformat(),
        "edition": p.edition,
        "kind": str(p.kind),
        "source_kind": str(p.source_kind),
        "position": p.position,
        "section": p.section,
        "branch": p.branch,
        "instrument": p.instrument,
        "identifiers": list(p.identifiers),
        "url": p.url,
        "scope": p.scope,
        "source": p.source,
        "span": list(p.span),
        "chars": p.chars,
        "sha256": p.sha256,
        "first_published_on": p.first_published_on.isoformat() if p.first_published_on else None,
        "last_reform_on": p.last_reform_on.isoformat() if p.last_reform_on else None,
        "notice": p.notice,
        "chunks": total,
        "outline": [
            {
                "chunk_id": entry.chunk_id,
                "heading_path": list(entry.heading_path),
                "provision": entry.provision,
                "first_words": entry.first_words,
                "chars": entry.chars,
            }
            for entry in outline
        ],
    }
    lines = [
        f"{name:<18}  {one_line(str(value), 400)}"
        for name, value in data.items()
        if name not in ("outline", "identifiers", "span") and value is not None
    ]
    if p.identifiers:
        lines.append(f"{'identifiers':<18}  {one_line(', '.join(p.identifiers), 400)}")
    lines.append("")
    lines += [
        f"{entry.chunk_id:>9}  {one_line(entry.provision or '', 24):<24}  {one_line(entry.first_words, 60)}"
        for entry in outline
    ]
    if total > len(outline):
        lines.append(f"           … {total - len(outline):,} more chunks")
    return Shown(data, "\n".join(lines))
