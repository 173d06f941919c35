"""Drafts of the rule planner: sentences of the passages read, in the order of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation

from dofrag.coverage.closure import Message
from dofrag.coverage.compose import partial_claims, readable
from dofrag.coverage.cues import cue
from dofrag.coverage.later import corrects
from dofrag.coverage.listing import asks_for_all
from dofrag.coverage.match import PreparedPassage, meets, speaks_of_it
from dofrag.coverage.premises import PremiseCheck, check_premise
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.topics import title_span
from dofrag.coverage.values import speaks_of
from dofrag.domain.evidence import (
    NO_PREMISE,
    QUOTE_MAX,
    Citation,
    Claim,
    Computation,
    Draft,
    PremiseFinding,
    PremiseStatus,
)
from dofrag.domain.question import ProvisionRequired, PublicationRequired, Requirement, SubQuestion, ValueRequired
from dofrag.planner.interface import View
from dofrag.planner.monitoring import fitting
from dofrag.planner.provisions import continued, in_order
from dofrag.planner.rivals import stands_beside
from dofrag.planner.series import of_no_time, printed_again, superseded
from dofrag.text.fold import fold, fold_chars
from dofrag.text.patterns import late

Prepared = Mapping[int, PreparedPassage]
MAX_ITEMS = 30
"""Publications that one answer tells of."""


def preferred(view: View, requirement: Requirement) -> tuple[int, ...]:
    """The passages that support a requirement, the best first; only those of the newest member of a series where
    nothing tells which member is meant."""
    ids = in_order(view, requirement, _corrected_first(view, view.support.get(requirement.id, ())))
    if not of_no_time(requirement, view.question.text, current=view.asks_current):
        return ids
    old = superseded(view.publications.values())
    fresh = [i for i in ids if view.passages[i].chunk.code not in old]
    if view.asks_current:
        # Of a reform and the law that it was worked into, the reform is what was published.
        newest = {i: (p.publication.published_on, not p.publication.consolidated) for i, p in view.passages.items()}
        fresh.sort(key=lambda i: newest[i], reverse=True)
    return tuple(fresh)


def _corrected_first(view: View, ids: tuple[int, ...]) -> tuple[int, ...]:
    """What corrects another of these passages' publications comes before all of them."""
    publications = [view.passages[i].publication for i in ids]
    mending = [i for i in ids if any(corrects(view.passages[i].publication, p) for p in publications)]
    return tuple(dict.fromkeys([*mending, *ids]))


def answer(view: View, prepared: Prepared, message: Message) -> Draft:
    """All that is asked for, each part by its best passage."""
    checked = [check_premise(p, sub, prepared).status for sub in view.sub_questions for p in sub.premises]
    confirmed = bool(checked) and all(s is PremiseStatus.SUPPORTED for s in checked)
    finding = PremiseFinding(status=PremiseStatus.SUPPORTED) if confirmed else NO_PREMISE
    return Draft(claims=_claims(view, prepared, message), premise=finding)


def correction(view: View, prepared: Prepared, sub: SubQuestion, check: PremiseCheck, message: Message) -> Draft:
    """A draft that states what is true instead, and answers what can be answered besides."""
    assert check.chunk_id is not None
    assert check.span is not None
    label, numbered = _presupposed(sub, prepared, check)
    shown = (*check.more, (check.chunk_id, check.span)) if numbered else ((check.chunk_id, check.span), *check.more)
    quotes = [(chunk_id, prepared[chunk_id].text[start:end]) for chunk_id, (start, end) in shown]
    text = " · ".join(readable(quote) for _, quote in quotes)
    citations = tuple(Citation(chunk_id=chunk_id, quote=quote) for chunk_id, quote in quotes)
    true = Claim(text=text, sub_questions=(sub.id,), citations=citations)
    others = tuple(c for c in _claims(view, prepared, message) if c.text != text and not _told(c, sub, shown))
    said = message("answer.numbered" if numbered else "answer.premise", label=label, quote=text)
    return Draft(claims=(true, *others), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=said))


def _told(claim: Claim, sub: SubQuestion, shown: Sequence[tuple[int, Span]]) -> bool:
    """Whether a claim of this sub-question quotes nothing but what is shown already, and computes nothing from it."""
    return (
        claim.computed is None
        and set(claim.sub_questions) <= {sub.id}
        and all(
            c.start is not None
            and c.end is not None
            and any(c.chunk_id == i and start <= c.start and c.end <= end for i, (start, end) in shown)
            for c in claim.citations
        )
    )


