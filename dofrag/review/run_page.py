"""A trace as a page of a run: read once, every part of it bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dofrag.domain.corpus import Publication
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.errors import TraceError
from dofrag.review.compare import unquoted
from dofrag.review.events import CLAIMS_MAX, read_events
from dofrag.review.passages import SAMPLE_NAME, Known, Shelf, Shown, Source, Texts, fetch, in_context, make_source
from dofrag.review.shapes import (
    ClaimView,
    DraftView,
    Evidence,
    Json,
    Part,
    Quote,
    Requirement,
    RunPage,
    number,
    obj,
    objs,
    text,
    texts,
)
from dofrag.review.timeline import timeline
from dofrag.trace.codec import Record
from dofrag.trace.events import (
    Answered,
    CitationRejected,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    LimitReached,
    PassageRead,
    RunFinished,
    RunStarted,
    ToolReturned,
)
from dofrag.trace.verify import ProblemCode, verify

EVENTS_MAX = 2_000
PASSAGES_MAX = 200
CITATIONS_MAX = 400
CHANGES_MAX = 5_000
PROBLEMS_MAX = 30
DRAFTS_MAX = 20
LABEL_MAX = 400
QUOTE_SHOWN = 1_200
REQUIREMENTS_MAX = 300
VERIFIED_MAX = 16_000_000
"""Bytes of a trace that is verified while its reader waits; a longer one is left to `dof trace verify`."""
FULL_TEXT_MAX = 160_000
"""Characters of whole passages on one page; beyond, a passage shows its beginning."""
BEGINNING = 300


def load_run(
    path: Path, shelves: Sequence[Shelf], cite_as: Callable[[Publication], str], partial: object = None
) -> RunPage:
    """The page of a trace. `partial` are the claims of a run without an answer, as its campaign kept them.

    Raises TraceError for a file that does not begin as a trace, UsageError for none."""
    records, faults, truncated = read_events(path, EVENTS_MAX)
    if not records or not isinstance(records[0].event, RunStarted):
        raise TraceError(f"{path.name}: does not begin with run_started")
    reading = _Reading(records, shelves, cite_as, partial)
    checked = path.stat().st_size <= VERIFIED_MAX
    return reading.page(faults, truncated, checked, _problems(path, reading.texts) if checked else ())


def _problems(path: Path, texts: Texts) -> tuple[tuple[int | None, str, str], ...]:
    """What `dof trace verify` finds; passages and quotes are held against the index where it has the run's."""
    found = verify(path, passage_of=texts.found.get if texts.found else None)
    told = (ProblemCode.NOT_FINISHED, ProblemCode.HALF_LINE)  # said in other words
    return tuple((p.line, str(p.code), text(p.message)) for p in found if p.code not in told)


