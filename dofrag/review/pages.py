"""Pages as HTML. One set of templates serves the server and the static copy; addresses come from `urls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dofrag.domain.records import dataclass
from dofrag.review.agreement import MARKS, Agreement
from dofrag.review.catalog import Collection, Listing
from dofrag.review.filters import BLIND_ORDERS, FACETS, ORDERS, PAGE, SHOWS_ARM, Filters, Shown
from dofrag.review.markup import render, unseen_shown
from dofrag.review.shapes import RunPage, obj, objs, text, texts
from dofrag.review.summaries import Row
from dofrag.review.verdicts import Verdict, Why, counts, current
from dofrag.review.words import NAMES, Labels, words
from dofrag.text.language import language_of

BRIEF = 80
STATIC_POLICY = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file:"


class Urls(Protocol):
    """Addresses, as seen from the page that is being made."""

    def home(self) -> str: ...
    def runs(self, collection: str, query: str = "") -> str: ...
    def run(self, collection: str, run: str, query: str = "") -> str: ...
    def asset(self, name: str) -> str: ...
    def agreement(self, collection: str) -> str: ...
    def verdicts(self, collection: str) -> str: ...
    def save(self, collection: str, run: str) -> str: ...
    def prefs(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a page is wanted, and by whom. `forced`: blind mode cannot be left. `static`: nothing can be sent."""

    lang: str = "es"
    theme: str = "auto"
    blind: bool = False
    forced: bool = False
    keys: bool = True
    author: str = ""
    csrf: str = ""
    static: bool = False
    here: str = "/"


def _finalize(value: Any) -> Any:
    return unseen_shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _brief(quote: str) -> str:
    """A quote on one short line."""
    line = " ".join(quote.replace("**", "").split())
    return line if len(line) <= BRIEF else line[:BRIEF] + "…"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("dofrag.review"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_finalize,
        auto_reload=False,
    )
    made.filters |= {
        "fill": lambda text, **values: text.format(**values),
        "brief": _brief,
        "document": lambda value: Markup(render(value)),
        "share": lambda value: "—" if value is None else f"{value:.0%}",
        "kappa": lambda value, undefined: undefined if value is None else f"{value:.2f}",
    }
    made.globals |= {"languages": NAMES, "static_policy": STATIC_POLICY, "marks": MARKS, "whys": tuple(Why)}
    return made


