"""Whether a passage holds the value that is asked for: figure, unit, what it is of, how often, where and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from dofrag.coverage.assign import Mention, assign
from dofrag.coverage.cells import cell_context
from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.source import about, closeness, held, names_anything, telling_terms
from dofrag.coverage.spans import quotable_span
from dofrag.domain.evidence import QUOTE_MAX
from dofrag.domain.question import DateRole, Period, Status, ValueRequired
from dofrag.text.dates import FoundDate
from dofrag.text.fold import STOP_WORDS, content_words, fold, fold_chars, stem, words

_KIN = {
    "days": {"days", "calendar_days", "working_days"},
    "calendar_days": {"calendar_days", "days"},
    "working_days": {"working_days"},
    "m2": {"m2", "ha", "km2"},
    "ha": {"m2", "ha", "km2"},
}


PRICES = frozenset(map(stem, ("cuesta", "costo", "precio", "multa", "cuota", "tarifa", "sueldo", "monto", "importe")))
"""Words of a question whose value is money or a rate, never a bare count."""
OTHER_DATE = "another date than the one asked"


@dataclass(frozen=True, slots=True)
class _Found:
    cost: int
    quantity: Quantity
    sentence: Sentence
    more: tuple[tuple[int, int], ...]  # what must be quoted as well: the line that dates it


def value_support(requirement: ValueRequired, prepared: PreparedPassage) -> Support:
    """The best value of the passage that fits every slot; else which slot is missing."""
    found: list[_Found] = []
    misses: list[str] = []
    bears = False
    titled, anywhere = _borne(requirement, prepared)
    priced = requirement.unit is None and any(stem(t) in PRICES for t in requirement.terms)
    if not titled and not anywhere:
        return Support(Status.OPEN, "nothing read speaks of it")
    for index in _speaking(requirement, prepared, titled):
        sentence = prepared.sentences[index]
        bears = True
        figures = [q for q in sentence.quantities if _unit_fits(requirement.unit, q) and (q.unit or not priced)]
        figures = figures or [q for q in sentence.quantities if _said_after(requirement.unit, q, sentence)]
        if not figures and sentence.header is not None:
            figures = [q for q in sentence.quantities if _column_fits(requirement.unit, q, sentence, prepared)]
        figures = [q for q in figures if not _factor(q, prepared)]
        if not figures:
            misses.append(f"no figure in {requirement.unit or 'any unit'}")
            continue
        found += _fitting(requirement, prepared, index, figures, misses)
    if not found:
        why = misses[-1] if misses else "nothing read speaks of it"
        if OTHER_DATE in misses or not _mentions(requirement.period, prepared):
            return Support(Status.OPEN, OTHER_DATE)  # the value of another period is no trace of this one
        return Support(Status.READ if bears else Status.OPEN, why)
    subject = _subject(requirement)
    best = min(found, key=lambda f: (f.cost - 40 * closeness(subject, f.sentence), f.quantity.start))
    same = [f for f in found if f.quantity.text == best.quantity.text and f.quantity.unit == best.quantity.unit]
    proofs = tuple(
        Proof(((f.quantity.start, f.quantity.end), *f.more), f.quantity.text)
        for f in sorted(same, key=lambda f: (f is not best, f.quantity.start))
    )
    span = quotable_span(prepared.text, best.sentence.span, (best.quantity.start, best.quantity.end))
    shown = prepared.text[best.quantity.start : best.quantity.end]
    spans = (span, *best.more)
    if best.sentence.header is not None and span[0] - best.sentence.header[0] <= QUOTE_MAX // 2:
        # A cell is read with the header of its table.
        spans = (best.sentence.header, *spans)
    rank = closeness(subject, best.sentence) + 2 * _titled_by(subject, requirement, prepared)
    return Support(Status.SUPPORTED, f"{shown.strip()} fits", spans, (best.quantity.text,), proofs, rank=rank)


def _speaking(requirement: ValueRequired, prepared: PreparedPassage, titled: bool) -> tuple[int, ...]:
    """Which sentences are about what is asked. The same for every period, zone and frequency of it."""
    by_source = names_anything(requirement.source) or bool(requirement.entities)
    key = ("speaking", requirement.indicator, requirement.names, _subject(requirement), by_source)
    if key in prepared.memo:
        known: tuple[int, ...] = prepared.memo[key]
        return known
    found: list[int] = []
    spoke: int | None = None  # end of the last sentence that speaks of it by name
    for index, sentence in enumerate(prepared.sentences):
        if sentence.heading:
            continue  # a title never supports a value
        if speaks_of(requirement, sentence, prepared, titled=titled):
            spoke = sentence.end
        elif not (titled and spoke is not None and "\n\n" not in prepared.text[spoke : sentence.start]):
            # In a notice about the indicator, a paragraph that began with it goes on with it.
            continue
        found.append(index)
    prepared.memo[key] = tuple(found)
    return tuple(found)


def _titled_by(subject: tuple[str, ...], requirement: ValueRequired, prepared: PreparedPassage) -> int:
    """How far the title is about the subject: a notice about it outweighs one that happens to speak of it."""
    own = prepared.wide
    return sum(held(s, own) for s in subject) + (2 if requirement.indicator and _titled(requirement, prepared) else 0)


def _mentions(period: Period | None, prepared: PreparedPassage) -> bool:
    """Whether anything in the passage, its title or its headings names a date of the period."""
    return period is None or any(falls_in(d, period) for d in (*prepared.dates, *prepared.title_dates))


def _subject(requirement: ValueRequired) -> tuple[str, ...]:
    return telling_terms(requirement.terms, requirement.source, requirement.zone or "", " ".join(names(requirement)))


def names(requirement: ValueRequired) -> tuple[str, ...]:
    """Spellings of the indicator, the canonical one first."""
    if requirement.indicator is None:
        return ()
    return (requirement.indicator, *requirement.names)


def speaks_of(
    requirement: ValueRequired, sentence: Sentence, prepared: PreparedPassage, *, titled: bool = False
) -> bool:
    """Whether a sentence is about the indicator, by any of its names, or about the subject. In a notice whose title
    names the indicator (`titled`) a word of its name will do."""
    if requirement.indicator is None:
        # A figure that shares only some words with the question is another figure, unless its source is named.
        share = 0.5 if names_anything(requirement.source) or requirement.entities else 0.65
        return about(_subject(requirement), sentence, prepared, share=share)
    near = sentence.near
    spelled = _spelled(requirement)
    if any(all(held(s, near) for s in name) for name in spelled):
        return True
    if any(len(n) > 2 and 10 * sum(held(s, near) for s in n) >= 6 * len(n) for n in spelled):
        return False  # most of the name but not all of it: a sister of the indicator
    parts = {s for name in spelled for s in name}
    return titled and (
        sentence.header is not None or bool(parts & near) or any(held(s, near) for s in _subject(requirement))
    )


def _spelled(requirement: ValueRequired) -> tuple[frozenset[str], ...]:
    """Each spelling of the indicator as stems."""
    return _spellings(requirement.indicator, names(requirement))


@lru_cache(maxsize=1024)
def _spellings(indicator: str | None, spelled: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    # A number in the indicator ("TIIE 28") tells it from its sisters, whatever name it goes by.
    variant = {w for w in words(indicator or "") if w.isdigit()}
    found = [frozenset(stem(w) for w in content_words(name)) for name in spelled]
    return tuple(name | variant for name in found if name)


def _anywhere(requirement: ValueRequired, prepared: PreparedPassage) -> bool:
    """Whether the passage as a whole holds the words: no sentence can where it does not."""
    if requirement.indicator is not None:
        return any(all(held(s, prepared.stems) for s in name) for name in _spelled(requirement))
    subject = _subject(requirement)
    return not subject or any(held(s, prepared.stems) for s in subject)


def _borne(requirement: ValueRequired, prepared: PreparedPassage) -> tuple[bool, bool]:
    """Whether the title names what is asked, and whether anything in the passage does."""
    key = ("borne", requirement.indicator, requirement.names, _subject(requirement))
    if key not in prepared.memo:
        prepared.memo[key] = _titled(requirement, prepared), _anywhere(requirement, prepared)
    known: tuple[bool, bool] = prepared.memo[key]
    return known


def _titled(requirement: ValueRequired, prepared: PreparedPassage) -> bool:
    own = prepared.wide
    return any(all(held(s, own) for s in name) for name in _spelled(requirement))


def _unit_fits(unit: str | None, quantity: Quantity) -> bool:
    if quantity.reference:
        return False
    if unit is None:
        return (
            quantity.unit is not None
            or quantity.value != int(quantity.value)
            or quantity.kind != "plain"
            or (quantity.noun[:1].isalpha())
        )
    if unit in ("points", "index"):
        return quantity.unit == "points" or (quantity.unit is None and quantity.value != int(quantity.value))
    if quantity.unit is not None:
        return quantity.unit in _KIN.get(unit, {unit})
    if unit in ("MXN", "USD", "percent", "m2", "ha", "days", "calendar_days", "working_days", "months", "years"):
        return False
    # A unit of another sort is the noun that is counted: "14 inmuebles", "50 trabajadores".
    wanted = {stem(w) for w in words(unit)}
    following = tuple(stem(w) for w in words(quantity.noun)[:4])
    return any(held(w, following) for w in wanted)


def _factor(quantity: Quantity, prepared: PreparedPassage) -> bool:
    """Whether a figure is part of a rule of calculation: `multiplicar … por 30.4`."""
    return bool(cue("factor").search(prepared.folded[max(0, quantity.start - 160) : quantity.start]))


_SPOKEN = {
    "percent": ("en por ciento", "en porcentaje", "en terminos porcentuales"),
    "MXN": ("en pesos", "en moneda nacional"),
}


def _said_after(unit: str | None, quantity: Quantity, sentence: Sentence) -> bool:
    """Whether the sentence says further on what its bare figures are in: `5.2 y 4.1, ambos en por ciento`."""
    if quantity.unit is not None or quantity.reference or quantity.value == int(quantity.value):
        return False
    after = sentence.folded[quantity.end - sentence.start :]
    return any(phrase in after for phrase in _SPOKEN.get(unit or "", ()))


_HEADED = {"MXN": ("peso", "$", "m.n"), "percent": ("%", "porcent", "por ciento"), "m2": ("m2", "m²"), "ha": ("ha",)}


def _column_fits(unit: str | None, quantity: Quantity, sentence: Sentence, prepared: PreparedPassage) -> bool:
    """Whether a bare figure stands in a column whose header says what it counts; never the row's own number."""
    cell = cell_context(prepared, sentence, quantity.start)
    if cell is None or quantity.unit is not None or prepared.text[sentence.start : quantity.start].count("|") < 2:
        return False
    header = fold_chars(cell.column)
    wanted = _HEADED.get(unit or "", (fold_chars(unit),) if unit else ("",))
    return bool(header.strip()) and any(sign in header for sign in wanted)


