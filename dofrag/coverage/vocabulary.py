"""Words as data: `vocabulary.toml`, read on first use."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from dofrag.text.fold import fold, stem


@cache
def _rows() -> dict[str, dict[str, list[str]]]:
    text = files("dofrag.coverage").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def wordset(*names: str) -> frozenset[str]:
    """The stems of one row, or of several together. KeyError for a name that is not there."""
    return frozenset(stem(fold(word)) for name in names for word in _rows()[name]["words"])