class _Reading:
    """The events of one trace by kind, and the passages that belong to them."""

    def __init__(
        self,
        records: Sequence[Record],
        shelves: Sequence[Shelf],
        cite_as: Callable[[Publication], str],
        partial: object,
    ) -> None:
        self.records = records
        start = records[0].event
        assert isinstance(start, RunStarted)
        self.start = start
        end = records[-1].event
        self.end = end if isinstance(end, RunFinished) else None
        events = [r.event for r in records]
        self.answered = next((e for e in reversed(events) if isinstance(e, Answered)), None)
        self.stated = objs(self.answered.claims if self.answered else partial, CLAIMS_MAX)
        self.order = list(
            dict.fromkeys(q.chunk_id for c in self.stated for q in _quotes(c) if q.chunk_id is not None)
        )
        parts = [e for e in events if isinstance(e, Decomposed)]
        self.decomposed = parts[-1].sub_questions if parts else ()
        self.reads = list({e.chunk_id: e for e in events if isinstance(e, PassageRead)}.values())[:PASSAGES_MAX]
        read = [e.chunk_id for e in self.reads]
        cited = [c for c in self.order if c in read]
        self.texts = fetch(shelves, start.corpus, read, cited, start.as_of, start.scopes)
        self.sources = self._sources(cite_as, self.texts)
        self.cited: dict[str, set[int]] = {}
        self.changes = [c for e in events if isinstance(e, CoverageChanged) for c in e.changes][:CHANGES_MAX]
        self.last_status = {c.id: c.after for c in self.changes}

    def _sources(self, cite_as: Callable[[Publication], str], found: Texts) -> dict[int, Source]:
        numbers = {chunk: n for n, chunk in enumerate(self.answered.citations if self.answered else self.order, 1)}
        known = _known(self.records)
        return {
            e.chunk_id: make_source(e, found.found.get(e.chunk_id), known, cite_as,
                                    sample=self.start.corpus == SAMPLE_NAME, number=numbers.get(e.chunk_id),
                                    around=found.around.get(e.chunk_id, ("", "")))
            for e in self.reads
        }  # fmt: skip

    def page(
        self, faults: Sequence[str], truncated: bool, checked: bool, problems: Sequence[tuple[int | None, str, str]]
    ) -> RunPage:
        claims = self._claims()
        end = self.end
        premise = obj(self.answered.premise) if self.answered else {}
        start = self.start
        return RunPage(
            question=start.question,
            as_of=start.as_of.isoformat(),
            corpus=text(start.corpus),
            planner=text(start.planner),
            strategy=text(start.strategy),
            started=f"{self.records[0].at:%Y-%m-%d %H:%M:%S}",
            versions=start.versions,
            scopes=start.scopes,
            state=str(end.terminal_state if end else TerminalState.ABSTAINED),
            reason=str(end.reason if end else Reason.INTERRUPTED),
            closure=str(end.closure if end else Closure.INCOMPLETE),
            message=text(end.message) if end else "",
            finished=end is not None,
            answer=text(self.answered.answer) if self.answered else "",
            premise_status=text(premise.get("status")),
            correction=text(premise.get("correction")),
            claims=claims,
            partial=self.answered is None,
            parts=self._parts(),
            sources=tuple(self.sources.values()),
            passages=self._passages(),
            steps=timeline(self.records),
            drafts=self._drafts(),
            dropped=tuple((e.claim, e.chunk_id, e.code, text(e.message))
                          for e in (r.event for r in self.records) if isinstance(e, CitationRejected)),
            limits=self._limits(),
            limitations=tuple(text(x) for x in end.limitations[:50]) if end else (),
            spend=obj(end.spend) if end else {},
            faults=tuple(faults),
            checked=checked,
            problems=tuple(problems[:PROBLEMS_MAX]),
            problem_count=len(problems),
            index_faults=self.texts.faults,
            truncated=truncated,
            trace_sha256=self.records[-1].digest,
        )  # fmt: skip

    def _claims(self) -> tuple[ClaimView, ...]:
        views = []
        left = CITATIONS_MAX
        for index, claim in enumerate(self.stated):
            quotes = _quotes(claim)[: max(0, left)]
            left -= len(quotes)
            subs = tuple(texts(claim.get("sub_questions")))
            for sub in subs:
                self.cited.setdefault(sub, set()).update(q.chunk_id for q in quotes if q.chunk_id is not None)
            views.append(
                ClaimView(
                    index=index,
                    text=text(claim.get("text")),
                    said=unquoted(text(claim.get("text")), [q.quote for q in quotes], self._published(quotes)),
                    sub_questions=subs,
                    computed=_computation(obj(claim.get("computed"))),
                    evidence=tuple(self._evidence(index, quotes)),
                )
            )
        return tuple(views)

    def _published(self, quotes: Sequence[Quote]) -> set[str]:
        cited = (self.sources.get(q.chunk_id) for q in quotes if q.chunk_id is not None)
        return {source.published for source in cited if source}

    def _evidence(self, claim: int, cited: Sequence[Quote]) -> list[Evidence]:
        """The passages of one claim, each once, with all its quotes."""
        by_chunk: dict[int | None, list[Quote]] = {}
        for quote in cited:
            by_chunk.setdefault(quote.chunk_id, []).append(quote)
        found = []
        for place, (chunk, group) in enumerate(by_chunk.items()):
            source = self.sources.get(chunk) if chunk is not None else None
            marks = [(q.quote, q.start, q.end, f"c{claim + 1}q{place + 1}-{n}") for n, q in enumerate(group, 1)]
            shown = in_context(source, marks) if source else None
            found.append(
                Evidence(
                    chunk_id=chunk, source=source, shown=shown, quotes=tuple((q, anchor) for q, _, _, anchor in marks)
                )
            )
        return found

    def _passages(self) -> dict[int, Shown]:
        """Every read passage, with all quotes of the answer marked in it, until the page holds enough text."""
        marks: dict[int, list[tuple[str, object, object, str]]] = {}
        for claim in self.stated:
            for quote in _quotes(claim):
                if quote.chunk_id is not None:
                    marks.setdefault(quote.chunk_id, []).append((quote.quote, quote.start, quote.end, ""))
        shown: dict[int, Shown] = {}
        left = FULL_TEXT_MAX
        for chunk, source in self.sources.items():
            quotes = marks.get(chunk, [])[:50]
            if len(source.text) <= left:
                shown[chunk] = in_context(source, quotes, whole=True)
                left -= len(source.text)
            else:
                shown[chunk] = in_context(_beginning(source), ())
        return shown

    def _parts(self) -> tuple[Part, ...]:
        final = {text(p.get("id")): p for p in (self.end.coverage if self.end else ())}
        moved = self._moved()
        parts = []
        left = REQUIREMENTS_MAX
        for sub in objs(self.decomposed, 60) or [obj(p) for p in final.values()]:
            name = text(sub.get("id"))
            last = obj(final.get(name))
            ends = {text(r.get("id")): r for r in objs(last.get("requirements"))}
            requirements = objs(sub.get("requirements"), min(80, left))
            left -= len(requirements)
            parts.append(
                Part(
                    id=name,
                    text=text(sub.get("text")),
                    origin=text(sub.get("origin")),
                    status=text(last.get("status")) or self.last_status.get(name, "open"),
                    requirements=tuple(self._requirement(name, r, obj(ends.get(text(r.get("id")))), moved)
                                       for r in requirements),
                    premises=tuple(text(p.get("label"))[:LABEL_MAX] for p in objs(sub.get("premises"), 20)),
                )
            )  # fmt: skip
        return tuple(parts)

    def _requirement(self, sub: str, begun: Json, ended: Json, moved: Mapping[str, list[int]]) -> Requirement:
        name = text(begun.get("id"))
        cells = dict.fromkeys(self.cited.get(sub, ()), "cited")
        cells |= dict.fromkeys(moved.get(name, ()), "moved")
        status = text(ended.get("status")) or self.last_status.get(name, "open")
        chunk = number(ended.get("chunk_id"))
        if chunk is not None:
            cells[chunk] = "answers" if status in ("answered", "supported") else "moved"
        label, kind = text(begun.get("label"))[:LABEL_MAX], text(ended.get("kind"))
        return Requirement(id=name, label=label, kind=kind, status=status, cells=cells)

    def _moved(self) -> dict[str, list[int]]:
        moved: dict[str, list[int]] = {}
        for change in self.changes:
            if change.chunk_id is not None:
                moved.setdefault(change.id, []).append(change.chunk_id)
        return moved

    def _drafts(self) -> tuple[DraftView, ...]:
        found: list[DraftView] = []
        proposed: Json = {}
        for event in (r.event for r in self.records):
            if isinstance(event, DraftProposed):
                proposed = event.draft
            elif isinstance(event, DraftRejected):
                claims = tuple((text(c.get("text")), tuple(_quotes(c)[:5])) for c in objs(proposed.get("claims"), 20))
                faults = tuple((text(f.get("code")), text(f.get("where")), text(f.get("message")))
                               for f in event.faults[:60])  # fmt: skip
                found.append(DraftView(turn=event.turn, claims=claims, faults=faults))
        return tuple(found[:DRAFTS_MAX])

    def _limits(self) -> tuple[tuple[str, object, object, bool], ...]:
        """Each limit: its name, its value, what was spent of it, and whether it stopped something."""
        hit = {r.event.limit: r.event.spent for r in self.records if isinstance(r.event, LimitReached)}
        spend = obj(self.end.spend) if self.end else {}
        rows = []
        for name, most in list(self.start.limits.items())[:40]:
            spent = hit.get(name, spend.get(_SPENT.get(name, name.removeprefix("max_"))))
            rows.append((text(name), text(most), text(spent), name in hit))
        return tuple(rows)


