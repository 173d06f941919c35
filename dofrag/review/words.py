"""The words of the page, in the languages that it has. They are data: `words/<language>.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources

from dofrag.domain.records import dataclass

LANGUAGES = ("es", "en")
NAMES = {"es": "español", "en": "English"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Names of states, reasons and statuses by language, as the rest of the program prints them."""

    states: Mapping[str, Mapping[str, str]]
    reasons: Mapping[str, Mapping[str, str]]
    statuses: Mapping[str, Mapping[str, str]]


class Words:
    """Words by key, as `words.key` or `words["key"]`. Not a mapping: a template would take `words.clear` for its
    method."""

    __slots__ = ("_table",)

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table

    def __getitem__(self, key: str) -> str:
        return self._table[key]

    def __getattr__(self, key: str) -> str:
        try:
            return self._table[key]
        except KeyError:
            raise AttributeError(key) from None

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def among(self, key: str, otherwise: str) -> str:
        """The words of a key that may not be one."""
        return self._table.get(key, otherwise)


@cache
def words(language: str) -> Words:
    """The words of one of LANGUAGES."""
    source = resources.files("dofrag.review") / "words" / f"{language}.toml"
    return Words({key: str(value) for key, value in tomllib.loads(source.read_text(encoding="utf-8")).items()})


def language_from(accepted: str) -> str:
    """The language of an `Accept-Language` header: the first that there is, Spanish where there is none."""
    for part in accepted[:400].split(","):
        name = part.split(";")[0].strip().lower()[:2]
        if name in LANGUAGES:
            return name
    return LANGUAGES[0]
