"""The events of a trace: a closed set, one frozen dataclass each.

A field's name in JSON is its own name, or the `json` entry of its metadata where that name is a Python keyword.
Fields typed `JsonObject` hold JSON values already (`codec.jsonable` makes them from domain objects); the `shape` of
their metadata says what stands in them. Hidden reasoning, API keys and request headers have no field to stand in, and
the codec redacts what looks like a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from typing import Any, ClassVar

from dofrag.domain.records import dataclass
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.trace import shapes

JsonObject = Mapping[str, Any]

EXCERPT_MAX = 300
"""Characters of a read passage that its event shows; the whole text is identified by its hash."""

CLOCK_FIELDS = ("at", "elapsed_ms")
"""The only names, at any depth, whose values come from a clock. Two runs of the same input differ nowhere else
(nor in the run id, which is injected, and the hashes that follow from both)."""


def _holds(shape: Any) -> Any:
    """A field of JSON objects of this shape."""
    return field(metadata={"shape": shape})


@dataclass(frozen=True, kw_only=True)
class DateRange:
    """First and last publication date, inclusive."""

    first: date = field(metadata={"json": "from"})
    last: date = field(metadata={"json": "to"})


@dataclass(frozen=True, kw_only=True)
class StatusChange:
    """One requirement's or sub-question's move, and the chunk that moved it (None when no passage did)."""

    id: str
    before: str = field(metadata={"json": "from"})
    after: str = field(metadata={"json": "to"})
    chunk_id: int | None


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """Always the first event. `planner`, `strategy` and `tools` are names; `versions` as in the result."""

    event: ClassVar[str] = "run_started"
    run_id: str
    question: str
    as_of: date
    scopes: tuple[str, ...]
    corpus: str
    corpus_dates: DateRange | None
    planner: str
    strategy: str
    tools: str
    limits: JsonObject = _holds(shapes.LimitsObject)
    versions: JsonObject = _holds(shapes.VersionsObject)


@dataclass(frozen=True, kw_only=True)
class Decomposed:
    """The question's parts, each with its requirements, as JSON objects."""

    event: ClassVar[str] = "decomposed"
    sub_questions: tuple[JsonObject, ...] = _holds(shapes.PartObject)


@dataclass(frozen=True, kw_only=True)
class ModelCalled:
    """One request to a model. `prompt_tokens` is the estimate of the prompt and `max_output_tokens` the cap: their
    sum was reserved before the call. `input_tokens` and `output_tokens` are the provider's figures, None when it gave
    none that can be true; where one is missing, the estimate counts (`output_estimate` is ours of what came back).
    `cost` is in US dollars, None where no dated price is known. `outcome` is "ok" or an error
    code; `reply` says what the reply was taken for, in the words of our own actions, None when there was none."""

    event: ClassVar[str] = "model_called"
    turn: int
    model: str
    attempt: int
    mode: str
    prompt_tokens: int
    max_output_tokens: int
    input_tokens: int | None
    output_tokens: int | None
    output_estimate: int
    cost: float | None
    outcome: str
    reply: JsonObject | None = _holds(shapes.ReplyObject)


@dataclass(frozen=True, kw_only=True)
class ToolCalled:
    """A tool was asked for, whether or not it then ran. `arguments` as the planner gave them: any JSON value, since
    they were not checked yet."""

    event: ClassVar[str] = "tool_called"
    turn: int
    call_id: str
    tool: str
    arguments: Any
    why: str


@dataclass(frozen=True, kw_only=True)
class ToolReturned:
    """What came back: the envelope, with its results or its error."""

    event: ClassVar[str] = "tool_returned"
    turn: int
    call_id: str
    tool: str
    ok: bool
    envelope: JsonObject = _holds(shapes.EnvelopeObject | shapes.RefusalObject)


@dataclass(frozen=True, kw_only=True)
class PassageRead:
    """A chunk became citable. `sha256` is of its text in UTF-8; `publication` is the code; `excerpt` its beginning,
    at most EXCERPT_MAX characters."""

    event: ClassVar[str] = "passage_read"
    turn: int
    call_id: str
    chunk_id: int
    publication: str
    sha256: str
    chars: int
    tokens: int
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class CoverageChanged:
    """What moved, and how many requirements of the total are supported (or answered) now."""

    event: ClassVar[str] = "coverage_changed"
    turn: int
    changes: tuple[StatusChange, ...]
    supported: int
    total: int


@dataclass(frozen=True, kw_only=True)
class DraftProposed:
    """The planner proposed to close: `domain.evidence.Draft` as a JSON object."""

    event: ClassVar[str] = "draft_proposed"
    turn: int
    draft: JsonObject = _holds(shapes.DraftObject)


@dataclass(frozen=True, kw_only=True)
class DraftRejected:
    """Why a draft was refused: `domain.evidence.Fault` as JSON objects (`code`, `where`, `message`)."""

    event: ClassVar[str] = "draft_rejected"
    turn: int
    faults: tuple[JsonObject, ...] = _holds(shapes.FaultObject)


@dataclass(frozen=True, kw_only=True)
class CitationRejected:
    """One citation was dropped. `claim` says where it stood ("claims[0]"), `code` is a fault code."""

    event: ClassVar[str] = "citation_rejected"
    turn: int
    claim: str
    chunk_id: int
    code: str
    message: str


@dataclass(frozen=True, kw_only=True)
class LimitReached:
    """A limit stopped something *before* it happened. `limit` names a field of `Limits`; `spent` is what the run had
    spent of it, `wanted` what the next step would have added, `tool` the call that was not issued, if it was one."""

    event: ClassVar[str] = "limit_reached"
    turn: int
    limit: str
    maximum: int | float
    spent: int | float
    wanted: int | float
    tool: str | None


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A draft was accepted: its claims with true spans, the ids of the cited chunks, the finding on the premise, and
    the answer text composed from the claims."""

    event: ClassVar[str] = "answered"
    turn: int
    claims: tuple[JsonObject, ...] = _holds(shapes.ClaimObject)
    citations: tuple[int, ...]
    premise: JsonObject = _holds(shapes.PremiseObject)
    answer: str | None


@dataclass(frozen=True, kw_only=True)
class RunFinished:
    """Always the last event, however the run ended. `spend` and `coverage` as in the result."""

    event: ClassVar[str] = "run_finished"
    terminal_state: TerminalState
    closure: Closure
    reason: Reason
    message: str | None
    spend: JsonObject = _holds(shapes.SpendObject)
    coverage: tuple[JsonObject, ...] = _holds(shapes.CoverageObject)
    limitations: tuple[str, ...]
    rejected_citations: tuple[int, ...]


Event = (
    RunStarted
    | Decomposed
    | ModelCalled
    | ToolCalled
    | ToolReturned
    | PassageRead
    | CoverageChanged
    | DraftProposed
    | DraftRejected
    | CitationRejected
    | LimitReached
    | Answered
    | RunFinished
)

EVENTS: tuple[type[Event], ...] = (
    RunStarted,
    Decomposed,
    ModelCalled,
    ToolCalled,
    ToolReturned,
    PassageRead,
    CoverageChanged,
    DraftProposed,
    DraftRejected,
    CitationRejected,
    LimitReached,
    Answered,
    RunFinished,
)
"""Every event there is, in the order in which a run may first emit them."""
