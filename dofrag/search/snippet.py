"""A short window of a text around what a query asks for. Same input, same window."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from dofrag.search.analysis import STOP_WORDS, query_text
from dofrag.text.fold import fold_chars

CUT = "[…]"
"""Stands where text was left out, so that nobody takes a snippet for the whole."""

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_STOP = frozenset(STOP_WORDS)
_SCAN = 200_000  # characters of a text that are looked at
_MARGIN = 8  # one such part of the width is left before the match, and one after it
_LENGTH = 12  # letters, beyond which a word of the query is worth no more; one of none would be worth half
_PAIR = 36  # what two neighbouring words of the query, found as neighbours ("artículo 3"), are worth beyond their own
_MARKS = 2_000  # places in a text that are looked at


def snippet(text: str, query: str, width: int) -> str:
    """About `width` characters of `text`, layout levelled, around the best match of `query`.

    The window is the one with the most distinct query words, pairs that stand together counting more; the earliest
    one among equals. Whole words only: `1` is not found in `10`. Cut ends show `[…]`.
    """
    body = text[:_SCAN]
    if len(text) <= width:
        return " ".join(text.split())
    start = _best_start(_marks(fold_chars(body), _words(query)), width)
    end = min(len(text), start + width)
    start, end = _whole_words(text, start, end)
    shown = " ".join(text[start:end].split())
    return f"{CUT + ' ' if start else ''}{shown}{' ' + CUT if end < len(text) else ''}"


@lru_cache(maxsize=1)  # a search shows a window of each of its passages
def _words(query: str) -> tuple[str, ...]:
    return tuple([_stem(w) for w in _WORD.findall(fold_chars(query_text(query)[:2000])) if w not in _STOP])


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Light: numbers stay whole, words lose a plural ending."""
    if word[0].isdigit() or len(word) < 5:
        return word
    return word[:-2] if word.endswith("es") else word.rstrip("s")


_Mark = tuple[int, int, object, int]
"""Where something of a query stands (start, end), what, and what it is worth."""


def _marks(text: str, words: Sequence[str]) -> list[_Mark]:
    """The words of a query in a text, and its neighbours where they are neighbours there."""
    marks: list[_Mark] = []
    pairs = set(pairwise(words))
    before, begun, ended = "", 0, 0
    for start, end, word in sorted(_places(text, set(words))):
        # A number or a rare long word says more of the place than a short one.
        marks.append((start, end, word, _LENGTH + min(len(word), _LENGTH)))
        if (before, word) in pairs and _WORD.search(text, ended, start) is None:
            marks.append((begun, end, (before, word), _PAIR))
        before, begun, ended = word, start, end
    return marks


def _places(text: str, words: set[str]) -> Iterator[tuple[int, int, str]]:
    """Where each word stands, in any of its forms. Found as bare characters first: every other word of a text then
    costs nothing."""
    numbers = {word for word in words if word[0].isdigit()}
    for word in words - numbers:
        at = text.find(word)
        while at >= 0:
            if not at or _LETTERS.match(text, at - 1) is None:
                match = _LETTERS.match(text, at)
                if match is not None and _stem(match.group()) == word:
                    yield at, match.end(), word
            at = text.find(word, at + len(word))
    if any(number in text for number in numbers):
        yield from ((*m.span(), m.group()) for m in _NUMBER.finditer(text) if m.group() in numbers)


def _best_start(marks: list[_Mark], width: int) -> int:
    marks = sorted(marks, key=itemgetter(0, 1))[:_MARKS]
    if not marks:
        return 0
    starts = [m[0] for m in marks]
    inner = max(1, width - 2 * (width // _MARGIN))
    scores = _scores(marks, inner)
    best = scores.index(max(scores))
    # What stands before the match and adds nothing to it only takes room from what follows.
    last = bisect_left(starts, starts[best] + inner)
    while best + 1 < last and scores[best + 1] >= scores[best]:
        best += 1
    return max(0, starts[best] - width // _MARGIN)


def _scores(marks: Sequence[_Mark], width: int) -> list[int]:
    """What the marks from each one on are worth that end within a width of its start, each thing counted once."""
    by_end = sorted(range(len(marks)), key=lambda i: (marks[i][1], i))
    held: dict[object, int] = {}  # how often each thing stands in the window
    within = [False] * len(marks)
    scores: list[int] = []
    score = come = 0
    for i, (start, _, what, worth) in enumerate(marks):
        while come < len(by_end) and marks[by_end[come]][1] <= start + width:
            if (coming := by_end[come]) >= i:
                _, _, thing, value = marks[coming]
                within[coming] = True
                held[thing] = held.get(thing, 0) + 1
                score += value if held[thing] == 1 else 0
            come += 1
        scores.append(score)
        if within[i]:  # it leaves the window
            held[what] -= 1
            score -= worth if not held[what] else 0
    return scores


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move both ends to the nearest gap between words, by forty characters at most."""
    for _ in range(40):
        if start == 0 or text[start - 1].isspace() or start >= end:
            break
        start -= 1
    for _ in range(40):
        if end >= len(text) or text[end].isspace() or end <= start + 1:
            break
        end -= 1
    return start, end
