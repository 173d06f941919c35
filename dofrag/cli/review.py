"""`dof review`: the page to read and judge runs on, its static copy, and what people said."""

from __future__ import annotations

import getpass
import importlib.util
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dofrag.cli.options import FOLDER
from dofrag.cli.output import print_json
from dofrag.errors import UsageError
from dofrag.wiring import SAMPLE, open_corpus, profile, settings

if TYPE_CHECKING:
    from dofrag.review.app import Setting
    from dofrag.review.catalog import Collection
    from dofrag.review.passages import Shelf
    from dofrag.review.words import Labels
    from dofrag.store.interface import CorpusReader

PORT = 8377

_TRACES = click.option(
    "--trace-dir", type=FOLDER, default=lambda: settings().trace_dir, metavar="DIR",
    help="Folder of traces; campaigns in its eval/ are shown too. Default: DOF_TRACE_DIR, else traces.",
)  # fmt: skip
_CAMPAIGN = click.option("--campaign", "campaigns", type=FOLDER, multiple=True, metavar="DIR",
                         help="A campaign of `dof eval`; repeatable.")  # fmt: skip
_INDEX = click.option("--index", "indexes", type=FOLDER, multiple=True, metavar="DIR",
                      help="An index to take whole passages from; repeatable.")  # fmt: skip
_BLIND = click.option("--blind", is_flag=True, help="Hide arm, model and what others said.")
_LANG = click.option("--lang", type=click.Choice(["es", "en"]), default="es", help="Language of the copy.")


@click.group(invoke_without_command=True)
@_TRACES
@_CAMPAIGN
@_INDEX
@_BLIND
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True,
              help="Port on 127.0.0.1; 0 takes a free one.")  # fmt: skip
@click.option("--author", metavar="NAME", help="Who reviews. Default: the user of this session.")
@click.pass_context
def review(
    ctx: click.Context,
    trace_dir: Path,
    campaigns: tuple[Path, ...],
    indexes: tuple[Path, ...],
    blind: bool,
    port: int,
    author: str | None,
) -> None:
    """Serve a page on this machine to read runs on and judge them."""
    if ctx.invoked_subcommand is not None:
        return
    _need_extra()
    from dofrag.review.app import make_app
    from dofrag.review.serve import serve

    setting = make_setting(trace_dir, campaigns, indexes, blind=blind, author=_user() if author is None else author)
    # Thousands of traces take seconds to be read for the first time: begun before anybody asks.
    threading.Thread(target=lambda: [c.listing() for c in setting.catalog.collections()], daemon=True).start()
    serve(make_app(setting), port, lambda address: click.echo(f"{address}   (Ctrl-C ends it)", err=True))


def make_setting(
    trace_dir: Path,
    campaigns: tuple[Path, ...] = (),
    indexes: tuple[Path, ...] = (),
    *,
    blind: bool = False,
    author: str = "",
) -> Setting:
    """What the page works on: these folders, with the default index and the sample to take passages from."""
    from dofrag.review.app import Setting
    from dofrag.review.catalog import Catalog

    return Setting(
        catalog=Catalog(trace_dir, campaigns),
        shelves=_shelves(indexes),
        labels=_labels(),
        cite_as=profile().cite_as,
        author=author,
        blind=blind,
    )


@review.command("export")
@click.argument("folder", type=FOLDER, metavar="DIR")
@_TRACES
@_CAMPAIGN
@_INDEX
@_BLIND
@_LANG
def export_copy(
    folder: Path, trace_dir: Path, campaigns: tuple[Path, ...], indexes: tuple[Path, ...], blind: bool, lang: str
) -> None:
    """Write a copy to DIR that opens from a disk: of one campaign, or of the folder of traces."""
    _need_extra()
    from dofrag.review.pages import Look
    from dofrag.review.static_copy import export

    collection = _one(trace_dir, campaigns)
    look = Look(lang=lang, blind=blind)
    count = export(folder, collection, look, _labels(), _shelves(indexes), profile().cite_as, _progress)
    click.echo(f"{count} runs: {folder / 'index.html'}")


