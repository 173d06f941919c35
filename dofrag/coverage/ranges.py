"""Intervals in any wording: `hasta 15`, `15 o menos`, `de 16 a 50`, `entre 16 y 50`, `más de cien`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import Quantity, quantities
from dofrag.coverage.source import held, names_anything, telling_terms
from dofrag.coverage.spans import quotable_span
from dofrag.domain.question import RangeRequired, Status
from dofrag.domain.records import dataclass
from dofrag.text.fold import content_words, fold_chars, stem, words
from dofrag.text.patterns import late

_TO = late(r"(?:\s*[a-zñ]{3,20})?\s+(?:a|y|al|hasta)\s+(?:los\s+|las\s+)?|\s*-\s*")
_OR_LESS = late(
    r"\s*(?:[a-zñ]{3,20}\s+)?(?:o\s+menos|o\s+menor(?:es)?|como\s+maximo|a\s+lo\s+mas|o\s+inferior(?:es)?)\b"
)
_OR_MORE = late(
    r"\s*(?:[a-zñ]{3,20}\s+)?(?:o\s+mas|o\s+mayor(?:es)?|en\s+adelante|o\s+superior(?:es)?|como\s+minimo)\b"
)
_FROM = late(r"(?:\bde|\bentre|\bdesde)\s+(?:los\s+|las\s+)?$")
_UP_TO = late(
    r"(?:\bhasta|\b(?:no|ni)\s+mas\s+de|\bmaximo(?:\s+de)?|\bno\s+exced\w*\s+de|\bno\s+(?:sea\s+)?mayor(?:es)?\s+(?:de|a|que)"
    r"|\ba\s+lo\s+mas|\bcomo\s+maximo)\s+(?:los\s+|las\s+)?$"
)
_BELOW = late(
    r"(?:\bmenos\s+de|\bmenor(?:es)?\s+(?:de|a|que)|\binferior(?:es)?\s+a|\bdebajo\s+de)\s+(?:los\s+|las\s+)?$"
)
_ABOVE = late(
    r"(?:\bmas\s+de|\bmayor(?:es)?\s+(?:de|a|que)|\bsuperior(?:es)?\s+a|\bexced\w*\s+(?:de|los|las)?|\bencima\s+de"
    r"|\barriba\s+de|\brebas\w+)\s*(?:los\s+|las\s+)?$"
)
_FROM_UP = late(
    r"(?:\ba\s+partir\s+de|\bdesde|\bal\s+menos|\bminimo(?:\s+de)?|\bpor\s+lo\s+menos|\bno\s+menos\s+de|\bcuando\s+menos)"
    r"\s+(?:los\s+|las\s+)?$"
)


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds as integers say them: *más de 50* begins at 51. None is unbounded. `[start, end)` is in the text."""

    low: Decimal | None
    high: Decimal | None
    unit: str | None
    noun: str
    start: int
    end: int
    lead: str = ""  # the folded text before, for `el número de trabajadores exceda de cien`


def intervals(folded: str, figures: Sequence[Quantity], offset: int = 0) -> list[Interval]:
    """Intervals that a folded sentence states; `figures` are its quantities, `offset` where it begins in the text."""
    found: list[Interval] = []
    skip = False
    for n, figure in enumerate(figures):
        if skip:
            skip = False
            continue
        start, end = figure.start - offset, figure.end - offset
        before = folded[max(0, start - 80) : start]
        following = figures[n + 1] if n + 1 < len(figures) else None
        if following is not None and following.start - figure.end <= 26 and _FROM.search(before):
            between = folded[end : following.start - offset]
            if _TO.fullmatch(between):
                unit = following.unit or figure.unit
                found.append(
                    Interval(figure.value, following.value, unit, following.noun, figure.start, following.end)
                )
                skip = True
                continue
        one = _one_sided(folded, before, figure, end)
        if one is not None:
            found.append(one)
    return found


