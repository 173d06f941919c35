"""What a claim says and its quotes do not: the first thing to look at. An invitation to read, no verdict."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dofrag.domain.records import dataclass
from dofrag.review.markup import plain
from dofrag.text.fold import STOP_WORDS, fold, stem, stems, words
from dofrag.text.numwords import CARDINAL_WORDS

_DATED = re.compile(r" \(DOF (\d{4}-\d\d-\d\d)\)\.?\s*\Z")
"""The day of publication of what is cited, as the program itself adds it to a claim."""
_EXCEPTS = frozenset({"no", "ni", "salvo", "excepto"})
_NEAR = 0.7
"""Share of a quote's words that a claim must have to be told what it leaves out."""
_WORD = re.compile(r"[^\W_]+(?:[-./,][^\W_]+)*")
_DENIES = frozenset({"no", "ni", "sin", "nunca", "not", "never"})
_ARTICLES = frozenset({"un", "una", "uno"})
LISTED = 15


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A claim's text as HTML, with the words underlined that no quote has, and these words (figures first)."""

    html: str
    words: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """Words of a quote that turn its sense, and that a claim which says the rest of it leaves out."""


def unquoted(text: str, quotes: Sequence[str], published: Collection[str] = ()) -> Unquoted:
    """Which words of a claim stand in none of its quotes, inflected as they may be. Figures have to be the same, and
    a *no* has to be there. A claim without quotes is left alone: that it has none is said elsewhere. `published`: the
    days (ISO) on which what is cited was published; one that the program added is no word of it."""
    if not quotes:
        return Unquoted(plain(text), ())
    # A sign that spells out to letters ("0°") joins its neighbour in a folded text: words are taken as written, too.
    there = {w for q in quotes for w in (*words(q), *(fold(m[0]) for m in _WORD.finditer(q)))}
    roots = {s for q in quotes for s in stems(q)}
    parts: list[str] = []
    loose: list[str] = []
    at = 0
    added = _DATED.search(text)
    end = added.start() if added and added[1] in published else len(text)
    for match in _WORD.finditer(text, 0, end):
        word = fold(match[0])
        figure = _is_figure(word)
        if not _says_something(word, figure) or word in there or (not figure and stem(word) in roots):
            continue
        kind = "loose figure" if figure or word in _DENIES else "loose"
        parts.append(f'{plain(text[at : match.start()])}<span class="{kind}">{plain(match[0])}</span>')
        loose.append(match[0])
        at = match.end()
    parts.append(plain(text[at:]))
    figures = [w for w in loose if _is_figure(fold(w))]
    return Unquoted("".join(parts), tuple(dict.fromkeys([*figures, *loose]))[:LISTED], _dropped(text, quotes))


def _dropped(text: str, quotes: Sequence[str]) -> tuple[str, ...]:
    """What a claim leaves out of a quote that it otherwise repeats. Claims say a part of a long quote as a rule, so
    that it is looked for only in a quote of which the claim has nearly all."""
    said, roots = words(text), stems(text)
    gone: list[str] = []
    for quote in quotes:
        there = words(quote)
        told = [w for w in there if w not in STOP_WORDS and w not in _EXCEPTS]
        if not told or sum(w in said or stem(w) in roots for w in told) < _NEAR * len(told):
            continue
        gone += [w for w in dict.fromkeys(there) if w in _EXCEPTS and there.count(w) > said.count(w)]
    return tuple(dict.fromkeys(gone))


def _is_figure(word: str) -> bool:
    """Digits, or a number word that is nothing else (*un* and *una* are articles)."""
    return any(c.isdigit() for c in word) or (word in CARDINAL_WORDS and word not in _ARTICLES)


def _says_something(word: str, figure: bool) -> bool:
    return figure or word in _DENIES or (len(word) > 1 and word not in STOP_WORDS)
