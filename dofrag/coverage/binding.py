"""Whether the words around a figure in a claim are those that stand around it in what the claim quotes.

A quote proves a figure *of something*: a row and a column, a clause. A claim that gives it the label of another row,
column or clause says what no quote does, though every word and every figure of it is quoted. What a claim's clause
says of a figure is therefore compared with the labels of that figure and of its rivals, which are the other figures
of the same unit in the same table, sentence and quotes. A figure that some rival's label fits better is misbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from dofrag.coverage.cells import cells_of
from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import FREQUENCIES, PreparedPassage, Sentence, frequencies
from dofrag.coverage.quantities import Quantity, quantities
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import STOP_WORDS, content_words, fold_chars, stem
from dofrag.text.patterns import late

Words = frozenset[str]
RIVALS_MAX = 400
"""Rows of a table, or figures of a sentence, that a figure is compared with."""
CLAIM_FIGURES_MAX = 60
HALF = 0.5
"""Share of a rival's own label that a claim has to say before it counts as said."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """One quote: its passage and its span there."""

    prepared: PreparedPassage
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure with the words of its own clause, and those it may share with its neighbours."""

    quantity: Quantity
    own: Words
    shared: Words


def misbound(text: str, quotes: Sequence[Quoted], computed: Words = frozenset()) -> list[tuple[str, str]]:
    """The figures of a claim that its words bind to something else than its quotes do, as written, each with the
    label that stands at it in a quote. Figures that no quote holds are not looked at here, nor is `computed`."""
    if _verbatim(text, quotes):
        return []
    return [fault for dated in (False, True) for fault in _faults(text, quotes, computed, dated)]


def _faults(text: str, quotes: Sequence[Quoted], computed: Words, dated: bool) -> list[tuple[str, str]]:
    """The figures, or the days (`dated`), that stand under other words."""
    found = _figures_of(quotes, dated)
    out: list[tuple[str, str]] = []
    for bound in _bound(text, dated)[:CLAIM_FIGURES_MAX]:
        held = [
            one for one in found if one.quantity.text == bound.quantity.text and _kin(one.quantity, bound.quantity)
        ]
        if bound.quantity.text in computed or not held:
            continue
        if not any(_fits(bound, one, found) for one in held):
            figure = text[bound.quantity.start : bound.quantity.end].strip()
            out.append((figure, held[0].label()))
    return out


def _verbatim(text: str, quotes: Sequence[Quoted]) -> bool:
    """Whether a claim says quotes and nothing else: a stretch of one, or several whole ones with their dates."""
    said = _level(text)
    shown = sorted((_level(q.prepared.text[q.start : q.end]) for q in quotes), key=len, reverse=True)
    if any(said in one for one in shown):
        return True
    for one in shown:
        said = said.replace(one, " ") if one else said
    return not _DATED.sub(" ", said).strip()


def _level(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", fold_chars(text)).split())


_DATED = late(r"\bdof \d{4} \d\d \d\d\b")
_SIGNS = late(r"[^\w$%]+")


# Where figures stand in quotes


@dataclass(frozen=True, slots=True)
class _Place:
    """A figure of a quote, in its sentence."""

    quantity: Quantity
    sentence: Sentence
    index: int
    prepared: PreparedPassage

    def label(self) -> str:
        """What stands at the figure, to be shown."""
        cell = _cell(self)
        if cell is not None:
            row, column = cell
            return " · ".join(t for t in (row.strip(" |*_"), column.strip(" |*_")) if t)
        text = self.prepared.text[self.sentence.start : self.sentence.end]
        at = self.quantity.start - self.sentence.start
        return " ".join(text[max(0, at - 80) : at + 60].split())


def _days(found: Iterable[FoundDate]) -> list[Quantity]:
    """Days as figures of a unit of their own."""
    return [
        Quantity(d.start, d.end, Decimal(d.first.toordinal()), "date", "date", "")
        for d in found
        if d.precision == "day"
    ]


def _measured(sentence: Sentence, dated: bool) -> list[Quantity]:
    return _days(sentence.dates) if dated else [q for q in sentence.quantities if not q.reference]


def _figures_of(quotes: Sequence[Quoted], dated: bool) -> list[_Place]:
    found: dict[tuple[int, int], _Place] = {}
    for quote in quotes:
        for index, sentence in enumerate(quote.prepared.sentences):
            if sentence.end <= quote.start or quote.end <= sentence.start:
                continue
            for q in _measured(sentence, dated):
                if quote.start <= q.start < quote.end:
                    found.setdefault((quote.prepared.id, q.start), _Place(q, sentence, index, quote.prepared))
    return list(found.values())


def _kin(one: Quantity, other: Quantity) -> bool:
    return one.unit is None or other.unit is None or one.unit == other.unit


def _fits(bound: Bound, place: _Place, found: Sequence[_Place]) -> bool:
    said = bound.own
    if not _frequency_fits(bound, place):
        return False
    if place.sentence.header is not None or _is_row(place):
        if any(_prefers(said, rival, own) for own, rival in _table_rivals(place)):
            return False
    elif any(_prefers(said, rival, own) for own, rival in _clause_rivals(place)):
        return False
    return not any(_names_instead(said, place, other) for other in found)


def _prefers(said: Words, rival: Words, own: Words) -> bool:
    """Whether a claim says a rival's label rather than the figure's own, as far as the two differ."""
    theirs, ours = rival - own, own - rival
    if not theirs:
        return False
    told = len(said & theirs) / len(theirs)
    return told >= HALF and told > (len(said & ours) / len(ours) if ours else 0.0)


def _frequency_fits(bound: Bound, place: _Place) -> bool:
    """How often a claim says that something is due has to be said somewhere above or beside the figure."""
    asked = {w for w in bound.own if w.startswith("f:")}
    if not asked:
        return True
    return all(cue(w[2:]).search(_around(place)) for w in asked)


def _around(place: _Place) -> str:
    prepared = place.prepared
    if "around" not in prepared.memo:
        above = " . ".join([prepared.passage.publication.title, *prepared.passage.chunk.heading_path])
        prepared.memo["around"] = f"{prepared.folded} . {fold_chars(above)}"
    known: str = prepared.memo["around"]
    return known


# Tables


def _is_row(place: _Place) -> bool:
    return place.prepared.text[place.sentence.start : place.sentence.start + 1] == "|"


def _cell(place: _Place) -> tuple[str, str] | None:
    """The label of the figure's row, and the header of its column."""
    if place.sentence.header is None and not _is_row(place):
        return None
    text = place.prepared.text
    row = cells_of(text, place.sentence.start, place.sentence.end)
    at = next((n for n, (a, b) in enumerate(row) if a <= place.quantity.start < b), None)
    if at is None:
        return None
    header = cells_of(text, *place.sentence.header) if place.sentence.header is not None else []
    column = text[header[at][0] : header[at][1]] if at < len(header) else ""
    labels = [text[a:b] for n, (a, b) in enumerate(row) if n != at and (n == 0 or not _counts(text[a:b]))]
    return " ".join(labels), column