def _one_sided(folded: str, before: str, figure: Quantity, end: int) -> Interval | None:
    value = figure.value
    whole = value == int(value)
    step = Decimal(1) if whole else Decimal(0)
    low: Decimal | None = None
    high: Decimal | None = None
    more = _OR_MORE.match(folded, end)
    less = _OR_LESS.match(folded, end)
    if less or _UP_TO.search(before):
        high = value
    elif more or _FROM_UP.search(before):
        low = value
    elif _BELOW.search(before):
        high = value - step
    elif _ABOVE.search(before):
        low = value + step
    else:
        return None
    tail = less or more
    noun = folded[tail.end() : tail.end() + 48].strip() if tail else figure.noun
    if tail and (inner := re.match(r"\s*([a-zñ]{3,20})\s", tail.group())):
        noun = f"{inner.group(1)} {noun}"
    lead = re.search(r"\S+(?:\s+\S+)?\s*$", before)
    start = figure.start - (len(lead.group()) if lead and not tail else 0)
    counted = re.search(r"(?:numero|cantidad|total)\s+de\s+[^.;,]*$", before)
    end_at = figure.end + (len(tail.group()) if tail else 0)
    return Interval(low, high, figure.unit, noun, start, end_at, counted.group() if counted else "")


def range_support(requirement: RangeRequired, prepared: PreparedPassage) -> Support:
    """A sentence that says what holds for exactly that interval of that unit; a heading may state the interval for
    the sentences under it."""
    subject = telling_terms(requirement.terms, requirement.source, requirement.unit or "")
    named = names_anything(requirement.source)
    best: tuple[int, Sentence, Interval] | None = None
    other = False
    for sentence in prepared.sentences:
        near = sentence.near
        hits = sum(held(s, near) for s in subject)
        for interval in intervals(sentence.folded, sentence.quantities, sentence.start):
            if not _same_unit(requirement, interval, near if sentence.header else frozenset()):
                continue
            other = True
            enough = named or not subject or hits * 3 >= len(subject)
            if _same_bounds(requirement, interval) and enough and (best is None or hits > best[0]):
                best = (hits, sentence, interval)
    if best is not None:
        hits, sentence, interval = best
        core = (interval.start, interval.end)
        span = quotable_span(prepared.text, sentence.span, core)
        why = f"{prepared.text[core[0] : core[1]].strip()!r} is that interval"
        # What the interval must do outweighs where it is only spoken of.
        rank = hits + 3 * bool(cue("duty").search(sentence.folded))
        return Support(Status.SUPPORTED, why, (span,), (), (Proof((span,)),), rank=rank)
    headed = _headed(requirement, prepared)
    if headed is not None:
        return headed
    why = "another interval" if other else "no interval of that unit"
    return Support(Status.READ if other else Status.OPEN, why)


def _headed(requirement: RangeRequired, prepared: PreparedPassage) -> Support | None:
    for heading in prepared.passage.chunk.heading_path:
        folded = fold_chars(heading)
        stems_of: frozenset[str] = frozenset()
        for interval in intervals(folded, quantities(heading, folded, ())):
            if _same_bounds(requirement, interval) and _same_unit(requirement, interval, stems_of):
                body = next((s for s in prepared.sentences if not s.heading and len(s.folded) >= 24), None)
                if body is not None:
                    span = quotable_span(prepared.text, body.span)
                    return Support(Status.SUPPORTED, f"under {heading!r}", (span,), (), (Proof((span,)),))
    return None


def _same_unit(requirement: RangeRequired, interval: Interval, near: frozenset[str]) -> bool:
    if requirement.unit is None:
        return True
    if interval.unit is not None and interval.unit == requirement.unit:
        return True
    wanted = [stem(w) for w in content_words(requirement.unit)]
    if not wanted:
        return True
    if any(held(w, near) for w in wanted):
        return True  # the header of the table says what its rows count
    following = tuple(stem(w) for w in (*words(interval.noun)[:5], *words(interval.lead)[-8:]))
    return interval.unit is None and any(held(w, following) for w in wanted)


def _same_bounds(requirement: RangeRequired, interval: Interval) -> bool:
    low, high = requirement.low, requirement.high
    wanted_low = None if low is None else Decimal(str(low))
    wanted_high = None if high is None else Decimal(str(high))
    if wanted_low is not None and not requirement.low_inclusive and wanted_low == int(wanted_low):
        wanted_low += 1
    if wanted_high is not None and not requirement.high_inclusive and wanted_high == int(wanted_high):
        wanted_high -= 1
    return _bound(wanted_low) == _bound(interval.low) and wanted_high == interval.high


def _bound(low: Decimal | None) -> Decimal | None:
    """A count begins at one at the least: *de 1 a 15* is *hasta 15*."""
    return None if low is None or low <= 1 else low