def _fitting(
    requirement: ValueRequired, prepared: PreparedPassage, index: int, figures: list[Quantity], misses: list[str]
) -> list[_Found]:
    sentence = prepared.sentences[index]
    spans = [(q.start - sentence.start, q.end - sentence.start) for q in figures]
    often = _frequencies(requirement, prepared, index, spans)
    where = _zones(requirement, prepared, index, spans)
    when = _periods(requirement.period, prepared, index, spans)
    out: list[_Found] = []
    for quantity, frequency, zone, period in zip(figures, often, where, when, strict=True):
        if period is None:
            misses.append(OTHER_DATE)
        elif frequency is None:
            misses.append(f"not {requirement.frequency}")
        elif zone is None:
            misses.append(f"another zone than {requirement.zone}")
        else:
            apart = _apart(requirement, quantity, sentence) + (0 if requirement.unit or quantity.unit else BARE)
            out.append(_Found(frequency + zone + period[0] + apart, quantity, sentence, period[1]))
    return out


BARE = 150
"""What a figure without a unit weighs against one that has one, in characters."""


def _apart(requirement: ValueRequired, quantity: Quantity, sentence: Sentence) -> int:
    """How far a figure stands from the indicator's name, where a sentence names it among others: the nearest figure
    after the name is its own."""
    if requirement.indicator is None or sentence.header is not None or len(sentence.quantities) < 2:
        return 0
    at = quantity.start - sentence.start
    costs = [100]
    for name in (fold(n) for n in names(requirement)):
        start = sentence.folded.rfind(name, 0, at)
        # A name that runs on (`CCP` in `CCP-UDIS`) is a sister's.
        while start >= 0 and _runs_on(sentence.folded, start, start + len(name)):
            start = sentence.folded.rfind(name, 0, start)
        if start >= 0:
            between = sum(start <= q.start - sentence.start < at for q in sentence.quantities)
            costs.append(min(at - start - len(name), 60) + 20 * between)
    return min(costs)


