"""The texts that a language model is given, as data of a gazette: one file a language, the same keys in each."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

LANGUAGES = ("es", "en")


class Prompts:
    """The texts of one language. `stamp` changes with them."""

    def __init__(self, raw: str) -> None:
        self._texts: Mapping[str, Any] = tomllib.loads(raw)
        self.stamp = hashlib.sha256(raw.encode()).hexdigest()[:8]

    def __call__(self, key: str, /, **values: object) -> str:
        """A text, filled. `key` may name one of a table ("unusable.refusal"). KeyError for one that is missing."""
        table, _, name = key.rpartition(".")
        texts = self._texts[table] if table else self._texts
        return str(texts[name]).strip("\n").format(**values)

    def keys(self) -> frozenset[str]:
        """Every key there is, those of tables with their table."""
        flat = {k for k, v in self._texts.items() if isinstance(v, str)}
        tables = {f"{t}.{k}" for t, v in self._texts.items() if isinstance(v, Mapping) for k in v}
        return frozenset(flat | tables)


def load_prompts(package: str, language: str) -> Prompts:
    """The prompts of a profile's package (`dofrag.profiles.dof`). A language that it does not have is read as its
    first."""
    chosen = language if language in LANGUAGES else LANGUAGES[0]
    return Prompts(resources.files(package).joinpath("prompts", f"{chosen}.toml").read_text(encoding="utf-8"))
