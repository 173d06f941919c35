"""Recall and time of the vector search against an exact one, on made-up vectors. No model, no index.

    python benchmarks/vectors.py --vectors 100000 --dimension 384

Vectors stand around topics, all on one side of the origin, as those of language models do; queries are vectors with
noise. `exact` is float32 over all of them. Times are CPU milliseconds of one process, median and 95th percentile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dofrag.search.vectors import codes, nearest
from dofrag.search.vectors.index import rescored

TOPICS = 2_000
SPREAD = 0.9  # of a vector around its topic, in the topics' own spread
NOISE = 0.35  # of a query around its vector
BLOCK = 50_000


def made_up(count: int, dimension: int, random: Any) -> Any:
    """Unit vectors as float32."""
    topics = random.normal(size=(TOPICS, dimension)).astype(np.float32)
    found = np.empty((count, dimension), dtype=np.float32)
    for at in range(0, count, BLOCK):
        size = min(BLOCK, count - at)
        rows = topics[random.integers(0, TOPICS, size)]
        rows += SPREAD * random.standard_normal((size, dimension), dtype=np.float32) + 1.0
        found[at : at + size] = codes.unit(rows)
    return found


def timed(work: Callable[[Any], Any], queries: Any) -> tuple[list[Any], dict[str, float]]:
    found, taken = [], []
    work(queries[0])  # files and copies are warm, as for the second question of a run
    for query in queries:
        begun = time.process_time()
        found.append(work(query))
        taken.append((time.process_time() - begun) * 1000)
    taken.sort()
    return found, {"median_ms": round(statistics.median(taken), 2), "p95_ms": round(taken[int(len(taken) * 0.95)], 2)}


def recall(found: list[Any], truth: list[Any]) -> float:
    hits = sum(len(set(f.tolist()) & set(t.tolist())) for f, t in zip(found, truth, strict=True))
    return round(hits / sum(len(t) for t in truth), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rescored", type=int, help="default: as the product does")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    count = options.rescored or rescored(options.vectors)
    random = np.random.default_rng(options.seed)
    vectors = made_up(options.vectors, options.dimension, random)
    picked = random.integers(0, options.vectors, options.queries)
    noise = random.normal(size=(options.queries, options.dimension)).astype(np.float32)
    spread = float(np.std(vectors[:1000] - vectors[:1000].mean(axis=0)))
    queries = codes.unit(vectors[picked] + NOISE * spread * noise)

    truth, exact = timed(lambda q: np.argsort(-(vectors @ q), kind="stable")[:10], queries)
    begun = time.process_time()
    rows, scales = codes.quantised(vectors)
    middle = codes.centre(rows, scales)
    bits = np.concatenate(
        [codes.row_codes(rows[i : i + BLOCK], scales[i : i + BLOCK], middle) for i in range(0, len(rows), BLOCK)]
    )
    built = time.process_time() - begun
    every = np.arange(len(rows))

    def search(finder: nearest.Nearest) -> Callable[[Any], Any]:
        def found(vector: Any) -> Any:
            query = codes.Query(vector)
            chosen = finder.among(bits, every, query.code(middle), count)
            cosines = query.cosines(rows[chosen], scales[chosen])
            return chosen[np.lexsort((chosen, -cosines))[:10]]

        return found

    report: dict[str, Any] = {
        "vectors": options.vectors,
        "dimension": options.dimension,
        "bytes": int(rows.nbytes + bits.nbytes + scales.nbytes),
        "quantised_per_s": round(options.vectors / built),
        "exact float32": exact,
    }
    all_rows, taken = timed(
        lambda q: np.argsort(-codes.Query(q).cosines(rows, scales), kind="stable")[:10], queries[:5]
    )
    report["exact int8"] = {"recall@10": recall(all_rows, truth[:5]), **taken}
    limit, nearest.FAISS_FROM = nearest.FAISS_FROM, sys.maxsize
    by_numpy, taken = timed(search(nearest.Nearest()), queries)
    report[f"bits by numpy, {count} rescored"] = {"recall@10": recall(by_numpy, truth), **taken}
    nearest.FAISS_FROM = 0 if nearest.faiss() is not None else limit
    if nearest.faiss() is not None:
        by_faiss, taken = timed(search(nearest.Nearest()), queries)
        report[f"bits by faiss, {count} rescored"] = {"recall@10": recall(by_faiss, truth), **taken}
        report["faiss finds the same"] = all((a == b).all() for a, b in zip(by_numpy, by_faiss, strict=True))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