def _runs_on(text: str, start: int, end: int) -> bool:
    return (
        text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or text[end : end + 2].strip("-").isalnum()
    )


def _frequencies(
    requirement: ValueRequired, prepared: PreparedPassage, index: int, spans: list[tuple[int, int]]
) -> list[int | None]:
    """For each figure the distance of the wanted frequency, None when it has another or none."""
    if requirement.frequency is None:
        return [0] * len(spans)
    sentence = prepared.sentences[index]
    if sentence.header is not None:
        cells = [cell_context(prepared, sentence, sentence.start + at) for at, _ in spans]
        if any(cell is not None and cell.frequencies for cell in cells):
            return [
                0 if cell is not None and requirement.frequency in {m.what for m in cell.frequencies} else None
                for cell in cells
            ]
    mentions = sentence.frequencies
    if mentions:
        pairs = assign(sentence.folded, spans, mentions)
        return [cost if what == requirement.frequency else None for what, cost in pairs]
    return [200 if said == requirement.frequency else None for said in [_nearby_frequency(prepared, index)]] * len(
        spans
    )


def _nearby_frequency(prepared: PreparedPassage, index: int) -> str | None:
    """What the sentence before says, or the title and headings, when that is one frequency only."""
    before = {m.what for m in prepared.sentences[index - 1].frequencies} if index else set()
    titled = {m.what for m in prepared.title_frequencies}
    said = before or titled
    return next(iter(said)) if len(said) == 1 else None


