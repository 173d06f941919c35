"""A passage cut into what one can quote: sentences, list items and table rows; and its lists.

All spans are characters of the passage's text. Everything is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import zip_longest

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold_chars
from dofrag.text.numwords import parse_roman
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a list item or a table row. `header` is the span of the table's header row, for a row."""

    start: int
    end: int
    header: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list: its number as marked (or counted, in a list of bullets), and its span, mark included."""

    ordinal: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ItemList:
    """Items whose marks follow one another. `lead` is the span of the text that introduces them; `closed` says that
    the last item ends like an end (a full stop, or *y* before it), so that none is cut off."""

    kind: str  # "roman" | "digit" | "letter" | "bullet"
    items: tuple[Item, ...]
    lead: tuple[int, int]
    closed: bool


_END = late(
    r"[.!?;:][\"»”)*_]*\s+(?=[\"«“¿¡(*_#]*[A-ZÁÉÍÓÚÑÜ0-9])|\n\s*\n|\n(?=\s*(?:[|#*•–—-]|\d{1,3}[.)](?!\d+(?:[,;]|\s+[yeau]l?\s))|[a-zñ]\)))"
)
_ABBREVIATION = late(
    r"(?:^|[^\w])(?:[a-zñ]|ee\.uu|arts?|num|nums|no|nos|fracc?|inc|parr|lic|dr|dra|ing|sra?|c\.p|mtr[oa]|prof|gral|av|col|"
    r"vol|pags?|cap|tel|ext|aprox|vgr|etc|sta|sto|ma|fr|frs|reg|exp|of|cd|edo|mpio|depto)\.$"
)
_MARK_ONLY = late(
    r"\W*(?:(?:articulo|art\.|numeral|fraccion|inciso|regla|anexo|capitulo|titulo)\s+)?"
    r"(?:[\dº°]+[oa]?(?:[.-][\da-z]+)*|[ivxlc]+|[a-zñ]\)|[a-z]+(?:[ ][a-z]+)?)[*_]*[.)]-?[*_]*\s*$"
)
_ORDINAL_MARK = late(r"(?:articulo\s+)?(?:primer|segund|tercer|cuart|quint|sext|septim|octav|noven|decim|unic)")
_RULE = late(r"^[\s|:+=-]+$")


def cut(text: str) -> tuple[Unit, ...]:
    """The units of a text, in order, without overlaps; white space and rules of tables belong to none."""
    folded = fold_chars(text)
    units: list[Unit] = []
    header: tuple[int, int] | None = None
    start = 0
    boundaries = [(m.start(), m.end()) for m in _END.finditer(text)] + [(len(text), len(text))]
    for stop, after in boundaries:
        mark_end = after
        if text[stop:after].strip() and stop < len(text):
            paragraph_ends = text.count("\n", stop, after) > 1
            if "\n" not in text[stop:after] and _is_heading(text, start, stop):
                continue  # a heading is one unit
            if not paragraph_ends and _continues(folded, start, stop):
                continue
            mark_end = stop + len(text[stop:after].rstrip())
        else:
            mark_end = stop
        _add(text, start, mark_end, units)
        start = after
    rows: list[Unit] = []
    for unit in units:
        if text[unit.start] == "|":
            header = header or (unit.start, unit.end)
            rows.append(Unit(unit.start, unit.end, None if header[0] == unit.start else header))
        else:
            header = None
            rows.append(unit)
    return tuple(rows)


MAX_HEADING = 160
"""Characters of a heading; a longer line that is marked as one holds the text of its article as well."""


def _is_heading(text: str, start: int, stop: int) -> bool:
    if not text[start:stop].lstrip().startswith("#"):
        return False
    line_end = text.find("\n", stop)
    return (line_end if line_end >= 0 else len(text)) - start <= MAX_HEADING


def _add(text: str, start: int, end: int, units: list[Unit]) -> None:
    """Add the stretch, blanks trimmed; lines of a table one by one."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start >= end or _RULE.match(text[start:end]):
        return
    units.append(Unit(start, end))


def _continues(folded: str, start: int, stop: int) -> bool:
    """Whether the stop at `stop` ends no sentence: an abbreviation, or the mark that a provision begins with."""
    if folded[stop] in ";:":
        # A colon or semicolon ends a unit only before a list mark; the pattern cannot tell, so look ahead.
        return not _LIST_MARK.match(folded, _skip(folded, stop + 1))
    head = folded[max(start, stop - 12) : stop + 1]
    if _ABBREVIATION.search(head):
        return True
    line = folded[start : stop + 1].lstrip()
    if len(line) <= 28 and _MARK_ONLY.match(line):
        words = line.strip(" *_#.-)").split()
        return (len(words) == 1 and not words[0].isalpha()) or bool(_named_mark(line))
    return False


def _named_mark(line: str) -> bool:
    bare = line.lstrip(" *_#")
    first = re.match(r"[a-z]+", bare)
    word = first.group() if first else ""
    return (
        word in {"articulo", "art", "numeral", "fraccion", "inciso", "regla", "anexo", "capitulo", "titulo"}
        or bool(_ORDINAL_MARK.match(bare))
        or (parse_roman(word) is not None and len(bare.split()) == 1)
    )


