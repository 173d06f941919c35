"""Which words of a query find, by how many passages hold them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.search.bm25 import ENOUGH, MANY, _not_too_common, many_of
from dofrag.search.reading import Word

ENOUGH_PASSAGES = 3 * MANY


def words(holding: dict[str, int]) -> list[Word]:
    """Each in the text of so many passages, and in the titles of fewer."""
    return [Word(term, count, count // 7, 1.0) for term, count in holding.items()]


def found(holding: dict[str, int]) -> list[str]:
    return [word.term for word in _not_too_common(words(holding), MANY, ENOUGH_PASSAGES)]


@pytest.mark.parametrize(
    ("holding", "finding"),
    [
        ({"a": 5, "b": 900, "c": MANY}, "abc"),  # few hold each
        ({"a": 40_000, "b": 50_000, "c": 60_000, "d": 70_000}, "abc"),  # the rarest of common ones
        ({"d": 70_000, "c": 60_000, "b": 50_000, "a": 40_000}, "cba"),  # in the order of the query
        (
            {"a": 3, "b": 20, "c": 400, "d": 20_000, "e": 80_000, "f": 90_000},
            "abcde",
        ),  # rare words alone are not enough
        ({"a": 0, "b": 0, "c": 90_000}, "abc"),
        ({}, ""),
    ],
)
def test_common_words_find_where_too_little_else_does(holding: dict[str, int], finding: str) -> None:
    assert "".join(found(holding)) == finding


@given(st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.integers(0, 2_000_000), max_size=12))
def test_what_finds_is_enough_and_no_rarer_word_is_left_out(holding: dict[str, int]) -> None:
    finding = found(holding)
    others = [holding[term] for term in holding if term not in finding]
    assert [term for term in holding if term in finding] == finding
    if others:
        assert min(others) > MANY
        assert len(finding) >= ENOUGH
        assert sum(holding[term] for term in finding) >= ENOUGH_PASSAGES
        assert max(holding[term] for term in finding) <= min(others)


def test_in_a_large_corpus_the_limit_is_a_share_of_all() -> None:
    assert many_of(0) == many_of(77_590) == many_of(1_000_000) == MANY
    assert many_of(6_700_000) == 67_000
