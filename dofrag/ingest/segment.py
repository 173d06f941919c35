"""Where one publication of a file ends and the next begins.

Two anatomies: a *whole edition* (front matter, notes under branch and agency headings, a section of third-party
notices, an index) and a *single file*, which may hold more than one note under headings of its own. Both are cut on
evidence that every converter keeps: capitals, seals, end marks; heading levels and bold only help.

Everything streams: a window of blocks is looked ahead, no more.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator

from dofrag.domain.corpus import Kind
from dofrag.domain.records import dataclass
from dofrag.ingest.interface import Block
from dofrag.ingest.lines import bare, is_caps
from dofrag.profiles.anatomy import Anatomy
from dofrag.text.fold import fold

WINDOW = 80
"""Blocks that are looked ahead at most to confirm an opening."""
AFTER_TITLE = 4
"""Content lines that may stand between a title and its seal."""
REPEATED = 24
"""Characters in which a title and its repetition in capitals must agree."""
SEAL_WITHIN = 12
"""Content lines between the first line of a title and its seal at most (a title broken over many lines)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A publication begins with the next block. What is None, its own text must say."""

    kind: Kind | None = None
    issuer: str | None = None
    title: str | None = None
    branch: str | None = None
    section: str | None = None


@dataclass(slots=True)
class Line:
    """A block and its bare text. `content` is False for blanks, page headers and converters' noise."""

    block: Block
    text: str
    content: bool

    @property
    def ends_paragraph(self) -> bool:
        """Whether an empty line follows in the same block."""
        return self.block.text.endswith("\n\n")

    @property
    def marked(self) -> bool:
        return self.block.level > 0 or self.block.style == "bold"


class Window:
    """Blocks with a bounded look ahead."""

    def __init__(self, blocks: Iterable[Block], anatomy: Anatomy) -> None:
        self._blocks = iter(blocks)
        self._ahead: deque[Line] = deque()
        self._running = anatomy.lines["running"]
        self._noise = anatomy.lines["noise"]

    def _line(self, block: Block) -> Line:
        if block.kind in ("blank", "table"):
            return Line(block, "", False)
        text = bare(block.text)
        if len(text) < 160 and (self._running.fullmatch(text) or self._noise.fullmatch(text)):
            return Line(block, text, False)
        return Line(block, text, bool(text))

    def pop(self) -> Line | None:
        if self._ahead:
            return self._ahead.popleft()
        block = next(self._blocks, None)
        return None if block is None else self._line(block)

    def ahead(self) -> Iterator[Line]:
        """The coming lines, at most WINDOW of them."""
        seen = self._ahead
        for n in range(WINDOW):
            if n == len(seen):
                block = next(self._blocks, None)
                if block is None:
                    return
                seen.append(self._line(block))
            yield seen[n]


def segment(blocks: Iterable[Block], anatomy: Anatomy, *, edition: bool) -> Iterator[Boundary | Block]:
    """The blocks of a file with a Boundary before the first block of each publication. Nothing is dropped."""
    if not edition:
        yield from _segment_notes(blocks, anatomy)
        return
    cutter = EditionCutter(anatomy)
    window = Window(blocks, anatomy)
    yield cutter.first()
    while (line := window.pop()) is not None:
        if line.content:
            boundary = cutter.boundary(line, window)
            if boundary is not None:
                yield boundary
        yield line.block


def is_edition(head: Iterable[Block], anatomy: Anatomy) -> bool:
    """Whether the first blocks of a file say that it is a whole edition."""
    return any(anatomy.lines["edition_head"].search(b.text[:400]) for b in itertools.islice(head, 40))


def opens_title(text: str, anatomy: Anatomy) -> bool:
    """Whether a bare line opens an instrument's title as the gazette prints it: `ACUERDO por el que…`."""
    return not is_caps(text) and bool(anatomy.opening.match(text)) and not anatomy.stop.match(text)


