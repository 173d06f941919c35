"""Words of one subject: those of one meaning, what a gazette calls what people say in other words, and what tells
what a question asks for."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("dofrag.text").joinpath("lexicon.toml").read_text(encoding="utf-8"))


def same_words() -> list[tuple[str, ...]]:
    """Rows of words of one meaning, as written: any one stands for any other."""
    return [tuple(row["words"]) for row in _data()["same"]]


def legal_words() -> dict[str, tuple[str, ...]]:
    """What people say, as written → what a gazette says of the same subject, nearest first."""
    return {said: tuple(words) for said, words in _data()["lay"].items()}


@dataclass(frozen=True, slots=True)
class Cue:
    """What a question asks for, and how a passage shows it. Patterns are for folded text; `shown` None for a cue that
    is not read in passages."""

    id: str
    asked: re.Pattern[str]
    shown: re.Pattern[str] | None
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


@cache
def cues() -> tuple[Cue, ...]:
    return tuple(
        Cue(
            row["id"],
            re.compile(row["asked"]),
            re.compile(row["shown"]) if row["shown"] else None,
            tuple(row["examples"]),
            tuple(row["counterexamples"]),
        )
        for row in _data()["cue"]
    )


def asks(cue: str, question: str) -> bool:
    """Whether a question asks for what the cue of that id stands for. KeyError for an unknown one."""
    return {c.id: c for c in cues()}[cue].asked.search(fold(question)) is not None
