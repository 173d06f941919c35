"""The second look: what the best candidates are, and what their texts show, once they are at hand. Pure.

Each sign counts the same, a share of how far the candidates lie apart, and is told from the passage alone:

- `published`: a gazette publication, where the question does not ask for the text in force. The consolidated law of
  the same words is cited second.
- `shown`: it shows a value of the sort that the question asks for (a length of time, money, a share, a date).
- `beside`: it stands next to one of the best. A list, a definition and a transitory go on in the next passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

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
Parts = tuple[tuple[str, float], ...]
"""What a score consists of, for `explain`."""


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

    def looked_at(chunk: int, score: float, parts: Parts) -> tuple[float, Parts]:
        """What its signs make of a score and of what it consists of."""
        signs = wanted.signs(passages[chunk]) + ["beside"] * (chunk in beside)
        return score + sign * len(signs), parts + tuple((name, round(sign, 6)) for name in signs if explain)

    # Score, whether it is no candidate of its own, chunk, parts: in this order the best come first.
    ranked: list[tuple[float, bool, int, Parts]] = []
    scores: dict[int, float] = {}
    for hit in seen:
        score, parts = looked_at(hit.chunk_id, hit.score, hit.parts)
        scores[hit.chunk_id] = score
        ranked.append((-score, False, hit.chunk_id, parts))
    for chunk, leading in beside.items():
        if chunk in passages and chunk not in scores and leading in scores:
            score, parts = looked_at(chunk, low, (("last", round(low, 6)),) if explain else ())
            over = min(0.0, scores[leading] - score)
            parts += (("behind", round(over, 6)),) if explain and over else ()
            ranked.append((-(score + over), True, chunk, parts))
    ranked.sort(key=itemgetter(0, 1, 2))
    return [Hit(n, -s, chunk, passages[chunk].code, parts) for n, (s, _, chunk, parts) in enumerate(ranked, start=1)]


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
