"""Notes that say the same: the second printing of an edict, one act in two editions. Pure, but for the heading
paths that it asks for.

Two passages of different publications are copies when nothing tells them apart but layout, Latin accents, capitals,
stops and which printing it is (`Segunda publicación.` before or behind the text): the same words, figures and signs
in the same order, under the same headings and titles of which the same holds. Whatever else differs may be what
matters (`no`, `hasta`, a minus, a ticked box, who to whom), so it keeps them apart; at worst a copy then takes a
place of its own. So does a usual article of two acts, under their two titles, and the consolidated text of an act
beside its publication.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from dofrag.domain.corpus import Hit
from dofrag.store.interface import Candidate
from dofrag.text.fold import fold_chars

HeadingPaths = Callable[[Sequence[int]], Mapping[int, tuple[str, ...]]]
"""Heading paths of chunks by id. Asked for those alone whose texts agree, which are few."""

_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d+")
_CODE_PAGE = "latin-1"
_PARTED = "".join(c if _WORD.match(c) else " " for c in map(chr, range(256))).encode(_CODE_PAGE)
"""What each sign of the code page is where words are cut: a space where no word has it."""
_ORDINALS = "primera segunda tercera cuarta quinta sexta septima octava novena decima unica ultima"
_UNTOLD = frozenset(_ORDINALS.split()) | {"publicacion"}
_PRINTING = rf"(?:{'|'.join(_ORDINALS.split())})[ \t]+publicacion"
_BEFORE = re.compile(rf"[\s*_#(]*{_PRINTING}(?:[*_)]*\.|[*_)]*\n|[*_]*\))(?=[\s*_]*[^\W\d_])")
_BEHIND = re.compile(rf"(?:(?<=\.)[\s*_]*\(?|(?<=\))[\s*_]*\(){_PRINTING}[\s*_).]*\Z")
"""Apart from the text, not within: `desde la segunda publicación` and `Segunda publicación: $500` say something."""
_EDGE = 200  # characters of a text at either end where its printing may be told
_DIVIDED = re.compile(
    r"(?<=[a-zñáéíóúü]{2})[-‐\u00ad][ \t]*\r?\n[ \t]*(?=[a-zñáéíóúü]{2})|[\u00ad\u200b-\u200d\u2060]"
)
_LATIN = re.compile("[\x00-\u024f\u2010-\u203a]+")  # elsewhere what looks like an accent may make another letter
_LAYOUT = re.compile(r"[.,;:](?!\d)|(?<!\d)[\"']|\*|^[ \t]*#{1,6}[ \t]", re.MULTILINE)
"""Stops that part no figure, quotation marks that count no minutes, emphasis, marks of headings."""
_SAID = re.compile(r"[^\W_]+|[^\w\s]")  # words and figures; whatever else is no blank, sign by sign
_SCAN = 8_000  # characters; longer passages are copies of none


def group_copies(
    hits: Sequence[Hit], passages: Mapping[int, Candidate], paths: HeadingPaths
) -> tuple[list[Hit], dict[int, tuple[int, ...]]]:
    """The hits without those that repeat a better one of another publication, and the ids of those by the better
    one's, both in order."""
    titles = {hit.code: passages[hit.chunk_id] for hit in hits}

    @cache
    def about(code: str) -> Hashable:  # words alone tell most titles apart
        return titles[code].kind, _words(fold_chars(titles[code].title))

    @cache
    def title(code: str) -> Hashable:
        return _said(titles[code].title)

    def text(hit: Hit) -> str:
        return passages[hit.chunk_id].text

    groups: Iterable[Sequence[Hit]] = [[hit for hit in hits if len(text(hit)) <= _SCAN]]
    # The cheap questions first: each is asked of those alone that the one before left together.
    groups = _together(groups, lambda hit: about(hit.code))
    groups = _together(groups, lambda hit: title(hit.code))
    groups = _together(groups, lambda hit: tuple(_FIGURE.findall(text(hit))))
    groups = list(_together(groups, lambda hit: _said(text(hit))))
    stands = paths([hit.chunk_id for group in groups for hit in group]) if groups else {}
    groups = _together(groups, lambda hit: tuple(map(_said, stands.get(hit.chunk_id, ()))))
    copies: dict[int, tuple[int, ...]] = {}
    for best, *others in groups:
        copies[best.chunk_id] = tuple(hit.chunk_id for hit in others if hit.code != best.code)
    gone = {chunk for ids in copies.values() for chunk in ids}
    return [hit for hit in hits if hit.chunk_id not in gone], copies


def _together(groups: Iterable[Sequence[Hit]], key: Callable[[Hit], Hashable]) -> Iterator[list[Hit]]:
    """Of each group those that have a key in common with one of another publication, in order."""
    for group in groups:
        alike: dict[Hashable, list[Hit]] = {}
        for hit in group:
            alike.setdefault(key(hit), []).append(hit)
        yield from (same for same in alike.values() if len({hit.code for hit in same}) > 1)


def _said(text: str) -> tuple[str, ...]:
    """What a text says, in order: words, figures and signs, without the printing's number."""
    whole = _DIVIDED.sub("", unicodedata.normalize("NFC", text))
    told = _LATIN.sub(_folded, whole)
    if before := _BEFORE.match(told[:_EDGE]):
        told = told[before.end() :]
    if behind := _BEHIND.search(told, max(0, len(told) - _EDGE)):
        told = told[: behind.start()]
    return tuple(_SAID.findall(_LAYOUT.sub(" ", told)))


def _folded(match: re.Match[str]) -> str:
    return "\n".join(map(fold_chars, match.group().split("\n")))  # lines stay


def _words(folded: str) -> frozenset[str]:
    try:
        found = folded.encode(_CODE_PAGE).translate(_PARTED).decode(_CODE_PAGE).split()  # twice as fast as a pattern
    except UnicodeEncodeError:
        found = _WORD.findall(folded)
    return frozenset(found) - _UNTOLD
