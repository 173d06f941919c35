"""What a gazette's institutions, indicators, zones and units are called, as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class Alias:
    """A canonical name and its folded spellings. `unit` and `variant` are set for indicators: the unit of their
    values, and a pattern for what tells their variants apart (a term in days). `label` is for people."""

    name: str
    aliases: tuple[str, ...]
    label: str = ""
    unit: str | None = None
    variant: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A name that stands at `[start, end)`."""

    start: int
    end: int
    alias: Alias


@dataclass(frozen=True)
class Names:
    """The names of one sort, with one pattern to find any of them; the longest spelling wins. A spelling that begins
    with a capital counts only where the text has one too."""

    entries: tuple[Alias, ...]
    pattern: str = field(init=False)
    _compiled: re.Pattern[str] | None = field(init=False)
    _by_spelling: Mapping[str, Alias] = field(init=False)
    _capitals: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        spellings = {spelling.lower(): alias for alias in self.entries for spelling in alias.aliases}
        capitals = frozenset(s.lower() for alias in self.entries for s in alias.aliases if s[0].isupper())
        object.__setattr__(self, "_capitals", capitals)
        listed = sorted(spellings, key=lambda s: (-len(s), s))
        pattern = r"(?<![\w-])(?:" + "|".join(re.escape(s).replace(r"\ ", " ") for s in listed) + r")(?![\w-])"
        object.__setattr__(self, "pattern", pattern if listed else r"(?!)")
        object.__setattr__(self, "_compiled", late(self.pattern))
        object.__setattr__(self, "_by_spelling", spellings)

    def find(self, folded: str) -> list[Found]:
        assert self._compiled is not None
        return [Found(*m.span(), self._by_spelling[m.group()]) for m in self._compiled.finditer(folded)]

    def cased(self, original: str) -> bool:
        """Whether a name is written as it must be: an alias that the file spells with a capital (`Marina`) is a
        common word without one."""
        return original.lower() not in self._capitals or original[0].isupper()

    def get(self, folded: str) -> Alias | None:
        return self._by_spelling.get(folded)


@dataclass(frozen=True, slots=True)
class Aliases:
    """The alias file of a profile."""

    issuers: Names
    indicators: Names
    frequencies: Names
    zones: Names
    units: Names
    instruments: Names
    editions: Names
    heads: tuple[str, ...]  # folded nouns that begin the name of an instrument
    titled: tuple[
        str, ...
    ]  # folded nouns that begin a name where they are written with a capital (`Tarifa de Botes`)
    acts: tuple[str, ...]  # folded nouns that begin the description of one
    joins: frozenset[str]  # folded words that may join the words of a description, besides the connectors
    apart: frozenset[str]  # connectors that stand within no other proper name
    validity: frozenset[str]  # folded words that say that a thing is in force: no part of its name
    adjectives: Mapping[str, str]  # folded adjectives of a provision, and the instrument that they stand for
    regulating: frozenset[str]  # folded words after which the name of an instrument holds a provision of another
    connectors: frozenset[str]  # folded words that may join the capitalised words of a name
    stop_words: frozenset[str]
    asking: frozenset[str]  # folded words for any value, date or kind of answer: no part of what is asked about
    places: frozenset[str]  # folded names of places, each of one place
    asked: tuple[str, ...]  # patterns of folded nouns that may be asked for side by side
    partial_identifier: re.Pattern[str]
    expansions: Mapping[str, tuple[str, ...]]


def _names(rows: Iterable[Mapping[str, Any]]) -> Names:
    return Names(
        tuple(
            Alias(
                row["name"],
                tuple(row["aliases"]),
                row.get("label", row["name"]),
                row.get("unit"),
                late(row["variant"]) if "variant" in row else None,
            )
            for row in rows
        )
    )


def load_aliases(text: str) -> Aliases:
    """Parse an alias file. KeyError names what is missing."""
    data = tomllib.loads(text)
    return Aliases(
        issuers=_names(data.get("issuer", ())),
        indicators=_names(data.get("indicator", ())),
        frequencies=_names(data.get("frequency", ())),
        zones=_names(data.get("zone", ())),
        units=_names(data.get("unit", ())),
        instruments=_names(data.get("instrument", ())),
        editions=_names(data.get("edition", ())),
        heads=tuple(sorted(data["instruments"]["heads"], key=lambda h: (-len(h), h))),
        titled=tuple(data["instruments"].get("titled", ())),
        acts=tuple(data["instruments"].get("acts", ())),
        joins=frozenset(data["instruments"].get("joins", ())),
        apart=frozenset(data["instruments"].get("apart", ())),
        validity=frozenset(data["instruments"].get("validity", ())),
        adjectives=dict(data["instruments"].get("adjectives", {})),
        regulating=frozenset(data["instruments"].get("regulating", ())),
        connectors=frozenset(data["instruments"]["connectors"]),
        stop_words=frozenset(data.get("stop_words", ())),
        asking=frozenset(data.get("asking", ())),
        places=frozenset(data.get("places", {}).get("names", ())),
        asked=tuple(data.get("asked", ())),
        partial_identifier=late(data["identifiers"]["partial"]),
        expansions={k: tuple(v) for k, v in data.get("expansions", {}).items()},
    )
