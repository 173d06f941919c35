"""`dof run`: one question in, one report out."""

from __future__ import annotations

import traceback
from dataclasses import fields
from pathlib import Path

import click

from dofrag.cli.options import FOLDER, check_scopes, clean_text, notice, parse_date, parse_limits, read_stdin
from dofrag.cli.output import print_json, terminal_width
from dofrag.cli.strategy import search_options
from dofrag.domain.run import Limits
from dofrag.errors import DofError, UsageError
from dofrag.settings import SearchChoice


@click.command()
@click.option("--question", metavar="TEXT", help="What to research; '-' reads it from standard input. Only a replay "
              "does without.")  # fmt: skip
@click.option("--as-of", metavar="DATE", help="Publication cut-off, YYYY-MM-DD: nothing published later exists "
              "for the run. Default: the newest publication of the index.")  # fmt: skip
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to use. Default: DOF_INDEX, "
              "else indexes/dof where it exists, else the sample gazette.")  # fmt: skip
@click.option("--planner", default="rules", show_default=True, metavar="rules|model|replay:FILE|scripted:NAME",
              help="Who proposes the steps: the rules, a language model, a recorded run, or a named script for "
              "tests.")  # fmt: skip
@click.option("--model", metavar="NAME", help="Model for --planner model. Default: DOF_MODEL, OPENAI_MODEL, "
              "else name in dof.toml.")  # fmt: skip
@click.option("--base-url", metavar="URL", help="Its endpoint. Default: DOF_BASE_URL, OPENAI_BASE_URL, "
              "else base_url in dof.toml, else OpenAI's.")  # fmt: skip
@click.option("--api", type=click.Choice(["chat", "responses"]), help="How the endpoint is spoken to: "
              "Chat Completions or Responses. Default: DOF_API, else api in dof.toml, else chat.")  # fmt: skip
@click.option("--tools", type=click.Choice(["core"]), default="core", show_default=True, expose_value=False,
              help="Set of tools that the run may use.")  # fmt: skip
@click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Set a limit; repeatable. "
              f"Names: {', '.join(f.name for f in fields(Limits))}.")  # fmt: skip
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Allow a restricted collection; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.option("--trace-dir", type=FOLDER, metavar="DIR",
              help="Where the run's trace is written. Default: DOF_TRACE_DIR, else traces.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@search_options
@click.pass_context
def run(
    ctx: click.Context,
    question: str | None,
    as_of: str | None,
    index: Path | None,
    planner: str,
    model: str | None,
    base_url: str | None,
    api: str | None,
    limits: tuple[str, ...],
    scopes: tuple[str, ...],
    as_json: bool,
    trace_dir: Path | None,
    quiet: bool,
    search: SearchChoice,
) -> None:
    """Research a question and print the answer with its citations.

    Exit codes: 0 answered, 3 abstained, 4 needs clarification, 5 escalated, 1 failed, 2 wrong usage, 130 interrupted.
    """
    if question is None and not planner.startswith("replay:"):
        raise UsageError("no question is given", hint='dof run --question "¿…?"')
    text = None if question is None else clean_text(read_stdin() if question == "-" else question)
    cut_off = parse_date(as_of, "--as-of")
    bounds = parse_limits(limits) if limits else None
    allowed = check_scopes(scopes)
    from dofrag.cli.progress import Progress
    from dofrag.settings import ModelChoice
    from dofrag.wiring import run_question

    outcome = run_question(
        text,
        as_of=cut_off,
        index=index,
        planner=planner,
        model=ModelChoice(name=model, base_url=base_url, api=api),
        limits=bounds,
        scopes=allowed,
        search=search,
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
