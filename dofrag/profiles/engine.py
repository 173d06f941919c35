"""The rule engine of a gazette profile: a question → sub-questions with typed requirements.

Everything that is particular to a language or a gazette is data (rules, aliases, messages) or comes through
`Language`. Pure and deterministic; work is bounded whatever the question is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, cast

from dofrag.domain.question import Base, Premise, Question, Requirement, SubQuestion
from dofrag.domain.records import dataclass
from dofrag.profiles.account import Word, content, courtesies, held_by, typed_spans, unaccounted
from dofrag.profiles.aliases import Aliases
from dofrag.profiles.build import proposals, with_id
from dofrag.profiles.clauses import Clause, Hit, find, has_accents, led, split
from dofrag.profiles.context import Context, Proposal
from dofrag.profiles.facts import Facts, read_facts, within
from dofrag.profiles.labels import Labels
from dofrag.profiles.language import Language
from dofrag.profiles.premises import premises_of
from dofrag.profiles.reach import as_windows, asked_after, beside, own_words, placed_by_context, tail
from dofrag.profiles.rules import RuleSet
from dofrag.profiles.sources import sources_of
from dofrag.profiles.terms import Masked
from dofrag.text.fold import fold, fold_chars, words
from dofrag.text.lexicon import legal_words

MAX_CHARS = 6_000
"""Characters of a question that are looked at; the command line refuses longer ones long before."""

REQUIREMENT_EMITS = (
    "drafted", "items", "range", "deadline", "date", "value", "definition", "publication", "actor", "compare",
    "sequence", "topic", "why", "list", "also",
)  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """Rules, names and words of one gazette. `identifiers` is the profile's own."""

    rules: RuleSet
    aliases: Aliases
    labels: Labels
    language: Language
    identifiers: Callable[[str], tuple[str, ...]]

    def decompose(self, question: Question) -> tuple[SubQuestion, ...]:
        """The parts of a question, one at least, each with requirements. Ids are `q1`, `q1.r1`, `q1.p1`."""
        text = question.text[:MAX_CHARS]
        folded = fold_chars(text)
        facts = self._facts(text, question.as_of)
        clauses = split(text, folded, self.rules, self.language)
        courtesy = courtesies(folded, self.rules)
        masked = Masked(
            text,
            [*_hidden(text, folded, facts, self.language), *courtesy],
            self.language,
            self.aliases.stop_words,
            self.aliases.instruments,
        )
        asking = [c for c in clauses if c.asks] or [Clause(0, len(text))]
        # "¿Cómo y en qué plazo…?": a bare word of asking that no row knows adds nothing to the part after it.
        spoken = tuple(content(text, self.language, frozenset(), courtesy))
        asking = [c for c in asking if not self._bare(folded, c, facts, spoken)] or asking[:1]
        said = self._said(text, folded)
        stated = [c for c in clauses if not c.asks]
        if stated and len(asking) == 1 and self._bare(folded, asking[0], facts, spoken):
            # "La cuota de amarre de 2031, ¿cuál era?": what is asked for stands in the statement.
            asking, stated = [led(Clause(stated[0].start, asking[0].end), folded, self.rules)], []
        facts = asked_after(facts, stated)
        subs: list[SubQuestion] = []
        for number, clause in enumerate(asking):
            # What is stated before the first part belongs to it: its provisions are asked for too.
            shared = tail(text, folded, beside(clause, asking), clause, facts, self.rules)
            reach = (*(stated if number == 0 else ()), *((shared,) if shared else ()), clause)
            context = self._context(text, folded, clause, reach, facts, masked, asking, said, shared)
            context = replace(context, scene=_scene(stated, folded, masked, self.rules))
            premises = premises_of(context, self.rules, reach)
            shown = own_words(text, folded, clause, self.language)
            if shared:
                shown += f" … {own_words(text, folded, shared, self.language)}"
            subs += _sub_questions(len(subs) + 1, shown, clause, context, premises)
        return tuple(subs)

    def _context(
        self,
        text: str,
        folded: str,
        clause: Clause,
        reach: Sequence[Clause],
        facts: Facts,
        masked: Masked,
        asking: Sequence[Clause],
        said: tuple[Word, ...],
        shared: Clause | None,
    ) -> Context:
        if find(tuple(r for r in self.rules.of("publication") if "window" in r.attributes), folded, clause):
            facts = as_windows(facts, clause, folded, self.language)
        own = within(facts, [(c.start, c.end) for c in reach])
        hits = [h for emits in REQUIREMENT_EMITS for h in find(self.rules.of(emits), folded, clause)]
        hits += [h for h in find(self.rules.of("compare"), folded, clause.whole) if h.start < clause.start]
        hits += find(self.rules.of("range"), folded, shared) if shared else []
        hits = [h for h in hits if not self._relative(text, folded, clause, h)]
        # "de 2025 a 2026" is no range of quantities.
        hits = [
            h
            for h in hits
            if h.rule.emits != "range" or not any(h.start < d.end and d.start < h.end for d in own.dates)
        ]
        sources = sources_of(own, facts, each=self.rules.any("each", folded[clause.start : clause.end]))
        return Context(
            text=text,
            folded=folded,
            clause=clause,
            hits=tuple(_without_overlaps(hits)),
            asked=tuple(sorted(hits, key=lambda h: (h.start, h.end, h.rule.id))),
            own=own,
            everything=facts,
            sources=sources,
            masked=masked,
            aliases=self.aliases,
            language=self.language,
            rules=self.rules,
            labels=self.labels,
            inherited_terms=self._elsewhere(folded, masked, clause, asking, own),
            placed=placed_by_context(facts, own, reach, asking),
            stated=tuple(c for c in reach if c is not clause),
            said=said,
            tail=shared,
        )

    def _elsewhere(
        self, folded: str, masked: Masked, clause: Clause, asking: Sequence[Clause], own: Facts
    ) -> tuple[str, ...]:
        """Subject words of the other parts, for a part that names none ("¿… y desde cuándo?"). What another part asks
        a list of ("¿qué superficie y qué municipios…?") is its own affair, and so is a noun asked for beside that of
        this part. A part that names its source or its indicator has no need of what is asked after it."""
        names = bool(own.instruments or own.identifiers or own.indicators or own.provisions or own.entities)
        nearest = sorted(asking, key=lambda c: (c.start > clause.start, abs(c.start - clause.start)))
        side = beside(clause, asking)
        if side:  # "el domicilio, el teléfono y el horario de la oficina": what they are of stands after the last
            nearest = [*reversed(side), *(c for c in nearest if c not in side)]
            if masked.terms(clause.start, clause.end) and clause is side[-1]:
                return ()
        alone = len(masked.terms(clause.start, clause.end)) == 1
        own_words = self._spans(folded, clause, "list", "noun", "opens", "value", "date", "deadline")
        said = masked.terms(clause.start, clause.end, own_words)
        if len(said) == 1 and find(self.rules.of("date"), folded, clause):
            said = ()  # "¿Qué día abrió y qué día cerró la recepción?": a verb without its subject
        found: list[tuple[str, ...]] = []
        for other in nearest:
            ahead = other.start > clause.start
            if other is clause or (ahead and (names or (said and other not in side))):
                continue
            emits = ("noun", "opens", "date", "deadline") if other in side else ("noun",) if alone else ()
            if terms := masked.terms(other.start, other.end, self._spans(folded, other, "list", *emits)):
                found.append(terms)
        # A single word ("¿… y en qué juicio?") says less of the subject than the part before it.
        return next((terms for terms in found if len(terms) > 1), found[0] if found else ())

    def _spans(self, folded: str, clause: Clause, *sorts: str) -> list[tuple[int, int]]:
        """The words of asking of these sorts of rows in a part; rows of one sort do not hide those of another."""
        return [span for sort in sorts for hit in find(self.rules.of(sort), folded, clause) for span in hit.spans]

    def _said(self, text: str, folded: str) -> tuple[Word, ...]:
        """The content words of a question; the plain words of asking and courtesies are none."""
        asking = self.aliases.stop_words | self.aliases.asking
        return tuple(content(text, self.language, asking, courtesies(folded, self.rules)))

    def unused(self, question: Question, subs: Sequence[SubQuestion]) -> tuple[str, ...]:
        """The content words of a question that no slot of these sub-questions holds: none, after `decompose`."""
        text = question.text[:MAX_CHARS]
        folded = fold_chars(text)
        facts = self._facts(text, question.as_of)
        requirements = [r for s in subs for r in s.requirements]
        premises = [p for s in subs for p in s.premises]
        told = frozenset(w for s in subs for w in s.typed)
        left = unaccounted(
            self._said(text, folded),
            held_by(requirements, premises),
            typed_spans(facts, requirements, premises),
        )
        return tuple(dict.fromkeys(w.text for w in left if w.text not in told))

    def _facts(self, text: str, as_of: date) -> Facts:
        return read_facts(
            text,
            as_of,
            rules=self.rules,
            aliases=self.aliases,
            language=self.language,
            identifiers=self.identifiers,
        )

    def _bare(self, folded: str, clause: Clause, facts: Facts, said: Sequence[Word]) -> bool:
        own = within(facts, [(clause.start, clause.end)])
        known = any(find(self.rules.of(emits), folded, clause) for emits in REQUIREMENT_EMITS)
        return not (known or own.provisions or own.indicators or any(clause.holds(w.start) for w in said))

    def _relative(self, text: str, folded: str, clause: Clause, hit: Hit) -> bool:
        """Whether a word of asking is a relative or a conjunction here: it has no accent, in a question that writes
        accents, and does not begin its part ("¿Qué presenta quien aspira…?")."""
        if hit.start <= clause.start + 3 or not has_accents(text, folded, self.rules, self.language):
            return False
        for word in re.finditer(r"[a-zñ]+", folded[hit.start : hit.end][:40]):
            if word.group() in self.language.interrogatives:
                at = hit.start + word.start()
                return text[at : at + len(word.group())].lower() == word.group()
        return False

    def asks_current(self, text: str) -> bool:
        """Whether a question is about what is in force now."""
        return self.rules.any("current", fold_chars(text[:MAX_CHARS]))

    def canonical_issuer(self, text: str) -> str:
        """The issuer that a name or an acronym stands for; the text itself if unknown."""
        alias = self.aliases.issuers.get(" ".join(fold(text).split()))
        return alias.name if alias else text

    def expansions(self) -> Mapping[str, tuple[str, ...]]:
        """Folded term → other terms to search: names of one thing for each other, and the profile's own pairs."""
        out: dict[str, tuple[str, ...]] = {}
        for names in (self.aliases.issuers, self.aliases.indicators, self.aliases.zones, self.aliases.instruments):
            for alias in names.entries:
                # A common word that only a capital makes a name (`Salud`) would widen every search for it.
                own = [a for a in alias.aliases if not a[0].isupper()]
                spellings = tuple(dict.fromkeys((*own, fold(alias.name))))
                for spelling in own:
                    out[spelling] = tuple(s for s in spellings if s != spelling)
        for said in (self.aliases.expansions, legal_words()):
            for term, others in said.items():
                key = fold(term)
                out[key] = tuple(dict.fromkeys((*out.get(key, ()), *map(fold, others))))
        return {term: others for term, others in sorted(out.items()) if others}


