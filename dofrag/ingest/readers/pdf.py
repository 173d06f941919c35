"""PDF with a text layer: one block a line, page by page."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.textio import normalise

if TYPE_CHECKING:
    from pypdf import PageObject

LINE_MAX = 32_768


class PdfReader:
    """Reads `SourceFile`s of format "pdf"."""

    name = "pdf"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        from pypdf import PdfReader as Document
        from pypdf.errors import DependencyError, PyPdfError

        name = source.path.name
        try:
            with _quiet():
                document = Document(source.path, strict=False)
                if document.is_encrypted and not document.decrypt(""):
                    raise SourceUnreadable(f"{name} is encrypted", hint="save it without a password")
                pages = list(document.pages)
        except (DependencyError, NotImplementedError) as error:  # a cipher that is not at hand
            raise SourceUnreadable(f"{name} is encrypted", hint="save it without a password") from error
        except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
            raise SourceUnreadable(f"{name} is a damaged PDF: {error}", hint="download it again") from error
        texts = _texts(pages, name)
        first = next((t for t in texts if t.strip()), None)
        if first is None:
            raise SourceUnreadable(
                f"{name} has no text layer ({len(pages)} pages of images)", hint="run OCR on it, or use the Word file"
            )
        return DocumentMeta(), _blocks(first, texts)


def _texts(pages: list[PageObject], name: str) -> Iterator[str]:
    from pypdf.errors import PyPdfError

    for number, page in enumerate(pages, 1):
        try:
            with _quiet():
                text = page.extract_text()
        except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise SourceUnreadable(
                f"{name}: page {number} cannot be read: {error}", hint="download it again"
            ) from error
        yield normalise(text + "\n")


def _blocks(first: str, rest: Iterator[str]) -> Iterator[Block]:
    yield from _lines(first)
    for text in rest:
        yield from _lines(text)


def _lines(text: str) -> Iterator[Block]:
    for line in text.split("\n"):
        stripped = line.rstrip()
        if stripped:
            for at in range(0, len(stripped), LINE_MAX):
                yield Block("paragraph", stripped[at : at + LINE_MAX] + "\n")


@contextmanager
def _quiet() -> Iterator[None]:
    """pypdf logs every oddity of a file; what matters comes as an exception."""
    logger = logging.getLogger("pypdf")  # its modules' loggers are below this one and take their level from it
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
