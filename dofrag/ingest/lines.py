"""What a line says once its layout is taken off."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape

_ATTRIBUTES = re.compile(r"\{[#.][^{}\n]{0,300}\}")
_LEAD = re.compile(r"(?:\d{1,3}\.[ ]+(?=#))?[#>\s•–-]*(?=\S)")
_ESCAPE = re.compile(r"\\([^\w\s])")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_SHORT_LINE = 40


def bare(line: str) -> str:
    """A line without heading marks, list marks, emphasis, pandoc attributes and escapes; white space collapsed.
    Long lines are cut at 2,000 characters: a header never needs more."""
    return _short_bare(line) if len(line) <= _SHORT_LINE else _bare(line)


@lru_cache(maxsize=4096)  # short lines repeat: headings of articles, page headers
def _short_bare(line: str) -> str:
    return _bare(line)


def _bare(line: str) -> str:
    text = line[:2000].replace("*", "").replace("`", "")
    if "{" in text:
        text = _ATTRIBUTES.sub("", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if m := _LEAD.match(text):
        text = text[m.end() :]
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    if "&" in text:
        text = unescape(text)
    return " ".join(text.split())


def is_caps(text: str) -> bool:
    """Whether a bare line is set in capitals (it has letters, and no small one)."""
    return text.isupper() and len(text) > 2
