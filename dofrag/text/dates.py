"""Spanish dates in running text, in every form that a gazette uses."""

from __future__ import annotations

import calendar
import re
from datetime import date

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold_chars
from dofrag.text.numwords import CARDINAL, parse_cardinal
from dofrag.text.patterns import late

MONTHS = {
    "enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "mayo": 5, "junio": 6, "julio": 7, "agosto": 8,
    "septiembre": 9, "setiembre": 9, "octubre": 10, "noviembre": 11, "diciembre": 12,
}  # fmt: skip
_SHORT = {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date, or a span of dates, that stands at `[start, end)` of the text.

    `first` and `last` are inclusive: the same day for a day, the whole month or year for a coarser one, both ends
    of a range. `precision` is that of the words: "day" | "month" | "year". `year_given` is False where the year
    was supplied by the caller.
    """

    start: int
    end: int
    first: date
    last: date
    precision: str
    year_given: bool = True


_MONTH = r"(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)"
_YEAR_WORDS = rf"(?:dos mil|mil novecientos)(?:[ ](?:y|{CARDINAL})\b){{0,4}}"
_YEAR = rf"(?:(?:19|20)\d\d(?!\d)|{_YEAR_WORDS})"
_OF_YEAR = rf"(?:,?[ ]+(?:de[ ]+|del[ ]+)?(?:(?:año|mismo año)[ ]+)?(?:de[ ]+)?(?P<year>{_YEAR}))"
_DAY = (
    rf"(?:\d{{1,2}}(?:\.?[ ]?(?:º\.?|o\b\.?|er\b\.?))?(?:[ ]?\([a-z ]{{3,20}}\))?|primero|{CARDINAL}"
    rf"(?:[ ]y[ ]{CARDINAL})?)"
)

# A day and its month: "1º de enero de 2026", "doce de julio de dos mil doce", "9 agosto 2006", "18-agosto-2006".
_DAY_MONTH = late(
    rf"(?<![\w.,$/-])(?P<day>{_DAY})[ ]+(?:dias?[ ]+(?:del mes[ ]+)?)?(?:de[ ]+|del mes de[ ]+)?(?P<month>{_MONTH})\b"
    + _OF_YEAR
    + "?",
    outline=_MONTH,
)
_DASHED = late(
    r"(?<![\w/-])(?P<day>\d{1,2})(?P<sep>[-/. ])(?P<month>[a-z]{3,10})\.?(?P=sep)(?:de[ ])?"
    r"(?P<year>(?:19|20)?\d\d)(?![\w/-]|[.,]\d)"
)
_NUMERIC = late(
    r"(?<![\w/.,-])(?P<day>\d{1,2})(?P<sep>[/.-])(?P<month>\d{1,2})(?P=sep)(?P<year>(?:19|20)\d\d)(?![\w/-]|[.,]\d)"
)
_ISO = late(r"(?<![\w/.,-])(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)(?![\w/-]|[.,]\d)")
_MONTH_YEAR = late(rf"\b(?P<month>{_MONTH})\b" + _OF_YEAR, outline=_MONTH)
# "dic 2025", "ene. de 2026": a month cut short stands right before its year.
_SHORT_MONTH_YEAR = late(
    rf"\b(?P<month>{'|'.join(sorted(_SHORT, reverse=True))})\.?[ ]+(?:de[ ]+|del[ ]+)?"
    r"(?P<year>(?:19|20)\d\d)(?![\d/-]|[.,]\d)"
)
# A year alone: four digits that are no part of a larger sign and are not followed by what they would count.
_ALONE = late(r"(?<![\w$.,/#-])(?<![$#][ ])(?P<year>(?:19|20)\d\d)(?![\w%$/-]|[.,]\d|[ ]?[%º])")
_COUNTED = late(
    r"[ ]+(?:pesos|metros|m2|m²|km|kg|dias|horas|trabajador[ea]s|personas|unidades|umas?|veces|mil|millon|articulos"
    r"|hectareas|dolares|puntos|becari[oa]s|familias|viviendas|toneladas|litros|servicios|plazas)\b"
)
_NUMBERED = late(r"(?:\bno\.?|\bnum\.?|\bnumero|\bnota|\bcodigo|\bfolio|\bexpediente|\barticulos?|\bn\.?º)[ ]+$")
# "el 8 y el obtenido el 9 de agosto": another day of the same month, with a few words between.
_EARLIER_DAY = late(r"\bel[ ]+(?P<day>\d{1,2})[ ]+y[ ]+(?:[a-z]+[ ]+){0,4}el[ ]+$")
# "del 1 al 15 de julio de 2023", "entre el 8 y el 9 de agosto": a bare day that borrows the month that follows.
_BARE_DAY = late(
    r"(?<![\w.,$/-])(?P<day>\d{1,2}(?:\.?º\.?|o\b\.?)?|primero)"
    r"(?P<link>[ ]+al?[ ]+|[ ]*,[ ]*|[ ]+y[ ]+(?:el[ ]+)?|[ ]+e[ ]+|[ ]*-[ ]*)"
)
_MONTH_ALONE = late(rf"\b(?:de|en|a)[ ]+(?P<month>{_MONTH})\b")
_FORTNIGHT = late(
    rf"\b(?P<which>primera|segunda|1a\.?|2a\.?)[ ]+quincena[ ]+(?:de[ ]+)?(?P<month>{_MONTH})\b" + _OF_YEAR,
    outline="quincena",
)
_BARE_MONTH = late(rf"\b(?P<month>{_MONTH})(?:[ ]+a[ ]+|[ ]*,[ ]*|[ ]+y[ ]+(?:de[ ]+)?)$")
_AND = late(r"[ ]+y[ ]+(?:el[ ]+)?")
_TO = late(r"[ ]+(?:al?|hasta el|hasta)[ ]+(?:el[ ]+)?(?:(?:dia|mes)[ ]+(?:de[ ]+)?)?")


def _year(text: str) -> int | None:
    if text.isdigit():
        value = int(text)
        if value < 100:
            return value + (2000 if value < 70 else 1900)
        return value
    parsed = parse_cardinal(text.split())
    return parsed[0] if parsed and 1900 <= parsed[0] < 2100 else None


def _day(text: str) -> int | None:
    digits = re.match(r"\d+", text)
    if digits:
        return int(digits.group())
    if text == "primero":
        return 1
    parsed = parse_cardinal(text.split())
    return parsed[0] if parsed else None


def _month(text: str) -> int | None:
    return MONTHS.get(text) or (_SHORT.get(text) if len(text) < 5 else None)


def _make(day: int | None, month: int | None, year: int | None) -> date | None:
    """The date, or None for one that no calendar has."""
    if day is None or month is None or year is None or not 1 <= month <= 12:
        return None
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return date(year, month, day)


def month_span(year: int, month: int) -> tuple[date, date]:
    """First and last day of a month."""
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


class _Finder:
    """One search of one text. `taken` marks characters that a more exact form already read."""

    def __init__(self, text: str, default_year: int | None) -> None:
        self.text = fold_chars(text)
        self.default_year = default_year
        self.found: list[FoundDate] = []
        self.taken = bytearray(len(text))

    def claim(self, start: int, end: int) -> bool:
        if any(self.taken[start:end]):
            return False
        self.taken[start:end] = b"\x01" * (end - start)
        return True

    def days(self) -> None:
        """Every form with a day in it, the most exact first."""
        for pattern in (_ISO, _NUMERIC, _DASHED):
            for match in pattern.finditer(self.text):
                text = match["month"]
                month = int(text) if text.isdigit() else _month(text)
                day = _make(int(match["day"]), month, _year(match["year"]))
                if self.claim(*match.span()) and day is not None:
                    self.found.append(FoundDate(*match.span(), day, day, "day"))
        self.found.extend(reversed(self._days_and_months()))

    def _days_and_months(self) -> list[FoundDate]:
        """Read backwards, because "8 de agosto al 9 de septiembre de 2006" lends its year to the left."""
        out: list[FoundDate] = []
        later: tuple[int, int] | None = None  # start and year of the date to the right
        for match in reversed(list(_DAY_MONTH.finditer(self.text))):
            year, given = _year(match["year"] or ""), True
            if not match["year"]:
                lent = later is not None and 0 <= later[0] - match.end() <= 14
                year, given = (later[1], True) if lent and later else (self.default_year, False)
            day = _make(_day(match["day"]), MONTHS[match["month"]], year)
            if not self.claim(*match.span()) or day is None or year is None:
                continue  # claimed all the same: "31 de febrero de 2020" is no date, and no month either
            out.append(FoundDate(*match.span(), day, day, "day", given))
            start = match.start()
            for bare in self._bare_days(match.start(), day, given):
                out.append(bare)
                start = bare.start
            later = (start, year)
        return out

    def _bare_days(self, start: int, day: date, given: bool) -> list[FoundDate]:
        """Days without a month just before a date: "1 al 15 de julio", "3, 4 y 5 de mayo"; at most 31 of them."""
        out: list[FoundDate] = []
        while len(out) < 31:
            window = max(0, start - 14)
            before = [m for m in _BARE_DAY.finditer(self.text, window, start) if m.end() == start]
            match = before[-1] if before else _EARLIER_DAY.search(self.text, max(0, start - 60), start)
            if match is None:
                break
            lent = _make(_day(match["day"]), day.month, day.year)
            if lent is None or not self.claim(match.start("day"), match.end("day")):
                break
            out.append(FoundDate(match.start("day"), match.end("day"), lent, lent, "day", given))
            start = match.start("day")
        return out

    def fortnights(self) -> None:
        """`segunda quincena de julio de 2018`, as price indices have it: the 16th to the last day."""
        for match in _FORTNIGHT.finditer(self.text):
            year = _year(match["year"])
            if year is not None and self.claim(*match.span()):
                first, last = month_span(year, MONTHS[match["month"]])
                early = match["which"][0] in "p1"
                days = (first, first.replace(day=15)) if early else (first.replace(day=16), last)
                self.found.append(FoundDate(*match.span(), *days, "day"))

    def months_and_years(self) -> None:
        for match in _MONTH_YEAR.finditer(self.text):
            year = _year(match["year"])
            if year is None or not self.claim(*match.span()):
                continue
            self.found.append(FoundDate(*match.span(), *month_span(year, MONTHS[match["month"]]), "month"))
            start = match.start()
            # "de enero a marzo de 2020": the months before borrow the year.
            while (bare := _BARE_MONTH.search(self.text, max(0, start - 20), start)) and self.claim(
                bare.start(), bare.end("month")
            ):
                start, end = bare.start(), bare.end("month")
                self.found.append(FoundDate(start, end, *month_span(year, MONTHS[bare["month"]]), "month"))
        for match in _SHORT_MONTH_YEAR.finditer(self.text):
            if self.claim(*match.span()):
                span = month_span(int(match["year"]), _SHORT[match["month"]])
                self.found.append(FoundDate(*match.span(), *span, "month"))
        if self.default_year is not None:
            for match in _MONTH_ALONE.finditer(self.text):
                if self.claim(*match.span("month")):
                    span = month_span(self.default_year, MONTHS[match["month"]])
                    self.found.append(FoundDate(*match.span("month"), *span, "month", year_given=False))
        for match in _ALONE.finditer(self.text):
            start, end = match.span()
            before = self.text[max(0, start - 14) : start]
            if _COUNTED.match(self.text, end) or _NUMBERED.search(before) or not self.claim(start, end):
                continue
            year = int(match["year"])
            self.found.append(FoundDate(start, end, date(year, 1, 1), date(year, 12, 31), "year"))

    def joined(self) -> list[FoundDate]:
        """In order of place, with "del A al B" joined into one range."""
        out: list[FoundDate] = []
        for found in sorted(self.found, key=lambda f: f.start):
            before = out[-1] if out else None
            if (
                before is not None
                and before.precision == found.precision
                and before.last < found.first
                and _TO.fullmatch(self.text, before.end, found.start)
                and (before.precision != "year" or self._is_span(before.start))
            ) or (before is not None and self._between(before, found)):
                out[-1] = FoundDate(
                    before.start, found.end, before.first, found.last, found.precision,
                    before.year_given and found.year_given,
                )  # fmt: skip
            else:
                out.append(found)
        return out

    def _between(self, before: FoundDate, found: FoundDate) -> bool:
        """`entre el 3 y el 10 de mayo`: all the days between, too."""
        return (
            before.precision == found.precision == "day"
            and before.last < found.first
            and _AND.fullmatch(self.text, before.end, found.start) is not None
            and self.text[max(0, before.start - 9) : before.start].endswith(("entre ", "entre el "))
        )

    def _is_span(self, start: int) -> bool:
        # "de 2025 a 2026" compares two years; only "del 2019 al 2024" and the like name all between.
        return self.text[max(0, start - 4) : start] == "del "


def find_dates(text: str, *, default_year: int | None = None) -> list[FoundDate]:
    """All dates of a text in order, without overlaps.

    A day and month without a year needs `default_year`, else it is no date. Impossible dates (31 de febrero) are
    no dates, nor are plan periods (2013-2018), years within identifiers, or four-digit counts.
    """
    finder = _Finder(text, default_year)
    finder.days()
    finder.fortnights()
    finder.months_and_years()
    return finder.joined()
