"""`dof eval`: question sets sealed, run, graded and reported; records checked and compared."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dofrag.cli.eval_experiments import agency, budget, dial, noise, refusal, traces
from dofrag.cli.eval_options import Chosen, campaign_options, run
from dofrag.cli.options import FOLDER, notice
from dofrag.cli.output import one_line, print_json
from dofrag.errors import UsageError

HERE = ""
"""`--frozen-commit` without a commit: the package that runs now."""
_FILE = click.Path(path_type=Path, dir_okay=False)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


@click.group(name="eval", invoke_without_command=True)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="fixed|searchbox|core",
    help="What a planner may call: nothing "
    "after one search, a search box, or the five tools; repeatable, each a column. Default: core.",
)
@click.option(
    "--frozen-commit",
    "frozen",
    is_flag=False,
    flag_value=HERE,
    metavar="[SHA]",
    help="Only with the code that was sealed with the set; with SHA, from a clean checkout of it. Else exit 6.",
)
@click.option("--predictions", type=_FILE, metavar="FILE", help="Predictions to register before the run and to score "
              "after it.")  # fmt: skip
@campaign_options
@click.pass_context
def evaluation(
    ctx: click.Context, arms: tuple[str, ...], frozen: str | None, predictions: Path | None, chosen: Chosen
) -> None:
    """Run every question of a set, grade the answers without a judge model, and write a report.

    Exits 0 when every item was run and graded, whatever the scores.
    """
    if ctx.invoked_subcommand is not None:
        if chosen.set_name is not None:
            raise UsageError(
                f"--set goes with no sub-command here: dof eval {ctx.invoked_subcommand} …",
                hint="leave it out, or put it after the sub-command",
            )
        return
    if chosen.set_name is None:
        raise UsageError("no question set is named", hint="dof eval --set v4")
    if frozen not in (None, HERE):
        ctx.exit(_from_checkout(ctx, chosen.set_name, str(frozen), chosen.quiet))
    from dofrag.campaigns import Plan, Variant

    plan = Plan(
        set_name=chosen.set_name,
        variants=tuple(
            Variant(name=arm, arm=arm, planner=chosen.planner, limits=chosen.limits, epsilon=chosen.epsilon)
            for arm in dict.fromkeys(arms or ("core",))
        ),
        index=chosen.index,
        model=chosen.model,
        search=chosen.search,
        workers=chosen.workers,
        passes=chosen.passes,
        out=chosen.out,
        frozen=frozen == HERE,
        predictions=predictions,
    )
    folder, made = run(plan, quiet=chosen.quiet)
    _show(folder, made, chosen.as_json)


def _from_checkout(ctx: click.Context, set_name: str, commit: str, quiet: bool) -> int:
    """The same command, run by the package of a commit in a folder of its own; its exit code."""
    from dofrag.evals.code import export
    from dofrag.evals.dataset import load_set
    from dofrag.evals.seal import demand_commit, read_seal

    chosen = load_set(set_name, Path.cwd())
    seal = read_seal(chosen.path.parent)
    if seal is None:
        raise UsageError(f"the set {chosen.name} is not sealed", hint=f"dof eval lock {set_name} --author NAME")
    repository, full = demand_commit(seal, commit)
    with tempfile.TemporaryDirectory(prefix="dofrag-") as folder:
        export(repository, full, Path(folder))
        if not quiet:
            notice(f"running commit {full[:12]} from a clean checkout")
        words = [*_words(ctx), "--set", str(chosen.path.resolve()), "--frozen-commit"]
        # -P: neither the working folder nor this package may stand before the checkout.
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-P", "-m", "dofrag.cli.main", "eval", *words], env=environment)
    return done.returncode


def _words(ctx: click.Context) -> list[str]:
    """The options of this call as words again, without the set and the commit."""
    words: list[str] = []
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if param.name in ("set_name", "frozen") or value is None or value is False:
            continue
        if value is True:
            words.append(param.opts[0])
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [param.opts[0], str(one)]
    return words


def _show(folder: Path, made: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(made | {"folder": folder.as_posix()})
        return
    from dofrag.cli.eval_text import report_text

    click.echo(report_text(folder, made), nl=False)


@evaluation.command()
@click.argument("set_name", metavar="SET")
@click.option("--author", required=True, metavar="NAME", help="Who answers for the set being closed.")
@_json
def lock(set_name: str, author: str, as_json: bool) -> None:
    """Seal a set: hashes of its questions, its corpus and the code, with the commit, beside the set.

    Exits 6 where code or set hold what is not committed.
    """
    from dataclasses import asdict

    from dofrag.campaigns import lock_set

    if not author.strip():
        raise UsageError("a seal has an author", hint="--author NAME")
    seal = lock_set(set_name, author.strip())
    if as_json:
        print_json(asdict(seal))
        return
    own = f", {seal.corpus_files} publications of its own" if seal.corpus_files else ""
    click.echo(f"sealed {one_line(seal.set, 60)}: {seal.questions} questions{own}, code of commit {seal.commit[:12]}")
    click.echo(f"seal {seal.seal_sha256}")


@evaluation.command()
@click.argument("set_name", metavar="SET")
@click.option("--index", type=FOLDER, metavar="DIR", help="Index in which the gold spans must stand.")
@click.option("--against", multiple=True, metavar="SET", help="Another set, with which it must share no six words in "
              "a row; repeatable.")  # fmt: skip
@_json
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
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing: grade the records again, compute the report again, and exit 1 where anything differs.",
)
@click.option("--verdicts", type=_FILE, metavar="FILE", help="People's verdicts to add to the campaign first.")
@_json
@click.pass_context
def report(ctx: click.Context, folder: Path, check: bool, verdicts: Path | None, as_json: bool) -> None:
    """Write the report of a campaign from its episode records, or check it against them."""
    from dofrag.evals.report import check_report, finished, write_report
    from dofrag.evals.verdicts import take_in

    if check:
        if verdicts is not None:
            raise UsageError("--check writes nothing", hint="leave --verdicts out")
        faults = check_report(folder)
        if as_json:
            print_json({"ok": not faults, "faults": faults})
        else:
            click.echo("\n".join([one_line(f, 240) for f in faults] or ["the report is what the records give"]))
        ctx.exit(1 if faults else 0)
    if verdicts is not None:
        notice(f"{take_in(verdicts, folder, finished(folder)[1])} verdicts added")
    _show(folder, write_report(folder), as_json)


@evaluation.command()
@click.argument("first", type=FOLDER, metavar="A")
@click.argument("second", type=FOLDER, metavar="B")
@click.option("--variant", "variants", multiple=True, metavar="NAME", help="Which variant of A, and of B if given "
              "twice. Default: the only one, or core.")  # fmt: skip
@_json
def compare(first: Path, second: Path, variants: tuple[str, ...], as_json: bool) -> None:
    """Say what changed from campaign A to campaign B, question by question."""
    from dofrag.evals.compare import compare as compared
    from dofrag.evals.compare import comparison_lines

    document = compared(first, second, _two(variants))
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(one_line(line.strip(), 240) if not line.startswith(" ") else "  " + one_line(line, 240)
                             for line in comparison_lines(document)))  # fmt: skip


def _two(names: Sequence[str]) -> tuple[str | None, str | None]:
    if len(names) > 2:
        raise UsageError("--variant is given more than twice", hint="one for A, one for B")
    return (names[0], names[-1]) if names else (None, None)


for command in (budget, dial, refusal, noise, agency, traces):
    evaluation.add_command(command)
