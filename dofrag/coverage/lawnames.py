"""Whether a publication is of the law that a question names. A law's name is a phrase, not a bag of words: the *Ley
Agraria* is not the law of an agrarian university, and a regulation of a law is not the law.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.prepared import PreparedPassage
from dofrag.coverage.vocabulary import wordset
from dofrag.text.fold import content_words, fold_chars, stem
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches

CONSTITUTION = stem("constitucion")
_SUBTITLE = re.compile(r"[,;(:]")
_QUOTED = re.compile(r"[\"“]([^\"“”]{3,300})[\"”]")

Words = tuple[str, ...]


def is_law(name: Words) -> bool:
    """Whether a name, as the question's ordered content words, is that of a law."""
    return bool(name) and stem(name[0]) in wordset("laws")


def is_of_law(name: Words, prepared: PreparedPassage) -> bool:
    """Whether the passage's publication is the law of this name, issues it or changes it.

    A consolidated law must bear just this name, with or without what its title says after a comma or in brackets;
    another publication must name it, word after word, in its title or above the passage.
    """
    wanted = tuple(map(stem, name))
    publication = prepared.passage.publication
    if wanted[0] == CONSTITUTION and not publication.consolidated:
        # There is one of the whole country: titles say its first word. That of a state is `… del Estado de …`.
        wanted = wanted if "estado" in name else wanted[:1]
    if publication.consolidated:
        own = _own_names(publication.title)
        return wanted in own or (len(wanted) == 1 and own[0][:1] == wanted)
    above = [publication.title or prepared.text, *prepared.passage.chunk.heading_path]
    return any(_holds(_stems(text), wanted) for text in above)


@lru_cache(maxsize=1024)
def _own_names(title: str) -> tuple[Words, ...]:
    """The stems of a law's whole title, of the title up to each subtitle, and of a former name that it quotes; each
    without the year at its end as well."""
    ends = [match.start() for match in _SUBTITLE.finditer(title)]
    names = tuple(map(_stems, (title, *(title[:end] for end in ends), *_QUOTED.findall(title))))
    return (*names, *(name[:-1] for name in names if name[-1:] and name[-1].isdigit()))


def issued(prepared: PreparedPassage) -> Words:
    """The stems of the title from the name of the law that the publication issues; () when it issues none."""
    return _issued(prepared.passage.publication.title)


def is_provision_of(name: Words, path: str, prepared: PreparedPassage) -> bool:
    """Whether a provision that the passage holds is one of this law. Where a title issues one law and changes
    another, it is of the one that is issued, unless the title says that it is of the other; it is of the other where
    a heading above it, or the sentence that changes it, names that one."""
    title = prepared.passage.publication.title
    wanted = tuple(map(stem, name))
    new = _issued(title)
    if not new:
        return True
    other = _titled_of(title, path)
    if _holds(new, wanted, at_start=True):
        return not other or _holds(other, wanted, at_start=True)
    if other and _holds(other, wanted, at_start=True):
        return True
    changes = [s.folded for s in prepared.sentences if not s.heading and cue("amends").search(s.folded)]
    return any(_holds(_stems(text), wanted) for text in [*prepared.passage.chunk.heading_path, *changes])


@lru_cache(maxsize=1024)
def _titled_of(title: str, path: str) -> Words:
    """The stems of a title from the law whose provision it says that it changes, when that is `path`; else ()."""
    for mentioned in find_provisions(title):
        if provision_matches(path, mentioned.path):
            after = _stems(title[mentioned.end :])
            starts = [n for n, word in enumerate(after) if word in wordset("laws")]
            return after[starts[0] :] if starts else ()
    return ()


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
    starts = [n for n, word in enumerate(after) if word in wordset("laws")]
    return after[starts[0] :] if starts else ()


@lru_cache(maxsize=1024)
def issued_name(title: str) -> str:
    """The name of the law that a title issues, without what else the act does; "" when it issues none."""
    folded = fold_chars(title)
    match = cue("issues").search(folded)
    if match is None or stem(next(iter(content_words(title[match.end() :])), "")) not in wordset("laws"):
        return ""
    return re.split(r"[,;]| y,? se | y se ", folded[match.end() :], maxsplit=1)[0].strip(" .")
