"""Which reader reads a file: by its first bytes, then by its ending."""

from __future__ import annotations

import re
from importlib import import_module

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Reader
from dofrag.ingest.readers.textio import read_sample

# Readers with heavy imports (lxml, docx, pypdf) are imported when a file of theirs comes up.
_READERS = {
    "markdown": ("markdown", "MarkdownReader"),
    "text": ("plain", "PlainReader"),
    "html": ("html", "HtmlReader"),
    "sidof": ("sidof", "SidofReader"),
    "docx": ("docx", "DocxReader"),
    "pdf": ("pdf", "PdfReader"),
    "doc": ("doc", "DocReader"),
}
_HTML = re.compile(rb"(?i)\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body|div|table|p)\b", re.S)


_JSON = re.compile(rb'\s*(?:\{\s*"[^"\n]{1,80}"\s*:|\[\s*\{\s*"[^"\n]{1,80}"\s*:)')


def reader_for(source: SourceFile) -> Reader:
    """The reader for a file. Contents win over the ending: a `.doc` may be a DOCX or a page. Raises SourceUnreadable
    for an empty file, one of no known format, and a server's error page that poses as a document."""
    sample = read_sample(source.path, 8192)
    module, name = _READERS[_format(source, sample)]
    reader: Reader = getattr(import_module(f"dofrag.ingest.readers.{module}"), name)()
    return reader


def _format(source: SourceFile, sample: bytes) -> str:
    text = sample.removeprefix(b"\xef\xbb\xbf")
    if len(text.strip()) <= 1:
        raise SourceUnreadable(f"{source.path.name} holds no text ({len(sample)} bytes)", hint="download it again")
    if text.startswith(b"%PDF-"):
        return "pdf"
    if text.startswith(b"PK\x03\x04") and source.format in ("doc", "docx", "markdown", "text", "html"):
        return "docx"
    if text.startswith(b"\xd0\xcf\x11\xe0"):
        return "doc"
    if text.startswith(b"{\\rtf"):
        return "doc"
    if source.format in ("doc", "docx", "sidof") and _HTML.match(text):
        return "html"
    if source.format in ("markdown", "text", "html") and _JSON.match(text):
        return "sidof"
    if source.format in ("doc", "docx"):
        if text.lstrip()[:1] in (b"{", b"["):
            raise SourceUnreadable(
                f"{source.path.name} is no Word document: the server answered with an error", hint="download it again"
            )
        raise SourceUnreadable(f"{source.path.name} is no Word document", hint="download it again")
    if source.format == "pdf":
        raise SourceUnreadable(f"{source.path.name} is no PDF: it lacks the mark %PDF", hint="download it again")
    if source.format in ("markdown", "text") and re.match(rb"(?i)\s*<(?:!doctype\s+html|html)\b", text):
        return "html"
    return source.format