def _zones(
    requirement: ValueRequired, prepared: PreparedPassage, index: int, spans: list[tuple[int, int]]
) -> list[int | None]:
    if requirement.zone is None:
        return [0] * len(spans)
    wanted = frozenset(stem(w) for w in words(requirement.zone) if w not in STOP_WORDS or len(w) == 1)
    sentence = prepared.sentences[index]
    if sentence.header is not None:
        cells = [cell_context(prepared, sentence, sentence.start + at) for at, _ in spans]
        if any(cell is not None and cell.zones for cell in cells):
            return [0 if cell is not None and any(wanted <= m.what for m in cell.zones) else None for cell in cells]
    if sentence.zones:
        pairs = assign(sentence.folded, spans, sentence.zones)
        return [cost if what is not None and wanted <= what else None for what, cost in pairs]
    for earlier in reversed(prepared.sentences[max(0, index - 3) : index]):
        if earlier.zones:
            fits = wanted <= earlier.zones[-1].what
            return [200 if fits else None] * len(spans)
    fits = any(wanted <= zone.what for zone in prepared.title_zones)
    whole = all(held(w, sentence.near) for w in wanted)  # places that are no "zona"
    return [300 if fits or whole else None] * len(spans)


_When = tuple[int, tuple[tuple[int, int], ...]]


