"""The page as a web application: addresses to pages, forms to verdicts. Everything goes through `Guard` first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from urllib.parse import parse_qs, quote, unquote, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from dofrag.domain.corpus import Publication
from dofrag.domain.records import dataclass
from dofrag.errors import DofError, UsageError
from dofrag.review.agreement import agreements, disputed
from dofrag.review.catalog import Catalog, Collection
from dofrag.review.events import judged
from dofrag.review.filters import fitting, parse_filters, select
from dofrag.review.guard import Guard, cookies
from dofrag.review.markup import unseen_shown
from dofrag.review.pages import Look, Pages, place_in
from dofrag.review.passages import Shelf
from dofrag.review.run_page import load_run
from dofrag.review.summaries import Row
from dofrag.review.verdicts import AUTHOR_MAX, Mark, Verdict, Why, append
from dofrag.review.words import LANGUAGES, Labels, language_from, words

PREFS = "dof_prefs"
ASSETS = {"review.css": "text/css", "review.js": "text/javascript", "icon.svg": "image/svg+xml"}
_YEAR = 365 * 24 * 3600
_BACK = re.compile(r"/(?:[A-Za-z0-9._~%=&?+-][A-Za-z0-9._~/%=&?+-]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the page works on. `author` is who reviews until a browser says otherwise; `blind` makes blind mode the
    only one; `clock` gives the time of a verdict."""

    catalog: Catalog
    shelves: Sequence[Shelf]
    labels: Labels
    cite_as: Callable[[Publication], str]
    author: str = ""
    blind: bool = False
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


class ServerUrls:
    """Addresses on the server."""

    def home(self) -> str:
        return "/"

    def runs(self, collection: str, query: str = "") -> str:
        return f"/c/{quote(collection)}" + (f"?{query}" if query else "")

    def run(self, collection: str, run: str, query: str = "") -> str:
        return f"/c/{quote(collection)}/r/{quote(run)}" + (f"?{query}" if query else "")

    def asset(self, name: str) -> str:
        return f"/assets/{name}"

    def agreement(self, collection: str) -> str:
        return f"/c/{quote(collection)}/agreement"

    def verdicts(self, collection: str) -> str:
        return f"/c/{quote(collection)}/verdicts.jsonl"

    def save(self, collection: str, run: str) -> str:
        return f"/c/{quote(collection)}/r/{quote(run)}/verdict"

    def prefs(self) -> str:
        return "/prefs"


def make_app(setting: Setting) -> ASGIApp:
    """The application. It serves what `setting` names, and nothing else of this machine."""
    site = _Site(setting)
    app = Starlette(
        routes=[
            Route("/", site.home),
            Route("/assets/{name}", site.asset),
            Route("/prefs", site.prefs, methods=["POST"]),
            Route("/c/{collection}", site.runs),
            Route("/c/{collection}/agreement", site.agreement),
            Route("/c/{collection}/verdicts.jsonl", site.verdicts),
            Route("/c/{collection}/r/{run}", site.run),
            Route("/c/{collection}/r/{run}/verdict", site.verdict, methods=["POST"]),
        ],
        exception_handlers={HTTPException: site.failed, DofError: site.failed, 500: site.failed},
    )
    app.router.redirect_slashes = False
    return Guard(app, site.refusal)


