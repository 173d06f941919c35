"""Blocks of one publication → chunks that tile its text exactly.

Each block is cut into pieces where a provision begins inside it; pieces are gathered into chunks: an article, a
transitory or a numeral begins one, a list stays with its lead-in while it fits, long text is divided at sentence
ends. No word is ever cut, unless it alone is longer than a chunk may be.

This is the inner loop of a build: pieces are plain tuples, and nothing is computed before it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dofrag.ingest.interface import Block, ChunkDraft
from dofrag.ingest.lines import bare
from dofrag.ingest.outline import SOFT, Outline
from dofrag.text.provisions import heading_provision

TARGET = 1_600
LIST_MAX = 2_800
HARD_MAX = 4_000
TABLE_LEAD = 400
"""Characters of text that stay with the table they lead into."""
SHORT = 120
"""A line up to this long is taken whole, unless it may hold a heading and its article."""

# Where a provision may begin inside a line; `heading_provision` confirms each candidate.
_INLINE = re.compile(
    r"(?<=[.;:)”\"\d]\s)(?:ART[IÍ]CULO|Art[ií]culo|TRANSITORIOS?|CAP[IÍ]TULO)\s(?=[\dA-ZÚú])"
    r"|(?<=\w\s)ART[IÍ]CULO\s(?=\d{1,4}[oº°]?(?:[ .-]{1,2}[A-Z]{1,8})?[. ]?-)"
)
_LIST_ITEM = re.compile(
    r"(?<=[;:.,]\s)(?:y\s|o\s)?"
    r"(?=[IVXL]{1,7}\s?\.|[a-z]\)|\d{1,2}(?:\.\d{1,3})*\.?\s[A-ZÁÉÍÓÚ]|[A-ZÁÉÍÓÚ]{5,12}\s?\.-)"
)
_SENTENCE = re.compile(r"[.;:][”\")]?\s+(?=\S)")
_SPACE = re.compile(r"\s+")

# text, "text" or "table", heading path, provision, content (no heading, no blank), strong, item of a list
Piece = tuple[str, str, tuple[str, ...], str | None, bool, bool, bool]


def chunks(blocks: Iterable[Block], outline: Outline) -> Iterator[ChunkDraft]:
    """The chunks of one publication; joined, their texts are the joined texts of `blocks`."""
    gather = Gatherer()
    done = gather.done
    see = outline.see
    for block in blocks:
        text = block.text
        kind = block.kind
        if kind == "blank":
            for part in (text,) if len(text) < SHORT else divide(text, HARD_MAX):
                gather.blank(part)
        elif kind == "table":
            path, provision = outline.place()
            for part in (text,) if len(text) < HARD_MAX else divide(text, HARD_MAX):
                gather.add((part, "table", path, provision, True, False, False))
        elif len(text) <= SHORT and " ART" not in text:
            mark = see(text, block.level)
            path, provision = outline.place()
            gather.add((text, "text", path, provision, not mark.heading, mark.strong, mark.item))
        elif may_hold_provisions(text):
            for part in provisions_apart(text):
                _add_long(gather, outline, part, block.level)
        else:
            _add_long(gather, outline, text, block.level)
        if done:
            yield from done
            done.clear()
    gather.flush()
    yield from done


def _add_long(gather: Gatherer, outline: Outline, text: str, level: int) -> None:
    mark = outline.see(text, level)
    path, provision = outline.place()
    if len(text) <= TARGET:
        gather.add((text, "text", path, provision, not mark.heading, mark.strong, mark.item))
        return
    strong, item = mark.strong, mark.item
    for n, part in enumerate(items_apart(text)):
        if n and outline.see(part[:SHORT], 0) is not SOFT:
            path, provision = outline.place()
        for piece in (part,) if len(part) <= TARGET else divide(part, TARGET):
            gather.add((piece, "text", path, provision, True, strong, item))
            strong, item = False, True


def may_hold_provisions(text: str) -> bool:
    """A quick look: whether `provisions_apart` may find something."""
    return " Art" in text or " ART" in text or " CAP" in text or " TRANSITORIO" in text


def provisions_apart(text: str) -> Iterator[str]:
    """A line cut before each article, chapter or TRANSITORIOS that begins inside it."""
    at = 0
    for match in _INLINE.finditer(text) if may_hold_provisions(text) else ():
        start = match.start()
        if start > at and heading_provision(text[start : start + SHORT]) is not None:
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
        self._ordinal = 0
        self._start = 0
        self._columns = ""  # header row of the table at hand, for the path of its later chunks

    def blank(self, text: str) -> None:
        """White space between blocks: it belongs to what stands before it."""
        if self._size + len(text) > HARD_MAX:
            self.flush()
        self._pieces.append((text, "text", (), None, False, False, False))
        self._size += len(text)

    def add(self, piece: Piece) -> None:
        text, kind, _, _, content, strong, item = piece
        size = len(text)
        table = kind == "table"
        if self._content:
            if strong or not content:
                self.flush()
            elif self._size + size > (LIST_MAX if item else TARGET):
                self._overflow(size)
            elif table != self._tables and self._size > (TABLE_LEAD if table else 2 * TABLE_LEAD):
                self.flush()
        elif self._size + size > HARD_MAX:
            self.flush()
        if table and not self._columns:
            self._columns = bare(text.strip(" |\n").replace("|", " · "))[:200]
        elif content and not table:
            self._columns = ""
        self._pieces.append(piece)
        self._size += size
        self._content = self._content or content
        self._tables = self._tables or table

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
            self._size = sum(len(p[0]) for p in rest)
            self._content = any(p[4] for p in rest)
            self._tables = any(p[1] == "table" for p in rest)

    def flush(self) -> None:
        """Close the chunk at hand, if there is one."""
        pieces = self._pieces
        if not pieces:
            return
        text = pieces[0][0] if len(pieces) == 1 else "".join([p[0] for p in pieces])
        lead = pieces[0]
        if not lead[4]:
            lead = next((p for p in pieces if p[4]), None) or next((p for p in pieces if p[2]), lead)
        path = lead[2]
        if self._tables and lead[1] == "table" and self._columns and not self._begins_table(lead[0]):
            path = (*path, self._columns)
        end = self._start + len(text)
        self.done.append(
            ChunkDraft(
                ordinal=self._ordinal,
                start=self._start,
                end=end,
                heading_path=path,
                provision=lead[3],
                kind="table" if self._tables else "text",
                text=text,
            )
        )
        self._ordinal += 1
        self._start = end
        self._pieces, self._size, self._content, self._tables = [], 0, False, False

    def _begins_table(self, row: str) -> bool:
        return bare(row.strip(" |\n").replace("|", " · "))[:200] == self._columns
