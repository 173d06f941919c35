"""What qualifies a figure: how often, where and when it holds, by its sentence, its cell or what is near."""

from __future__ import annotations

import calendar
from datetime import date

from dofrag.coverage.assign import Mention, assign
from dofrag.coverage.cells import cell_context
from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held
from dofrag.coverage.spans import quotable_span
from dofrag.domain.question import DateRole, Period, ValueRequired
from dofrag.text.dates import MONTHS, FoundDate
from dofrag.text.fold import STOP_WORDS, fold_chars, stem, words
from dofrag.text.patterns import late


def frequency_costs(
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


def zone_costs(
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


def period_costs(
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
        month = _row_month(prepared, sentence)
        if month is not None:
            return [(0, ()) if period.start <= month[0] and month[1] <= period.end else None] * len(spans)
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


def _row_month(prepared: PreparedPassage, sentence: Sentence) -> tuple[date, date] | None:
    """The month that a row of a table is of, where its first cell is the name of one and the header or the title
    tells one year: its first and last day."""
    if sentence.header is None:
        return None
    label = sentence.folded.strip("| ").split("|")[0].strip(" *_.")
    number = MONTHS.get(label)
    said = (
        f"{prepared.folded[sentence.header[0] : sentence.header[1]]} {fold_chars(prepared.passage.publication.title)}"
    )
    years = {int(y) for y in _YEAR.findall(said)}
    if number is None or len(years) != 1:
        return None
    year = years.pop()
    return date(year, number, 1), date(year, number, calendar.monthrange(year, number)[1])


_YEAR = late(r"(?<!\d)(?:19|20)\d\d(?!\d)")


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
    titled = [d for d in prepared.title_dates if d.precision == "year"]
    if titled and _year_only(period) and not any(falls_in(d, period) for d in titled):
        return None  # a notice of the values *for 2031* tells none of another year where no sentence says so
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
