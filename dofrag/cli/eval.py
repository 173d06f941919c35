"""`dof eval`: question sets run, graded and reported; records checked and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dofrag.cli.options import FOLDER, notice, parse_limits
from dofrag.cli.output import one_line, print_json
from dofrag.cli.strategy import search_options
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.settings import ModelChoice, SearchChoice

_WORKERS_MAX = 64
_PASSES_MAX = 100


@click.group(name="eval", invoke_without_command=True)
@click.option("--set", "set_name", metavar="NAME|FILE", help="Question set: v4, or a file (docs/evaluation.md has "
              "the format; the public dof-rag v4 file is read as it is).")  # fmt: skip
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to use. Default: the sample gazette for a named "
              "set, else as for dof run.")  # fmt: skip
@click.option("--planner", default="rules", show_default=True, metavar="rules|model|scripted:NAME",
              help="Who proposes the steps.")  # fmt: skip
@click.option("--model", metavar="NAME", help="Model for --planner model, as for dof run.")
@click.option("--base-url", metavar="URL", help="Its endpoint.")
@click.option("--api", type=click.Choice(["chat", "responses"]), help="How the endpoint is spoken to.")
@click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Set a limit of every run; repeatable.")
@click.option("--workers", type=click.IntRange(1, _WORKERS_MAX), default=1, show_default=True, metavar="N",
              help="Questions at a time, each in a process.")  # fmt: skip
@click.option("--passes", type=click.IntRange(1, _PASSES_MAX), default=1, show_default=True, metavar="N",
              help="How often each question is run.")  # fmt: skip
@click.option("--out", type=FOLDER, metavar="DIR", help="Folder of the campaign: records, traces, report. One that "
              "was broken off goes on there. Default: a new one under the traces.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@search_options
@click.pass_context
def evaluation(
    ctx: click.Context,
    set_name: str | None,
    index: Path | None,
    planner: str,
    model: str | None,
    base_url: str | None,
    api: str | None,
    limits: tuple[str, ...],
    workers: int,
    passes: int,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    search: SearchChoice,
) -> None:
    """Run every question of a set, grade the answers without a judge model, and write a report.

    Exits 0 when every item was run and graded, whatever the scores.
    """
    if ctx.invoked_subcommand is not None:
        if set_name is not None:
            raise UsageError(
                f"--set goes with no sub-command ({ctx.invoked_subcommand})", hint="leave one of them out"
            )
        return
    if set_name is None:
        raise UsageError("no question set is named", hint="dof eval --set v4")
    from dofrag.campaigns import Plan, evaluate

    plan = Plan(
        set_name=set_name,
        index=index,
        planner=planner,
        model=ModelChoice(name=model, base_url=base_url, api=api),
        limits=parse_limits(limits) if limits else Limits(),
        search=search,
        workers=workers,
        passes=passes,
        out=out,
    )
    quietly: dict[str, Any] = {} if quiet else {"notice": notice, "on_done": _told}
    folder, report = evaluate(plan, **quietly)
    if as_json:
        print_json(report | {"folder": folder.as_posix()})
    else:
        from dofrag.cli.eval_text import report_text

        click.echo(report_text(folder, report), nl=False)


def _told(record: dict[str, Any], done: int, total: int) -> None:
    graded = record["grade"]
    verdict = {True: "correct", False: "not correct", None: "unscored"}[graded["correct"]]
    wrong = ", confident error" if graded["confident_error"] else ""
    end = f"{record['terminal_state']}/{record['termination_reason']}"
    notice(f"{done}/{total} {one_line(record['question_id'], 60)}: {end}, {verdict}{wrong}")


@evaluation.command()
@click.argument("set_name", metavar="SET")
@click.option("--index", type=FOLDER, metavar="DIR", help="Index in which the gold spans must stand.")
@click.option("--against", multiple=True, metavar="SET", help="Another set, with which it must share no six words in "
              "a row; repeatable.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.pass_context
def lint(ctx: click.Context, set_name: str, index: Path | None, against: tuple[str, ...], as_json: bool) -> None:
    """Find what is wrong with a question set: missing spans, patterns that match the question, duplicates, leaks.

    Exits 1 when anything is found.
    """
    from dofrag.campaigns import lint_set

    found = lint_set(set_name, index, against, notice)
    if as_json:
        print_json({"findings": [{"item": f.item, "code": f.code, "message": f.message} for f in found]})
    else:
        for finding in found:
            click.echo(one_line(f"{finding.item}  {finding.code}: {finding.message}", 240))
        click.echo(f"{len(found)} findings")
    ctx.exit(1 if found else 0)


@evaluation.command()
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option("--check", is_flag=True, help="Write nothing: grade the records again, compute the report again, and "
              "exit 1 where anything differs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.pass_context
def report(ctx: click.Context, folder: Path, check: bool, as_json: bool) -> None:
    """Write the report of a campaign from its episode records, or check it against them."""
    from dofrag.evals.report import check_report, write_report

    if check:
        faults = check_report(folder)
        if as_json:
            print_json({"ok": not faults, "faults": faults})
        else:
            click.echo("\n".join([one_line(f, 240) for f in faults] or ["the report is what the records give"]))
        ctx.exit(1 if faults else 0)
    made = write_report(folder)
    if as_json:
        print_json(made | {"folder": folder.as_posix()})
    else:
        from dofrag.cli.eval_text import report_text

        click.echo(report_text(folder, made), nl=False)


@evaluation.command()
@click.argument("first", type=FOLDER, metavar="A")
@click.argument("second", type=FOLDER, metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Say what changed from campaign A to campaign B, question by question."""
    from dofrag.evals.compare import compare as compared
    from dofrag.evals.compare import comparison_lines

    document = compared(first, second)
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(one_line(line.strip(), 240) if not line.startswith(" ") else "  " + one_line(line, 240)
                             for line in comparison_lines(document)))  # fmt: skip
