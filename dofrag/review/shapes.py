"""The parts of a run page, made from a trace: values only, whatever the trace holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.review.compare import Unquoted
from dofrag.review.passages import Shown, Source

Json = Mapping[str, Any]

TEXT_MAX = 4_000
"""Characters of one value at most; where a page shows more, it is a passage's text."""


def obj(value: Any) -> Json:
    """A JSON object, empty for anything else: nested values of a trace are not checked when it is read."""
    return value if isinstance(value, Mapping) else {}


def objs(value: Any, most: int = 500) -> list[Json]:
    """The objects of a list, `most` of them at most."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value[:most] if isinstance(item, Mapping)]


def text(value: Any) -> str:
    """A value as text, bounded; "" for None."""
    if value is None:
        return ""
    found = value if isinstance(value, str) else str(value)
    return found if len(found) <= TEXT_MAX else f"{found[:TEXT_MAX]}…"


def texts(value: Any, most: int = 100) -> list[str]:
    """A list of texts."""
    return [text(v) for v in value[:most]] if isinstance(value, list | tuple) else []


def number(value: Any) -> int | None:
    """A chunk's id or a count, None for anything else."""
    return value if type(value) is int else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A citation as the claim has it."""

    chunk_id: int | None
    quote: str
    start: object
    end: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A cited passage beside its claim: the quotes (text, id of its mark) in their context. `source` None: it was
    never read."""

    chunk_id: int | None
    source: Source | None
    shown: Shown | None
    quotes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """A sentence of the answer. `index` from 0, as in a verdict. `said` is its text beside its quotes,
    `computed` the operation that gave its value, as text."""

    index: int
    text: str
    said: Unquoted
    sub_questions: tuple[str, ...]
    computed: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One requirement, its final status, and what each passage did for it: chunk → "answers", "moved" or "cited"."""

    id: str
    label: str
    kind: str
    status: str
    cells: Mapping[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sub-question with its requirements and what it takes for granted."""

    id: str
    text: str
    origin: str
    status: str
    requirements: tuple[Requirement, ...]
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One line of what a call found: a publication or a passage, and whether it was read in the end."""

    chunk_id: int | None
    code: str
    title: str
    heading: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened, in the order of the trace. `kind` is the event's name, save that a call and its return
    are one step, `call`. `after_ms` is since the start; `took_ms` None where nothing came back."""

    kind: str
    turn: int
    after_ms: int
    title: str = ""
    why: str = ""
    took_ms: int | None = None
    ok: bool = True
    fields: tuple[tuple[str, str], ...] = ()
    found: tuple[Found, ...] = ()
    total: int | None = None
    shown: int = 0
    cost: str = ""
    read: tuple[int, ...] = ()
    changes: tuple[tuple[str, str, str, int | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftView:
    """A draft that was refused, and why: (code, where, message)."""

    turn: int
    claims: tuple[tuple[str, tuple[Quote, ...]], ...]
    faults: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """All that a run page shows of a trace."""

    question: str
    as_of: str
    corpus: str
    planner: str
    strategy: str
    started: str
    versions: Json
    scopes: tuple[str, ...]
    state: str
    reason: str
    closure: str
    message: str
    finished: bool
    answer: str
    premise_status: str
    correction: str
    claims: tuple[ClaimView, ...]
    partial: bool
    parts: tuple[Part, ...]
    sources: tuple[Source, ...]
    passages: Mapping[int, Shown]
    steps: tuple[Step, ...]
    drafts: tuple[DraftView, ...]
    dropped: tuple[tuple[str, int, str, str], ...]
    limits: tuple[tuple[str, object, object, bool], ...]
    limitations: tuple[str, ...]
    spend: Json
    faults: tuple[str, ...]
    checked: bool
    problems: tuple[tuple[int | None, str, str], ...]
    problem_count: int
    index_faults: tuple[str, ...]
    truncated: bool
    trace_sha256: str


def pairs(values: Json, most: int = 40) -> tuple[tuple[str, str], ...]:
    """Names and values of an object, as text; what is not set is left out."""
    kept: Iterable[tuple[str, Any]] = list(values.items())[:most]
    return tuple((text(k), _shown(v)) for k, v in kept if v not in (None, "", [], {}))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return text(", ".join(_shown(v) for v in value[:200]))
    return text(value)
