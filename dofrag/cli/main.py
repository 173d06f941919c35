"""Entry point of `dof`: lazy command groups, and the one wrapper that turns an error into a message and a code.

Command modules are imported only when their command runs, so that `dof --help` stays fast.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, NoReturn

import click

from dofrag import __version__
from dofrag.cli.interrupts import one_at_a_time
from dofrag.domain.run import INTERRUPTED_EXIT
from dofrag.errors import DofError

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("dofrag.cli.run:run", "Research a question and print the answer with its citations."),
    "search": ("dofrag.cli.search:search", "Search the index; print ranked passages."),
    "index": ("dofrag.cli.index:index", "Build, update and inspect an index."),
    "tools": ("dofrag.cli.tools:tools", "Show the research tools, or call one outside a run."),
    "coverage": ("dofrag.cli.coverage:coverage", "Show what a question requires, or test a passage against it."),
    "eval": ("dofrag.cli.eval:evaluation", "Run a question set, grade it, and report."),
    "doctor": ("dofrag.cli.doctor:doctor", "Check the index, optional parts and a model's endpoint."),
    "review": ("dofrag.cli.review:review", "Serve a page on this machine to read and judge runs."),
    "trace": ("dofrag.cli.trace:trace", "List, show, verify, replay, compare and export the traces of past runs."),
}
"""Name → (module:attribute, one-line help). The help stands here so that listing commands imports none."""


class LazyGroup(click.Group):
    """A group whose commands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dof")
def cli() -> None:
    """Research a legal gazette, with citations, and know what is missing.

    Start with: dof run --question "…". Without an index, that uses a small invented sample gazette.
    """


def main() -> NoReturn:
    """Run the command line. Exit codes: see docs/cli.md."""
    _make_output_safe()
    as_json = "--json" in sys.argv[1:]
    try:
        with one_at_a_time():
            code = cli.main(standalone_mode=False)
    except DofError as error:
        _print_error(as_json, error.code, error.message, error.hint)
        sys.exit(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _print_error(as_json, "interrupted", "interrupted", None)
        sys.exit(INTERRUPTED_EXIT)
    except click.ClickException as error:
        if as_json or not isinstance(error, click.UsageError):
            _print_error(as_json, "usage", error.format_message(), None)
        else:
            error.show()
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (`dof … | head`): not an error, but nothing more can be written.
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _make_output_safe() -> None:
    """Under LC_ALL=C or a Windows console, print what the encoding can show instead of failing on an accent."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            utf8 = (stream.encoding or "").lower().replace("-", "") in {"utf8", "ascii", "usascii", "ansi_x3.41968"}
            reconfigure(encoding="utf-8" if utf8 else stream.encoding, errors="replace")


def _print_error(as_json: bool, code: str, message: str, hint: str | None) -> None:
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message, "hint": hint}}, ensure_ascii=False))  # noqa: T201
    else:
        click.echo(f"dof: {message}", err=True)
        if hint:
            click.echo(f"     {hint}", err=True)


if __name__ == "__main__":
    main()
