"""Patterns that are compiled late must find what compiled ones find, and must not be compiled without need."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.text.patterns import late, needs

WORDS = st.sampled_from(["faro", "boya", "de ", " y ", "ñu", "a", "el", "-", "2"])
CLASSES = st.sampled_from(
    ["[ao]", "[^f]", "[a-z]", r"\d", r"\w", r"\.", ".", r"\b", "^", "$", "[]a]", r"[\]b]", r"\-"]
)
QUANTIFIERS = st.sampled_from(["", "", "", "?", "*", "+", "{0,2}", "{1,2}", "{2}", "??", "{,1}"])
OPENERS = st.sampled_from(["(?:", "(", "(?P<x>", "(?=", "(?!"])


def _grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    branches = st.lists(inner, min_size=1, max_size=3).map("|".join)
    group = st.tuples(OPENERS, branches, QUANTIFIERS).map(
        lambda g: f"{g[0]}{g[1]})" + (g[2] if g[0] not in ("(?=", "(?!") else "")
    )
    return st.lists(st.one_of(group, _ATOMS), min_size=1, max_size=4).map("".join)


_ATOMS = st.one_of(
    st.tuples(WORDS, QUANTIFIERS).map("".join),
    st.tuples(CLASSES, QUANTIFIERS).map(lambda c: c[0] + (c[1] if c[0] not in (r"\b", "^", "$") else "")),
)
PATTERNS = st.recursive(_ATOMS, _grouped, max_leaves=12)
TEXTS = st.lists(
    st.sampled_from(["faro", "boya", "boyas", "de ", " y ", "ñu", "a", "el", "-", "2", ".", " ", "f", "o", "]", "b"]),
    max_size=10,
).map("".join)


def _sound(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:  # a name of a group twice, and the like
        return False
    return True


@given(PATTERNS.filter(_sound), st.lists(TEXTS, min_size=1, max_size=4))
def test_a_late_pattern_finds_what_a_compiled_one_finds(pattern: str, texts: list[str]) -> None:
    compiled, lazy = re.compile(pattern), late(pattern)
    for text in texts:
        for how in ("search", "match", "fullmatch"):
            ours, theirs = getattr(lazy, how)(text), getattr(compiled, how)(text)
            assert (ours and (ours.span(), ours.groups())) == (theirs and (theirs.span(), theirs.groups()))
            # A fresh one each time: what is compiled once is never in doubt again.
            fresh = getattr(late(pattern), how)(text)
            assert (fresh and fresh.span()) == (theirs and theirs.span())
        assert [m.span() for m in late(pattern).finditer(text)] == [m.span() for m in compiled.finditer(text)]
        assert late(pattern).sub("#", text) == compiled.sub("#", text)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("faro", (("faro",),)),
        (r"\bfaros?\b", (("faros", "faro"),)),
        ("(?:faro|boya)s", (("faros", "boyas"),)),
        (r"el \d+ (?:faro|boya)", ((" faro", " boya"), ("el ",))),
        ("farol+a", (("farol",),)),  # what follows the repeated sign stands not right after its first
        (r"faro|\d", ()),
        ("(?i:faro)", ()),
        ("(?:faro)?", ()),
        ("(?!faro)boya", (("boya",),)),
        ("los {N} faros", ((" faros",), ("los ",))),  # a placeholder may stand for anything
        ("fa.o", (("fa",),)),
    ],
)
def test_what_a_match_must_hold(pattern: str, expected: tuple[tuple[str, ...], ...]) -> None:
    assert needs(pattern) == expected


def test_a_text_without_it_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = late("faro de la (?:isla|barra) mayor")
    with monkeypatch.context() as patched:
        patched.setattr(re, "compile", lambda *_: pytest.fail("compiled without need"))
        assert pattern.search("la boya de la isla mayor") is None
        assert list(pattern.finditer("")) == []
    assert pattern.search("el faro de la isla mayor")


def test_many_texts_without_it_compile_it_after_all() -> None:
    pattern = late("faro")
    for _ in range(1_100):
        assert pattern.search("boya") is None
    assert pattern.search("el faro", 1, 7)
    assert pattern.search("el faro", 4) is None


def test_a_fault_is_raised_when_it_is_needed() -> None:
    with pytest.raises(re.error):
        late("(faro").search("el faro")


def test_flags_are_kept() -> None:
    pattern = late("FARO", re.IGNORECASE)
    assert pattern.search("el faro")
    assert pickle.loads(pickle.dumps(pattern)).search("el Faro")


def test_it_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(late("faro|boya", outline="[fb]")))
    assert again.search("una boya")
    assert again.pattern == "faro|boya"
