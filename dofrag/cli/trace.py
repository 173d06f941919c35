"""`dof trace`: list, show, verify, replay, compare and export what past runs left behind."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from datetime import UTC, date
from pathlib import Path
from typing import Any

import click

from dofrag.cli.options import FOLDER, parse_date
from dofrag.cli.output import one_line, print_json, terminal_width
from dofrag.cli.trace_check import replay, verify
from dofrag.cli.trace_export import diff, export
from dofrag.cli.trace_pick import JSON, TRACE_DIR, Picked, campaigns_of, of_campaign
from dofrag.domain.run import Reason, TerminalState
from dofrag.errors import DofError, UsageError
from dofrag.trace.reader import Summary, find, read_lines, summarize, trace_files

PAGE = 50
"""Traces that a list shows at a time."""


@click.group()
def trace() -> None:
    """List, show, verify, replay, compare and export the traces of past runs."""


for _command in (verify, replay, diff, export):
    trace.add_command(_command)


@trace.command("list")
@click.option(
    "--state", type=click.Choice([str(s) for s in TerminalState]), help="Only runs that ended in this state."
)
@click.option("--reason", type=click.Choice([str(r) for r in Reason]), help="Only runs that ended for this reason.")
@click.option("--from", "first", metavar="DATE", help="Only runs started on this day (UTC) or later.")
@click.option("--to", "last", metavar="DATE", help="Only runs started on this day (UTC) or earlier.")
@click.option("--campaign", type=FOLDER, metavar="DIR", help="The runs of a campaign of `dof eval`.")
@click.option("--set", "set_name", metavar="NAME", help="The runs of all campaigns of this set among the traces.")
@click.option("--limit", type=click.IntRange(min=0), default=PAGE, show_default=True, metavar="N",
              help="How many to show; 0 for all.")  # fmt: skip
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N", help="How many of the newest to skip.")
@TRACE_DIR
@JSON
def list_traces(
    state: str | None,
    reason: str | None,
    first: str | None,
    last: str | None,
    campaign: Path | None,
    set_name: str | None,
    limit: int,
    offset: int,
    trace_dir: Path,
    as_json: bool,
) -> None:
    """List runs, newest first."""
    window = parse_date(first, "--from") or date.min, parse_date(last, "--to") or date.max
    if window[0] > window[1]:
        raise UsageError(f"--from {window[0]} is after --to {window[1]}", hint="swap the two dates")
    found: list[tuple[Summary, str | None]] = []
    unreadable: list[dict[str, str]] = []
    for picked in _candidates(campaign, set_name, trace_dir):
        try:
            summary = summarize(picked.path)
        except DofError as error:
            unreadable.append({"path": str(picked.path), "reason": error.message})
            continue
        day = summary.started_at.date()
        wanted = state in (None, summary.terminal_state) and reason in (None, summary.reason)
        if wanted and window[0] <= day <= window[1]:
            found.append((summary, picked.question_id))
    until = offset + limit if limit else len(found)
    page = heapq.nlargest(until, found, key=lambda pair: (pair[0].started_at, pair[0].run_id))[offset:]
    if as_json:
        traces = [_summary_json(*pair) for pair in page]
        print_json({"total": len(found), "offset": offset, "traces": traces, "unreadable": unreadable})
        return
    for pair in page:
        click.echo(_summary_line(*pair, terminal_width()))
    for fault in unreadable:
        click.echo(f"unreadable: {one_line(fault['reason'])}", err=True)
    if not found:
        click.echo(f"no such traces in {one_line(str(campaign or trace_dir))}", err=True)
    elif len(page) < len(found):
        more = f"; the next: --offset {until}" if until < len(found) else ""
        click.echo(f"{offset + 1} to {offset + len(page)} of {len(found)}{more}", err=True)


def _candidates(campaign: Path | None, set_name: str | None, trace_dir: Path) -> Iterator[Picked]:
    if campaign is not None and set_name is not None:
        raise UsageError("--campaign and --set at once", hint="give one of them")
    if campaign is None and set_name is None:
        yield from (Picked(path) for path in trace_files(trace_dir))
    for folder in [campaign] if campaign else campaigns_of(set_name, trace_dir) if set_name else []:
        yield from of_campaign(folder, whole=False)


def _summary_json(summary: Summary, question_id: str | None) -> dict[str, Any]:
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
        "question_id": question_id,
        "question": summary.question,
        "path": str(summary.path),
    }


def _summary_line(summary: Summary, question_id: str | None, width: int) -> str:
    started = f"{summary.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    end = f"{summary.terminal_state}/{summary.reason}"
    spent = f"{'?' if summary.turns is None else summary.turns} turns"
    head = f"{started}  {one_line(summary.run_id, 80)}  {end:<26}  {spent:>8}  "
    question = f"{question_id} {summary.question}" if question_id else summary.question
    return head + one_line(question, max(30, width - len(head)))


@trace.command()
@click.argument("run")
@click.option("--full", is_flag=True, help="Show every result, and the claims of every draft.")
@TRACE_DIR
@JSON
def show(run: str, full: bool, trace_dir: Path, as_json: bool) -> None:
    """Show a run step by step. RUN is a run id, or the path of a trace file."""
    path = find(trace_dir, run)
    if as_json:
        _show_json(path)
        return
    from dofrag.cli.trace_text import render_trace, standing

    kept = []
    faults = []
    for line in read_lines(path):
        if line.record is not None:
            kept.append(line.record)
        else:
            faults.append((line.number, "was cut while it was written" if line.half else str(line.fault)))
    for text in render_trace(kept, terminal_width(), full=full):
        click.echo(text)
    for number, fault in faults:
        click.echo(f"line {number} cannot be read: {one_line(fault)}", err=True)
    if not kept or kept[-1].event.event != "run_finished":
        click.echo("\nInterrupted: the run did not write its end.")
        for text in standing(path, kept, terminal_width()):
            click.echo(text)


def _show_json(path: Path) -> None:
    events = []
    faults = []
    finished = False
    for line in read_lines(path):
        if line.record is not None:
            events.append(json.loads(line.raw))
            finished = line.record.event.event == "run_finished"
        else:
            faults.append({"line": line.number, "half": line.half, "fault": line.fault})
    print_json({"path": str(path), "interrupted": not finished, "unreadable_lines": faults, "events": events})
