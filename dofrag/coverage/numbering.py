"""What a publication shows of itself: the provisions that it numbers, whether it was read whole, what it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.topics import title_span
from dofrag.domain.question import Premise
from dofrag.text.fold import fold

MAX_NUMBERED = 8
OPENING = 160
"""Characters of a provision that show that it is there."""


def numbering(
    marks: Sequence[tuple[int, PreparedPassage, Span]], longest: int = OPENING, most: int = MAX_NUMBERED
) -> tuple[tuple[int, Span], ...]:
    """The provisions or items that there are, each number once, in order, of each its opening of so many characters:
    all of at most so many, else the first and the last."""
    first: dict[int, tuple[int, Span]] = {}
    for number, prepared, (start, end) in sorted(marks, key=lambda m: (m[0], m[1].id, m[2])):
        if end - start > longest:
            end = start + len(prepared.text[start : start + longest].rsplit(None, 1)[0])
        first.setdefault(number, (prepared.id, (start, end)))
    every = tuple(first.values())
    return every if len(every) <= most else (every[0], every[-1])


def amends_only(premise: Premise, prepared: PreparedPassage) -> bool:
    """Whether a publication merely changes the named law: its own provisions say nothing of how many the law has. A
    question of the publication itself names its day or calls it a decree."""
    if premise.source.published_from or not premise.source.name:
        return False
    asked = set(premise.source.name)
    return not asked & {"decreto", "reforma", "acuerdo"} and bool(
        cue("title_alters").search(fold(prepared.passage.publication.title))
    )


def read_whole(passages: Sequence[PreparedPassage]) -> bool:
    """Whether the read passages of one publication leave no part of it unread."""
    reached = 0
    for prepared in sorted(passages, key=lambda p: p.passage.chunk.start):
        if prepared.passage.chunk.start > reached:
            return False
        reached = max(reached, prepared.passage.chunk.end)
    return reached >= passages[0].passage.publication.chars


def numbers(kind: str, prepared: PreparedPassage) -> Iterator[tuple[Span, int]]:
    for sentence in prepared.sentences:
        mark = sentence.mark
        if mark is None and kind in ("art", "ordinal") and cue("first_point").search(sentence.folded):
            yield sentence.span, 1
        # A decree's points are its articles: PRIMERO answers for `artículo 1`.
        if (
            mark is not None
            and mark.number.isdigit()
            and (mark.kind == kind or (kind == "art" and mark.kind == "ordinal"))
        ):
            yield sentence.span, int(mark.number)


def ending(own: Sequence[PreparedPassage]) -> tuple[tuple[int, Span], ...]:
    """Where an act says itself what it ends: the first sentence of its provisions that does."""
    for prepared in sorted(own, key=lambda p: p.passage.chunk.start):
        titled = title_span(prepared)[1] if prepared.passage.chunk.start == 0 else 0
        for sentence in prepared.sentences:
            if sentence.start >= titled and not sentence.heading and cue("ends").search(sentence.folded):
                return ((prepared.id, quotable_span(prepared.text, sentence.span)),)
    return ()