def placeholders(language: Language, aliases: Aliases) -> dict[str, str]:
    """What stands for `{N}`, `{Q}`, `{NOUN}`, `{ISSUER}` and `{ASKED}` in the patterns of a rules file."""
    return {
        "N": language.number,
        "Q": language.quantity,
        "NOUN": language.noun,
        "ISSUER": aliases.issuers.pattern,
        "ASKED": "|".join(aliases.asked) or "(?!)",
    }


def named_scopes(text: str, scopes: Iterable[str], aliases: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Which of these collections a question names: their name, or one of its aliases, as whole words."""
    words = f" {' '.join(_plain(text[:MAX_CHARS]))} "
    return frozenset(
        scope
        for scope in scopes
        if any(f" {' '.join(_plain(name))} " in words for name in (scope, *aliases.get(scope, ())) if _plain(name))
    )


def _plain(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in fold(text)).split()


def _sub_questions(
    number: int, text: str, clause: Clause, context: Context, premises: Sequence[Premise]
) -> Iterator[SubQuestion]:
    """The sub-question of a part; of a chronology, one for each of the stages that it names apart."""
    found = proposals(context)
    spans = list(dict.fromkeys(p.slots["span"] for p in found if "span" in p.slots))
    reach = tuple((c.start, c.end) for c in (*context.stated, clause))
    if len(spans) < 2 or not all("span" in p.slots for p in found):
        yield _sub_question(f"q{number}", text, found, reach, clause, context, premises)
        return
    lead = Clause(clause.start, min(s.start for s in spans))
    for n, span in enumerate(spans):
        stage = Clause(span.start, span.end)
        shown = (own_words(context.text, context.folded, c, context.language) for c in (lead, stage))
        own = [p for p in found if p.slots["span"] == span]
        kept = premises if n == 0 else ()
        near = ((lead.start, lead.end), (stage.start, stage.end), *(reach[:-1] if n == 0 else ()))
        yield _sub_question(f"q{number + n}", " … ".join(shown), own, near, clause, context, kept)


def _sub_question(
    name: str,
    text: str,
    found: Sequence[Proposal],
    reach: Sequence[tuple[int, int]],
    clause: Clause,
    context: Context,
    premises: Sequence[Premise],
) -> SubQuestion:
    built = [with_id(p, f"{name}.r{n}", clause) for n, p in enumerate(found, 1)]
    rules = [r.rule for r in built if r.rule not in ("question", "provision")]
    typed = [*typed_spans(context.own, built, premises), *_asking(context, built)]
    said = [w for w in context.said if any(a <= w.start < b for a, b in reach)]
    # What no slot of the part holds is left over to each of its requirements: no word is lost.
    residue = tuple(dict.fromkeys(w.text for w in unaccounted(said, held_by(built, premises), typed)))
    told = [w.text for w in said if any(a <= w.start and w.end <= b for a, b in typed)]
    polite = (span for span in courtesies(context.folded, context.rules) if any(a <= span[0] < b for a, b in reach))
    told += [w for a, b in polite for w in words(context.folded[a:b])]
    return SubQuestion(
        id=name,
        text=text,
        current=context.rules.any("current", context.folded[clause.start : clause.end]),
        origin=f"rule:{rules[0]}" if rules else "question",
        requirements=tuple(cast(list[Requirement], [replace(r, residue=residue) for r in built])),
        premises=tuple(replace(p, id=f"{name}.p{n}") for n, p in enumerate(premises, 1)),
        question=context.text,
        typed=tuple(dict.fromkeys(told)),
    )


def _asking(context: Context, built: Sequence[Base]) -> Iterator[tuple[int, int]]:
    """The words of the rows that found a typed requirement. What a value is called (*multa*, *cuota*) is no word of
    asking, beside the plain ones (*monto*, *valor*)."""
    rows = {r.rule for r in built}
    for hit in context.asked:
        if hit.rule.id in rows and hit.rule.emits != "value":
            yield from hit.spans
    for clause in (*context.stated, context.clause):
        for emits in ("cites", "current"):
            yield from ((h.start, h.end) for h in find(context.rules.of(emits), context.folded, clause))


def _scene(stated: Sequence[Clause], folded: str, masked: Masked, rules: RuleSet) -> tuple[str, ...]:
    """The subject words of what is stated before the first part, unless that says what the answer is wanted for."""
    telling = [c for c in stated if not rules.of("purpose")[0].pattern.match(folded, c.start, c.end)]
    return tuple(dict.fromkeys(w for c in telling for w in masked.terms(c.start, c.end)))


def _hidden(text: str, folded: str, facts: Facts, language: Language) -> list[tuple[int, int]]:
    """Stretches that a slot holds: they are no part of the subject."""
    spans: list[Any] = [
        *facts.dates,
        *facts.identifiers,
        *facts.issuers,
        *facts.frequencies,
        *facts.zones,
        *facts.editions,
    ]
    spans += [p for p in facts.provisions if p.use != "cited"]
    spans += [i for i in facts.instruments if i.use == "source"]
    spans += [*facts.measures, *facts.cites]
    numerals = re.compile(language.number)
    figures = [
        m for n in language.find_numbers(text) if n.kind != "ordinal" and (m := numerals.match(folded, n.start))
    ]
    return [m.span() for m in figures] + [(s.start, s.end) for s in spans]


def _without_overlaps(hits: list[Any]) -> list[Any]:
    """Hits of different sorts may not read the same words twice: the sort that comes first keeps them. A comparison
    and a value, or a reason, may share theirs."""
    kept: list[Any] = []
    for hit in hits:
        free = hit.rule.emits in ("compare", "why")
        if free or not any(
            k.start < hit.end and hit.start < k.end and k.rule.emits not in ("compare", "why") for k in kept
        ):
            kept.append(hit)
    return sorted(kept, key=lambda h: (h.start, h.end, h.rule.id))
