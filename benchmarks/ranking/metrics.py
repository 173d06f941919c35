"""What a ranked list is worth, and how sure a difference between two systems is."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from ranking.questions import Hops, Places

TOP = 10
"""Chunks of a list that count."""
CHARS = 16_000
"""Characters of text that count: who returns larger chunks gets fewer of them."""
POOL = 50
RESAMPLES = 2_000
METRICS = ("mrr", "recall", "all_hop", "pool")


def window(ids: Sequence[int], sizes: Mapping[int, int], top: int = TOP, chars: int = CHARS) -> list[int]:
    """The chunks of a list that count: the first `top`, up to the one that goes beyond `chars`."""
    kept: list[int] = []
    spent = 0
    for chunk in ids[:top]:
        spent += sizes[chunk]
        if spent > chars:
            break
        kept.append(chunk)
    return kept


def holds(places: Places, seen: frozenset[int]) -> bool:
    """Whether a quote was returned: one chunk has it, or all of the adjacent ones that share it were returned."""
    return any(place <= seen for place in places)


def recall(hops: Hops, ids: Iterable[int]) -> float:
    """Share of the gold quotes that were returned. Of alternatives the one counts of which most was returned."""
    seen = frozenset(ids)
    found = total = 0
    for alternatives in hops:
        counts = [(sum(holds(places, seen) for places in quotes), len(quotes)) for quotes in alternatives]
        best = max(counts, key=lambda c: (c[0] / c[1], -c[1]))
        found, total = found + best[0], total + best[1]
    return found / total


def all_hop(hops: Hops, ids: Iterable[int]) -> float:
    """1 where each hop has one of its quotes among the chunks returned, else 0."""
    seen = frozenset(ids)
    return float(
        all(any(holds(places, seen) for quotes in alternatives for places in quotes) for alternatives in hops)
    )


def reciprocal_rank(hops: Hops, ids: Sequence[int]) -> float:
    """1 over the rank of the chunk that first completes any gold quote, 0 where none does."""
    rank = {chunk: n for n, chunk in reversed(list(enumerate(ids, start=1)))}
    complete = [
        max(rank[chunk] for chunk in place)
        for alternatives in hops
        for quotes in alternatives
        for places in quotes
        for place in places
        if place <= rank.keys()
    ]
    return 1 / min(complete) if complete else 0.0


def score(hops: Hops, ids: Sequence[int], pool: Sequence[int], sizes: Mapping[int, int]) -> dict[str, float]:
    """All metrics of one question: `ids` as shown, `pool` the candidates that were ranked."""
    shown = window(ids, sizes)
    return {
        "mrr": reciprocal_rank(hops, ids[:TOP]),
        "recall": recall(hops, shown),
        "all_hop": all_hop(hops, shown),
        "pool": recall(hops, pool[:POOL]),
    }


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def interval(differences: Sequence[float], seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The middle 95 % of the mean of paired differences, questions drawn with replacement."""
    chance = random.Random(seed)
    size = len(differences)
    means = sorted(mean(chance.choices(differences, k=size)) for _ in range(resamples))
    return means[round(0.025 * (resamples - 1))], means[round(0.975 * (resamples - 1))]
