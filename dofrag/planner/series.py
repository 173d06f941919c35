"""Publications that continue each other: the yearly notice, the daily rate. The newest one says what holds now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from dofrag.domain.corpus import Publication
from dofrag.domain.question import Requirement, ValueRequired
from dofrag.text.fold import fold
from dofrag.text.patterns import late

_NOT_SERIES = late(
    r"[^a-zñ ]+|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)
_PRINTING = late(r"\(?\b(?:primera|segunda|tercera|cuarta|ultima|unica)\s+publicacion\b\)?")
_YEAR = late(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def series(publication: Publication) -> tuple[str, str]:
    """What publications of one series share: issuer, and title without figures and months."""
    title = " ".join(_NOT_SERIES.sub(" ", fold(publication.title)).split())
    return fold(publication.issuer), title


def printed_again(one: Publication, other: Publication) -> bool:
    """Whether two publications are printings of one act (`Primera publicación`, `Segunda publicación`): the same
    issuer, both titles say which printing they are, and the one goes on where the other ends."""
    titles = [" ".join(_PRINTING.sub(" ", fold(p.title)).split()).strip(" .") for p in (one, other)]
    marked = all(_PRINTING.search(fold(p.title)) for p in (one, other))
    short, long = sorted(titles, key=len)
    return marked and one.code != other.code and fold(one.issuer) == fold(other.issuer) and long.startswith(short)


def newer_in_series(found: Iterable[Publication], cited: Iterable[Publication]) -> Publication | None:
    """The newest publication found that continues the series of a cited one and that none cited is as new as."""
    newest: dict[tuple[str, str], date] = {}
    for publication in cited:
        key = series(publication)
        newest[key] = max(publication.published_on, newest.get(key, publication.published_on))
    later = [p for p in found if series(p) in newest and p.published_on > newest[series(p)]]
    return max(later, key=lambda p: (p.published_on, p.code), default=None)


def superseded(found: Iterable[Publication]) -> frozenset[str]:
    """Codes of the publications that a later one of their series follows. Untitled ones are of no series."""
    newest: dict[tuple[str, str], date] = {}
    known = [p for p in found if p.title and not p.consolidated]
    for publication in known:
        key = series(publication)
        newest[key] = max(publication.published_on, newest.get(key, publication.published_on))
    return frozenset(p.code for p in known if p.published_on < newest[series(p)])


def of_no_time(requirement: Requirement, question: str, *, current: bool = False) -> bool:
    """Whether nothing tells which member of a series answers: then only the newest may. Values alone, unless the
    whole question is about what is in force."""
    source = requirement.source
    if source.published_from or source.published_to or source.identifier:
        return False
    if isinstance(requirement, ValueRequired):
        return requirement.period is None and (current or not _YEAR.search(question))
    return current


def searched_since(made: Iterable[Mapping[str, Any]], since: date) -> bool:
    """Whether some search or listing (its arguments) reached from `since` (or the day after) up to the cut-off, and
    no further back: one that mixes earlier publications in says little about later ones."""
    days = {since.isoformat(), (since + timedelta(days=1)).isoformat()}
    return any(m.get("date_from") in days and m.get("date_to", "") is None for m in made)
