"""`dof coverage check`: which requirements of a question one passage would support."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import click

from dofrag.cli.labels import STATUSES
from dofrag.cli.options import clean_text, parse_date
from dofrag.cli.output import one_line, print_json
from dofrag.errors import UsageError
from dofrag.text.language import language_of

PASSAGE_MAX = 200_000
"""Bytes of a passage at most; a passage is a chunk, not a document."""


@click.command()
@click.option("--question", required=True, metavar="TEXT", help="The question.")
@click.option(
    "--passage", required=True, metavar="FILE", type=click.Path(path_type=Path), help="Its text; '-' is stdin."
)
@click.option("--date", "published", metavar="D", help="Publication date of the passage, YYYY-MM-DD.")
@click.option("--title", default="", metavar="T", help="Title of its publication.")
@click.option("--issuer", default="", metavar="I", help="Who published it.")
@click.option("--heading", "headings", multiple=True, metavar="H", help="Heading above it, outer first; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def check(
    question: str,
    passage: Path,
    published: str | None,
    title: str,
    issuer: str,
    headings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say which requirements of a question this passage, as read and cited, would support, and why."""
    from dofrag import wiring
    from dofrag.coverage.match import prepare
    from dofrag.coverage.trial import passage_from, try_passage, verdict
    from dofrag.domain.question import Question

    asked = clean_text(question)
    # Without a date the passage counts as published on the last day there is: nothing can be known to be later.
    day = parse_date(published, "--date")
    profile = wiring.profile()
    subs = profile.decompose(Question(text=asked, as_of=day or date.today()))
    read = passage_from(
        _text(passage),
        day or date.today(),
        title=title,
        issuer=issuer,
        headings=headings,
        identifiers=profile.identifiers(title),
    )
    tried = try_passage(subs, prepare(read))
    if as_json:
        rows = [{"id": t.id, "kind": t.kind, "label": t.label, "status": str(t.status), "why": t.why} for t in tried]
        print_json({"verdict": verdict(tried), "requirements": rows})
        return
    names = STATUSES[language_of(asked)]
    for t in tried:
        click.echo(f"{t.id}  {names[str(t.status)]:<10}  {t.kind}: {one_line(t.label)}")
        click.echo(f"      {one_line(t.why)}")
    click.echo(verdict(tried))


def _text(path: Path) -> str:
    try:
        raw = sys.stdin.buffer.read(PASSAGE_MAX + 1) if str(path) == "-" else _read(path)
    except OSError as error:
        raise UsageError(
            f"--passage {str(path)!r} cannot be read: {error.strerror}", hint="name a text file"
        ) from error
    if len(raw) > PASSAGE_MAX:
        raise UsageError(f"--passage {str(path)!r} is over {PASSAGE_MAX:,} bytes", hint="give one passage of it")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UsageError(f"--passage {str(path)!r} is not UTF-8", hint="convert it to UTF-8") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(PASSAGE_MAX + 1)
