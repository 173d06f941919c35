"""The offline planner: no model, no key, no memory. Everything it does follows from the view of the turn.

It works through the open requirements: find the publication, read what points at the answer, look further within the
right publication (outline, neighbours), reformulate when nothing new comes, and draft when all is supported. It
gives up when its ideas or its budget run out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from dofrag.coverage.compose import partial_claims, readable
from dofrag.coverage.match import PreparedPassage, prepare
from dofrag.coverage.premises import PremiseCheck, check_premise
from dofrag.domain.evidence import NO_PREMISE, Citation, Claim, Draft, FaultCode, PremiseFinding, PremiseStatus
from dofrag.domain.question import (
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    ProvisionRequired,
    PublicationRequired,
    Requirement,
    Status,
    SubQuestion,
)
from dofrag.planner.interface import Abstain, Step, ToolCall, View
from dofrag.planner.pointers import Ranked, fitting_publications, rank_pointers, well_placed
from dofrag.planner.queries import detail_query, evidence_arguments, join, listing, searches

READ_AT_ONCE = 5
TOKENS_A_CHUNK = 900
"""What a chunk takes to read, as a guess before it is read."""
MAX_PAGES = 2
"""Pages of one outline to look at; a long law is searched instead."""
DONE = frozenset({Status.SUPPORTED, Status.ANSWERED})


class RulePlanner:
    """Deterministic: the same view gives the same step."""

    name = "rules"

    def next_step(self, view: View) -> Step:
        prepared = {chunk_id: prepare(passage) for chunk_id, passage in view.passages.items()}
        wrong = _false_premise(view, prepared)
        if wrong is not None and _drafts(view) == 0:
            return _correction(view, prepared, *wrong)
        missing = _missing(view)
        if not missing and view.passages and _drafts(view) == 0:
            return _answer(view, prepared)
        later = _later_reforms(view)
        if later is not None and later.tool in view.tools and not _made(view, later):
            return later
        if _affordable(view):
            for call in _ideas(view, missing or _all(view), prepared):
                if call.tool in view.tools and not _made(view, call):
                    return call
        if not missing and view.passages and _drafts(view) < 2:
            return _answer(view, prepared)
        return Abstain("nothing more to try" if _affordable(view) else "the budget is used up")


def _all(view: View) -> list[Requirement]:
    return [r for sub in view.sub_questions for r in sub.requirements]


def _missing(view: View) -> list[Requirement]:
    return [r for r in _all(view) if view.coverage.get(r.id, Status.OPEN) not in DONE]


def _drafts(view: View) -> int:
    """Drafts made so far: turns that were no calls."""
    return max(0, view.turn - 1 - len(view.history))


def _affordable(view: View) -> bool:
    # The last turn is kept for a draft.
    return view.spend.tool_calls < view.limits.max_tool_calls and view.turn < view.limits.max_turns


def _made(view: View, call: ToolCall) -> bool:
    key = _key(call.tool, call.arguments)
    return any(_key(past.tool, past.arguments) == key for past in view.history)


def _key(tool: str, arguments: Mapping[str, object]) -> str:
    return tool + json.dumps(dict(arguments), sort_keys=True, default=str, ensure_ascii=False)


def _answer(view: View, prepared: Mapping[int, PreparedPassage]) -> Draft:
    claims = partial_claims(view.sub_questions, prepared, view.support)
    checked = [check_premise(p, sub, prepared).status for sub in view.sub_questions for p in sub.premises]
    confirmed = bool(checked) and all(s is PremiseStatus.SUPPORTED for s in checked)
    finding = PremiseFinding(status=PremiseStatus.SUPPORTED) if confirmed else NO_PREMISE
    return Draft(claims=claims, premise=finding)


def _later_reforms(view: View) -> ToolCall | None:
    """The search that a question about what is in force needs before it may close: what came after the source."""
    if not any(fault.code is FaultCode.LATER_REFORMS for fault in view.rejections):
        return None
    cited = {view.passages[ids[0]].publication for ids in view.support.values() if ids}
    newest = max(cited, key=lambda p: (p.published_on, p.code))
    return ToolCall(
        "search_documents",
        {
            "query": join([newest.title, "reforma modificación abrogación"])[:400],
            "date_from": newest.published_on.isoformat(),
            **dict.fromkeys(("date_to", "issuer", "edition", "kind")),
            "prefer_recent": True,
        },
        "look for later reforms",
    )


def _false_premise(view: View, prepared: Mapping[int, PreparedPassage]) -> tuple[SubQuestion, PremiseCheck] | None:
    for sub in view.sub_questions:
        for premise in sub.premises:
            check = check_premise(premise, sub, prepared)
            if check.status is PremiseStatus.FALSE and check.chunk_id is not None and check.span is not None:
                return sub, check
    return None


def _correction(view: View, prepared: Mapping[int, PreparedPassage], sub: SubQuestion, check: PremiseCheck) -> Draft:
    """A draft that states what is true instead, and answers what can be answered besides."""
    assert check.chunk_id is not None
    assert check.span is not None
    start, end = check.span
    passage = prepared[check.chunk_id]
    quote = passage.text[start:end]
    text = readable(quote)
    names = tuple(s.id for s in view.sub_questions if s.id == sub.id)
    citation = Citation(chunk_id=check.chunk_id, quote=quote)
    true = Claim(text=text, sub_questions=names, citations=(citation,))
    others = tuple(c for c in partial_claims(view.sub_questions, prepared, view.support) if c.text != text)
    finding = PremiseFinding(status=PremiseStatus.FALSE, correction=text)
    return Draft(claims=(true, *others), premise=finding)


def _ideas(view: View, missing: list[Requirement], prepared: Mapping[int, PreparedPassage]) -> Iterator[ToolCall]:
    """Calls worth making, the most promising first."""
    ranked = rank_pointers(view, missing)
    yield from _read(view, [r for r in ranked if r.strong], "read what seems to answer")
    if not view.history:
        yield from _list_first(view, missing)
    yield from _first_searches(view, [r for r in missing if not well_placed(view, r)])
    yield from _within(view, missing, ranked)
    yield from _browse(view, [r for r in missing if isinstance(r, (DefinitionRequired, ProvisionRequired))])
    yield from _neighbours(view, missing, prepared)
    if _hopeless(view, missing):
        return
    yield from _read(view, ranked, "read the best pointers")
    yield from _browse(view, missing)
    yield from _first_searches(view, missing)
    yield from _wider(view, missing)


def _hopeless(view: View, missing: list[Requirement]) -> bool:
    """Several ways of searching were tried and nothing that was found bears on the question at all."""
    searches = sum(past.tool != "read_chunks" for past in view.history)
    untouched = all(view.coverage.get(r.id, Status.OPEN) is Status.OPEN for r in missing)
    return searches >= 4 and untouched and len(missing) == len(_all(view))


def _read(view: View, ranked: list[Ranked], why: str) -> Iterator[ToolCall]:
    left = view.limits.max_read_tokens - view.spend.read_tokens
    # One is tried however little is left: then the run ends on the limit that stopped it, not for want of a source.
    room = max(1, min(READ_AT_ONCE, left // TOKENS_A_CHUNK))
    ids = [r.chunk_id for r in ranked[:room]]
    while ids:
        yield ToolCall("read_chunks", {"chunk_ids": ids, "neighbor_window": 0}, why)
        # A call that was refused for its size is tried again with half of it.
        ids = ids[: len(ids) // 2]


def _list_first(view: View, missing: list[Requirement]) -> Iterator[ToolCall]:
    for requirement in missing:
        if isinstance(requirement, PublicationRequired):
            arguments = listing(requirement, view.question)
            if arguments is not None:
                yield ToolCall("list_publications", arguments, "list what was published then")
                return


def _within(view: View, missing: list[Requirement], ranked: list[Ranked]) -> Iterator[ToolCall]:
    """Search within the publications that fit, for what no unread pointer promises to answer: one search for all that
    the same publications must answer, then one for each."""
    promised = {r for one in ranked if one.strong for r in one.requirements}
    queries: dict[tuple[str, ...], list[str]] = {}
    wider: dict[tuple[str, ...], list[str]] = {}  # consolidated laws as well, where the publications did not do
    for requirement in missing:
        fitting = fitting_publications(view, requirement)
        published = [c for c in fitting if not view.publications[c].consolidated]
        codes = tuple((published or fitting)[:6])
        if published and len(fitting) > len(published):
            wider.setdefault(tuple(fitting[:8]), []).append(detail_query(requirement))
        if requirement.id in promised or not codes:
            continue
        query = detail_query(requirement)
        if isinstance(requirement, PublicationRequired):
            query = join([query, *(view.publications[c].title for c in codes[:3])])
        if query:
            queries.setdefault(codes, []).append(query)
    why = "look for it where it must stand"
    for codes, asked in queries.items():
        yield ToolCall("search_evidence", evidence_arguments(join(asked[:4]), codes), why)
    for codes, asked in (*queries.items(), *wider.items()):
        for query in dict.fromkeys(asked):
            if query:
                yield ToolCall("search_evidence", evidence_arguments(query, codes), why)


def _first_searches(view: View, missing: list[Requirement]) -> Iterator[ToolCall]:
    for requirement in missing:
        arguments = next(searches(requirement, view.question), None)
        if arguments is not None:
            yield ToolCall("search_documents", arguments, f"find a source for {requirement.label}"[:120])


def _wider(view: View, missing: list[Requirement]) -> Iterator[ToolCall]:
    """Relax the windows and the filters, then drop words; round robin over what is missing."""
    ladders = [list(searches(r, view.question))[1:] for r in missing[:8]]
    for step in range(max((len(ladder) for ladder in ladders), default=0)):
        for ladder in ladders:
            if step < len(ladder):
                yield ToolCall("search_documents", ladder[step], "search more widely")


def _neighbours(
    view: View, missing: list[Requirement], prepared: Mapping[int, PreparedPassage]
) -> Iterator[ToolCall]:
    """Finish a list or a provision: read on from the passages that hold a part of it."""
    lists = (ItemRequired, ListRequired, ProvisionRequired)
    supporting = [i for r in _all(view) if isinstance(r, lists) for i in view.support.get(r.id, ())]
    if any(isinstance(r, lists) for r in missing):
        for chunk_id in dict.fromkeys(supporting or view.passages):
            yield ToolCall("read_chunks", {"chunk_ids": [chunk_id], "neighbor_window": 1}, "read on in the list")
    for requirement in missing:
        if view.coverage.get(requirement.id) is Status.READ:
            codes = fitting_publications(view, requirement)
            near = [i for i, p in prepared.items() if p.passage.publication.code in codes]
            for chunk_id in near[:2]:
                yield ToolCall("read_chunks", {"chunk_ids": [chunk_id], "neighbor_window": 1}, "read around it")


def _browse(view: View, missing: list[Requirement]) -> Iterator[ToolCall]:
    """The outline of the publications that fit, page by page."""
    for requirement in missing:
        for code in fitting_publications(view, requirement)[:2]:
            pages = [
                p for p in view.history if p.tool == "browse_document" and p.arguments.get("publication") == code
            ]
            total = max((int(p.envelope.get("total") or 0) for p in pages), default=1)
            shown = sum(int(p.envelope.get("returned") or 0) for p in pages)
            if shown < total and len(pages) < MAX_PAGES:
                yield ToolCall("browse_document", {"publication": code, "offset": shown}, "look at its outline")
