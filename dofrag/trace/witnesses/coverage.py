"""Coverage: the parts of the question, every move of a status, and whether the end follows from the moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dofrag.domain.evidence import PremiseStatus
from dofrag.domain.question import Status
from dofrag.domain.run import Reason
from dofrag.trace.events import Answered, CoverageChanged, Decomposed, RunFinished, RunStarted
from dofrag.trace.problems import ProblemCode, Say, as_id, objects

_GROWS = (Status.OPEN, Status.READ, Status.SUPPORTED)
_LEAST = (Status.NOT_FOUND, Status.OPEN, Status.READ, Status.CONTRADICTED, Status.SUPPORTED, Status.ANSWERED)
"""A part is as far as the first of these that one of its requirements has."""
PARTS_MAX = 2_000
"""Parts and requirements of one question that are followed: no question has as many."""
SEARCHES = frozenset({"list_publications", "search_documents", "search_evidence"})


class Coverage:
    """Follows the status of every requirement and part."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._parts: dict[str, list[str]] = {}
        self._status: dict[str, str] = {}
        self._split = 0
        self._question: str | None = None

    @property
    def parts(self) -> Collection[str]:
        """Ids of the question's parts."""
        return self._parts.keys()

    def started(self, event: RunStarted) -> None:
        self._question = event.question

    def decomposed(self, event: Decomposed) -> None:
        """The parts, or all of them again with those that a model added: before any reading, at most once."""
        if any(part.get("question", self._question) != self._question for part in event.sub_questions):
            self._say(ProblemCode.PARTS, "a part of another question than the run was asked")
        before, self._split = self._parts, self._split + 1
        self._parts = {
            str(part.get("id")): [str(r.get("id")) for r in objects(part.get("requirements"))]
            for part in event.sub_questions
        }
        kept = list(self._parts.items())[: len(before)]
        if not self._parts or not all(self._parts.values()):
            self._say(ProblemCode.PARTS, "a question has at least one part, and a part at least one requirement")
        if self._split > 2 or (before and (kept != list(before.items()) or len(self._parts) == len(before))):
            self._say(ProblemCode.PARTS, "the question is split again, and no part is added to those there were")
        ids = [i for part, own in self._parts.items() for i in (part, *own)]
        if len(set(ids)) != len(ids):
            self._say(ProblemCode.PARTS, "two parts or requirements have one id")
        if len(ids) > PARTS_MAX:
            self._say(ProblemCode.PARTS, f"{len(ids):,} parts and requirements: no question has as many")
            self._parts, ids = {}, []
        self._status = dict.fromkeys(ids, str(Status.OPEN))

    def changed(self, event: CoverageChanged, read: Collection[int]) -> None:
        for change in event.changes:
            if self._status.get(change.id) != change.before or change.before == change.after:
                self._say(
                    ProblemCode.COVERAGE,
                    f"{change.id} goes from {change.before} to {change.after}; it was {self._status.get(change.id)}",
                )
            if change.id in self._parts:
                support = change.chunk_id is None
            else:
                support = (change.chunk_id is not None) is (change.after == Status.SUPPORTED)
            if not support or (change.chunk_id is not None and change.chunk_id not in read):
                self._say(
                    ProblemCode.COVERAGE,
                    f"{change.id} is {change.after} by chunk {change.chunk_id}, not by what was read",
                )
            self._status[change.id] = change.after
        own = [i for ids in self._parts.values() for i in ids]
        supported = sum(self._status[i] == Status.SUPPORTED for i in own)
        if (event.supported, event.total) != (supported, len(own)):
            self._say(
                ProblemCode.COUNTS,
                f"{event.supported} of {event.total} requirements supported; the changes make {supported} of"
                f" {len(own)}",
            )
        for part, ids in self._parts.items():
            if self._status[part] != min((self._status[i] for i in ids), key=_rank, default=self._status[part]):
                self._say(ProblemCode.COVERAGE, f"{part} is {self._status[part]}, and its requirements are not")

    def finished(
        self, event: RunFinished, answer: Answered | None, read: Collection[int], ran: Collection[str]
    ) -> None:
        """What the end says of every requirement is what the changes made of it, or what ending makes of that."""
        searched = bool(SEARCHES.intersection(ran))
        told = {str(p.get("id")): p for p in event.coverage}
        if list(told) != list(self._parts):
            self._say(ProblemCode.COVERAGE, "the parts at the end are not those that the question was split into")
            return
        for part, ids in self._parts.items():
            rows = objects(told[part].get("requirements"))
            if [r.get("id") for r in rows] != ids:
                self._say(
                    ProblemCode.COVERAGE, f"the requirements of {part} at the end are not those of the question"
                )
                continue
            for row in rows:
                self._row(part, row, answer, read, searched)
            least = next((s for s in _LEAST if s in [r.get("status") for r in rows]), None)
            if told[part].get("status") != least:
                self._say(
                    ProblemCode.COVERAGE,
                    f"{part} is {told[part].get('status')} at the end, and its requirements make {least}",
                )
        if event.reason is Reason.NOT_IN_CORPUS and any(s != Status.OPEN for s in self._status.values()):
            self._say(ProblemCode.END_STATE, "not_in_corpus, and something that bears on the question was read")

    def _row(
        self, part: str, row: Mapping[str, Any], answer: Answered | None, read: Collection[int], searched: bool
    ) -> None:
        before, status, chunk_id = self._status[str(row["id"])], row.get("status"), as_id(row.get("chunk_id"))
        if answer is not None:
            self._closed(part, row, answer)
            return
        ends = {
            Status.OPEN: (Status.NOT_FOUND if searched else Status.OPEN,),
            Status.READ: (Status.READ,),
            Status.SUPPORTED: (Status.SUPPORTED, Status.READ),
        }.get(Status(before), ())
        if status not in ends:
            self._say(ProblemCode.COVERAGE, f"{row['id']} is {status} at the end, and was {before}")
        elif (chunk_id is not None) is not (before == Status.SUPPORTED) or chunk_id not in (None, *read):
            self._say(ProblemCode.COVERAGE, f"{row['id']} is {status} by chunk {chunk_id}, not by what was read")

    def _closed(self, part: str, row: Mapping[str, Any], answer: Answered) -> None:
        """Every requirement of an answered run is answered by what was cited, or falls with a corrected premise."""
        status, chunk_id = row.get("status"), as_id(row.get("chunk_id"))
        if status == Status.ANSWERED:
            if chunk_id is None or chunk_id not in _cited_for(answer, part):
                self._say(
                    ProblemCode.COVERAGE, f"{row['id']} is answered by {chunk_id}, which no claim for {part} cites"
                )
            if self._status[str(row["id"])] != Status.SUPPORTED:
                self._say(ProblemCode.COVERAGE, f"{row['id']} is answered, and nothing that was read supported it")
        elif status != Status.CONTRADICTED or answer.premise.get("status") != PremiseStatus.FALSE:
            self._say(ProblemCode.END_STATE, f"answered, and {row['id']} is {status}")


def _cited_for(answer: Answered, part: str) -> set[int | None]:
    return {
        as_id(c.get("chunk_id"))
        for claim in answer.claims
        if part in (claim.get("sub_questions") or ())
        for c in objects(claim.get("citations"))
    } - {None}


def _rank(status: str) -> int:
    return next((n for n, s in enumerate(_GROWS) if s == status), len(_GROWS))
