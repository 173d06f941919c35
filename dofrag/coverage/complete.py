"""Quotes that stop short of what answers. Someone who quotes a sentence leaves out the label that it stands under
(*Segundo.-*, a table's header), and the requirement is then met by the passage and not by the quote. What is missing
is in the same read passage: it is quoted as well, word for word, instead of asking for it again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.spans import Span
from dofrag.domain.evidence import QUOTE_MAX, Citation, Claim, Draft
from dofrag.domain.question import SubQuestion


def completed(draft: Draft, sub_questions: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage]) -> Draft:
    """The draft with the stretches that its own quotes are parts of. Nothing is cited that the draft does not cite,
    and a quote that has nothing of what answers stays as it is."""
    claims = list(draft.claims)
    for sub in sub_questions:
        for n, claim in enumerate(claims):
            if sub.id in claim.sub_questions:
                claims[n] = _with_proofs(claim, sub, prepared)
    return replace(draft, claims=tuple(claims))


def _with_proofs(claim: Claim, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]) -> Claim:
    quoted: dict[int, list[Span]] = {}
    for cited in claim.citations:
        found = prepared[cited.chunk_id].find(cited.quote) if cited.chunk_id in prepared else None
        if found is not None:
            quoted.setdefault(cited.chunk_id, []).append(found)
    added: list[Citation] = []
    for chunk_id, spans in quoted.items():
        text = prepared[chunk_id].text
        for requirement in sub.requirements:
            for start, end in _lacking(meets(requirement, prepared[chunk_id], sub), spans):
                spans.append((start, end))
                added.append(Citation(chunk_id=chunk_id, quote=text[start:end], start=start, end=end))
    return replace(claim, citations=(*claim.citations, *added)) if added else claim


def _lacking(support: Support, quoted: Sequence[Span]) -> list[Span]:
    """What some proof holds beyond the quotes, where they hold a part of it; nothing when one is whole already."""
    if not support.supported or any(_whole(proof, quoted) for proof in support.proofs):
        return []
    for proof in support.proofs:
        touched = any(a < end and start < b for a, b in proof.spans for start, end in quoted)
        if touched and all(b - a <= QUOTE_MAX for a, b in proof.spans):
            return [span for span in proof.spans if not _inside(span, quoted)]
    return []


def _whole(proof: Proof, quoted: Sequence[Span]) -> bool:
    return all(_inside(span, quoted) for span in proof.spans)


def _inside(span: Span, quoted: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in quoted)
