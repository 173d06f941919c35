"""`dof trace`: list, show and verify what past runs left behind."""

from __future__ import annotations

import json
import re
from datetime import UTC, date
from pathlib import Path
from typing import Any

import click

from dofrag.cli.options import FOLDER, parse_date
from dofrag.cli.output import one_line, print_json, terminal_width
from dofrag.domain.run import Reason, TerminalState
from dofrag.errors import DofError, TraceError, UsageError
from dofrag.trace.events import RunStarted
from dofrag.trace.reader import Summary, find, read_lines, records, summarize, trace_files
from dofrag.trace.verify import PassageOf, Problem
from dofrag.wiring import settings

_FOLDER = click.option(
    "--trace-dir", type=FOLDER, default=lambda: settings().trace_dir, metavar="DIR",
    help="Folder of traces. Default: DOF_TRACE_DIR, else traces.",
)  # fmt: skip
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


@click.group()
def trace() -> None:
    """List, show and verify the traces of past runs."""


@trace.command("list")
@click.option(
    "--state", type=click.Choice([str(s) for s in TerminalState]), help="Only runs that ended in this state."
)
@click.option("--reason", type=click.Choice([str(r) for r in Reason]), help="Only runs that ended for this reason.")
@click.option("--from", "first", metavar="DATE", help="Only runs started on this day (UTC) or later.")
@click.option("--to", "last", metavar="DATE", help="Only runs started on this day (UTC) or earlier.")
@_FOLDER
@_JSON
def list_traces(
    state: str | None, reason: str | None, first: str | None, last: str | None, trace_dir: Path, as_json: bool
) -> None:
    """List runs, newest first."""
    window = parse_date(first, "--from") or date.min, parse_date(last, "--to") or date.max
    if window[0] > window[1]:
        raise UsageError(f"--from {window[0]} is after --to {window[1]}", hint="swap the two dates")
    found: list[Summary] = []
    unreadable: list[dict[str, str]] = []
    for path in trace_files(trace_dir):
        try:
            summary = summarize(path)
        except DofError as error:
            unreadable.append({"path": str(path), "reason": error.message})
            continue
        day = summary.started_at.astimezone(UTC).date()
        wanted = state in (None, summary.terminal_state) and reason in (None, summary.reason)
        if wanted and window[0] <= day <= window[1]:
            found.append(summary)
    found.sort(key=lambda s: (s.started_at, s.run_id), reverse=True)
    if as_json:
        print_json({"traces": [_summary_json(s) for s in found], "unreadable": unreadable})
        return
    for summary in found:
        click.echo(_summary_line(summary, terminal_width()))
    for fault in unreadable:
        click.echo(f"unreadable: {fault['reason']}", err=True)
    if not found:
        click.echo(f"no such traces in {trace_dir}", err=True)


def _summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "run_id": summary.run_id,
        "started_at": summary.started_at.isoformat(),
        "terminal_state": str(summary.terminal_state),
        "closure": str(summary.closure),
        "reason": str(summary.reason),
        "turns": summary.turns,
        "tool_calls": summary.tool_calls,
        "read_tokens": summary.read_tokens,
        "planner": summary.planner,
        "as_of": summary.as_of,
        "question": summary.question,
        "path": str(summary.path),
    }


def _summary_line(summary: Summary, width: int) -> str:
    started = f"{summary.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    end = f"{summary.terminal_state}/{summary.reason}"
    spent = f"{'?' if summary.turns is None else summary.turns} turns"
    head = f"{started}  {summary.run_id}  {end:<26}  {spent:>8}  "
    return head + one_line(summary.question, max(30, width - len(head)))


@trace.command()
@click.argument("run")
@_FOLDER
@_JSON
def show(run: str, trace_dir: Path, as_json: bool) -> None:
    """Show a run step by step. RUN is a run id, or the path of a trace file."""
    path = find(trace_dir, run)
    faults = []
    finished = False
    if as_json:
        events = []
        for line in read_lines(path):
            if line.record is not None:
                events.append(json.loads(line.raw))
                finished = line.record.event.event == "run_finished"
            else:
                faults.append({"line": line.number, "half": line.half, "fault": line.fault})
        print_json({"path": str(path), "interrupted": not finished, "unreadable_lines": faults, "events": events})
        return
    from dofrag.cli.trace_text import render_trace

    for text in render_trace(records(path), terminal_width()):
        click.echo(text)
    for line in read_lines(path):
        finished = line.record is not None and line.record.event.event == "run_finished"
        if line.record is None:
            cut = "was cut while it was written" if line.half else line.fault
            click.echo(f"line {line.number} cannot be read: {cut}", err=True)
    if not finished:
        click.echo("\nInterrupted: the run did not write its end.")


@trace.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "every", is_flag=True, help="Every trace of the folder.")
@click.option("--index", type=FOLDER, metavar="DIR",
              help="Check passages and quotes against this index too.")  # fmt: skip
@click.option("--sha256", metavar="HASH", help="What the result gives as trace_sha256; for one RUN.")
@_FOLDER
@_JSON
@click.pass_context
def verify(
    ctx: click.Context,
    runs: tuple[str, ...],
    every: bool,
    index: Path | None,
    sha256: str | None,
    trace_dir: Path,
    as_json: bool,
) -> None:
    """Check hash chain, order, counts and citations. Exit code 1 when anything is wrong.

    RUN is a run id, or the path of a trace file.
    """
    paths = trace_files(trace_dir) if every else [find(trace_dir, run) for run in runs]
    if bool(runs) is every:
        raise UsageError("name the runs to verify, or give --all", hint="dof trace list")
    if sha256 is not None and (len(paths) != 1 or not re.fullmatch("[0-9a-f]{64}", sha256)):
        raise UsageError("--sha256 takes 64 hex digits, and one RUN", hint="it is trace_sha256 of `dof run --json`")
    from dofrag.trace.verify import verify as check

    problems = [
        (path, problem)
        for path in paths
        for problem in check(path, passage_of=_passages(path, index) if index else None, expected_last=sha256)
    ]
    if as_json:
        print_json({"ok": not problems, "checked": len(paths), "problems": [_problem_json(*p) for p in problems]})
    else:
        for path, problem in problems:
            where = f"line {problem.line}" if problem.line else "whole trace"
            click.echo(f"{path}: {where}: {problem.code}: {problem.message}")
        bad = len({path for path, _ in problems})
        click.echo(f"{len(paths)} checked, {len(paths) - bad} sound, {bad} with problems")
    ctx.exit(1 if problems else 0)


def _problem_json(path: Path, problem: Problem) -> dict[str, Any]:
    return {"path": str(path), "line": problem.line, "code": str(problem.code), "message": problem.message}


def _passages(path: Path, index: Path) -> PassageOf:
    """The store's texts as the run could see them: under its own cut-off and scopes."""
    from dofrag.domain.corpus import PUBLIC, Filters, Kind, Passage
    from dofrag.wiring import open_corpus

    start = next((r.event for r in records(path)), None)
    if not isinstance(start, RunStarted):
        raise TraceError(f"{path}: does not begin with run_started", hint="verify it without --index")
    reader = open_corpus(index).reader
    filters = Filters(as_of=start.as_of, kinds=tuple(Kind), scopes=frozenset(start.scopes) | {PUBLIC})

    def passage_of(chunk_id: int) -> Passage | None:
        found = reader.passages([chunk_id], filters)
        return found[0] if found else None

    return passage_of
