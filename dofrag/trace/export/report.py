"""What every export says, whatever its format: so that [2] is the same passage in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.text.language import language_of
from dofrag.trace.problems import as_id, objects
from dofrag.trace.trajectory import Call, Trajectory

SCHEMA = "dofrag.report/1"

Json = dict[str, Any]
Cite = Callable[[int, str, Mapping[str, Any]], tuple[str | None, str | None]]
"""Chunk id, publication code and what an envelope told of it → how it is cited, and its official page."""


def uncited(chunk_id: int, code: str, source: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Of a gazette that is not known: neither."""
    return None, None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A cited passage under its number. `excerpt` is how it begins, `chars` how long it is."""

    number: int
    chunk_id: int
    publication: str
    title: str
    issuer: str
    date: str
    edition: str | None
    kind: str
    cite_as: str | None
    url: str | None
    sha256: str | None
    chars: int | None
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote with the number of its source, and where it stands in that passage's text."""

    number: int | None
    chunk_id: int | None
    quote: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """A sentence of the answer, what it answers, and its quotes. `numbers` are those behind it in the answer."""

    text: str
    sub_questions: tuple[str, ...]
    numbers: tuple[int, ...]
    quotes: tuple[Quote, ...]
    computed: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementLine:
    """One row of the coverage table."""

    part: str
    part_text: str
    id: str
    label: str
    status: str
    number: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """One call. `outcome` is "ok", an error code, or "" where the run was broken off in the middle of it."""

    turn: int
    call_id: str
    tool: str
    arguments: Any
    why: str
    outcome: str
    total: int | None
    read: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A draft that was refused, and why."""

    turn: int
    faults: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run as others read it. `answer` is null unless the run ended answered."""

    run_id: str
    question: str
    language: str
    as_of: str
    corpus: str
    planner: str
    started_at: str
    terminal_state: str
    closure: str
    reason: str
    message: str | None
    interrupted: bool
    unreadable: tuple[int, ...]
    answer: str | None
    premise: Mapping[str, Any] | None
    claims: tuple[ClaimLine, ...]
    sources: tuple[Source, ...]
    coverage: tuple[RequirementLine, ...]
    calls: tuple[CallLine, ...]
    rejections: tuple[Rejection, ...]
    limitations: tuple[str, ...]
    spend: Mapping[str, Any]
    versions: Mapping[str, Any]
    trace_sha256: str


def make_report(run: Trajectory, cite: Cite = uncited) -> Report:
    """The report of a trajectory."""
    numbers = {chunk_id: n for n, chunk_id in enumerate(run.cited, 1)}
    finish = run.finish
    return Report(
        run_id=run.run_id,
        question=run.start.question,
        language=language_of(run.start.question),
        as_of=run.start.as_of.isoformat(),
        corpus=run.start.corpus,
        planner=run.start.planner,
        started_at=run.started_at.isoformat(timespec="seconds"),
        terminal_state=str(run.terminal_state),
        closure=str(run.closure),
        reason=str(run.reason),
        message=finish.message if finish else None,
        interrupted=run.interrupted,
        unreadable=tuple(line.number for line in run.unreadable),
        answer=run.answer.answer if run.answer else None,
        premise=run.answer.premise if run.answer else None,
        claims=tuple(_claim(claim, numbers) for claim in run.answer.claims) if run.answer else (),
        sources=tuple(_source(run, chunk_id, n, cite) for chunk_id, n in numbers.items()),
        coverage=tuple(_coverage(run, numbers)),
        calls=tuple(_call(call) for call in run.calls),
        rejections=tuple(
            Rejection(turn=d.turn, faults=tuple(d.faults)) for d in run.drafts if d.verdict == "rejected"
        ),
        limitations=finish.limitations if finish else (),
        spend=finish.spend if finish else {},
        versions=run.start.versions,
        trace_sha256=run.last_hash,
    )


def _claim(claim: Mapping[str, Any], numbers: Mapping[int, int]) -> ClaimLine:
    quotes = tuple(_quote(c, numbers) for c in objects(claim.get("citations")))
    computed = claim.get("computed")
    return ClaimLine(
        text=str(claim.get("text") or ""),
        sub_questions=_texts(claim.get("sub_questions")),
        numbers=tuple(sorted({q.number for q in quotes if q.number is not None})),
        quotes=quotes,
        computed=computed if isinstance(computed, Mapping) else None,
    )


def _quote(citation: Mapping[str, Any], numbers: Mapping[int, int]) -> Quote:
    chunk_id = as_id(citation.get("chunk_id"))
    return Quote(
        number=numbers.get(chunk_id) if chunk_id is not None else None,
        chunk_id=chunk_id,
        quote=str(citation.get("quote") or ""),
        start=as_id(citation.get("start")),
        end=as_id(citation.get("end")),
    )


def _source(run: Trajectory, chunk_id: int, number: int, cite: Cite) -> Source:
    """A chunk that was never read has a number like any other: what is not known of it stays empty."""
    passage = run.passages.get(chunk_id)
    code = passage.publication if passage else ""
    told = run.sources.get(code, {})
    cite_as, url = cite(chunk_id, code, told) if passage else (None, None)
    edition = told.get("edition")
    return Source(
        number=number,
        chunk_id=chunk_id,
        publication=code,
        title=str(told.get("title") or ""),
        issuer=str(told.get("issuer") or ""),
        date=str(told.get("date") or ""),
        edition=str(edition) if edition else None,
        kind=str(told.get("kind") or ""),
        cite_as=cite_as,
        url=url,
        sha256=passage.sha256 if passage else None,
        chars=passage.chars if passage else None,
        excerpt=passage.excerpt if passage else "",
    )


def _coverage(run: Trajectory, numbers: Mapping[int, int]) -> Sequence[RequirementLine]:
    return [
        RequirementLine(
            part=str(part.get("id")),
            part_text=str(part.get("text") or ""),
            id=str(row.get("id")),
            label=str(row.get("label") or ""),
            status=str(row.get("status")),
            number=numbers.get(i) if (i := as_id(row.get("chunk_id"))) is not None else None,
        )
        for part in run.coverage
        for row in objects(part.get("requirements"))
    ]


def _call(call: Call) -> CallLine:
    error = call.error
    outcome = "ok" if call.ok else str(error.get("code")) if error else ""
    return CallLine(
        turn=call.asked.turn,
        call_id=call.asked.call_id,
        tool=call.asked.tool,
        arguments=call.asked.arguments,
        why=call.asked.why,
        outcome=outcome,
        total=as_id(call.envelope.get("total")),
        read=tuple(p.chunk_id for p in call.passages),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()
