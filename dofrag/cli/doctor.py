"""`dof doctor`: what works here, what does not, and what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from dofrag.cli.options import FOLDER
from dofrag.cli.output import one_line, print_json, terminal_width, wrap
from dofrag.errors import DofError

REMEDIES = {
    "reachable": ("", "is the server running? --base-url names it, and usually ends in /v1"),
    "model": ("", "name a model that the endpoint serves; set DOF_API_KEY to a key that it knows"),
    "json_text": ("", "the planner tries all the same; a larger model may do better"),
    "strict_tools": ("used", "plain functions are used; arguments are checked here in any case"),
    "tools": ("", "the planner asks for JSON instead"),
    "json_schema": ("", "the planner asks for one JSON action in the text, and parses it"),
    "parallel_calls": (
        "of several calls the first runs, each other is refused",
        "nothing: one call a turn is the rule",
    ),
    "usage": ("", "the budget is kept by estimates, and the cost is n/a"),
}
"""What the planner does where a check passed, and what it does, or a person can do, where it did not."""


@dataclass(frozen=True, slots=True)
class Row:
    """One check. `ok` None: could not be told, or is optional and missing."""

    check: str
    ok: bool | None
    detail: str
    action: str


@click.command()
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to look at. Default: as `dof run`.")
@click.option("--model", is_flag=False, flag_value="", metavar="[NAME]",
              help="Probe the model's endpoint with a few small requests. Default name: as `dof run`.")  # fmt: skip
@click.option("--base-url", metavar="URL", help="The model's endpoint. Default: as `dof run`.")
@click.option("--api", type=click.Choice(["chat", "responses"]), help="How it is spoken to. Default: as `dof run`.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.pass_context
def doctor(
    ctx: click.Context, index: Path | None, model: str | None, base_url: str | None, api: str | None, as_json: bool
) -> None:
    """Check the index, the folder of traces, optional parts and, with --model, a model's endpoint.

    Exit code 1 when something is wrong. What is merely missing is told with what happens without it.
    """
    rows = [*_index(index), *_vectors(index), *_traces(), *_parts()]
    mode = None
    if model is not None:
        found, mode = _model(model or None, base_url, api)
        rows += found
    sound = all(row.ok is not False or row.check in _GAPS for row in rows) and (model is None or mode is not None)
    if as_json:
        print_json({"ok": sound, "checks": [asdict(row) for row in rows], "mode": mode})
    else:
        for line in _table(rows, terminal_width()):
            click.echo(line)
        if mode is not None:
            click.echo(f"\nThe planner will use: {mode}")
    ctx.exit(0 if sound else 1)


_GAPS = ("json_text", "strict_tools", "tools", "json_schema", "parallel_calls", "usage")
"""Checks that a planner gets along without."""


def _index(index: Path | None) -> Iterator[Row]:
    from dofrag.wiring import open_corpus

    try:
        corpus = open_corpus(index)
        first, last = corpus.dates()
    except DofError as error:
        yield Row("index", False, one_line(error.message, 200), error.hint or "")
        return
    what = "the sample gazette" if corpus.name == "sample" else corpus.name
    yield Row("index", True, f"{what}, {first} to {last}", "")


def _vectors(index: Path | None) -> Iterator[Row]:
    from dofrag.wiring import vector_checks

    try:
        for check, fine, detail, action in vector_checks(index):
            yield Row(check, fine, one_line(detail, 300), action)
    except DofError as error:  # the index itself is at fault, and has a row of its own
        yield Row("vectors", None, one_line(error.message, 200), "")


def _traces() -> Iterator[Row]:
    from dofrag.wiring import settings

    folder = settings().trace_dir
    place = next(p for p in (folder, *folder.absolute().parents) if p.is_dir())
    fine = os.access(place, os.W_OK)
    yield Row("traces", fine, str(folder), "" if fine else "name a folder that can be written: DOF_TRACE_DIR")


def _parts() -> Iterator[Row]:
    from importlib.metadata import PackageNotFoundError, version

    office = shutil.which("soffice")
    yield Row(
        "legacy .doc", bool(office) or None, office or "no LibreOffice", "" if office else "such files are skipped"
    )
    try:
        yield Row("openai", True, version("openai"), "")
    except PackageNotFoundError:
        yield Row("openai", False, "not installed", "pip install openai")


def _model(name: str | None, base_url: str | None, api: str | None) -> tuple[list[Row], str | None]:
    from dofrag.settings import ModelChoice
    from dofrag.wiring import probe_model

    where, report = probe_model(ModelChoice(name=name, base_url=base_url, api=api))
    rows = [Row("endpoint", None if report.mode is None else True, where, "")]
    for finding in report.findings:
        passed, missed = REMEDIES[str(finding.check)]
        action = passed if finding.ok else missed if finding.ok is False else ""
        rows.append(Row(str(finding.check), finding.ok, one_line(finding.detail, 300), action))
    return rows, str(report.mode) if report.mode is not None else None


def _table(rows: list[Row], width: int) -> Iterator[str]:
    names = max(len(row.check) for row in rows)
    for row in rows:
        mark = {True: "ok", False: "NO", None: "-"}[row.ok]
        told = "; ".join(text for text in (row.detail, row.action) if text)
        head = f"{row.check:<{names}}  {mark:<2}  "
        lines = wrap(told, max(30, width - len(head))) or [""]
        yield (head + lines[0]).rstrip()
        yield from (" " * len(head) + line for line in lines[1:])
