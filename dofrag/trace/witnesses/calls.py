"""Calls and what they brought back: pairs, envelopes, what was shown, what was read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from dofrag.domain.corpus import Passage
from dofrag.text.tokens import estimate_tokens
from dofrag.trace.events import EXCERPT_MAX, PassageRead, RunStarted, ToolCalled, ToolReturned
from dofrag.trace.problems import PassageOf, ProblemCode, Say, as_id, objects
from dofrag.trace.redact import masks, redact

READS = "read_chunks"
SEARCH_BOX = "search_evidence"
"""Reads what it finds, in the arms of an experiment that have no other tool."""


class Calls:
    """Follows calls. `read` holds the passages by chunk id; `spent` the tariff of all that ran, by name."""

    def __init__(self, say: Say, passage_of: PassageOf | None) -> None:
        self._say = say
        self._passage_of = passage_of
        self._start: RunStarted | None = None
        self._made: dict[str, ToolCalled] = {}
        self._open: set[str] = set()
        self._seen: set[int] = set()
        self._awaited: dict[tuple[int, str], None] = {}
        self._reader = ""
        self.read: dict[int, PassageRead] = {}
        self.ran: list[str] = []
        self.spent = {"cost_units": 0, "latency_ms": 0}

    def started(self, event: RunStarted) -> None:
        self._start = event
        if event.corpus_dates is not None and event.corpus_dates.last > event.as_of:
            self._say(
                ProblemCode.CUT_OFF, f"the corpus reaches to {event.corpus_dates.last}, the run to {event.as_of}"
            )

    def called(self, event: ToolCalled) -> None:
        if event.call_id in self._made:
            self._say(ProblemCode.CALL_PAIRS, f"call {event.call_id} is made twice")
        elif event.call_id != f"c{len(self._made) + 1}":
            self._say(ProblemCode.CALL_PAIRS, f"call {event.call_id} is number {len(self._made) + 1} of the run")
        self._made[event.call_id] = event
        self._open.add(event.call_id)

    def returned(self, event: ToolReturned) -> None:
        call = self._made.get(event.call_id)
        if event.call_id not in self._open or call is None or call.tool != event.tool:
            self._say(ProblemCode.CALL_PAIRS, f"return of {event.tool} {event.call_id}, which was not called")
        self._open.discard(event.call_id)
        envelope = event.envelope
        own = {"tool": event.tool, "call_id": event.call_id, "ok": event.ok}
        if any(envelope.get(name) != value for name, value in own.items()):
            self._say(ProblemCode.CALL_PAIRS, f"the envelope of {event.call_id} is that of another call")
        if not event.ok:
            return
        self.ran.append(event.tool)
        charged = envelope.get("charged")
        for name in self.spent:
            cost = charged.get(name) if isinstance(charged, Mapping) else None
            self.spent[name] += cost if isinstance(cost, int) else 0
        self._envelope(event.call_id, envelope)
        results = objects(envelope.get("results"))
        if event.tool == READS or (event.tool == SEARCH_BOX and self._start and self._start.tools != "core"):
            self._reads(event.call_id, call, results, chosen=event.tool == READS)
        else:
            self._seen |= {i for r in results for one in (r, *objects(r.get("passages")), *objects(r.get("also")))
                           if (i := as_id(one.get("chunk_id"))) is not None}  # fmt: skip

    def _envelope(self, call_id: str, envelope: Mapping[str, Any]) -> None:
        results, total = envelope.get("results"), envelope.get("total")
        count = len(results) if isinstance(results, list) else None
        if (
            envelope.get("returned") != count
            or not isinstance(total, int)
            or total < (count or 0)
            or envelope.get("insufficient") is not (not count)
        ):
            self._say(ProblemCode.COUNTS, f"{call_id} says {envelope.get('returned')} of {total}, and holds {count}")
        if self._start is None:
            return
        if envelope.get("as_of") != self._start.as_of.isoformat():
            self._say(ProblemCode.CUT_OFF, f"{call_id} looked as of {envelope.get('as_of')}, not {self._start.as_of}")
        if envelope.get("versions") != self._start.versions:
            self._say(ProblemCode.SOURCE, f"{call_id} was answered by another index or program than the run names")
        sources = envelope.get("sources")
        for code, source in sources.items() if isinstance(sources, Mapping) else ():
            day = source.get("date") if isinstance(source, Mapping) else None
            if not isinstance(day, str) or day > self._start.as_of.isoformat():
                self._say(ProblemCode.CUT_OFF, f"{call_id} shows {code} of {day}, after {self._start.as_of}")
        named = {r["publication"] for r in objects(results) if isinstance(r.get("publication"), str)}
        if isinstance(sources, Mapping) and (gone := sorted(named - sources.keys())):
            self._say(ProblemCode.SOURCE, f"{call_id} tells nothing of publication {', '.join(gone)}")

    def _reads(
        self, call_id: str, call: ToolCalled | None, results: list[Mapping[str, Any]], *, chosen: bool
    ) -> None:
        """Each passage has an event of its own; and what was `chosen` was shown before, or stands beside it."""
        arguments = call.arguments if call is not None and isinstance(call.arguments, Mapping) else {}
        asked = arguments.get("chunk_ids")
        wanted = {int(i) for i in asked if isinstance(i, int | float)} if isinstance(asked, list) else set()
        for unseen in sorted(wanted - self._seen - self.read.keys()):
            self._say(ProblemCode.PASSAGE, f"chunk {unseen} is read, and no call had shown it")
        self._reader = call_id
        for result in results:
            chunk_id = as_id(result.get("chunk_id"))
            beside = not chosen or bool(arguments.get("neighbor_window"))
            if chunk_id is None or (chunk_id not in wanted and not beside):
                self._say(ProblemCode.PASSAGE, f"{call_id} brings chunk {chunk_id}, which was not asked for")
            else:
                self._awaited[chunk_id, str(result.get("publication"))] = None

    def passage(self, event: PassageRead) -> None:
        if event.chunk_id in self.read:
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} is read a second time")
        if event.call_id not in self._made:
            self._say(
                ProblemCode.PASSAGE, f"chunk {event.chunk_id} is read by call {event.call_id}, which was not made"
            )
        elif event.call_id != self._reader or (event.chunk_id, event.publication) not in self._awaited:
            self._say(
                ProblemCode.PASSAGE,
                f"chunk {event.chunk_id} of {event.publication} is not what {event.call_id} brought back",
            )
        else:
            del self._awaited[event.chunk_id, event.publication]
        self.read[event.chunk_id] = event
        self._excerpt(event)
        if self._passage_of is not None:
            self._stored(event, self._passage_of(event.chunk_id))

    def settled(self) -> None:
        """Nothing else happens before all that a call brought was read."""
        for chunk_id, _ in self._awaited:
            self._say(ProblemCode.PASSAGE, f"{self._reader} brought chunk {chunk_id}, and its reading is missing")
        self._awaited.clear()

    def _excerpt(self, event: PassageRead) -> None:
        """The excerpt of a short passage is all of it, and has its hash."""
        whole = min(event.chars, EXCERPT_MAX)
        if len(event.excerpt) != whole:
            if not masks(event.excerpt, whole):
                self._say(
                    ProblemCode.PASSAGE, f"the excerpt of chunk {event.chunk_id} is not of the length it must have"
                )
        elif event.chars <= EXCERPT_MAX and _sha(event.excerpt) != event.sha256:
            self._say(ProblemCode.PASSAGE, f"the text of chunk {event.chunk_id} is not that of its hash")
        if event.tokens != estimate_tokens("x" * min(event.chars, EXCERPT_MAX)) and event.chars <= EXCERPT_MAX:
            self._say(ProblemCode.COUNTS, f"chunk {event.chunk_id} was charged with {event.tokens} tokens")

    def _stored(self, event: PassageRead, passage: Passage | None) -> None:
        if passage is None:
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} is not in the index")
            return
        text = passage.text
        if _sha(text) != event.sha256 or len(text) != event.chars:
            self._say(ProblemCode.PASSAGE, f"chunk {event.chunk_id} has another text in the index")
        elif event.excerpt not in (text[:EXCERPT_MAX], redact(text[:EXCERPT_MAX])):
            self._say(ProblemCode.PASSAGE, f"the excerpt of chunk {event.chunk_id} is not how the index has it begin")
        elif estimate_tokens(text) != event.tokens:
            self._say(ProblemCode.COUNTS, f"chunk {event.chunk_id} was charged with {event.tokens} tokens")
        if passage.publication.code != event.publication:
            self._say(
                ProblemCode.SOURCE,
                f"chunk {event.chunk_id} is of {passage.publication.code}, not {event.publication}",
            )

    def finished(self, broken_off: bool) -> None:
        """A run that something broke off may have been in the middle of a call."""
        if broken_off:
            return
        self.settled()
        for call_id in sorted(self._open):
            self._say(ProblemCode.CALL_PAIRS, f"call {call_id} has no return")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
