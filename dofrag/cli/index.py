"""`dof index`: build, update and inspect an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.index_embed import embed
from dofrag.cli.index_text import Meter, describe, show_publication, summary
from dofrag.cli.options import FOLDER, notice
from dofrag.cli.output import one_line, print_json
from dofrag.errors import Interrupted

if TYPE_CHECKING:
    from dofrag.ingest.pipeline import Ingest
    from dofrag.ingest.report import Report

_Command = Callable[..., Any]
_paths = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
_index = click.option("--index", "folder", required=True, type=FOLDER, metavar="DIR", help="Folder of the index.")
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_strict = click.option("--strict", is_flag=True, help="Exit 1 when any file failed. Nothing is lost by it.")
_workers = click.option(
    "--workers", type=click.IntRange(1, 64), metavar="N", help="Processes that read files. Default: one a core."
)
_quiet = click.option("--quiet", is_flag=True, help="No progress on stderr.")


@click.group()
def index() -> None:
    """Build, update and inspect an index."""


index.add_command(embed)


@index.command()
@_paths
@_index
@_strict
@_workers
@click.option("--fresh", is_flag=True, help="Trust nothing of the index: read every file anew. Chunks that did not "
              "change keep their ids.")  # fmt: skip
@_json
@_quiet
def build(
    paths: tuple[Path, ...], folder: Path, strict: bool, workers: int | None, fresh: bool, as_json: bool, quiet: bool
) -> int:
    """Make the index hold what is in the given files and folders.

    Files that have not changed are not read again, files that are gone are removed, and a build that was cut off goes
    on where it stopped. Whoever uses the index meanwhile sees the old one until the new one is complete. An index
    that is found damaged is replaced by one read anew; --fresh does so for one in which `verify` found a fault.
    """
    from dofrag.ingest import pipeline

    with Meter(quiet) as meter:
        ingest = _ingest(workers, meter)
        report = _interruptible(lambda: pipeline.build(paths, folder, ingest, fresh=fresh), "dof index build")
    return _finish(report, folder, as_json, strict)


@index.command()
@_paths
@_index
@_strict
@_workers
@_json
@_quiet
def update(
    paths: tuple[Path, ...], folder: Path, strict: bool, workers: int | None, as_json: bool, quiet: bool
) -> int:
    """Add and change what is in the given files and folders; keep everything else."""
    from dofrag.ingest import pipeline

    with Meter(quiet) as meter:
        report = _interruptible(lambda: pipeline.update(paths, folder, _ingest(workers, meter)), "dof index update")
    return _finish(report, folder, as_json, strict)


@index.command()
@click.argument("codes", nargs=-1, required=True, metavar="CODE…")
@_index
@_json
def remove(codes: tuple[str, ...], folder: Path, as_json: bool) -> int:
    """Remove publications from store and search index.

    A later build or update that is given their files brings them back.
    """
    from dofrag.ingest import pipeline

    with Meter(quiet=True) as meter:
        report = _interruptible(lambda: pipeline.remove(codes, folder, _ingest(None, meter)), "dof index remove")
    return _finish(report, folder, as_json, strict=False)


@index.command()
@_index
@_json
@_quiet
def optimize(folder: Path, as_json: bool, quiet: bool) -> int:
    """Write the search index anew and give back free space."""
    from dofrag.ingest import pipeline

    with Meter(quiet) as meter:
        report = _interruptible(lambda: pipeline.optimize(folder, _ingest(None, meter)), "dof index optimize")
    return _finish(report, folder, as_json, strict=False)


@index.command()
@_index
@_json
@click.option(
    "--scope", "scopes", multiple=True, metavar="NAME", help="Count this restricted collection too. May be repeated."
)
def status(folder: Path, as_json: bool, scopes: tuple[str, ...]) -> int:
    """Show what the index holds: files, failures with reasons, publications, dates, stamp.

    Everything is counted and named that lies in the public collection, and in each --scope that is named; nothing of
    other restricted collections.
    """
    from dofrag.ingest.status import status as read_status
    from dofrag.search.vectors.report import vector_line, vector_status

    report = read_status(folder, tuple(scopes))
    vectors = vector_status(folder, scopes)
    if as_json:
        print_json({**report.as_json(), "vectors": vectors})
    else:
        click.echo(summary(report, folder))
        if vectors is not None:
            click.echo(f"  vectors       {one_line(vector_line(vectors), 300)}")
    return 0


@index.command()
@_index
@_json
@_quiet
def verify(folder: Path, as_json: bool, quiet: bool) -> int:
    """Prove that the index is sound. Exit 1 when it is not, naming what is wrong.

    Chunks tile each publication's text and publications tile their file; every text has the hash on record; store and
    search index hold the same chunks; the stamp fits what is stored.
    """
    from dofrag.ingest.verify import verify as run_verify
    from dofrag.search.vectors.report import vector_faults

    with Meter(quiet) as meter:
        found = run_verify(folder, meter)
    found = replace(found, faults=[*found.faults, *vector_faults(folder)])
    if as_json:
        print_json(found.as_json())
    else:
        click.echo(describe(found, folder))
    return 0 if not found.faults else 1


@index.command()
@click.argument("code")
@_index
@_json
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Look in this restricted collection too.")
def show(code: str, folder: Path, as_json: bool, scopes: tuple[str, ...]) -> int:
    """Show one publication and its outline."""
    from dofrag.ingest.status import find_publication

    publication, outline, total = find_publication(folder, code, tuple(scopes))
    shown = show_publication(publication, outline, total)
    if as_json:
        print_json(shown.data)
    else:
        click.echo(shown.text)
    return 0


def _ingest(workers: int | None, meter: Meter) -> Ingest:
    from dofrag import wiring
    from dofrag.ingest.pipeline import Ingest

    return Ingest(profile=wiring.profile(), workers=workers, progress=meter, notice=notice)


def _interruptible(work: Callable[[], Report], command: str) -> Report:
    try:
        return work()
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; what was taken in is kept", hint=f"run the same `{command}` again: it goes on there"
        ) from None


def _finish(report: Report, folder: Path, as_json: bool, strict: bool) -> int:
    if as_json:
        print_json(report.as_json())
    else:
        click.echo(summary(report, folder))
    if report.problems:
        return 1
    return 1 if strict and report.failed else 0
