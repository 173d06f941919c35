"""Text as it may be put before people: what reorders, hides or strikes out characters is gone, and nothing else."""

from __future__ import annotations

from dofrag.text.patterns import late

# Signs that reorder text or cannot be seen: bidirectional controls, widths of nothing, tags, annotation marks, soft
# hyphens; and marks that strike a character out. Joiners within emoji and scripts that need them stay.
_HIDDEN = late(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e8\u20ea\u20eb]"
)
_CONTROLS = late("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_HALVES = late("[\ud800-\udfff]")
BIDI = late("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that change the order in which what follows is shown."""


def shown(text: str) -> str:
    """One line without hidden signs. Legible text comes back as it was, but for its blanks."""
    return " ".join(_HALVES.sub("\ufffd", _CONTROLS.sub(" ", _HIDDEN.sub("", text))).split())


def whole_words(text: str, start: int, end: int) -> bool:
    """Whether the span cuts no word, figure or identifier in two: `1,250` and `NOM-035` are one each."""
    return not _within(text, start) and not _within(text, end)


def _within(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _letter(after) and _letter(before):
        return True
    if _letter(after) and before in _JOINERS:
        return at > 1 and _letter(text[at - 2])
    return _letter(before) and after in _JOINERS and at + 1 < len(text) and _letter(text[at + 1])


_JOINERS = ".,-/'’·:_"


def _letter(char: str) -> bool:
    import unicodedata

    return char.isalnum() or unicodedata.category(char)[0] == "M"
