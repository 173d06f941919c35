"""Drafts: each is refused with reasons, or accepted; what is accepted was proposed, and stands where it says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dofrag.domain.evidence import FaultCode, PremiseStatus
from dofrag.domain.run import Reason
from dofrag.text.fold import fold_chars, fold_with_map
from dofrag.trace.codec import CUT, CUT_MARGIN, STRING_KEPT, STRING_MAX
from dofrag.trace.events import (
    EXCERPT_MAX,
    Answered,
    CitationRejected,
    DraftProposed,
    DraftRejected,
    PassageRead,
    RunFinished,
)
from dofrag.trace.problems import PassageOf, ProblemCode, Say, as_id, objects
from dofrag.trace.redact import REDACTED, masks, redact

_DROPS = (FaultCode.NOT_READ, FaultCode.UNKNOWN_CITATION, FaultCode.IRRELEVANT_CITATION)
"""Faults for which a chunk counts as wrongly cited: it was never read, or supports nothing."""


class Drafts:
    """Follows drafts up to their verdict."""

    def __init__(self, say: Say, passage_of: PassageOf | None) -> None:
        self._say = say
        self._passage_of = passage_of
        self._pending: DraftProposed | None = None
        self._dropped: list[CitationRejected] = []
        self._rejected: dict[int, None] = {}
        self.answer: Answered | None = None

    def proposed(self, event: DraftProposed) -> None:
        self._pending = event

    def citation(self, event: CitationRejected) -> None:
        self._dropped.append(event)
        if self._pending is None or self._pending.turn != event.turn:
            self._say(ProblemCode.DRAFTS, "a citation is dropped, and no draft was proposed")

    def rejected(self, event: DraftRejected) -> None:
        if self._pending is None or self._pending.turn != event.turn:
            self._say(ProblemCode.DRAFTS, "a draft is refused that was not proposed")
        if not event.faults:
            self._say(ProblemCode.DRAFTS, "a draft is refused for nothing")
        named = [(f.get("where"), f.get("chunk_id"), f.get("code"), f.get("message"))
                 for f in event.faults if f.get("chunk_id") is not None]  # fmt: skip
        if named != [(d.claim, d.chunk_id, d.code, d.message) for d in self._dropped]:
            self._say(
                ProblemCode.DRAFTS, "the citations that were dropped are not those that the draft is refused for"
            )
        gone = {i for f in event.faults if f.get("code") in _DROPS and (i := as_id(f.get("chunk_id"))) is not None}
        self._rejected.update(dict.fromkeys(sorted(gone)))
        self._pending, self._dropped = None, []

    def settled(self, what: str) -> None:
        """Nothing else happens while a draft waits for its verdict."""
        if self._pending is not None:
            self._say(ProblemCode.DRAFTS, f"{what} after a draft that was neither refused nor accepted")
            self._pending = None
        self._dropped = []

    def answered(self, event: Answered, read: Mapping[int, PassageRead], parts: Collection[str]) -> None:
        if self.answer is not None:
            self._say(ProblemCode.DRAFTS, "a second answer")
        self.answer = event
        if self._pending is None or self._pending.turn != event.turn:
            self._say(ProblemCode.DRAFTS, "an answer, and the draft that was accepted is missing")
        elif not _same(self._pending.draft, event):
            self._say(ProblemCode.DRAFTS, "the answer is not the draft that was accepted")
        self._pending = None
        for claim in event.claims:
            cited = objects(claim.get("citations"))
            if not cited:
                self._say(ProblemCode.CITED_NOT_READ, "a claim without a citation")
            named = claim.get("sub_questions")
            if parts and not (isinstance(named, list) and named and {str(n) for n in named} <= set(parts)):
                self._say(ProblemCode.PARTS, f"a claim answers {named}, which the question does not have")
            for citation in cited:
                self._quote(citation, read)
        self._numbers(event)

    def _numbers(self, event: Answered) -> None:
        """Numbers go by first citation, and stand behind each claim in the text of the answer."""
        cited = [i for claim in event.claims for c in objects(claim.get("citations"))
                 if (i := as_id(c.get("chunk_id"))) is not None]  # fmt: skip
        ids = list(dict.fromkeys(cited))
        if ids != list(event.citations):
            code = ProblemCode.CITATION_NUMBERS if set(ids) == set(event.citations) else ProblemCode.COUNTS
            self._say(code, "`citations` are not the chunks that the claims cite, in order of first citation")
            return
        lines = []
        for claim in event.claims:
            own = {ids.index(i) + 1 for c in objects(claim.get("citations")) if (i := as_id(c.get("chunk_id")))}
            lines.append((str(claim.get("text")).strip(), "".join(f"[{n}]" for n in sorted(own))))
        if not _composed(str(event.answer), lines):
            self._say(
                ProblemCode.CITATION_NUMBERS,
                "the answer's text is not its claims with the numbers of their citations",
            )

    def _quote(self, citation: Mapping[str, Any], read: Mapping[int, PassageRead]) -> None:
        chunk_id = as_id(citation.get("chunk_id"))
        passage = read.get(chunk_id) if chunk_id is not None else None
        quote, start, end = citation.get("quote"), citation.get("start"), citation.get("end")
        if passage is None:
            self._say(
                ProblemCode.CITED_NOT_READ, f"chunk {str(citation.get('chunk_id'))[:40]} is cited, and was never read"
            )
            return
        if not (isinstance(quote, str) and type(start) is int and type(end) is int and 0 <= start < end):
            self._say(ProblemCode.QUOTE, f"a citation of chunk {passage.chunk_id} has no span")
            return
        if end > passage.chars:
            self._say(ProblemCode.QUOTE, f"a quote ends at {end} of {passage.chars} characters of {passage.chunk_id}")
            return
        if len(quote) != end - start and not masks(quote, end - start):
            self._say(ProblemCode.QUOTE, f"a quote of {len(quote)} characters at {start}–{end} of {passage.chunk_id}")
            return
        stored = self._passage_of(passage.chunk_id) if self._passage_of else None
        text = stored.text if stored else None
        # Without a store, only what the excerpt shows can be checked.
        if text is None and end <= len(passage.excerpt) == min(passage.chars, EXCERPT_MAX):
            text = passage.excerpt
        if (
            text is not None
            and quote not in (text[start:end], redact(text[start:end]))
            and (_level(text[start:end]) != _level(quote))
        ):
            self._say(ProblemCode.QUOTE, f"a quote does not stand at {start}–{end} of chunk {passage.chunk_id}")

    def finished(self, event: RunFinished, broken_off: bool) -> None:
        if not broken_off and event.reason is not Reason.PREMISE_UNCLEAR:
            self.settled("the end")
        if list(self._rejected) != list(event.rejected_citations) and not broken_off:
            self._say(ProblemCode.DRAFTS, "`rejected_citations` are not what the drafts were refused for")
        if (event.terminal_state == "answered") is (self.answer is None):
            self._say(
                ProblemCode.END_STATE,
                f"{event.terminal_state}, and answered is {'missing' if not self.answer else 'there'}",
            )
        if self.answer is not None:
            false = self.answer.premise.get("status") == PremiseStatus.FALSE
            if false is not (event.reason is Reason.PREMISE_CORRECTED):
                self._say(
                    ProblemCode.END_STATE, f"{event.reason}, and the premise is {self.answer.premise.get('status')}"
                )


def _composed(answer: str, lines: Sequence[tuple[str, str]]) -> bool:
    """Whether an answer is these claims with their marks, as a trace keeps it: claims and answer were redacted each
    for itself, so that what hides the end of a claim may have taken its marks along; and a long answer is cut."""
    cut = CUT.search(answer)
    whole = [redact(f"{text} {marks}".strip()) for text, marks in lines]
    masked = any(REDACTED in line for line in whole)
    size = sum(map(len, whole)) + 2 * (len(whole) - 1)
    parts_cut = any(CUT.search(text) for text, _ in lines)
    if cut and not (masked or parts_cut or size > STRING_MAX):
        cut = None
    if cut and not parts_cut:
        # Of a text without secrets a fixed part is left; with secrets less, but then more than a margin is gone.
        usual = cut.start() == STRING_KEPT or (masked and (not cut.start() or cut.start() + CUT_MARGIN <= size + 100))
        if not usual or cut.start() + int(cut[1]) <= STRING_MAX:
            return False
    rest = answer[: cut.start()] if cut else answer
    for n, line in enumerate(whole):
        text = lines[n][0]
        after = "" if n == len(whole) - 1 else "\n\n"
        forms = [line + after, text + after] if text.endswith(REDACTED) else [line + after]
        taken = next((form for form in forms if rest.startswith(form)), None)
        if taken is None:
            return cut is not None and any(form.startswith(rest) for form in forms)
        rest = rest[len(taken) :]
    return not rest


def _same(draft: Mapping[str, Any], answer: Answered) -> bool:
    """Whether an answer says what a draft said: spans are filled in, and layout is that of the text."""
    claims = objects(draft.get("claims"))
    return (
        draft.get("premise") == answer.premise
        and len(claims) == len(answer.claims)
        and all(_same_claim(a, b) for a, b in zip(claims, answer.claims, strict=True))
    )


def _same_claim(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    ours, theirs = objects(a.get("citations")), objects(b.get("citations"))
    return (
        all(a.get(name) == b.get(name) for name in ("text", "sub_questions", "computed"))
        and len(ours) == len(theirs)
        and all(
            x.get("chunk_id") == y.get("chunk_id") and _bare(x.get("quote")) == _bare(y.get("quote"))
            for x, y in zip(ours, theirs, strict=True)
        )
    )


def _bare(quote: Any) -> str:
    """Letters and digits: how a quote is laid out is that of the text, whatever the draft had."""
    return "".join(c for c in fold_chars(str(quote)) if c.isalnum())


def _level(text: str) -> str:
    return fold_with_map(text).text.strip()
