"""Values and ranges: indicators, units, frequencies, zones and periods, crossed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from dofrag.domain.question import DateRole, Period, RangeRequired, ValueRequired
from dofrag.profiles.aliases import Alias
from dofrag.profiles.clauses import Clause, Hit, find
from dofrag.profiles.context import Context, Proposal
from dofrag.profiles.facts import REFERENCE, Dated


def values(context: Context) -> Iterable[Proposal]:
    hits = context.of("value")
    if context.of("range") or (context.of("why") and not hits and context.states_effect):
        return
    indicators = [
        f.alias
        for f in context.own.indicators
        if not _within(context.own.instruments, f.start) and not _as_unit(context, f.start)
    ]
    compares = context.of("compare")
    if not hits and not (indicators and (compares or not _asks_else(context))):
        return
    hit = hits[0] if hits else (compares[0] if compares else None)
    if not indicators and (
        (hit is not None and "inherits" in hit.rule.attributes)  # "… y su equivalente en doblones"
        or not context.masked.terms(context.clause.start, context.clause.end, [(h.start, h.end) for h in hits])
    ):
        # "¿… y qué variación tuvo?": the thing is named in another part.
        named = list(dict.fromkeys(f.alias for f in context.everything.indicators))
        indicators = named if len(named) == 1 else []
    for one in hits[1:] if not indicators else ():
        yield from _crossed(context, one, [None])
    yield from _crossed(context, hit, list(dict.fromkeys(indicators)) or [None])


def _as_unit(context: Context, at: int) -> bool:
    """ "¿Desde qué monto en UMA…?": an indicator after *en* is the unit of what is asked."""
    before = context.folded[max(context.clause.start, at - 4) : at]
    return any(h.end <= at <= h.end + 4 for h in context.of("value")) and before == " en "


def _asks_else(context: Context) -> bool:
    return bool(
        context.of("date", "deadline", "actor", "definition", "publication", "items", "topic", "sequence", "list")
    )


def _crossed(context: Context, hit: Hit | None, indicators: Sequence[Alias | None]) -> Iterable[Proposal]:
    elliptic = hit is not None and "elliptic" in hit.rule.attributes
    named_zones = context.own.zones or (context.everything.zones if elliptic else ())
    zones: list[str | None] = [*dict.fromkeys(z.value for z in named_zones)] or [None]
    spans = [(f.start, f.end) for f in context.own.indicators] if indicators != [None] else []
    if hit:
        spans.append((hit.start, hit.end))
    start, end = context.clause.start, context.clause.end
    terms = (
        context.masked.terms(start, end, spans) if indicators != [None] else context.terms(*([hit] if hit else []))
    )
    noun = _counted(context, hit) if hit else None
    asked_unit = hit.rule.attributes.get("unit") if hit else None
    if noun and asked_unit == "noun":
        terms = tuple(dict.fromkeys((noun, *terms)))
    if indicators == [None] or (hit and "inherits" in hit.rule.attributes):
        terms = tuple(dict.fromkeys((*_called(context, hit), *terms)))
    if elliptic:  # "¿cuál es la cuota por hora y cuál por jornada?"
        own = context.language.content_words(context.folded[hit.start if hit else start : end])
        terms = tuple(dict.fromkeys((*own, *terms, *context.inherited_terms)))
    if not terms and hit and indicators == [None]:  # "¿… y con qué sueldo?": the word of asking is all there is
        said = context.language.content_words(context.folded[hit.start : hit.end])
        terms = tuple(w for w in said if w not in context.aliases.stop_words)
    measures = _measures(context, terms)
    for alias in indicators:
        periods = _periods(context, alias, indicators)
        for variant, period, zone, (frequency, terms) in itertools.product(
            _variants(context, alias), periods, zones, measures
        ):
            after = context.folded[hit.end : hit.end + 10] if hit else ""  # "cuántos metros cuadrados"
            known = context.aliases.units.get(f"{noun}{after}") or context.aliases.units.get(noun) if noun else None
            unit = {"noun": known.name if known else noun, "surface": "m2"}.get(asked_unit or "", asked_unit)
            if unit == "percent" and context.of("compare") and len(periods) > 1:
                unit = None  # "¿qué porcentaje subió de … a …?" is computed from the two values
            unit = unit or (alias.unit if alias else _unit_after(context, hit))
            yield Proposal(
                ValueRequired,
                hit.rule.id if hit else "indicator",
                {
                    "indicator": variant,
                    "names": tuple(a for a in alias.aliases if a != (variant or "").lower()) if alias else (),
                    "unit": unit,
                    "frequency": frequency.name if frequency else None,
                    "period": period,
                    "zone": zone,
                    "terms": terms,
                    "label": context.labels.value(
                        variant or context.masked.phrase(start, end),
                        frequency.label if frequency else None,
                        zone,
                        period,
                        asked_unit,
                    ),
                },
            )


def _counted(context: Context, hit: Hit) -> str | None:
    """What is counted; of "¿cuántos y cuáles son los faros?", what the next part lists."""
    counts = hit.rule.attributes.get("counts")
    if counts is None:
        return hit.groups.get("noun")
    before = Clause(0, context.clause.start)
    clause = before if counts == "before" else Clause(context.clause.end, len(context.folded))
    listed = find(context.rules.of("items", "list", "value"), context.folded, clause)
    nouns = [h.groups["noun"] for h in listed if "noun" in h.groups]
    return next(iter(nouns[::-1] if counts == "before" else nouns), None)


def _called(context: Context, hit: Hit | None) -> tuple[str, ...]:
    """What the value that is asked for is called: `multa`, `cuota`; nothing for a mere `monto` or `valor`."""
    words = context.language.content_words(context.folded[hit.start : hit.end]) if hit else ()
    return tuple(w for w in words if w not in context.aliases.stop_words and w not in context.aliases.asking)


def _measures(context: Context, terms: tuple[str, ...]) -> list[tuple[Alias | None, tuple[str, ...]]]:
    """What a value is told by: each frequency that is named, and each measure of two side by side (`por kilo y por
    litro`), with the subject words that go with it."""
    frequencies = list(dict.fromkeys(f.alias for f in context.own.frequencies))
    match = context.language.measures.search(context.folded, context.clause.start, context.clause.end)
    if match is None:
        return [(f, terms) for f in frequencies] or [(None, terms)]
    out: list[tuple[Alias | None, tuple[str, ...]]] = []
    for one, other in (("first", "second"), ("second", "first")):
        said = [f.alias for f in context.own.frequencies if f.start < match.end(one) and match.start(one) < f.end]
        others = context.language.content_words(match[other])
        out.append((said[0] if said else None, tuple(w for w in terms if w not in others)))
    return out


def _unit_after(context: Context, hit: Hit | None) -> str | None:
    """`el mínimo de días`, `la cantidad de pesos`: the unit right after what asks for a value."""
    if hit is None:
        return None
    following = context.folded[hit.end : hit.end + 28]
    if following.startswith((" al ", " por ", " a la ", " cada ")):
        return None  # how often, not in what
    found = context.aliases.units.find(following)
    return found[0].alias.name if found and found[0].start <= 4 else None


def _variants(context: Context, alias: Alias | None) -> list[str | None]:
    """`TIIE a 28 y 91 días` is two series."""
    if alias is None:
        return [None]
    if alias.variant is None:
        return [alias.name]
    out: list[str | None] = []
    for found in context.own.indicators:
        match = alias.variant.match(context.folded, found.end) if found.alias == alias else None
        for number in (match["first"], match["more"]) if match else ():
            if number:
                out.append(f"{alias.name} {number}")
    return out or [alias.name]


def _periods(context: Context, alias: Alias | None, indicators: Sequence[Alias | None]) -> list[Period | None]:
    """The dates that values are of: those of the clause, else the only one of the question. Where each indicator has
    its own date after it, it keeps it."""
    dates = [d for d in context.own.dates if d.role not in (REFERENCE, DateRole.PUBLICATION, DateRole.SIGNATURE)]
    if not dates:
        whole = {(d.found.first, d.found.last) for d in context.everything.dates if d.role == DateRole.DATUM}
        dates = [d for d in context.everything.dates if d.role == DateRole.DATUM] if len(whole) == 1 else []
    if len(indicators) > 1 and len(dates) > 1:
        bound = [(_owner(context, d), d) for d in dates]
        if len({id(owner) for owner, _ in bound}) > 1:
            dates = [d for owner, d in bound if owner is alias]
    spans = [(d.found.first, d.found.last) for d in dates]
    if context.of("compare"):
        # "¿Cómo cambió entre el 8 y el 9?" compares the ends of the span.
        days = {(d.found.first, d.found.last) for d in dates if d.found.precision == "day"}
        spans = [one for a, b in spans for one in ([(a, a), (b, b)] if (a, b) in days else [(a, b)])]
    else:
        spans = _every_year(context, dates, spans)
    periods = dict.fromkeys(Period(start=a, end=b, role=DateRole.DATUM) for a, b in spans)
    return list(periods) or [None]


def _every_year(context: Context, dates: Sequence[Dated], spans: list[tuple[date, date]]) -> list[tuple[date, date]]:
    """ "La cuota de 2031 a 2034" asks for four values, "en 2031 y en 2034" for two."""
    out: list[tuple[date, date]] = []
    for n, (first, last) in enumerate(spans):
        years = [y for y in range(first.year, last.year + 1) if dates[n].found.precision == "year"]
        if 1 < len(years) <= MAX_YEARS:  # "del 2031 al 2034"
            out += [(date(y, 1, 1), date(y, 12, 31)) for y in years]
            continue
        before = dates[n - 1].found if n else None
        if (
            before is not None
            and years
            and before.precision == "year"
            and before.last.year + 1 < first.year <= before.last.year + MAX_YEARS
            and context.language.through.fullmatch(context.folded, before.end, dates[n].start)
        ):
            out += [(date(y, 1, 1), date(y, 12, 31)) for y in range(before.last.year + 1, first.year)]
        out.append((first, last))
    return out


MAX_YEARS = 8
"""Years of a span that are asked for one by one."""


def _owner(context: Context, one: Dated) -> Alias | None:
    before = [f for f in context.own.indicators if f.start < one.start]
    return before[-1].alias if before else None


def _within(spans: Iterable[Any], at: int) -> bool:
    return any(s.start <= at < s.end for s in spans)


def ranges(context: Context) -> Iterable[Proposal]:
    hits = context.of("range")
    unit = None
    out: list[Proposal] = []
    for hit in reversed(hits):
        if _within(context.everything.dates, hit.start) or any(
            hit.start <= d.start < hit.end for d in context.own.dates
        ):
            continue
        low, high = (_quantity(context, hit.groups.get(name)) for name in ("low", "high"))
        noun = hit.groups.get("noun") or hit.groups.get("after")
        if noun and noun not in context.aliases.connectors and len(noun) > 1:
            known = context.aliases.units.get(noun)
            unit = known.name if known else noun
        if low is None and high is None:
            continue
        exclusive = hit.rule.attributes.get("exclusive")
        terms = tuple(w for w in context.terms(*hits) if w != unit)
        slots: dict[str, Any] = {
            "low": low,
            "high": high,
            "low_inclusive": exclusive != "low",
            "high_inclusive": exclusive != "high",
            "unit": unit,
            "terms": terms,
        }
        subject = context.masked.phrase(context.clause.start, context.clause.end, [(h.start, h.end) for h in hits])
        slots["label"] = context.labels.range(context.text[hit.start : hit.end].strip(), subject)
        out.append(Proposal(RangeRequired, hit.rule.id, slots))
    out.reverse()
    for before, after in itertools.pairwise(out):  # "hasta 2 boyas, entre 2 y 5": the unit is said once
        if after.slots["unit"] is None:
            after.slots["unit"] = before.slots["unit"]
    yield from out


def _quantity(context: Context, text: str | None) -> float | None:
    found = context.language.find_numbers(text) if text else []
    return float(found[0].value) if found else None
