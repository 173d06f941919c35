"""Tables of the experiments, each computed from a campaign's records and nothing else.

A table is JSON values: `experiment, title, notes, head, rows` (cells as text), and `figures` with the numbers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dofrag.errors import UsageError
from dofrag.evals.grade import End
from dofrag.evals.metrics import Rate, Record, count, difference, figures, of_variant, scored
from dofrag.evals.sections import names_of
from dofrag.evals.table import percent, rate, refusal_pair

Json = dict[str, Any]
Table = Callable[[Json, Sequence[Record]], Json]


def _table(
    name: str, spec: Json, head: Sequence[str], rows: Sequence[Sequence[str]], found: Sequence[Json], *notes: str
) -> Json:
    return {
        "schema": "dofrag.experiment/1",
        "experiment": name,
        "title": f"{spec['title']}: {name}",
        "notes": list(notes),
        "head": list(head),
        "rows": [list(row) for row in rows],
        "figures": list(found),
    }


Pairs = Sequence[tuple[str, str]]
"""Twins by id: the answerable one, and the one without an answer."""


def read_twins(path: Path) -> Pairs:
    """A JSON list of `{"answerable", "unanswerable"}`, by id. Raises UsageError for anything else."""
    try:
        rows: Any = json.loads(path.read_text(encoding="utf-8"))
        pairs = [(str(row["answerable"]), str(row["unanswerable"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no list of twins: {str(error)[:120]}", hint=_TWINS) from None
    if not pairs:
        raise UsageError(f"{path} holds no twins", hint=_TWINS)
    return pairs


_TWINS = 'a JSON list of {"answerable": ID, "unanswerable": ID}'


def _told_apart(records: Sequence[Record], twins: Pairs) -> tuple[int, int]:
    """Pairs of which both were ended as expected, in all their passes, and pairs that were run."""
    verdicts: dict[str, bool] = {}
    for r in records:
        verdicts[r["question_id"]] = verdicts.get(r["question_id"], True) and bool(r["grade"]["correct"])
    run = [pair for pair in twins if all(one in verdicts for one in pair)]
    return sum(verdicts[a] and verdicts[b] for a, b in run), len(run)


def refusal(spec: Json, records: Sequence[Record], twins: Pairs = ()) -> Json:
    """Questions without an answer beside their answerable twins; never one without the other. `twins`: only these are
    counted, and pair by pair."""
    rows, found = [], []
    paired = {one for pair in twins for one in pair}
    records = [r for r in records if not paired or r["question_id"] in paired]
    for name in names_of(spec):
        mine = [r for r in of_variant(records, name) if scored(r)]
        without = [r for r in mine if r["expected_state"] in ("abstained", "escalated")]
        others = [r for r in mine if r["grade"]["answerable"]]
        if not without or not others:
            raise UsageError(
                f"{name}: {len(without)} questions without an answer and {len(others)} with one: refusal is never "
                "told without false refusal",
                hint="run a set that has both",
            )
        every = figures(name, mine)
        near = sum(r["grade"]["end"] == End.ANSWERED and bool(r["grade"]["forbidden"]) for r in without)
        answered = sum(r["grade"]["end"] == End.ANSWERED for r in without)
        out = sum(r["grade"]["end"] == End.LIMITED for r in without)
        partial = sum(r["grade"]["end"] == End.PARTIAL for r in without)
        clarified = sum(r["grade"]["end"] == End.CLARIFIED for r in others)
        correct = count(others, lambda r: bool(r["grade"]["correct"]), lambda r: r["grade"]["correct"] is not None)
        found.append({
            "variant": name, "n_unanswerable": len(without), "refused": int(every.refusal.hits),
            "confabulated": answered - near, "near_miss_taken": near, "out_of_budget": out, "partial": partial,
            "n_answerable": len(others), "correct": int(correct.hits), "false_refusal": int(every.false_refusal.hits),
            "over_clarified": clarified, "pairs": list(_told_apart(mine, twins)),
        })  # fmt: skip
        rows.append([name, str(len(without)), refusal_pair(every.refusal, every.false_refusal), str(answered - near),
                     str(near), str(out), str(partial), str(len(others)), rate(correct), str(clarified),
                     "/".join(map(str, _told_apart(mine, twins))) if twins else "-"])  # fmt: skip
    head = ("Variant", "Without answer", "Refused ‖ wrongly refused", "Confabulated", "Near miss taken",
            "Out of budget", "Partial", "With answer", "Correct", "Over-clarified",
            "Pairs told apart")  # fmt: skip
    return _table("refusal with its twin", spec, head, rows, found,
                  "Out of budget and partial reports are no refusals. A near miss: a forbidden answer.")  # fmt: skip


def noise(spec: Json, records: Sequence[Record]) -> Json:
    """Passes against each other, and which differences between variants are larger than the noise."""
    if int(spec["passes"]) < 3:
        raise UsageError(f"{spec['title']} has {spec['passes']} passes: noise needs 3", hint="dof eval … --passes 3")
    rows, found, spreads, means = [], [], {}, {}
    for variant in spec["variants"]:
        name = str(variant["name"])
        mine = [r for r in of_variant(records, name) if r["grade"]["correct"] is not None]
        values = [
            sum(bool(r["grade"]["correct"]) for r in one) / len(one)
            for n in range(1, int(spec["passes"]) + 1)
            if (one := [r for r in mine if r["pass"] == n])
        ]
        verdicts: dict[str, set[bool]] = {}
        for r in mine:
            verdicts.setdefault(str(r["question_id"]), set()).add(bool(r["grade"]["correct"]))
        flips = Rate(hits=sum(len(v) > 1 for v in verdicts.values()), n=len(verdicts), low=None, high=None)
        if not values:
            continue
        spreads[name], means[name] = max(values) - min(values), sum(values) / len(values)
        fixed = variant["planner"] != "model" and not variant["epsilon"]
        remark = "uninformative by construction: deterministic" if fixed else ""
        found.append({"variant": name, "mean": means[name], "min": min(values), "max": max(values),
                      "spread": spreads[name], "flips": flips.hits, "deterministic": fixed})  # fmt: skip
        rows.append([name, percent(means[name]), percent(min(values)), percent(max(values)), percent(spreads[name]),
                     rate(flips), remark])  # fmt: skip
    notes = [_against_noise(a, b, means, spreads) for n, a in enumerate(means) for b in list(means)[n + 1 :]]
    head = ("Variant", "Mean correct", "Lowest pass", "Highest", "Spread", "Questions that flipped", "Remark")
    return _table("noise floor", spec, head, rows, found, *notes)


def _against_noise(a: str, b: str, means: Mapping[str, float], spreads: Mapping[str, float]) -> str:
    apart = means[b] - means[a]
    clears = abs(apart) > max(spreads[a], spreads[b])
    return f"{a} → {b}: {100 * apart:+.1f} points, " + (
        "more than its noise" if clears else "does not clear its noise"
    )


def agency(spec: Json, records: Sequence[Record], baseline: str = "fixed") -> Json:
    """What the loop is worth over the single pass, and what it costs."""
    names = names_of(spec)
    if baseline not in names or len(names) < 2:
        raise UsageError(f"{spec['title']} has no variant {baseline!r} to compare with",
                         hint="dof eval … --arm fixed --arm core")  # fmt: skip
    base = of_variant(records, baseline)
    rows, found = [], []
    for name in names:
        if name == baseline:
            continue
        mine = of_variant(records, name)
        gained = difference(base, mine, "correct")
        every, zero = figures(name, mine), figures(baseline, base)
        pairs = _both(base, mine)
        nothing = sum(b >= a for b, a in pairs)
        multiple = _cost_multiple(base, mine)
        reach = "n/a" if gained.low is None or gained.high is None else f"{gained.low:+.3f} … {gained.high:+.3f}"
        found.append({"variant": name, "tasks": gained.n, "marginal_value_of_agency": asdict(gained),
                      "cost_multiple_by_terminal": multiple, "adds_nothing": nothing})  # fmt: skip
        rows.append([name, str(gained.n), rate(every.correct), rate(zero.correct), f"{gained.difference:+.3f}", reach,
                     ", ".join(f"{state} {value:.1f}×" for state, value in multiple.items()),
                     rate(every.tool_selection), rate(every.trajectory),
                     rate(every.termination), f"{nothing}/{len(pairs)}"])  # fmt: skip
    head = ("Variant", "Tasks", "Agent correct", f"{baseline} correct", "Marginal value", "95 %", "Cost multiple",
            "First tool", "Trajectory", "Termination", "Adds nothing")  # fmt: skip
    return _table("agency economics", spec, head, rows, found,
                  "Marginal value: correct with the loop minus correct in a single pass, paired by question.",
                  "Cost multiple: cost units of the loop over those of the single pass, by its end.")  # fmt: skip


def _both(base: Sequence[Record], mine: Sequence[Record]) -> list[tuple[float, float]]:
    def judged(rows: Sequence[Record]) -> dict[tuple[str, int], float]:
        return {(str(r["question_id"]), int(r["pass"])): float(r["grade"]["correct"])
                for r in rows if r["grade"]["correct"] is not None}  # fmt: skip

    a, b = judged(base), judged(mine)
    return [(a[k], b[k]) for k in a if k in b]


def _cost_multiple(base: Sequence[Record], mine: Sequence[Record]) -> dict[str, float]:
    spent = {(r["question_id"], r["pass"]): float(r["spend"]["cost_units"]) for r in base}
    sums: dict[str, list[float]] = {}
    for r in mine:
        before = spent.get((r["question_id"], r["pass"]))
        if before:
            row = sums.setdefault(str(r["terminal_state"]), [0.0, 0.0])
            row[0] += float(r["spend"]["cost_units"])
            row[1] += before
    return {state: a / b for state, (a, b) in sorted(sums.items())}


def traces(spec: Json, records: Sequence[Record]) -> Json:
    """The shape of the runs: semi-qualitative."""
    rows, found = [], []
    for name in names_of(spec):
        mine = of_variant(records, name)
        calls = sum(len(r["sequence"]) for r in mine)
        empty = sum(r["empty_calls"] for r in mine)
        used = Counter(tool for r in mine for tool in r["sequence"])
        every = figures(name, mine)
        failed = [r for r in mine if r["empty_calls"]]
        recovered = sum(r["recovered_after_empty"] for r in failed)
        first = Counter(r["sequence"][0] for r in mine if r["sequence"])
        row = {
            "variant": name, "n": len(mine), "calls": calls, "identical": sum(r["identical_calls"] for r in mine),
            "overlapping": sum(r["overlap_searches"] for r in mine), "empty": empty,
            "first_empty": sum(r["first_call_empty"] for r in mine), "recovered": recovered, "had_empty": len(failed),
            "refused": sum(sum(r["calls_rejected"].values()) for r in mine), "tools": dict(sorted(used.items())),
            "first_tools": dict(sorted(first.items())), "traced": sum(bool(r["trace_sha256"]) for r in mine),
        }  # fmt: skip
        found.append(row)
        rows.append([name, str(len(mine)), f"{calls / max(1, len(mine)):.1f}", rate(every.trajectory),
                     ", ".join(f"{tool} {n}" for tool, n in first.most_common()), str(row["identical"]),
                     str(row["overlapping"]), f"{empty}/{calls}", f"{recovered}/{len(failed)}", str(row["refused"]),
                     ", ".join(f"{tool} {n}" for tool, n in sorted(used.items())),
                     f"{row['traced']}/{len(mine)}"])  # fmt: skip
    head = ("Variant", "n", "Calls a run", "Trajectory matched", "First call", "Repeated", "Overlapping searches",
            "Empty", "Recovered after empty", "Refused calls", "Tools used", "Traced")  # fmt: skip
    return _table("trace shape", spec, head, rows, found, "Semi-qualitative: shapes, not success.")


def budget(spec: Json, records: Sequence[Record]) -> Json:
    """A limit at a time, the others generous."""
    rows, found = [], []
    before: tuple[str, float, float] | None = None
    for variant in spec["variants"]:
        name, mine = str(variant["name"]), of_variant(records, str(variant["name"]))
        every = figures(name, mine)
        dimension, _, value = name.partition("=")
        calls = sum(len(r["sequence"]) for r in mine)
        tripped = Counter(r["bound_tripped"] for r in mine if r["bound_tripped"])
        incomplete = sum(r["closure"] == "incomplete" for r in mine)
        partial = sum(r["requirements_met"] for r in mine if r["grade"]["end"] == End.PARTIAL)
        over = sum(_over(r, variant["limits"]) for r in mine)
        gain = _marginal(before, dimension, every.correct.hits, calls)
        before = (dimension, every.correct.hits, calls)
        found.append({"variant": name, "n": len(mine), "answered": every.answered.hits, "incomplete": incomplete,
                      "correct": every.correct.hits, "tripped": dict(sorted(tripped.items())), "calls": calls,
                      "over_limit": over, "marginal_correct_per_extra_call": gain})  # fmt: skip
        rows.append([dimension, value or "-", str(len(mine)), rate(every.answered), str(incomplete),
                     ", ".join(f"{limit} {n}" for limit, n in sorted(tripped.items())) or "-", rate(every.correct),
                     rate(every.requirements), str(partial), str(calls),
                     str(sum(sum(r["calls_rejected"].values()) for r in mine)), str(over),
                     f"{_mean(mine, 'cost_units'):.1f}", f"{_mean(mine, 'read_tokens'):,.0f}",
                     "-" if gain is None else f"{gain:+.3f}"])  # fmt: skip
    head = ("Limit", "Value", "n", "Answered", "Incomplete", "Tripped", "Correct", "Requirements met",
            "Met in partial reports", "Executed calls", "Refused calls", "Over the limit", "Cost units",
            "Read tokens", "Correct per extra call")  # fmt: skip
    return _table("budget sweep", spec, head, rows, found,
                  "Over the limit: runs that spent more than they were allowed; there must be none.")  # fmt: skip


_SPENT = {"max_turns": "turns", "max_tool_calls": "tool_calls", "max_read_tokens": "read_tokens",
          "max_cost_units": "cost_units"}  # fmt: skip


def _over(record: Record, limits: Mapping[str, float]) -> bool:
    return any(record["spend"][spent] > limits[limit] for limit, spent in _SPENT.items())


def _marginal(before: tuple[str, float, float] | None, dimension: str, correct: float, calls: float) -> float | None:
    """Correct answers more than one step before, per executed call more; None where there is no such step."""
    if before is None or before[0] != dimension or calls <= before[2]:
        return None
    return (correct - before[1]) / (calls - before[2])


def dial(spec: Json, records: Sequence[Record]) -> Json:
    """Planners or models side by side, all else the same."""
    rows, found = [], []
    for variant in spec["variants"]:
        name, mine = str(variant["name"]), of_variant(records, str(variant["name"]))
        every = figures(name, mine)
        single, multi = ([r for r in mine if r["subset"] == s] for s in ("single_hop", "multi_hop"))
        tokens = [r["spend"]["input_tokens"] for r in mine if r["spend"]["input_tokens"] is not None]
        prices = [r["spend"]["cost"] for r in mine if r["spend"]["cost"] is not None]
        money = f"{100 * sum(prices) / len(prices):.2f}" if prices else "n/a"
        found.append({"variant": name, "correct": asdict(every.correct), "all_hops": asdict(every.all_hops),
                      "refusal": asdict(every.refusal), "false_refusal": asdict(every.false_refusal),
                      "closed": asdict(every.closed), "calls": sum(len(r["sequence"]) for r in mine)})  # fmt: skip
        rows.append([name, rate(every.correct), rate(figures("", single).correct), rate(figures("", multi).correct),
                     rate(every.all_hops), f"{sum(len(r['sequence']) for r in mine) / max(1, len(mine)):.1f}",
                     f"{sum(tokens) / len(tokens):,.0f}" if tokens else "n/a",
                     f"{_mean(mine, 'elapsed_ms') / 1000:.2f}", money,
                     refusal_pair(every.refusal, every.false_refusal), rate(every.closed),
                     f"{sum(r['first_call_empty'] for r in mine)}/{len(mine)}"])  # fmt: skip
    head = ("Planner", "Correct", "Single hop", "Several hops", "All hops read", "Calls a run", "Input tokens",
            "Seconds", "US$ per 100", "Refusal ‖ false refusal", "Closed", "First call empty")  # fmt: skip
    return _table("model dial", spec, head, rows, found)


def _mean(records: Sequence[Record], name: str) -> float:
    values = [float(r["spend"][name]) for r in records if r["spend"][name] is not None]
    return sum(values) / len(values) if values else 0.0
