"""Turns of phrase as data: `cues.toml`, compiled once on first use."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from dofrag.text.patterns import late


@lru_cache(maxsize=1)
def rows() -> dict[str, dict[str, object]]:
    """The rows of the data file: pattern, examples, counterexamples, by name."""
    text = files("dofrag.coverage").joinpath("cues.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text))


def has_cue(name: str) -> bool:
    """Whether there is a row of that name."""
    return name in rows()


@lru_cache(maxsize=128)
def cue(name: str) -> re.Pattern[str]:
    """The pattern of one row; it runs on text folded by `fold_chars`. KeyError for a name that is not there."""
    return late(str(rows()[name]["pattern"]))
