"""Options of the commands that run a campaign, handed to them together, and the running itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.options import FOLDER, notice, parse_limits
from dofrag.cli.output import one_line
from dofrag.cli.strategy import search_options
from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits
from dofrag.settings import ModelChoice, SearchChoice

if TYPE_CHECKING:
    from dofrag.campaigns import Plan

_WORKERS_MAX = 64
_PASSES_MAX = 100
_Function = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a person chose of a campaign, parsed."""

    set_name: str | None
    index: Path | None
    planner: str
    model: ModelChoice
    limits: Limits
    search: SearchChoice
    workers: int
    passes: int
    epsilon: float
    out: Path | None
    as_json: bool
    quiet: bool


def campaign_options(function: _Function) -> _Function:
    """Add the options, and hand them to the command together, as `chosen`."""

    @functools.wraps(function)
    def together(*arguments: Any, search: SearchChoice, limits: tuple[str, ...], **options: Any) -> Any:
        model = ModelChoice(name=options.pop("model"), base_url=options.pop("base_url"), api=options.pop("api"))
        taken = ("set_name", "index", "planner", "workers", "passes", "epsilon", "out", "as_json", "quiet")
        chosen = Chosen(
            model=model,
            limits=parse_limits(limits) if limits else Limits(),
            search=search,
            **{name: options.pop(name) for name in taken},
        )
        return function(*arguments, chosen=chosen, **options)

    with_options = search_options(together)
    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


_OPTIONS = (
    click.option("--set", "set_name", metavar="NAME|FILE", help="Question set: v4, locked, or a file "
                 "(docs/evaluation.md has the format; the public dof-rag v4 file is read as it is)."),
    click.option("--index", type=FOLDER, metavar="DIR", help="Index to use. Default: the sample gazette for a named "
                 "set, else as for dof run."),
    click.option("--planner", default="rules", show_default=True, metavar="rules|model|scripted:NAME",
                 help="Who proposes the steps."),
    click.option("--model", metavar="NAME", help="Model for --planner model, as for dof run."),
    click.option("--base-url", metavar="URL", help="Its endpoint."),
    click.option("--api", type=click.Choice(["chat", "responses"]), help="How the endpoint is spoken to."),
    click.option("--limit", "limits", multiple=True, metavar="NAME=VALUE", help="Set a limit of every run; "
                 "repeatable."),
    click.option("--workers", type=click.IntRange(1, _WORKERS_MAX), default=1, show_default=True, metavar="N",
                 help="Questions at a time, each in a process."),
    click.option("--passes", type=click.IntRange(1, _PASSES_MAX), default=1, show_default=True, metavar="N",
                 help="How often each question is run."),
    click.option("--epsilon", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="P",
                 help="Probability that a call goes out with a word or a chunk missing: noise, seeded by the pass."),
    click.option("--out", type=FOLDER, metavar="DIR", help="Folder of the campaign: records, traces, report. One "
                 "that was broken off goes on there. Default: a new one under the traces."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text."),
    click.option("--quiet", is_flag=True, help="No progress on stderr."),
)  # fmt: skip


def run(plan: Plan, *, quiet: bool) -> tuple[Path, dict[str, Any]]:
    """Run a campaign, with progress on stderr unless it is to be quiet."""
    from dofrag.campaigns import evaluate

    quietly: dict[str, Any] = {} if quiet else {"notice": notice, "on_done": _told}
    return evaluate(plan, **quietly)


def _told(record: dict[str, Any], done: int, total: int) -> None:
    graded = record["grade"]
    verdict = {True: "correct", False: "not correct", None: "unscored"}[graded["correct"]]
    wrong = ", confident error" if graded["confident_error"] else ""
    end = f"{record['terminal_state']}/{record['termination_reason']}"
    variant = "" if record["variant"] == "core" else f" [{one_line(record['variant'], 40)}]"
    notice(f"{done}/{total} {one_line(record['question_id'], 60)}{variant}: {end}, {verdict}{wrong}")
