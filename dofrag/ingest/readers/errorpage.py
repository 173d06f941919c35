"""Servers answer with a page where a document was asked for, and downloads keep it under the document's name."""

from __future__ import annotations

import re

SHORT = 600
"""Characters below which a page must show that it is a note: be a page of the gazette, be dated, or bear a title."""
_SERVER = re.compile(
    r"(?i)\b(?:404 not found|403 forbidden|el archivo no existe|internal server error|bad gateway"
    r"|service unavailable)\b"
)
_SAID = re.compile(
    r"(?i)\b(?:servicio (?:temporalmente )?no disponible|p[áa]gina no encontrada|acceso denegado|access denied"
    r"|error (?:http )?[45]\d\d|error interno|gateway time-?out|too many requests|request rejected|not found"
    r"|temporarily unavailable|no se (?:ha )?(?:encontr[óo]|encontrado|pudo) |intente (?:de nuevo|m[áa]s tarde))"
)
_DATED = re.compile(
    r"(?i)\b\d{1,2}(?:o|º|°|st|nd|rd|th)?\.?[ /-](?:de )?(?:\d{1,2}|[^\W\d_]{3,12})[ /-](?:del? (?:año )?)?\d{4}\b"
    r"(?!\s{0,3}\d{1,2}:\d\d)|\bmes de [^\W\d_]{4,12} de(?:l año)? "
)
_NO_TITLE = frozenset(("ERROR", "HTTP", "SERVICIO", "PAGE", "PÁGINA", "PAGINA", "WARNING", "FATAL"))
_TITLE = re.compile(r"(?m)^(?:[^\W\d_]{4,}) [^\W\d_]{1,20}\b.{5,}")


def is_error_page(text: str, markup: str, *, gazette: bool, loose: bool) -> bool:
    """Whether a page is a server's own. `text`: what it shows, a line a paragraph; `gazette`: it has the site's
    frame, or came in an envelope that gives code or date; `loose`: it stands in a Word file's place."""
    if len(text) < (5000 if loose else 2000) and _SERVER.search(markup[:20_000]):
        return True
    if gazette or len(text) >= 2000:
        return False
    if _SAID.search(text) and not _DATED.search(text):
        return True
    return len(text) < SHORT and not _DATED.search(text) and not _titled(text)


def _titled(text: str) -> bool:
    """A line that opens as official titles do, its first word in capitals: `ACUERDO por el que…`."""
    return any(
        (word := line.split(" ", 1)[0]).isupper() and word not in _NO_TITLE and not _SAID.search(line)
        for line in text.split("\n")
        if _TITLE.match(line)
    )
