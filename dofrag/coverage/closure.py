"""Whether a draft may close. No model is asked, nothing is taken on trust, and the last turn is like any other.

A draft stands when every citation was read in this run, every quote stands in what it cites, every figure in a
claim stands in its quotes or is recomputed from them, and every requirement of every sub-question is met by a cited
passage, with what meets it inside the quotes. Otherwise each fault is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dofrag.coverage.binding import Quoted, beyond_quotes, misbound
from dofrag.coverage.facts import Facts, facts_of, unquoted
from dofrag.coverage.interface import Proof, Support, Verdict
from dofrag.coverage.later import corrects as mends
from dofrag.coverage.ledger import hold_to_one_list
from dofrag.coverage.links import linked
from dofrag.coverage.match import meets, speaks_of_it
from dofrag.coverage.premises import corrects, premise_faults
from dofrag.coverage.prepared import PreparedPassage, acronyms
from dofrag.coverage.verify import computation_fault, echoes, identity_facts, unsaid_turns, unsaid_words
from dofrag.domain.corpus import Publication
from dofrag.domain.evidence import QUOTE_MAX, QUOTE_MIN, Citation, Claim, Draft, Fault, FaultCode, PremiseStatus
from dofrag.domain.question import Requirement, Status, SubQuestion
from dofrag.text.fold import stems

Message = Callable[..., str]
"""A profile's `message`: `message("fault.quote_not_found", chunk_id=12)` → a sentence for people."""


def plain_message(key: str, /, **values: object) -> str:
    """The message without a profile: the key and its values."""
    return " ".join([key, *(f"{name}={value}" for name, value in sorted(values.items()))])


def check_closure(
    draft: Draft,
    sub_questions: Sequence[SubQuestion],
    prepared: Mapping[int, PreparedPassage],
    seen_ids: Collection[int] = (),
    *,
    message: Message = plain_message,
) -> Verdict:
    """Accept a draft, or name each fault. Pure.

    `prepared` holds the passages read in this run, by chunk id; `seen_ids` what tools have pointed to. Accepted
    claims carry the true spans of their quotes.
    """
    cites = {c.chunk_id for claim in draft.claims for c in claim.citations} & set(prepared)
    check = _Check(
        sub_questions, prepared, seen_ids, message, [prepared[i].passage.publication for i in sorted(cites)]
    )
    if not prepared:
        check.fault(FaultCode.NOT_READ, "", key="nothing_read")
    if not any(claim.citations for claim in draft.claims):
        check.fault(FaultCode.CITATION_REQUIRED, "")
    for n, claim in enumerate(draft.claims):
        check.claim(n, claim)
    check.correction(draft)
    contradicted = check.premises(draft)
    unclear = draft.premise.status is PremiseStatus.UNCLEAR
    # A draft that calls a premise unclear does not answer: it ends the run without one, and owes no coverage.
    answered = {} if unclear else check.requirements(contradicted)
    check.relevance(draft)
    return Verdict(
        faults=tuple(check.faults),
        claims=tuple(check.claims),
        answered=tuple(sorted(answered.items())),
        rejected_citations=tuple(sorted(check.rejected)),
        premise=draft.premise,
        contradicted=tuple(sorted(contradicted)),
    )


