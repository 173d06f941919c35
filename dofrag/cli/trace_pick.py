"""Which traces a command is about: runs by id or path, all of a folder, or those of a campaign."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from dofrag.cli.options import FOLDER
from dofrag.domain.records import dataclass
from dofrag.errors import DofError, UsageError
from dofrag.trace.reader import find, trace_files
from dofrag.wiring import settings

TRACE_DIR = click.option(
    "--trace-dir", type=FOLDER, default=lambda: settings().trace_dir, metavar="DIR",
    help="Folder of traces. Default: DOF_TRACE_DIR, else traces.",
)  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
RUNS = click.argument("runs", nargs=-1, metavar="[RUN]...")
EVERY = click.option("--all", "every", is_flag=True, help="Every trace of the folder.")
CAMPAIGN = click.option("--campaign", type=FOLDER, metavar="DIR", help="The traces of a campaign of `dof eval`.")


@dataclass(frozen=True, slots=True)
class Picked:
    """A trace; of a campaign's, its question and the hash of its last line as the campaign recorded it."""

    path: Path
    question_id: str | None = None
    sha256: str | None = None


def pick(runs: tuple[str, ...], every: bool, campaign: Path | None, trace_dir: Path) -> list[Picked]:
    """The traces that were named, in one way. Raises UsageError for none, or for two ways at once."""
    if sum((bool(runs), every, campaign is not None)) != 1:
        raise UsageError("name the runs, or give --all, or --campaign DIR", hint="dof trace list")
    if campaign is not None:
        return of_campaign(campaign)
    return [Picked(path) for path in (trace_files(trace_dir) if every else [find(trace_dir, run) for run in runs])]


def of_campaign(folder: Path, *, whole: bool = True) -> list[Picked]:
    """The traces of a campaign, by name. One that was broken off before its record has neither question nor hash.
    Raises UsageError where one that was recorded is gone, if they have to be `whole`."""
    from dofrag.evals.records import EPISODES, SPEC, TRACES

    if not (folder / SPEC).is_file():
        raise UsageError(f"{str(folder)!r} holds no campaign", hint="dof eval --set v4 --out DIR")
    told = {str(r.get("trace")): r for r in _rows(folder / EPISODES)}
    picked = []
    for path in trace_files(folder / TRACES):
        record = told.pop(path.name, {})
        question, sha256 = record.get("question_id"), record.get("trace_sha256")
        picked.append(Picked(path, str(question) if question else None, str(sha256) if sha256 else None))
    if told and whole:
        raise UsageError(f"{str(folder)!r} lacks the traces {', '.join(sorted(told)[:5])}", hint="they were recorded")
    return picked


def campaigns_of(set_name: str, trace_dir: Path) -> list[Path]:
    """The campaigns of a question set among the traces (`eval/…`), by name. Raises UsageError where there is none."""
    from dofrag.evals.records import SPEC

    found = [
        path.parent for path in sorted(trace_dir.glob(f"eval/*/{SPEC}")) if _spec(path).get("set_id") == set_name
    ]
    if not found:
        raise UsageError(f"no campaign of set {set_name!r} in {trace_dir / 'eval'}", hint="--campaign DIR names one")
    return found


def _rows(path: Path) -> list[Mapping[str, Any]]:
    """The episodes of a campaign of whatever version: of a record, only what names its trace is needed here. A last
    line that was cut is none."""
    found: list[Mapping[str, Any]] = []
    try:
        lines = path.read_bytes().split(b"\n") if path.is_file() else []
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


def _spec(path: Path) -> Mapping[str, Any]:
    """A campaign's specification, of whatever version; nothing where there is none."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return spec if isinstance(spec, dict) else {}


def each(picked: list[Picked], do: Callable[[Picked], Any]) -> Iterator[tuple[Picked, Any, DofError | None]]:
    """What is done with each; of many, one that cannot be dealt with does not stop the rest."""
    for one in picked:
        try:
            yield one, do(one), None
        except DofError as error:
            if len(picked) == 1:
                raise
            yield one, None, error
