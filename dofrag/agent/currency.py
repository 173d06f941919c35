"""Questions about what is in force now: what must have been done before an answer may claim to be the latest.

The norm layer will decide validity. Until then a run closes only when it has searched for what came after its source,
and when no later member of the same series was found and left aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from dofrag.domain.corpus import Publication
from dofrag.domain.evidence import Fault, FaultCode
from dofrag.text.fold import fold
from dofrag.tools.session import ResearchSession, SearchRecord

_NOT_SERIES = re.compile(
    r"[^a-zñ ]+|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)


def currency_fault(
    session: ResearchSession, cited: Iterable[Publication], message: Callable[..., str]
) -> Fault | None:
    """What is missing before these publications may be called the latest, or None. Pure."""
    sources = sorted(set(cited), key=lambda p: (p.published_on, p.code))
    since = sources[-1].published_on
    newer = newer_in_series(session.publications.values(), sources)
    if newer is not None:
        text = message("fault.later_in_series", title=newer.title, on=newer.published_on)
        return Fault(code=FaultCode.LATER_REFORMS, where="", message=text)
    if not searched_since(session.searched, since):
        text = message(f"fault.{FaultCode.LATER_REFORMS}", since=since)
        return Fault(code=FaultCode.LATER_REFORMS, where="", message=text)
    return None


def newer_in_series(found: Iterable[Publication], cited: Iterable[Publication]) -> Publication | None:
    """The newest publication found that continues the series of a cited one (same issuer, same title but for figures
    and months) and that none cited is as new as."""
    newest: dict[tuple[str, str], date] = {}
    for publication in cited:
        key = series(publication)
        newest[key] = max(publication.published_on, newest.get(key, publication.published_on))
    later = [p for p in found if series(p) in newest and p.published_on > newest[series(p)]]
    return max(later, key=lambda p: (p.published_on, p.code), default=None)


def series(publication: Publication) -> tuple[str, str]:
    """What publications of one series share: issuer, and title without figures and months."""
    title = " ".join(_NOT_SERIES.sub(" ", fold(publication.title)).split())
    return fold(publication.issuer), title


def searched_since(searched: Iterable[SearchRecord], since: date) -> bool:
    """Whether some search or listing reached from `since` (or the day after) up to the cut-off, and no further back:
    one that mixes earlier publications in says little about later ones."""
    days = {since.isoformat(), (since + timedelta(days=1)).isoformat()}
    return any(r.arguments.get("date_from") in days and r.arguments.get("date_to", "") is None for r in searched)
