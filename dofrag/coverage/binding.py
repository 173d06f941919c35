"""Whether the words around a figure in a claim are those that stand around it in what the claim quotes.

A quote proves a figure *of something*: a row and a column, a clause. A claim that gives it the label of another row,
column or clause says what no quote does, though every word and every figure of it is quoted. What a claim's clause
says of a figure is therefore compared with the labels of that figure and of its rivals, which are the other figures
of the same unit in the same table, sentence and quotes. A figure that some rival's label fits better is misbound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from dofrag.coverage.cells import cells_of
from dofrag.coverage.clauses import Bound, Words, divide, label_words
from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import Quantity, quantities
from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import content_words, fold_chars, stem
from dofrag.text.patterns import late

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
    return any(said in one for one in _shown(quotes)) or not beyond_quotes(text, quotes)


def beyond_quotes(text: str, quotes: Sequence[Quoted]) -> str:
    """What a text says besides whole quotes and their dates, folded and without signs; "" for nothing."""
    said = _level(text)
    for one in _shown(quotes):
        said = said.replace(one, " ") if one else said
    return " ".join(_DATED.sub(" ", said).split())


def _shown(quotes: Sequence[Quoted]) -> list[str]:
    """The quotes, folded and without signs, the longest first."""
    return sorted((_level(q.prepared.text[q.start : q.end]) for q in quotes), key=len, reverse=True)


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
    own = label_words(column)
    if header is not None:
        for n, (a, b) in enumerate(cells_of(text, *header)):
            if n and text[a:b] != column:
                yield own, label_words(text[a:b])
    own = label_words(row)
    for other in place.prepared.sentences[max(0, place.index - RIVALS_MAX) : place.index + RIVALS_MAX]:
        if other is place.sentence or other.header != header or text[other.start : other.start + 1] != "|":
            continue
        cells = cells_of(text, other.start, other.end)
        labels = [text[a:b] for n, (a, b) in enumerate(cells) if n == 0 or not _counts(text[a:b])]
        yield own, label_words(" ".join(labels))


# Clauses


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
        memo[key] = divide(text, [(q, q.start - at, q.end - at) for q in _measured(sentence, dated)])
    known: list[Bound] = memo[key]
    return known


def _bound(text: str, dated: bool) -> list[Bound]:
    """The figures, or the days, of a claim, each with the words that are said of it."""
    dates = tuple(find_dates(text))
    found = _days(dates) if dated else [q for q in quantities(text, fold_chars(text), dates) if not q.reference]
    return divide(text, [(q, q.start, q.end) for q in found])


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
        prepared.memo[key] = label_words(" . ".join(parts)) | {str(day.year)}
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
