"""What a claim says and its quotes do not: the first thing to look at. An invitation to read, no verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dofrag.domain.records import dataclass
from dofrag.review.markup import plain
from dofrag.text.fold import STOP_WORDS, fold, stem, stems, words

_WORD = re.compile(r"[^\W_]+(?:[-./,][^\W_]+)*")
_DENIES = frozenset({"no", "ni", "sin", "nunca", "not", "never"})
LISTED = 15


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A claim's text as HTML, with the words underlined that no quote has, and these words (figures first)."""

    html: str
    words: tuple[str, ...]


def unquoted(text: str, quotes: Sequence[str]) -> Unquoted:
    """Which words of a claim stand in none of its quotes, inflected as they may be. Figures have to be the same, and
    a *no* has to be there. A claim without quotes is left alone: that it has none is said elsewhere."""
    if not quotes:
        return Unquoted(plain(text), ())
    there = {w for q in quotes for w in words(q)}
    roots = {s for q in quotes for s in stems(q)}
    parts: list[str] = []
    loose: list[str] = []
    at = 0
    for match in _WORD.finditer(text):
        word = fold(match[0])
        figure = any(c.isdigit() for c in word)
        if not _says_something(word, figure) or word in there or (not figure and stem(word) in roots):
            continue
        kind = "loose figure" if figure or word in _DENIES else "loose"
        parts.append(f'{plain(text[at : match.start()])}<span class="{kind}">{plain(match[0])}</span>')
        loose.append(match[0])
        at = match.end()
    parts.append(plain(text[at:]))
    figures = [w for w in loose if any(c.isdigit() for c in w)]
    return Unquoted("".join(parts), tuple(dict.fromkeys([*figures, *loose]))[:LISTED])


def _says_something(word: str, figure: bool) -> bool:
    return figure or word in _DENIES or (len(word) > 1 and word not in STOP_WORDS)
