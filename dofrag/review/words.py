"""The words of the page, in the languages that it has. They are data: `words/<language>.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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


@cache
def words(language: str) -> Mapping[str, str]:
    """Key → words, in one of LANGUAGES."""
    source = resources.files("dofrag.review") / "words" / f"{language}.toml"
    return {key: str(value) for key, value in tomllib.loads(source.read_text(encoding="utf-8")).items()}


def language_from(accepted: str) -> str:
    """The language of an `Accept-Language` header: the first that there is, Spanish where there is none."""
    for part in accepted[:400].split(","):
        name = part.split(";")[0].strip().lower()[:2]
        if name in LANGUAGES:
            return name
    return LANGUAGES[0]
