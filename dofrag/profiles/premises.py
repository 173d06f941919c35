"""What a question takes for granted: counts, dates from which something holds, provisions, instruments, acts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dofrag.domain.question import DateRole, Premise
from dofrag.profiles.amounts import amounts
from dofrag.profiles.asks import whether
from dofrag.profiles.clauses import Clause, find
from dofrag.profiles.context import Context
from dofrag.profiles.rules import RuleSet

MAX_PREMISES = 12


def premises_of(context: Context, rules: RuleSet, reach: Sequence[Clause]) -> tuple[Premise, ...]:
    """The presuppositions of a part of a question, in order of kind and place, each once. Ids are given later."""
    source = context.sources[0]
    found: dict[tuple[str, str], Premise] = {}

    def add(slot: str, key: str, expected: str, shown: str | None = None) -> None:
        label = context.labels.premise(key, shown or expected)
        found.setdefault((slot, expected), Premise(id="", slot=slot, label=label, expected=expected, source=source))

    for instrument in context.own.instruments:
        if instrument.use == "amended" and context.aspect == "change":
            add("amended", "amended", instrument.text)
        elif instrument.use != "cited":
            add("instrument", "instrument", instrument.text)
    for identifier in context.own.identifiers:
        add("instrument", "instrument", identifier.value)
    for provision in context.own.provisions:
        if provision.use == "asked":
            add("provision", "provision", provision.path, context.labels.path(provision.path))
    for dated in context.own.dates:
        happened = dated.role == DateRole.DATUM and dated.found.precision == "day" and _happens(context, dated.start)
        if dated.role == DateRole.EFFECT or happened:
            add("date", "date_effect", dated.found.first.isoformat())
    for expected in _counts(context, rules, reach):
        add("number", "number", expected)
    if len(context.own.measures) == 1 and context.of("why") and context.own.indicators:
        add("value", "number", context.own.measures[0].value)  # "¿por qué se fijó en 90 pesos?"
    for premise in _stated_amounts(context):
        found.setdefault((premise.slot, premise.expected), premise)
    for premise in _amounts(context, rules, {expected for _, expected in found}):
        found.setdefault((premise.slot, premise.expected), premise)
    for clause in reach:
        for hit in find(rules.of("act"), context.folded, clause):
            add("act", "act", hit.groups["act"])
    return tuple(found.values())[:MAX_PREMISES]


def _amounts(context: Context, rules: RuleSet, known: set[str]) -> Iterable[Premise]:
    """ "¿Por qué la dotación es de 90 litros?", "¿Quién dispuso que la veda dure seis meses?": the amount is taken
    for granted. `terms` are the words that it is said of, which stand before it."""
    if whether(context) is not None:
        return  # whether it is so, is what is asked
    at = context.clause.start
    for amount in amounts(context):
        said = context.folded[context.clause.start : amount.start]
        if (context.of("why") or any(r.pattern.search(said) for r in rules.of("presupposes"))) and not any(
            amount.text in other or other in amount.text for other in known
        ):
            terms = context.terms(*context.of("why"), start=at, end=amount.start) or context.terms(*context.of("why"))
            label = context.labels.premise("amount", amount.text)
            yield Premise(
                id="", slot="amount", label=label, expected=amount.text, terms=terms, unit=amount.unit,
                source=context.sources[0],
            )  # fmt: skip
        at = amount.end


_OF = re.compile(
    r"\b(?:el|la|los|las|su) (?P<thing>[a-zñ]{3,}(?: [a-zñ]{2,}){0,3}?) (?:del?|de (?:el|la|los|las|hasta))(?: un)? $"
)
_BARE = frozenset({"plazo", "termino", "periodo", "duracion", "vigencia", "tiempo", "lapso", "limite", "tope"})


def _stated_amounts(context: Context) -> Iterable[Premise]:
    """ "Con la rebaja del diez por ciento de marzo, ¿cuál es el tope?": what is stated before the question takes the
    amount of a definite thing for granted."""
    for clause in context.stated:
        for amount in amounts(context, clause):
            match = _OF.search(context.folded[clause.start : amount.start])
            terms = context.language.content_words(match["thing"]) if match else ()
            terms = tuple(w for w in terms if w not in _BARE and w not in context.aliases.asking)
            if terms and amount.unit is not None:
                label = context.labels.premise("amount", amount.text)
                yield Premise(
                    id="", slot="amount", label=label, expected=amount.text, terms=terms, unit=amount.unit,
                    source=context.sources[0], stated=True,
                )  # fmt: skip


def _happens(context: Context, at: int) -> bool:
    """ "¿Cuánto subió la cuota el 3 de mayo?" takes it for granted that it rose on that day."""
    before = context.folded[context.clause.start : at]
    return any(r.pattern.search(before) for r in context.rules.of("happens"))


def _counts(context: Context, rules: RuleSet, reach: Sequence[Clause]) -> Iterable[str]:
    """`los 14 inmuebles`, `50,000 m²`: as they stand in the question."""
    taken = [(d.start, d.end) for d in context.own.dates]
    taken += [(h.start, h.end) for h in context.of("range")]
    for clause in reach:
        for hit in find((*rules.of("items"), *rules.of("count")), context.folded, clause):
            noun_at = context.folded.find(hit.groups["noun"], hit.start)
            number_at = context.folded.find(hit.groups["n"], hit.start)
            if not context.aliases.units.get(hit.groups["noun"]):
                taken.append((hit.start, hit.end))
                yield context.text[number_at : noun_at + len(hit.groups["noun"])]
    for measure in context.own.measures:
        # "las 40,000 m²" takes the figure for granted; "cuánto son 100 dólares" does not.
        before = list(context.language.determiner.finditer(context.folded, max(0, measure.start - 8), measure.start))
        definite = bool(before) and before[-1].end() == measure.start
        told = any(c.holds(measure.start) for c in context.stated)
        if definite and not told and not any(a < measure.end and measure.start < b for a, b in taken):
            yield measure.value
