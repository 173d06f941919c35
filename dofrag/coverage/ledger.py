"""What the read passages cover, requirement by requirement. Pure: the same passages give the same ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dofrag.coverage.interface import Coverage, Support
from dofrag.coverage.links import linked
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage
from dofrag.domain.question import ItemRequired, PublicationRequired, Requirement, Status, SubQuestion

__all__ = ["Coverage", "assess", "hold_to_one_list", "supports"]

Found = tuple[int, Support]
"""A chunk id and what its passage does for one requirement."""

_ORDER = (Status.OPEN, Status.READ, Status.SUPPORTED)


def supports(sub: SubQuestion, passages: Iterable[PreparedPassage]) -> dict[str, tuple[Found, ...]]:
    """For each requirement of one sub-question, every passage that bears on it, supported first, in reading order
    otherwise. The items of one stated list are held to one list: that of which most were read."""
    read = tuple(passages)
    found: dict[str, tuple[Found, ...]] = {}
    for requirement in sub.requirements:
        bearing = [(p.id, s) for p in read if (s := meets(requirement, p, sub)).status is not Status.OPEN]
        # Where a consolidated law and the gazette say the same, the gazette is what was published.
        consolidated = {p.id for p in read if p.passage.publication.consolidated}
        bearing.sort(key=lambda pair: (not pair[1].supported, -pair[1].rank, pair[0] in consolidated))
        if not any(s.supported for _, s in bearing):
            # What no passage says alone, two may say together.
            together = linked(requirement, sub, {p.id: p for p in read})
            bearing = [*((k.chunk_id, k.support) for k in together), *bearing]
        found[requirement.id] = tuple(bearing)
    return hold_to_one_list(sub.requirements, found)


def hold_to_one_list(
    requirements: Sequence[Requirement], found: Mapping[str, tuple[Found, ...]]
) -> dict[str, tuple[Found, ...]]:
    """Keep, for each stated list, only the items that stand in its best list, and each item's text once: three of
    seven from one article and four from another are not seven."""
    kept = dict(found)
    for items in _lists(requirements):
        groups: dict[str, set[str]] = {}
        for item in items:
            for _, support in found[item.id]:
                if support.supported:
                    groups.setdefault(support.group, set()).update(support.values)
        if not groups:
            continue
        best = min(groups, key=lambda g: (-len(groups[g]), g))
        used: set[str] = set()
        for item in items:
            mine = []
            for chunk_id, support in found[item.id]:
                if not support.supported or (support.group == best and not used.intersection(support.values)):
                    mine.append((chunk_id, support))
            used.update(v for _, s in mine for v in s.values)
            kept[item.id] = tuple(mine)
    return _apart(requirements, kept)


def _apart(requirements: Sequence[Requirement], found: dict[str, tuple[Found, ...]]) -> dict[str, tuple[Found, ...]]:
    """Requirements that ask for the same thing several times are each met by a sentence of its own."""
    groups: dict[object, list[Requirement]] = {}
    for requirement in requirements:
        if not isinstance(requirement, (ItemRequired, PublicationRequired)):
            groups.setdefault(replace(requirement, id="", label=""), []).append(requirement)
    for twins in groups.values():
        used: set[object] = set()
        for requirement in twins if len(twins) > 1 else ():
            mine = tuple(
                (i, s) for i, s in found[requirement.id] if not s.supported or (i, s.proofs[0].spans) not in used
            )
            used.update((i, s.proofs[0].spans) for i, s in [m for m in mine if m[1].supported][:1])
            found[requirement.id] = mine
    return found


def _lists(requirements: Sequence[Requirement]) -> list[list[ItemRequired]]:
    groups: dict[object, list[ItemRequired]] = {}
    for requirement in requirements:
        if isinstance(requirement, ItemRequired):
            key = (requirement.of, requirement.terms, requirement.source)
            groups.setdefault(key, []).append(requirement)
    return list(groups.values())


def assess(sub_questions: Sequence[SubQuestion], prepared: Mapping[int, PreparedPassage]) -> Coverage:
    """The state of every requirement, and of every sub-question: the least of its requirements."""
    read = tuple(prepared.values())
    status: dict[str, Status] = {}
    support: dict[str, tuple[int, ...]] = {}
    counts: dict[str, tuple[int, int]] = {}
    for sub in sub_questions:
        found = supports(sub, read)
        for requirement in sub.requirements:
            pairs = found[requirement.id]
            support[requirement.id] = tuple(chunk_id for chunk_id, s in pairs if s.supported)
            status[requirement.id] = max((s.status for _, s in pairs), key=_ORDER.index, default=Status.OPEN)
        for items in _lists(sub.requirements):
            met = sum(status[item.id] is Status.SUPPORTED for item in items)
            counts.update({item.id: (met, len(items)) for item in items})
        status[sub.id] = min((status[r.id] for r in sub.requirements), key=_ORDER.index)
    return Coverage(status, support, counts)