@dataclass
class _Check:
    """The working state of one check; dropped with it."""

    subs: Sequence[SubQuestion]
    prepared: Mapping[int, PreparedPassage]
    seen: Collection[int]
    message: Message
    draft_cites: Sequence[Publication] = ()
    faults: list[Fault] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    rejected: set[int] = field(default_factory=set)
    _met: dict[tuple[str, int], Support] = field(default_factory=dict)
    _linked: set[tuple[str, int]] = field(default_factory=set)  # requirements and passages that answer together

    def fault(
        self, code: FaultCode, where: str, key: str = "", chunk_id: int | None = None, **values: object
    ) -> None:
        if chunk_id is not None:
            values["chunk_id"] = chunk_id
        text = self.message(f"fault.{key or code.value}", **values)
        self.faults.append(Fault(code=code, where=where, message=text, chunk_id=chunk_id))

    def meets(self, requirement: Requirement, chunk_id: int, sub: SubQuestion) -> Support:
        at = (requirement.id, chunk_id)
        if at not in self._met:
            self._met[at] = meets(requirement, self.prepared[chunk_id], sub)
        return self._met[at]

    def claim(self, n: int, claim: Claim) -> None:
        where = f"claims[{n}]"
        known = {sub.id for sub in self.subs}
        for name in claim.sub_questions:
            if name not in known:
                self.fault(FaultCode.UNKNOWN_SUB_QUESTION, where, name=name)
        if not claim.sub_questions:
            self.fault(FaultCode.UNKNOWN_SUB_QUESTION, where, key="no_sub_question")
        if not claim.citations or not claim.text.strip():
            self.fault(FaultCode.CITATION_REQUIRED, where, key="claim_without_citation")
        citations = tuple(c for cited in claim.citations if (c := self.citation(where, cited)) is not None)
        kept = replace(claim, citations=citations)
        self.claims.append(kept)
        self.figures(where, kept)

    def citation(self, where: str, cited: Citation) -> Citation | None:
        """The citation with its true span; None, and a fault, when it does not stand."""
        passage = self.prepared.get(cited.chunk_id)
        if passage is None:
            code = FaultCode.NOT_READ if cited.chunk_id in self.seen else FaultCode.UNKNOWN_CITATION
            self.rejected.add(cited.chunk_id)
            self.fault(code, where, chunk_id=cited.chunk_id)
            return None
        if len("".join(cited.quote.split())) < QUOTE_MIN:
            self.fault(FaultCode.QUOTE_TOO_SHORT, where, chunk_id=cited.chunk_id, quote=cited.quote)
            return None
        if len(cited.quote) > QUOTE_MAX:
            self.fault(
                FaultCode.QUOTE_TOO_LONG, where, chunk_id=cited.chunk_id, length=len(cited.quote), max=QUOTE_MAX
            )
            return None
        span = passage.find(cited.quote)
        if span is None:
            self.fault(FaultCode.QUOTE_NOT_FOUND, where, chunk_id=cited.chunk_id, quote=_brief(cited.quote))
            return None
        if span[1] - span[0] > QUOTE_MAX:
            # The quote is short but what it stands for is not: blanks and layout were folded away.
            self.fault(
                FaultCode.QUOTE_TOO_LONG, where, chunk_id=cited.chunk_id, length=span[1] - span[0], max=QUOTE_MAX
            )
            return None
        return replace(cited, quote=passage.text[span[0] : span[1]], start=span[0], end=span[1])

    def figures(self, where: str, claim: Claim) -> None:
        quoted = Facts.join(facts_of(c.quote) for c in claim.citations)
        identity = identity_facts([self.prepared[c.chunk_id] for c in claim.citations])
        computed = Facts()
        if claim.computed is not None:
            why = computation_fault(claim.computed, quoted, identity, [c.quote for c in claim.citations])
            if why:
                self.fault(FaultCode.COMPUTATION_WRONG, where, why=why, result=claim.computed.result)
            else:
                computed = facts_of(claim.computed.result)
        for figure in unquoted(claim.text, quoted, identity, computed):
            self.fault(FaultCode.NUMBER_NOT_QUOTED, where, figure=figure)
        self.words(where, claim, self.own_words(claim))

    def words(self, where: str, claim: Claim, text: str) -> None:
        """The words of a claim that bind its figures: `text` is its text, without what was said of it already."""
        if claim.computed is None and claim.citations:
            quotes = " . ".join([*(c.quote for c in claim.citations), *self.titles(claim)])
            for word in unsaid_turns(text, quotes):
                self.fault(FaultCode.WORDS_NOT_QUOTED, where, key="turn_not_quoted", figure=word)
        if claim.citations:
            for word in unsaid_words(text, self.ground(claim), computed=claim.computed is not None):
                self.fault(FaultCode.WORDS_NOT_QUOTED, where, key="turn_not_quoted", figure=word)
        result = claim.computed.result if claim.computed is not None else ""
        for figure, label in misbound(text, self.quoted(claim), facts_of(result).numbers):
            self.fault(FaultCode.WORDS_NOT_QUOTED, where, key="misbound", figure=figure, label=_brief(label))

    def own_words(self, claim: Claim) -> str:
        """A claim's text; where it tells what was printed before an erratum, which the draft cites, without saying
        so: that is borne out by the two publications, not by a word of the quote."""
        before = self.message("answer.corrected", old="").strip()
        cited = [self.prepared[c.chunk_id].passage.publication for c in claim.citations]
        if claim.text.startswith(before) and any(mends(p, old) for p in self.draft_cites for old in cited):
            return claim.text[len(before) :]
        return claim.text

    def correction(self, draft: Draft) -> None:
        """What is said to be true instead rests on the quotes of the claims; of the question it may speak too."""
        text = draft.premise.correction or ""
        whole = Claim(text=text, sub_questions=(), citations=tuple(c for one in self.claims for c in one.citations))
        if not text or not whole.citations:
            return
        asked = [f"{sub.text} {sub.question} {' '.join(p.label for p in sub.premises)}" for sub in self.subs]
        results = [facts_of(claim.computed.result) for claim in self.claims if claim.computed is not None]
        quoted = Facts.join(facts_of(c.quote) for c in whole.citations)
        identity = identity_facts([self.prepared[c.chunk_id] for c in whole.citations])
        for figure in unquoted(text, quoted, identity, *results, *map(facts_of, asked)):
            self.fault(FaultCode.NUMBER_NOT_QUOTED, "premise", figure=figure)
        for word in unsaid_words(text, self.ground(whole) | stems(" ".join(asked)), computed=bool(results)):
            self.fault(FaultCode.WORDS_NOT_QUOTED, "premise", key="turn_not_quoted", figure=word)
        if not unsaid_words(beyond_quotes(text, self.quoted(whole)), stems(" ".join(asked))):
            return  # whole quotes, and what the question says
        computed = Facts.join(results).numbers
        for figure, label in misbound(text, self.quoted(whole), computed | facts_of(" ".join(asked)).numbers):
            self.fault(FaultCode.WORDS_NOT_QUOTED, "premise", key="misbound", figure=figure, label=_brief(label))

    def quoted(self, claim: Claim) -> list[Quoted]:
        return [Quoted(self.prepared[c.chunk_id], c.start or 0, c.end or 0) for c in claim.citations]

    def ground(self, claim: Claim) -> frozenset[str]:
        """Stems of what a claim rests on: the sentences that it quotes, what they stand under, and the question."""
        found: set[str] = set()
        for cited in claim.citations:
            prepared = self.prepared[cited.chunk_id]
            start, end = cited.start or 0, cited.end or 0
            issuer = f"{prepared.passage.publication.issuer} {prepared.passage.publication.branch or ''}"
            found |= prepared.wide | prepared.issuer_stems | acronyms(issuer.title()) | stems(cited.quote)
            for sentence in prepared.sentences:
                if sentence.start < end and start < sentence.end:
                    found |= sentence.near
        for sub in self.subs:
            found |= stems(f"{sub.text} {sub.question} {' '.join(r.label for r in sub.requirements)}")
        return frozenset(found)

    def titles(self, claim: Claim) -> list[str]:
        """What stands above the quotes of a claim: titles and headings."""
        passages = [self.prepared[c.chunk_id].passage for c in claim.citations]
        return [text for p in passages for text in (p.publication.title, *p.chunk.heading_path)]

    def premises(self, draft: Draft) -> set[str]:
        """Ids of the requirements that fall with a premise which the draft corrects with cited evidence."""
        for code, where, key, values in premise_faults(draft, self.subs, self.claims, self.prepared):
            self.fault(code, where, key=key, **values)
        if draft.premise.status is not PremiseStatus.FALSE:
            return set()
        fallen: set[str] = set()
        for sub in self.subs:
            if any(corrects(premise, sub, draft, self.claims, self.prepared) for premise in sub.premises):
                fallen.update(r.id for r in sub.requirements)
        return fallen

    def requirements(self, contradicted: set[str]) -> dict[str, int]:
        answered: dict[str, int] = {}
        for sub in self.subs:
            claims = [c for c in self.claims if sub.id in c.sub_questions]
            cited = list(dict.fromkeys(c.chunk_id for claim in claims for c in claim.citations))
            found = {
                r.id: tuple((i, s) for i in cited if (s := self.meets(r, i, sub)).supported) for r in sub.requirements
            }
            held = hold_to_one_list(sub.requirements, found)
            quoted = {i: _Quoted.of(i, claims, self.prepared[i].text) for i in cited}
            for requirement in sub.requirements:
                chunk = next((i for i, s in held[requirement.id] if quoted[i].proves(s)), None)
                if chunk is None:
                    chunk = self.together(requirement, sub, quoted)
                if chunk is not None and requirement.id not in contradicted:
                    answered[requirement.id] = chunk
                elif requirement.id not in contradicted:
                    self.missing(sub, requirement, bool(held[requirement.id]))
        return answered

    def together(self, requirement: Requirement, sub: SubQuestion, quoted: Mapping[int, _Quoted]) -> int | None:
        """The cited passage that answers together with others that are cited as well, each quoted where it does."""
        for link in linked(requirement, sub, {i: self.prepared[i] for i in quoted}):
            if quoted[link.chunk_id].proves(link.support) and all(quoted[i].holds(span) for i, span in link.via):
                self._linked.update((requirement.id, i) for i in (link.chunk_id, *(i for i, _ in link.via)))
                return link.chunk_id
        return None

    def missing(self, sub: SubQuestion, requirement: Requirement, cited: bool) -> None:
        key = "requirement_not_quoted" if cited else "requirement_missing"
        self.fault(FaultCode.REQUIREMENT_MISSING, requirement.id, key=key, label=requirement.label, part=sub.text)

    def relevance(self, draft: Draft) -> None:
        """A citation that supports nothing which its claim is to answer has no place in the answer."""
        by_id = {sub.id: sub for sub in self.subs}
        for n, claim in enumerate(self.claims):
            subs = [by_id[name] for name in claim.sub_questions if name in by_id]
            for citation in claim.citations:
                if any(self.bears(r, citation, sub) for sub in subs for r in sub.requirements):
                    continue
                alone = replace(claim, citations=(citation,))
                if any(
                    corrects(p, sub, draft, [alone], self.prepared, further=True)
                    for sub in subs
                    for p in sub.premises
                ):
                    continue
                self.rejected.add(citation.chunk_id)
                self.fault(FaultCode.IRRELEVANT_CITATION, f"claims[{n}]", chunk_id=citation.chunk_id)

    def bears(self, requirement: Requirement, citation: Citation, sub: SubQuestion) -> bool:
        """Whether a passage supports the requirement and the quote is of what does, or speaks of the same. A part of
        a list, or its beginning, bears on the list though it does not complete it."""
        support = self.meets(requirement, citation.chunk_id, sub)
        if (requirement.id, citation.chunk_id) in self._linked:
            return True
        if not support.supported:
            return support.status is Status.READ and bool(support.group)
        start, end = citation.start or 0, citation.end or 0
        spans = (*support.spans, *(span for proof in support.proofs for span in proof.spans))
        if support.group or any(a < end and start < b for a, b in spans):
            return True
        prepared = self.prepared[citation.chunk_id]
        near = [s for s in prepared.sentences if s.start < end and start < s.end]
        return any(speaks_of_it(requirement, s) for s in near)


