"""Text and JSON to stdout, safe whatever the corpus holds and the console can show."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from typing import Any

import click

WIDTH_DEFAULT = 100
"""Columns when the output is not a terminal, so that piped output is the same everywhere."""

# Controls (a corpus could drive the terminal with them) and the signs that reorder text; line ends and tabs are kept.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def print_json(document: Any) -> None:
    """One JSON document and a line end. Where the console's encoding could not show a letter, it is escaped."""
    # `sys.stdout` is None where the process was started with it closed; the run itself still counts.
    utf8 = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    text = json.dumps(document, ensure_ascii=not utf8, indent=2)
    # The data stays what it is; nothing in the raw document drives a console or turns its text about.
    click.echo(_UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def clean(text: str) -> str:
    """The text without anything that a terminal would act on."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4))


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line, cut at `limit` characters with "..." where it is longer."""
    flat = " ".join(clean(text).split())
    return flat if limit is None or len(flat) <= limit else flat[: max(0, limit - 3)] + "..."


def wrap(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Lines of at most `width` columns (a longer word stays whole: a link must stay usable). `hanging` is the
    indent of the lines after the first; `indent` where it is not given."""
    rest = indent if hanging is None else hanging
    lines: list[str] = []
    for paragraph in clean(text).split("\n"):
        first = rest if lines else indent
        wrapped = textwrap.wrap(
            " ".join(paragraph.split()),
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += wrapped
    return lines


def terminal_width() -> int:
    """Columns to write for, between 40 and 120."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    if not terminal and not os.environ.get("COLUMNS"):
        return WIDTH_DEFAULT
    return max(40, min(120, shutil.get_terminal_size((WIDTH_DEFAULT, 24)).columns))
