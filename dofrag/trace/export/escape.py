"""Text of documents, questions and models, made harmless for where it goes. Nothing is hidden: what cannot stand as
it is, is shown by its number."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_NOTHING = {0xAD: None, 0x200B: None, 0xFEFF: None}
"""Soft hyphens, blanks of no width and byte-order marks: they show nothing, and say nothing."""
# All but what is certainly harmless, in ranges without a hole; `_shown` decides on the rest.
_ODD = re.compile(
    "[^\t\n\x20-\x7e\xa0-\xac\xae-\u0377\u1e00-\u1eff\u2000-\u200a\u2010-\u2027\u202f-\u205f\u20ac\u2100-\u218b]"
)
_UNSAFE = ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")
"""Categories of what drives a terminal, reorders text, ends a line in some programs, or is no character."""


def visible(text: str) -> str:
    """The text with controls, signs that reorder it and code points that are no text written as `[U+202E]`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ODD.sub(_shown, lines.translate(_NOTHING))


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    return f"[U+{ord(char):04X}]" if unicodedata.category(char) in _UNSAFE else char


def one_line(text: str) -> str:
    """Visible, on one line, with single blanks."""
    return " ".join(visible(text).split())


def safe_json(document: Any) -> str:
    """JSON with every value as it is: what `visible` would change stands as an escape."""
    return _ODD.sub(_escaped, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False))


def _escaped(match: re.Match[str]) -> str:
    if _shown(match) == match[0]:
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


_MARKS = re.compile(r"[\\`*_\[\]|~$^@{}]|:(?=//)")
_HTML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}
_WWW = re.compile(r"(?i)(www)\.")
_FIRST = re.compile(r"(\d{0,9})(?=[.)]\s|[.)]$)|(?=[#+=:-])")


def markdown(text: str) -> str:
    """One line of Markdown that shows the text as it is, wherever it stands: no markup, no HTML, no link, no image,
    not even one made of a bare address."""
    line = _MARKS.sub(r"\\\g<0>", one_line(text)).translate(_HTML)
    line = _WWW.sub(r"\1\\.", line)
    first = _FIRST.match(line)
    return line if first is None else f"{first[0]}\\{line[first.end() :]}"


_URL = re.compile(r"https?://[A-Za-z0-9.-]{1,200}(?::\d{1,5})?(?:/[A-Za-z0-9._~/?#=&%+,-]{0,500})?")


def official(url: str | None) -> str:
    """An official address, as text and between `<>` as a link; nothing for whatever else stands in its place."""
    return url if url and _URL.fullmatch(url) else ""


_FORMULA = re.compile(r"((?:^|[;,\t\n])\s*)(?=[=+\-@|%\uff1d\uff0b\uff0d\uff20])")


def cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, whatever it parts fields by: an apostrophe goes before."""
    return _FORMULA.sub(r"\1'", visible(text))
