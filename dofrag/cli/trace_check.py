"""`dof trace verify` and `replay`: does a trace hold together, and would its calls find the same today?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.options import FOLDER
from dofrag.cli.output import one_line, print_json, terminal_width, wrap
from dofrag.cli.strategy import embedder_model_option, embedder_option
from dofrag.cli.trace_pick import CAMPAIGN, EVERY, JSON, RUNS, TRACE_DIR, Picked, each, pick
from dofrag.errors import DofError, UsageError
from dofrag.trace.events import RunStarted
from dofrag.trace.reader import records

if TYPE_CHECKING:
    from dofrag.trace.problems import Problem
    from dofrag.tracing import Indexes, Replayed


@click.command()
@RUNS
@EVERY
@CAMPAIGN
@click.option("--index", type=FOLDER, metavar="DIR",
              help="Check passages and quotes against this index. Default: the run's own, if it is the default one "
              "or the sample, and has not changed.")  # fmt: skip
@click.option("--sha256", metavar="HASH", help="What the result gives as trace_sha256; for one RUN.")
@TRACE_DIR
@JSON
@click.pass_context
def verify(
    ctx: click.Context,
    runs: tuple[str, ...],
    every: bool,
    campaign: Path | None,
    index: Path | None,
    sha256: str | None,
    trace_dir: Path,
    as_json: bool,
) -> None:
    """Check hash chain, order, counts and citations. Exit code 1 when anything is wrong.

    RUN is a run id, or the path of a trace file.
    """
    picked = pick(runs, every, campaign, trace_dir)
    if sha256 is not None and (len(picked) != 1 or not re.fullmatch("[0-9a-f]{64}", sha256)):
        raise UsageError("--sha256 takes 64 hex digits, and one RUN", hint="it is trace_sha256 of `dof run --json`")
    from dofrag.tracing import Indexes

    indexes = Indexes(index)
    found: list[tuple[Path, Problem]] = []
    compared = 0
    for one in picked:
        problems, stored = _problems(one, indexes, sha256)
        compared += stored
        if not as_json:
            for problem in problems:
                click.echo(f"{one.path}: {_place(problem)}: {problem.code}: {one_line(problem.message)}")
        found += [(one.path, problem) for problem in problems]
    bad = len({path for path, _ in found})
    if as_json:
        told = [_problem_json(*p) for p in found]
        print_json({"ok": not found, "checked": len(picked), "compared": compared, "problems": told})
    else:
        click.echo(f"{len(picked)} checked, {len(picked) - bad} sound, {bad} with problems")
        if compared < len(picked):
            left = len(picked) - compared
            click.echo(f"the quotes of {left} were not held against an index: --index DIR", err=True)
    ctx.exit(1 if found else 0)


def _problems(one: Picked, indexes: Indexes, sha256: str | None) -> tuple[list[Problem], bool]:
    """What is wrong with a trace, and whether it was held against an index."""
    from dofrag.trace.verify import verify as check

    start = next((r.event for r in records(one.path)), None)
    passage_of = indexes.at_hand(start) if isinstance(start, RunStarted) else None
    return check(one.path, passage_of=passage_of, expected_last=sha256 or one.sha256), passage_of is not None


def _place(problem: Problem) -> str:
    return f"line {problem.line}" if problem.line else "whole trace"


def _problem_json(path: Path, problem: Problem) -> dict[str, Any]:
    return {"path": str(path), "line": problem.line, "code": str(problem.code), "message": problem.message}


@click.command()
@RUNS
@EVERY
@CAMPAIGN
@click.option("--index", type=FOLDER, metavar="DIR", help="The index to search. Default: the run's own, where it is "
              "the default one or the sample.")  # fmt: skip
@click.option("--scope", "scopes", multiple=True, metavar="NAME",
              help="A restricted collection that the run could see; repeatable. No trace grants any.")  # fmt: skip
@embedder_option
@embedder_model_option
@TRACE_DIR
@JSON
@click.pass_context
def replay(
    ctx: click.Context,
    runs: tuple[str, ...],
    every: bool,
    campaign: Path | None,
    index: Path | None,
    scopes: tuple[str, ...],
    embedder: str | None,
    embedder_model: str | None,
    trace_dir: Path,
    as_json: bool,
) -> None:
    """Make a run's calls again on the index as it is now, and say what differs. Exit code 1 when anything does.

    Each call is judged by itself, under the run's own cut-off, scopes and limits. No model is asked.
    """
    picked = pick(runs, every, campaign, trace_dir)
    from dofrag.settings import SearchChoice
    from dofrag.tracing import Indexes

    search = SearchChoice(allow_partial=True, embedder=embedder, model=embedder_model)
    indexes = Indexes(index, lambda text: click.echo(text, err=True), search, scopes)
    told: list[dict[str, Any]] = []
    different = 0
    try:
        for one, done, error in each(picked, lambda p: indexes.replayed(p.path)):
            different += error is not None or not done.same
            told.append(_replayed_json(one, done, error))
            if not as_json:
                for line in _replayed_text(one, done, error):
                    click.echo(line)
    finally:
        indexes.close()
    if as_json:
        print_json({"ok": not different, "replayed": len(picked), "different": different, "traces": told})
    else:
        click.echo(f"{len(picked)} replayed, {len(picked) - different} without differences, {different} with")
    ctx.exit(1 if different else 0)


def _replayed_json(one: Picked, done: Replayed | None, error: DofError | None) -> dict[str, Any]:
    told: dict[str, Any] = {"path": str(one.path), "question_id": one.question_id}
    if done is None:
        return told | {"run_id": one.path.stem, "same": False, "error": error.message if error else None, "calls": []}
    versions = {name: {"was": was, "now": now} for name, (was, now) in done.versions.items()}
    calls = [asdict(call) for call in done.calls]
    return told | {"run_id": done.run_id, "same": done.same, "error": None, "versions": versions, "calls": calls}


def _replayed_text(one: Picked, done: Replayed | None, error: DofError | None) -> list[str]:
    name = one_line(f"{one.path.stem} {one.question_id or ''}".strip())
    if done is None:
        return [f"{name}: cannot be replayed: {one_line(error.message if error else '')}"]
    changed = [call for call in done.calls if call.differences]
    skipped = [call for call in done.calls if call.skipped]
    if not changed and not skipped:
        return [f"{name}: {len(done.calls)} calls, no differences"]
    lines = [f"{name}: {len(changed)} of {len(done.calls)} calls differ"]
    for call in done.calls:
        if call.skipped:
            lines.append(f"  turn {call.turn} {call.call_id} {one_line(call.tool, 60)}: not made: {call.skipped}")
        elif call.differences:
            lines.append(f"  turn {call.turn} {call.call_id} {one_line(call.tool, 60)}:")
            for d in call.differences:
                lines += wrap(difference_text(asdict(d)), terminal_width(), "    ", "      ")
    lines += [f"  {what} was {_brief(was)}, is {_brief(now)}" for what, (was, now) in done.versions.items()]
    return [one_line_kept(line) for line in lines]


def _brief(version: str | None) -> str:
    return version[:24] if version else "-"


def one_line_kept(line: str) -> str:
    """The line without what drives a terminal, its indent kept."""
    return line[: len(line) - len(line.lstrip(" "))] + one_line(line)


def difference_text(d: Mapping[str, Any]) -> str:
    """One difference in words."""
    what, was, now = d["what"], d["was"], d["now"]
    match d["kind"]:
        case "gone":
            return f"{what} is no longer found (it was number {was})"
        case "new":
            return f"{what} is found now, number {now}"
        case "moved":
            return f"{what} was number {was}, is number {now}"
        case "text":
            return f"{what} has another text now"
        case "refused":
            return f"refused now: {now}" if was is None else f"was refused ({was}), and now {now or 'runs'}"
        case _:
            return f"{what}: {one_line(str(was), 160)} -> {one_line(str(now), 160)}"
