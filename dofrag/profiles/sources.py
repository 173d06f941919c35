"""Which publications may answer a part of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from dofrag.domain.question import DateRole, Source
from dofrag.profiles.bodies import Spanned
from dofrag.profiles.facts import Facts, Instrument

MAX_SOURCES = 6


def sources_of(own: Facts, everything: Facts, *, each: bool = False) -> tuple[Source, ...]:
    """The sources that a part names, side by side; one at least, perhaps without any slot.

    A part that names no source of its own has that of the question, where it is the only one; `each` says that it
    asks of every one.
    """
    named = bool(_source_names(own) or own.identifiers or own.issuers or _published(own))
    facts = own if named else everything
    base = Source(gazette_only=everything.gazette_only)
    issuers = _distinct(facts.issuers)
    editions = _distinct(facts.editions) or _distinct(everything.editions)
    published = _published(facts)
    base = replace(
        base,
        issuer=issuers[0] if len(issuers) == 1 else None,
        edition=editions[0] if len(editions) == 1 else None,
        about=_about(own if named else everything, own) or _reformed(own, everything),
        published_from=published[0][0] if len(published) == 1 else None,
        published_to=published[0][1] if len(published) == 1 else None,
    )
    several = _named(base, facts, inherit=not named and not each)
    if len(several) == 1 and named and len(published) > 1:
        return tuple(replace(several[0], published_from=a, published_to=b) for a, b in published)[:MAX_SOURCES]
    return several[:MAX_SOURCES]


def _about(facts: Facts, own: Facts) -> tuple[str, ...]:
    """The description of the instrument: the one that a publication date stands by, else the first of the part."""
    published = [d for d in facts.dates if d.role == DateRole.PUBLICATION]
    dated = [x for x in facts.descriptions if any(x.start < d.start and d.start - x.end <= 20 for d in published)]
    found = dated or list(own.descriptions or facts.descriptions)
    return found[0].words if found else ()


def _reformed(own: Facts, everything: Facts) -> tuple[str, ...]:
    """ "¿Qué dice la Ley de Faros y quién la reformó en 2031?": a part that tells only when, speaks of the instrument
    that the question names."""
    if _source_names(own) or own.identifiers or not _published(own):
        return ()
    names = _source_names(everything)
    return names[0].words if len(names) == 1 and names[0] not in own.instruments else ()


def _named(base: Source, facts: Facts, *, inherit: bool) -> tuple[Source, ...]:
    """One source for each identifier, else for each named instrument; inherited ones only where there is just one."""
    identifiers = _distinct(facts.identifiers)
    instruments = list(dict.fromkeys(i.words for i in _source_names(facts)))
    if identifiers:
        if inherit and len(identifiers) > 1:
            return (base,)
        return tuple(replace(base, identifier=i) for i in identifiers)
    if instruments:
        if inherit and len(instruments) > 1:
            return (base,)
        return tuple(replace(base, name=words) for words in instruments)
    return (base,)


def _source_names(facts: Facts) -> tuple[Instrument, ...]:
    """Instruments that may be sources: the first, and those listed right after it ("la Ley X y la Ley Y"); one
    further on is what the first speaks of, unless it holds a provision that is asked for."""
    out: list[Instrument] = []
    asked = [p.end for p in facts.provisions if p.use == "asked"]
    for one in facts.instruments:
        holds = any(0 <= one.start - end <= 12 for end in asked)
        if one.use == "source" and one.words and (not out or holds or one.start - out[-1].end <= 14):
            out.append(one)
    return tuple(out)


def _distinct(found: Sequence[Spanned]) -> list[str]:
    return list(dict.fromkeys(s.value for s in found))


def _published(facts: Facts) -> list[tuple[date | None, date]]:
    """Publication dates, each once; a month or year that holds a day named beside it says nothing more, and what is
    asked up to a day begins with the month or year named beside it ("de 2031, hasta el 31 de agosto de 2031")."""
    spans = list(dict.fromkeys((d.found.first, d.found.last) for d in facts.dates if d.role == DateRole.PUBLICATION))
    ends = [last for first, last in spans if first == date.min]
    if len(ends) == 1 and len(spans) == 2:
        ((first, last),) = (span for span in spans if span[0] != date.min)
        if first <= ends[0] <= last:
            spans = [(first, ends[0])]
    apart = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    return [(None if first == date.min else first, last) for first, last in apart]