def _counts(cell: str) -> bool:
    return any(c.isdigit() for c in cell)


def _table_rivals(place: _Place) -> Iterator[tuple[Words, Words]]:
    """Pairs of the figure's own label and a rival's: its column and each other one, its row and each other one."""
    cell = _cell(place)
    if cell is None:
        return
    row, column = cell
    text, header = place.prepared.text, place.sentence.header
    own = _words(column)
    if header is not None:
        for n, (a, b) in enumerate(cells_of(text, *header)):
            if n and text[a:b] != column:
                yield own, _words(text[a:b])
    own = _words(row)
    for other in place.prepared.sentences[max(0, place.index - RIVALS_MAX) : place.index + RIVALS_MAX]:
        if other is place.sentence or other.header != header or text[other.start : other.start + 1] != "|":
            continue
        cells = cells_of(text, other.start, other.end)
        labels = [text[a:b] for n, (a, b) in enumerate(cells) if n == 0 or not _counts(text[a:b])]
        yield own, _words(" ".join(labels))


# Clauses

_STRONG = late(r";|\n[ \t]*\n|\.(?=\s|$)")
"""What parts clauses that have nothing in common."""


def _clause_rivals(place: _Place) -> Iterator[tuple[Words, Words]]:
    bounds = _bound_in(place)
    own = next((b for b in bounds if b.quantity.start == place.quantity.start), None)
    if own is None:
        return
    for rival in bounds[:RIVALS_MAX]:
        if rival is not own and rival.own != own.own and _kin(rival.quantity, own.quantity):
            yield own.own | own.shared, rival.own | rival.shared


def _bound_in(place: _Place) -> list[Bound]:
    dated = place.quantity.kind == "date"
    memo, key = place.prepared.memo, ("bound", place.sentence.start, dated)
    if key not in memo:
        sentence = place.sentence
        text = place.prepared.text[sentence.start : sentence.end]
        at = sentence.start
        memo[key] = _divide(text, [(q, q.start - at, q.end - at) for q in _measured(sentence, dated)])
    known: list[Bound] = memo[key]
    return known


