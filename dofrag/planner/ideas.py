"""Calls worth making, the most promising first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from dofrag.coverage.closure import Message
from dofrag.coverage.later import alters, corrects
from dofrag.coverage.listing import asks_for_all
from dofrag.coverage.match import PreparedPassage
from dofrag.coverage.premises import check_premise
from dofrag.domain.corpus import Kind, Publication
from dofrag.domain.evidence import PremiseStatus
from dofrag.domain.question import (
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    ProvisionRequired,
    PublicationRequired,
    RangeRequired,
    Requirement,
    Status,
    TopicRequired,
    ValueRequired,
)
from dofrag.planner.drafts import preferred
from dofrag.planner.interface import ToolCall, View
from dofrag.planner.monitoring import fitting, left_out, next_page, work_through
from dofrag.planner.plain import of_any_source, plain, room
from dofrag.planner.pointers import Ranked, fitting_publications, parsed, rank_pointers, well_placed
from dofrag.planner.provisions import nowhere, resolve
from dofrag.planner.queries import (
    LISTED_DAYS,
    Window,
    bounds_query,
    detail_query,
    evidence_arguments,
    join,
    listing,
    open_search,
    outline,
    provision_words,
    query_of,
    search_arguments,
    searches,
)
from dofrag.planner.reading import open_around, read_whole, untouched
from dofrag.planner.series import searched_since
from dofrag.text.mentions import find_provisions

READ_AT_ONCE = 5
WORTH_A_CALL = 4
"""Publications of a listing that are read in a call of their own; fewer wait for those of the next page."""
MAX_PAGES = 2
"""Pages of one outline to look at; a long law is searched instead."""
SEARCHES_FOR_ABSENCE = 3


def affordable(view: View) -> bool:
    # The last turn is kept for a draft.
    return view.spend.tool_calls < view.limits.max_tool_calls and view.turn < view.limits.max_turns


def made(view: View, call: ToolCall) -> bool:
    """Whether this very call was made before."""
    key = _key(call.tool, call.arguments)
    return any(_key(past.tool, past.arguments) == key for past in view.history)


def _key(tool: str, arguments: Mapping[str, object]) -> str:
    return tool + json.dumps(dict(arguments), sort_keys=True, default=str, ensure_ascii=False)


def ideas(
    view: View, missing: list[Requirement], prepared: Mapping[int, PreparedPassage], message: Message
) -> Iterator[ToolCall]:
    """What to try for the missing requirements, in order of promise."""
    yield from _cells(view, missing, message)
    yield from resolve(view, missing, message("why.outline"), message("why.read_best"))
    missing = [r for r in missing if not (asks_for_all(r) and fitting(view, r))]
    ranked = rank_pointers(view, missing)
    placed = [r for r in ranked if r.placed]
    strong = [r for r in ranked if r.strong]
    yield from _read(view, strong, placed, message("why.read_strong"))
    yield from _first_searches(view, [r for r in missing if not well_placed(view, r)], message)
    yield from plain(view, missing, room(view), message("why.open"), message("why.read_best"))
    if view.passages and _untouched(view, missing) and _searched(view) >= SEARCHES_FOR_ABSENCE:
        yield from _for_absence(view, missing, message)
        return
    open_ones = [r for r in missing if not _used_up(view, r)]
    yield from _within(view, open_ones, ranked, message("why.within"))
    by_place = [r for r in open_ones if r.path is not None or isinstance(r, DefinitionRequired)]
    yield from _browse(view, by_place, message("why.outline"))
    yield from _read_on(view, open_ones, message("why.read_on"))
    yield from _read(view, placed, (), message("why.read_best"))
    yield from _around(view, open_ones, prepared, message("why.read_around"))
    yield from _within_laws(view, open_ones, message("why.within"))
    if _untouched(view, missing):
        if not view.passages:
            yield from _read(view, ranked, (), message("why.read_best"))
        yield from _for_absence(view, missing, message)
        if _searched(view) >= SEARCHES_FOR_ABSENCE:
            return
    yield from _read(view, ranked, (), message("why.read_best"))
    yield from _browse(view, open_ones, message("why.outline"))
    yield from _first_searches(view, open_ones, message)
    yield from _wider(view, open_ones, message("why.wider"))


def later_steps(view: View, message: Message) -> Iterator[ToolCall]:
    """What an answer needs besides its source: a look at what corrects it, among what was found; and for what is in
    force a search for what came after it, and a look at what that finds."""
    every = [r for sub in view.sub_questions for r in sub.requirements]
    cited = {view.passages[ids[0]].publication for r in every if (ids := preferred(view, r))}
    yield from _read_later(view, cited, corrects, message)
    yield from _for_premises(view, cited, message)
    if any(of_any_source(r) for r in every):
        yield from plain(view, (), room(view), message("why.open"), message("why.read_best"))
    if not cited or not (view.asks_current or any(_of_a_day(r, cited) for r in every)):
        return
    newest = max(cited, key=lambda p: (p.published_on, p.code))
    if not searched_since((p.arguments for p in view.history if p.envelope.get("ok")), newest.published_on):
        valued = _indicators(every)  # a later notice of a value may have any title; no law fixes it
        query = (
            join(valued)
            if valued
            else join([newest.title, "reforma modificación abrogación" if view.asks_current else "término"])
        )
        arguments = {
            "query": query[:400],
            "date_from": newest.published_on.isoformat(),
            **dict.fromkeys(("date_to", "issuer", "edition")),
            "kind": Kind.DOF.value if valued else None,
            "prefer_recent": True,
        }
        yield ToolCall("search_documents", arguments, message("why.later"))
    yield from _read_later(view, cited, alters, message)
    yield from _read_newer(view, newest.published_on, message)


def _of_a_day(requirement: Requirement, cited: set[Publication]) -> bool:
    """Whether a state of things is asked for at a day after all that is to be cited: it may have changed by then."""
    period = requirement.period if isinstance(requirement, (ListRequired, TopicRequired)) else None
    if period is None or period.start != period.end:
        return False
    return all(p.published_on < period.start for p in cited)


def _for_premises(view: View, cited: set[Publication], message: Message) -> Iterator[ToolCall]:
    """Look for what a statement takes for granted, within what is to be cited: a draft may not build on it unread."""
    prepared = {i: parsed(p) for i, p in view.passages.items()}
    for sub in view.sub_questions:
        for premise in (p for p in sub.premises if p.stated):
            if check_premise(premise, sub, prepared).status is PremiseStatus.UNCLEAR:
                codes = sorted(p.code for p in cited)
                arguments = evidence_arguments(join([*premise.terms, premise.expected]), codes)
                yield ToolCall("search_evidence", arguments, message("why.within"))
                ids = [s.chunk_id for s in view.seen if s.code in codes and s.chunk_id not in view.passages][-4:]
                if ids:
                    yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": 0}, message("why.read_best"))


def corrections(view: View, chunk_id: int | None, message: Message) -> Iterator[ToolCall]:
    """What corrects the publication of a passage that is to be cited, among what was found and not read."""
    if chunk_id is not None and chunk_id in view.passages:
        yield from _read_later(view, {view.passages[chunk_id].publication}, corrects, message)


def _read_later(
    view: View, cited: set[Publication], relation: Callable[[Publication, Publication], bool], message: Message
) -> Iterator[ToolCall]:
    """Read the beginning of unread publications that stand in this relation to a cited one."""
    unread = {c: p for c, p in view.publications.items() if untouched(view, c)}
    changing = {c for c, p in unread.items() if any(relation(p, one) for one in cited)}
    ids = [s.chunk_id for s in view.seen if s.code in changing][:READ_AT_ONCE]
    if ids:
        yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": 0}, message("why.read_later"))


def _indicators(requirements: Sequence[Requirement]) -> list[str]:
    """Names of the values that are asked for: a later notice of one may have any title."""
    values = (r for r in requirements if isinstance(r, ValueRequired) and r.indicator)
    return list(dict.fromkeys(name for r in values for name in (r.indicator or "", *r.names)))


def _read_newer(view: View, since: date, message: Message) -> Iterator[ToolCall]:
    """What is in force may have been said anew in a publication of another title: read what the search for later ones
    put first."""
    unread = {c for c, p in view.publications.items() if p.published_on > since and untouched(view, c)}
    first = {s.code: s.chunk_id for s in reversed(view.seen) if s.code in unread}
    ids = list(first.values())[:NEWER]
    if ids:
        yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": 0}, message("why.read_later"))


NEWER = 4
"""Later publications that are looked into, whatever their titles."""


def _cells(view: View, missing: list[Requirement], message: Message) -> Iterator[ToolCall]:
    """List the day for what was published then and read all that fits, page by page: what is read of a long day can
    be told, what is only listed cannot."""
    asking = [r for r in missing if isinstance(r, PublicationRequired) and (asks_for_all(r) or not view.history)]
    pages = [(r, page) for r in asking if (page := next_page(view, r)) is not None]
    for asked, page in pages:
        if len(left_out(view, asked)) < WORTH_A_CALL:
            yield ToolCall("list_publications", page, message("why.list"))
    for requirement in missing:
        yield from work_through(view, requirement, message("why.read_listed"))
    for _, page in pages:
        yield ToolCall("list_publications", page, message("why.list"))


def _untouched(view: View, missing: list[Requirement]) -> bool:
    """Whether nothing that was read bears on any part of the question."""
    every = [r for sub in view.sub_questions for r in sub.requirements]
    return len(missing) == len(every) and all(view.coverage.get(r.id, Status.OPEN) is Status.OPEN for r in missing)


def _searched(view: View) -> int:
    return sum(past.tool != "read_chunks" for past in view.history)


def _for_absence(view: View, missing: list[Requirement], message: Message) -> Iterator[ToolCall]:
    """What must have been tried before a run may say that the corpus does not hold it: the day or the issuer listed
    where the question names one, and the words searched for without any filter."""
    if not view.history:
        return
    for requirement in missing[:3]:
        arguments = listing(requirement, view.question)
        if arguments is not None:
            yield ToolCall("list_publications", arguments, message("why.list"))
        yield ToolCall("search_documents", open_search(requirement, view.question), message("why.open"))


def _read(view: View, ranked: Sequence[Ranked], more: Sequence[Ranked], why: str) -> Iterator[ToolCall]:
    """Read these pointers; `more` fill the call up: a call is dearer than what it reads."""
    if not ranked:
        return
    ids = list(dict.fromkeys(r.chunk_id for r in (*ranked, *more)))[: room(view)]
    while ids:
        yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": 0}, why)
        # A call that was refused for its size is tried again with half of it.
        ids = ids[: len(ids) // 2]


def _used_up(view: View, requirement: Requirement) -> bool:
    """Whether the question says which publication answers, and that one was read from end to end, or its outline
    shows that it has no such provision."""
    if nowhere(view, requirement):
        return True
    source = requirement.source
    start, end = source.published_from, source.published_to
    dated = start is not None and end is not None and (end - start).days <= LISTED_DAYS
    told = start == end or source.issuer or source.name or source.about
    if not (source.identifier or (dated and told)):
        return False
    codes = fitting_publications(view, requirement)
    return bool(codes) and all(read_whole(view, c) for c in codes)


def _within(view: View, missing: list[Requirement], ranked: list[Ranked], why: str) -> Iterator[ToolCall]:
    """Search within the publications that fit, for what no unread pointer promises to answer: one search for all that
    the same publications must answer, then one for each."""
    promised = {r for one in ranked if one.strong for r in one.requirements}
    queries: dict[tuple[str, ...], list[str]] = {}
    bare: list[tuple[tuple[str, ...], str]] = []
    for requirement in missing:
        fits = [c for c in fitting_publications(view, requirement) if not read_whole(view, c)]
        published = [c for c in fits if not view.publications[c].consolidated]
        codes = tuple((published or fits)[:6])
        if requirement.id in promised or not codes:
            continue
        query = detail_query(requirement)
        if isinstance(requirement, PublicationRequired):
            query = join([query, *(view.publications[c].title for c in codes[:3])])
        if isinstance(requirement, RangeRequired):
            bare.append((codes, bounds_query(requirement)))
        if query:
            queries.setdefault(codes, []).append(query)
    for codes, asked in queries.items():
        yield ToolCall("search_evidence", evidence_arguments(join(asked[:4]), codes), why)
    for codes, query in bare:
        yield ToolCall("search_evidence", evidence_arguments(query, codes), why)
    for codes, asked in queries.items():
        for query in dict.fromkeys(asked):
            yield ToolCall("search_evidence", evidence_arguments(query, codes), why)


def _within_laws(view: View, missing: list[Requirement], why: str) -> Iterator[ToolCall]:
    """Search the consolidated laws that fit, where the publications did not do."""
    for requirement in missing:
        fits = [c for c in fitting_publications(view, requirement) if not read_whole(view, c)]
        laws = [c for c in fits if view.publications[c].consolidated]
        query = detail_query(requirement)
        if laws and len(laws) < len(fits) and query:
            yield ToolCall("search_evidence", evidence_arguments(query, laws[:6]), why)


def _series_search(view: View, missing: list[Requirement], message: Message) -> Iterator[ToolCall]:
    """Of a value that is asked for at three times or more, one search over all of them before one for each."""
    alike: dict[object, list[ValueRequired]] = {}
    for requirement in missing:
        if isinstance(requirement, ValueRequired) and requirement.period is not None:
            alike.setdefault(replace(requirement, id="", label="", period=None), []).append(requirement)
    for one, members in alike.items():
        if len(members) >= SERIES and isinstance(one, ValueRequired):
            periods = [r.period for r in members if r.period is not None]
            start = min(p.start for p in periods) - timedelta(days=AHEAD)
            within = Window(start, max(p.end for p in periods)).clamped(view.question.as_of)
            titled = next((r for r in members if well_placed(view, r)), None)
            if titled is None:
                yield ToolCall(
                    "search_documents",
                    search_arguments(query_of(one), within, kind=Kind.DOF.value),
                    message("why.find", label=members[0].label)[:120],
                )


SERIES = 3
"""Times of one value that are worth a search of their own."""
AHEAD = 61
"""Days before a period in which what holds for it may have been published."""


def _first_searches(view: View, missing: list[Requirement], message: Message) -> Iterator[ToolCall]:
    yield from _series_search(view, missing, message)
    for requirement in missing:
        arguments = next(searches(requirement, view.question), None)
        if arguments is not None:
            why = message("why.find", label=requirement.label)[:120]
            yield ToolCall("search_documents", {**arguments, "prefer_recent": view.asks_current}, why)


def _wider(view: View, missing: list[Requirement], why: str) -> Iterator[ToolCall]:
    """Relax the windows and the filters, then drop words; round robin over what is missing."""
    ladders = [list(searches(r, view.question))[1:] for r in missing[:8]]
    for step in range(max((len(ladder) for ladder in ladders), default=0)):
        for ladder in ladders:
            if step < len(ladder):
                yield ToolCall("search_documents", ladder[step], why)


def _read_on(view: View, missing: list[Requirement], why: str) -> Iterator[ToolCall]:
    """Finish a list or a provision: read on from the passages that hold a part of it, where there is more."""
    lists = (ItemRequired, ListRequired, ProvisionRequired)
    if not any(isinstance(r, lists) for r in missing):
        return
    every = [r for sub in view.sub_questions for r in sub.requirements]
    supporting = [i for r in every if isinstance(r, lists) for i in view.support.get(r.id, ())]
    fitting_codes = {code for r in missing if isinstance(r, lists) for code in fitting_publications(view, r)}
    bearing = [i for i, p in view.passages.items() if p.chunk.code in fitting_codes]
    for chunk_id in dict.fromkeys(supporting or bearing or view.passages):
        if open_around(view, chunk_id):
            yield _with_neighbours([chunk_id], why)


def _around(
    view: View, missing: list[Requirement], prepared: Mapping[int, PreparedPassage], why: str
) -> Iterator[ToolCall]:
    """Read what stands beside passages of the right source that do not hold the answer themselves."""
    found = [s.chunk_id for s in view.seen if s.chunk_id in prepared]  # not what was read around something else
    for requirement in missing:
        if view.coverage.get(requirement.id) is Status.READ:
            codes = fitting_publications(view, requirement)
            near = [i for i in found if prepared[i].passage.publication.code in codes and open_around(view, i)]
            if near:
                yield _with_neighbours(near[:2], why)


def _with_neighbours(chunk_ids: list[int], why: str) -> ToolCall:
    return ToolCall("read_chunks", {"chunk_ids": chunk_ids, "neighbor_window": 1}, why)


def _browse(view: View, missing: list[Requirement], why: str) -> Iterator[ToolCall]:
    """The outline of the publications that fit and were not read whole, page by page."""
    for requirement in missing:
        for code in fitting_publications(view, requirement)[:2]:
            if read_whole(view, code):
                continue
            if requirement.path is not None and find_provisions(provision_words(requirement.path)):
                yield ToolCall("browse_document", outline(code, requirement.path), why)
            made = [p for p in view.history if p.tool == "browse_document" and p.arguments.get("provision") is None]
            seen = [p for p in made if p.arguments.get("publication") == code]
            total = max((int(p.envelope.get("total") or 0) for p in seen), default=1)
            shown = sum(int(p.envelope.get("returned") or 0) for p in seen)
            if shown < total and len(seen) < MAX_PAGES:
                yield ToolCall("browse_document", outline(code, None, shown), why)
