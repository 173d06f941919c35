"""What belongs to a part of a question: its own words, what it shares with those beside it, what context gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dofrag.domain.question import DateRole
from dofrag.profiles.clauses import Clause, find
from dofrag.profiles.facts import Facts, joined
from dofrag.profiles.language import Language
from dofrag.profiles.rules import RuleSet


def own_words(text: str, folded: str, clause: Clause, language: Language) -> str:
    """The clause as it was asked, without the signs and conjunctions that join it to the next."""
    end = clause.end
    for _ in range(3):  # "…, y además"
        end = clause.start + len(folded[clause.start : end].rstrip(" ¿?¡!,;:.(\n\t"))
        joint = (
            language.joint.search(folded + " ", max(clause.start + 1, end - 16), end + 1)
            if end < len(folded)
            else None
        )
        if joint is None:
            break
        end = joint.start()
    return text[clause.start : end].strip(" ¿?,;\n\t") or text.strip()[:200] or "?"


def as_windows(facts: Facts, clause: Clause, folded: str, language: Language) -> Facts:
    """ "¿Hubo aclaración entre enero y marzo?": whether an act was published asks when it was."""
    dates = tuple(
        replace(d, role=DateRole.PUBLICATION.value) if d.role == DateRole.DATUM and clause.holds(d.start) else d
        for d in facts.dates
    )
    return replace(facts, dates=joined(dates, folded, language))


def beside(clause: Clause, asking: Sequence[Clause]) -> list[Clause]:
    """The parts that ask for nouns side by side, this one among them; empty where it stands alone."""
    at = asking.index(clause)
    first = last = at
    while first > 0 and asking[first].side:
        first -= 1
    while last + 1 < len(asking) and asking[last + 1].side:
        last += 1
    return list(asking[first : last + 1]) if last > first else []


def tail(
    text: str, folded: str, side: Sequence[Clause], clause: Clause, facts: Facts, rules: RuleSet
) -> Clause | None:
    """What stands after the last of several nouns asked for side by side and is said of them all: dates, sources,
    provisions, sizes, and what follows them ("la cuota y el plazo de los botes en 2031, según la Ley de Faros")."""
    if len(side) < 2 or clause is side[-1]:
        return None
    last = side[-1]
    slots: list[Any] = [*facts.dates, *facts.instruments, *facts.identifiers, *facts.provisions]
    starts = [s.start for s in slots if last.holds(s.start)]
    starts += [h.start for h in find(rules.of("shared", "range"), folded, last)]
    at = min(starts, default=last.end)
    return Clause(at, last.end, asks=False) if any(c.isalnum() for c in text[at : last.end]) else None


def asked_after(facts: Facts, stated: Sequence[Clause]) -> Facts:
    """ "El convenio invoca su anexo 3: ¿qué fija?": what a statement invokes is what is asked for after it."""
    provisions = tuple(
        replace(p, use="asked") if p.use == "cited" and any(c.holds(p.start) for c in stated) else p
        for p in facts.provisions
    )
    return replace(facts, provisions=provisions)


def placed_by_context(facts: Facts, own: Facts, reach: Sequence[Clause], asking: Sequence[Clause]) -> str | None:
    """The provision that the context names, for a later part that names none ("El transitorio difirió el numeral
    5.2: ¿qué contiene…, y a quién aplica?")."""
    if own.provisions or len(reach) > 1:
        return None
    stated = [p for p in facts.provisions if p.use == "asked" and not any(c.holds(p.start) for c in asking)]
    paths = {p.path for p in stated if not p.path.startswith("trans")}
    return paths.pop() if len(paths) == 1 else None
