"""A question cut into its parts: each clause that asks, and what stands before them as context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dofrag.profiles.language import Language
from dofrag.profiles.rules import Rule, RuleSet

MAX_CLAUSES = 12
"""Parts of one question at most; what is beyond stays in the last one."""


_WITHIN = {"first": 3, "start": 14}
"""`at` of a rule: how far from the beginning of its part it may begin."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Characters `[start, end)` of the question. `asks` is False for context that states something."""

    start: int
    end: int
    asks: bool = True

    def holds(self, at: int) -> bool:
        return self.start <= at < self.end


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule found at `[start, end)`, with its named groups."""

    rule: Rule
    start: int
    end: int
    groups: dict[str, str]


def split(text: str, folded: str, rules: RuleSet, language: Language) -> tuple[Clause, ...]:
    """The parts of a question, in order, at least one that asks."""
    starts = list(_asking(text, folded, rules, language))[:MAX_CLAUSES]
    if not starts:
        return (Clause(0, len(text)),)
    clauses: list[Clause] = []
    if _asks_before(text, folded, starts[0], rules, language):
        starts.insert(0, 0)  # "Quiero saber cuándo…, y quién…"
    before = text[: starts[0]]
    if any(c.isalnum() for c in before):
        # "Dime qué…": a few words that only introduce the question belong to it.
        if ":" in before or "¿" in before or "," in before or "?" in before or "." in before:
            clauses.append(Clause(0, starts[0], asks=False))
        else:
            starts[0] = 0
    for at, after in zip(starts, [*starts[1:], len(text)], strict=True):
        clauses.append(Clause(at, after))
    return tuple(clauses)


def _asks_before(text: str, folded: str, end: int, rules: RuleSet, language: Language) -> bool:
    """Whether a word of asking, though no joint stands before it, asks already before `end`."""
    accented = has_accents(text, folded, rules, language)
    for rule in rules.of("ask"):
        for match in rule.pattern.finditer(folded, 0, end):
            word = folded[match.start() : match.end()].rsplit(" ", 1)[-1]
            plain = text[match.end() - len(word) : match.end()].lower() == word
            if not (plain and accented and word in language.interrogatives):
                return True
    return False


def _asking(text: str, folded: str, rules: RuleSet, language: Language) -> Iterator[int]:
    """Where parts begin: a word of asking after a joint. Words that are conjunctions too must carry their accent,
    unless the whole question is written without any."""
    found = [m for r in rules.of("ask") for m in r.pattern.finditer(folded)]
    spoken = [(m, folded[m.start() : m.end()].rsplit(" ", 1)[-1]) for m in found]
    accented = has_accents(text, folded, rules, language)
    for match, word in spoken:
        original = text[match.end() - len(word) : match.end()].lower()
        before = folded[max(0, match.start() - 16) : match.start()]
        if not language.joint.search(before):
            continue
        opened = before.rstrip().endswith("¿")
        if accented and word in language.interrogatives and original == word and not opened:
            continue
        yield match.start()


def has_accents(text: str, folded: str, rules: RuleSet, language: Language) -> bool:
    """Whether some word of asking is written with its accent."""
    for rule in rules.of("ask"):
        for match in rule.pattern.finditer(folded):
            word = folded[match.start() : match.end()].rsplit(" ", 1)[-1]
            if word in language.interrogatives and text[match.end() - len(word) : match.end()].lower() != word:
                return True
    return False


def find(rules: tuple[Rule, ...], folded: str, clause: Clause) -> list[Hit]:
    """Hits of these rules in a clause, in order of place. An earlier row takes its characters from later ones."""
    taken: list[tuple[int, int]] = []
    hits: list[Hit] = []
    for rule in rules:
        for match in rule.pattern.finditer(folded, clause.start, clause.end):
            start, end = match.span()
            if start - clause.start > _WITHIN.get(rule.attributes.get("at", ""), start):
                continue
            if start == end or any(s < end and start < e for s, e in taken):
                continue
            taken.append((start, end))
            hits.append(Hit(rule, start, end, {k: v for k, v in match.groupdict().items() if v is not None}))
            if len(hits) >= 64:
                return sorted(hits, key=lambda h: h.start)
    return sorted(hits, key=lambda h: h.start)