@review.command("verdicts")
@_TRACES
@_CAMPAIGN
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write to FILE instead of stdout.")  # fmt: skip
def verdicts(trace_dir: Path, campaigns: tuple[Path, ...], out: Path | None) -> None:
    """Print every verdict as JSON Lines: of one campaign, or of the folder of traces."""
    listing = _one(trace_dir, campaigns).listing()
    text = b"".join(v.line() for _, given in sorted(listing.verdicts.items()) for v in given)
    if out is None:
        click.echo(text.decode("utf-8"), nl=False)
        return
    try:
        out.write_bytes(text)
    except OSError as error:
        raise UsageError(f"{str(out)!r} cannot be written: {error.strerror}") from None


@review.command("agreement")
@_TRACES
@_CAMPAIGN
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def agreement(trace_dir: Path, campaigns: tuple[Path, ...], as_json: bool) -> None:
    """Print how reviewers agree: Cohen's kappa, pair by pair, over runs and over claims."""
    from dofrag.review.agreement import agreements
    from dofrag.review.verdicts import counts, current

    every = [v for given in _one(trace_dir, campaigns).listing().verdicts.values() for v in given]
    found: dict[str, Any] = {
        name: [
            {"reviewers": [a.first, a.second], "n": a.n, "observed": a.observed, "kappa": a.kappa,
             "table": [list(row) for row in a.table]}
            for a in agreements(every, claims=claims)
        ]
        for name, claims in (("runs", False), ("claims", True))
    }  # fmt: skip
    whole = [v for v in current(every).values() if v.claim is None]
    found["verdicts"] = dict(counts(whole))
    if as_json:
        print_json(found)
        return
    click.echo(", ".join(f"{n} {mark}" for mark, n in found["verdicts"].items()))
    for name in ("runs", "claims"):
        for pair in found[name]:
            kappa = "not defined" if pair["kappa"] is None else f"{pair['kappa']:.2f}"
            observed = "n/a" if pair["observed"] is None else f"{pair['observed']:.0%}"
            one, two = pair["reviewers"]
            click.echo(f"{name}: {one} and {two}: kappa {kappa}, same verdict {observed} of {pair['n']}")


def _need_extra() -> None:
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"the review page needs {', '.join(missing)}", hint="pip install 'dofrag[review]'")


def _one(trace_dir: Path, campaigns: tuple[Path, ...]) -> Collection:
    """The one collection that a command is about."""
    from dofrag.review.catalog import Catalog

    if len(campaigns) > 1:
        raise UsageError("name one campaign", hint="--campaign DIR")
    found = Catalog(None, campaigns) if campaigns else Catalog(trace_dir)
    if not campaigns and not trace_dir.is_dir():
        raise UsageError(f"there is no folder {str(trace_dir)!r}", hint="name one with --trace-dir or --campaign")
    return found.collections()[0]


def _shelves(indexes: tuple[Path, ...]) -> list[Shelf]:
    """The indexes that were named, the default one, and the sample."""
    from dofrag.review.passages import SAMPLE_NAME, Shelf

    usual = settings().index
    folders = dict.fromkeys([*indexes, *([usual] if usual else [])])
    shelves = [Shelf(name=folder.as_posix(), open=_opener(folder)) for folder in folders]
    return [*shelves, Shelf(name=SAMPLE_NAME, open=_opener(SAMPLE))]


def _opener(folder: Path) -> Callable[[], Any]:
    @contextmanager
    def opened() -> Iterator[CorpusReader]:
        corpus = open_corpus(folder, lambda line: click.echo(line, err=True))
        try:
            yield corpus.reader
        finally:
            corpus.close_searcher()
            close = getattr(corpus.reader, "close", None)
            if close is not None:
                close()

    return opened


def _labels() -> Labels:
    from dofrag.cli.labels import REASONS, STATES, STATUSES
    from dofrag.review.words import Labels

    return Labels(states=STATES, reasons=REASONS, statuses=STATUSES)


def _progress(done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        click.echo(f"{done}/{total}", err=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
