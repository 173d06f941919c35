"""Which runs of a list are shown, and in which order: parsed from an address, and written back into one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from dofrag.domain.records import dataclass
from dofrag.review.agreement import disputed
from dofrag.review.catalog import Listing
from dofrag.review.summaries import RISKS, Row
from dofrag.review.verdicts import Mark, Verdict, current
from dofrag.text.fold import fold

PAGE = 50
QUERY_MAX = 200
QUEUE_MAX = 1_000
FACETS = ("state", "reason", "category", "risk", "verdict", "arm", "planner")
"""What a list can be narrowed by, each to one value."""
ORDERS = ("newest", "oldest", "risk", "shuffled")
BLIND_ORDERS = ("shuffled", "risk")
"""Arms are run one after the other: time would tell which is which."""
SHOWS_ARM = ("arm", "planner")
"""What blind mode hides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """`chosen` is facet → value. `queue` above 0 takes a sample of that many, drawn with `seed`, in its own order."""

    text: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    order: str = ORDERS[0]
    queue: int = 0
    seed: str = "1"
    page: int = 1

    def query(self, **changes: object) -> str:
        """As the query of an address, with changes: a facet's name, `text`, `order`, `queue`, `seed` or `page`; None
        takes it away. The page is the first one, unless it is named."""
        values: dict[str, object] = {"text": self.text, **dict(self.chosen), "order": self.order}
        values |= {"queue": self.queue, "seed": self.seed if self.queue else "1", "page": 1} | changes
        usual = {"order": ORDERS[0], "seed": "1", "page": 1, "queue": 0}
        kept = {k: v for k, v in values.items() if v not in (None, "") and usual.get(k) != v}
        return urlencode(sorted((k, str(v)) for k, v in kept.items()))

    @property
    def narrowed(self) -> bool:
        return bool(self.text or self.chosen or self.queue)


def parse_filters(query: Mapping[str, str], blind: bool) -> Filters:
    """From an address. What is unknown, too long or not a number is as if it were not there."""
    facets = [name for name in FACETS if not (blind and name in SHOWS_ARM)]
    chosen = tuple((name, query[name][:QUERY_MAX]) for name in facets if query.get(name))
    order = query.get("order", "")
    orders = BLIND_ORDERS if blind else ORDERS
    return Filters(
        text=query.get("text", "").strip()[:QUERY_MAX],
        chosen=chosen,
        order=order if order in orders else orders[0],
        queue=min(_number(query.get("queue")), QUEUE_MAX),
        seed=(query.get("seed") or "1")[:40],
        page=max(1, _number(query.get("page"))),
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a list shows. `rows` are all that fit, in order; `facets` is facet → [(value, how many there are)]."""

    rows: tuple[Row, ...]
    facets: Mapping[str, Sequence[tuple[str, int]]]
    total: int


def fitting(listing: Listing, filters: Filters, author: str) -> list[Row]:
    """The runs that fit, in order. `author` is the reader: `verdict=todo` are those that this person has to judge."""
    return [row for row, missed in _judged(listing, filters, author) if not missed]


def select(listing: Listing, filters: Filters, author: str) -> Shown:
    """The runs that fit, and how many there would be with another value of each facet."""
    found = _judged(listing, filters, author)
    value = _values(listing, author)
    facets = {
        name: _count([r for r, missed in found if missed in ((), (name,))], name, value[name]) for name in FACETS
    }
    return Shown(tuple(r for r, missed in found if not missed), facets, len(listing.rows))


def _judged(listing: Listing, filters: Filters, author: str) -> list[tuple[Row, tuple[str, ...]]]:
    """The runs that text and queue leave, in order, each with the facets in which it does not fit."""
    words = fold(filters.text).split()
    rows = [r for r in listing.rows if all(w in r.folded for w in words)] if words else list(listing.rows)
    if filters.queue:
        # A sample keeps its order: the first ten of twenty are the ten that one would have drawn.
        rows = sample(rows, filters.queue, filters.seed)
    elif filters.order == "oldest":
        rows.reverse()
    elif filters.order == "risk":
        rows.sort(key=lambda r: (RISKS.index(r.risk), _lot(filters.seed, r.run_id)))
    elif filters.order == "shuffled":
        rows.sort(key=lambda r: _lot(filters.seed, r.run_id))
    if not filters.chosen:
        return [(r, ()) for r in rows]
    value = _values(listing, author)
    return [(r, tuple(name for name, want in filters.chosen if want not in value[name](r))) for r in rows]


def _count(rows: Sequence[Row], name: str, value: Callable[[Row], tuple[str, ...]]) -> list[tuple[str, int]]:
    """How many of the runs have each value of a facet."""
    tally: Counter[str] = Counter()
    for values, count in Counter(map(value, rows)).items():
        for one in values:
            tally[one] += count
    known = {"risk": RISKS, "verdict": VERDICT_VALUES}.get(name)
    if known is not None:
        return [(v, tally[v]) for v in known if v in tally]
    return sorted(((k, n) for k, n in tally.items() if k), key=lambda pair: (-pair[1], pair[0]))


VERDICT_VALUES = ("todo", *Mark, "disputed", "unseen")
"""Of the facet `verdict`: not judged by me; judged so by anybody; seen differently; judged by nobody."""


def _values(listing: Listing, author: str) -> Mapping[str, Callable[[Row], tuple[str, ...]]]:
    """Facet → the values that a run has of it."""
    judged = {run: _verdict_values(given, author) for run, given in listing.verdicts.items()}
    nobody = ("todo", "unseen")
    return {
        "state": lambda row: (row.facts.state,),
        "reason": lambda row: (row.facts.reason,),
        "category": lambda row: (row.category,),
        "risk": lambda row: (row.risk,),
        "verdict": lambda row: judged.get(row.facts.run_id, nobody),
        "arm": lambda row: (row.arm,),
        "planner": lambda row: (row.facts.planner,),
    }


def _verdict_values(given: Sequence[Verdict], author: str) -> tuple[str, ...]:
    whole = [v for v in current(given).values() if v.claim is None]
    values = dict.fromkeys(str(v.verdict) for v in whole)
    if not any(v.author == author for v in whole):
        values["todo"] = None
    if disputed(given):
        values["disputed"] = None
    if not given:
        values["unseen"] = None
    return tuple(values)


WEIGHTS = {"high": 4, "medium": 2, "low": 1}


def sample(rows: Sequence[Row], size: int, seed: str) -> list[Row]:
    """A queue: `size` runs, each category and risk in turn by its weight, risky ones four times as often as others.

    The same runs and seed give the same queue on every machine, and a shorter queue is the beginning of a longer one.
    """
    strata: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda r: _lot(seed, r.run_id)):
        strata.setdefault((row.category, row.risk), []).append(row)
    size = min(size, len(rows))
    taken = dict.fromkeys(sorted(strata), 0)
    lots = {s: _lot(seed, "/".join(s)) for s in taken}
    queue: list[Row] = []
    while len(queue) < size:
        # Highest averages: next is the stratum that is furthest behind its share.
        left = [s for s in taken if taken[s] < len(strata[s])]
        best = max(left, key=lambda s: (len(strata[s]) * WEIGHTS[s[1]] / (2 * taken[s] + 1), lots[s]))
        queue.append(strata[best][taken[best]])
        taken[best] += 1
    return queue


def _lot(seed: str, name: str) -> str:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "replace")).hexdigest()
