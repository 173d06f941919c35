"""Every command, option, exit code and error code that a person can meet stands in docs/cli.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

import dofrag.errors
from dofrag.cli.main import COMMANDS, cli
from dofrag.domain.run import EXIT_CODES, INTERRUPTED_EXIT, Limits
from dofrag.errors import DofError

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def _walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _walk(f"{name} {child}", found)


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def _sections() -> dict[str, str]:
    parts = re.split(r"^### `(dof [a-z -]+)`$", TEXT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("top", COMMANDS)
def test_every_command_and_option_is_documented(top: str) -> None:
    sections = _sections()
    missing = []
    for path, command in _walk(f"dof {top}", _command(top)):
        if path not in sections:
            missing.append(path)
            continue
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                longest = max(parameter.opts, key=len)
                if f"`{longest}`" not in sections[path]:
                    missing.append(f"{path} {longest}")
        if not isinstance(command, click.Group):
            assert command.help, f"{path} has no help"
    assert not missing, missing


def test_nothing_is_documented_that_is_not_there() -> None:
    there = {path: command for top in COMMANDS for path, command in _walk(f"dof {top}", _command(top))}
    for path, text in _sections().items():
        assert path in there, path
        options = {opt for p in there[path].params for opt in p.opts}
        rows = set(re.findall(r"^\| `(--[a-z0-9-]+)`", text, flags=re.MULTILINE))
        assert rows <= options, (path, rows - options)


def test_every_option_has_a_help_text() -> None:
    for top in COMMANDS:
        for path, command in _walk(f"dof {top}", _command(top)):
            for parameter in command.params:
                if isinstance(parameter, click.Option):
                    assert parameter.help, f"{path} {parameter.name}"


@pytest.mark.parametrize("code", sorted({*EXIT_CODES.values(), INTERRUPTED_EXIT, 2}))
def test_exit_codes_are_documented(code: int) -> None:
    assert f"\n| {code} | " in TEXT


@pytest.mark.parametrize(
    "error",
    [c for _, c in inspect.getmembers(dofrag.errors, inspect.isclass) if issubclass(c, DofError)],
    ids=lambda c: c.__name__,
)
def test_error_codes_are_documented(error: type[DofError]) -> None:
    assert f"| `{error.code}` | {error.exit_code} |" in TEXT


@pytest.mark.parametrize("name", [f.name for f in fields(Limits)])
def test_limits_are_documented(name: str) -> None:
    assert f"`{name}`" in _sections()["dof run"]
