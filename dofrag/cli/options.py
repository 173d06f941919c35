"""Checks of what a person typed that several commands share. Each refusal names the value and the way out."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import click

from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.wiring import QUESTION_MAX

STDIN_MAX = 64_000
"""Bytes of standard input that are read: more than the longest question takes, whatever its letters."""


class FolderPath(click.Path):
    """A folder that is named: it may not exist yet, but it is neither nothing nor a file. Raises UsageError."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name = param.opts[0] if param is not None and param.opts else "the folder"
        if not str(value).strip():
            raise UsageError(f"{name} is empty", hint=f"name a folder: {name} DIR")
        if "\0" in str(value):
            raise UsageError(f"{name} holds a NUL character", hint=f"name a folder: {name} DIR")
        path = Path(str(super().convert(value, param, ctx)))
        if path.exists() and not path.is_dir():
            raise UsageError(f"{name} {str(path)!r} is a file, not a folder", hint=f"name a folder: {name} DIR")
        return path


FOLDER = FolderPath()

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_SCOPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


_EXAMPLES = {
    "the question": 'write it in quotes: dof run --question "¿…?"',
    "the search text": 'write words in quotes: dof search "…"',
}


def clean_text(text: str, name: str = "the question") -> str:
    """A question or a search text, ready to use.

    Tabs and line breaks become spaces and invisible format signs (a pasted byte-order mark, a soft hyphen, text
    direction) go. Raises UsageError for text that is empty, longer than QUESTION_MAX, holds control
    characters, is not valid UTF-8, or has no letter or digit.
    """
    if len(text) > QUESTION_MAX:
        raise UsageError(
            f"{name} has more than {QUESTION_MAX:,} characters; no more are read", hint="ask one thing at a time"
        )
    escaped = [char for char in text if unicodedata.category(char) == "Cs"]
    if escaped and all("\udc80" <= char <= "\udcff" for char in escaped):
        # A console that claims to be ASCII passes UTF-8 on as escaped bytes.
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    kept: list[str] = []
    for at, char in enumerate(text):
        category = unicodedata.category(char)
        if category == "Cs":
            raise UsageError(f"{name} is not valid UTF-8 at character {at + 1}", hint="send it as UTF-8")
        if category == "Cc" and char not in "\t\n\r":
            raise UsageError(
                f"{name} holds the control character U+{ord(char):04X} at character {at + 1}", hint="take it out"
            )
        if category != "Cf":
            kept.append(" " if char.isspace() else char)
    cleaned = " ".join("".join(kept).split())
    if not cleaned:
        raise UsageError(f"{name} is empty", hint=_EXAMPLES.get(name, "write it in quotes"))
    if not any(char.isalnum() for char in cleaned):
        raise UsageError(f"{name} {cleaned[:40]!r} holds no words", hint=_EXAMPLES.get(name, "write words"))
    return cleaned


def notice(text: str) -> None:
    """A line for the person at the terminal."""
    click.echo(text, err=True)


def read_stdin() -> str:
    """What stands on standard input, as UTF-8, STDIN_MAX bytes at most."""
    raw = sys.stdin.buffer.read(STDIN_MAX)
    try:
        return raw.decode("utf-8").removeprefix("\ufeff").strip()
    except UnicodeDecodeError as error:
        if len(raw) == STDIN_MAX and error.start >= len(raw) - 3:
            return raw[: error.start].decode("utf-8")  # cut in the middle of a character: the caller says "too long"
        raise UsageError(f"standard input is not UTF-8 (byte {error.start + 1})", hint="send it as UTF-8") from error


def parse_date(text: str | None, option: str) -> date | None:
    """An ISO date, None where the option was not given."""
    if text is None:
        return None
    try:
        if not _ISO.fullmatch(text.strip()):
            raise ValueError("it does not have the form YYYY-MM-DD")
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(
            f"{option} {text[:40]!r} is not a date: {error}", hint=f"write it as YYYY-MM-DD: {option} 2026-04-24"
        ) from error


def parse_limits(pairs: Iterable[str]) -> Limits:
    """`NAME=VALUE` pairs over the default limits."""
    known = {f.name: f.default for f in fields(Limits)}
    given: dict[str, int | float] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals:
            raise UsageError(f"--limit {pair[:60]!r} has no '='", hint="write it as --limit max_turns=6")
        if name not in known:
            raise UsageError(f"there is no limit {name[:60]!r}", hint="limits: " + ", ".join(known))
        if name in given:
            raise UsageError(f"--limit {name} is given twice", hint="give each limit once")
        given[name] = _number(name, value.strip(), whole=isinstance(known[name], int))
    return Limits(**given)  # type: ignore[arg-type]


def _number(name: str, text: str, *, whole: bool) -> int | float:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and 0 < value <= 10**12):
        kind = "a whole number" if whole else "a number"
        raise UsageError(f"--limit {name}={text[:40]} is not {kind} above zero", hint=f"--limit {name}=10")
    return value


def check_scopes(scopes: Iterable[str]) -> frozenset[str]:
    """Names of collections, well formed. Whether the index holds them is for `wiring` to say."""
    for scope in scopes:
        if not _SCOPE.fullmatch(scope):
            raise UsageError(
                f"--scope {scope[:60]!r} is not a collection's name: letters, digits, '.', '-' and '_'",
                hint="name one collection per --scope",
            )
    return frozenset(scopes)
