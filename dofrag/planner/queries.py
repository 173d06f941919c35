"""What to search for: a requirement turned into words, a window of dates and filters, from narrow to wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from dofrag.coverage.source import scene_of
from dofrag.domain.question import (
    DateRequired,
    DateRole,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    Period,
    ProvisionRequired,
    Question,
    RangeRequired,
    Requirement,
    TopicRequired,
    ValueRequired,
)
from dofrag.domain.records import dataclass
from dofrag.text.fold import stem
from dofrag.text.numwords import HUNDREDS, TENS, UNITS

PROVISION_WORDS = {
    "art": "artículo", "num": "numeral", "trans": "transitorio", "frac": "fracción", "inc": "inciso", "anx": "anexo",
    "regla": "regla", "cla": "cláusula", "cap": "capítulo", "tit": "título", "par": "párrafo", "ape": "apéndice",
    "sec": "sección", "ap": "apartado", "guia": "guía de referencia",
}  # fmt: skip
"""What a segment of a provision path is called in a text."""

Arguments = dict[str, Any]
LISTED_DAYS = 31
"""The longest range that is worth listing whole."""


@dataclass(frozen=True, slots=True)
class Window:
    """Publication dates to look in, inclusive; None is open."""

    start: date | None = None
    end: date | None = None

    def clamped(self, as_of: date) -> Window:
        """Within the cut-off. A window that lies wholly after it is no window."""
        if self.start is not None and self.start > as_of:
            return Window()
        return Window(self.start, min(self.end, as_of) if self.end is not None else None)


def query_of(requirement: Requirement) -> str:
    """The words that tell most, without repeats: identifier, name, indicator, zone, provision, subject, year."""
    source = requirement.source
    words: list[str] = [source.identifier or "", *source.name]
    match requirement:
        case ValueRequired():
            longest = max(requirement.names, key=len, default="")
            words += [requirement.indicator or "", longest, requirement.zone or ""]
        case DefinitionRequired():
            words.append(requirement.term)
        case ProvisionRequired():
            words.append(provision_words(requirement.path))
        case _:
            pass
    words += [*requirement.terms, *said_before(requirement)]
    period = period_of(requirement)
    if period is not None and (period.end - period.start).days > 27:
        words.append(str(period.start.year))
    return join(words)


def said_before(requirement: Requirement) -> list[str]:
    """Words of what the question states beforehand that tell its subject."""
    telling = scene_of(requirement)
    return [w for w in requirement.context if stem(w) in telling]


def join(words: Sequence[str]) -> str:
    """Words joined, each once."""
    seen: dict[str, None] = {}
    for word in " ".join(words).split():
        seen.setdefault(word, None)
    return " ".join(seen)[:400]


def provision_words(path: str) -> str:
    """`art:3/frac:II` → `artículo 3 fracción II`."""
    parts = []
    for segment in path.split("/"):
        kind, _, number = segment.partition(":")
        parts.append(f"{PROVISION_WORDS.get(kind, kind)} {number}".strip())
    return " ".join(parts)


def period_of(requirement: Requirement) -> Period | None:
    """The period that a value, the thing dated, a topic or a list is of; other requirements have none."""
    dated = (ValueRequired, DateRequired, TopicRequired, ListRequired)
    return requirement.period if isinstance(requirement, dated) else None


def windows(requirement: Requirement) -> Iterator[Window]:
    """Where the answer may have been published, the likeliest window first; the last one is open."""
    source = requirement.source
    if source.published_from or source.published_to:
        yield Window(source.published_from, source.published_to)
        return
    period = period_of(requirement)
    if period is not None and period.role is not DateRole.PUBLICATION:
        length = (period.end - period.start).days
        if length <= 7:
            # A datum is published within days of its own date.
            yield Window(period.start, period.end + timedelta(days=7))
        elif length <= 31:
            # A price is fixed in the last days of the month before, an index is known in the weeks after.
            yield Window(period.start - timedelta(days=10), period.end + timedelta(days=45))
        else:
            # What holds for a year is fixed at the end of the one before, or in its first months.
            yield Window(date(period.start.year - 1, 11, 1), date(period.start.year, 3, 31))
            yield Window(date(period.start.year - 1, 1, 1), period.end)
    yield Window()


def searches(requirement: Requirement, question: Question) -> Iterator[Arguments]:
    """Arguments of `search_documents`, narrow to wide: fewer filters, then fewer words."""
    source = requirement.source
    query = query_of(requirement) or question.text[:400]
    for window in windows(requirement):
        within = window.clamped(question.as_of)
        # What holds for a period is fixed in a notice of the time, not in a law as it stands today.
        kind = "DOF" if source.gazette_only or window != Window() else None
        if source.issuer or source.edition:
            yield search_arguments(query, within, issuer=source.issuer, edition=source.edition, kind=kind)
        yield search_arguments(query, within, kind=kind)
        if kind:
            yield search_arguments(query, within)
        elif source.name:
            # The act that issued the instrument, which a law's own long text may push out of the list.
            yield search_arguments(join(source.name), within, kind="DOF")
    for fewer in shorter(query):
        yield search_arguments(fewer, Window())
    yield search_arguments(question.text[:400], Window())


def open_search(requirement: Requirement, question: Question) -> Arguments:
    """The same words anywhere: without a filter of any kind."""
    return search_arguments(query_of(requirement) or question.text[:400], Window())


def shorter(query: str) -> Iterator[str]:
    """The query without its last words, half by half: the least telling stand last."""
    words = query.split()
    while len(words) > 2:
        words = words[: (len(words) + 1) // 2]
        yield " ".join(words)


def search_arguments(
    query: str,
    window: Window,
    *,
    issuer: str | None = None,
    edition: str | None = None,
    kind: str | None = None,
    recent: bool = False,
) -> Arguments:
    """All arguments of `search_documents`."""
    return {
        "query": query,
        "date_from": _iso(window.start),
        "date_to": _iso(window.end),
        "issuer": issuer,
        "edition": edition,
        "kind": kind,
        "prefer_recent": recent,
    }


def listing(requirement: Requirement, question: Question) -> Arguments | None:
    """Arguments of `list_publications` for a requirement that names a day, a short range or an issuer; None for one
    that names neither."""
    source = requirement.source
    window = Window(source.published_from, source.published_to)
    period = period_of(requirement)
    if window == Window() and period is not None and (period.end - period.start).days <= 7:
        window = next(windows(requirement))
    open_ended = window.start is None or window.end is None
    if not source.issuer and (open_ended or (window.end - window.start).days > LISTED_DAYS):  # type: ignore[operator]
        return None
    if open_ended:
        window = Window()
    within = window.clamped(question.as_of)
    return {
        "date_from": _iso(within.start),
        "date_to": _iso(within.end),
        "issuer": source.issuer,
        "edition": source.edition,
        "kind": None,
        "offset": 0,
    }


def evidence_arguments(query: str, codes: Sequence[str]) -> Arguments:
    """All arguments of `search_evidence` in these publications."""
    return {
        "query": query,
        "publications": sorted(codes) or None,
        "date_from": None,
        "date_to": None,
        "prefer_recent": False,
    }


def outline(code: str, path: str | None = None, offset: int = 0) -> Arguments:
    """All arguments of `browse_document`: the outline of a publication, or of one of its provisions."""
    # An inner provision is shown with the one around it: a chunk may begin within it.
    provision = provision_words(path.split("/")[0]) if path else None
    return {"publication": code, "provision": provision, "offset": offset}


def detail_query(requirement: Requirement) -> str:
    """Words to find the place within a publication that is already known: what it asks, not what it is called."""
    if requirement.path is not None:
        return join([provision_words(requirement.path), *requirement.terms])
    if isinstance(requirement, DefinitionRequired):
        return join([requirement.term, *requirement.terms])
    if isinstance(requirement, ItemRequired):
        return join([*requirement.terms])
    if isinstance(requirement, DateRequired) and requirement.role is DateRole.EFFECT:
        return join([*requirement.terms, "entrará en vigor transitorio vigente a partir"])
    if isinstance(requirement, RangeRequired):
        figures = [f"{bound:g}" for bound in (requirement.high, requirement.low) if bound is not None]
        # A norm says to whom it applies where it says what it applies to.
        return join([*requirement.terms, bounds_query(requirement), *figures, "campo de aplicación"])
    named = set(requirement.source.name)
    rest = [t for t in requirement.terms if t not in named]
    extra = [requirement.zone or "", requirement.indicator or ""] if isinstance(requirement, ValueRequired) else []
    return join([*extra, *rest, *said_before(requirement)]) or query_of(requirement)


def bounds_query(requirement: RangeRequired) -> str:
    """An interval alone, as norms write it: where the subject stands all over a text, its bounds tell the place."""
    bounds = [("hasta", requirement.high), ("más de", requirement.low)]
    said = [f"{word} {_in_words(bound) or f'{bound:g}'}" for word, bound in bounds if bound is not None]
    return join([requirement.unit or "", *said])


def _in_words(value: float) -> str:
    """A round number in words: norms write *hasta quince*. "" for one that takes several."""
    names = {v: k for k, v in {**HUNDREDS, **TENS, **UNITS}.items()}
    return names.get(int(value), "") if value == int(value) else ""


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day is not None else None
