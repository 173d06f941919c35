"""Extractive claims: what the read passages say, in their own words, in the order of the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from dofrag.coverage.interface import Support
from dofrag.coverage.ledger import hold_to_one_list
from dofrag.coverage.links import support_of, via
from dofrag.coverage.listing import asks_for_all
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.spans import Span, merged
from dofrag.domain.evidence import Citation, Claim, Computation, Draft, PremiseFinding, PremiseStatus
from dofrag.domain.question import DateRequired, DateRole, ItemRequired, Requirement, SubQuestion
from dofrag.text.dates import find_dates
from dofrag.text.numbers import find_numbers
from dofrag.text.shown import shown

Message = Callable[..., str]
"""A profile's `message`."""

_MARKS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|^#{1,6}\s+|\\(?=[^\w\s])", re.MULTILINE)


def partial_claims(
    sub_questions: Sequence[SubQuestion],
    prepared: Mapping[int, PreparedPassage],
    support: Mapping[str, Sequence[int]],
) -> tuple[Claim, ...]:
    """One claim for each stretch of text that supports something, naming every sub-question that it supports. Only
    what is covered appears; the same input gives the same claims."""
    order: list[tuple[int, tuple[Span, ...], str]] = []
    subs: dict[tuple[int, tuple[Span, ...]], list[str]] = {}
    for sub in sub_questions:
        for chunk_id, spans, date in _stretches(sub, prepared, support):
            key = (chunk_id, spans)
            if key not in subs:
                order.append((chunk_id, spans, date))
                subs[key] = []
            if sub.id not in subs[key]:
                subs[key].append(sub.id)
    return tuple(_claim(prepared[c], spans, subs[(c, spans)], date) for c, spans, date in order)


def _stretches(
    sub: SubQuestion, prepared: Mapping[int, PreparedPassage], support: Mapping[str, Sequence[int]]
) -> list[tuple[int, tuple[Span, ...], str]]:
    found = {
        r.id: tuple((i, support_of(r, i, sub, prepared)) for i in support.get(r.id, ()) if i in prepared)
        for r in sub.requirements
    }
    held = hold_to_one_list(sub.requirements, found)
    out: list[tuple[int, tuple[Span, ...], str]] = []
    items: dict[int, list[Span]] = {}
    for requirement in sub.requirements:
        best = next(((i, s) for i, s in held[requirement.id] if s.supported), None)
        if best is None:
            continue
        if asks_for_all(requirement):
            out += [(i, _spans(requirement, s, prepared[i]), "") for i, s in _each(held[requirement.id], prepared)]
            continue
        chunk_id, one = best
        spans = _spans(requirement, one, prepared[chunk_id])
        if isinstance(requirement, ItemRequired):
            if chunk_id not in items:
                items[chunk_id] = []
                out.append((chunk_id, (), ""))  # its place in the order; the spans come when all are known
            items[chunk_id].extend(spans)
        else:
            # What it answers together with comes first: the provision, then what is said of it.
            out += [(other, (span,), "") for other, span in via(requirement, chunk_id, sub, prepared)]
            out.append((chunk_id, merged(spans, prepared[chunk_id].text), _date(requirement, one)))
    return [
        (chunk_id, spans or merged(items[chunk_id], prepared[chunk_id].text), date) for chunk_id, spans, date in out
    ]


def _each(found: Sequence[tuple[int, Support]], prepared: Mapping[int, PreparedPassage]) -> list[tuple[int, Support]]:
    """The first supporting passage of each publication, in order of the text: all that was published is asked for."""
    first: dict[str, tuple[int, Support]] = {}
    for chunk_id, support in sorted((pair for pair in found if pair[1].supported), key=lambda pair: pair[0]):
        first.setdefault(prepared[chunk_id].passage.chunk.code, (chunk_id, support))
    return list(first.values())


def _spans(requirement: Requirement, support: Support, prepared: PreparedPassage) -> tuple[Span, ...]:
    return support.spans or tuple(s for proof in support.proofs[:1] for s in proof.spans)


def _date(requirement: Requirement, support: Support) -> str:
    if isinstance(requirement, DateRequired) and requirement.role is DateRole.PUBLICATION and support.values:
        return support.values[0]
    return ""


def _claim(prepared: PreparedPassage, spans: tuple[Span, ...], subs: list[str], date: str) -> Claim:
    text = _row_text(prepared, spans) or _joined(prepared.text, spans)
    text = _dated(text, date)
    citations = tuple(Citation(chunk_id=prepared.id, quote=prepared.text[a:b], start=a, end=b) for a, b in spans)
    return Claim(text=text, sub_questions=tuple(subs), citations=citations)


