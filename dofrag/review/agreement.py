"""Do reviewers agree? Cohen's kappa, pair by pair, over what both have judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from dofrag.domain.records import dataclass
from dofrag.review.verdicts import Mark, Verdict, current


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two reviewers over the `n` items that both judged. `observed` is the share of equal verdicts; `kappa` is None
    where it is not defined: nothing in common, or both said one and the same thing of everything. `table[i][j]`
    counts the items that the first called `MARKS[i]` and the second `MARKS[j]`."""

    first: str
    second: str
    n: int
    observed: float | None
    kappa: float | None
    table: tuple[tuple[int, ...], ...]


MARKS = tuple(Mark)
Item = tuple[str, int | None]
"""A run, and the number of a claim in it, None for the run as a whole."""


def cohen(pairs: Sequence[tuple[Mark, Mark]]) -> tuple[float | None, float | None]:
    """Observed agreement and kappa of pairs of verdicts."""
    n = len(pairs)
    if not n:
        return None, None
    observed = sum(a == b for a, b in pairs) / n
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(left[m] * right[m] for m in MARKS) / (n * n)
    return observed, None if chance == 1 else (observed - chance) / (1 - chance)


def agreements(verdicts: Iterable[Verdict], *, claims: bool) -> list[Agreement]:
    """Each pair of reviewers, by name; over claims, or over whole runs."""
    by_author: dict[str, dict[Item, Mark]] = {}
    for (run, claim, author), verdict in current(verdicts).items():
        if (claim is not None) is claims:
            by_author.setdefault(author, {})[(run, claim)] = verdict.verdict
    found = []
    for first, second in combinations(sorted(by_author), 2):
        one, two = by_author[first], by_author[second]
        pairs = [(one[item], two[item]) for item in one if item in two]
        tally = Counter(pairs)
        table = tuple(tuple(tally[(a, b)] for b in MARKS) for a in MARKS)
        found.append(Agreement(first, second, len(pairs), *cohen(pairs), table))
    return found


def disputed(verdicts: Iterable[Verdict]) -> dict[Item, dict[str, Verdict]]:
    """What reviewers see differently: item → author → verdict, items in order."""
    by_item: dict[Item, dict[str, Verdict]] = {}
    for (run, claim, author), verdict in current(verdicts).items():
        by_item.setdefault((run, claim), {})[author] = verdict
    items = sorted(by_item, key=lambda i: (i[0], -1 if i[1] is None else i[1]))
    return {i: by_item[i] for i in items if len({v.verdict for v in by_item[i].values()}) > 1}
