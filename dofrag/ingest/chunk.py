"""Blocks of one publication → chunks that tile its text exactly.

Each block is cut into pieces where a provision begins inside it; pieces are gathered into chunks: an article, a
transitory or a numeral begins one, a list stays with its lead-in while it fits, long text is divided at sentence
ends. No word is ever cut, unless it alone is longer than a chunk may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dofrag.ingest.interface import Block, ChunkDraft
from dofrag.ingest.lines import bare
from dofrag.ingest.outline import Outline
from dofrag.text.provisions import heading_provision

TARGET = 1_600
LIST_MAX = 2_800
HARD_MAX = 4_000
TABLE_LEAD = 400
"""Characters of text that stay with the table they lead into."""

# Where a provision begins inside a line; `heading_provision` confirms each candidate.
_INLINE = re.compile(
    r"A(?<=[.;:)”\"\d]\sA)(?:RT[IÍ]CULO|rt[ií]culo)\s[\dA-Zúú]|[TC](?<=[.;:)”\"\d]\s.)(?:RANSITORIOS?\s|AP[IÍ]TULO\s[IVXLÚU])"
)
_LIST_ITEM = re.compile(
    r"(?<=[;:.,]\s)(?:y\s|o\s)?(?=(?:[IVXL]{1,7}\s?\.|[a-z]\)|\d{1,2}(?:\.\d{1,3})*\.?\s[A-ZÁÉÍÓÚ]|[A-ZÁÉÍÓÚ]{5,12}\s?\.-))"
)
_SENTENCE = re.compile(r"[.;:][”\")]?\s+(?=\S)")
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Piece:
    """Part of a block. `path` and `provision` hold from it on; `content` is False for headings and blanks."""

    text: str
    kind: str
    path: tuple[str, ...]
    provision: str | None
    strong: bool
    item: bool
    content: bool


def chunks(blocks: Iterable[Block], outline: Outline) -> Iterator[ChunkDraft]:
    """The chunks of one publication; joined, their texts are the joined texts of `blocks`."""
    gather = Gatherer()
    for block in blocks:
        for piece in _pieces(block, outline):
            yield from gather.add(piece)
    yield from gather.flush()


def _pieces(block: Block, outline: Outline) -> Iterator[Piece]:
    text = block.text
    if block.kind == "blank":
        for part in _divide(text, HARD_MAX):
            yield Piece(part, "text", (), None, False, False, False)
        return
    if block.kind == "table":
        for part in _divide(text, HARD_MAX):
            yield Piece(part, "table", outline.path(), outline.provision(), False, False, True)
        return
    if len(text) < 120:
        mark = outline.see(text, block.level)
        yield Piece(text, "text", outline.path(), outline.provision(), mark.strong, mark.item, not mark.heading)
        return
    for part in _provisions_apart(text, outline):
        mark = outline.see(part[:400], block.level)
        if len(part) <= TARGET:
            yield Piece(part, "text", outline.path(), outline.provision(), mark.strong, mark.item, not mark.heading)
            continue
        strong = mark.strong
        for item in _items_apart(part, outline):
            yield Piece(item, "text", outline.path(), outline.provision(), strong, not strong, True)
            strong = False


def _provisions_apart(text: str, outline: Outline) -> Iterator[str]:
    """A line cut before each article that begins inside it."""
    at = 0
    for match in _INLINE.finditer(text):
        start = match.start()
        if start > at and heading_provision(text[start : start + 120]) is not None:
            yield text[at:start]
            at = start
    yield text[at:] if at else text


def _items_apart(text: str, outline: Outline) -> Iterator[str]:
    """A long paragraph cut before its list items, and each part divided until it fits."""
    at = 0
    first = True
    cuts = [m.end() for m in _LIST_ITEM.finditer(text)]
    for cut in [*cuts, len(text)]:
        if cut <= at:
            continue
        part = text[at:cut]
        if not first:
            outline.see(part[:200], 0)
        first = False
        at = cut
        yield from _divide(part, TARGET)


def _divide(text: str, limit: int) -> Iterator[str]:
    """A text in parts of at most `limit` characters: cut behind a sentence, else behind white space, else (a word
    that long) anywhere."""
    at, size = 0, len(text)
    while size - at > limit:
        window = text[at : at + limit]
        cut = 0
        for match in _SENTENCE.finditer(window, limit // 2):
            cut = match.end()
        if not cut or cut >= limit:
            cut = max(window.rfind(" "), window.rfind("\n"), window.rfind("\t"), window.rfind("\u00a0")) + 1
        if not cut:
            cut = next((m.end() for m in _SPACE.finditer(text, at + limit, at + HARD_MAX)), at + limit) - at
        yield text[at : at + cut]
        at += cut
    if at < size:
        yield text[at:]


class Gatherer:
    """Gathers pieces into chunks. One per publication."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._size = 0
        self._content = False
        self._ordinal = 0
        self._start = 0
        self._columns: tuple[str, ...] = ()  # header row of the table at hand, for the path of its later chunks

    def add(self, piece: Piece) -> Iterator[ChunkDraft]:
        size = len(piece.text)
        if self._pieces:
            if self._content and (piece.strong or (not piece.content and piece.path and piece.kind == "text")):
                yield from self.flush()
            elif self._size + size > self._limit(piece):
                yield from self._overflow(piece)
            elif piece.content and self._turns(piece):
                yield from self.flush()
        if piece.kind == "table" and piece.content and not self._in_table():
            self._columns = (bare(piece.text.strip(" |\n").replace("|", " · "))[:200],)
        self._pieces.append(piece)
        self._size += size
        self._content = self._content or piece.content

    def _in_table(self) -> bool:
        return any(p.kind == "table" for p in self._pieces[-3:]) or bool(self._columns and not self._pieces)

    def _turns(self, piece: Piece) -> bool:
        """Whether text turns into a table or back, where that is worth a chunk of its own."""
        before = self._kind()
        if before == piece.kind:
            return False
        return self._size > TABLE_LEAD if piece.kind == "table" else self._size > TABLE_LEAD * 2

    def _kind(self) -> str:
        return "table" if any(p.kind == "table" for p in self._pieces) else "text"

    def _limit(self, piece: Piece) -> int:
        if not piece.content and not piece.path:
            return HARD_MAX
        return LIST_MAX if piece.item else TARGET

    def _overflow(self, piece: Piece) -> Iterator[ChunkDraft]:
        """Too much for one chunk: give out what fits the target and keep the rest, so that no chunk is a crumb."""
        while self._pieces and self._size + len(piece.text) > TARGET:
            size = n = 0
            for p in self._pieces:
                if n and size + len(p.text) > TARGET:
                    break
                size += len(p.text)
                n += 1
            rest = self._pieces[n:]
            self._pieces = self._pieces[:n]
            yield from self.flush()
            self._pieces = rest
            self._size = sum(len(p.text) for p in rest)
            self._content = any(p.content for p in rest)

    def flush(self) -> Iterator[ChunkDraft]:
        if not self._pieces:
            return
        text = "".join(p.text for p in self._pieces)
        lead = next((p for p in self._pieces if p.content), None)
        if lead is None:
            lead = next((p for p in self._pieces if p.path), self._pieces[0])
        kind = self._kind()
        path = lead.path
        if (
            kind == "table"
            and self._pieces[0].kind == "table"
            and self._columns
            and not text.startswith(self._columns[0])
        ):
            path = (*path, *self._columns) if self._ordinal else path
        yield ChunkDraft(
            ordinal=self._ordinal,
            start=self._start,
            end=self._start + len(text),
            heading_path=path,
            provision=lead.provision,
            kind=kind,
            text=text,
        )
        self._ordinal += 1
        self._start += len(text)
        if kind == "text":
            self._columns = ()
        self._pieces, self._size, self._content = [], 0, False