def in_quotes(
    claims: Sequence[Claim],
    sub_questions: Sequence[SubQuestion],
    prepared: Mapping[int, PreparedPassage],
    message: Message,
) -> tuple[Claim, ...]:
    """The same claims in the words of their quotes, and in no others; what one computes, in the profile's, and the
    day of publication where it is asked for. Citations need their spans."""
    by_id = {sub.id: sub for sub in sub_questions}
    told = []
    for claim in claims:
        text = _quoted_text(claim, prepared)
        asked = [by_id[name] for name in claim.sub_questions if name in by_id]
        text = _dated(text, _published(claim, asked, prepared))
        told.append(replace(claim, text=f"{text} {_result(claim.computed, message)}".strip()))
    return tuple(told)


def _published(claim: Claim, subs: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage]) -> str:
    """The day of publication that a claim answers with, "" where none is asked for."""
    for cited in claim.citations:
        for sub in subs:
            for requirement in sub.requirements:
                if isinstance(requirement, DateRequired) and requirement.role is DateRole.PUBLICATION:
                    date = _date(requirement, meets(requirement, prepared[cited.chunk_id], sub))
                    if date:
                        return date
    return ""


def _dated(text: str, date: str) -> str:
    if not date:
        return text
    return f"{text} (DOF {date})" if not text.endswith(".") else f"{text[:-1]} (DOF {date})."


def _result(computed: Computation | None, message: Message) -> str:
    if computed is None:
        return ""
    if computed.operation.startswith("add_"):
        return message("answer.date_of", result=find_dates(computed.result)[0].first)
    # The figure alone: what else stands in a result (a unit, a remark) is the model's word.
    return message(f"answer.{computed.operation}_of", result=f"{find_numbers(computed.result)[0].value:,f}")


def corrected_in(claims: Sequence[Claim], premise: PremiseFinding) -> PremiseFinding:
    """What a draft finds of a premise, a correction in the words of its claims."""
    if premise.status is not PremiseStatus.FALSE:
        return premise
    return replace(premise, correction=" … ".join(claim.text for claim in claims))


def as_shown(draft: Draft) -> Draft:
    """A draft whose texts are what people will see of them: what is checked is what is read."""
    correction = draft.premise.correction if draft.premise.status is PremiseStatus.FALSE else None
    premise = replace(draft.premise, correction=None if correction is None else shown(correction))
    return replace(
        draft, claims=tuple(replace(claim, text=shown(claim.text)) for claim in draft.claims), premise=premise
    )


def _quoted_text(claim: Claim, prepared: Mapping[int, PreparedPassage]) -> str:
    spans: dict[int, list[Span]] = {}
    for cited in claim.citations:
        spans.setdefault(cited.chunk_id, []).append((cited.start or 0, cited.end or 0))
    own = ((prepared[i], merged(found, prepared[i].text)) for i, found in spans.items())
    return " … ".join(_row_text(passage, found) or _joined(passage.text, found) for passage, found in own)


_BETWEEN = re.compile(r"[\s;,.*_]*(?:[yeou][\s*_]+)?")


def _joined(text: str, spans: tuple[Span, ...]) -> str:
    """The quotes in order: `;` where nothing but punctuation parts them, `…` where something is left out."""
    out = ""
    for n, (start, end) in enumerate(spans):
        if n:
            near = spans[n - 1][1] <= start and _BETWEEN.fullmatch(text[spans[n - 1][1] : start])
            out = out.rstrip(" ;,.") + "; " if near else out + " … "
        out += readable(text[start:end])
    return out


def _row_text(prepared: PreparedPassage, spans: tuple[Span, ...]) -> str:
    """A header and one row of its table, as `row: column value; column value`; "" for anything else."""
    if len(spans) != 2 or not all(prepared.text[a:b].lstrip().startswith("|") for a, b in spans):
        return ""
    header, row = ([c.strip() for c in prepared.text[a:b].strip().strip("|").split("|")] for a, b in spans)
    if len(header) != len(row) or len(row) < 2:
        return ""
    cells = "; ".join(f"{name} {cell}" for name, cell in zip(header[1:], row[1:], strict=True))
    # A label of figures ("de 5 a 20") says nothing without what its column counts.
    label = f"{header[0]} {row[0]}" if any(c.isdigit() for c in row[0]) else row[0]
    return readable(f"{label}: {cells}")


def readable(text: str) -> str:
    """A quote as a sentence: no emphasis marks, no table rules, single blanks."""
    cells = re.sub(r"\s*\|\s*", " · ", text.strip().strip("|")) if text.lstrip().startswith("|") else text
    return shown(_MARKS.sub("", cells))


def compose_answer(claims: Sequence[Claim], citation_numbers: Mapping[int, int]) -> str:
    """The claims as paragraphs, each with the numbers of its citations: `… [1][2]`. Every sentence stands on one."""
    lines = []
    for claim in claims:
        numbers = sorted({citation_numbers[c.chunk_id] for c in claim.citations if c.chunk_id in citation_numbers})
        marks = "".join(f"[{n}]" for n in numbers)
        lines.append(f"{claim.text.strip()} {marks}".strip())
    return "\n\n".join(lines)
