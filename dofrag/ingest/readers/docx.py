"""DOCX: paragraphs by their Word style, tables as pipe rows, streamed.

The body is read as a stream of events, never as a tree: a container of half a megabyte may unpack to a gigabyte.
Every text of the body comes: also what stands in content controls, insertions, text boxes and tables within
tables. What a revision deleted, and the second copy that older programs get of a drawing, do not.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.wordml import BODY, BodyTarget, Style, StylesTarget, Target

if TYPE_CHECKING:
    from lxml.etree import ParserTarget

PART_MAX = 512 << 20
"""Bytes that a part may unpack to; more is taken for a bomb."""
RATIO_MAX = 120
"""Times its size that a part above RATIO_FROM bytes may unpack to. Real ones were measured to unpack to 12 times."""
RATIO_FROM = 16 << 20
STYLES_MAX = 16 << 20
READ = 1 << 16
_STYLES = "word/styles.xml"


class DocxReader:
    """Reads `SourceFile`s of format "docx"."""

    name = "docx"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        return DocumentMeta(), docx_blocks(source.path, source.path.name)


def docx_blocks(path: Path, name: str) -> Iterator[Block]:
    """All blocks of a container. Raises SourceUnreadable for one that is damaged, no Word document, or a bomb:
    what can be known from its directory before the first block."""
    try:
        container = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise _damaged(name, error) from error
    with container:
        found = {info.filename: info for info in container.infolist()}
        if BODY not in found:
            raise SourceUnreadable(f"{name} is a ZIP container, but no Word document", hint="unpack it first")
        for part, limit in ((_STYLES, STYLES_MAX), (BODY, PART_MAX)):
            if part in found:
                _check_size(found[part], limit, name)
    return _blocks(path, name, styled=_STYLES in found)


def _check_size(part: zipfile.ZipInfo, limit: int, name: str) -> None:
    if part.flag_bits & 1:
        raise SourceUnreadable(f"{name} is encrypted", hint="save it without a password")
    bomb = part.file_size > RATIO_FROM and part.file_size > RATIO_MAX * max(part.compress_size, 1)
    if part.file_size > limit or bomb:
        raise SourceUnreadable(
            f"{name}: {part.filename} unpacks from {part.compress_size:,} to {part.file_size:,} bytes",
            hint="convert it to Markdown",
        )


def _blocks(path: Path, name: str, *, styled: bool) -> Iterator[Block]:
    from lxml.etree import LxmlError

    try:
        with zipfile.ZipFile(path) as container:
            styles = _styles(container) if styled else {}
            yield from _body(container, styles)
    except (zipfile.BadZipFile, zlib.error, LxmlError, KeyError, ValueError, OSError, EOFError) as error:
        raise _damaged(name, error) from error
    except NotImplementedError as error:  # a method of compression that Python does not know
        raise _damaged(name, error) from error


def _styles(container: zipfile.ZipFile) -> dict[str, Style]:
    target = StylesTarget()
    for _ in _feed(container, _STYLES, target):
        pass
    return target.styles


def _body(container: zipfile.ZipFile, styles: dict[str, Style]) -> Iterable[Block]:
    target = BodyTarget(styles)
    for _ in _feed(container, BODY, target):
        yield from target.take()
    yield from target.take()
    if not target.known:
        raise ValueError("its body is not in the form of Word 2007 and later")


def _feed(container: zipfile.ZipFile, part: str, target: Target) -> Iterator[None]:
    """Parse a part piece by piece. A document type is refused by the target, so no entity is ever declared, and one
    that is not is an error: no text can hide behind it."""
    from lxml import etree

    parser = etree.XMLParser(target=cast("ParserTarget", target), resolve_entities=False, no_network=True)
    with container.open(part) as stream:
        while piece := stream.read(READ):
            parser.feed(piece)
            yield
    parser.close()


def _damaged(name: str, error: Exception) -> SourceUnreadable:
    return SourceUnreadable(f"{name} is a damaged Word document: {error}", hint="download it again")
