"""A question cut into its parts: each clause that asks, and what stands before them as context."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from dofrag.domain.records import dataclass
from dofrag.profiles.language import Language
from dofrag.profiles.rules import Rule, RuleSet

MAX_CLAUSES = 12
"""Parts of one question at most; what is beyond stays in the last one."""
MAX_LEADS = 3
"""Orders and needs, one after the other, that lead up to one part."""


_WITHIN = {"first": 3, "start": 14}
"""`at` of a rule: how far from the beginning of its part it may begin."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Characters `[start, end)` of the question. `asks` is False for context that states something."""

    start: int
    end: int
    asks: bool = True
    side: bool = False  # asks for a noun beside the one that the part before asks for
    lead: int = -1  # where what leads up to it begins; -1 where nothing does

    @property
    def whole(self) -> Clause:
        """The part with what leads up to it."""
        return self if self.lead < 0 else Clause(self.lead, self.end, self.asks, self.side)

    def holds(self, at: int) -> bool:
        return self.start <= at < self.end


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule found at `[start, end)`, with its named groups. `gap` is what it passes over: words of the subject that
    stand between a word of asking and its verb."""

    rule: Rule
    start: int
    end: int
    groups: dict[str, str]
    gap: tuple[int, int] | None = None

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The stretches that are the rule's own words."""
        return ((self.start, self.gap[0]), (self.gap[1], self.end)) if self.gap else ((self.start, self.end),)


def split(text: str, folded: str, rules: RuleSet, language: Language) -> tuple[Clause, ...]:
    """The parts of a question, in order, at least one that asks."""
    starts = list(_asking(text, folded, rules, language))
    if starts and _asks_before(text, folded, starts[0], rules, language):
        starts.insert(0, 0)  # "Quiero saber cuándo…, y quién…"
    starts = _opened(folded, starts, language)
    every = _coordinated(folded, starts, rules, language)[:MAX_CLAUSES]
    beside = set(every) - set(starts) - {0}
    starts = every
    if not starts:
        return (led(Clause(0, len(text)), folded, rules),)
    clauses: list[Clause] = []
    before = text[: starts[0]]
    if any(c.isalnum() for c in before):
        # "Dime qué…": a few words that only introduce the question belong to it.
        if ":" in before or "¿" in before or "," in before or "?" in before or "." in before:
            clauses.append(Clause(0, starts[0], asks=False))
        else:
            starts[0] = 0
    for at, after in zip(starts, [*starts[1:], len(text)], strict=True):
        clauses.append(led(Clause(at, after, side=at in beside), folded, rules))
    return tuple(clauses)


def led(clause: Clause, folded: str, rules: RuleSet) -> Clause:
    """A part without what only leads up to it: an order, a need, what it is needed for ("Para cobrar la fianza
    necesito la cuota…"). What is left has to say something."""
    start = clause.start
    for _ in range(MAX_LEADS):
        at = start + len(folded[start : clause.end]) - len(folded[start : clause.end].lstrip(" ¿¡.,;:"))
        match = next((m for r in rules.of("lead") if (m := r.pattern.match(folded, at, clause.end))), None)
        if match is None or not any(c.isalnum() for c in folded[match.end() : clause.end]):
            break
        start = match.end()
    return replace(clause, start=start, lead=clause.start) if start != clause.start else clause


def _opened(folded: str, starts: list[int], language: Language) -> list[int]:
    """The beginnings of parts, with those of sentences that ask without a word of asking: one that is closed as a
    question ("¿Rige la cuota? ¿Desde cuándo?"), or that a conjunction joins to a word of asking ("¿La veda alcanza a
    los botes y desde cuándo?"). What a comma joins to the first part is its context."""
    out = list(starts)
    opens = [m.end() for m in _OPENS.finditer(folded)][: 4 * MAX_CLAUSES]
    first = starts[0] if starts else len(folded)
    stops = [m.end() for m in _STOPS.finditer(folded, 0, first)]
    for at in sorted({*opens, stops[-1] if stops else 0}):
        following = next((s for s in starts if s >= at), len(folded))
        end = min(following, next((m.start() for m in _CLOSES.finditer(folded, at)), len(folded)))
        if not any(c.isalnum() for c in folded[at:end]):
            continue
        joined = end == following < len(folded) and language.conjoined.search(folded, at, end)
        closed = end < following and folded[end : end + 1] == "?"
        if joined or (closed and (at in opens or not starts)):
            out.append(at)
        elif end == following and following in out and starts[0] < at:
            out[out.index(following)] = at  # "¿Cuánto cuesta? ¿Para los botes, desde cuándo?"
    return sorted(set(out))


_OPENS = re.compile(r"¿ {0,3}|(?<=\?) {1,3}(?=[^¿]{1,2000}\?)")
_CLOSES = re.compile(r"[?¿]")
_STOPS = re.compile(r"[¿?!:;] {0,3}|(?<=[a-zñ]{3}\.) ")


def _coordinated(folded: str, starts: list[int], rules: RuleSet, language: Language) -> list[int]:
    """The beginnings of parts, with those of nouns that are asked for side by side: "¿Cuál es la cuota de amarre y el
    plazo?", "¿Cuál fue el índice y su variación?". A noun that is the object of a verb between is not asked for."""
    out: list[int] = []
    for at, after in itertools.pairwise((*(starts or [0]), len(folded))):
        out.append(at)
        clause = Clause(at, after)
        opening = next(iter(find(rules.of("opens"), folded, clause)), None)
        if opening is None or find(rules.of("sequence", "compare"), folded, clause):
            continue
        head = opening.end
        noun = folded.rfind(" ", clause.start, head) + 1
        series = language.series.match(folded, noun, after)
        if series and opening.rule.attributes.get("noun") != "object":  # "la población, superficie y capital"
            out += [series.start() + m.start() for m in _NOUN.finditer(series["list"])][1:]
            continue
        for hit in find(rules.of("more"), folded, Clause(head, after)):
            between = folded[head : hit.start]
            if any(r.pattern.search(between) for r in rules.of("governed")) and "sure" not in hit.groups:
                break
            if opening.rule.attributes.get("noun") == "object" and not _COMPLEMENT.match(between):
                break
            out.append(hit.start + len(hit.groups["joint"]))
            head = hit.end
    return out if starts or len(out) > 1 else []


_NOUN = re.compile(r"(?!(?:y|e)\b)[a-zñ]{2,}")
_COMPLEMENT = re.compile(r"(?:$|,| (?:del?|por|en|al?|para)\b)")


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
            groups = {k: v for k, v in match.groupdict().items() if v is not None}
            gap = match.span("gap") if groups.pop("gap", "") else None
            hits.append(Hit(rule, start, end, groups, gap))
            if len(hits) >= 64:
                return sorted(hits, key=lambda h: h.start)
    return sorted(hits, key=lambda h: h.start)
