"""The metrics of the retrieval benchmark against a plain second reading of their definitions."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from ranking import metrics, questions  # the folder beside the script is not installed

IDS = st.integers(1, 12)
PLACES = st.lists(st.frozensets(IDS, min_size=1, max_size=3), max_size=3).map(tuple)
HOPS = st.lists(
    st.lists(st.lists(PLACES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple),
    min_size=1,
    max_size=3,
).map(tuple)
LISTS = st.lists(IDS, unique=True, max_size=12)


def found_after(quote: questions.Places, ids: list[int]) -> int | None:
    """How many chunks of the list it takes to have the quote whole."""
    for taken in range(1, len(ids) + 1):
        if any(all(chunk in ids[:taken] for chunk in place) for place in quote):
            return taken
    return None


@given(HOPS, LISTS)
def test_reciprocal_rank_is_of_the_first_quote_that_is_whole(hops: questions.Hops, ids: list[int]) -> None:
    ranks = [found_after(q, ids) for hop in hops for passage in hop for q in passage]
    known = [rank for rank in ranks if rank is not None]
    assert metrics.reciprocal_rank(hops, ids) == (1 / min(known) if known else 0.0)


@given(HOPS, LISTS)
def test_recall_counts_quotes_and_all_hop_counts_hops(hops: questions.Hops, ids: list[int]) -> None:
    found = total = 0
    for hop in hops:
        shares = []
        for passage in hop:
            hits = sum(found_after(quote, ids) is not None for quote in passage)
            shares.append((hits / len(passage), -len(passage), hits))
        _, size, hits = max(shares)
        found, total = found + hits, total - size
    assert metrics.recall(hops, ids) == pytest.approx(found / total)
    some = [any(found_after(q, ids) is not None for passage in hop for q in passage) for hop in hops]
    assert metrics.all_hop(hops, ids) == float(all(some))


@given(HOPS, LISTS, st.integers(1, 12))
def test_more_chunks_never_lose_evidence(hops: questions.Hops, ids: list[int], cut: int) -> None:
    assert metrics.recall(hops, ids[:cut]) <= metrics.recall(hops, ids) <= 1
    assert metrics.all_hop(hops, ids[:cut]) <= metrics.all_hop(hops, ids)


@given(LISTS, st.lists(st.integers(1, 9_000), min_size=12, max_size=12))
def test_the_window_is_a_beginning_of_ten_chunks_and_16000_characters(ids: list[int], lengths: list[int]) -> None:
    sizes = dict(enumerate(lengths, start=1))
    kept = metrics.window(ids, sizes)
    assert kept == ids[: len(kept)]
    assert len(kept) <= metrics.TOP
    assert sum(sizes[i] for i in kept) <= metrics.CHARS
    if len(kept) < min(len(ids), metrics.TOP):
        assert sum(sizes[i] for i in ids[: len(kept) + 1]) > metrics.CHARS


def test_larger_chunks_win_nothing() -> None:
    hops: questions.Hops = ((((frozenset({3}),),),),)
    assert metrics.score(hops, [1, 2, 3], [1, 2, 3], {1: 900, 2: 900, 3: 900})["recall"] == 1
    assert metrics.score(hops, [1, 2, 3], [1, 2, 3], {1: 9000, 2: 9000, 3: 900})["recall"] == 0


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.integers(0, 99))
def test_an_interval_holds_to_its_seed_and_to_the_range(apart: list[float], seed: int) -> None:
    low, high = metrics.interval(apart, seed, 200)
    assert min(apart) - 1e-9 <= low <= high <= max(apart) + 1e-9
    assert (low, high) == metrics.interval(apart, seed, 200)


def test_no_difference_has_no_interval() -> None:
    assert metrics.interval([0.0] * 20, 1) == (0.0, 0.0)


@given(st.lists(st.text("abc \n|-", min_size=1, max_size=8), min_size=1, max_size=5), st.data())
def test_a_quote_is_found_across_chunks_whatever_the_layout(texts: list[str], data: st.DataObject) -> None:
    whole = questions.level("".join(texts))
    start = data.draw(st.integers(0, len(whole)))
    quote = whole[start : data.draw(st.integers(start, len(whole)))]
    places = questions.occurrences(list(enumerate(texts)), quote)
    assert bool(places) == bool(quote)
    for place in places:
        held = "".join(questions.level(texts[n]) for n in range(min(place), max(place) + 1))
        assert quote in held


def test_both_formats_load(tmp_path: Path) -> None:
    ours = {
        "id": "a", "category": "value", "question": "¿?", "as_of": "2024-01-02", "subset": "dev", "phrasing": "lay",
        "gold": [
            {"source": "x.md", "quotes": ["uno"], "group": "g"}, {"source": "y.md", "quotes": ["dos"], "group": "g"},
            {"source": "z.md", "quotes": ["tres", "cuatro"]},
        ],
    }  # fmt: skip
    v4 = {
        "id": "b", "category": "value", "question": "¿?", "as_of": "2024-01-02",
        "gold_documents": [{"relpath": "2024/x.md", "evidence": [{"quote": "uno"}, {"quote": "dos"}]}],
    }  # fmt: skip
    none = ours | {"id": "c", "gold": []}
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (ours, v4, none)) + "\n\n", encoding="utf-8")
    a, b = questions.load(path)
    assert (a.as_of, a.subset, a.phrasing) == (date(2024, 1, 2), "dev", "lay")
    assert [[g.source for g in hop] for hop in questions.hops(a)] == [["x.md", "y.md"], ["z.md"]]
    assert b.gold == (questions.Gold("2024/x.md", ("uno", "dos")),)
    assert [item.id for item in questions.load(path, "dev")] == ["a"]
    path.write_text('{"id": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        questions.load(path)
