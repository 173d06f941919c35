"""Notes that say the same: the second printing of an edict, one act in two editions. Pure.

Two passages of different publications are copies when nothing tells them apart but layout, accents, words of grammar
and which printing it is: the same figures in the same order, the same content words, under a title of which the same
holds. A series of notes (a rate a day, a tariff a month) has other figures in each and stays apart; so does a usual
article of two acts, under their two titles, and the consolidated text of an act beside its publication.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from dofrag.domain.corpus import Hit, Kind
from dofrag.store.interface import Candidate
from dofrag.text.fold import STOP_WORDS, fold_chars

_WORD = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d+")
_UNTOLD = STOP_WORDS | {"primera", "segunda", "tercera", "cuarta", "unica", "publicacion", "vez"}
_CODE_PAGE = "latin-1"
_PARTED = "".join(c if _WORD.match(c) else " " for c in map(chr, range(256))).encode(_CODE_PAGE)
"""What each sign of the code page is where words are cut: a space where no word has it."""
_Sign = tuple[tuple[str, ...], frozenset[str]]
_SCAN = 8_000  # characters; longer passages are copies of none


def group_copies(
    hits: Sequence[Hit], passages: Mapping[int, Candidate]
) -> tuple[list[Hit], dict[int, tuple[int, ...]]]:
    """The hits without those that repeat a better one of another publication, and the ids of those by the better
    one's, both in order."""
    titles = _shared_titles({hit.code: passages[hit.chunk_id] for hit in hits})
    first: dict[tuple[Kind, _Sign, _Sign], Hit] = {}
    kept: list[Hit] = []
    copies: dict[int, list[int]] = {}
    for hit in hits:
        passage = passages[hit.chunk_id]
        title = titles.get(hit.code)
        if title is not None and len(passage.text) <= _SCAN:  # only where titles agree are texts looked at
            better = first.setdefault((passage.kind, title, _sign(passage.text)), hit)
            if better.code != hit.code:
                copies.setdefault(better.chunk_id, []).append(hit.chunk_id)
                continue
        kept.append(hit)
    return kept, {chunk: tuple(ids) for chunk, ids in copies.items()}


def _shared_titles(publications: Mapping[str, Candidate]) -> dict[str, _Sign]:
    """What those titles say that several publications of a kind have, by code. Words tell most titles apart, so that
    figures are looked for in few."""
    alike: dict[tuple[Kind, frozenset[str]], list[str]] = {}
    for code, publication in publications.items():
        alike.setdefault((publication.kind, _words(fold_chars(publication.title))), []).append(code)
    shared: dict[str, _Sign] = {}
    for codes in alike.values():
        if len(codes) > 1:
            signs = {code: _sign(publications[code].title) for code in codes}
            often = Counter(signs.values())
            shared |= {code: sign for code, sign in signs.items() if often[sign] > 1}
    return shared


def _sign(text: str) -> _Sign:
    folded = fold_chars(text)
    return tuple(_FIGURE.findall(folded)), _words(folded)


def _words(folded: str) -> frozenset[str]:
    try:
        found = folded.encode(_CODE_PAGE).translate(_PARTED).decode(_CODE_PAGE).split()  # twice as fast as a pattern
    except UnicodeEncodeError:
        found = _WORD.findall(folded)
    return frozenset(found) - _UNTOLD
