"""The second look: what the best candidates are, and what their texts show, once they are at hand. Pure.

Each sign counts the same, a share of how far the candidates lie apart, and is told from the passage alone:

- `published`: a gazette publication, where the question does not ask for the text in force. The consolidated law of
  the same words is cited second.
- `shown`: it shows a value of the sort that the question asks for (a length of time, money, a share, a date).
- `beside`: it stands next to one of the best. A list, a definition and a transitory go on in the next passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dofrag.domain.corpus import Hit, Kind
from dofrag.search.analysis import CONSOLIDATED_WORDS
from dofrag.store.interface import Candidate
from dofrag.text.fold import fold, fold_chars, words
from dofrag.text.lexicon import cues

WEIGHT = 0.25
"""Of one sign, as a share of the distance between the best and the last of the candidates."""
TIE = 0.05
"""Of one sign at least, as a share of the best score: among few candidates that lie close it decides."""
LEADING = 3
"""Passages whose neighbours are looked at."""
_CONSOLIDATED = frozenset(CONSOLIDATED_WORDS.split())
_SCAN = 6_000  # characters of a passage that are looked at


def second_look(
    query: str,
    hits: Sequence[Hit],
    passages: Mapping[int, Candidate],
    beside: Mapping[int, int],
    *,
    explain: bool = False,
) -> list[Hit]:
    """The candidates in their final order, best first, ties by id.

    `passages` holds those that may be seen, others are dropped. `beside` are the neighbours of the first `LEADING`,
    each with the one it stands next to; those that are no candidates come in with the score of the last candidate,
    and stay behind the one they stand next to.
    """
    seen = [hit for hit in hits if hit.chunk_id in passages]
    if not seen:
        return []
    low, best = min(hit.score for hit in seen), max(hit.score for hit in seen)
    sign = max(WEIGHT * (best - low), TIE * abs(best))
    wanted = _Wanted(query)

    def looked_at(hit: Hit) -> Hit:
        signs = wanted.signs(passages[hit.chunk_id]) + ["beside"] * (hit.chunk_id in beside)
        parts = hit.parts + tuple((name, round(sign, 6)) for name in signs) if explain else ()
        return Hit(hit.rank, hit.score + sign * len(signs), hit.chunk_id, hit.code, parts)

    ranked = {hit.chunk_id: looked_at(hit) for hit in seen}
    late: list[Hit] = []
    for chunk, leading in sorted(beside.items()):
        if chunk in passages and chunk not in ranked and leading in ranked:
            last = (("last", round(low, 6)),) if explain else ()
            hit = looked_at(Hit(0, low, chunk, passages[chunk].code, last))
            over = min(0.0, ranked[leading].score - hit.score)
            behind = (("behind", round(over, 6)),) if explain and over else ()
            late.append(replace(hit, score=hit.score + over, parts=hit.parts + behind))
    order = sorted([*ranked.values(), *late], key=lambda h: (-h.score, h.chunk_id not in ranked, h.chunk_id))
    return [Hit(n, hit.score, hit.chunk_id, hit.code, hit.parts) for n, hit in enumerate(order, start=1)]


class _Wanted:
    """What a question asks for."""

    def __init__(self, query: str) -> None:
        folded = fold(query)
        self._current = not _CONSOLIDATED.isdisjoint(words(query))
        self._shown = [cue.shown for cue in cues() if cue.shown and cue.asked.search(folded)]

    def signs(self, passage: Candidate) -> list[str]:
        found = [] if self._current or passage.kind is Kind.LEY else ["published"]
        if self._shown:
            text = fold_chars(passage.text[:_SCAN])
            found += ["shown"] * any(shown.search(text) for shown in self._shown)
        return found
