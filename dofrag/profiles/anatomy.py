"""A gazette's anatomy: what its paths, lines, headers, dates and identifiers look like, loaded from a TOML file.

Ingest knows publications, issuers, titles and notices; how one gazette prints them is data. A file that lacks a table
or holds a bad pattern fails when it is loaded, with the key's name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold
from dofrag.text.numwords import parse_cardinal
from dofrag.text.patterns import late

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PathRules:
    """How file names speak of publications. Every pattern is searched in the relative path or the file name."""

    publication: Pattern
    edition: Pattern
    excerpt: Pattern
    note: Pattern
    dated: Pattern
    catalogue: str
    official_code: Pattern
    url: str  # format string with `code` and `date`
    date_order: str  # of eight digits in `publication` and `edition`: "dmy" or "ymd"


@dataclass(frozen=True, slots=True)
class Consolidated:
    """How a consolidated law says that it is one, and of when."""

    code: str
    mark: Pattern
    first: Pattern
    last: Pattern
    amended: Pattern
    notice: Pattern
    issuers: tuple[tuple[str, Pattern], ...]


@dataclass(frozen=True, slots=True)
class Dates:
    """Ways to write a date; every pattern has groups d, m, y."""

    months: Mapping[str, int]
    published: tuple[Pattern, ...]
    any: Pattern
    long: Pattern
    signed: Pattern
    signed_notice: str

    def value(self, match: re.Match[str]) -> date | None:
        """The date of a match, None for one that no calendar has."""
        day, month, year = (self._number(match[g]) for g in ("d", "m", "y"))
        if day is None or month is None or year is None:
            return None
        try:
            return date(year, month, day)
        except ValueError:
            return None

    def _number(self, word: str) -> int | None:
        if word.isdecimal():
            return int(word)
        folded = fold(word)
        if folded in self.months:
            return self.months[folded]
        parsed = parse_cardinal(folded.split())
        return parsed[0] if parsed else None


@dataclass(frozen=True, slots=True)
class Anatomy:
    """One gazette's anatomy. `lines` and `title` patterns are tried on a bare line (see `ingest.lines.bare`)."""

    paths: PathRules
    country: tuple[str, ...]
    catalogue_keys: Mapping[str, str]
    conversions: Mapping[str, int]
    lines: Mapping[str, Pattern]
    opening: Pattern
    openers: Pattern
    stop: Pattern
    fragment: Pattern
    instruments: tuple[tuple[str, Pattern], ...]
    dates: Dates
    consolidated: Consolidated
    structure: tuple[tuple[int, Pattern], ...]
    transitory: Mapping[str, Pattern]
    unmarked: Pattern  # what a line must begin with to be a heading that no format marks
    standard: Pattern
    own_lines: Pattern
    own_title: Pattern


def _compile(table: Mapping[str, Any], where: str, compile_: Callable[[str], Pattern]) -> dict[str, Pattern]:
    compiled = {}
    for key, pattern in table.items():
        try:
            compiled[key] = compile_(pattern)
        except re.error as error:
            raise ValueError(f"anatomy: bad pattern {where}.{key}: {error}") from error
    return compiled


def load_anatomy(text: str, *, tested: bool = False) -> Anatomy:
    """Parse and compile. Raises ValueError for a bad pattern, KeyError for a missing table or key. The patterns of a
    file that is `tested` are compiled when they are first needed."""
    compile_: Callable[[str], Pattern] = late if tested else re.compile
    raw = tomllib.loads(text)
    paths, dates, law = raw["paths"], raw["dates"], raw["consolidated"]
    rows = _compile(
        {k: paths[k] for k in ("publication", "edition", "excerpt", "note", "dated", "official_code")},
        "paths",
        compile_,
    )
    title = _compile(raw["title"], "title", compile_)
    consolidated = _compile(
        {k: law[k] for k in ("mark", "first", "last", "amended", "notice")}, "consolidated", compile_
    )
    identifiers = _compile(raw["identifiers"], "identifiers", compile_)
    months = {name: i for i, names in enumerate(dates["months"], 1) for name in names.split("|")}
    return Anatomy(
        paths=PathRules(**rows, catalogue=paths["catalogue"], url=paths["url"], date_order=paths["date_order"]),
        country=tuple(fold(name) for name in raw["country"]),
        catalogue_keys=raw["catalogue"],
        conversions=raw["conversions"],
        lines=_compile(raw["lines"], "lines", compile_),
        opening=title["opening"],
        openers=title["openers"],
        stop=title["stop"],
        fragment=title["fragment"],
        instruments=tuple((r["name"], compile_(r["pattern"])) for r in raw["instruments"]),
        dates=Dates(
            months=months,
            published=tuple(compile_(p) for p in dates["published"]),
            any=compile_(dates["any"]),
            long=compile_(dates["long"]),
            signed=compile_(dates["signed"]),
            signed_notice=dates["signed_notice"],
        ),
        consolidated=Consolidated(
            **consolidated, code=law["code"], issuers=tuple((name, compile_(p)) for name, p in law["issuers"])
        ),
        structure=tuple((r["rank"], compile_(r["pattern"])) for r in raw["structure"]),
        transitory=_compile(raw["transitory"], "transitory", compile_),
        unmarked=compile_(
            r"[ *_>]{0,12}(?:"
            + "|".join(
                [*(r["pattern"] for r in raw["structure"]), *(p for k, p in raw["transitory"].items() if k != "cue")]
            )
            + ")"
        ),
        standard=identifiers["standard"],
        own_lines=identifiers["own_lines"],
        own_title=identifiers["own_title"],
    )
