"""Which words of a text are said of which of its figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import FREQUENCIES, frequencies
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.records import dataclass
from dofrag.text.fold import STOP_WORDS, content_words, fold_chars, stem
from dofrag.text.patterns import late

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure with the words of its own clause, and those it may share with its neighbours."""

    quantity: Quantity
    own: Words
    shared: Words


_STRONG = late(r";|\n[ \t]*\n|\.(?=\s|$)")
"""What parts clauses that have nothing in common."""


Figures = Sequence[tuple[Quantity, int, int]]
"""Figures of a text with their spans in it."""


def divide(text: str, figures: Figures) -> list[Bound]:
    """Which words of a text are said of which of its figures, clause by clause."""
    out: list[Bound] = []
    edges = [0, *(m.end() for m in _STRONG.finditer(text)), len(text)]
    at = 0
    for low, high in pairwise(edges):
        mine = at
        while at < len(figures) and figures[at][1] < high:
            at += 1
        if at > mine:
            out += _clause(text[:high], low, figures[mine:at])
    return out


def _clause(text: str, low: int, figures: Figures) -> list[Bound]:
    """The figures of the clause that begins at `low` and ends with the text.

    Between two figures it divides at a comma or *y*. A list that names before it counts (`diario 10, mensual 12`)
    gives what follows the first of these to the next figure; one that counts before it names (`10 en la zona A, 12 en
    la zona B`) gives what precedes the last of them to the figure before, and what leads it is said of all. Figures
    with no words between them share those around them.
    """
    leading = label_words(text[low : figures[0][1]])
    named_after = not leading or (len(figures) > 1 and not _named_before(text, figures))
    edges = [figures[0][1] if named_after else low]
    edges += [_division(text, one[2], two[1], named_after) for one, two in pairwise(figures)]
    edges.append(len(text))
    own = [
        label_words(f"{text[start:at]} {text[end:stop]}")
        for (_, at, end), (start, stop) in zip(figures, pairwise(edges), strict=True)
    ]
    return _in_order(text[low:], figures, _spread(text, figures, own), leading if named_after else frozenset(), low)


def _spread(text: str, figures: Figures, own: list[Words]) -> list[Words]:
    """Figures that nothing but marks and small words part (`de 10 a 12`, `1, 2 y 3`) have their words in common."""
    out = list(own)
    n = 0
    while n < len(figures):
        last = n
        while last + 1 < len(figures) and not label_words(text[figures[last][2] : figures[last + 1][1]]):
            last += 1
        if last > n:
            out[n : last + 1] = [frozenset().union(*own[n : last + 1])] * (last + 1 - n)
        n = last + 1
    return out


def _in_order(clause: str, figures: Figures, own: list[Words], shared: Words, low: int) -> list[Bound]:
    """`diario, mensual y anual de 1, 2 y 3`: as many labels as figures go in their order."""
    said = frequencies(fold_chars(clause[: figures[0][1] - low]))
    alike = len(figures) > 1 and len(set(own)) == 1 and len(said) == len(figures)
    out = []
    for n, (quantity, _, _) in enumerate(figures):
        words = own[n]
        if alike:
            words = frozenset(w for w in words if not w.startswith("f:")) | {f"f:{said[n].what}"}
        out.append(Bound(quantity, words, shared))
    return out


def _named_before(text: str, figures: Figures) -> bool:
    """Whether the second figure has words of its own before it, behind a boundary. Where there is no boundary, what
    stands behind the last figure tells."""
    between = text[figures[0][2] : figures[1][1]]
    marks = list(cue("clause_end").finditer(fold_chars(between)))
    if not marks:
        return not label_words(text[figures[-1][2] :])
    return bool(label_words(between[marks[-1].end() :])) or not label_words(between)


def _division(text: str, end: int, start: int, named_after: bool) -> int:
    marks = list(cue("clause_end").finditer(fold_chars(text[end:start])))
    if not marks:
        return start if named_after else end
    return end + (marks[-1].start() if named_after else marks[0].end())


_LETTER = late(r"(?<![\w.])[A-Z](?![\w.]\w)(?=\W|$)")


def label_words(text: str) -> Words:
    """The words of a label: stems, single capitals, keys and years, and how often, under one name however it is
    put."""
    folded = fold_chars(text)
    often = {f"f:{name}" for name in FREQUENCIES if cue(name).search(folded)}
    for name in FREQUENCIES:
        folded = cue(name).sub(" ", folded) if f"f:{name}" in often else folded
    letters = {f"={m.group()}" for m in _LETTER.finditer(text)}
    own = {stem(w) for w in content_words(folded) if w not in STOP_WORDS}
    return frozenset(own - wordset("bland")) | often | letters
