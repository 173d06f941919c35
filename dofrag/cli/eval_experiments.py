"""`dof eval budget|dial` run an experiment; `refusal|noise|agency|traces` compute a table from a campaign's
records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.eval_options import Chosen, campaign_options, run
from dofrag.cli.options import FOLDER, parse_limits
from dofrag.cli.output import print_json
from dofrag.errors import UsageError

if TYPE_CHECKING:
    from dofrag.campaigns import Variant

DIMENSIONS = {
    "tool_calls": "max_tool_calls",
    "turns": "max_turns",
    "read": "max_read_tokens",
    "tokens": "max_tokens",
    "cost": "max_cost_units",
    "latency": "max_latency_ms",
}
"""Names that --dim takes, and the limits that they vary."""
GENEROUS = ("max_turns=40", "max_tool_calls=39", "max_read_tokens=100000", "max_tokens=1000000",
            "max_cost_units=1000", "max_latency_ms=600000")  # fmt: skip
DEMO = ("max_tool_calls=1", "max_cost_units=5", "max_turns=2")
"""Rows that every sweep has besides the generous one."""
_VALUES_MAX = 40


@click.command()
@click.option("--dim", "dims", multiple=True, metavar="NAME=A..B|A,B,…", help="A limit and its values, the others "
              "generous; repeatable. NAME: tool_calls, turns, read, tokens, cost or latency.")  # fmt: skip
@campaign_options
def budget(dims: tuple[str, ...], chosen: Chosen) -> None:
    """Run a set under one limit after another, and say what each costs and brings."""
    from dofrag.campaigns import Variant
    from dofrag.evals.experiments import budget as table

    pairs = dict.fromkeys([*DEMO, *(pair for dim in dims for pair in _values(dim))])
    variants = [Variant(name="generous", planner=chosen.planner, limits=parse_limits(GENEROUS))]
    for pair in pairs:
        limit = pair.partition("=")[0]
        others = [g for g in GENEROUS if not g.startswith(f"{limit}=")]
        limits = parse_limits([*others, pair])
        variants.append(Variant(name=pair, planner=chosen.planner, limits=limits, epsilon=chosen.epsilon))
    _experiment("budget", chosen, variants, table)


def _values(dim: str) -> list[str]:
    name, equals, values = dim.partition("=")
    if name not in DIMENSIONS or not equals:
        raise UsageError(f"--dim {dim[:60]!r} names no limit", hint=f"--dim tool_calls=1..8; {', '.join(DIMENSIONS)}")
    first, dots, last = values.partition("..")
    if not dots:
        return [f"{DIMENSIONS[name]}={value.strip()}" for value in values.split(",")]
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last) < int(first) + _VALUES_MAX):
        raise UsageError(f"--dim {dim[:60]!r} is no range of at most {_VALUES_MAX}", hint="--dim tool_calls=1..8")
    return [f"{DIMENSIONS[name]}={value}" for value in range(int(first), int(last) + 1)]


@click.command()
@click.option("--planners", metavar="A,B,…", help="Planners to compare, each perhaps with a rate of slips: "
              "rules,rules:eps0.1.")  # fmt: skip
@click.option("--models", metavar="A,B,…", help="Models of the endpoint to compare.")
@campaign_options
def dial(planners: str | None, models: str | None, chosen: Chosen) -> None:
    """Run a set with one planner or model after another, all else the same."""
    from dofrag.campaigns import Variant
    from dofrag.evals.experiments import dial as table

    variants = [Variant(name=m, planner="model", model=m, limits=chosen.limits) for m in _names(models)]
    for name in _names(planners):
        plain, slips, rate = name.partition(":eps")
        variants.append(
            Variant(name=name, planner=plain, limits=chosen.limits, epsilon=_rate(name, rate) if slips else 0.0)
        )
    if not variants:
        raise UsageError("nothing to compare", hint="--planners rules,rules:eps0.1 or --models A,B")
    _experiment("dial", chosen, variants, table)


def _names(text: str | None) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


def _rate(name: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 < rate <= 1:
        raise UsageError(
            f"planner {name[:60]!r}: the rate of slips is no number above 0 up to 1", hint="rules:eps0.1"
        )
    return rate


def _experiment(name: str, chosen: Chosen, variants: Sequence[Variant], table: Callable[..., Any]) -> None:
    from dofrag.campaigns import Plan
    from dofrag.evals.report import finished

    if chosen.set_name is None:
        raise UsageError("no question set is named", hint=f"dof eval {name} --set v4")
    plan = Plan(set_name=chosen.set_name, variants=tuple(variants), index=chosen.index, model=chosen.model,
                search=chosen.search, workers=chosen.workers, passes=chosen.passes, out=chosen.out,
                experiment=name)  # fmt: skip
    folder, _ = run(plan, quiet=chosen.quiet)
    _print(table(*finished(folder)) | {"folder": folder.as_posix()}, chosen.as_json)


def _print(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    from dofrag.cli.eval_text import table_text

    click.echo(table_text(document), nl=False)


_folder = click.argument("folder", type=FOLDER, metavar="DIR")
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


@click.command()
@_folder
@click.option("--twins", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Pairs of questions, "
              "one with and one without an answer: only those are counted.")  # fmt: skip
@_json
def refusal(folder: Path, twins: Path | None, as_json: bool) -> None:
    """Questions without an answer beside answerable ones: refusals, near misses, false refusals."""
    from dofrag.evals.experiments import read_twins

    _of_campaign("refusal", folder, as_json, read_twins(twins) if twins is not None else ())


@click.command()
@_folder
@_json
def noise(folder: Path, as_json: bool) -> None:
    """Spread and flips between the passes of a campaign, and which differences clear them."""
    _of_campaign("noise", folder, as_json)


@click.command()
@_folder
@click.option("--baseline", default="fixed", show_default=True, metavar="NAME", help="The variant to compare with.")
@_json
def agency(folder: Path, baseline: str, as_json: bool) -> None:
    """What the loop is worth over a single pass, and what it costs."""
    _of_campaign("agency", folder, as_json, baseline)


@click.command()
@_folder
@_json
def traces(folder: Path, as_json: bool) -> None:
    """The shape of a campaign's runs: first calls, repeats, empty calls, refusals."""
    _of_campaign("traces", folder, as_json)


def _of_campaign(name: str, folder: Path, as_json: bool, *more: Any) -> None:
    from dofrag.evals import experiments
    from dofrag.evals.report import finished

    _print(getattr(experiments, name)(*finished(folder), *more), as_json)
