"""A passage parsed once, when it is read, so that testing it against a requirement is a matter of look-ups."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from dofrag.coverage.assign import Mention
from dofrag.coverage.cues import cue
from dofrag.coverage.quantities import Quantity, quantities
from dofrag.coverage.units import ItemList, cut, lists
from dofrag.domain.corpus import Passage
from dofrag.domain.records import dataclass
from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import STOP_WORDS, fold, fold_chars, stem, stems, words
from dofrag.text.patterns import late
from dofrag.text.provisions import ProvisionMark, heading_provision
from dofrag.text.spans import QuotableText


@dataclass(frozen=True, slots=True)
class Sentence:
    """One unit of the passage with what stands in it. `context` is what it leans on: the sentence before, when this
    one begins with *dicho*, *esta*…, or the header of its table."""

    start: int
    end: int
    folded: str
    stems: frozenset[str]
    context: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[FoundDate, ...]
    mark: ProvisionMark | None
    provision: str | None  # last segment of the provision that holds this sentence, within the passage
    header: tuple[int, int] | None
    heading: bool
    frequencies: tuple[Mention[str], ...]
    zones: tuple[Mention[frozenset[str]], ...]
    near: frozenset[str]  # stems and context together

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


@dataclass(frozen=True)
class PreparedPassage:
    """A read passage and everything that was found in it. Immutable; the session caches one a passage."""

    passage: Passage
    folded: str
    sentences: tuple[Sentence, ...]
    lists: tuple[ItemList, ...]
    dates: tuple[FoundDate, ...]
    title_dates: tuple[FoundDate, ...]
    title_stems: frozenset[str]
    heading_stems: frozenset[str]
    issuer_words: frozenset[str]
    title_frequencies: tuple[Mention[str], ...]
    title_zones: tuple[Mention[frozenset[str]], ...]

    @property
    def id(self) -> int:
        return self.passage.id

    @property
    def text(self) -> str:
        return self.passage.text

    @cached_property
    def memo(self) -> dict[object, Any]:
        """What was worked out from this passage, by what it depends on. Nothing of that changes; it goes with the
        passage."""
        return {}

    @cached_property
    def wide(self) -> frozenset[str]:
        """Stems of the title and the headings: what every sentence of the passage stands under."""
        return self.title_stems | self.heading_stems

    @cached_property
    def issuer_stems(self) -> frozenset[str]:
        return frozenset(map(stem, self.issuer_words))

    @cached_property
    def quotable(self) -> QuotableText:
        return QuotableText(self.passage.text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where a quote stands, layout apart; worked out once a quote."""
        key = ("quote", quote)
        if key not in self.memo:
            self.memo[key] = self._verbatim(quote.strip()) or self.quotable.find(quote)
        found: tuple[int, int] | None = self.memo[key]
        return found

    def _verbatim(self, quote: str) -> tuple[int, int] | None:
        """Where a quote stands letter for letter, between blanks: the usual case, and cheap."""
        at = self.text.find(quote) if any(c.isalnum() for c in quote) else -1
        end = at + len(quote)
        if at < 0 or not (self.text[max(at - 1, 0) : at] + " ")[0].isspace():
            return None
        return (at, end) if (self.text[end : end + 1] or " ").isspace() else None

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of the whole passage."""
        return frozenset().union(*(s.stems for s in self.sentences))

    @cached_property
    def transitory(self) -> bool:
        """Whether the passage as a whole stands among transitory provisions."""
        path = " ".join([*self.passage.chunk.heading_path, self.passage.chunk.provision or ""])
        return "transitori" in fold(path) or "trans" in (self.passage.chunk.provision or "").split("/")[0]


def prepare(passage: Passage) -> PreparedPassage:
    """Parse a passage. Linear in its length; done once, when it is read."""
    text = passage.text
    whole, divided = joined(text)
    folded = fold_chars(whole)
    dates = tuple(_mended(d, divided) for d in find_dates(whole))
    publication = passage.publication
    found = tuple(_mended(q, divided) for q in quantities(whole, folded, dates))
    title = " . ".join([publication.title, *passage.chunk.heading_path])
    return PreparedPassage(
        passage=passage,
        folded=folded,
        sentences=_sentences(passage, folded, dates, found),
        lists=lists(text),
        dates=dates,
        title_dates=tuple(find_dates(title)),
        title_stems=stems(publication.title) | acronyms(publication.title.title()),
        heading_stems=stems(" ".join(passage.chunk.heading_path)),
        issuer_words=frozenset(words(f"{publication.issuer} {publication.branch or ''}")),
        title_frequencies=frequencies(fold_chars(title)),
        title_zones=zones(fold_chars(title)),
    )


def _sentences(
    passage: Passage, folded: str, dates: tuple[FoundDate, ...], found: tuple[Quantity, ...]
) -> tuple[Sentence, ...]:
    text = passage.text
    out: list[Sentence] = []
    provision: str | None = None
    among_transitories = "transitori" in fold(" ".join(passage.chunk.heading_path))
    at_q = at_d = 0
    title = " ".join(fold_chars(passage.publication.title).strip(" .*_").split()) or None
    addressed = _addressed(text, folded)
    wrong = _corrected(folded)
    for unit in cut(text):
        part = folded[unit.start : unit.end]
        at_q, mine = _within(found, at_q, unit.start, unit.end)
        at_d, its_dates = _within(dates, at_d, unit.start, unit.end)
        if any(a <= unit.start < b for a, b in addressed) or any(a <= unit.start and unit.end <= b for a, b in wrong):
            continue
        mine = tuple(q for q in mine if not any(a <= q.start < b for a, b in wrong))
        its_dates = tuple(d for d in its_dates if not any(a <= d.start < b for a, b in wrong))
        mark = heading_provision(text[unit.start : unit.start + 120].split("\n")[0])
        if mark is not None:
            if mark.kind == "trans" and not mark.number:
                among_transitories = True
            if mark.kind == "ordinal":
                provision = mark.path_segment if among_transitories else f"point:{mark.number}"
            else:
                provision = mark.path_segment
        if "¿" in text[unit.start : unit.end]:
            continue  # a question states nothing
        context: frozenset[str] = frozenset()
        if unit.header is not None:
            context = stems(text[unit.header[0] : unit.header[1]])
        elif out and cue("anaphora").search(part):
            context = out[-1].stems | out[-1].context
        of_text = mark is not None and mark.kind not in DIVISIONS and len(part) - mark.end >= ARTICLE_TEXT
        heading = " ".join(part.strip(" .*_").split()) == title or (
            bool(_HEADING.match(text[unit.start : unit.start + 12])) and not of_text
        )
        own = frozenset(stem(w) for w in _content(part)) | acronyms(text[unit.start : unit.end])
        out.append(
            Sentence(
                unit.start,
                unit.end,
                part,
                own,
                context,
                mine,
                its_dates,
                mark,
                provision,
                unit.header,
                heading,
                frequencies(part),
                zones(part),
                own | context,
            )
        )
    return tuple(out)


def _addressed(text: str, folded: str) -> list[tuple[int, int]]:
    """Paragraphs that speak to whoever processes the text. They state nothing, so nothing in them is evidence."""
    found: list[tuple[int, int]] = []
    for match in cue("instruction").finditer(folded):
        start = text.rfind("\n\n", 0, match.start())
        end = text.find("\n\n", match.end())
        found.append((max(start, 0), end if end >= 0 else len(text)))
    return found


_Found = TypeVar("_Found", Quantity, FoundDate)


def _corrected(folded: str) -> list[tuple[int, int]]:
    """What an erratum says was printed wrongly, between *dice* and *debe decir*: it is quoted to be put aside."""
    found: list[tuple[int, int]] = []
    at = 0
    for right in cue("must_say").finditer(folded):
        said = [m.end() for m in cue("said").finditer(folded, at, right.start())]
        if said:
            found.append((said[-1], right.start()))
        at = right.end()
    return found


DIVISIONS = frozenset(("lib", "tit", "cap", "sec"))
"""Marks of parts of a law that hold provisions and are none."""
_HEADING = late(r"(?:\d{1,3}\.[ ])?#")
ARTICLE_TEXT = 40
"""Characters after a provision's mark from which a line that is marked as a heading holds the provision's text."""

FREQUENCIES = ("daily", "weekly", "monthly", "annual")


def frequencies(folded: str) -> tuple[Mention[str], ...]:
    """How often, wherever the text says it."""
    found = [Mention(m.start(), m.end(), name) for name in FREQUENCIES for m in cue(name).finditer(folded)]
    return tuple(sorted(found, key=lambda m: m.start))


def zones(folded: str) -> tuple[Mention[frozenset[str]], ...]:
    """Zones, areas and regions by name, as sets of stems; a bare letter or number that names one is kept."""
    found: list[Mention[frozenset[str]]] = []
    for match in cue("zone").finditer(folded):
        spoken = _WORDS.findall(match.group())
        named = frozenset(stem(w) for n, w in enumerate(spoken) if w not in STOP_WORDS or n == len(spoken) - 1)
        found.append(Mention(match.start(), match.end(), named))
    return tuple(found)


_CAPITALISED = late(
    r"[^\W\d_a-zñáéíóúü]\w*"
    r"(?:[ \n]+(?:(?:de|del|la|las|los|el|y|e|al|para|en)[ \n]+){0,3}[^\W\d_a-zñáéíóúü]\w*){2,7}"
)


def acronyms(text: str) -> frozenset[str]:
    """Initials of capitalised names of three to six words, so that an acronym in a question meets the name in full:
    *Unidad de Medida y Actualización* holds `uma`."""
    found: set[str] = set()
    for match in _CAPITALISED.finditer(text):
        initials = "".join(w[0] for w in fold(match.group()).split() if w not in STOP_WORDS and w not in ("para",))
        for size in range(3, min(6, len(initials)) + 1):
            found.update(initials[at : at + size] for at in range(len(initials) - size + 1))
    return frozenset(found)


_WORDS = late(r"[^\W_]+(?:[-./,][^\W_]+)*")


_DIVIDED = late(r"(?P<head>[^\W\d_])(?P<cut>-[ \t]*\n[ \t]*)(?P<tail>[a-zñáéíóúü]+)")


def joined(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text with the words that line ends divide put together again, blanks after them, as long as before; and
    where the second halves of those words stood."""
    divided: list[tuple[int, int]] = []

    def mend(match: re.Match[str]) -> str:
        divided.append((match.start("cut"), match.end()))
        return match["head"] + match["tail"] + " " * len(match["cut"])

    return _DIVIDED.sub(mend, text), tuple(divided)


def _mended(found: _Found, divided: tuple[tuple[int, int], ...]) -> _Found:
    """A finding that ends within a divided word ends with it."""
    end = next((high for low, high in divided if low < found.end < high), found.end)
    return found if end == found.end else replace(found, end=end)


def _content(folded: str) -> list[str]:
    return [w for w in _WORDS.findall(folded) if w not in STOP_WORDS and (len(w) > 1 or w.isdigit())]


def _within(found: tuple[_Found, ...], at: int, start: int, end: int) -> tuple[int, tuple[_Found, ...]]:
    """Those that begin in `[start, end)`, and where to look for the next ones."""
    while at < len(found) and found[at].start < start:
        at += 1
    first = at
    while at < len(found) and found[at].start < end:
        at += 1
    return at, found[first:at]
