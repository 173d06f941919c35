"""The result of a run as other programs read it: `dofrag.result/1`, one shape however the run ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dofrag.agent.contested import positions
from dofrag.agent.listed import listed
from dofrag.agent.loop import End, Run
from dofrag.coverage.compose import compose_answer, partial_claims
from dofrag.domain.corpus import Passage
from dofrag.domain.evidence import NO_PREMISE, Claim
from dofrag.domain.question import Requirement, Status, SubQuestion
from dofrag.domain.run import ENDS, Reason, TerminalState
from dofrag.text.shown import shown
from dofrag.tools.results import shorten
from dofrag.tools.session import SearchRecord
from dofrag.trace.codec import jsonable
from dofrag.trace.events import RunFinished

SCHEMA = "dofrag.result/1"
SHOWN = 20
"""Titles of what was listed and not read that a report names."""

Json = dict[str, Any]


def build_result(run: Run, end: End) -> Json:
    """Everything of contracts §3 but the two fields about the trace, which exist only once it is closed."""
    state, closure = ENDS[end.reason]
    answered = dict(end.verdict.answered) if end.verdict is not None else {}
    claims = _claims(run, end)
    citations = list(dict.fromkeys(c.chunk_id for claim in claims for c in claim.citations))
    coverage = [_sub_question(s, run, end, answered) for s in run.sub_questions]
    premise = end.verdict.premise if end.verdict is not None else NO_PREMISE
    first, last = run.setup.corpus.dates
    contested = positions(run.sub_questions, run.prepared, claims) if end.reason is Reason.CLOSED_CONTESTED else ()
    return {
        "schema": SCHEMA,
        "run_id": run.setup.run_id,
        "corpus": run.setup.corpus.name,
        "question": run.question.text,
        "as_of": run.question.as_of.isoformat(),
        "terminal_state": str(state),
        "closure": str(closure),
        "reason": str(end.reason),
        "answer": _answer(end, state, claims, citations),
        "claims": [jsonable(c) for c in claims],
        "citations": citations,
        "sources": [_source(run, run.session.passages[chunk_id]) for chunk_id in citations],
        "premise": {"status": str(premise.status), "correction": premise.correction},
        "positions": [jsonable(p) for p in contested],
        "limitations": [shown(line) for line in _limitations(run, end, citations)],
        "options": [shown(option) for option in end.options],
        "coverage": coverage,
        "searched": [_search(r) for r in run.session.searched],
        "rejections": [
            {"turn": turn, "faults": [shown(f.message) for f in faults]} for turn, faults in run.rejections
        ],
        "rejected_citations": list(run.rejected_citations),
        "spend": _spend(run),
        "limits": asdict(run.setup.limits),
        "corpus_dates": {"from": first.isoformat(), "to": last.isoformat()},
        "versions": dict(run.setup.versions),
    }


def finish(run: Run, end: End) -> Json:
    """Build the result and write the trace's last events."""
    result = build_result(run, end)
    if result["terminal_state"] == TerminalState.ANSWERED:
        run.record.answered(run.budget.turns, result)
    state, closure = ENDS[end.reason]
    run.record.finished(
        RunFinished(
            terminal_state=state,
            closure=closure,
            reason=end.reason,
            message=end.message or None,
            spend=result["spend"],
            coverage=tuple(result["coverage"]),
            limitations=tuple(result["limitations"]),
            rejected_citations=tuple(result["rejected_citations"]),
        )
    )
    return result


def _claims(run: Run, end: End) -> tuple[Claim, ...]:
    """The accepted claims, or what is covered so far, quoted: a partial report owes nothing to a planner's words."""
    if end.verdict is not None:
        return end.verdict.claims
    return partial_claims(run.sub_questions, run.prepared, run.coverage.support)


def _answer(end: End, state: TerminalState, claims: Sequence[Claim], citations: Sequence[int]) -> str | None:
    if state is TerminalState.NEEDS_CLARIFICATION:
        return end.message
    if state is not TerminalState.ANSWERED:
        return None
    return compose_answer(claims, {chunk_id: n for n, chunk_id in enumerate(citations, 1)})