def _skip(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in "*_"):
        at += 1
    return at


_LIST_MARK = late(r"(?:y\s+)?(?:[ivxlc]{1,7}\s?[.)-]|\d{1,3}[.)]|[a-zñ]\))[*_-]*\s")
# A mark stands at the beginning of a line or after a stop (and perhaps a conjunction); a group for each kind.
_MARK = late(
    r"(?:(?<![\s\S])|(?<=\n)|(?<=[;:.,]\s)|(?<=[;:.,]\sy\s)|(?<=[;:.,]\so\s)|(?<=\sy\s)|(?<=-\s))[ \t]*[*_]*"
    r"(?:(?P<roman>[IVXLC]{1,7})[*_]*(?:\.-?|\)|\s?-)|(?P<digit>\d{1,3})[*_]*(?:\.-?|\))|(?P<letter>[a-zñ])\)"
    r"|(?P<bullet>[-•–—*▪●]))[*_]*(?=\s+\S)"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TAIL = late(r"[\s,;]+(?:[yeou][\s,]*)?$")
_SENTENCE_END = late(r"\.\s+(?=[A-ZÁÉÍÓÚÑ¿«\"“])")
MIN_ITEMS = 2


def lists(text: str) -> tuple[ItemList, ...]:
    """The marked lists of a text: runs of marks of one kind whose numbers follow one another. A run that begins
    beyond one (a list that another chunk begins) counts too."""
    marks: dict[str, list[tuple[int, int]]] = {"roman": [], "digit": [], "letter": [], "bullet": []}
    for match in _MARK.finditer(text):
        kind = match.lastgroup or "bullet"
        raw = match.group(kind)
        number = _number(kind, raw, len(marks["bullet"]))
        if number:
            at = match.start() + len(match.group()) - len(match.group().lstrip())
            marks[kind].append((number, at))
    found: list[ItemList] = []
    for kind, of_kind in marks.items():
        runs = _runs(text, kind, of_kind)
        for run, following in zip_longest(runs, runs[1:]):
            one = _list(text, kind, run)
            # Numbers that go on after a gap (`III Bis`, a mark that was lost) are of the same list.
            goes_on = following is not None and following[0][0] > run[-1][0]
            found.append(replace(one, closed=False) if goes_on else one)
    return tuple(sorted(found, key=lambda one: (one.items[0].start, one.kind)))


def _number(kind: str, raw: str, bullets: int) -> int:
    if kind == "roman":
        return parse_roman(raw) or 0
    if kind == "digit":
        return int(raw)
    if kind == "letter":
        return _LETTERS.find(raw) + 1
    return bullets + 1


def _runs(text: str, kind: str, marks: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = []
    for number, at in marks:
        follows = runs and number == runs[-1][-1][0] + 1
        if follows and kind == "bullet":
            follows = "\n\n" not in text[runs[-1][-1][1] : at].strip() and "#" not in text[runs[-1][-1][1] : at]
        if follows:
            runs[-1].append((number, at))
        else:
            runs.append([(number, at)])
    kept = [run for run in runs if len(run) >= MIN_ITEMS or (kind == "roman" and run[0][0] > 1)]
    if kind == "bullet":
        kept = [[(n, at) for n, (_, at) in enumerate(run, 1)] for run in kept]
    return kept


def _list(text: str, kind: str, run: list[tuple[int, int]]) -> ItemList:
    items: list[Item] = []
    for n, (ordinal, at) in enumerate(run):
        end = run[n + 1][1] if n + 1 < len(run) else _last_end(text, at)
        paragraph = text.find("\n\n", at, end)
        end = paragraph if paragraph >= 0 else end  # further paragraphs of an item are not what names it
        items.append(Item(ordinal, at, at + len(_TAIL.sub("", text[at:end].rstrip("* ")))))
    last = text[items[-1].start : _last_end(text, items[-1].start)].rstrip(" *_\n")
    before = text[max(0, items[-1].start - 4) : items[-1].start]
    closed = last.endswith(".") or bool(re.search(r"\s[ye]\s$", before))
    lead_start = max(text.rfind("\n\n", 0, items[0].start) + 1, items[0].start - 400, 0)
    if not text[lead_start : items[0].start].strip() and lead_start > 0:
        # The list stands in a paragraph of its own: what introduces it is the paragraph before.
        lead_start = max(text.rfind("\n\n", 0, max(lead_start - 1, 0)) + 1, items[0].start - 400, 0)
    return ItemList(kind, tuple(items), (lead_start, items[0].start), closed)


def _last_end(text: str, at: int) -> int:
    """Where the last item ends: its paragraph, or the full stop after which another sentence begins."""
    paragraph = text.find("\n\n", at)
    end = paragraph if paragraph >= 0 else len(text)
    # The mark itself may hold a stop: begin to look after it.
    stop = _SENTENCE_END.search(text, min(at + 8, end), end)
    return stop.start() + 1 if stop else end