class _Site:
    """The pages, as endpoints. What reads files runs in a thread."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    async def home(self, request: Request) -> Response:
        def made() -> str:
            found = [(c, c.listing()) for c in self._setting.catalog.collections()]
            return self._pages(request).home([(c, lying) for c, lying in found if lying.rows or c.campaign])

        return HTMLResponse(await run_in_threadpool(made))

    async def runs(self, request: Request) -> Response:
        def made() -> str:
            collection, look = self._collection(request), self._look(request)
            filters = parse_filters(request.query_params, look.blind)
            listing = collection.listing()
            shown = select(listing, filters, look.author)
            return Pages(look, ServerUrls(), self._setting.labels).runs(collection, listing, filters, shown)

        return HTMLResponse(await run_in_threadpool(made))

    async def run(self, request: Request) -> Response:
        def made() -> str:
            collection, look = self._collection(request), self._look(request)
            filters = parse_filters(request.query_params, look.blind)
            listing = collection.listing()
            row = _row(listing.rows, request)
            place = place_in(fitting(listing, filters, look.author), row.run_id)
            partial = collection.record(row.run_id).get("partial")
            page = load_run(row.path, self._setting.shelves, self._setting.cite_as, partial)
            given = collection.verdicts_on(row)
            pages = Pages(look, ServerUrls(), self._setting.labels)
            return pages.run(collection, row, page, given, place, filters.query(page=filters.page))

        return HTMLResponse(await run_in_threadpool(made))

    async def agreement(self, request: Request) -> Response:
        def made() -> str:
            collection = self._collection(request)
            listing = collection.listing()
            every = [v for vs in listing.verdicts.values() for v in vs]
            found = agreements(every, claims=False), agreements(every, claims=True)
            return self._pages(request).agreement(collection, listing, found, disputed(every))

        return HTMLResponse(await run_in_threadpool(made))

    async def verdicts(self, request: Request) -> Response:
        if self._look(request).blind:
            raise HTTPException(404)
        collection = self._collection(request)
        listing = await run_in_threadpool(collection.listing)
        lines = b"".join(v.line() for _, given in sorted(listing.verdicts.items()) for v in given)
        name = {"Content-Disposition": 'attachment; filename="verdicts.jsonl"'}
        return Response(lines, media_type="application/x-ndjson", headers=name)

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})

    async def verdict(self, request: Request) -> Response:
        form: Mapping[str, list[str]] = request.scope["form"]

        def kept() -> tuple[Verdict, str]:
            collection, look = self._collection(request), self._look(request)
            row = _row(collection.listing().rows, request)
            claims, sha = judged(row.path)
            verdict = _parse_verdict(form, row.run_id, claims, sha, look, self._setting.clock())
            append(row.path, verdict)
            return verdict, ServerUrls().run(collection.id, row.run_id)

        verdict, where = await run_in_threadpool(kept)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"message": self._pages(request).t["saved"] + f" · {verdict.at:%Y-%m-%d %H:%M}"})
        here = "run" if verdict.claim is None else f"c{verdict.claim + 1}"
        return RedirectResponse(f"{where}#{here}", 303)

    async def prefs(self, request: Request) -> Response:
        form: Mapping[str, list[str]] = request.scope["form"]
        values = {name: _first(form, name)[:100] for name in ("lang", "theme", "author", "blind", "keys")}
        values["keys"] = values["keys"] or "0"
        back = _first(form, "back")
        response = RedirectResponse(back if _BACK.fullmatch(back) else "/", 303)
        response.set_cookie(
            PREFS, quote(urlencode(values)), max_age=_YEAR, httponly=True, samesite="strict", path="/"
        )
        return response

    async def failed(self, request: Request, error: Exception) -> Response:
        """A page, or for a script a message, that says what went wrong."""
        status, message = 500, ""
        if isinstance(error, HTTPException):
            status = error.status_code
        elif isinstance(error, DofError):
            status, message = 400, unseen_shown(error.message)
        return self._refusal(status, message, request.headers, self._look(request))

    def refusal(self, status: int, headers: Headers) -> Response:
        """What the guard answers."""
        return self._refusal(status, "", headers, self._look_from(headers, "", "/"))

    def _refusal(self, status: int, message: str, headers: Headers, look: Look) -> Response:
        if "application/json" in headers.get("accept", ""):
            return JSONResponse({"message": message or words(look.lang)[f"error_{status}"]}, status)
        pages = Pages(look, ServerUrls(), self._setting.labels)
        return HTMLResponse(pages.error(status, message), status)

    def _collection(self, request: Request) -> Collection:
        found = self._setting.catalog.get(request.path_params["collection"])
        if found is None:
            raise HTTPException(404)
        return found

    def _pages(self, request: Request) -> Pages:
        return Pages(self._look(request), ServerUrls(), self._setting.labels)

    def _look(self, request: Request) -> Look:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return self._look_from(request.headers, request.scope.get("csrf", ""), here)

    def _look_from(self, headers: Headers, csrf: str, here: str) -> Look:
        raw = cookies(headers).get(PREFS, "")
        kept = {k: v[0] for k, v in parse_qs(unquote(raw), max_num_fields=10).items()} if len(raw) < 2_000 else {}
        author = kept.get("author", self._setting.author)
        return Look(
            lang=kept["lang"] if kept.get("lang") in LANGUAGES else language_from(headers.get("accept-language", "")),
            theme=kept["theme"] if kept.get("theme") in ("light", "dark") else "auto",
            blind=self._setting.blind or kept.get("blind") == "1",
            forced=self._setting.blind,
            keys=kept.get("keys", "1") == "1",
            author=author.strip() if len(author) <= AUTHOR_MAX and author.isprintable() else "",
            csrf=csrf,
            here=here,
        )


def asset(name: str) -> bytes:
    """A file that pages load: one of ASSETS."""
    return (resources.files("dofrag.review") / "assets" / name).read_bytes()


def _first(form: Mapping[str, list[str]], name: str) -> str:
    return form.get(name, [""])[0]


def _row(rows: Sequence[Row], request: Request) -> Row:
    found = next((r for r in rows if r.run_id == request.path_params["run"]), None)
    if found is None or found.facts.fault:
        raise HTTPException(404)
    return found


def _parse_verdict(
    form: Mapping[str, list[str]], run: str, claims: int, sha: str, look: Look, now: datetime
) -> Verdict:
    """A verdict from a form. Raises UsageError for words of no list, and for a claim that the run does not have."""
    claim = _first(form, "claim")
    if claim and not (claim.isascii() and claim.isdigit() and len(claim) < 6 and int(claim) < claims):
        raise UsageError(f"run {run} has no claim {claim[:10]!r}")
    try:
        mark = Mark(_first(form, "verdict"))
        reasons = tuple(dict.fromkeys(Why(r) for r in form.get("reason", [])))
    except ValueError as error:
        raise UsageError(str(error)[:100]) from None
    said = words(look.lang)
    if mark in (Mark.PARTIAL, Mark.INCORRECT) and not reasons:
        raise UsageError(said.need_reason)
    if not look.author:
        raise UsageError(said.need_author)
    return Verdict(
        run_id=run,
        claim=int(claim) if claim else None,
        verdict=mark,
        reasons=() if mark is Mark.CORRECT else reasons,
        note=_first(form, "note").replace("\r\n", "\n").strip(),
        author=look.author,
        at=now,
        blind=look.blind,
        trace_sha256=sha,
    )
