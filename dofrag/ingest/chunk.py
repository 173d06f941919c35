"""Blocks of one publication → chunks that tile its text exactly.

Each block is cut into pieces where a provision begins inside it; pieces are gathered into chunks: an article, a
transitory or a numeral begins one, a list stays with its lead-in while it fits, long text is divided at sentence
ends. No word is ever cut, unless it alone is longer than a chunk may be. A crumb at the end of a provision joins the
chunk before it, and sections of next to nothing share one. Two numbered provisions never do: a citation names one.

This is the inner loop of a build: pieces are plain tuples, and nothing is computed before it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dofrag.ingest.interface import Block, ChunkDraft
from dofrag.ingest.lines import bare
from dofrag.ingest.outline import ITEM, SOFT, STRONG, Mark, Outline, Place, provision_path
from dofrag.text.provisions import heading_provision

TARGET = 1_600
LIST_MAX = 2_800
HARD_MAX = 4_000
TABLE_LEAD = 400
"""Characters of text that stay with the table they lead into."""
CRUMB = 250
"""The end of a provision or a paragraph that is shorter than this goes with what stands before it."""
SCRAP = 120
"""Sections shorter than this, heading and all, share a chunk with their neighbours; numbered provisions never do."""
SHORT = 120
"""A line up to this long is taken whole, unless it may hold a heading and its article."""

# Where a provision may begin inside a line; what stands before it and `heading_provision` confirm each candidate.
_INLINE = re.compile(r"(?:ART[IÍ]CULO|Art[ií]culo|TRANSITORIOS?|CAP[IÍ]TULO)\s(?=[\dA-ZÚú])")
_DASHED = re.compile(r"ART[IÍ]CULO\s\d{1,4}[oº°]?(?:[ .-]{1,2}[A-Z]{1,8})?[. ]?-")  # wherever it stands
_ENDS = frozenset('.;:)”"')
_LIST_ITEM = re.compile(
    r"(?<=[;:.,]\s)(?:y\s|o\s)?"
    r"(?=[IVXL]{1,7}\s?\.|[a-z]\)|\d{1,2}(?:\.\d{1,3})*\.?\s[A-ZÁÉÍÓÚ]|[A-ZÁÉÍÓÚ]{5,12}\s?\.-)"
)
_SENTENCE = re.compile(r"[.;:][”\")]?\s+(?=\S)")
_SPACE = re.compile(r"\s+")

NOWHERE: Place = ((), ())

Piece = tuple[str, Place, bool, bool]
"""Text, where it stands, whether it is content (no heading, no blank), whether it is of a table."""


def chunks(blocks: Iterable[Block], outline: Outline) -> Iterator[ChunkDraft]:
    """The chunks of one publication; joined, their texts are the joined texts of `blocks`."""
    gather = Gatherer()
    done = gather.done
    add, see, place = gather.add, outline.see, outline.place
    for kind, text, level, style in blocks:
        if kind == "paragraph" or kind == "heading":
            if may_hold_provisions(text) if len(text) > SHORT else " ART" in text:
                for part in provisions_apart(text):
                    _add_long(gather, outline, part, level)
            elif len(text) <= TARGET:
                mark = see(text, level)
                add(text, place(), mark)
            else:
                _add_long(gather, outline, text, level)
        elif kind == "table":
            for part in (text,) if len(text) < HARD_MAX else divide(text, HARD_MAX):
                add(part, place(), SOFT, True)
        elif kind == "blank":
            for part in (text,) if len(text) < SHORT else divide(text, HARD_MAX):
                gather.blank(part)
        else:  # "article"
            mark = see(style, level)
            add(text, place(), mark)
        if done:
            yield from done
            del done[:]
    gather.close()
    yield from done


def _add_long(gather: Gatherer, outline: Outline, text: str, level: int) -> None:
    mark = outline.see(text, level)
    if len(text) <= TARGET:
        gather.add(text, outline.place(), mark)
        return
    first = STRONG if mark.strong else ITEM if mark.item else SOFT
    for n, part in enumerate(items_apart(text)):
        if n:
            outline.see(part[:SHORT], 0)
        place = outline.place()
        for piece in (part,) if len(part) <= TARGET else divide(part, TARGET):
            gather.add(piece, place, first)
            first = ITEM


def may_hold_provisions(text: str) -> bool:
    """A quick look: whether `provisions_apart` may find something."""
    return " Art" in text or " ART" in text or " CAP" in text or " TRANSITORIO" in text


def provisions_apart(text: str) -> Iterator[str]:
    """A line cut before each article, chapter or TRANSITORIOS that begins inside it."""
    at = 0
    for match in _INLINE.finditer(text) if may_hold_provisions(text) else ():
        start = match.start()
        if start <= at or not text[start - 1].isspace() or start < 2:
            continue
        before = text[start - 2]
        if not (before in _ENDS or before.isdecimal()) and not (before.isalnum() and _DASHED.match(text, start)):
            continue
        if heading_provision(text[start : start + SHORT]) is not None:
            yield text[at:start]
            at = start
    yield text[at:] if at else text


def items_apart(text: str) -> Iterator[str]:
    """A long paragraph cut before its list items."""
    at = 0
    for match in _LIST_ITEM.finditer(text):
        if match.end() > at:
            yield text[at : match.end()]
            at = match.end()
    yield text[at:]


def divide(text: str, limit: int) -> Iterator[str]:
    """A text in parts of at most `limit` characters: cut behind a sentence, else behind white space, else (a word
    that long: at most HARD_MAX) anywhere."""
    at, size = 0, len(text)
    while size - at > limit:
        window = text[at : at + limit]
        cut = 0
        for match in _SENTENCE.finditer(window, limit // 2):
            cut = match.end()
        if not cut or cut >= limit:
            cut = max(window.rfind(" "), window.rfind("\n"), window.rfind("\t"), window.rfind("\u00a0")) + 1
        if not cut:
            space = _SPACE.search(text, at + limit, at + HARD_MAX)
            cut = (space.end() if space else at + limit) - at
        yield text[at : at + cut]
        at += cut
    if at < size:
        yield text[at:]


class Gatherer:
    """Gathers pieces into chunks, which it leaves in `done`. One per publication."""

    def __init__(self) -> None:
        self.done: list[ChunkDraft] = []
        self._pieces: list[Piece] = []
        self._size = 0
        self._content = False
        self._tables = False
        self._headed = False  # a heading or a provision begins the chunk at hand
        self._provision = False  # a numbered provision begins it
        self._ordinal = 0
        self._start = 0
        self._columns = ""  # header row of the table at hand, for the path of its later chunks
        # The chunk before, which a crumb may still join: text, size, place, path, whether of tables, of scraps only.
        self._held: list[str] = []
        self._held_size = 0
        self._held_place: Place = NOWHERE
        self._held_path: tuple[str, ...] = ()
        self._held_tables = False
        self._held_scraps = False
        self._held_provision = False

    def blank(self, text: str) -> None:
        """White space between blocks: it belongs to what stands before it."""
        if self._size + len(text) > HARD_MAX:
            self.flush()
        self._pieces.append((text, NOWHERE, False, False))
        self._size += len(text)

    def add(self, text: str, place: Place, mark: Mark, table: bool = False) -> None:
        strong, heading, item = mark
        size = self._size + len(text)
        if self._content:
            if strong or heading:
                self.flush()
                size = len(text)
            elif size > (LIST_MAX if item else TARGET):
                self._overflow(len(text))
                size = self._size + len(text)
            elif table is not self._tables and self._size > (TABLE_LEAD if table else 2 * TABLE_LEAD):
                self.flush()
                size = len(text)
        elif size > HARD_MAX:
            self.flush()
            size = len(text)
        if strong or heading:
            self._headed = True
            self._provision = self._provision or not heading
        if table:
            self._tables = True
            if not self._columns:
                self._columns = _row(text)
        elif not heading:
            self._columns = ""
        self._pieces.append((text, place, not heading, table))
        self._size = size
        if not heading:
            self._content = True

    def _overflow(self, coming: int) -> None:
        """Too much for one chunk: give out what fits the target and keep the rest, so that no chunk is a crumb."""
        while self._pieces and self._size + coming > TARGET:
            size = n = 0
            for piece in self._pieces:
                if n and size + len(piece[0]) > TARGET:
                    break
                size += len(piece[0])
                n += 1
            rest = self._pieces[n:]
            del self._pieces[n:]
            self.flush()
            self._pieces = rest
            self._size = sum([len(p[0]) for p in rest])
            self._content = any(p[2] for p in rest)
            self._tables = any(p[3] for p in rest)

    def flush(self) -> None:
        """Close the chunk at hand, if there is one: it joins the one before or waits in its place."""
        pieces = self._pieces
        if not pieces:
            return
        text = pieces[0][0] if len(pieces) == 1 else "".join([p[0] for p in pieces])
        first, place, content, table = pieces[0]
        if not content:
            lead = next((p for p in pieces if p[2]), None) or next((p for p in pieces if p[1][0]), pieces[0])
            first, place, content, table = lead
        size = len(text)
        if self._joins(place, size):
            self._held.append(text)
            self._held_size += size
        else:
            self._give_out()
            path = place[0]
            if table and self._columns and _row(first) != self._columns:
                path = (*path, self._columns)
            self._held, self._held_size, self._held_place, self._held_path = [text], size, place, path
            self._held_tables = self._tables
            self._held_scraps = self._headed and size < SCRAP
            self._held_provision = self._provision
        self._pieces, self._size = [], 0
        self._content = self._tables = self._headed = self._provision = False

    def _joins(self, place: Place, size: int) -> bool:
        """Whether the chunk at hand is too small to stand alone and belongs with the one before."""
        if size >= CRUMB or self._tables is not self._held_tables or not self._held:
            return False
        path, provisions = place
        held_path, held_provisions = self._held_place
        if not self._headed:
            same = path == held_path and provisions[:1] == held_provisions[:1]
            return same and size + self._held_size <= LIST_MAX
        if not self._held_scraps or size >= SCRAP or size + self._held_size > TARGET:
            return False
        if place == self._held_place:
            return True  # one number again and again: rows of a table that lost its lines
        if self._provision or self._held_provision or provisions != held_provisions:
            return False
        if not path or path[:-1] != held_path[:-1]:
            return False
        self._held_path = path[:-1]  # several sections: what they have in common
        return True

    def _give_out(self) -> None:
        if not self._held:
            return
        end = self._start + self._held_size
        self.done.append(
            ChunkDraft(
                self._ordinal,
                self._start,
                end,
                self._held_path,
                provision_path(self._held_place[1]),
                "table" if self._held_tables else "text",
                self._held[0] if len(self._held) == 1 else "".join(self._held),
            )
        )
        self._ordinal += 1
        self._start = end

    def close(self) -> None:
        """The publication is over."""
        self.flush()
        self._give_out()


def _row(text: str) -> str:
    """A table's row as one line."""
    return bare(text.strip(" |\n").replace("|", " · "))[:200]
