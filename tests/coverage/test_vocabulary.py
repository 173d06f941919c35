"""The word data of coverage: every row says what it is for and is used, and no row of meanings contradicts itself."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

import dofrag
from dofrag.coverage.prepared import prepare
from dofrag.coverage.residue import unsaid
from dofrag.coverage.trial import passage_from
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import same
from dofrag.domain.question import SubQuestion, TopicRequired
from dofrag.text.fold import fold, stem
from dofrag.text.lexicon import same_words
from dofrag.text.paths import LEVELS

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


def test_slots_are_named_as_paths_and_requirements_name_them() -> None:
    others = {"num", "edition", "daily", "weekly", "monthly", "annual", "percent", "points", "MXN", "USD", "m2", "ha"}
    others |= {"days", "months", "years", "hours"}
    assert set(MEANINGS["slots"]) <= set(LEVELS) | others


@pytest.mark.parametrize(("month", "name"), [(9, "septiembre"), (1, "enero")])
def test_the_day_of_publication_is_said_in_its_usual_spelling(month: int, name: str) -> None:
    passage = passage_from(
        "Se da a conocer el aforo.", date(2031, month, 4), title="AVISO de aforo.", issuer="PUERTOS"
    )
    topic = TopicRequired(id="q1.r1", label="aforo", rule="t", terms=("aforo",))
    text = f"¿Qué aforo hay el 4 de {name} de 2031?"
    part = SubQuestion(id="q1", text=text, origin="t", requirements=(topic,), question=text)
    ready = prepare(passage)
    assert unsaid(topic, ready.sentences[0], ready, part) == ""