def _periods(
    period: Period | None, prepared: PreparedPassage, index: int, spans: list[tuple[int, int]]
) -> list[_When | None]:
    """For each figure: the distance of the wanted period, and what must be quoted with it; None for another one."""
    if period is None or period.role is DateRole.PUBLICATION:
        return [(0, ())] * len(spans)
    sentence = prepared.sentences[index]
    if sentence.header is not None:
        cells = [cell_context(prepared, sentence, sentence.start + at) for at, _ in spans]
        if any(cell is not None and cell.dates for cell in cells):
            return [
                (0, ()) if cell is not None and any(falls_in(d, period) for d in cell.dates) else None
                for cell in cells
            ]
    dates = [d for d in sentence.dates if not _refers(prepared, sentence.start, d)]
    if dates and all(falls_in(d, period) for d in dates):
        return [(0, ())] * len(spans)
    if dates:
        mentions = [Mention(d.start - sentence.start, d.end - sentence.start, d) for d in dates]
        pairs = assign(sentence.folded, spans, mentions)
        return [(cost, ()) if what is not None and falls_in(what, period) else None for what, cost in pairs]
    if cue("today").search(sentence.folded) and period.start == period.end:
        line = _signature_date(prepared, sentence)
        fits = line is not None and line.first == period.start
        return [(50, (_line_span(prepared, line),)) if fits and line else None] * len(spans)
    return [_from_context(period, prepared, index)] * len(spans)


def _refers(prepared: PreparedPassage, start: int, found: FoundDate) -> bool:
    """Whether a date is only what the value is compared with (`respecto de noviembre de 2025`)."""
    before = prepared.folded[max(start, found.start - 120) : found.start]
    return bool(cue("reference").search(before))


def falls_in(found: FoundDate, period: Period) -> bool:
    """Whether a date that the text names is of the period: the day itself or a stretch that holds it, a month or a
    day within a month or year. A whole year never answers for one of its months."""
    if period.start == period.end and found.precision == "day":
        return found.first <= period.start <= found.last
    return period.start <= found.first and found.last <= period.end


def _signature_date(prepared: PreparedPassage, sentence: Sentence) -> FoundDate | None:
    """The date of the line that signs the notice: the first `…, a 9 de agosto de 2006` after the sentence."""
    for found in prepared.dates:
        if found.start < sentence.start or found.precision != "day":
            continue
        if cue("signature_date").search(prepared.folded[max(0, found.start - 80) : found.start]):
            return found
    return None


def _line_span(prepared: PreparedPassage, found: FoundDate) -> tuple[int, int]:
    """A date with the place that stands before it, within its line."""
    line = prepared.text.rfind("\n", 0, found.start) + 1
    start = max(line, found.start - 40)
    while start > line and prepared.text[start - 1].isalnum():
        start += 1
    while start < found.start and not prepared.text[start].isalnum():
        start += 1
    return start, found.end


def _from_context(period: Period, prepared: PreparedPassage, index: int) -> _When | None:
    """The sentence itself names no date: the nearest one before it in the passage decides, else the headings and the
    title, else, for a whole year, the year of publication."""
    sentence = prepared.sentences[index]
    before = [d for d in prepared.dates if d.end <= sentence.start and not _refers(prepared, 0, d)]
    if before:
        nearest = before[-1]
        if falls_in(nearest, period):
            return 300, () if _year_only(period) else (_holding(prepared, nearest),)
        if not _year_only(period):
            return None
    if any(falls_in(d, period) for d in prepared.title_dates):
        return 400, ()
    after = [d for d in prepared.dates if d.start >= sentence.end]
    if after and not before and not prepared.title_dates and falls_in(after[0], period):
        return 450, () if _year_only(period) else (_holding(prepared, after[0]),)
    silent = not before and not after and not prepared.title_dates
    if silent and _year_only(period) and period.start.year == prepared.passage.publication.published_on.year:
        return 500, ()
    return None


def _holding(prepared: PreparedPassage, found: FoundDate) -> tuple[int, int]:
    """The sentence that names a date, to be quoted with the value that it dates."""
    for sentence in prepared.sentences:
        if sentence.start <= found.start < sentence.end:
            return quotable_span(prepared.text, sentence.span, (found.start, found.end))
    return found.start, found.end


def _year_only(period: Period) -> bool:
    return period.start == date(period.start.year, 1, 1) and period.end == date(period.start.year, 12, 31)
