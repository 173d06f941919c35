"""Rows of a table that stand for an interval: the one that answers holds the quantity which the question states.

*Quien usa 800 litros paga…* is answered by the row *de 501 a 1,000*, by no other.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import quantities
from dofrag.coverage.ranges import Interval, intervals
from dofrag.domain.question import RangeRequired, SubQuestion
from dofrag.text.dates import find_dates
from dofrag.text.fold import content_words, fold_chars, stem, words
from dofrag.text.mentions import find_provisions


def other_row(sentence: Sentence, prepared: PreparedPassage, part: SubQuestion) -> bool:
    """Whether a row is one of an interval that holds none of the quantities which the question states, in a table
    whose header says what they count."""
    if sentence.header is None or any(isinstance(r, RangeRequired) for r in part.requirements):
        return False
    if _for_others(sentence, prepared, part.question or part.text):
        return True
    of = _interval(prepared.text[sentence.start : sentence.end])
    if of is None:
        return False
    header = frozenset(stem(w) for w in words(prepared.text[sentence.header[0] : sentence.header[1]]))
    stated = [value for value, noun in _stated(part.question or part.text) if noun in header]
    return bool(stated) and not any(_holds(of, value) for value in stated)


def _for_others(sentence: Sentence, prepared: PreparedPassage, question: str) -> bool:
    """Whether another row of the same table is the one for the quantity which the question states, in that row's own
    unit: who is seventy years old pays what the row *mayores de sesenta y cinco años* says, not the general fee."""
    stated = _stated(question)
    if not stated:
        return False
    rows = [s for s in prepared.sentences if s.header == sentence.header]
    mine = [s.span for s in rows if any(_is_for(s, prepared, *one) for one in stated)]
    return bool(mine) and sentence.span not in mine


def _is_for(row: Sentence, prepared: PreparedPassage, value: Decimal, noun: str) -> bool:
    text = prepared.text[row.start : row.end]
    of = _interval(text)
    cell = text.strip().strip("|").split("|")[0]
    return of is not None and any(stem(w) == noun for w in words(cell)) and _holds(of, value)


def _holds(of: Interval, value: Decimal) -> bool:
    return (of.low is None or of.low <= value) and (of.high is None or value <= of.high)


@lru_cache(maxsize=2048)
def _interval(row: str) -> Interval | None:
    """The interval of the first cell of a row; None where it states none, or several."""
    cell = row.strip().strip("|").split("|")[0].strip()
    folded = fold_chars(cell)
    found = intervals(folded, quantities(cell, folded, ()))
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=256)
def _stated(question: str) -> tuple[tuple[Decimal, str], ...]:
    """The quantities that a question states, each with the stem of the noun behind it: no dates, no provisions."""
    folded = fold_chars(question)
    taken = [(d.start, d.end) for d in find_dates(question)] + [(p.start, p.end) for p in find_provisions(question)]
    return tuple(
        (q.value, stem(noun))
        for q in quantities(question, folded, ())
        for noun in content_words(folded[q.start : q.end + 24])
        if noun.isalpha() and not any(a <= q.start < b for a, b in taken)
    )
