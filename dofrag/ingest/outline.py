"""Where in a publication a line stands: heading path and provision path, kept up line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dofrag.ingest.lines import bare
from dofrag.profiles.anatomy import Anatomy
from dofrag.text.fold import fold
from dofrag.text.paths import LEVELS
from dofrag.text.provisions import ProvisionMark, heading_provision

UNMARKED_MAX = 240
"""A longer line without marks is no heading, but for the decrees that a consolidated law collects."""
HEADING_MAX = 160
"""Characters of one heading in a path."""
_DIVISIONS = frozenset({"lib", "tit", "cap", "sec"})
_CONTAINERS = frozenset({"anx", "ape", "guia"})
_FINE = frozenset({"frac", "inc", "ap", "par"})  # these never change the heading path
_PROVISIONS = frozenset({"art", "regla", "cla", "trans", "ordinal"})
CONTAINER_GAP = 400
"""Characters between two annexes or guides below which they are lines of a table of contents."""
CONTENTS_RUN = 3
"""Numbered headings one after another that are taken for a table of contents."""


class Mark(NamedTuple):
    """What a line begins. `strong`: a new chunk begins with it. `heading`: it names what follows. `item`: an item of
    a list, to be kept with the others while they fit."""

    strong: bool
    heading: bool
    item: bool = False


def header_names(*names: str | None) -> frozenset[str]:
    """What `Outline.names` holds of a header's title, issuer, branch and section."""
    return frozenset(fold(name).strip(" .()") for name in names if name)


Provisions = tuple[tuple[int, str, str], ...]
"""Level, segment and kind of each provision that a line lies in, the outermost first."""
Place = tuple[tuple[str, ...], Provisions]
"""Heading path and provisions."""

SOFT = Mark(strong=False, heading=False)
ITEM = Mark(strong=False, heading=False, item=True)
HEADING = Mark(strong=True, heading=True)
STRONG = Mark(strong=True, heading=False)
FINE_HEADING = Mark(strong=False, heading=True, item=True)
NAMES_AGAIN = Mark(strong=False, heading=True)


def provision_path(provisions: Provisions) -> str | None:
    """Divisions are left out where something finer is known: `art:3/frac:II`."""
    if not provisions:
        return None
    kept: list[str] = []
    numeral = False  # the last one kept is a numeral: of `5`, `5.2` only the longest says something
    for _, segment, kind in provisions:
        if kind in _DIVISIONS:
            continue
        if numeral and kind == "num":
            kept[-1] = segment
        else:
            kept.append(segment)
        numeral = kind == "num"
    return "/".join(kept) or provisions[-1][1]