def _segment_notes(blocks: Iterable[Block], anatomy: Anatomy) -> Iterator[Boundary | Block]:
    """A file of one note, or of several under headings of the first two levels. Conservative: a further publication
    needs a heading that opens a title with a known instrument, after text of the publication before it; headings of
    an agency right before that title go with it."""
    yield Boundary()
    titled = False
    text_lines = 0
    held: list[Block] = []  # agency headings that wait for what follows them
    for block in blocks:
        if block.level in (1, 2):
            text = bare(block.text)
            if opens_title(text, anatomy) and anatomy.openers.match(text):
                if titled and text_lines:
                    yield Boundary()
                titled, text_lines = True, 0
            elif titled and text_lines and block.level == 1 and is_caps(text):
                held.append(block)
                continue
        elif block.kind == "blank":
            if held and len(held) < WINDOW:
                held.append(block)
                continue
        else:
            text_lines += 1
        if held:
            yield from held
            held = []
        yield block
    yield from held


class EditionCutter:
    """A whole edition: FRONT → notes → third-party notices → index."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._anatomy = anatomy
        self._l = anatomy.lines
        self._mode = "front"
        self._contents = ""  # folded text of the contents list: it names the agencies of the day
        self._branch: str | None = None
        self._seen_branch: str | None = None  # of the opening that is being tried
        self._agency = ""
        self._section: str | None = None
        self._skip = 0  # content lines that a boundary has already explained
        self._since = 0  # content lines since the last boundary
        self._last: deque[str] = deque(maxlen=3)

    def first(self) -> Boundary:
        return Boundary(kind=Kind.INDICE, title="")

    def boundary(self, line: Line, window: Window) -> Boundary | None:
        text = line.text
        found = None
        if self._skip:
            self._skip -= 1
        elif self._mode == "front":
            found = self._in_front(line, window)
        elif self._mode != "index":
            found = self._index(text, window) or self._in_body(line, window)
        self._since = 0 if found else self._since + 1
        self._last.append(text)
        return found

    def _in_front(self, line: Line, window: Window) -> Boundary | None:
        opening = self._opening(line, window)
        if opening is None:
            if len(self._contents) < 20_000:
                self._contents += " " + fold(line.text)
            return None
        self._mode = "notes"
        return opening

    def _in_body(self, line: Line, window: Window) -> Boundary | None:
        text = line.text
        notices = self._mode == "notices"
        if self._l["notice_section"].fullmatch(text[:200]) and (notices or self._closed()):
            return self._notice_section(text, window)
        if notices:
            if self._l["notice_end"].match(text):
                return None  # an end mark that a converter printed twice
            ended = bool(self._last) and self._l["notice_end"].search(self._last[-1]) is not None
            if ended or (self._since >= 3 and self._l["notice_opening"].match(text) and self._closed()):
                return Boundary(kind=Kind.AVISO, section=self._section)
            return None
        if self._l["own_notice"].fullmatch(text):
            return Boundary(kind=Kind.INDICE, title=text)
        return self._opening(line, window)

    def _notice_section(self, text: str, window: Window) -> Boundary:
        self._mode = "notices"
        self._section = text
        for coming in window.ahead():
            if not coming.content:
                continue
            if not self._l["notice_section"].fullmatch(coming.text):
                break
            self._section = coming.text
            self._skip += 1
        return Boundary(kind=Kind.AVISO, section=self._section)

    def _closed(self) -> bool:
        """Whether a signature or an end mark stands in the last lines."""
        return any(self._l["closing"].search(t) or self._l["notice_end"].search(t) for t in self._last)

    def _index(self, text: str, window: Window) -> Boundary | None:
        match = self._l["index"].match(text)
        if match is None or len(text) > 200:
            return None
        rest = text[match.end() :].strip()
        if not rest:
            rest = next((c.text for c in window.ahead() if c.content), "")
            if not rest:  # an index that is a table
                rest = next((bare(c.block.text.strip(" |")) for c in window.ahead() if c.block.kind == "table"), "")
        if not self._l["branch_any_case"].match(rest):
            return None
        self._mode = "index"
        return Boundary(kind=Kind.INDICE, title=text[: match.end()])

    def _opening(self, line: Line, window: Window) -> Boundary | None:
        """A note that opens at this line: [section] [branch] [agency] title. None when nothing confirms it."""
        self._seen_branch = None
        first = self._strip_branch(line.text)
        names: list[str] = []
        headed = first != line.text
        if first and not self._l["section"].fullmatch(first):
            if first[0].islower():
                return None  # neither a title nor an agency's name
            if opens_title(first, self._anatomy):
                return self._titled(line, window, names, 0, headed)
            if not self._may_be_agency(first, names):
                return None
            names.append(first)
        count = 0
        lines = window.ahead()
        for coming in lines:
            if not coming.content:
                continue
            count += 1
            text = self._strip_branch(coming.text)
            headed = headed or text != coming.text
            if count > 6 or len(text) > 1500:
                return None
            if opens_title(text, self._anatomy) and (names or headed):
                return self._titled(coming, lines, names, count, True)
            if text and not self._may_be_agency(text, names):
                return None
            if text:
                names.append(text)
        return None

    def _strip_branch(self, text: str) -> str:
        match = self._l["branch"].match(text)
        if match is None or not is_caps(text[: match.end()]):
            return text
        rest = text[match.end() :].strip()
        if rest and not is_caps(rest):
            return text
        self._seen_branch = match[0]
        return rest

    def _may_be_agency(self, text: str, names: list[str]) -> bool:
        if not is_caps(text) or len(text) > 200 or text.startswith(("“", '"', "'")):
            return False
        if names:  # an agency's name broken over two lines
            return not text.endswith(":") and not self._anatomy.fragment.match(text)
        if self._l["agency"].match(text) is not None and len(text) > 8:
            return True
        return bool(self._contents) and len(text) > 8 and fold(text) in self._contents

    def _titled(
        self, line: Line, ahead: Window | Iterator[Line], names: list[str], count: int, headed: bool
    ) -> Boundary | None:
        """The title that begins at `line`, read to its end; confirmed by an agency heading before it, a seal after
        it, or (set in bold, with a known instrument) the end of a note before it."""
        title, confirmed, more = self._read_title(line, ahead.ahead() if isinstance(ahead, Window) else ahead)
        known = bool(self._anatomy.openers.match(line.text))
        if not (confirmed or (known and (headed or names or (line.marked and self._closed())))):
            return None
        if self._mode == "front" and not (names or headed):
            return None
        self._branch = self._seen_branch or self._branch
        if names:
            self._agency = " ".join(names)
            if self._l["autonomous"].match(self._agency):
                self._branch = None
        self._skip = count + more
        return Boundary(kind=Kind.DOF, issuer=self._agency, title=title, branch=self._branch, section=self._section)

    def _read_title(self, line: Line, lines: Iterator[Line]) -> tuple[str, bool, int]:
        """A title to its end; whether a seal or the same title in capitals follows it; content lines it took."""
        parts = [self._strip_branch(line.text)]
        start = _start(parts)
        open_, count, more = not line.ends_paragraph, 0, 0
        for coming in lines:
            if coming.block.kind == "blank":
                open_ = False
            if not coming.content:
                continue
            count += 1
            if self._l["seal"].match(coming.text):
                return " ".join(parts), True, more
            if count >= SEAL_WITHIN:
                break
            if len(start) > 8 and fold(coming.text[: 4 * REPEATED]).startswith(start):
                if is_caps(coming.text):
                    return " ".join(parts), True, more
                parts, open_, more = (
                    [coming.text],
                    not coming.ends_paragraph,
                    count,
                )  # a heading cut short, then the whole title
                start = _start(parts)
            elif open_ and not is_caps(coming.text) and len(" ".join(parts)) < 1200 and not _ends(parts[-1], coming):
                parts.append(coming.text)
                start = _start(parts)
                open_, more = not coming.ends_paragraph, count
            elif self._ends_head(coming.text) or count - more > AFTER_TITLE:
                break
            else:
                open_ = False
        return " ".join(parts), False, more

    def _ends_head(self, text: str) -> bool:
        """Whether a line shows that the head is over, so that a seal after it is another publication's."""
        return (
            self._l["closing"].search(text) is not None
            or self._l["notice_end"].search(text) is not None
            or opens_title(text, self._anatomy)
            or (is_caps(text) and self._l["agency"].match(text) is not None)
        )


def _start(parts: list[str]) -> str:
    """The folded beginning of a title, to know its repetition by."""
    return fold(" ".join(parts)[: 4 * REPEATED])[:REPEATED]


def _ends(text: str, following: Line) -> bool:
    """Whether a title's line is its last: a full stop, and what follows begins like a sentence."""
    return text.endswith((".", ")")) and following.text[:1].isupper()
