"""What every requirement of a part carries besides its type: names, aspect, cited provisions, context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from dofrag.domain.question import (
    DateRequired,
    DateRole,
    DeadlineRequired,
    ListRequired,
    Period,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.context import Context, Proposal
from dofrag.profiles.facts import REFERENCE
from dofrag.profiles.named import Name, coordinated
from dofrag.text.fold import fold

_ASPECTS = (TopicRequired, ListRequired)


def marked(context: Context, found: Sequence[Proposal]) -> Iterator[Proposal]:
    """The proposals, one for each of the names (or periods) that the part puts side by side."""
    clause = (context.clause.start, context.clause.end)
    for proposal in found:
        slots = _slots(context, proposal)
        words = set(slots.get("terms", ()))
        # A code stands among no words: it always tells which.
        names = [n for n in context.own.entities if _said(n) <= words or not any(map(str.isalpha, n.phrase))]
        ended = proposal.type is DateRequired and slots["role"] is DateRole.END
        if ended or (proposal.type is TopicRequired and slots["aspect"] == "validity"):
            yield from _in_force(context, proposal, slots)
            continue
        if "source" in proposal.slots:
            slots["entities"] = (*slots["entities"], *(n.phrase for n in names))
            yield Proposal(proposal.type, proposal.rule, slots)
            continue
        side = coordinated(names, context.folded, clause, context.language) or _parallel(context, proposal)
        shared = tuple(n.phrase for n in names if not any(s.start < n.end and n.start < s.end for s in side))
        for one in side or (None,):
            for period in _periods(context, proposal):
                yield _variant(context, proposal, slots, shared, one, side, period)


def _said(name: Name) -> set[str]:
    """The words of a name without its figures, which terms never hold ("Río Faro 2")."""
    return {w for w in name.words if not w.isdigit()}


def _in_force(context: Context, proposal: Proposal, slots: dict[str, Any]) -> Iterator[Proposal]:
    """ "¿Sigue vigente la Tarifa de Amarres?" is answered by whatever act ends it, too: what is asked about is the
    subject, not the source."""
    for source in context.sources:
        named = source.identifier or " ".join(source.name)
        words = (fold(source.identifier),) if source.identifier else source.name
        own = dict(slots)
        own["source"] = replace(source, identifier=None, name=(), about=source.name or source.about)
        if named:
            own["entities"] = (*own["entities"], fold(named))
            own["terms"] = tuple(dict.fromkeys((*own["terms"], *words)))
        names = [n.phrase for n in context.own.entities if set(n.words) <= set(own["terms"])]
        own["entities"] = tuple(dict.fromkeys((*own["entities"], *names)))
        yield Proposal(proposal.type, proposal.rule, own)


def _variant(
    context: Context,
    proposal: Proposal,
    slots: dict[str, Any],
    shared: tuple[str, ...],
    one: Name | None,
    side: Sequence[Name],
    period: Period | None,
) -> Proposal:
    own = dict(slots)
    own["entities"] = (*own["entities"], *shared, *((one.phrase,) if one is not None else ()))
    if one is not None:
        others = {w for n in side if n is not one for w in n.words} - set(one.words)
        # A part that is names alone still asks for something: the name itself.
        own["terms"] = tuple(w for w in own["terms"] if w not in others) or one.words or (one.phrase,)
        said = " ".join(w for w in own["label"].split() if fold(w) not in others)
        own["label"] = context.labels.of(said, context.text[one.start : one.end].strip(" .,;")).strip()
    if period is not None:
        own["period"] = period
        own["label"] = context.labels.of_period(own["label"], period)
    return Proposal(proposal.type, proposal.rule, own)


def _zones(context: Context) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fold(z.value) for z in context.own.zones))


def _slots(context: Context, proposal: Proposal) -> dict[str, Any]:
    slots = dict(proposal.slots)
    if issubclass(proposal.type, _ASPECTS):
        slots.setdefault("aspect", context.aspect)
        cited = {p.path for p in context.own.provisions if p.use == "cited"}
        if len(cited) == 1:
            slots.setdefault("cited", cited.pop())
    # The zone of a value has a slot of its own.
    zones = () if issubclass(proposal.type, ValueRequired) else _zones(context)
    slots["entities"] = (*slots.get("entities", ()), *zones)
    if context.negated:
        slots["negated"] = True
        slots["label"] = context.labels.negated(slots["label"])
    inherited = context.inherited_terms[:5] if len(slots.get("terms", ())) <= 1 else ()
    told = dict.fromkeys((*inherited, *context.scene))
    slots["context"] = tuple(w for w in told if w not in slots.get("terms", ()))
    return slots


def _periods(context: Context, proposal: Proposal) -> Iterable[Period | None]:
    """A comparison of what is no value has a requirement a period, too."""
    if not issubclass(proposal.type, _ASPECTS):
        return (None,)
    dates = [d.found for d in context.own.dates if d.role == "datum" and d.role != REFERENCE]
    spans = dict.fromkeys((d.first, d.last) for d in dates)
    if context.of("compare"):
        # "¿En qué cambiaron los horarios entre 2031 y 2033?": the years at both ends of the span.
        spans = dict.fromkeys(one for a, b in spans for one in _ends(a, b))
    if len(spans) == 1 or (context.of("compare") and len(spans) > 1):
        return [Period(start=a, end=b) for a, b in spans]
    return (None,)


def _ends(first: Any, last: Any) -> list[tuple[Any, Any]]:
    whole = (first.month, first.day, last.month, last.day) == (1, 1, 12, 31)
    if whole and first.year != last.year:
        return [
            (first, first.replace(month=12, day=31)),
            (last.replace(month=1, day=1), last),
        ]
    return [(first, last)]


def _parallel(context: Context, proposal: Proposal) -> tuple[Name, ...]:
    """What a repeated preposition coordinates ("Compara los requisitos de la boya ciega y de la boya de amarre"), two
    things compared ("entre la cuota alta y la baja"), two of a kind ("la cuota mínima y la máxima")."""
    compared = issubclass(proposal.type, (*_ASPECTS, ValueRequired)) and bool(context.of("compare"))
    told_apart = issubclass(proposal.type, ValueRequired | DeadlineRequired) and not context.of("compare")
    if not (compared or told_apart) or len(context.sources) > 1:
        return ()
    at = (context.folded, context.clause.start, context.clause.end)
    rows = [m for r in context.rules.of("pair") for m in r.pattern.finditer(*at) if m["first"] != m["second"]]
    patterns = (context.language.parallel, *((context.language.pair,) if compared else ()))
    matches = [*rows[:1], *(m for p in patterns if (m := p.search(*at)))]
    return next(
        (names for m in matches if (names := _sides(context, m, issubclass(proposal.type, ValueRequired)))), ()
    )


def _sides(context: Context, match: re.Match[str], valued: bool) -> tuple[Name, ...]:
    spans = [match.span("first"), match.span("second")]
    # "de plomo y de mercurio en el agua": what follows the second is said of both.
    (start, end), (other, last) = spans
    if " en " not in context.folded[start:end] and (shared := context.folded.find(" en ", other, last)) > 0:
        spans[1] = (other, shared)
    found = []
    for start, end in spans:
        words = context.masked.terms(start, end)
        dated = any(start <= d.start < end for d in context.own.dates)
        if not words or (valued and dated):  # times are told by periods
            return ()
        found.append(Name(start, end, " ".join(words), words))
    return tuple(found)