def _presupposed(sub: SubQuestion, prepared: Prepared, check: PremiseCheck) -> tuple[str, bool]:
    """What the question takes for granted, in words, and whether it is of what is numbered: a provision, a list."""
    premise = next(p for p in sub.premises if check_premise(p, sub, prepared) == check)
    return premise.label, premise.slot == "provision" or (premise.slot == "number" and bool(check.more))


def false_premise(view: View, prepared: Prepared) -> tuple[SubQuestion, PremiseCheck] | None:
    """The first thing that the question takes for granted and a read passage corrects."""
    for sub in view.sub_questions:
        for premise in sub.premises:
            check = check_premise(premise, sub, prepared)
            if check.status is PremiseStatus.FALSE and check.chunk_id is not None and check.span is not None:
                return sub, check
    return None


def _claims(view: View, prepared: Prepared, message: Message) -> tuple[Claim, ...]:
    support = {r.id: preferred(view, r) for sub in view.sub_questions for r in sub.requirements}
    listed = {sub.id: r for sub in view.sub_questions for r in sub.requirements if asks_for_all(r)}
    for requirement in listed.values():
        if fitting(view, requirement):
            support[requirement.id] = ()
    plain = list(partial_claims(view.sub_questions, prepared, support))
    plain = [_dated(view, claim, support) for claim in plain]
    for sub in reversed(view.sub_questions):
        extra = _published(view, prepared, sub, listed[sub.id]) if sub.id in listed else []
        extra += _rivals(view, prepared, sub, support)
        extra += _printed_again(prepared, sub, support)
        extra += _before_correction(prepared, sub, support, message)
        extra += _further_points(prepared, sub, support)
        extra += _rest_of_provision(view, prepared, sub, support, message)
        extra += _further_values(prepared, sub, support, plain)
        extra += _difference(prepared, sub, support, message)
        earlier = {s.id for s in view.sub_questions[: view.sub_questions.index(sub)]}
        at = sum(1 for claim in plain if claim.sub_questions[0] in earlier)
        at += 0 if sub.id in listed else sum(1 for claim in plain if claim.sub_questions[0] == sub.id)
        plain[at:at] = extra
    return tuple(plain)


def _dated(view: View, claim: Claim, support: Mapping[str, tuple[int, ...]]) -> Claim:
    """A value of which nothing said the year says it: of the newest publication, named by its date."""
    cited = {c.chunk_id for c in claim.citations}
    for sub in view.sub_questions:
        for requirement in sub.requirements:
            timeless = of_no_time(requirement, view.question.text, current=view.asks_current)
            if timeless and isinstance(requirement, ValueRequired) and cited & set(support[requirement.id][:1]):
                on = view.passages[claim.citations[0].chunk_id].publication.published_on
                text = claim.text.removesuffix(".")
                return claim if str(on) in text else replace(claim, text=f"{text} (DOF {on}).")
    return claim


def _published(view: View, prepared: Prepared, sub: SubQuestion, requirement: Requirement) -> list[Claim]:
    """One claim for each publication of the cell: its title, and the first sentence of what it orders or tells."""
    claims = []
    for code in fitting(view, requirement)[:MAX_ITEMS]:
        own = sorted((p for p in prepared.values() if p.passage.chunk.code == code), key=lambda p: p.id)
        cited = []
        for passage in own[:1]:
            cited.append((passage, title_span(passage)))
        # A text that goes on for long orders something in its provisions, not in what leads up to them.
        begun = [p for p in own if p.passage.chunk.provision or p.passage.chunk.end >= p.passage.publication.chars]
        body = next((b for p in begun if (b := _body(p)) is not None and meets(requirement, p, sub).supported), None)
        body = _numbered_line(own) or body
        if body is None or not cited:
            claims += [_claim(sub, cited)] if cited else []
        elif body[0] is not cited[0][0]:
            claims.append(_claim(sub, [*cited, body]))
        else:
            claims.append(_one_quote(sub, body[0], cited[0][1], body[1]))
    return claims


