"""Fusion: no ranking depends on the order in which scores come, and each side has the weight it is given."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.search.fusion import by_reciprocal_rank, by_z_scores, z_scores

scores = st.dictionaries(st.integers(1, 60), st.floats(-1e6, 1e6, allow_nan=False, allow_infinity=False), max_size=40)


def backwards(values: dict[int, float]) -> dict[int, float]:
    return dict(reversed(values.items()))


@given(scores, scores)
@pytest.mark.parametrize("fuse", [by_z_scores, by_reciprocal_rank])
def test_order_of_input_never_matters(fuse, lexical, vector) -> None:  # type: ignore[no-untyped-def]
    assert fuse(lexical, vector) == fuse(backwards(lexical), backwards(vector))


@given(scores, scores)
@pytest.mark.parametrize("fuse", [by_z_scores, by_reciprocal_rank])
def test_the_pool_is_both_sides_best_first(fuse, lexical, vector) -> None:  # type: ignore[no-untyped-def]
    fused = fuse(lexical, vector)
    assert {f.id for f in fused} == {*lexical, *vector}
    assert len(fused) == len({f.id for f in fused})
    assert fused == sorted(fused, key=lambda f: (-f.score, f.id))


@given(scores, scores)
def test_equal_weight_is_symmetric(lexical: dict[int, float], vector: dict[int, float]) -> None:
    there = {f.id: f.score for f in by_z_scores(lexical, vector)}
    back = {f.id: f.score for f in by_z_scores(vector, lexical)}
    assert there == pytest.approx(back)


@given(scores)
def test_z_scores_have_mean_zero_and_spread_one_or_none(values: dict[int, float]) -> None:
    found = z_scores(values)
    assert found.keys() == values.keys()
    if any(found.values()):
        assert math.fsum(found.values()) / len(found) == pytest.approx(0, abs=1e-6)
        assert math.fsum(v * v for v in found.values()) / len(found) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e6])
def test_a_side_that_does_not_tell_them_apart_has_no_say(value: float) -> None:
    lexical = {1: 3.0, 2: 2.0, 3: 1.0}
    assert set(z_scores(dict.fromkeys(lexical, value)).values()) == {0.0}
    assert [f.id for f in by_z_scores(lexical, dict.fromkeys(lexical, value))] == [1, 2, 3]
    assert [f.id for f in by_z_scores(dict.fromkeys(lexical, value), {1: 1.0, 2: 2.0, 3: 3.0})] == [3, 2, 1]


@given(scores.filter(lambda s: len(s) > 1), st.floats(0.1, 100), st.floats(-50, 50))
def test_units_do_not_matter(values: dict[int, float], scale: float, shift: float) -> None:
    values = {k: round(v) for k, v in values.items()}
    other = {k: v * scale + shift for k, v in values.items()}
    assert z_scores(other) == pytest.approx(z_scores(values), abs=1e-4)


def test_how_far_ahead_counts_where_ranks_do_not_tell() -> None:
    """Words are sure of 1, vectors hardly prefer 2: by ranks it is a tie."""
    lexical = {1: 30.0, 2: 11.0, 3: 10.0, 4: 9.0}
    vector = {1: 0.801, 2: 0.802, 3: 0.70, 4: 0.69}
    assert next(f.id for f in by_z_scores(lexical, vector)) == 1
    ranked = by_reciprocal_rank(lexical, vector)
    assert ranked[0].score == ranked[1].score


def test_what_a_side_does_not_know_counts_as_its_least() -> None:
    fused = {f.id: f for f in by_z_scores({1: 5.0, 2: 1.0}, {1: 0.5, 3: 0.9})}
    assert fused[3].lexical == fused[2].lexical
    assert fused[2].vector == fused[1].vector
    assert by_z_scores({}, {}) == []


def test_ties_break_by_id() -> None:
    assert [f.id for f in by_z_scores({9: 1.0, 4: 1.0, 7: 1.0}, {})] == [4, 7, 9]
    assert [f.id for f in by_reciprocal_rank({9: 2.0, 4: 1.0}, {4: 2.0, 9: 1.0})] == [4, 9]
