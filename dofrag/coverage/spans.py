"""Spans to quote: whole sentences where they are short enough, else the stretch around what matters."""

from __future__ import annotations

from collections.abc import Iterable

from dofrag.domain.evidence import QUOTE_MAX

Span = tuple[int, int]


def quotable_span(text: str, whole: Span, core: Span | None = None) -> Span:
    """`whole` when a quote can hold it, else at most `QUOTE_MAX` characters of it around `core` (or from its
    beginning), cut at blanks."""
    start, end = whole
    if end - start <= QUOTE_MAX:
        return whole
    if core is None or core[1] - core[0] >= QUOTE_MAX:
        core = (core[0], core[0]) if core else (start, start)
    # More before than after: what a figure is of mostly stands before it.
    room = QUOTE_MAX - (core[1] - core[0])
    low = max(start, core[0] - room * 2 // 3)
    high = min(end, low + QUOTE_MAX)
    low = max(start, high - QUOTE_MAX)
    while low > start and low < core[0] and not text[low - 1].isspace():
        low += 1
    while high < end and high > core[1] and not text[high].isspace():
        high -= 1
    return low, high


def pieces(text: str, whole: Span) -> tuple[Span, ...]:
    """A span cut into quotable pieces that leave nothing but blanks out."""
    out: list[Span] = []
    start, end = whole
    while end - start > QUOTE_MAX:
        cut = start + QUOTE_MAX
        stop = max(text.rfind(" ", start + 1, cut), text.rfind("\n", start + 1, cut))
        cut = stop if stop > start else cut
        out.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        out.append((start, end))
    return tuple(out)


def merged(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Spans in order, joined where they touch or only blanks part them, as long as a quote can hold the join."""
    out: list[Span] = []
    for start, end in sorted(set(spans)):
        if out and start <= out[-1][1] and end <= out[-1][1]:
            continue
        if out and not text[out[-1][1] : start].strip() and end - out[-1][0] <= QUOTE_MAX:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return tuple(out)
