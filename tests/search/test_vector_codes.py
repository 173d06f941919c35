"""Small vectors find what whole ones find."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="numpy is not installed: pip install 'dofrag[vectors]'")

from dofrag.search.vectors import codes, nearest  # noqa: E402


def clustered(n: int, dimension: int, seed: int):  # type: ignore[no-untyped-def]
    """Vectors as models make them: around a few hundred topics, and all on one side."""
    random = np.random.default_rng(seed)
    topics = random.normal(size=(200, dimension))
    rows = topics[random.integers(0, 200, n)] + 0.7 * random.normal(size=(n, dimension)) + 1.0
    return codes.unit(rows)


def approximate(vectors, query, count: int, pool: int):  # type: ignore[no-untyped-def]
    rows, scales = codes.quantised(vectors)
    middle = codes.centre(rows, scales)
    bits = codes.row_codes(rows, scales, middle)
    asked = codes.Query(query)
    chosen = nearest.Nearest().among(bits, np.arange(len(rows)), asked.code(middle), pool)
    cosines = asked.cosines(rows[chosen], scales[chosen])
    return chosen[np.lexsort((chosen, -cosines))[:count]]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([64, 100, 384]))
def test_recall_of_bits_and_rescoring(seed: int, dimension: int) -> None:
    vectors = clustered(4_000, dimension, seed)
    random = np.random.default_rng(seed + 1)
    hits = 0
    for place in random.integers(0, 4_000, 10):
        query = codes.unit([vectors[place] + 0.02 * random.normal(size=dimension)])[0]
        exact = np.argsort(-(vectors @ query), kind="stable")[:10]
        hits += len(set(exact.tolist()) & set(approximate(vectors, query, 10, 200).tolist()))
    assert hits >= 90  # of 100


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 130))
def test_eight_bits_keep_cosines(seed: int, n: int, dimension: int) -> None:
    random = np.random.default_rng(seed)
    vectors = codes.unit(random.normal(size=(n, dimension)))
    query = codes.unit(random.normal(size=(1, dimension)))[0]
    rows, scales = codes.quantised(vectors)
    found = codes.Query(query).cosines(rows, scales)
    assert np.abs(found - vectors.astype(np.float64) @ query.astype(np.float64)).max() < 0.02
    # Whole numbers: the same row has the same cosine whatever stands beside it.
    assert [codes.Query(query).cosines(rows[i : i + 1], scales[i : i + 1])[0] for i in range(min(n, 5))] == list(
        found[:5]
    )


def test_zero_and_tiny_vectors_are_rows_like_others() -> None:
    rows, scales = codes.quantised([[0.0] * 70, [1e-30] * 70, [1.0] + [0.0] * 69])
    assert rows.shape == (3, 70)
    assert np.isfinite(scales).all()
    assert codes.Query([0.0] * 70).cosines(rows, scales).tolist() == [0, 0, 0]
    assert codes.binary(codes.unit([[1.0] * 70]), np.zeros(70, np.float32)).tolist() == [[2**64 - 1, 0b11111100]]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 400), st.integers(1, 60), st.booleans())
def test_nearest_is_exact_and_ties_go_to_the_front(seed: int, n: int, count: int, part: bool) -> None:
    random = np.random.default_rng(seed)
    bits = random.integers(0, 4, size=(n, 1)).astype(np.uint64)  # many ties
    candidates = np.sort(random.choice(n, size=max(1, n // 2), replace=False)) if part else np.arange(n)
    code = np.array([1], dtype=np.uint64)
    found = nearest.Nearest().among(bits, candidates, code, count)
    far = [(int(bits[i][0] ^ code[0]).bit_count(), int(i)) for i in candidates]
    assert found.tolist() == sorted(i for _, i in sorted(far)[:count])


@pytest.mark.parametrize("every", [True, False])
def test_faiss_finds_what_numpy_finds(monkeypatch: pytest.MonkeyPatch, every: bool) -> None:
    pytest.importorskip("faiss", reason="faiss-cpu is not installed: pip install 'dofrag[vectors-fast]'")
    random = np.random.default_rng(7)
    bits = random.integers(0, 2**63, size=(3_000, 6)).astype(np.uint64)
    bits[100:1_600] = bits[0]  # a tie that no list holds whole
    candidates = np.arange(3_000) if every else np.arange(0, 3_000, 2)
    for code in (bits[0], bits[2_000], ~bits[5]):
        expected = nearest.Nearest().among(bits, candidates, code, 50).tolist()
        monkeypatch.setattr(nearest, "FAISS_FROM", 10)
        by_faiss = nearest.Nearest()
        assert by_faiss.among(bits, candidates, code, 50).tolist() == expected
        assert by_faiss.among(bits, candidates, code, 50).tolist() == expected
        monkeypatch.undo()


def test_without_numpy_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from dofrag.errors import UsageError

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(UsageError, match="numpy") as caught:
        codes.numpy()
    assert "pip install" in (caught.value.hint or "")
