"""From the hits of one clause to typed requirements: the builders, and where their results stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from dofrag.domain.question import (
    Base,
    DateRequired,
    DateRole,
    DeadlineRequired,
    ListRequired,
    ProvisionRequired,
    PublicationRequired,
    Source,
    Span,
    TopicRequired,
)
from dofrag.profiles.asks import (
    actors,
    also,
    dates,
    definitions,
    drafted,
    items,
    lists,
    sequence,
    simple,
    topic,
    topics,
    whether,
)
from dofrag.profiles.clauses import Clause, find
from dofrag.profiles.context import Context, Proposal
from dofrag.profiles.labels import Labels
from dofrag.profiles.marks import marked
from dofrag.profiles.named import coordinated
from dofrag.profiles.values import ranges, values
from dofrag.text.fold import fold

_ALWAYS = frozenset({"and-list", "and-extension", "how-and"})
"""Rules whose lists and topics stay beside more exact requirements."""

_WITHIN_PROVISION = frozenset({"method", "basis", "consequence", "procedure"})
"""Aspects of which the text of a provision as a whole is no answer."""

MAX_REQUIREMENTS = 24
"""Of one clause: a cross product beyond this says that the question was misread."""


def proposals(context: Context) -> list[Proposal]:
    """The requirements of a clause: typed ones, provisions that are asked for, else its topic. Never none."""
    out: list[Proposal] = []
    yes_or_no = whether(context)
    for build in _BUILDERS if yes_or_no is None else ():
        out.extend(build(context))
    if yes_or_no is not None:
        out = [yes_or_no]
    typed = [p for p in out if p.type not in (ListRequired, TopicRequired) or p.rule in _ALWAYS]
    if typed:
        # A plural noun after "qué" is a list only where nothing more exact was asked.
        out = typed
    elif any(p.type is ListRequired for p in out):
        out = [p for p in out if p.type is ListRequired]
    out = _placed(context, out)
    out.extend(_reference(context, out))
    if not out:
        out = [topic(context, "question", ())]
    return list(_per_source(context, list(marked(context, out))))[:MAX_REQUIREMENTS]


def _per_source(context: Context, found: Sequence[Proposal]) -> Iterable[Proposal]:
    """Each requirement once for every source that the clause names side by side."""
    for proposal in found:
        if "source" in proposal.slots:
            yield proposal
            continue
        for source in context.sources:
            slots = {**proposal.slots, "source": _own_source(context, source, proposal)}
            if len(context.sources) > 1:
                slots["label"] = context.labels.from_source(slots["label"], source)
            yield Proposal(proposal.type, proposal.rule, slots)


def _own_source(context: Context, source: Source, proposal: Proposal) -> Source:
    """The source without the words of names that stand beside the one this requirement is of."""
    side = coordinated(
        context.own.entities, context.folded, (context.clause.start, context.clause.end), context.language
    )
    own = set(" ".join(proposal.slots.get("entities", ())).split())
    others = {w for one in side for w in one.words} - own
    return replace(source, about=tuple(w for w in source.about if w not in others)) if own and others else source


def _placed(context: Context, found: list[Proposal]) -> list[Proposal]:
    """Provisions of the clause: where something typed is asked of one provision, it is that requirement's place;
    otherwise the provision itself is what is asked for."""
    uses = ("asked", "amended") if context.aspect in ("change", "former") else ("asked",)
    asked = list(dict.fromkeys(p.path for p in context.own.provisions if p.use in uses))
    if context.placed and found:
        asked = [context.placed]
    if len(asked) > 1 and (effects := _effects(context, found, asked)):
        return effects
    told = context.aspect in _WITHIN_PROVISION
    if len(asked) == 1 and (context.placed or told or any(_keeps(p) for p in found)):
        for proposal in found:
            proposal.slots["path"] = asked[0]
            proposal.slots["label"] = context.labels.in_provision(proposal.slots["label"], asked[0])
        return found
    kept = [p for p in found if _keeps(p)] if asked else found
    for path in asked:
        slots: dict[str, Any] = {"path": path, "label": context.labels.provision(path), "terms": context.terms()}
        holder = _holder(context, path)
        if holder is not None and len(context.sources) > 1:
            slots["source"] = holder
        kept.append(Proposal(ProvisionRequired, "provision", slots))
    return kept


def _keeps(proposal: Proposal) -> bool:
    """Whether something is asked of a provision, beside its text."""
    return proposal.type is not TopicRequired or bool(proposal.slots.get("whether"))


def _effects(context: Context, found: Sequence[Proposal], asked: Sequence[str]) -> list[Proposal]:
    """ "¿Cuándo entran en vigor los numerales 5.5 y 8.3?" asks for a date each, not for their texts."""
    if [p.type for p in found] != [DateRequired] or found[0].slots["role"] is not DateRole.EFFECT:
        return []
    out = []
    for path in asked:
        if path.startswith("trans"):  # that one holds the answer
            return []
        number = fold(path.rpartition(":")[2])
        label = context.labels.in_provision(found[0].slots["label"], path)
        slots = {**found[0].slots, "label": label, "entities": (number,)}
        out.append(Proposal(DateRequired, found[0].rule, slots))
    return out


def _reference(context: Context, found: Sequence[Proposal]) -> Iterable[Proposal]:
    """ "El convenio invoca su anexo 3: ¿qué fija?" takes two steps: what points on, and what it points to."""
    paths = {p.slots.get("path") for p in found if p.type is ProvisionRequired}
    stated = [h for c in context.stated for h in find(context.rules.of("cites"), context.folded, c)]
    if len(paths) == 1 and stated and stated[0].rule.attributes.get("points"):
        words = context.masked.terms(context.stated[0].start, context.stated[0].end)
        label = context.labels.topic(context.masked.phrase(context.stated[0].start, context.stated[0].end))
        slots = {"terms": words, "label": label, "aspect": "reference", "cited": paths.pop()}
        yield Proposal(TopicRequired, stated[0].rule.id, slots)


def _holder(context: Context, path: str) -> Source | None:
    """`el artículo 9 de la Ley X`: of several named instruments, the one right after the provision holds it."""
    for provision in context.own.provisions:
        for source in context.sources if provision.path == path else ():
            for one in context.own.instruments:
                if one.words == source.name and 0 <= one.start - provision.end <= 12:
                    return source
    return None


_BUILDERS: tuple[Callable[[Context], Iterable[Proposal]], ...] = (
    drafted,
    items,
    ranges,
    values,
    dates,
    simple(DeadlineRequired, "deadline", Labels.deadline),
    actors,
    definitions,
    simple(PublicationRequired, "publication", Labels.publication),
    sequence,
    also,
    lists,
    topics,
)


def with_id(proposal: Proposal, requirement_id: str, clause: Clause) -> Base:
    """The requirement itself."""
    slots = {"span": Span(start=clause.start, end=clause.end), **proposal.slots}
    return proposal.type(id=requirement_id, rule=proposal.rule, **slots)
