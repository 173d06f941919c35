"""Dates, deadlines, actors, definitions, lists, publications, chronologies, topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
    PublicationRequired,
    Source,
    Span,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.amounts import amounts
from dofrag.profiles.clauses import Clause, Hit, find
from dofrag.profiles.context import Context, Proposal
from dofrag.profiles.facts import within
from dofrag.profiles.labels import Labels
from dofrag.profiles.sources import sources_of


def dates(context: Context) -> Iterable[Proposal]:
    hits = context.of("date")
    for hit in hits:
        role = _role(context, hit)
        events = _series(context, hit.end, hit.end + 4) if "plural" in hit.groups else []
        for start, end in events:  # "las fechas de visita, fallo y firma"
            words = context.language.content_words(context.text[start:end])
            rest = context.terms(*hits, start=events[-1][1])
            label = context.labels.date(role, context.text[start:end], _date_period(context))
            slots: dict[str, Any] = {"role": role, "terms": tuple(dict.fromkeys((*words, *rest))), "label": label}
            yield Proposal(DateRequired, hit.rule.id, slots)
        parts = _coordinated(context, hit) if not events else []
        sources = _own_sources(context, parts)
        for n, (start, end) in enumerate(parts):
            terms = context.terms(*hits, start=start, end=end)
            if kept := hit.groups.get("kept"):
                terms = tuple(dict.fromkeys((*context.language.content_words(kept), *terms)))
            if len(terms) == 1 and not context.clause.side:
                # "¿Qué día abrió y qué día cerró la recepción?": a verb without its subject
                terms = tuple(dict.fromkeys((*terms, *context.inherited_terms[:4])))
            subject = context.masked.phrase(start, end, [span for h in hits for span in h.spans])
            period = _date_period(context)
            label = context.labels.date(role, subject, period)
            slots = {"role": role, "terms": terms, "period": period, "label": label}
            yield Proposal(DateRequired, hit.rule.id, slots | ({"source": sources[n]} if sources else {}))
    # "¿Por qué empezó a regir el …?" takes a date for granted: the true one must be found.
    for why in context.of("why")[:1] if not hits else ():
        if context.states_effect:
            role = DateRole.EFFECT
            period = _date_period(context)
            label = context.labels.date(role, context.masked.phrase(context.clause.start, context.clause.end), period)
            slots = {"role": role, "terms": context.terms(why), "period": period, "label": label}
            yield Proposal(DateRequired, why.rule.id, slots)


def _role(context: Context, hit: Hit) -> DateRole:
    """Of a part that leaves the verb out ("… y cuándo el decreto?"), the role of the part before it."""
    before = find(context.rules.of("date"), context.folded, Clause(0, context.clause.start))
    said = before[-1] if "same" in hit.rule.attributes and before else hit
    return DateRole(said.rule.attributes["role"])


def _own_sources(context: Context, parts: Sequence[tuple[int, int]]) -> list[Source]:
    """Of coordinated parts that name an instrument each, the source of each; empty where they share one."""
    facts = [within(context.own, [part]) for part in parts]
    if len(parts) < 2 or not all(f.identifiers or any(i.use == "source" for i in f.instruments) for f in facts):
        return []
    return [sources_of(f, within(context.everything, []))[0] for f in facts]


def _series(context: Context, at: int, latest: int) -> list[tuple[int, int]]:
    """The bare nouns of a row that begins between these places (`inicio, avance y cierre`); empty where none does."""
    match = context.language.series.search(context.folded, at, context.clause.end)
    if match is None or match.start() > latest:
        return []
    start = match.start("list")
    return [(start + w.start(), start + w.end()) for w in _NOUN.finditer(match["list"]) if len(w.group()) > 1]


_NOUN = re.compile(r"[^\W\d_]{2,}")


def _date_period(context: Context) -> Period | None:
    """The one year, month or day that the dated thing is of: "¿desde cuándo rigen las cuotas de 2026?"."""
    of = {(d.found.first, d.found.last) for d in context.own.dates if d.role == DateRole.DATUM}
    first, last = of.pop() if len(of) == 1 else (None, None)
    return Period(start=first, end=last) if first and last else None


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


def simple(
    kind: type[Base], emits: str, label: Callable[[Labels, str], str]
) -> Callable[[Context], Iterable[Proposal]]:
    def build(context: Context) -> Iterable[Proposal]:
        for hit in context.of(emits) if not (emits == "deadline" and context.of("sequence")) else ():
            subject = context.masked.phrase(context.clause.start, context.clause.end, [(hit.start, hit.end)])
            slots: dict[str, Any] = {"terms": context.terms(hit), "label": label(context.labels, subject)}
            yield Proposal(kind, hit.rule.id, slots)

    return build


def actors(context: Context) -> Iterable[Proposal]:
    for hit in context.of("actor"):
        noun = hit.groups.get("noun") or hit.groups.get("body")
        terms = tuple(dict.fromkeys((*context.language.content_words(noun or ""), *context.terms(hit))))
        subject = context.masked.phrase(context.clause.start, context.clause.end)
        found = context.language.verb.match(context.folded, hit.end, context.clause.end)
        label = context.labels.actor(subject)
        slots = {"role": noun, "action": found["verb"] if found else None, "terms": terms, "label": label}
        yield Proposal(ActorRequired, hit.rule.id, slots)


def definitions(context: Context) -> Iterable[Proposal]:
    for hit in context.of("definition"):
        noun = hit.groups.get("noun") if hit.rule.attributes.get("term") == "noun" else None
        term = noun or context.masked.term_after(hit.end, context.clause.end)
        if not term:
            continue
        terms = context.terms(hit) if noun else tuple(dict.fromkeys(context.language.content_words(term)))
        yield Proposal(
            DefinitionRequired, hit.rule.id, {"term": term, "terms": terms, "label": context.labels.definition(term)}
        )


def items(context: Context) -> Iterable[Proposal]:
    seen = False
    bare = any(h.rule.attributes.get("bare") for h in context.of("list"))
    stated = [h for c in context.stated if bare for h in find(context.rules.of("announced"), context.folded, c)]
    for hit in stated[:2] or context.of("items"):
        if hit.rule.attributes.get("after") and not seen:
            continue
        number = _whole(context, hit.groups["n"])
        if number is None or not 2 <= number <= 40 or context.aliases.units.get(hit.groups["noun"]):
            continue
        seen = True
        noun = " ".join(w for w in (hit.groups["noun"], hit.groups.get("adjective")) if w)
        terms = tuple(dict.fromkeys((*noun.split(), *context.terms(*context.of("items", "list")))))
        if stated:
            terms = tuple(dict.fromkeys((*noun.split(), *_stated_terms(context, hit))))
        for ordinal in range(1, number + 1):
            label = context.labels.item(context.spelled(hit, noun), ordinal, number)
            yield Proposal(
                ItemRequired, hit.rule.id, {"ordinal": ordinal, "of": number, "terms": terms, "label": label}
            )


def _stated_terms(context: Context, hit: Hit) -> tuple[str, ...]:
    """Subject words of what is stated before a bare question ("Son seis los faros que…: ¿cuáles?")."""
    stated = next(c for c in context.stated if c.holds(hit.start))
    return context.masked.terms(stated.start, stated.end, [(hit.start, hit.end)])


def _whole(context: Context, text: str) -> int | None:
    found = context.language.find_numbers(text)
    return int(found[0].value) if found and found[0].value == int(found[0].value) else None


def lists(context: Context) -> Iterable[Proposal]:
    if context.of("range"):
        return
    each = find(context.rules.of("courtesy"), context.folded, context.clause)
    if any("one" in h.groups and h.groups["one"] not in _TIMES for h in each) and context.terms():
        # "¿Qué peso tiene, boya por boya…?" asks for every row.
        label = context.labels.list(context.masked.phrase(context.clause.start, context.clause.end))
        yield Proposal(ListRequired, each[0].rule.id, {"terms": context.terms(), "label": label})
        return
    for hit in context.of("list"):
        noun = hit.groups.get("noun", "")
        at = context.folded.find(noun, hit.start)
        if any(i.use == "source" and i.start <= at < i.end for i in context.own.instruments):
            # "¿Cuáles son las reglas de operación vigentes de Boyas a Flote?" asks for the publication.
            slots = {"terms": context.terms(), "label": context.labels.publication(context.spelled(hit, noun))}
            yield Proposal(PublicationRequired, hit.rule.id, slots)
            return
        terms = tuple(dict.fromkeys((*noun.split(), *context.terms(hit))))
        yield Proposal(
            ListRequired, hit.rule.id, {"terms": terms, "label": context.labels.list(context.spelled(hit, noun))}
        )
        return


_TIMES = frozenset({"año", "mes", "dia", "semana", "hora", "trimestre", "quincena", "paso"})


def also(context: Context) -> Iterable[Proposal]:
    """ "¿Qué superficie y municipios abarca…?": the noun after the conjunction is a slot of its own."""
    ends = {h.end + 1 for h in context.of("value", "definition", "deadline")}
    for hit in context.of("also"):
        if hit.start in ends:
            noun = hit.groups["noun"]
            terms = tuple(dict.fromkeys((noun, *context.terms(*context.of("value"), hit))))
            slots = {"terms": terms, "label": context.labels.list(context.spelled(hit, noun))}
            yield Proposal(ListRequired, hit.rule.id, slots)


def drafted(context: Context) -> Iterable[Proposal]:
    """ "¿Cómo pasó del proyecto a la norma el límite de peso y el de altura?": each of them, in the draft and in the
    norm, where the question names the norm."""
    keys = [i.value for i in context.own.identifiers] or [i.value for i in context.everything.identifiers]
    for hit in context.of("drafted")[:1] if len(keys) == 1 else ():
        cuts = [m.span() for m in context.language.coordination.finditer(context.folded, hit.end, context.clause.end)]
        parts = zip([hit.end, *(b for _, b in cuts)], [*(a for a, _ in cuts), context.clause.end], strict=True)
        stem_of_key = _BRANCHED.match(keys[0])
        draft = f"PROY-{stem_of_key.group() if stem_of_key else keys[0]}"
        for start, end in parts:
            terms = context.masked.terms(start, end)
            label = context.labels.value(context.masked.phrase(start, end), None, None, None, None)
            for key in (draft, keys[0]) if terms else ():
                source = Source(identifier=key)
                slots = {
                    "terms": terms,
                    "label": f"{label} ({key})",
                    "source": source,
                    "span": Span(start=start, end=end),
                }
                yield Proposal(ValueRequired, hit.rule.id, slots)


_BRANCHED = re.compile(r"(?:NOM|NMX)(?:-[A-Z]{1,2})?-\d{2,4}(?:-[A-Z]{2,6})?(?=-\d{4}|$)")


def sequence(context: Context) -> Iterable[Proposal]:
    """A chronology: one requirement a stage that the question names."""
    for hit in context.of("sequence")[:1]:
        at = (context.folded, hit.end, context.clause.end)
        span = context.language.span.search(*at) or context.language.stretch.match(*at)
        stages = _series(context, hit.end, hit.end + 24)
        if stages:
            # "el orden de aviso, obra y cierre del muelle": what they are all of stands after the last.
            rest = context.terms(hit, start=stages[-1][1])
            for start, end in stages[:8]:
                words = context.language.content_words(context.text[start:end])
                label = context.labels.publication(context.text[start:end])
                slots = {"terms": tuple(dict.fromkeys((*words, *rest))), "label": label}
                yield Proposal(PublicationRequired, hit.rule.id, slots)
            return
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
            # "la cronología laboral formada por las dos fases…": the stage begins with its article.
            determiner = context.language.determiner.search(context.folded, start, end)
            start = determiner.start() if determiner else start
            yield from _stage(context, hit, start, end, effect)


def _stage(context: Context, hit: Hit, start: int, end: int, effect: bool) -> Iterable[Proposal]:
    """One stage, with the source that it names itself; several of them where it says how many."""
    subject = context.masked.phrase(start, end)
    stated = within(context.everything, [(start, end)])
    nothing = within(context.everything, [])
    source = sources_of(stated, nothing)[0]
    own = context.masked.terms(start, end, [(hit.start, hit.end)])
    terms = own if own or source != sources_of(nothing, nothing)[0] else context.terms(hit)
    slots: dict[str, Any] = {"terms": terms, "source": source, "label": context.labels.publication(subject)}
    slots["span"] = Span(start=start, end=end)
    if not effect:
        yield Proposal(PublicationRequired, hit.rule.id, slots)
        for deadline in context.of("deadline")[:1]:  # "la secuencia de actos y plazos": the terms of each stage
            yield Proposal(DeadlineRequired, deadline.rule.id, {**slots, "label": context.labels.deadline(subject)})
        return
    counted = find(context.rules.of("count"), context.folded, Clause(start, end))
    times = (_whole(context, counted[0].groups["n"]) or 1) if counted else 1
    label = context.labels.date(DateRole.EFFECT, subject)
    for n in range(1, min(times, 6) + 1):
        numbered = label if times == 1 else f"{label} ({n}/{times})"
        yield Proposal(DateRequired, hit.rule.id, {**slots, "role": DateRole.EFFECT, "label": numbered})


def whether(context: Context) -> Proposal | None:
    """A question of yes or no: what is to be so, with the amounts that it states. None where the part asks for
    something, for a publication or for what is in force."""
    hits = find(context.rules.of("whether"), context.folded, context.clause)
    if not hits or context.clause.side or context.of("publication", "sequence") or context.aspect == "validity":
        return None
    if all(h.rule.attributes.get("clause") == "unasked" for h in hits) and _asks_for(context):
        return None
    start, end = context.clause.start, context.clause.end
    said = (*context.stated, context.clause)
    label = context.masked.phrase(start, end)
    slots: dict[str, Any] = {
        "terms": context.terms() or context.masked.any_terms(),
        "whether": True,
        "stated": tuple(dict.fromkeys(a.text for c in said for a in amounts(context, c))),
        "label": context.labels.whether(label),
    }
    return Proposal(TopicRequired, hits[0].rule.id, slots)


def _asks_for(context: Context) -> bool:
    """Whether a part has a word of asking, or is no sentence that is closed as a question."""
    if find(context.rules.of("ask"), context.folded, context.clause):
        return True
    followed = any(c.isalnum() for c in context.folded[context.clause.end :])
    return not followed and "?" not in context.folded[context.clause.start :]


def topics(context: Context) -> Iterable[Proposal]:
    for hit in context.of("topic", "why")[:1]:
        yield topic(context, hit.rule.id, (hit,))


def topic(context: Context, rule: str, hits: Sequence[Hit]) -> Proposal:
    nouns = [w for h in hits for w in context.language.content_words(h.groups.get("noun", ""))]
    terms = tuple(dict.fromkeys((*nouns, *context.terms(*hits)))) or context.masked.any_terms()
    start, end = context.clause.start, context.clause.end
    label = context.masked.phrase(start, end, [span for h in hits for span in h.spans]) or " ".join(terms)
    return Proposal(TopicRequired, rule, {"terms": terms, "label": context.labels.topic(label)})
