"""Whether a publication is of the law that a question names. A law's name is a phrase, not a bag of words: the *Ley
Agraria* is not the law of an agrarian university, and a regulation of a law is not the law.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage
from dofrag.text.fold import content_words, fold_chars, stem

HEADS = frozenset(map(stem, ("ley", "codigo", "reglamento", "constitucion", "estatuto", "ordenanza")))
"""Instruments whose own name is exact. Others (plans, agreements, calls) are named more freely."""
_SUBTITLE = re.compile(r"[,;(:]")

Words = tuple[str, ...]


def is_law(name: Words) -> bool:
    """Whether a name, as the question's ordered content words, is that of a law."""
    return bool(name) and stem(name[0]) in HEADS


def is_of_law(name: Words, prepared: PreparedPassage) -> bool:
    """Whether the passage's publication is the law of this name, issues it or changes it.

    A consolidated law must bear just this name (a subtitle after it apart); another publication must name it, word
    after word, in its title or above the passage.
    """
    wanted = tuple(map(stem, name))
    publication = prepared.passage.publication
    if publication.consolidated:
        own = _stems(_SUBTITLE.split(publication.title, maxsplit=1)[0])
        return own[: len(wanted)] == wanted and (len(wanted) == 1 or own == wanted)
    above = [publication.title or prepared.text, *prepared.passage.chunk.heading_path]
    return any(_holds(_stems(text), wanted) for text in above)


def is_provision_of(name: Words, prepared: PreparedPassage) -> bool:
    """Whether a provision that the passage holds is one of this law. Where a title issues one law and changes
    another, it is of the one that is issued unless it, or a heading above it, names the other."""
    issued = _issued(prepared.passage.publication.title)
    wanted = tuple(map(stem, name))
    if not issued or _holds(issued, wanted, at_start=True):
        return True
    return any(_holds(_stems(text), wanted) for text in [*prepared.passage.chunk.heading_path, prepared.text])


@lru_cache(maxsize=2048)
def _stems(text: str) -> Words:
    return tuple(map(stem, content_words(text)))


def _holds(own: Words, wanted: Words, *, at_start: bool = False) -> bool:
    last = 0 if at_start else len(own) - len(wanted)
    return any(own[at : at + len(wanted)] == wanted for at in range(last + 1))


@lru_cache(maxsize=1024)
def _issued(title: str) -> Words:
    """The stems of a title from the name of the law that it issues; () when it issues none."""
    match = cue("issues").search(fold_chars(title))
    if match is None:
        return ()
    after = _stems(title[match.end() :])
    starts = [n for n, word in enumerate(after) if word in HEADS]
    return after[starts[0] :] if starts else ()
