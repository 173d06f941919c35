"""How well passages are found: the product's search and plain systems over the same chunks, on annotated questions.

    python benchmarks/retrieval.py QUESTIONS --index DIR [--system NAME]… [--baseline NAME] [--subset dev|test]

QUESTIONS is a question set, of the public dof-rag v4 format or of this project's own. Metrics, systems and what
counts as found are told in benchmarks/README.md. All in one run, so that the systems share the machine's hour.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ranking import metrics, questions, systems
from report import write_between

from dofrag.search.open import open_index

HEADINGS = {"mrr": "MRR", "recall": "R@10", "all_hop": "all-hop", "pool": "R@50"}


@dataclass(frozen=True)
class Run:
    """One system over all questions: scores by metric, milliseconds, and what was returned."""

    name: str
    scores: dict[str, list[float]]
    ms: list[float]
    returned: list[list[int]]

    def mean(self, metric: str, chosen: Sequence[int]) -> float:
        return metrics.mean([self.scores[metric][n] for n in chosen])


def measure(name: str, system: systems.System, items: Sequence[questions.Item], hops: Sequence[questions.Hops],
            sizes: dict[int, int], chars: Callable[[Sequence[int]], dict[int, int]]) -> Run:  # fmt: skip
    system.rank(items[0].question, items[0].as_of)  # the first search opens files
    rankings = [system.rank(item.question, item.as_of) for item in items]
    for ranking in rankings:
        sizes.update(chars([chunk for chunk in ranking.ids[: metrics.TOP] if chunk not in sizes]))
    scored = [metrics.score(h, r.ids, r.pool, sizes) for h, r in zip(hops, rankings, strict=True)]
    scores = {metric: [one[metric] for one in scored] for metric in metrics.METRICS}
    return Run(name, scores, [r.ms for r in rankings], [r.ids[: metrics.TOP] for r in rankings])


def table(runs: Sequence[Run], baseline: Run | None, chosen: Sequence[int], title: str, seed: int) -> None:
    print(f"\n{title} ({len(chosen)})")
    print(f"{'system':16}" + "".join(f"{HEADINGS[m]:>9}" for m in metrics.METRICS) + f"{'ms':>8}{'p95':>8}")
    for run in runs:
        ms = sorted(run.ms[n] for n in chosen)
        means = "".join(f"{run.mean(m, chosen):9.3f}" for m in metrics.METRICS)
        print(f"{run.name:16}{means}{statistics.median(ms):8.1f}{ms[int(0.95 * (len(ms) - 1))]:8.1f}")
    if baseline is None:
        return
    print(f"difference to {baseline.name}, with the middle 95 % of {metrics.RESAMPLES:,} resamples of the questions")
    for run in runs:
        if run is not baseline:
            cells = [_difference(run, baseline, metric, chosen, seed) for metric in metrics.METRICS]
            said = (
                f"{HEADINGS[m]} {apart:+.3f} [{low:+.3f}, {high:+.3f}]"
                for m, (apart, low, high) in zip(metrics.METRICS, cells, strict=True)
            )
            print(f"{run.name:16}" + "  ".join(said))


def _difference(run: Run, base: Run, metric: str, chosen: Sequence[int], seed: int) -> tuple[float, float, float]:
    apart = [run.scores[metric][n] - base.scores[metric][n] for n in chosen]
    return metrics.mean(apart), *metrics.interval(apart, seed)


def groups(items: Sequence[questions.Item]) -> dict[str, list[int]]:
    """Positions of the questions of each category and of each phrasing."""
    found: dict[str, list[int]] = {}
    for kind in ("category", "phrasing"):
        for n, item in enumerate(items):
            if getattr(item, kind) is not None:
                found.setdefault(f"{kind} {getattr(item, kind)}", []).append(n)
    return found


def as_json(items: Sequence[questions.Item], runs: Sequence[Run], base: Run | None, seed: int) -> dict[str, Any]:
    every = range(len(items))
    return {
        "questions": len(items),
        "seed": seed,
        "systems": {
            run.name: {
                **{metric: run.mean(metric, every) for metric in metrics.METRICS},
                "ms_median": statistics.median(run.ms),
                "difference": None
                if base in (None, run)
                else {m: _difference(run, base, m, every, seed) for m in metrics.METRICS},
                "items": [
                    {"id": item.id, **{m: run.scores[m][n] for m in metrics.METRICS}, "returned": run.returned[n]}
                    for n, item in enumerate(items)
                ],
            }
            for run in runs
        },
    }


def as_markdown(items: Sequence[questions.Item], runs: Sequence[Run], base: Run | None, options: Any) -> str:
    """What was printed for all questions, as tables, with the command that prints it again."""
    every = list(range(len(items)))
    asked = f"`{options.questions.name}`" + (f", half `{options.subset}`" if options.subset else "")
    lines = [
        f"{asked}: {len(items)} questions; index stamp `{options.stamp[7:23]}`; {datetime.now(UTC):%Y-%m-%d}.",
        "",
        f"    python benchmarks/retrieval.py {options.questions.name} --index DIR {' '.join(options.said)}",
        "",
        f"| System | {' | '.join(HEADINGS[m] for m in metrics.METRICS)} | ms, median | p95 |",
        "|---|" + "---|" * (len(metrics.METRICS) + 2),
    ]
    for run in runs:
        ms = sorted(run.ms)
        means = " | ".join(f"{run.mean(m, every):.3f}" for m in metrics.METRICS)
        lines.append(f"| {run.name} | {means} | {statistics.median(ms):.0f} | {ms[int(0.95 * (len(ms) - 1))]:.0f} |")
    others = [base] if base else []
    for other in [*others, *(run for run in runs if run is not base and run.name in options.against)]:
        names = " | ".join(HEADINGS[m] for m in metrics.METRICS)
        lines += ["", f"| Difference to {other.name} | {names} |", "|---|" + "---|" * len(metrics.METRICS)]
        for run in runs:
            if run is not other:
                found = [_difference(run, other, metric, every, options.seed) for metric in metrics.METRICS]
                cells = " | ".join(f"{apart:+.3f} [{low:+.3f}, {high:+.3f}]" for apart, low, high in found)
                lines.append(f"| {run.name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--system", action="append", help=f"repeatable; default: {', '.join(systems.NAMES)}")
    parser.add_argument("--baseline", default="fts5-chunks", help="what each system is compared with")
    parser.add_argument("--subset", choices=("dev", "test"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="where baselines are kept; default: beside the index")
    parser.add_argument("--misses", action="store_true", help="name the questions of which a system misses a quote")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--against", action="append", default=[], help="in --write: another system to compare with")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables of all questions into a document")
    parser.add_argument("--name", default="retrieval.py", help="of the place in that document")
    options = parser.parse_args()
    items = questions.load(options.questions, options.subset)
    if not items:
        sys.exit(f"{options.questions}: no question with gold passages" + (" in that half" if options.subset else ""))
    names = list(dict.fromkeys(options.system or systems.NAMES))
    runs: list[Run] = []
    with open_index(options.index) as opened:
        beside = options.index.resolve().with_name(f"{options.index.resolve().name}-baselines")
        stamp = opened.stamp
        folder = (options.cache or beside) / opened.stamp.removeprefix("sha256:")[:16]
        finder = questions.Finder(opened.reader)
        hops = [finder.hops(item) for item in items]
        for line in questions.missing(items, hops):
            print(f"not in the index, counts as missed: {line}", file=sys.stderr)
        sizes: dict[int, int] = {}

        def chars(ids: Sequence[int]) -> dict[int, int]:
            return {p.id: len(p.text) for p in opened.reader.passages(ids, questions.EVERYTHING)}

        for name in names:
            systems.build(name, opened.reader, folder)
            system = systems.open_system(name, options.index, folder)
            runs.append(measure(name, system, items, hops, sizes, chars))
    base = next((run for run in runs if run.name == options.baseline), None)
    for title, chosen in {"all questions": list(range(len(items))), **groups(items)}.items():
        table(runs, base, chosen, title, options.seed)
    if options.misses:
        for run in runs:
            missed = [item.id for item, r in zip(items, run.scores["recall"], strict=True) if r < 1]
            print(f"\n{run.name} misses a quote of: {' '.join(missed) or '-'}")
    if options.write:
        options.stamp = stamp
        options.said = [word for name in names for word in ("--system", name)]
        options.said += ["--subset", options.subset] * (options.subset is not None)
        write_between(options.write, options.name, as_markdown(items, runs, base, options))
    if options.json:
        text = json.dumps(as_json(items, runs, base, options.seed), ensure_ascii=False, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