def _sub_question(sub: SubQuestion, run: Run, end: End, answered: Mapping[str, int]) -> Json:
    requirements = []
    statuses = []
    searched = bool(run.session.searched)
    contradicted = end.verdict.contradicted if end.verdict is not None else ()
    for requirement in sub.requirements:
        status = run.coverage.status.get(requirement.id, Status.OPEN)
        support = run.coverage.support.get(requirement.id, ())
        chunk_id = next(iter(support), None)
        if requirement.id in answered:
            status, chunk_id = Status.ANSWERED, answered[requirement.id]
        elif requirement.id in contradicted:
            status = Status.CONTRADICTED
        elif status is Status.OPEN and searched:
            status = Status.NOT_FOUND
        elif (
            status is Status.SUPPORTED
            and (found := listed(run.session, requirement, run.question))
            and not found.whole
        ):
            status = Status.READ  # one of many does not stand for all that was published
        statuses.append(status)
        requirements.append(
            {
                "id": requirement.id,
                "kind": type(requirement).__name__.removesuffix("Required").lower(),
                "label": requirement.label,
                "status": str(status),
                "chunk_id": chunk_id,
            }
        )
    return {
        "id": sub.id,
        "text": sub.text,
        "origin": sub.origin,
        "status": str(_combined(statuses)),
        "requirements": requirements,
    }


def _combined(statuses: Sequence[Status]) -> Status:
    """A sub-question is as far as its least advanced requirement; what was not found outranks what is just open."""
    for status in (Status.NOT_FOUND, Status.OPEN, Status.READ, Status.CONTRADICTED, Status.SUPPORTED):
        if status in statuses:
            return status
    return Status.ANSWERED


def _source(run: Run, passage: Passage) -> Json:
    publication = passage.publication
    sample = run.setup.corpus.is_sample
    cite_as = run.setup.profile.cite_as(publication)
    return {
        "chunk_id": passage.id,
        "kind": str(publication.source_kind),
        "publication_code": publication.code,
        "title": publication.title,
        "issuer": publication.issuer,
        "publication_date": publication.published_on.isoformat(),
        "edition": publication.edition,
        "cite_as": f"EJEMPLO {cite_as}" if sample else cite_as,
        "url": None if sample else publication.url,
        "heading_path": list(passage.chunk.heading_path),
    }


def _limitations(run: Run, end: End, citations: Sequence[int]) -> list[str]:
    """What a reader must know before relying on this, each said once."""
    message = run.setup.profile.message
    first, last = run.setup.corpus.dates
    lines = []
    if run.setup.corpus.is_sample:
        lines.append(message("limitation.sample"))
    lines.append(message("limitation.reach", first=first, last=last, as_of=run.question.as_of))
    cited = [run.session.passages[chunk_id].publication for chunk_id in citations]
    lines += [message("limitation.consolidated", title=p.title) for p in _unique(cited) if p.consolidated]
    lines += [message("limitation.notice", title=p.title, notice=p.notice) for p in _unique(cited) if p.notice]
    if run.setup.profile.asks_current(run.question.text):
        queries = [str(r.arguments["query"]) for r in run.session.searched if r.arguments.get("query")]
        lines.append(
            message(
                "limitation.current", as_of=run.question.as_of, queries="; ".join(f"«{q}»" for q in queries) or "—"
            )
        )
    if end.reason is Reason.CLOSED_CONTESTED:
        lines.append(message("limitation.contested"))
    if ENDS[end.reason][0] is not TerminalState.ANSWERED:
        lines += [line for sub in run.sub_questions for r in sub.requirements for line in _left_out(run, r)]
    if end.reason is Reason.NOT_IN_CORPUS:
        lines.append(message("limitation.not_in_corpus", searches=len(run.session.searched)))
    lines.append(message("limitation.gazette"))
    return lines


def _left_out(run: Run, requirement: Requirement) -> list[str]:
    """How much of a day was listed and read, and what was not."""
    found = listed(run.session, requirement, run.question)
    if found is None or found.whole:
        return []
    titles = "; ".join(f"«{shorten(title, 90)}»" for title in found.unread[:SHOWN])
    more = len(found.unread) - SHOWN
    names = f"{titles}; …" if more > 0 else titles or "—"
    message = run.setup.profile.message
    return [message("limitation.listed", total=found.total, listed=found.listed, read=found.read, unread=names)]


def _unique(publications: Sequence[Any]) -> list[Any]:
    return list({p.code: p for p in publications}.values())


def _search(record: SearchRecord) -> Json:
    """What was looked for: words, publication dates, issuer, kind, the total, and which publications."""
    arguments = record.arguments
    return {
        "tool": record.tool,
        "query": arguments.get("query"),
        "from": arguments.get("date_from"),
        "to": arguments.get("date_to"),
        "issuer": arguments.get("issuer"),
        "kind": arguments.get("kind"),
        "total": record.total,
        "publications": list(record.codes),
    }


def _spend(run: Run) -> Json:
    spend = run.budget.spend(run.session.read_tokens)
    return {
        "turns": spend.turns,
        "tool_calls": spend.tool_calls,
        "read_tokens": spend.read_tokens,
        "cost_units": spend.cost_units,
        "latency_ms": spend.latency_ms,
        "input_tokens": spend.input_tokens,
        "output_tokens": spend.output_tokens,
        "cost": spend.cost,
        "elapsed_ms": spend.elapsed_ms,
    }
