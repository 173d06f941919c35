"""`dof run`: one question in, one report out."""

from __future__ import annotations

import traceback
from dataclasses import fields
from pathlib import Path

import click

from dofrag.cli.options import FOLDER, check_scopes, clean_text, notice, parse_date, parse_limits, read_stdin
from dofrag.cli.output import print_json, terminal_width
from dofrag.domain.run import Limits
from dofrag.errors import DofError


@click.command()
@click.option("--question", required=True, metavar="TEXT", help="What to research; '-' reads it from standard input.")
@click.option("--as-of", metavar="DATE", help="Publication cut-off, YYYY-MM-DD: nothing published later exists "
              "for the run. Default: the newest publication of the index.")  # fmt: skip
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to use. Default: DOF_INDEX, "
              "else indexes/dof where it exists, else the sample gazette.")  # fmt: skip
@click.option("--planner", default="rules", show_default=True, metavar="rules|scripted:NAME",
              help="Who proposes the steps: the rules, or a named script for tests.")  # fmt: skip
@click.option("--tools", type=click.Choice(["core"]), default="core", show_default=True, expose_value=False,
              help="Set of tools that the run may use.")  # fmt: skip
@click.option("--strategy", type=click.Choice(["lexical"]), default="lexical", show_default=True, expose_value=False,
              help="How the index is searched.")  # fmt: skip
@click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Set a limit; repeatable. "
              f"Names: {', '.join(f.name for f in fields(Limits))}.")  # fmt: skip
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Allow a restricted collection; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.option("--trace-dir", type=FOLDER, metavar="DIR",
              help="Where the run's trace is written. Default: DOF_TRACE_DIR, else traces.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@click.pass_context
def run(
    ctx: click.Context,
    question: str,
    as_of: str | None,
    index: Path | None,
    planner: str,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    as_json: bool,
    trace_dir: Path | None,
    quiet: bool,
) -> None:
    """Research a question and print the answer with its citations.

    Exit codes: 0 answered, 3 abstained, 4 needs clarification, 5 escalated, 1 failed, 2 wrong usage, 130 interrupted.
    """
    text = clean_text(read_stdin() if question == "-" else question)
    cut_off = parse_date(as_of, "--as-of")
    bounds = parse_limits(limits)
    allowed = check_scopes(scopes)
    from dofrag.cli.progress import Progress
    from dofrag.wiring import run_question

    outcome = run_question(
        text,
        as_of=cut_off,
        index=index,
        planner=planner,
        limits=bounds,
        scopes=allowed,
        trace_dir=trace_dir,
        on_event=None if quiet else Progress(),
        notice=(lambda _: None) if quiet else notice,
    )
    if outcome.error is not None and not isinstance(outcome.error, DofError):
        # A bug ends the run as `failed`, and is loud.
        click.echo("".join(traceback.format_exception(outcome.error)), err=True)
    elif outcome.error is not None:
        notice(f"dof: {outcome.error.message}" + (f"\n     {outcome.error.hint}" if outcome.error.hint else ""))
    if as_json:
        print_json(outcome.result)
    else:
        from dofrag.cli.render import render_result

        click.echo(render_result(outcome.result, terminal_width()), nl=False)
    ctx.exit(outcome.exit_code)
