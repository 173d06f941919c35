"""`dof index embed`: vectors for an index, as many as there is time for."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from dofrag.cli.index_text import Meter
from dofrag.cli.options import FOLDER
from dofrag.cli.output import print_json
from dofrag.cli.strategy import embedder_option
from dofrag.errors import Interrupted


@click.command()
@click.option("--index", "folder", required=True, type=FOLDER, metavar="DIR", help="Folder of the index.")
@embedder_option
@click.option(
    "--model",
    "--embedder-model",
    "model",
    metavar="NAME",
    help="Its model, at an endpoint; {role} in it "
    "is put as query or passage, for servers that go by it. Default: DOF_EMBEDDER_MODEL.",
)
@click.option("--query-prefix", metavar="TEXT", help="What stands before a question. Default: as its card says.")
@click.option("--passage-prefix", metavar="TEXT", help="What stands before a passage. Default: likewise.")
@click.option(
    "--batch", type=click.IntRange(1, 512), default=32, show_default=True, metavar="N", help="Texts a request."
)
@click.option("--max-chunks", type=click.IntRange(0), metavar="N", help="Embed at most N chunks this time.")
@click.option("--fresh", is_flag=True, help="Throw the vectors away that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")  # fmt: skip
def embed(
    folder: Path,
    embedder: str | None,
    model: str | None,
    query_prefix: str | None,
    passage_prefix: str | None,
    batch: int,
    max_chunks: int | None,
    fresh: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Give the chunks of an index vectors, for `--strategy hybrid` and `vector`.

    Chunks that have one are left alone; it goes on where it stopped, however it stopped, and what is there can be
    used in the meantime. Searches and updates go on beside it. After an update, run it again for what is new.
    """
    from dofrag.settings import SearchChoice
    from dofrag.wiring import embed_corpus

    choice = SearchChoice(embedder=embedder, model=model, query_prefix=query_prefix, passage_prefix=passage_prefix)
    try:
        with Meter(quiet) as meter:
            done = embed_corpus(
                folder, choice, batch=batch, limit=max_chunks, fresh=fresh, progress=lambda d, t: meter("embed", d, t)
            )
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; what was embedded is kept", hint="run the same `dof index embed` again: it goes on there"
        ) from None
    if as_json:
        print_json({**asdict(done), "complete": done.complete})
    else:
        share = "all" if done.complete else f"{done.rows:,} of"
        click.echo(f"index {folder}: {done.embedded:,} chunks embedded, {share} {done.chunks:,} have a vector")
    return 0
