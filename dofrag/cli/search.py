"""`dof search`: the ranked passages for a text, without a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.options import FOLDER, check_scopes, clean_text, notice, parse_date
from dofrag.cli.output import one_line, print_json, terminal_width, wrap
from dofrag.cli.strategy import search_options
from dofrag.domain.corpus import PUBLIC, Filters, Hit
from dofrag.search.snippet import snippet
from dofrag.settings import SearchChoice

if TYPE_CHECKING:
    from dofrag.search.evidence import Evidence

SNIPPET = 400
"""Characters of a passage that the text output shows, about; `--json` gives all of it."""


@click.command()
@click.argument("text")
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to search. Default: as `dof run`.")
@click.option("--top-k", type=click.IntRange(1, 200), default=10, show_default=True, metavar="N",
              help="Passages to return at most.")  # fmt: skip
@click.option("--as-of", metavar="DATE", help="Publication cut-off, YYYY-MM-DD. Default: the newest publication.")
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Allow a restricted collection; repeatable.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@search_options
def search(
    text: str,
    index: Path | None,
    top_k: int,
    as_of: str | None,
    scopes: tuple[str, ...],
    explain: bool,
    as_json: bool,
    search: SearchChoice,
) -> None:
    """Search the index for TEXT and print the ranked passages."""
    query = clean_text(text, "the search text")
    cut_off = parse_date(as_of, "--as-of")
    allowed = check_scopes(scopes)
    from dofrag import wiring
    from dofrag.search.engine import explain_expansions
    from dofrag.search.evidence import find_by_default

    corpus = wiring.open_corpus(index, notice, search=search, scopes=allowed)
    try:
        granted = wiring.check_scopes(corpus, allowed)
        chosen, _ = wiring.cutoff(corpus, cut_off, granted)
        everything = Filters(as_of=chosen, scopes=granted | {PUBLIC})
        found, left_out = find_by_default(
            corpus.backend, corpus.reader, query, everything, limit=top_k, explain=explain
        )
    finally:
        corpus.close_searcher()
    expansions = explain_expansions(query, corpus.profile.expansions()) if explain else []
    if as_json:
        document = {"hits": [_hit_json(hit, found, explain) for hit in found.hits], "total": found.total}
        document |= {"left_out": [str(kind) for kind in left_out]} if left_out else {}
        print_json(document | ({"expansions": [e._asdict() for e in expansions]} if explain else {}))
        return
    for expansion in expansions:
        click.echo("\n".join(wrap(f"{expansion.said}: also {expansion.name}", terminal_width(), "", "    ")))
    for hit in found.hits:
        click.echo("\n".join(_hit_lines(hit, found, query, terminal_width())))
    click.echo(f"{len(found.hits)} of {found.total:,} passages, published up to {chosen}")
    if left_out:
        click.echo(f"Left out, since the text asks for norms: {', '.join(left_out)}")


def _hit_json(hit: Hit, found: Evidence, explain: bool) -> dict[str, Any]:
    passage = found.passages[hit.chunk_id]
    publication = passage.publication
    document: dict[str, Any] = {
        "rank": hit.rank,
        "score": hit.score,
        "chunk_id": hit.chunk_id,
        "publication_code": publication.code,
        "source": publication.source,
        "title": publication.title,
        "issuer": publication.issuer,
        "publication_date": publication.published_on.isoformat(),
        "heading_path": list(passage.chunk.heading_path),
        "text": passage.text,
    }
    if copies := [found.passages[chunk] for chunk in found.copies.get(hit.chunk_id, ())]:
        document["also"] = [
            {
                "chunk_id": copy.id,
                "publication_code": copy.publication.code,
                "source": copy.publication.source,
                "publication_date": copy.publication.published_on.isoformat(),
            }
            for copy in copies
        ]
    if more := found.unlisted.get(hit.chunk_id):
        document["also_more"] = more
    return document | {"parts": dict(hit.parts)} if explain else document


def _hit_lines(hit: Hit, found: Evidence, query: str, width: int) -> list[str]:
    passage = found.passages[hit.chunk_id]
    publication = passage.publication
    issuer = f"{publication.issuer}, " if publication.issuer else ""
    lines = wrap(
        f"{hit.rank:>2}. {hit.score:.2f} {publication.published_on} {publication.code}, {issuer}"
        f"«{one_line(publication.title, 200)}»", width, "", "    "
    )  # fmt: skip
    where = " > ".join((f"chunk {hit.chunk_id}", *passage.chunk.heading_path))
    lines += wrap(where, width, "    ")
    if hit.parts:
        lines += wrap(", ".join(f"{name} {value:.3f}" for name, value in hit.parts), width, "    ")
    for chunk in found.copies.get(hit.chunk_id, ()):
        copy = found.passages[chunk].publication
        lines += wrap(f"also in {copy.code}, {copy.published_on} (chunk {chunk})", width, "    ")
    if more := found.unlisted.get(hit.chunk_id):
        lines.append(f"    and in {more} more")
    return lines + wrap(one_line(snippet(passage.text, query, SNIPPET)), width, "      ")
