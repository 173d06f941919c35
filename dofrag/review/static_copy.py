"""A collection as files that open from a disk: the same pages, with nothing to send."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dofrag.domain.corpus import Publication
from dofrag.errors import UsageError
from dofrag.review.app import ASSETS, asset
from dofrag.review.catalog import Collection
from dofrag.review.filters import PAGE, Filters, select
from dofrag.review.pages import Look, Pages, place_in
from dofrag.review.passages import Shelf
from dofrag.review.run_page import load_run
from dofrag.review.words import Labels

MARKER = "review.json"
"""Stands in a folder that holds a copy: such a folder may be written over."""


class FileUrls:
    """Addresses between files. `up` is the way to the copy's folder from the page that is being made."""

    def __init__(self, up: str) -> None:
        self._up = up

    def home(self) -> str:
        return f"{self._up}index.html"

    def runs(self, collection: str, query: str = "") -> str:
        page = query.removeprefix("page=") if query.startswith("page=") else "1"
        return f"{self._up}{list_name(int(page))}"

    def run(self, collection: str, run: str, query: str = "") -> str:
        return f"{self._up}runs/{run}.html"

    def asset(self, name: str) -> str:
        return f"{self._up}assets/{name}"

    def agreement(self, collection: str) -> str:
        return self.home()

    def verdicts(self, collection: str) -> str:
        return f"{self._up}verdicts.jsonl"

    def save(self, collection: str, run: str) -> str:
        return self.home()

    def prefs(self) -> str:
        return self.home()


def list_name(page: int) -> str:
    """The file of one page of the list."""
    return "index.html" if page == 1 else f"index-{page}.html"


def export(
    folder: Path,
    collection: Collection,
    look: Look,
    labels: Labels,
    shelves: Sequence[Shelf],
    cite_as: Callable[[Publication], str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Write the copy; how many runs it has. Raises UsageError for a folder that holds something else."""
    _prepare(folder)
    look = replace(look, static=True, csrf="", here="")
    listing = collection.listing()
    rows = [r for r in listing.rows if not r.facts.fault]
    for name in ASSETS:
        (folder / "assets" / name).write_bytes(asset(name))
    pages = Pages(look, FileUrls(""), labels)
    for number in range(1, max(1, -(-len(listing.rows) // PAGE)) + 1):
        filters = Filters(page=number)
        shown = select(listing, filters, look.author)
        _write(folder / list_name(number), pages.runs(collection, listing, filters, shown))
    pages = Pages(look, FileUrls("../"), labels)
    page_of = {r.run_id: n // PAGE + 1 for n, r in enumerate(listing.rows)}
    for done, row in enumerate(rows, 1):
        given = [] if look.blind else listing.verdicts.get(row.run_id, ())
        page = load_run(row.path, shelves, cite_as, collection.record(row.run_id).get("partial"))
        around = place_in(rows[max(0, done - 2) : done + 1], row.run_id)
        place = replace(around, number=done, of=len(rows))
        html = pages.run(collection, row, page, given, place, f"page={page_of[row.run_id]}")
        _write(folder / "runs" / f"{row.run_id}.html", html)
        progress(done, len(rows))
    if not look.blind:
        lines = b"".join(v.line() for _, vs in sorted(listing.verdicts.items()) for v in vs)
        (folder / "verdicts.jsonl").write_bytes(lines)
    return len(rows)


def _prepare(folder: Path) -> None:
    try:
        if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).is_file():
            raise UsageError(f"{str(folder)!r} holds other files", hint="name an empty folder, or a new one")
        for part in ("assets", "runs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / MARKER).write_text('{"schema": "dofrag.review-copy/1"}\n', encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be written: {error.strerror}") from error


def _write(path: Path, html: str) -> None:
    path.write_text(html, encoding="utf-8")
