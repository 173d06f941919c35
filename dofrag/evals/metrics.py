"""Figures over episode records, with intervals. Pure; seeded where chance comes in. Unscored is not zero."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dofrag.domain.records import dataclass

Record = Mapping[str, Any]
RESAMPLES = 2_000
SEED = 20_260_101
Z = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`hits` of `n`, with the 95 % interval. `n` 0: there is no rate."""

    hits: float
    n: int
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None


def wilson(hits: int, n: int) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of a proportion; (None, None) of nothing."""
    if not n:
        return None, None
    share, z2 = hits / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == n else min(1.0, middle + half)


def bootstrap(
    rows: Sequence[tuple[float, float]], *, seed: int = SEED, resamples: int = RESAMPLES
) -> tuple[float | None, float | None]:
    """95 % percentile interval of sum(first) / sum(second), resampling rows: questions, not their nuggets, are
    independent of each other. (None, None) where all rows say the same: resampling would call that certain."""
    if len({first / second for first, second in rows if second}) < 2:
        return None, None
    return _resampled(tuple(rows), seed, resamples)


@lru_cache(maxsize=4_096)  # a report tells many a figure in several of its tables
def _resampled(rows: Sequence[tuple[float, float]], seed: int, resamples: int) -> tuple[float | None, float | None]:
    chance = random.Random(seed)
    both = [complex(first, second) for first, second in rows]  # summed in one go
    values = []
    for _ in range(resamples):
        total = sum(chance.choices(both, k=len(both)))
        if total.imag:
            values.append(total.real / total.imag)
    values.sort()
    if not values:
        return None, None
    return values[int(0.025 * len(values))], values[min(len(values) - 1, int(0.975 * len(values)))]


def paired(pairs: Sequence[tuple[float, float]], *, seed: int = SEED) -> tuple[float, float | None, float | None]:
    """Mean of second − first over pairs of one question, with its bootstrap interval; none of fewer than two."""
    if not pairs:
        return 0.0, None, None
    differences = [(b - a, 1.0) for a, b in pairs]
    low, high = _resampled(tuple(differences), seed, RESAMPLES) if len(pairs) > 1 else (None, None)
    return sum(d for d, _ in differences) / len(differences), low, high


def count(records: Sequence[Record], holds: Callable[[Record], bool], among: Callable[[Record], bool]) -> Rate:
    """How many of the records `among` hold, with Wilson's interval."""
    part = [r for r in records if among(r)]
    hits = sum(holds(r) for r in part)
    low, high = wilson(hits, len(part))
    return Rate(hits=hits, n=len(part), low=low, high=high)


def vital_recall(records: Sequence[Record]) -> Rate:
    """Vital nuggets found over vital nuggets; the interval resamples questions."""
    return _ratio(records, _vital)


def mean(records: Sequence[Record], name: str) -> Rate:
    """Mean of a citation figure over the answered runs that have one."""
    rows = [(float(r["grade"][name]), 1.0) for r in records if answered(r) and r["grade"][name] is not None]
    low, high = bootstrap(rows)
    return Rate(hits=sum(v for v, _ in rows), n=len(rows), low=low, high=high)


def answered(record: Record) -> bool:
    return bool(record["grade"]["end"] == "answered")


def closed(record: Record) -> bool:
    return bool(record["closure"] == "complete")


def scored(record: Record) -> bool:
    return bool(record["grade"]["scored"])