def _numbered_line(own: list[PreparedPassage]) -> tuple[PreparedPassage, Span] | None:
    """Of a publication whose title is a bare kind (`RESUMEN DE CONVOCATORIA`), the line with its number: without it
    nobody can tell which one is meant."""
    if not own or len(own[0].passage.publication.title.split()) > BARE_TITLE:
        return None
    for passage in own:
        for sentence in passage.sentences:
            if _NUMBER.search(passage.text[sentence.start : sentence.end]):
                return passage, quotable_span(passage.text, sentence.span)
    return None


BARE_TITLE = 4
"""Words of a title that tells no more than what kind of publication it is."""
_NUMBER = late(r"\b[A-ZÑ]{2,12}[-/]\d[A-Z0-9/-]{0,30}")


def _one_quote(sub: SubQuestion, passage: PreparedPassage, title: Span, body: Span) -> Claim:
    """Title and body of one passage, quoted from the one to the other where that is no longer than a quote may be."""
    start, end = title[0], max(title[1], body[1])
    if end - start > QUOTE_MAX:
        return _claim(sub, [(passage, title)])
    whole = _claim(sub, [(passage, (start, end))])
    return replace(whole, text=_claim(sub, [(passage, title), (passage, body)]).text)


def _body(passage: PreparedPassage) -> tuple[PreparedPassage, Span] | None:
    """The first sentence that is neither title, heading nor seal."""
    title = title_span(passage) if passage.passage.chunk.ordinal == 0 else (0, 0)
    for sentence in passage.sentences:
        if sentence.heading or sentence.end <= title[1] or len(sentence.folded) < 24:
            continue
        if cue("seal").search(sentence.folded) or cue("signature").search(sentence.folded):
            continue
        span = quotable_span(passage.text, sentence.span)
        if span[0] >= title[1]:
            return passage, span
    return None


def _claim(sub: SubQuestion, cited: list[tuple[PreparedPassage, Span]]) -> Claim:
    text = ". ".join(readable(p.text[a:b]).rstrip(" .") for p, (a, b) in cited)
    citations = tuple(Citation(chunk_id=p.id, quote=p.text[a:b], start=a, end=b) for p, (a, b) in cited)
    return Claim(text=f"{text}.", sub_questions=(sub.id,), citations=citations)


def _rivals(view: View, prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]]) -> list[Claim]:
    """Another value of the same thing and time, from another publication: an answer that knows of it says so."""
    claims = []
    for requirement in sub.requirements:
        if not isinstance(requirement, ValueRequired) or requirement.period is None:
            continue
        best: tuple[str, ...] = ()
        rank = 0
        codes: set[str] = set()
        issuer = ""
        for chunk_id in support[requirement.id]:
            found = meets(requirement, prepared[chunk_id], sub)
            code = prepared[chunk_id].passage.chunk.code
            by = fold(prepared[chunk_id].passage.publication.issuer)
            beside = stands_beside(found.rank, rank, by != issuer)
            if not best:
                best, rank, issuer = found.values, found.rank, by
            elif code not in codes and beside and found.values and found.values[0] != best[0]:
                claims.append(_claim(sub, [(prepared[chunk_id], s) for s in found.spans]))
            codes.add(code)
    return claims


def _printed_again(prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]]) -> list[Claim]:
    """The other printings of an act that the gazette carries more than once (`Segunda publicación`): when it was
    published has more than one answer, and terms may run from the last."""
    claims: list[Claim] = []
    for requirement in sub.requirements:
        if not isinstance(requirement, PublicationRequired):
            continue
        passages = [prepared[i] for i in support[requirement.id]]
        for passage in passages[1:]:
            if printed_again(passages[0].passage.publication, passage.passage.publication):
                claims.append(_claim(sub, [(passage, title_span(passage))]))
    return claims[:MAX_FURTHER]


def _further_points(prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]]) -> list[Claim]:
    """What else the act orders that was published then, point by point: its first point is not all of it."""
    claims: list[Claim] = []
    for requirement in sub.requirements:
        if not isinstance(requirement, PublicationRequired) or requirement.source.published_from is None:
            continue
        for passage in [prepared[i] for i in support[requirement.id][:1]]:
            after = title_span(passage)[1]
            points = [s for s in passage.sentences if s.mark is not None and not s.heading and s.start >= after]
            for sentence in points[:MAX_FURTHER]:
                if speaks_of_it(requirement, sentence):
                    claims.append(_claim(sub, [(passage, quotable_span(passage.text, sentence.span))]))
    return claims


