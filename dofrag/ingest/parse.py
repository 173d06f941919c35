"""One source file → its publications, streamed: reader → segmentation → header → chunks.

`parse` is the whole of ingest parsing for its callers. It holds at most the head of one publication and a window of
blocks in memory, whatever the size of the file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from dofrag.domain.corpus import Kind, SourceFile, SourceKind
from dofrag.errors import SourceUnreadable
from dofrag.ingest.catalogue import (
    LawDates,
    catalogue_dates,
    head_notice,
    last_amendment,
    law_issuer,
    law_slug,
    text_dates,
)
from dofrag.ingest.chunk import SHORT, chunks, provisions_apart
from dofrag.ingest.header import (
    Names,
    clean,
    clean_issuer,
    find_date,
    find_names,
    head_lines,
    instrument_of,
    own_identifiers,
)
from dofrag.ingest.interface import Block, DocumentMeta, Header, ParsedPublication, Reader
from dofrag.ingest.lines import bare
from dofrag.ingest.numbered import numbered
from dofrag.ingest.outline import Outline, header_names
from dofrag.ingest.readers.registry import reader_for
from dofrag.ingest.readers.sidof import SidofReader
from dofrag.ingest.segment import Boundary, is_edition, segment
from dofrag.profiles.anatomy import Anatomy
from dofrag.text.provisions import heading_provision

HEAD_BLOCKS = 120
HEAD_CHARS = 12_000
"""How much of a publication is held back to read its header."""


class ParseProfile(Protocol):
    """The part of a gazette profile that parsing needs."""

    @property
    def anatomy(self) -> Anatomy: ...

    def identifiers(self, text: str) -> tuple[str, ...]: ...

    def official_url(self, code: str, published_on: date) -> str | None: ...


def parse(source: SourceFile, profile: ParseProfile) -> Iterator[ParsedPublication]:
    """The publications of a file, in order. The chunks of each are to be used up before the next is asked for; what
    is left of them is skipped otherwise. Joined, the chunks of all of them are the file's normalised text.

    Raises SourceUnreadable, before the first publication where the reason can be known then: nothing in the file, no
    known format, no date."""
    reader = reader_for(source)
    if isinstance(reader, SidofReader):
        yield from _parse_notes(source, profile, reader)
        return
    meta, blocks = reader.read(source)
    yield from _Parser(source, profile, reader, meta).run(blocks)


def _parse_notes(source: SourceFile, profile: ParseProfile, reader: SidofReader) -> Iterator[ParsedPublication]:
    """A file of several notes, each with its own code and date."""
    for n, (meta, blocks) in enumerate(reader.documents(source)):
        if n:  # what the path says is said of the first note
            source = dataclasses.replace(source, code=None, position=None)
        yield from _Parser(source, profile, reader, meta).run(blocks)


@dataclass(slots=True)
class _Parser:
    source: SourceFile
    profile: ParseProfile
    reader: Reader
    meta: DocumentMeta
    count: int = 0  # publications so far
    fronts: int = 0  # of them, front matter and indexes
    issuer: str = ""  # of the publication before
    branch: str | None = None
    day: date | None = None
    day_notice: str | None = None

    def run(self, blocks: Iterator[Block]) -> Iterator[ParsedPublication]:
        anatomy = self.profile.anatomy
        head, blocks = _take(blocks, HEAD_BLOCKS, HEAD_CHARS)
        while not any(b.text.strip() for b in head[-HEAD_BLOCKS:]):
            more, blocks = _take(blocks, HEAD_BLOCKS, HEAD_CHARS)
            if not more or len(head) > 100 * HEAD_BLOCKS:
                raise SourceUnreadable(f"{self.source.path.name} holds no text", hint="download it again")
            head += more
        blocks = itertools.chain(head, blocks)
        head_text = "".join(b.text for b in head)
        law = self._law(head_text)
        self.day = self._published_on(head_text, law)
        edition = self.source.edition_key is not None or (law is None and is_edition(head, anatomy))
        if law is not None:
            yield self._law_publication(law, head, head_text, blocks)
            return
        stream: Iterator[Boundary | Block] = segment(blocks, anatomy, edition=edition)
        part = _Part(stream)
        for _ in part:  # a file begins with a boundary, so this part is empty
            raise AssertionError("text before the first boundary")
        while (boundary := part.next_boundary) is not None:
            part = _Part(stream)
            yield self._publication(boundary, part, edition)
            for _ in part:  # the caller stopped early
                pass

    def _publication(self, boundary: Boundary, part: _Part, edition: bool) -> ParsedPublication:
        head, rest = _take(iter(part), HEAD_BLOCKS, HEAD_CHARS)
        header = self._header(boundary, head, edition)
        names = header_names(header.title, header.issuer, header.branch, header.section)
        outline = Outline(self.profile.anatomy, names, header.instrument)
        return ParsedPublication(header, chunks(itertools.chain(head, rest), outline))

    def _header(self, boundary: Boundary, head: list[Block], edition: bool) -> Header:
        anatomy, source = self.profile.anatomy, self.source
        assert self.day is not None
        kind = boundary.kind or source.kind or Kind.DOF
        lines = head_lines(head, anatomy)
        if boundary.title is not None:
            names = Names(
                issuer=clean_issuer(boundary.issuer or ""),
                title=clean(boundary.title) or (lines[0].text[:200] if lines else ""),
                section=boundary.section,
                branch=boundary.branch,
            )
        else:
            meta = self.meta if self.count == 0 else DocumentMeta()
            names = find_names(lines, meta, anatomy, notice=kind is Kind.AVISO, issuer_before=self.issuer)
            self.issuer = names.issuer
        if not edition:
            self.branch = names.branch or self.branch
        own = own_identifiers(names.title, lines, anatomy) if kind is not Kind.INDICE else ""
        code = self._code(kind, edition)
        return Header(
            code=code,
            published_on=self.day,
            edition=source.edition or self.meta.edition,
            kind=kind,
            source_kind=SourceKind.PUBLICATION,
            position=source.position if not edition else (self.count - self.fronts or None),
            section=names.section or boundary.section,
            branch=names.branch or boundary.branch or self.branch,
            issuer=names.issuer,
            title=names.title or code,
            instrument=instrument_of(names.title, anatomy) if kind is not Kind.INDICE else None,
            identifiers=self.profile.identifiers(own) if own else (),
            url=self.profile.official_url(code, self.day),
            scope=source.scope,
            source=source.rel,
            notice=self.day_notice,
        )

    def _code(self, kind: Kind, edition: bool) -> str:
        """The note's code; `MAT-20240412-007` for one cut out of an edition; `CODE-2` for a second one in a file;
        else one made from date and path, the same on every machine."""
        self.count += 1
        assert self.day is not None
        if edition:
            name = f"{self.source.edition or 'ED'}-{self.day:%Y%m%d}"
            if kind is Kind.INDICE:
                self.fronts += 1
                return f"{name}-000" if self.fronts == 1 else f"{name}-000-{self.fronts}"
            return f"{name}-{self.count - self.fronts:03d}"
        base = self.source.code or self.meta.code
        if base is None:
            base = f"{self.day:%Y%m%d}-{hashlib.sha256(self.source.rel.encode()).hexdigest()[:10]}"
        return base if self.count == 1 else f"{base}-{self.count}"

    def _published_on(self, head: str, law: LawDates | None) -> date:
        """In order of trust: path, page, text, signature. A law is dated by its last reform."""
        anatomy = self.profile.anatomy
        if law is not None and (law.last or law.first):
            return law.last or law.first  # type: ignore[return-value]
        found = self.source.published_on or self.meta.published_on or find_date(head, anatomy)
        if found is None:
            found = self._signed_on()
            self.day_notice = anatomy.dates.signed_notice if found else None
        if found is None:
            why = f" ({'; '.join(self.source.warnings)})" if self.source.warnings else ""
            raise SourceUnreadable(
                f"no publication date in the path or the text of {self.source.rel}{why}",
                hint="put it in the path, as in 2026/01/09012026/MAT/005_DOF_20260109_MAT_5778070.md",
            )
        return found

    def _signed_on(self) -> date | None:
        """The last signature date of the text: read once more, and only where nothing else dates it."""
        anatomy = self.profile.anatomy
        last = None
        for block in self.reader.read(self.source)[1]:
            for m in anatomy.dates.signed.finditer(block.text[-4000:]):
                last = anatomy.dates.value(m) or last
        return last

    def _law(self, head: str) -> LawDates | None:
        """Dates of a consolidated law; None for anything else."""
        anatomy = self.profile.anatomy
        if self.source.kind not in (None, Kind.LEY) or self.source.code or self.source.edition_key:
            return None
        listed = catalogue_dates(self.source.path, anatomy)
        if listed is None and not anatomy.consolidated.mark.search(head):
            return None
        said = text_dates(head, anatomy)
        unlisted = listed is None
        listed = listed or LawDates()
        first, last = listed.first or said.first, said.last or listed.last
        if last is None and unlisted:
            last = last_amendment(self.reader.read(self.source)[1], anatomy)
        if first and last and last <= first:
            last = None
        return LawDates(first=first, last=last, name=listed.name)

    def _law_publication(
        self, law: LawDates, head: list[Block], head_text: str, blocks: Iterable[Block]
    ) -> ParsedPublication:
        anatomy, source = self.profile.anatomy, self.source
        assert self.day is not None
        title = clean(law.name or "")
        if not title:
            kept = [b for b in head if not anatomy.consolidated.mark.search(bare(b.text)[:120])]
            title = find_names(head_lines(kept, anatomy), DocumentMeta(), anatomy).title
        header = Header(
            code=f"{anatomy.consolidated.code}-{law_slug(source.path, source.rel)}",
            published_on=self.day,
            edition=None,
            kind=Kind.LEY,
            source_kind=SourceKind.CONSOLIDATED,
            position=None,
            section=None,
            branch=None,
            issuer=law_issuer(head_text, anatomy),
            title=title,
            instrument=instrument_of(title, anatomy),
            identifiers=(),
            url=None,
            scope=source.scope,
            source=source.rel,
            first_published_on=law.first,
            last_reform_on=law.last,
            notice=head_notice(_preamble(head), anatomy),
        )
        return ParsedPublication(
            header,
            chunks(numbered(blocks), Outline(anatomy, header_names(title), header.instrument, consolidated=True)),
        )


class _Part:
    """The blocks up to the next boundary."""

    def __init__(self, stream: Iterator[Boundary | Block]) -> None:
        self._stream = stream
        self._done = False
        self.next_boundary: Boundary | None = None

    def __iter__(self) -> Iterator[Block]:
        return self

    def __next__(self) -> Block:
        if not self._done:
            item = next(self._stream, None)
            if isinstance(item, Block):
                return item
            self.next_boundary = item
            self._done = True
        raise StopIteration


def _take(blocks: Iterator[Block], count: int, chars: int) -> tuple[list[Block], Iterator[Block]]:
    """The first blocks, up to `count` of them or `chars` characters, and the rest."""
    head: list[Block] = []
    size = 0
    for block in blocks:
        head.append(block)
        size += len(block.text)
        if len(head) >= count or size >= chars:
            break
    return head, blocks


def _preamble(head: list[Block]) -> str:
    """A law's text before its first article."""
    text = ""
    for block in head:
        for part in provisions_apart(block.text):
            mark = heading_provision(part[:SHORT].rstrip())
            if mark is not None and mark.kind == "art":
                return text
            text += part
    return text
