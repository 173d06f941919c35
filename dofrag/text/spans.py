"""Where a verbatim quote stands in a text."""

from __future__ import annotations

import re
from array import array

from dofrag.text.fold import Folded, fold_with_map

# A hyphen between two letters may be a word divided at a line end in one copy of a text and not in the other.
_WORD_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_NUMBER_AFTER = re.compile(r"[.,]\d")


class QuotableText:
    """A text prepared once, in which many quotes are looked for."""

    def __init__(self, text: str) -> None:
        self._folded = _without_word_hyphens(fold_with_map(text))

    def find(self, quote: str) -> tuple[int, int] | None:
        """The true span of `quote` in the original text, or None.

        Spacing, line breaks, hyphenation, emphasis marks, kinds of quotation mark and dash, case and accents may
        differ; letters, digits and punctuation may not. A span never begins or ends within a word or a number:
        "13.14" is not found in "113.14", nor "0.28" in "-0.28". A quote without any letter or digit is none.
        """
        wanted = _without_word_hyphens(fold_with_map(quote)).text.strip()
        if not any(c.isalnum() for c in wanted):
            return None
        text = self._folded.text
        at = text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            if _whole(text, at, end):
                return self._folded.original_span(at, end)
            # The next occurrence cannot begin within the same run of word signs when the quote begins with one.
            step = at + 1
            if wanted[0].isalnum():
                while step < len(text) and text[step - 1].isalnum() and text[step].isalnum():
                    step += 1
            at = text.find(wanted, step)
        return None


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """`QuotableText(text).find(quote)`, for a single quote."""
    return QuotableText(text).find(quote)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether `[start, end)` cuts no word and no number in two."""
    first, before = text[start], text[start - 1] if start else " "
    if first.isalnum() and before.isalnum():
        return False
    if first.isdigit():
        before2 = text[start - 2] if start > 1 else " "
        if before in ".," and before2.isdigit():
            return False
        if before == "-" and not before2.isalnum():
            return False  # a sign is part of the number
    last, after = text[end - 1], text[end : end + 2]
    if last.isalnum() and after[:1].isalnum():
        return False
    return not (last.isdigit() and _NUMBER_AFTER.match(after))


def _without_word_hyphens(folded: Folded) -> Folded:
    if "-" not in folded.text:
        return folded
    parts: list[str] = []
    starts: array[int] = array("q")
    ends: array[int] = array("q")
    at = 0
    for match in _WORD_HYPHEN.finditer(folded.text):
        parts.append(folded.text[at : match.start()])
        starts.extend(folded.starts[at : match.start()])
        ends.extend(folded.ends[at : match.start()])
        at = match.end()
    parts.append(folded.text[at:])
    starts.extend(folded.starts[at:])
    ends.extend(folded.ends[at:])
    return Folded("".join(parts), starts, ends)
