"""What a query names besides its words: days, identifiers, provisions, an entry into force. No engine in here."""

from __future__ import annotations

from collections.abc import Sequence

from dofrag.domain.records import dataclass
from dofrag.search.analysis import named_identifiers
from dofrag.text.dates import find_dates
from dofrag.text.lexicon import asks

_DAYS = 3  # named days or months that are looked for at most
_PROVISIONS = 16


@dataclass(frozen=True, slots=True)
class Anchors:
    """`days`: first and last day, as ordinals, of each date that the query names, the latest ones; no whole years.
    `identifiers`: signs of publications. `provisions`: canonical paths. `transitory`: whether it asks from when
    something is or is no longer in force, which transitory provisions tell."""

    days: tuple[tuple[int, int], ...]
    identifiers: tuple[str, ...]
    provisions: tuple[str, ...]
    transitory: bool


def find_anchors(query: str, provisions: Sequence[str]) -> Anchors:
    """`provisions`: the paths that the query names."""
    dates = find_dates(query)
    years = {found.first.year for found in dates}
    if len(years) == 1:  # "la tarifa de 2024 publicada el 9 de enero"
        dates = find_dates(query, default_year=years.pop())
    days = {(d.first.toordinal(), d.last.toordinal()) for d in dates if d.precision != "year"}
    return Anchors(
        days=tuple(sorted(days, reverse=True)[:_DAYS]),
        identifiers=tuple(named_identifiers(query)),
        provisions=tuple(dict.fromkeys(p.lower().replace("regla:", "num:") for p in provisions))[:_PROVISIONS],
        transitory=asks("transitory", query),
    )