@dataclass(slots=True)
class Outline:
    """State of one publication. `names` are its folded title, issuer, branch and section, which are never part of a
    path; `instrument` is its header's."""

    anatomy: Anatomy
    names: frozenset[str]
    instrument: str | None
    consolidated: bool = False
    _headings: list[tuple[int, str]] = field(default_factory=list)
    _provisions: Provisions = ()
    _label: str = ""  # of the article or transitory at hand
    _nameless: bool = False  # the last line was `CAPÍTULO I` and its name is still to come
    _fresh: bool = False  # the last line was a division's heading, which a line in capitals continues
    _last: str = ""  # the last line, unless it was a heading
    _containers: int = 0  # annexes and guides in a row with next to nothing between them: a table of contents
    _since_container: int = 1 << 30
    # depth, count and last number of numbered headings that came one right after another
    _siblings: tuple[int, int, int] = (0, 0, 0)
    _transitory: str = ""  # "": no; else the kind of mark its items have, "?" before the first
    _transitories: int = 0
    _last_transitory: str = ""  # number of the last one under the heading at hand
    _inner: str = ""  # the law that a decree issues, while its text runs
    _path: tuple[str, ...] | None = None  # None: to be put together anew
    _reforms: bool = False  # in a consolidated law's collection of reform decrees

    def place(self) -> Place:
        """Where the line seen last stands."""
        if self._path is None:
            names = [text for _, text in self._headings]
            self._path = (*names, self._label) if self._label else tuple(names)
        return self._path, self._provisions

    def see(self, line: str, level: int) -> Mark:
        """Take a line in (its first characters are enough) and say what it begins. `level` is the format's heading
        level, 0 for none."""
        line = line.rstrip()
        mark = heading_provision(line)
        self._since_container += len(line)
        if mark is None and not (level or self._fresh or self._nameless) and self._is_text(line):  # every other one
            self._last = line
            if self._siblings[1]:
                self._end_contents()
            return SOFT
        if mark is None and level and len(line) < 40:
            mark = heading_provision(f"{line}.-")  # `### PRIMERO`, its text on the next line
        if mark is None:
            seen = self._plain(line, level)
        elif mark.kind in _FINE:
            self._within(mark)
            seen = FINE_HEADING if level else ITEM
        elif mark.kind in _PROVISIONS and mark.number:
            seen = self._provision(mark, line)
        elif mark.kind == "num":
            seen = self._numeral(mark, line, level)
        elif mark.kind in _DIVISIONS or mark.kind in _CONTAINERS:
            seen = self._division(mark, line, level)
        else:
            seen = self._begin_transitories(line)
        self._last = "" if seen.heading else line
        if self._siblings[1] and not seen.heading:
            self._end_contents()
        if seen.strong or seen.heading:
            self._path = None
        return seen

    def _within(self, mark: ProvisionMark) -> None:
        """A provision begins: it ends those of its level and below."""
        level = mark.level
        kept = self._provisions
        while kept and kept[-1][0] >= level:
            kept = kept[:-1]
        self._provisions = (*kept, (level, mark.path_segment, mark.kind))

    def _plain(self, line: str, level: int) -> Mark:
        """A line that begins no provision."""
        if not level:
            if (self._fresh or self._nameless) and self._names_division(line):
                return HEADING
            return SOFT if self._is_text(line) else self._unmarked(bare(line))
        text = bare(line)
        if not text or fold(text).strip(" .()") in self.names:
            return NAMES_AGAIN
        if self.anatomy.lines["seal"].match(text) or self.anatomy.consolidated.mark.match(text):
            return SOFT
        if self._nameless and self._headings:
            self._name_division(text)
        else:
            self._head(self._rank(text, level), text)
        return HEADING

    def _is_text(self, line: str) -> bool:
        """Whether a line that neither begins a provision nor is marked is no heading either."""
        return (
            (len(line) > UNMARKED_MAX and not self._reforms)
            or line[:1].islower()
            or self.anatomy.unmarked.match(line) is None
        )

    def _names_division(self, line: str) -> bool:
        """Whether a line without marks is the name of the division whose heading stands before it."""
        if self._fresh and line.isupper() and len(line) < 160:
            self._name_division(bare(line))
            self._fresh = True
            return True
        if self._nameless and 3 < len(line) < 120 and line[-1] not in ".,;:" and line[0].isupper():
            self._name_division(bare(line))
            return True
        self._fresh = self._fresh and not line
        self._nameless = self._nameless and not line
        return False

    def _unmarked(self, text: str) -> Mark:
        """A heading that the format does not mark: a known structural line, a law's name in capitals, a decree."""
        self._nameless = False
        transitory = self.anatomy.transitory
        if self.consolidated and transitory["reforms"].match(text):
            self._reforms, self._transitory, self._inner = True, "", ""
            self._clear()
            self._head(0, text)
            return HEADING
        if self._reforms and transitory["decree"].match(text):
            self._clear(keep=1)
            self._head(1, text)
            self._transitory = ""
            return HEADING
        if len(text) > 160:
            return SOFT
        if (
            not self.consolidated
            and transitory["inner"].fullmatch(text)
            and fold(text).strip(" .()") not in self.names
        ):
            self._inner = text
            self._clear()
            self._head(0, text)
            return HEADING
        for rank, pattern in self.anatomy.structure:
            if pattern.fullmatch(text):
                self._head(rank, text)
                return HEADING
        return SOFT

    def _begin_transitories(self, line: str) -> Mark:
        if self.consolidated and self.anatomy.transitory["reforms"].match(text := bare(line)):
            return self._unmarked(text)
        self._transitories += 1
        self._transitory = "?"
        self._last_transitory = ""
        keep = 1 if self._reforms or self._inner else 0
        owner = [(r, t) for r, t in self._headings if r == 0 or (self._reforms and r == 1)]
        self._clear(keep=keep)
        self._headings = owner
        if not owner and self._transitories > 1 and self.instrument and not self.consolidated:
            self._headings = [(0, self.instrument)]
        self._headings.append((3, bare(line)[:HEADING_MAX]))
        self._provisions = ((1, "trans", "trans"),)
        self._label = ""
        return HEADING

    def _division(self, mark: ProvisionMark, line: str, level: int) -> Mark:
        text = bare(line)
        if len(text) > 400 and not level:
            return SOFT
        if mark.kind in _CONTAINERS:
            if not level and _breaks_off(self._last):
                return SOFT  # `…conforme a la / Guía de referencia I.`: a mention that a line break put first
            self._containers = self._containers + 1 if self._since_container < CONTAINER_GAP else 1
            self._since_container = 0
            self._inner = ""
            self._headings = []
            self._provisions = ()
        self._end_transitories()
        self._head(self._rank(text, level), text)
        self._within(mark)
        self._nameless = len(bare(line[mark.end :])) < 3
        self._fresh = True
        return HEADING

    def _provision(self, mark: ProvisionMark, line: str) -> Mark:
        if self._transitory and mark.kind in ("art", "ordinal", "trans"):
            if self._transitory in ("?", mark.kind) or mark.kind == "trans":
                self._transitory = mark.kind if self._transitory == "?" else self._transitory
                mark = mark.as_transitory()
                self._count_transitory(mark.number)
            else:
                self._end_transitories()
        elif mark.kind == "ordinal" and self.anatomy.transitory["cue"].search(line, mark.end, mark.end + 400):
            self._transitory = "ordinal"  # transitories whose heading is lost
            mark = mark.as_transitory()
            self._count_transitory(mark.number)
        level = LEVELS["art"]
        kept = tuple([p for p in self._provisions if p[0] < level and p[1] != "trans"])
        segment = f"art:{mark.number}" if mark.kind == "ordinal" else mark.path_segment
        self._provisions = kept if self._reforms and mark.kind != "trans" else (*kept, (level, segment, mark.kind))
        self._label = bare(line[: mark.end]).rstrip(" .-–—:")
        self._nameless = False
        return STRONG

    def _count_transitory(self, number: str) -> None:
        """A second `PRIMERO` without a heading between: the law's transitories are over, the decree's begin."""
        if number in ("1", "unico") and self._last_transitory and not self.consolidated and self.instrument:
            self._headings = [(0, self.instrument)]
        self._last_transitory = number

    def _numeral(self, mark: ProvisionMark, line: str, level: int) -> Mark:
        """A numeral of up to two parts begins a chunk, a longer one only may."""
        depth = mark.level
        listed = "." not in mark.number and any(p[0] == 4 and p[2] != "num" for p in self._provisions)
        if not level and (listed or ")" in line[: mark.end]):
            return ITEM
        if self._containers > 1 and self._since_container < CONTAINER_GAP:
            self._containers = 0
            self._headings = [h for h in self._headings if h[0] > 1]
            self._provisions = tuple([p for p in self._provisions if p[2] not in _CONTAINERS])
        self._within(mark)
        self._label = ""
        self._path = None
        text = bare(line)
        if level or ("." not in mark.number and len(text) < 120 and text[-1] not in ",;:"):
            self._head(6 + depth, text)
            last = int(mark.number.rsplit(".", 1)[-1])
            follows = self._siblings[0] == depth and self._siblings[2] + 1 == last
            self._siblings = (depth, self._siblings[1] + 1 if follows else 1, last)
            return HEADING
        self._headings = [h for h in self._headings if h[0] < 6 + depth]
        return STRONG if mark.number.count(".") <= 1 else ITEM

    def _end_contents(self) -> None:
        """Text after a run of numbered headings with nothing between them: that was a table of contents."""
        if self._siblings[1] >= CONTENTS_RUN:
            depth = self._siblings[0]
            self._headings = [h for h in self._headings if h[0] < 6 + depth]
            self._provisions = tuple([p for p in self._provisions if p[0] < depth])
            self._path = None
        self._siblings = (0, 0, 0)

    def _head(self, rank: int, text: str) -> None:
        self._headings = [h for h in self._headings if h[0] < rank]
        self._headings.append((rank, text[:HEADING_MAX].rstrip()))
        self._label = ""
        self._nameless = self._fresh = False

    def _name_division(self, text: str) -> None:
        rank, head = self._headings[-1]
        self._headings[-1] = (rank, f"{head} {text}"[:HEADING_MAX].rstrip())
        self._nameless = self._fresh = False

    def _rank(self, text: str, level: int) -> int:
        for rank, pattern in self.anatomy.structure:
            if pattern.match(text):
                return rank
        return 6 + level

    def _end_transitories(self) -> None:
        if self._transitory:
            self._transitory = ""
            self._inner = ""
            self._headings = [h for h in self._headings if self._reforms and h[0] <= 1]
            self._provisions = ()

    def _clear(self, keep: int = 0) -> None:
        self._headings = self._headings[:keep]
        self._provisions = ()
        self._label = ""
        self._nameless = False


def _breaks_off(line: str) -> bool:
    """Whether a line of text ends within a sentence."""
    return len(line) > 40 and line[-1] not in ".:;)*" and not line.isupper()
