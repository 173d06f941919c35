"""From the hits of one clause to typed requirements: slots filled, several values crossed with periods and zones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dofrag.domain.question import (
    ActorRequired,
    Base,
    DateRequired,
    DateRole,
    DeadlineRequired,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    Period,
    ProvisionRequired,
    PublicationRequired,
    RangeRequired,
    Source,
    Span,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.aliases import Alias, Aliases
from dofrag.profiles.clauses import Clause, Hit, find
from dofrag.profiles.facts import REFERENCE, Dated, Facts, within
from dofrag.profiles.labels import Labels
from dofrag.profiles.language import Language
from dofrag.profiles.rules import RuleSet
from dofrag.profiles.sources import sources_of
from dofrag.profiles.terms import Masked

_ALWAYS = frozenset({"and-list"})
MAX_REQUIREMENTS = 24
"""Of one clause: a cross product beyond this says that the question was misread."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A requirement without its id: type, the rule that found it, slots."""

    type: type[Base]
    rule: str
    slots: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the builders of one clause work with. `everything` are the facts of the whole question, `own` those that
    stand in the clause; `sources` are the publications that may answer it, one at least."""

    text: str
    folded: str
    clause: Clause
    hits: tuple[Hit, ...]
    own: Facts
    everything: Facts
    sources: tuple[Source, ...]
    masked: Masked
    aliases: Aliases
    language: Language
    rules: RuleSet
    labels: Labels
    inherited_terms: tuple[str, ...] = ()
    placed: str | None = None  # provision that the context names, for a part that names none

    def of(self, *emits: str) -> tuple[Hit, ...]:
        return tuple(h for h in self.hits if h.rule.emits in emits)

    def terms(self, *hits: Hit, start: int | None = None, end: int | None = None) -> tuple[str, ...]:
        """Content words of the clause, or of a stretch of it, without slots and without the words of these hits."""
        found = self.masked.terms(
            self.clause.start if start is None else start,
            self.clause.end if end is None else end,
            [(h.start, h.end) for h in hits],
        )
        if len(found) > 1 or self.sources[0] != Source(gazette_only=self.sources[0].gazette_only):
            return found
        # A part that names neither a source nor a subject of its own speaks of that of another part.
        return tuple(dict.fromkeys((*found, *self.inherited_terms[:5])))


def proposals(context: Context) -> list[Proposal]:
    """The requirements of a clause: typed ones, provisions that are asked for, else its topic. Never none."""
    out: list[Proposal] = []
    for build in _BUILDERS:
        out.extend(build(context))
    typed = [p for p in out if p.type not in (ListRequired, TopicRequired) or p.rule in _ALWAYS]
    if typed:
        # A plural noun after "qué" is a list only where nothing more exact was asked.
        out = typed
    elif any(p.type is ListRequired for p in out):
        out = [p for p in out if p.type is ListRequired]
    out = _placed(context, out)
    if not out:
        out = [_topic(context, "question", ())]
    return list(_per_source(context, out))[:MAX_REQUIREMENTS]


def _per_source(context: Context, found: Sequence[Proposal]) -> Iterable[Proposal]:
    """Each requirement once for every source that the clause names side by side."""
    for proposal in found:
        if "source" in proposal.slots:
            yield proposal
            continue
        for source in context.sources:
            slots = {**proposal.slots, "source": source}
            if len(context.sources) > 1:
                slots["label"] = context.labels.from_source(slots["label"], source)
            yield Proposal(proposal.type, proposal.rule, slots)


def _placed(context: Context, found: list[Proposal]) -> list[Proposal]:
    """Provisions of the clause: where something typed is asked of one provision, it is that requirement's place;
    otherwise the provision itself is what is asked for."""
    asked = list(dict.fromkeys(p.path for p in context.own.provisions if p.use == "asked"))
    if context.placed and found:
        asked = [context.placed]
    if len(asked) == 1 and (context.placed or any(p.type is not TopicRequired for p in found)):
        for proposal in found:
            proposal.slots["path"] = asked[0]
            proposal.slots["label"] = context.labels.in_provision(proposal.slots["label"], asked[0])
        return found
    kept = [p for p in found if p.type is not TopicRequired] if asked else found
    for path in asked:
        slots: dict[str, Any] = {"path": path, "label": context.labels.provision(path), "terms": context.terms()}
        holder = _holder(context, path)
        if holder is not None and len(context.sources) > 1:
            slots["source"] = holder
        kept.append(Proposal(ProvisionRequired, "provision", slots))
    return kept


def _holder(context: Context, path: str) -> Source | None:
    """`el artículo 9 de la Ley X`: of several named instruments, the one right after the provision holds it."""
    for provision in context.own.provisions:
        for source in context.sources if provision.path == path else ():
            for one in context.own.instruments:
                if one.words == source.name and 0 <= one.start - provision.end <= 12:
                    return source
    return None


def _values(context: Context) -> Iterable[Proposal]:
    hits = context.of("value")
    if context.of("range") or (context.of("why") and not hits and _effects(context)):
        return
    indicators = [f.alias for f in context.own.indicators if not _within(context.own.instruments, f.start)]
    compares = context.of("compare")
    if not hits and not (indicators and (compares or not _asks_else(context))):
        return
    hit = hits[0] if hits else (compares[0] if compares else None)
    if not indicators and not context.masked.terms(
        context.clause.start, context.clause.end, [(h.start, h.end) for h in hits]
    ):
        # "¿… y qué variación tuvo?": the thing is named in another part.
        named = list(dict.fromkeys(f.alias for f in context.everything.indicators))
        indicators = named if len(named) == 1 else []
    for one in hits[1:] if not indicators else ():
        yield from _crossed(context, one, [None])
    yield from _crossed(context, hit, list(dict.fromkeys(indicators)) or [None])


def _asks_else(context: Context) -> bool:
    return bool(
        context.of("date", "deadline", "actor", "definition", "publication", "items", "topic", "sequence", "list")
    )


def _crossed(context: Context, hit: Hit | None, indicators: Sequence[Alias | None]) -> Iterable[Proposal]:
    frequencies: list[Alias | None] = [*dict.fromkeys(f.alias for f in context.own.frequencies)] or [None]
    zones: list[str | None] = [*dict.fromkeys(z.value for z in context.own.zones)] or [None]
    spans = [(f.start, f.end) for f in context.own.indicators] if indicators != [None] else []
    if hit:
        spans.append((hit.start, hit.end))
    start, end = context.clause.start, context.clause.end
    terms = (
        context.masked.terms(start, end, spans) if indicators != [None] else context.terms(*([hit] if hit else []))
    )
    noun = hit.groups.get("noun") if hit else None
    asked_unit = hit.rule.attributes.get("unit") if hit else None
    if noun and asked_unit == "noun":
        terms = tuple(dict.fromkeys((noun, *terms)))
    for alias in indicators:
        periods = _periods(context, alias, indicators)
        for variant, period, zone, frequency in itertools.product(
            _variants(context, alias), periods, zones, frequencies
        ):
            known = context.aliases.units.get(noun) if noun else None
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


def _unit_after(context: Context, hit: Hit | None) -> str | None:
    """`el mínimo de días`, `la cantidad de pesos`: the unit right after what asks for a value."""
    if hit is None:
        return None
    found = context.aliases.units.find(context.folded[hit.end : hit.end + 28])
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
    periods = dict.fromkeys(Period(start=d.found.first, end=d.found.last, role=DateRole.DATUM) for d in dates)
    return list(periods) or [None]


def _owner(context: Context, one: Dated) -> Alias | None:
    before = [f for f in context.own.indicators if f.start < one.start]
    return before[-1].alias if before else None


def _within(spans: Iterable[Any], at: int) -> bool:
    return any(s.start <= at < s.end for s in spans)


def _dates(context: Context) -> Iterable[Proposal]:
    hits = context.of("date")
    for hit in hits:
        role = DateRole(hit.rule.attributes["role"])
        for start, end in _coordinated(context, hit):
            terms = context.terms(*hits, start=start, end=end)
            if kept := hit.groups.get("kept"):
                terms = tuple(dict.fromkeys((*context.language.content_words(kept), *terms)))
            subject = context.masked.phrase(start, end, [(h.start, h.end) for h in hits])
            period = _date_period(context)
            label = context.labels.date(role, subject, period)
            yield Proposal(
                DateRequired, hit.rule.id, {"role": role, "terms": terms, "period": period, "label": label}
            )
    # "¿Por qué empezó a regir el …?" takes a date for granted: the true one must be found.
    for why in context.of("why")[:1] if not hits else ():
        if _effects(context):
            role = DateRole.EFFECT
            period = _date_period(context)
            label = context.labels.date(role, context.masked.phrase(context.clause.start, context.clause.end), period)
            slots = {"role": role, "terms": context.terms(why), "period": period, "label": label}
            yield Proposal(DateRequired, why.rule.id, slots)


def _date_period(context: Context) -> Period | None:
    """The one year, month or day that the dated thing is of: "¿desde cuándo rigen las cuotas de 2026?"."""
    of = {(d.found.first, d.found.last) for d in context.own.dates if d.role == DateRole.DATUM}
    first, last = of.pop() if len(of) == 1 else (None, None)
    return Period(start=first, end=last) if first and last else None


def _effects(context: Context) -> bool:
    """Whether the part states from when something holds."""
    return any(d.role == DateRole.EFFECT for d in context.own.dates)


def _coordinated(context: Context, hit: Hit) -> list[tuple[int, int]]:
    """ "¿En qué fechas entraron en vigor la regla y las excepciones?" asks for one date each."""
    whole = (context.clause.start, context.clause.end)
    if "plural" not in hit.groups:
        return [whole]
    cuts = [m.span() for m in context.language.coordination.finditer(context.folded, hit.end, context.clause.end)]
    if not cuts or len(cuts) > 5:
        return [whole]
    starts = [hit.end, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), context.clause.end]
    return list(zip(starts, ends, strict=True))


def _simple(
    kind: type[Base], emits: str, label: Callable[[Labels, str], str]
) -> Callable[[Context], Iterable[Proposal]]:
    def build(context: Context) -> Iterable[Proposal]:
        for hit in context.of(emits):
            subject = context.masked.phrase(context.clause.start, context.clause.end, [(hit.start, hit.end)])
            slots: dict[str, Any] = {"terms": context.terms(hit), "label": label(context.labels, subject)}
            yield Proposal(kind, hit.rule.id, slots)

    return build


def _actors(context: Context) -> Iterable[Proposal]:
    for hit in context.of("actor"):
        noun = hit.groups.get("noun")
        terms = tuple(dict.fromkeys((*context.language.content_words(noun or ""), *context.terms(hit))))
        subject = context.masked.phrase(context.clause.start, context.clause.end)
        yield Proposal(
            ActorRequired, hit.rule.id, {"role": noun, "terms": terms, "label": context.labels.actor(subject)}
        )


def _definitions(context: Context) -> Iterable[Proposal]:
    for hit in context.of("definition"):
        noun = hit.groups.get("noun") if hit.rule.attributes.get("term") == "noun" else None
        term = noun or context.masked.term_after(hit.end, context.clause.end)
        if not term:
            continue
        terms = context.terms(hit) if noun else tuple(context.language.content_words(term))
        yield Proposal(
            DefinitionRequired, hit.rule.id, {"term": term, "terms": terms, "label": context.labels.definition(term)}
        )


def _items(context: Context) -> Iterable[Proposal]:
    seen = False
    for hit in context.of("items"):
        if hit.rule.attributes.get("after") and not seen:
            continue
        number = _whole(context, hit.groups["n"])
        if number is None or not 2 <= number <= 40 or context.aliases.units.get(hit.groups["noun"]):
            continue
        seen = True
        noun = " ".join(w for w in (hit.groups["noun"], hit.groups.get("adjective")) if w)
        terms = tuple(dict.fromkeys((*noun.split(), *context.terms(*context.of("items")))))
        for ordinal in range(1, number + 1):
            label = context.labels.item(noun, ordinal, number)
            yield Proposal(
                ItemRequired, hit.rule.id, {"ordinal": ordinal, "of": number, "terms": terms, "label": label}
            )


def _whole(context: Context, text: str) -> int | None:
    found = context.language.find_numbers(text)
    return int(found[0].value) if found and found[0].value == int(found[0].value) else None


def _lists(context: Context) -> Iterable[Proposal]:
    if context.of("range"):
        return
    for hit in context.of("list"):
        noun = hit.groups.get("noun", "")
        terms = tuple(dict.fromkeys((*noun.split(), *context.terms(hit))))
        yield Proposal(ListRequired, hit.rule.id, {"terms": terms, "label": context.labels.list(noun)})
        return


def _also(context: Context) -> Iterable[Proposal]:
    """ "¿Qué superficie y municipios abarca…?": the noun after the conjunction is a slot of its own."""
    ends = {h.end + 1 for h in context.of("value", "definition", "deadline")}
    for hit in context.of("also"):
        if hit.start in ends:
            noun = hit.groups["noun"]
            terms = tuple(dict.fromkeys((noun, *context.terms(*context.of("value"), hit))))
            slots = {"terms": terms, "label": context.labels.list(noun)}
            yield Proposal(ListRequired, hit.rule.id, slots)


def _ranges(context: Context) -> Iterable[Proposal]:
    hits = context.of("range")
    unit = None
    out: list[Proposal] = []
    for hit in reversed(hits):
        if _within(context.everything.dates, hit.start) or any(
            hit.start <= d.start < hit.end for d in context.own.dates
        ):
            continue
        low, high = (_quantity(context, hit.groups.get(name)) for name in ("low", "high"))
        noun = hit.groups.get("noun")
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
        slots["label"] = context.labels.range(context.folded[hit.start : hit.end].strip(), terms)
        out.append(Proposal(RangeRequired, hit.rule.id, slots))
    out.reverse()
    for before, after in itertools.pairwise(out):  # "hasta 2 boyas, entre 2 y 5": the unit is said once
        if after.slots["unit"] is None:
            after.slots["unit"] = before.slots["unit"]
    yield from out


def _quantity(context: Context, text: str | None) -> float | None:
    found = context.language.find_numbers(text) if text else []
    return float(found[0].value) if found else None


def _sequence(context: Context) -> Iterable[Proposal]:
    """A chronology: one requirement a stage that the question names."""
    for hit in context.of("sequence")[:1]:
        span = context.language.span.search(context.folded, hit.end, context.clause.end)
        if span:
            stages = [span.span("first"), span.span("last")]
        else:
            cuts = list(context.language.coordination.finditer(context.folded, hit.end, context.clause.end))
            stages = list(
                zip(
                    [hit.end, *(c.end() for c in cuts)], [*(c.start() for c in cuts), context.clause.end], strict=True
                )
            )
        effect = context.rules.any("effect", context.folded[context.clause.start : context.clause.end])
        for start, end in stages[:8]:
            yield from _stage(context, hit, start, end, effect)


def _stage(context: Context, hit: Hit, start: int, end: int, effect: bool) -> Iterable[Proposal]:
    """One stage, with the source that it names itself; several of them where it says how many."""
    terms = context.masked.terms(start, end, [(hit.start, hit.end)]) or context.terms(hit)
    subject = context.masked.phrase(start, end)
    stated = within(context.everything, [(start, end)])
    nothing = within(context.everything, [])
    source = sources_of(stated, nothing)[0]
    slots: dict[str, Any] = {"terms": terms, "source": source, "label": context.labels.publication(subject)}
    if not effect:
        yield Proposal(PublicationRequired, hit.rule.id, slots)
        return
    counted = find(context.rules.of("count"), context.folded, Clause(start, end))
    times = (_whole(context, counted[0].groups["n"]) or 1) if counted else 1
    label = context.labels.date(DateRole.EFFECT, subject)
    for n in range(1, min(times, 6) + 1):
        numbered = label if times == 1 else f"{label} ({n}/{times})"
        yield Proposal(DateRequired, hit.rule.id, {**slots, "role": DateRole.EFFECT, "label": numbered})


def _topics(context: Context) -> Iterable[Proposal]:
    for hit in context.of("topic", "why")[:1]:
        yield _topic(context, hit.rule.id, (hit,))


def _topic(context: Context, rule: str, hits: Sequence[Hit]) -> Proposal:
    terms = context.terms(*hits) or context.masked.any_terms()
    start, end = context.clause.start, context.clause.end
    label = context.masked.phrase(start, end, [(h.start, h.end) for h in hits]) or " ".join(terms)
    return Proposal(TopicRequired, rule, {"terms": terms, "label": context.labels.topic(label)})


_BUILDERS: tuple[Callable[[Context], Iterable[Proposal]], ...] = (
    _items,
    _ranges,
    _values,
    _dates,
    _simple(DeadlineRequired, "deadline", Labels.deadline),
    _actors,
    _definitions,
    _simple(PublicationRequired, "publication", Labels.publication),
    _sequence,
    _also,
    _lists,
    _topics,
)


def with_id(proposal: Proposal, requirement_id: str, clause: Clause) -> Base:
    """The requirement itself."""
    slots = {"span": Span(start=clause.start, end=clause.end), **proposal.slots}
    return proposal.type(id=requirement_id, rule=proposal.rule, **slots)
