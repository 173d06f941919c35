"""A question, its parts, and what each part requires.

A requirement is a tagged union: one frozen dataclass a type, slots instead of labels. Two slots are shared by
all of them: `Source` (which publication may answer) and `Period` (which dates the value is about). Code that
acts on a requirement matches exhaustively and ends in `assert_never`.
"""

from __future__ import annotations

from dataclasses import field
from datetime import date
from enum import StrEnum

from dofrag.domain.records import dataclass


class Status(StrEnum):
    """How far a requirement or a sub-question has come, in this order."""

    OPEN = "open"  # nothing read bears on it
    READ = "read"  # a passage from the right source was read, without the value
    SUPPORTED = "supported"  # a read passage supports it
    ANSWERED = "answered"  # … and an accepted claim cites that passage
    CONTRADICTED = "contradicted"  # cited evidence holds another value than the question presupposes
    NOT_FOUND = "not_found"  # searched for, and the scope of the search is recorded


class DateRole(StrEnum):
    """What a date is the date of. Roles never stand in for each other."""

    DATUM = "datum"  # the day the value was obtained or is of
    PUBLICATION = "publication"
    EFFECT = "effect"  # entry into force, start of validity
    END = "end"  # the last day on which it holds, or the day on which it ceases to: never the start
    SIGNATURE = "signature"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Half-open range of characters in the question."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Which publication may answer. Every slot that is filled must agree; an empty one asks nothing.

    `published_from`/`published_to` are inclusive. `name` holds the folded content words of a named instrument,
    `about` those that describe one without naming it ("el decreto de los muelles"): a title may use other words.
    """

    issuer: str | None = None  # canonical issuer, resolved by the profile's aliases
    name: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    identifier: str | None = None
    published_from: date | None = None
    published_to: date | None = None
    edition: str | None = None
    gazette_only: bool = False  # the question speaks of what was *published*: a consolidated law will not do


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The dates that a value is about; inclusive, with the role they play."""

    start: date
    end: date
    role: DateRole = DateRole.DATUM


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What every requirement carries. `id` is unique in a run ("q1.r2"); `label` is for people, in the
    question's language; `rule` names the profile rule that found it (or "question", "planner").

    `aspect` says what of the subject is asked, where a passage has to perform it and not just hold its words:
    "method", "basis", "consequence", "correction", "change", "former" (what a text said before), "operative" (what
    was resolved or ordered), "validity" (whether it is still in force), "repeal", "replacement", "extension",
    "procedure", "difference", "identifier" (a file, a trial), "unit", "reference" (a provision that points on).

    `negated`: asked is who or what does *not* (may not, is not obliged, is excluded): the sentence has to deny it.
    `whether`: asked is if something is so: the sentence that says so holds the proposition, with the figures of
    `stated` ("5 boyas", "cada tres años", as the question spells them).
    """

    id: str
    label: str
    rule: str
    terms: tuple[str, ...] = ()  # folded content words of the subject
    context: tuple[str, ...] = ()  # words of the part that this one continues: they tell which, `terms` tell what
    residue: tuple[str, ...] = ()  # further content words of the part, which no other slot holds
    entities: tuple[str, ...] = ()  # folded names, acronyms and codes: each is named, no sibling will do
    aspect: str | None = None
    negated: bool = False
    whether: bool = False
    stated: tuple[str, ...] = ()
    cited: str | None = None  # canonical path of a provision that the answering sentence invokes
    path: str | None = None  # canonical path of the provision that must hold the answer ("art:3"), if one is named
    source: Source = field(default_factory=Source)
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRequired(Base):
    """A number with its unit: an amount, a rate, an index value, a surface, a count stated in the text."""

    indicator: str | None = None  # canonical indicator: "UMA", "INPC", "tipo de cambio"…
    names: tuple[str, ...] = ()  # further spellings of the indicator: "Unidad de Medida y Actualización"
    unit: str | None = None  # canonical unit: "MXN", "percent", "points", "m2", "days"…
    frequency: str | None = None  # "daily" | "monthly" | "annual"
    period: Period | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRequired(Base):
    """A date in a given role. `period` is what the dated thing is of (the values *of 2026* …), not the date."""

    role: DateRole
    period: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineRequired(Base):
    """A length of time to do something: count, unit, and what it runs from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorRequired(Base):
    """Who: an authority, an obliged party, a signatory. `action` is the folded verb of what it does or has to do."""

    role: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRequired(Base):
    """The sentence that defines a term."""

    term: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRequired(Base):
    """What holds for one interval of a quantity. `low`/`high` None means unbounded; bounds are inclusive
    unless said otherwise."""

    low: float | None
    high: float | None
    low_inclusive: bool = True
    high_inclusive: bool = True
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRequired(Base):
    """The n-th distinct item of one list that the question says has `of` items."""

    ordinal: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequired(Base):
    """A whole list of unknown length; complete when its boundaries were read. `period` is what it is of."""

    period: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionRequired(Base):
    """The text of one provision, by its canonical path ("art:3", "num:5.2", "trans:2")."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationRequired(Base):
    """What was published, by whom, when: identity and act of a publication. A title may support it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequired(Base):
    """No known type: the content words themselves must be answered by one passage. Never a free pass."""

    period: Period | None = None


Requirement = (
    ValueRequired
    | DateRequired
    | DeadlineRequired
    | ActorRequired
    | DefinitionRequired
    | RangeRequired
    | ItemRequired
    | ListRequired
    | ProvisionRequired
    | PublicationRequired
    | TopicRequired
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """Something that the question takes for granted and that a source can confirm or correct.

    `slot` names what is presupposed: "exists", "number", "date", "instrument", "act", "provision", "value" (what an
    amount was fixed at), "amended" (which instrument a reform changed), "amount" (a figure with its unit or noun that
    something is said to be, whatever that is: "cien litros", "cada cinco años"; `terms` are the folded content words
    of what it is said of, `unit` is canonical, None for a unit without a canonical name).
    """

    id: str
    slot: str
    label: str
    expected: str
    terms: tuple[str, ...] = ()
    unit: str | None = None
    source: Source = field(default_factory=Source)
    stated: bool = False  # stands before the question, which builds on it: a passage has to say it


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestion:
    """One part of the question. It has at least one requirement, always. `current`: it asks for what is in force at
    the cut-off, so that the newest member of a series, or the latest amending act, has to be looked for."""

    id: str
    text: str
    origin: str  # "rule:…" | "question" | "planner"
    requirements: tuple[Requirement, ...]
    premises: tuple[Premise, ...] = ()
    current: bool = False
    question: str = ""  # the question that this is a part of: repeating it answers nothing
    typed: tuple[str, ...] = ()  # folded words of `text` that a slot holds in other words: an alias, a date, a unit

    def __post_init__(self) -> None:
        if not self.requirements:
            raise ValueError(f"sub-question {self.id!r} requires nothing: it could close without an answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a run is asked. `as_of` is the publication cut-off: nothing published later exists for the run.
    `scopes` are the restricted collections that the caller may read, besides the public one."""

    text: str
    as_of: date
    scopes: frozenset[str] = frozenset()