@dataclass(frozen=True, slots=True)
class _Quoted:
    """What a sub-question's claims quote from one passage (spans that meet are one), and what those claims say."""

    text: str
    spans: tuple[tuple[int, int], ...]
    said: str

    @classmethod
    def of(cls, chunk_id: int, claims: Sequence[Claim], text: str) -> _Quoted:
        quoting = [claim for claim in claims if any(c.chunk_id == chunk_id for c in claim.citations)]
        spans = sorted(
            (c.start, c.end)
            for claim in quoting
            for c in claim.citations
            if c.chunk_id == chunk_id and c.start is not None and c.end is not None
        )
        merged: list[tuple[int, int]] = []
        for start, end in spans:
            # Quotes that meet, but for a blank, are one: a list longer than a quote is cited in pieces.
            if merged and start <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return cls(text, tuple(merged), " ".join(claim.text for claim in quoting))

    def proves(self, support: Support) -> bool:
        """Whether some proof stands inside the quotes, and the claims that quote it say so."""
        return any(self._inside(proof) and echoes(self.said, proof, self.text) for proof in support.proofs)

    def holds(self, span: tuple[int, int]) -> bool:
        """Whether a stretch stands inside the quotes."""
        return self._inside(Proof((span,)))

    def _inside(self, proof: Proof) -> bool:
        bare = (_bare(span, self.text) for span in proof.spans)
        return all(any(a <= start and end <= b for a, b in self.spans) for start, end in bare)


def _bare(span: tuple[int, int], text: str) -> tuple[int, int]:
    """A span without the marks and stops at its ends: a quote may leave those out."""
    start, end = span
    while start < end and not (text[start].isalnum() or text[start] in '$¿¡«"'):
        start += 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in "%²":
        end -= 1
    return start, end


def _brief(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:79] + "…"
