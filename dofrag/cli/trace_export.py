"""`dof trace diff` and `export`: two traces held together, and a trace as a document for others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.options import FOLDER
from dofrag.cli.output import one_line, print_json, terminal_width, wrap
from dofrag.cli.progress import aim
from dofrag.cli.trace_check import difference_text, one_line_kept
from dofrag.cli.trace_pick import CAMPAIGN, EVERY, JSON, RUNS, TRACE_DIR, pick
from dofrag.errors import UsageError
from dofrag.trace.reader import find

if TYPE_CHECKING:
    from dofrag.trace.trajectory import Trajectory
    from dofrag.tracing import Indexes


@click.command()
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@TRACE_DIR
@JSON
@click.pass_context
def diff(ctx: click.Context, run_a: str, run_b: str, trace_dir: Path, as_json: bool) -> None:
    """Say what differs between two traces of one question. Exit code 1 when anything does.

    A and B are run ids, or paths of trace files. What a clock decides does not count.
    """
    from dofrag.trace.compare import compare
    from dofrag.trace.trajectory import read_trajectory

    found = compare(*(read_trajectory(find(trace_dir, run)) for run in (run_a, run_b)))
    if as_json:
        print_json(found)
    else:
        for line in _diff_text(found):
            click.echo(one_line_kept(line))
    ctx.exit(0 if found["same"] else 1)


def _diff_text(found: dict[str, Any]) -> Iterator[str]:
    width = terminal_width()
    yield from wrap(f"Question: {found['question']}", width, "", "  ")
    yield f"A {found['a']}"
    yield f"B {found['b']}"
    if found["same"]:
        yield "no differences"
    for section in ("settings", "end", "spend"):
        if found[section]:
            yield section
        for row in found[section]:
            yield from wrap(f"{row['name']}: {_short(row['a'])} -> {_short(row['b'])}", width, "  ", "    ")
    for section, tell in (("calls", _call), ("passages", _passage), ("coverage", _coverage), ("drafts", _drafts),
                          ("claims", _claim)):  # fmt: skip
        if found[section]:
            yield section
        for row in found[section]:
            for line in tell(row):
                yield from wrap(line, width, "  ", "    ")


def _short(value: Any) -> str:
    return "-" if value is None else one_line(str(value), 200)


def _call(row: dict[str, Any]) -> list[str]:
    told = f"turn {row['turn']} {row['call_id']} {one_line(row['tool'], 60)} {aim(row['arguments'])}"
    if row["side"] != "both":
        return [f"only {row['side'].upper()}: {told}"]
    why = [f"- {difference_text(d)}" for d in row["differences"]] or [f"- broken off in {row['broken_off'].upper()}"]
    return [f"both, with other results: {told} (B: {row['b_call_id']})", *why]


def _passage(row: dict[str, Any]) -> list[str]:
    told = f"chunk {row['chunk_id']} of {row['publication']}"
    return [
        f"both read {told}, with another text" if row["side"] == "both" else f"only {row['side'].upper()} read {told}"
    ]


def _coverage(row: dict[str, Any]) -> list[str]:
    sides = (f"{row[s]}" + (f" (chunk {row[f'{s}_chunk_id']})" if row[f"{s}_chunk_id"] else "") for s in ("a", "b"))
    return [f"{row['id']} {row['label']}: {' -> '.join(sides)}"]


def _drafts(row: dict[str, Any]) -> list[str]:
    told = {}
    for side in ("a", "b"):
        drafts = [f"{d['verdict']} {' '.join(sorted({str(f[0]) for f in d['faults']}))}".strip() for d in row[side]]
        told[side] = "; ".join(drafts) or "none"
    return [f"A: {told['a']}", f"B: {told['b']}"]


def _claim(row: dict[str, Any]) -> list[str]:
    chunks = ", ".join(dict.fromkeys(str(c[0]) for c in row["citations"]))
    return [f"only {row['side'].upper()}: {one_line(str(row['text']), 400)} [chunk {chunks}]"]


FORMATS = {"markdown": "md", "docx": "docx", "csv": "csv", "json": "json", "otel": "otel.json"}
"""Name of a format → ending of its files."""
_ONE_FILE = ("csv", "json", "otel")
"""Formats that hold many runs in one file."""


@click.command()
@RUNS
@EVERY
@CAMPAIGN
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="markdown", show_default=True,
              help="What to write. The numbers of citations are the same in all.")  # fmt: skip
@click.option("--table", type=click.Choice(["citations", "coverage", "calls"]), default="citations",
              show_default=True, help="What a CSV file holds.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="File to write; for several runs in Markdown or DOCX a folder. Default: stdout.")  # fmt: skip
@click.option("--force", is_flag=True, help="Write over what is there.")
@click.option("--index", type=FOLDER, metavar="DIR", help="The index to take official addresses from.")
@TRACE_DIR
def export(
    runs: tuple[str, ...],
    every: bool,
    campaign: Path | None,
    form: str,
    table: str,
    out: Path | None,
    force: bool,
    index: Path | None,
    trace_dir: Path,
) -> None:
    """Write traces as documents for others. What documents and models wrote is never taken for markup or formulas."""
    from dofrag.trace.trajectory import read_trajectory
    from dofrag.tracing import Indexes

    picked = pick(runs, every, campaign, trace_dir)
    several = len(picked) != 1 and form not in _ONE_FILE
    if out is None and (form == "docx" or several):
        raise UsageError(f"{form} of {len(picked)} runs needs a place", hint="--out FILE, or a folder for several")
    if several and out is not None and not out.is_dir():
        raise UsageError(f"{str(out)!r} is no folder", hint="make it first: several runs make several files")
    indexes = Indexes(index)
    if several and out is not None:
        for one in picked:
            content = _content([read_trajectory(one.path)], form, table, indexes)
            _write(out / f"{one.path.stem}.{FORMATS[form]}", content, force)
        click.echo(f"{len(picked)} files written to {one_line(str(out))}", err=True)
        return
    content = _content([read_trajectory(one.path) for one in picked], form, table, indexes)
    if out is None:
        _print(content)
    else:
        _write(out, content, force)
        click.echo(f"written: {one_line(str(out))}", err=True)


def _content(runs: Sequence[Trajectory], form: str, table: str, indexes: Indexes) -> bytes:
    from dofrag.trace.export import text
    from dofrag.trace.export.report import make_report
    from dofrag.tracing import citing

    if form == "otel":
        from dofrag.trace.export.otel import to_otel

        return to_otel(runs).encode()
    reports = [make_report(run, citing(run, indexes)) for run in runs]
    if form == "docx":
        from dofrag.trace.export.word import to_docx

        return to_docx(reports[0])
    if form == "csv":
        return text.to_csv(reports, table).encode("utf-8-sig")  # spreadsheets take it for another encoding otherwise
    if form == "json":
        return text.to_json(reports).encode()
    return text.to_markdown(reports[0]).encode()


def _print(content: bytes) -> None:
    """As it stands where bytes can be written; else as the console can show it."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        click.echo(content.decode("utf-8-sig"), nl=False)
        return
    stream.write(content.removeprefix(b"\xef\xbb\xbf"))
    stream.flush()


def _write(path: Path, content: bytes, force: bool) -> None:
    from dofrag.trace.export.files import write_target

    write_target(path, content, force=force)