def _bound(text: str, dated: bool) -> list[Bound]:
    """The figures, or the days, of a claim, each with the words that are said of it."""
    dates = tuple(find_dates(text))
    found = _days(dates) if dated else [q for q in quantities(text, fold_chars(text), dates) if not q.reference]
    return _divide(text, [(q, q.start, q.end) for q in found])


Figures = Sequence[tuple[Quantity, int, int]]
"""Figures of a text with their spans in it."""


def _divide(text: str, figures: Figures) -> list[Bound]:
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
    leading = _words(text[low : figures[0][1]])
    named_after = not leading or (len(figures) > 1 and not _named_before(text, figures))
    edges = [figures[0][1] if named_after else low]
    edges += [_division(text, one[2], two[1], named_after) for one, two in pairwise(figures)]
    edges.append(len(text))
    own = [
        _words(f"{text[start:at]} {text[end:stop]}")
        for (_, at, end), (start, stop) in zip(figures, pairwise(edges), strict=True)
    ]
    return _in_order(text[low:], figures, _spread(text, figures, own), leading if named_after else frozenset(), low)


def _spread(text: str, figures: Figures, own: list[Words]) -> list[Words]:
    """Figures that nothing but marks and small words part (`de 10 a 12`, `1, 2 y 3`) have their words in common."""
    out = list(own)
    n = 0
    while n < len(figures):
        last = n
        while last + 1 < len(figures) and not _words(text[figures[last][2] : figures[last + 1][1]]):
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
        return not _words(text[figures[-1][2] :])
    return bool(_words(between[marks[-1].end() :])) or not _words(between)


def _division(text: str, end: int, start: int, named_after: bool) -> int:
    marks = list(cue("clause_end").finditer(fold_chars(text[end:start])))
    if not marks:
        return start if named_after else end
    return end + (marks[-1].start() if named_after else marks[0].end())


# Names in other quotes


def _names_instead(said: Words, place: _Place, other: _Place) -> bool:
    """Whether a claim names what another quoted figure is of, and nothing that this one is of."""
    if other.sentence is place.sentence and other.prepared is place.prepared:
        return False
    if not _kin(other.quantity, place.quantity) or other.quantity.text == place.quantity.text:
        return False
    ours, theirs = _of(place), _of(other)
    names = said & (theirs - ours)
    return any(_telling(w, other) for w in names) and not any(_telling(w, place) for w in said & (ours - theirs))


def _of(place: _Place) -> Words:
    """Everything that a figure stands under: its sentence, the one before that has no figure, titles and headings."""
    prepared = place.prepared
    key = ("of", place.sentence.start)
    if key not in prepared.memo:
        before = prepared.sentences[place.index - 1] if place.index else None
        parts = [prepared.text[place.sentence.start : place.sentence.end], prepared.passage.publication.title]
        parts += prepared.passage.chunk.heading_path
        if before is not None and not before.quantities:
            parts.append(prepared.text[before.start : before.end])
        if place.sentence.header is not None:
            parts.append(prepared.text[slice(*place.sentence.header)])
        day = prepared.passage.publication.published_on
        prepared.memo[key] = _words(" . ".join(parts)) | {str(day.year)}
    known: Words = prepared.memo[key]
    return known


def _telling(word: str, place: _Place) -> bool:
    """Whether a word is a name where it stands: capitalised, a single letter, a key, a year or a frequency."""
    if word.startswith(("f:", "=")) or word.isdigit():
        return True
    key = ("names", place.sentence.start)
    memo = place.prepared.memo
    if key not in memo:
        text = place.prepared.text[place.sentence.start : place.sentence.end]
        texts = [text, place.prepared.passage.publication.title]
        memo[key] = frozenset(stem(w) for t in texts for m in _NAME.finditer(t) for w in content_words(m.group()))
    return word in memo[key]


_NAME = late(r"(?<=[^\W\d_][ ])[A-ZÁÉÍÓÚÜÑ][^\W\d_]{2,}|(?<=\|[ ])[A-ZÁÉÍÓÚÜÑ][^\W\d_]{2,}")
_LETTER = late(r"(?<![\w.])[A-Z](?![\w.]\w)(?=\W|$)")


def _words(text: str) -> Words:
    """The words of a label: stems, single capitals, keys and years, and how often, under one name however it is
    put."""
    folded = fold_chars(text)
    often = {f"f:{name}" for name in FREQUENCIES if cue(name).search(folded)}
    for name in FREQUENCIES:
        folded = cue(name).sub(" ", folded) if f"f:{name}" in often else folded
    letters = {f"={m.group()}" for m in _LETTER.finditer(text)}
    own = {stem(w) for w in content_words(folded) if w not in STOP_WORDS}
    return frozenset(own - wordset("bland")) | often | letters