class Pages:
    """Makes pages in one look."""

    def __init__(self, look: Look, urls: Urls, labels: Labels) -> None:
        self.look = look
        self.urls = urls
        self.t = words(look.lang)
        self._labels = labels

    def _page(self, template: str, **values: Any) -> str:
        return (
            _environment()
            .get_template(template)
            .render(t=self.t, look=self.look, urls=self.urls, here=self.look.here, **values)
        )

    def error(self, status: int, message: str = "") -> str:
        """What went wrong, in words."""
        return self._page("error.html", message=message or self.t.among(f"error_{status}", self.t.error_400))

    def name_of(self, collection: Collection) -> str:
        """What a collection is called; in blind mode not by its folder, which may be named after an arm."""
        spec = collection.spec()
        title = text(spec.get("title"))[:120]
        if collection.campaign is None:
            return self.t["traces"]
        return (
            title or self.t["campaign"] if self.look.blind else " · ".join(p for p in (title, collection.name) if p)
        )

    def home(self, found: Sequence[tuple[Collection, Listing]]) -> str:
        """All collections."""
        cards = []
        for collection, listing in found:
            given = [] if self.look.blind else _on_runs(v for vs in listing.verdicts.values() for v in vs)
            cards.append(
                {
                    "id": collection.id,
                    "name": self.name_of(collection),
                    "kind": self.t["traces" if collection.campaign is None else "campaign"].lower(),
                    "runs": len(listing.rows),
                    "missing": self._missing(collection, listing),
                    "when": listing.rows[0].facts.started[:10] if listing.rows else "",
                    "marks": counts(given),
                }
            )
        return self._page("home.html", collections=cards)

    def _missing(self, collection: Collection, listing: Listing) -> tuple[str, str]:
        """Of a campaign that has records and no traces: that, and where they were looked for; else nothing."""
        kept = 0 if listing.rows else collection.recorded()
        if not kept:
            return ("", "")
        where = "traces" if self.look.blind else str(collection.traces)
        return self.t.no_traces.format(n=kept), self.t.no_traces_where.format(where=where)

    def runs(self, collection: Collection, listing: Listing, filters: Filters, shown: Shown) -> str:
        """One page of a collection's runs."""
        pages = max(1, -(-len(shown.rows) // PAGE))
        page = min(filters.page, pages)
        first = (page - 1) * PAGE
        query = filters.query()
        orders = BLIND_ORDERS if self.look.blind else ORDERS
        rows = [self._row(collection, r, listing.verdicts.get(r.run_id, ()), query)
                for r in shown.rows[first : first + PAGE]]  # fmt: skip
        return self._page(
            "list.html", collection=collection.id, name=self.name_of(collection), filters=filters, rows=rows,
            facets=self._facets(filters, shown), found=len(shown.rows), total=shown.total, page=page, pages=pages,
            first=first + 1, missing=self._missing(collection, listing), quick=self._quick(filters, shown),
            orders=[(o, self.t["by_risk" if o == "risk" else o]) for o in orders],
        )  # fmt: skip

    def _quick(self, filters: Filters, shown: Shown) -> list[dict[str, Any]]:
        """One click to each state, to what is risky and to what the reader has yet to judge; one more undoes it."""
        chosen = dict(filters.chosen)
        picks = [("state", v) for v, _ in shown.facets["state"]] + [("risk", "high"), ("verdict", "todo")]
        links = []
        for name, value in picks:
            count = dict(shown.facets[name]).get(value, 0)
            on = chosen.get(name) == value
            if count or on:
                label = f"{self.t['risk']} {self._label(name, value)}" if name == "risk" else self._label(name, value)
                links.append({"query": filters.query(**{name: None if on else value}), "chosen": on, "n": count,
                              "label": label.lower()})  # fmt: skip
        return links

    def _facets(self, filters: Filters, shown: Shown) -> list[dict[str, Any]]:
        chosen = dict(filters.chosen)
        facets = []
        for name in FACETS:
            values = shown.facets[name]
            if (self.look.blind and name in SHOWS_ARM) or (
                name in SHOWS_ARM and len(values) < 2 and name not in chosen
            ):
                continue
            options = list(values)
            if name in chosen and chosen[name] not in dict(options):
                options.insert(0, (chosen[name], 0))
            if options:
                picked = chosen.get(name)
                listed = [{"value": v, "n": n, "chosen": picked == v, "label": self._label(name, v)}
                          for v, n in options]  # fmt: skip
                facets.append({"name": name, "label": self.t[name], "options": listed})
        return facets

    def _label(self, facet: str, value: str) -> str:
        lang = self.look.lang
        if facet == "state":
            return self._labels.states[lang].get(value, value)
        if facet == "reason":
            return self._labels.reasons[lang].get(value, value).split(";")[0][:60]
        if facet in ("risk", "verdict"):
            prefix = "mark" if facet == "verdict" and value in MARKS else facet
            return self.t.among(f"{prefix}_{value}", value)
        return value

    def _row(self, collection: Collection, row: Row, given: Sequence[Verdict], query: str) -> dict[str, Any]:
        facts, lang = row.facts, self.look.lang
        whole = [v for v in current(given).values() if v.claim is None]
        mine = [v for v in whole if v.author == self.look.author]
        seen = mine if self.look.blind else whole
        return {
            "run_id": row.run_id,
            "url": self.urls.run(collection.id, row.run_id, query),
            "fault": facts.fault,
            "question": facts.question,
            "lang": _language(facts.question),
            "state": facts.state,
            "state_label": self._labels.states[lang].get(facts.state, facts.state),
            "reason_label": self._labels.reasons[lang].get(facts.reason, facts.reason).split(";")[0],
            "question_id": row.question_id,
            "category": row.category,
            "arm": "" if self.look.blind else row.arm,
            "risk": row.risk,
            "started": "" if self.look.blind else facts.started,
            "verdicts": [{"mark": str(v.verdict), "author": v.author} for v in seen],
        }

    def run(
        self, collection: Collection, row: Row, page: RunPage, given: Sequence[Verdict], place: Place, query: str
    ) -> str:
        """One run."""
        by_claim: dict[int | None, list[Verdict]] = {}
        for verdict in current(given).values():
            by_claim.setdefault(verdict.claim, []).append(verdict)
        me = "" if self.look.static else self.look.author
        mine = {c: v for c, vs in by_claim.items() for v in vs if me and v.author == me}
        others = {c: [v for v in vs if v.author != me or not me] for c, vs in by_claim.items()}
        item = collection.item(row.question_id) if row.question_id else {}
        grade = obj(collection.record(row.run_id).get("grade"))
        lang = self.look.lang
        return self._page(
            "run.html", row=row, page=page, name=self.name_of(collection), mine=mine, others=others,
            hidden=lambda claim: self.look.blind and claim not in mine and bool(others.get(claim)),
            labels={s.chunk_id: s.label for s in page.sources},
            states=self._labels.states[lang], reasons=self._labels.reasons[lang],
            statuses=self._labels.statuses[lang],
            why_labels=self._why_labels, lang=_language(page.question), expected=_expected(item, row),
            nuggets=_nuggets(item, grade),
            gold=[{n: texts(g.get(n), 5) if n == "quotes" else text(g.get(n)) for n in ("title", "source", "quotes")}
                  for g in objs(item.get("gold"), 20)],
            grade_why=texts(grade.get("why"), 20),
            place=place.number, of=place.of,
            next=place.next and self.urls.run(collection.id, place.next, query),
            previous=place.previous and self.urls.run(collection.id, place.previous, query),
            up=self.urls.runs(collection.id, query), save_url=self.urls.save(collection.id, row.run_id),
        )  # fmt: skip

    def _why_labels(self, why: Sequence[str]) -> str:
        reasons = self._labels.reasons[self.look.lang]
        return ", ".join(self.t.among(f"why_{w}", reasons.get(w, w)) for w in why)

    def agreement(
        self,
        collection: Collection,
        listing: Listing,
        found: tuple[Sequence[Agreement], Sequence[Agreement]],
        disputes: Mapping[tuple[str, int | None], Mapping[str, Verdict]],
    ) -> str:
        """How reviewers agree. `found`: over runs, over claims."""
        questions = {r.run_id: r.facts.question for r in listing.rows}
        by_author: dict[str, list[Verdict]] = {}
        for verdict in _on_runs(v for vs in listing.verdicts.values() for v in vs):
            by_author.setdefault(verdict.author, []).append(verdict)
        shown = [
            {
                "url": self.urls.run(collection.id, run),
                "question": questions[run],
                "claim": claim,
                "verdicts": [{"author": a, "mark": str(v.verdict)} for a, v in sorted(said.items())],
            }
            for (run, claim), said in disputes.items()
            if run in questions
        ]
        return self._page(
            "agreement.html", collection=collection.id, name=self.name_of(collection), runs=found[0], claims=found[1],
            counts={a: counts(vs) for a, vs in sorted(by_author.items())}, disputes=shown[:500],
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run stands in the list that it was opened from, from 1; 0 where it is not in it."""

    number: int = 0
    of: int = 0
    next: str = ""
    previous: str = ""


def place_in(rows: Sequence[Row], run: str) -> Place:
    """The place of a run, and its neighbours."""
    at = next((n for n, r in enumerate(rows) if r.run_id == run), None)
    if at is None:
        return Place()
    after = rows[at + 1].run_id if at + 1 < len(rows) else ""
    return Place(number=at + 1, of=len(rows), next=after, previous=rows[at - 1].run_id if at else "")


def _on_runs(verdicts: Any) -> list[Verdict]:
    return [v for v in current(verdicts).values() if v.claim is None]


def _expected(item: Mapping[str, Any], row: Row) -> dict[str, str]:
    """What the set says of the question; empty where it says nothing."""
    end = row.expected or text(item.get("expected_state"))
    return {"end": end, "answer": text(item.get("reference_answer"))} if item else {}


def _nuggets(item: Mapping[str, Any], grade: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The facts that were looked for; where the run was graded, whether they were found."""
    graded = objs(grade.get("nuggets"), 60)
    if graded:
        return [{"text": text(n.get("text")), "vital": n.get("vital") is True, "found": n.get("found") is True}
                for n in graded]  # fmt: skip
    named = [n for sub in objs(item.get("sub_questions"), 20) for n in objs(sub.get("nuggets"), 20)]
    return [{"text": text(n.get("text")), "vital": n.get("vital") is True, "found": None} for n in named]


def _language(question: str) -> str:
    return language_of(question[:500])
