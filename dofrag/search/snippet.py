"""A short window of a text around what a query asks for. Same input, same window."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from dofrag.search.analysis import STOP_WORDS, query_text
from dofrag.text.fold import fold_chars

CUT = "[…]"
"""Stands where text was left out, so that nobody takes a snippet for the whole."""

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACE = re.compile(r"\s+")
_STOP = frozenset(STOP_WORDS)
_SCAN = 200_000  # characters of a text that are looked at
_MARGIN = 8  # one such part of the width is left before the match, and one after it
_PAIR = 3.0  # what two neighbouring words of the query, found as neighbours ("artículo 3"), count beyond their own


def snippet(text: str, query: str, width: int) -> str:
    """About `width` characters of `text`, layout levelled, around the best match of `query`.

    The window is the one with the most distinct query words, pairs that stand together counting more; the earliest
    one among equals. Whole words only: `1` is not found in `10`. Cut ends show `[…]`.
    """
    body = text[:_SCAN]
    if len(text) <= width:
        return _SPACE.sub(" ", text).strip()
    words = [_stem(w) for w in _WORD.findall(fold_chars(query_text(query)[:2000])) if w not in _STOP]
    start = _best_start(_marks(fold_chars(body), words), width)
    end = min(len(text), start + width)
    start, end = _whole_words(text, start, end)
    shown = _SPACE.sub(" ", text[start:end]).strip()
    return f"{CUT + ' ' if start else ''}{shown}{' ' + CUT if end < len(text) else ''}"


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Light: numbers stay whole, words lose a plural ending."""
    if word[0].isdigit() or len(word) < 5:
        return word
    return word[:-2] if word.endswith("es") else word.rstrip("s")


_Mark = tuple[int, int, object, float]
"""Where something of a query stands (start, end), what, and what it is worth."""


def _marks(text: str, words: list[str]) -> list[_Mark]:
    """The words of a query in a text, and its neighbours where they are neighbours there."""
    marks: list[_Mark] = []
    pairs = set(pairwise(words))
    before, begun, ended = "", 0, 0
    for start, end, word in sorted(_places(text, set(words))):
        # A number or a rare long word says more of the place than a short one.
        marks.append((start, end, word, 1.0 + min(len(word), 12) / 12))
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
    marks.sort(key=lambda m: (m[0], m[1]))
    starts = [m[0] for m in marks]
    inner = max(1, width - 2 * (width // _MARGIN))

    def score(i: int) -> float:
        limit = starts[i] + inner
        window = marks[i : min(bisect_left(starts, limit), i + 100)]
        return sum({what: worth for _, end, what, worth in window if end <= limit}.values())

    scores = [score(i) for i in range(min(len(marks), 2000))]
    if not scores:
        return 0
    best = scores.index(max(scores))
    # What stands before the match and adds nothing to it only takes room from what follows.
    last = bisect_left(starts, starts[best] + inner)
    while best + 1 < min(last, len(scores)) and scores[best + 1] >= scores[best]:
        best += 1
    return max(0, starts[best] - width // _MARGIN)


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