_SPENT = {"max_tokens": "input_tokens", "wall_clock_s": ""}


def _computation(declared: Json) -> str:
    if not declared:
        return ""
    inputs = ", ".join(texts(declared.get("inputs"), 20))
    return f"{text(declared.get('operation'))}({inputs}) = {text(declared.get('result'))}"


def _quotes(claim: Json) -> list[Quote]:
    return [
        Quote(
            chunk_id=number(c.get("chunk_id")),
            quote=text(c.get("quote"))[:QUOTE_SHOWN],
            start=c.get("start"),
            end=c.get("end"),
        )
        for c in objs(claim.get("citations"), 100)
    ]


def _beginning(source: Source) -> Source:
    return replace(source, text=source.text[:BEGINNING])


def _known(records: Sequence[Record]) -> Known:
    """Titles and headings as the calls' envelopes gave them."""
    publications: dict[str, Json] = {}
    headings: dict[int, str] = {}
    for event in (r.event for r in records):
        if not isinstance(event, ToolReturned):
            continue
        for code, source in obj(event.envelope.get("sources")).items():
            publications.setdefault(text(code), obj(source))
        for result in objs(event.envelope.get("results")):
            for passage in objs(result.get("passages")) or [result]:
                chunk = number(passage.get("chunk_id"))
                if chunk is not None and passage.get("heading"):
                    headings.setdefault(chunk, text(passage["heading"]))
    return Known(publications, headings)