def _vital(record: Record) -> tuple[float, float]:
    vital = [n for n in record["grade"]["nuggets"] if n["vital"]]
    return float(sum(n["found"] for n in vital)), float(len(vital))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One row of the report. Rates are over what is scored; `ends` counts how runs ended.

    `closed`: the closure check accepted the end, an answer or a proven absence; `correct_closed` is of those.
    `all_hops`: every piece of gold was read. The last three hold runs against what their items expect, where they
    expect it."""

    category: str
    n: int
    unscored: int
    answered: Rate
    correct: Rate
    correct_answered: Rate
    vital: Rate
    confident_error: Rate
    citation_precision: Rate
    citation_recall: Rate
    refusal: Rate
    false_refusal: Rate
    closed: Rate
    correct_closed: Rate
    all_hops: Rate
    hops: Rate
    requirements: Rate
    tool_selection: Rate
    trajectory: Rate
    termination: Rate
    ends: dict[str, int]


def figures(category: str, records: Sequence[Record]) -> Figures:
    """All figures of these records. Refusal never comes without false refusal, nor answers without their errors."""
    ends = [str(r["grade"]["end"]) for r in records]
    judged = [r for r in records if r["grade"]["correct"] is not None]
    return Figures(
        category=category,
        n=len(records),
        unscored=len(records) - len(judged),
        answered=count(records, answered, scored),
        correct=count(judged, lambda r: r["grade"]["correct"], scored),
        correct_answered=count(judged, lambda r: r["grade"]["correct"], answered),
        vital=vital_recall(records),
        confident_error=count(records, lambda r: r["grade"]["confident_error"], answered),
        citation_precision=mean(records, "citation_precision"),
        citation_recall=mean(records, "citation_recall"),
        refusal=count(records, lambda r: r["grade"]["refused"],
                      lambda r: scored(r) and r["expected_state"] in ("abstained", "escalated")),
        false_refusal=count(records, lambda r: r["grade"]["false_refusal"],
                            lambda r: scored(r) and r["grade"]["answerable"]),
        closed=count(records, closed, scored),
        correct_closed=count(judged, lambda r: r["grade"]["correct"], lambda r: scored(r) and closed(r)),
        all_hops=_conduct(records, "all_hops"),
        hops=_ratio(records, lambda r: (r["conduct"]["hops_found"], r["conduct"]["hops_total"])),
        requirements=_ratio(records, lambda r: (r["requirements_met"], r["requirements_total"])),
        tool_selection=_conduct(records, "tool_selection"),
        trajectory=_conduct(records, "trajectory"),
        termination=_conduct(records, "termination"),
        ends={end: ends.count(end) for end in sorted(set(ends))},
    )  # fmt: skip


def _conduct(records: Sequence[Record], name: str) -> Rate:
    return count(records, lambda r: r["conduct"][name], lambda r: scored(r) and r["conduct"][name] is not None)


def _ratio(records: Sequence[Record], of: Callable[[Record], tuple[float, float]]) -> Rate:
    """Found over all; the interval resamples questions."""
    rows = [(float(a), float(b)) for a, b in (of(r) for r in records if scored(r))]
    low, high = bootstrap(rows)
    return Rate(hits=sum(a for a, _ in rows), n=int(sum(b for _, b in rows)), low=low, high=high)


def by_category(records: Sequence[Record]) -> list[Figures]:
    """One row a category, in the order of the set, and one over all."""
    names = list(dict.fromkeys(str(r["category"]) for r in records))
    rows = [figures(name, [r for r in records if r["category"] == name]) for name in names]
    return [*rows, figures("all", records)]


def by_subset(records: Sequence[Record]) -> list[Figures]:
    """One row a subset, by name; those of no subset are left out."""
    names = sorted({str(r["subset"]) for r in records if r["subset"] is not None})
    return [figures(name, [r for r in records if r["subset"] == name]) for name in names]


def of_variant(records: Sequence[Record], name: str) -> list[Record]:
    """The records of one variant."""
    return [r for r in records if r["variant"] == name]


def difference(first: Sequence[Record], second: Sequence[Record], figure: str) -> Paired:
    """Second − first, of questions that both have scored: a mean a question over its passes, then paired. `figure` is
    `correct` or `vital`."""
    a, b = _by_question(first, figure), _by_question(second, figure)
    pairs = [(a[k], b[k]) for k in a if k in b]
    mean_, low, high = paired(pairs)
    clear = low is not None and high is not None and (low > 0 or high < 0)
    return Paired(figure=figure, n=len(pairs), difference=mean_, low=low, high=high, clear=clear)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A paired difference with its 95 % interval; `clear`: the interval leaves nought out."""

    figure: str
    n: int
    difference: float
    low: float | None
    high: float | None
    clear: bool


def _by_question(records: Sequence[Record], figure: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for r in records:
        if figure == "correct" and r["grade"]["correct"] is not None:
            found.setdefault(str(r["question_id"]), []).append(float(r["grade"]["correct"]))
        elif figure == "vital" and scored(r) and _vital(r)[1]:
            share, total = _vital(r)
            found.setdefault(str(r["question_id"]), []).append(share / total)
    return {k: sum(v) / len(v) for k, v in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What runs of one terminal state took, on average. Money and tokens are None where nothing knows them; `priced`
    is how many runs have a known price."""

    state: str
    n: int
    turns: float
    calls: float
    read_tokens: float
    cost_units: float
    seconds: float
    context_tokens: float
    tokens: float | None
    money: float | None
    priced: int


def costs(records: Sequence[Record]) -> list[Cost]:
    """Cost sliced by terminal state, and over all."""
    states = sorted({str(r["terminal_state"]) for r in records})
    return [_cost(s, [r for r in records if s in ("all", r["terminal_state"])]) for s in [*states, "all"] if records]


def _cost(state: str, records: Sequence[Record]) -> Cost:
    def average(name: str) -> float | None:
        values = [float(r["spend"][name]) for r in records if r["spend"][name] is not None]
        return sum(values) / len(values) if values else None

    tokens_in, tokens_out = average("input_tokens"), average("output_tokens")
    return Cost(
        state=state,
        n=len(records),
        turns=average("turns") or 0.0,
        calls=average("tool_calls") or 0.0,
        read_tokens=average("read_tokens") or 0.0,
        cost_units=average("cost_units") or 0.0,
        seconds=(average("elapsed_ms") or 0.0) / 1000,
        context_tokens=sum(float(r["context_tokens_est"]) for r in records) / len(records),
        tokens=None if tokens_in is None else tokens_in + (tokens_out or 0.0),
        money=average("cost"),
        priced=sum(r["spend"]["cost"] is not None for r in records),
    )