def _rest_of_provision(
    view: View, prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]], message: Message
) -> list[Claim]:
    """What a provision says in the chunks after its first one; where there is more than is quoted, that is said."""
    claims: list[Claim] = []
    for requirement in sub.requirements:
        if not isinstance(requirement, ProvisionRequired) or not support[requirement.id]:
            continue
        further, more = continued(view, requirement.path, support[requirement.id][0], prepared, MAX_FURTHER)
        for passage in further:
            spans = meets(requirement, passage, sub).spans
            claims += [_claim(sub, [(passage, span) for span in spans])] if spans else []
        if more and claims:
            claims[-1] = replace(claims[-1], text=f"{claims[-1].text} {message('answer.goes_on')}")
    return claims


def _before_correction(
    prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]], message: Message
) -> list[Claim]:
    """What was printed before an erratum mended it: said as such, next to what holds."""
    claims: list[Claim] = []
    for requirement in sub.requirements:
        passages = [prepared[i] for i in support[requirement.id]]
        for passage in passages[1:]:
            if corrects(passages[0].passage.publication, passage.passage.publication):
                old = _claim(sub, [(passage, span) for span in meets(requirement, passage, sub).spans[:1]])
                claims.append(replace(old, text=message("answer.corrected", old=old.text)))
                break
    return claims


MAX_FURTHER = 4


def _further_values(
    prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]], plain: list[Claim]
) -> list[Claim]:
    """All that the publication itself says of an indicator, where the question names the publication and neither the
    time nor the frequency of the value: one of several would be half an answer."""
    claims: list[Claim] = []
    for requirement in sub.requirements:
        source = requirement.source
        if not isinstance(requirement, ValueRequired) or requirement.indicator is None or not support[requirement.id]:
            continue
        if requirement.period or requirement.frequency or requirement.zone or not source.published_from:
            continue
        code = prepared[support[requirement.id][0]].passage.chunk.code
        for passage in (prepared[i] for i in support[requirement.id] if prepared[i].passage.chunk.code == code):
            said = " ".join(c.quote for claim in (*plain, *claims) for c in claim.citations)
            for sentence in passage.sentences:
                span = quotable_span(passage.text, sentence.span)
                new = not sentence.heading and passage.text[span[0] : span[1]] not in said
                figures = [q for q in sentence.quantities if not q.reference and "." in q.text]
                if new and figures and speaks_of(requirement, sentence, passage) and len(claims) < MAX_FURTHER:
                    claims.append(_claim(sub, [(passage, span)]))
    return claims


def _difference(
    prepared: Prepared, sub: SubQuestion, support: Mapping[str, tuple[int, ...]], message: Message
) -> list[Claim]:
    """How much two values differ, where the question compares just two of the same thing at different times."""
    pair = [r for r in sub.requirements if isinstance(r, ValueRequired) and r.period is not None and support[r.id]]
    compared = sub.origin.endswith(":compare") or cue("how_much_more").search(fold_chars(sub.text))
    compared = compared or cue("subtract").search(fold_chars(sub.question))
    if not compared or len(pair) != 2 or len(sub.requirements) != 2:
        return []
    one, other = sorted(pair, key=lambda r: (r.period.start if r.period else date.min, r.id))
    same = ((r.indicator, r.zone, r.frequency, r.terms) for r in (one, other))
    if len(set(same)) != 1:
        return []
    cited = []
    values = []
    for requirement in (one, other):
        passage = prepared[support[requirement.id][0]]
        found = meets(requirement, passage, sub)
        cited += [(passage, span) for span in found.spans]
        values += list(found.values[:1])
    try:
        result = str(Decimal(values[1]) - Decimal(values[0]))
    except (IndexError, InvalidOperation):
        return []
    citations = tuple(Citation(chunk_id=p.id, quote=p.text[a:b], start=a, end=b) for p, (a, b) in cited)
    computed = Computation(operation="difference", inputs=(values[0], values[1]), result=result)
    text = message("answer.difference", old=values[0], new=values[1], result=result)
    return [Claim(text=text, sub_questions=(sub.id,), citations=citations, computed=computed)]
