"""The passages that a run read: their text from the index where it is the same text, else what the trace shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from urllib.parse import urlsplit

from dofrag.domain.corpus import PUBLIC, Filters, Kind, Passage, Publication
from dofrag.domain.records import dataclass
from dofrag.errors import DofError
from dofrag.review.markup import Quoted, render
from dofrag.store.interface import CorpusReader
from dofrag.text.spans import find_quote
from dofrag.trace.events import PassageRead

CONTEXT = 1_200
"""Characters of a passage that are shown before and after a quote; the whole of it stands further down."""
NEAR = 400
"""Characters shown of what stands before and after a cited passage."""
AROUND_MAX = 60
SAMPLE_MARK = "EJEMPLO"
SAMPLE_NAME = "sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """An index that texts may be taken from. `name` as in a trace's `corpus`; `open` raises a DofError where the
    index is not there, or is another version's."""

    name: str
    open: Callable[[], AbstractContextManager[CorpusReader]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Stored passages by chunk id; of the cited ones the text before and after in the same publication; and why there
    are none where an index could not be read."""

    found: Mapping[int, Passage]
    around: Mapping[int, tuple[str, str]]
    faults: tuple[str, ...] = ()


def fetch(
    shelves: Sequence[Shelf],
    corpus: str,
    ids: Sequence[int],
    cited: Sequence[int],
    as_of: date,
    scopes: Iterable[str],
) -> Texts:
    """The passages as the run could see them, from the shelf of that name; a trace that came from another machine
    names its index otherwise, so that any shelf will do that has them. Whether it is the same text is not known
    yet."""
    filters = Filters(as_of=as_of, kinds=tuple(Kind), scopes=frozenset(scopes) | {PUBLIC})
    named = [s for s in shelves if s.name == corpus]
    others = [s for s in shelves if s.name != SAMPLE_NAME] if corpus != SAMPLE_NAME else []
    faults = []
    for shelf in named or others:
        try:
            with shelf.open() as reader:
                found = {p.id: p for p in reader.passages(ids, filters)}
                around = _around(reader, [c for c in cited if c in found][:AROUND_MAX], filters)
        except DofError as error:
            faults.append(error.message)
            continue
        if found:
            return Texts(found=found, around=around)
    return Texts(found={}, around={}, faults=tuple(faults))


def _around(reader: CorpusReader, cited: Sequence[int], filters: Filters) -> dict[int, tuple[str, str]]:
    """The end of what stands before each passage, and the beginning of what stands after."""
    ids = {chunk: reader.neighbors(chunk, 1) for chunk in cited}
    texts = {p.id: p.text for p in reader.passages([i for near in ids.values() for i in near], filters)}
    found = {}
    for chunk, near in ids.items():
        before = next((texts.get(i, "") for i in near if i < chunk), "").rstrip()
        after = next((texts.get(i, "") for i in near if i > chunk), "").lstrip()
        found[chunk] = (
            before if len(before) <= NEAR else "…" + before[-NEAR:],
            after if len(after) <= NEAR else after[:NEAR] + "…",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A passage as it is shown. `origin`: "index" (its text is the one that was read), "excerpt" (the trace's first
    characters, since no index has it) or "changed" (likewise, since the index has another text now)."""

    chunk_id: int
    code: str
    title: str
    issuer: str
    published: str
    cite_as: str
    url: str | None
    heading: str
    text: str
    origin: str
    turn: int
    chars: int
    number: int | None = None
    before: str = ""
    after: str = ""

    @property
    def label(self) -> str:
        """`[1]` where the answer cites it, else its id."""
        return f"#{self.chunk_id}" if self.number is None else f"[{self.number}]"


@dataclass(frozen=True, slots=True)
class Known:
    """What the trace's envelopes say of a publication and of its chunks' headings."""

    publications: Mapping[str, Mapping[str, object]]
    headings: Mapping[int, str]


def make_source(
    event: PassageRead,
    passage: Passage | None,
    known: Known,
    cite_as: Callable[[Publication], str],
    *,
    sample: bool,
    number: int | None,
    around: tuple[str, str] = ("", ""),
) -> Source:
    """A read passage with the best text there is."""
    same = passage is not None and hashlib.sha256(passage.text.encode()).hexdigest() == event.sha256
    if passage is not None and same:
        publication = passage.publication
        cited = cite_as(publication)
        return Source(
            chunk_id=event.chunk_id,
            code=publication.code,
            title=publication.title,
            issuer=publication.issuer,
            published=publication.published_on.isoformat(),
            cite_as=f"{SAMPLE_MARK} {cited}" if sample else cited,
            url=None if sample else safe_url(publication.url),
            heading=" › ".join(passage.chunk.heading_path),
            text=passage.text,
            origin="index",
            turn=event.turn,
            chars=event.chars,
            number=number,
            before=around[0],
            after=around[1],
        )
    said = known.publications.get(event.publication, {})
    return Source(
        chunk_id=event.chunk_id,
        code=event.publication,
        title=str(said.get("title") or ""),
        issuer=str(said.get("issuer") or ""),
        published=str(said.get("date") or ""),
        cite_as="",
        url=None,
        heading=known.headings.get(event.chunk_id, ""),
        text=event.excerpt,
        origin="excerpt" if passage is None else "changed",
        turn=event.turn,
        chars=event.chars,
        number=number,
    )


def safe_url(url: str | None) -> str | None:
    """An address that may be a link: http or https with a host, nothing that runs."""
    if not url or len(url) > 2_000 or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        return url if parts.scheme in ("http", "https") and parts.hostname else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage with quotes marked in it. `missing` are quotes that do not stand in the text at hand."""

    html: str
    cut_before: bool
    cut_after: bool
    missing: tuple[str, ...]


def in_context(source: Source, quotes: Sequence[tuple[str, object, object, str]], whole: bool = False) -> Shown:
    """Mark quotes (text, start, end, anchor) in a passage, and cut the passage to what is around them, unless the
    `whole` of it is wanted. Offsets that do not fit the quote are not believed: it is looked for."""
    marks, missing = [], []
    for quote, start, end, anchor in quotes:
        found = _where(source.text, quote, start, end)
        if found is None:
            missing.append(quote)
        else:
            marks.append(Quoted(*found, anchor))
    first, last = 0, len(source.text)
    if marks and not whole:
        first = _line_start(source.text, max(0, min(m.start for m in marks) - CONTEXT))
        last = min(last, max(m.end for m in marks) + CONTEXT)
    shifted = [Quoted(m.start - first, m.end - first, m.anchor) for m in marks]
    short = last < len(source.text) or source.chars > len(source.text)
    return Shown(render(source.text[first:last], shifted), first > 0, short, tuple(missing))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1 if at and at - text.rfind("\n", 0, at) < CONTEXT else at


def _where(text: str, quote: str, start: object, end: object) -> tuple[int, int] | None:
    if type(start) is int and type(end) is int and 0 <= start < end <= len(text):
        if text[start:end] == quote:
            return start, end
        within = find_quote(quote, text[start:end])
        if within is not None:
            return start + within[0], start + within[1]
    return find_quote(quote, text) if quote.strip() else None
