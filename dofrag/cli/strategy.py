"""Options of the commands that search: by words, by vectors, by both, and with whose vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from dofrag.settings import FUSIONS, STRATEGIES, SearchChoice

_Function = Callable[..., Any]
_EMBEDDER = "A model on this machine, or the address of an OpenAI-compatible endpoint. Default: DOF_EMBEDDER."
embedder_option = click.option("--embedder", metavar="local:FOLDER|URL", help=_EMBEDDER)
embedder_model_option = click.option(
    "--embedder-model", metavar="NAME", help="Its model, at an endpoint. Default: DOF_EMBEDDER_MODEL."
)


def search_options(function: _Function) -> _Function:
    """Add the options, and hand them to the command together, as `search`."""

    @functools.wraps(function)
    def with_choice(*arguments: Any, **options: Any) -> Any:
        choice = SearchChoice(
            strategy=options.pop("strategy"),
            fusion=options.pop("fusion"),
            allow_partial=options.pop("allow_partial"),
            embedder=options.pop("embedder"),
            model=options.pop("embedder_model"),
        )
        return function(*arguments, search=choice, **options)

    for option in reversed(_OPTIONS):
        with_choice = option(with_choice)
    return with_choice


_OPTIONS = (
    click.option("--strategy", type=click.Choice(STRATEGIES), help="How the index is searched: by words, by vectors "
                 "alone, or by both. Default: lexical."),
    click.option("--fusion", type=click.Choice(FUSIONS), default="z", show_default=True, help="How hybrid adds both: "
                 "scores in units of their spread, or ranks."),
    click.option("--allow-partial", is_flag=True, help="Use vectors though some chunks have none: hybrid then "
                 "ranks what words find, and embeds what is missing of it."),
    embedder_option,
    embedder_model_option,
)  # fmt: skip
