"""Quotes that stop short. Half a sentence can say the opposite of the whole one (*no*, *salvo*, *queda sin efectos
que*), and a cell nothing of its row: a quote is widened to the sentences and rows that it is part of. And who quotes
a sentence leaves out the label that it stands under (*Segundo.-*, a table's header), so that the passage meets the
requirement and the quote does not: what is missing is quoted as well, from the same read passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.spans import Span
from dofrag.domain.evidence import QUOTE_MAX, QUOTE_MIN, Citation, Claim, Draft
from dofrag.domain.question import SubQuestion


def completed(draft: Draft, sub_questions: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage]) -> Draft:
    """The draft with the stretches that its own quotes are parts of. Nothing is cited that the draft does not cite,
    and a quote that has nothing of what answers gets none of it."""
    claims = [replace(claim, citations=_widened(claim.citations, prepared)) for claim in draft.claims]
    for sub in sub_questions:
        for n, claim in enumerate(claims):
            if sub.id in claim.sub_questions:
                claims[n] = _with_proofs(claim, sub, prepared)
    return replace(draft, claims=tuple(claims))


def _widened(citations: Sequence[Citation], prepared: Mapping[int, PreparedPassage]) -> tuple[Citation, ...]:
    """Each quote with the rest of its sentences and rows, as far as a quote may reach; equal ones are one."""
    out: dict[tuple[int, str], Citation] = {}
    for cited in citations:
        whole = _whole_sentences(cited, prepared[cited.chunk_id]) if cited.chunk_id in prepared else cited
        out.setdefault((whole.chunk_id, whole.quote), whole)
    return tuple(out.values())


def _whole_sentences(cited: Citation, prepared: PreparedPassage) -> Citation:
    found = prepared.find(cited.quote) if len("".join(cited.quote.split())) >= QUOTE_MIN else None
    if found is None:
        return cited
    start, end = found
    for sentence in prepared.sentences:
        if sentence.start < found[1] and found[0] < sentence.end:
            start, end = min(start, sentence.start), max(end, sentence.end)
    quote = prepared.text[start:end].strip()
    start = prepared.text.index(quote, start)
    if len(quote) > QUOTE_MAX or (start, start + len(quote)) == found:
        return cited
    return replace(cited, quote=quote, start=start, end=start + len(quote))


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
