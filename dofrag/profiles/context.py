"""What the builders of one part of a question work with, and what they propose."""

from __future__ import annotations

from typing import Any

from dofrag.domain.question import Base, DateRole, Source
from dofrag.domain.records import dataclass
from dofrag.profiles.account import Word
from dofrag.profiles.aliases import Aliases
from dofrag.profiles.clauses import Clause, Hit, find
from dofrag.profiles.facts import Facts
from dofrag.profiles.labels import Labels
from dofrag.profiles.language import Language
from dofrag.profiles.rules import RuleSet
from dofrag.profiles.terms import Masked


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
    asked: tuple[Hit, ...]  # the same, with those that read the same words as another sort
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
    said: tuple[Word, ...] = ()  # the content words of the question
    tail: Clause | None = None  # what stands after the last of several nouns asked side by side, and is said of all
    stated: tuple[Clause, ...] = ()  # what is stated before the first part, for that part
    scene: tuple[str, ...] = ()  # subject words of what is stated before the first part, for every part

    @property
    def aspect(self) -> str | None:
        """What of its subject the part asks: that of the first words of asking that say so, else of a row for it."""
        said = [h.rule.attributes["aspect"] for h in self.asked if "aspect" in h.rule.attributes]
        rows = find(self.rules.of("aspect"), self.folded, self.clause)
        return next(iter((*said, *(h.rule.attributes["aspect"] for h in rows))), None)

    @property
    def names_source(self) -> bool:
        """Whether a slot of the source is filled, beside how the question describes it."""
        first = self.sources[0]
        return first != Source(gazette_only=first.gazette_only, about=first.about)

    @property
    def negated(self) -> bool:
        """Whether the part asks who, what or when *not*."""
        return bool(find(self.rules.of("negated"), self.folded, self.clause))

    def of(self, *emits: str) -> tuple[Hit, ...]:
        return tuple(h for h in self.hits if h.rule.emits in emits)

    def terms(self, *hits: Hit, start: int | None = None, end: int | None = None) -> tuple[str, ...]:
        """Content words of the clause, or of a stretch of it, without slots and without the words of these hits."""
        found = self.masked.terms(
            self.clause.start if start is None else start,
            self.clause.end if end is None else end,
            [span for h in hits for span in h.spans],
        )
        if self.tail is not None and start is None and end is None:
            shared = self.masked.terms(self.tail.start, self.tail.end, [span for h in hits for span in h.spans])
            found = tuple(dict.fromkeys((*found, *shared)))
        if not found and self.scene:
            return self.scene  # "La multa a la Junta, ¿de cuánto fue?"
        if len(found) > 1 or self.names_source:
            return found
        # A part that names neither a source nor a subject of its own speaks of that of another part.
        return tuple(dict.fromkeys((*found, *self.inherited_terms[:5])))

    def spelled(self, hit: Hit, words: str) -> str:
        """Folded words of a hit as the question spells them."""
        at = self.folded.find(words, hit.start)
        return self.text[at : at + len(words)] if at >= 0 else words

    @property
    def states_effect(self) -> bool:
        """Whether the part states from when something holds."""
        return any(d.role == DateRole.EFFECT for d in self.own.dates)
