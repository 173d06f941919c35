"""Headings of articles whose number goes on in the next line: `### Artículo 170` and then `Bis.- Los padres…`.

Converters break a heading there. Cut as it stands, article 170 Bis would pass for article 170.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dofrag.ingest.interface import Block
from dofrag.text.fold import fold_chars
from dofrag.text.paths import BIS

HEADING_MAX = 40
_BEGINNINGS = ("Art", "ART")
_HEADING = re.compile(r"[#*_ ]*articulo \d{1,4}[oa]?[*_ ]*\n*")
_SUFFIX = re.compile(rf"(?P<word>{BIS}\b(?:[ -](?:\d{{1,2}}\b|[a-z]\b(?=[.-])))?)|\.?(?P<letter>-[a-z])(?=\.)")
_BEGINS = re.compile(r"[.-]|(?i:b.s|t.r|qu|s.[px]|oct|n.[nv]|d.c)")
"""What a suffix begins with: a stop, a dash, the words of `BIS` (a vowel may have its accent). Most lines do not."""


def numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same blocks; a heading that the next line goes on with becomes one of kind `article`, whose style is its
    whole mark. At most one block is held back."""
    held: Block | None = None
    for block in blocks:
        if held is not None:
            yield _whole(held, block)
            held = None
        if block.kind == "heading" and len(block.text) <= HEADING_MAX and _of_article(block.text):
            held = block
        else:
            yield block
    if held is not None:
        yield held


@lru_cache(maxsize=8192)  # one law after the other has an article 12
def _of_article(text: str) -> bool:
    return text.lstrip("#*_ ")[:3] in _BEGINNINGS and _HEADING.fullmatch(fold_chars(text)) is not None


def _whole(heading: Block, following: Block) -> Block:
    if following.kind != "paragraph" or _BEGINS.match(following.text) is None:
        return heading
    found = _SUFFIX.match(fold_chars(following.text[:24]))
    if found is None:
        return heading
    suffix = following.text[: found.end()]
    if found["word"]:
        word, _, rest = suffix.partition(" ")
        suffix = f" {word}-{rest}" if rest.isalpha() else f" {suffix}"  # `Bis A` is written `Bis-A` as well
    else:
        suffix = f".{suffix.lstrip('.')}"
    return heading._replace(kind="article", style=f"{heading.text.rstrip()}{suffix}.-")
