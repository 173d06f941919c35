"""The word data of coverage: every row says what it is for and is used, and no row of meanings contradicts itself."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import dofrag
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import same
from dofrag.text.fold import fold, stem
from dofrag.text.lexicon import same_words

DATA = files("dofrag.coverage")
ROWS = tomllib.loads(DATA.joinpath("vocabulary.toml").read_text(encoding="utf-8"))
MEANINGS = tomllib.loads(DATA.joinpath("paraphrases.toml").read_text(encoding="utf-8"))
SOURCE = "\n".join(p.read_text(encoding="utf-8") for p in Path(dofrag.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_says_what_it_is_for_and_is_used(name: str) -> None:
    assert len(ROWS[name]["about"]) > 10
    assert re.search(rf'wordset\([^)]*"{name}"', SOURCE), f"nothing reads the row {name}"
    assert wordset(name)


def test_several_rows_are_read_as_one() -> None:
    assert wordset("prices", "seasons") == wordset("prices") | wordset("seasons")


@pytest.mark.parametrize("row", same_words(), ids=lambda row: row[0])
def test_any_word_of_a_row_stands_for_any_other(row: tuple[str, ...]) -> None:
    stems = {stem(fold(w)) for w in row}
    assert len(stems) > 1
    assert all(stems <= set(same(one)) for one in stems)


def test_a_kind_is_met_by_its_members_and_not_the_other_way() -> None:
    for kind, members in MEANINGS["kinds"].items():
        assert {stem(fold(w)) for w in members} <= set(same(stem(fold(kind))))
    assert stem("escolaridad") not in same(stem("primaria"))
