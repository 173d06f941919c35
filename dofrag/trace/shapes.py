"""What stands inside the JSON objects that events carry.

An event is read with any object in their place, so that a trace of another version can still be shown; the JSON
Schema has these shapes, and `verify` holds every event to them. A field with a default may be missing, and an object
whose class says `open` may have fields besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar

from dofrag.domain.evidence import FaultCode, PremiseStatus
from dofrag.domain.question import Status
from dofrag.domain.records import dataclass


@dataclass(frozen=True, kw_only=True)
class LimitsObject:
    """`limits` of `run_started`: `domain.run.Limits`."""

    max_turns: int
    max_tool_calls: int
    max_read_tokens: int
    max_tokens: int
    max_cost_units: int
    max_latency_ms: int
    wall_clock_s: float


@dataclass(frozen=True, kw_only=True)
class VersionsObject:
    """`versions`: what the run was made with. Prompts and vectors where there were any."""

    code: str
    index: str
    profile: str
    contract: str
    prompts: str = ""
    vectors: str = ""


@dataclass(frozen=True, kw_only=True)
class AskedObject:
    """One requirement of a part; its slots are those of its type."""

    open: ClassVar[bool] = True
    id: str
    label: str


@dataclass(frozen=True, kw_only=True)
class PartObject:
    """One part of the question, with premises and whatever else `domain.question.SubQuestion` has."""

    open: ClassVar[bool] = True
    id: str
    text: str
    origin: str
    requirements: tuple[AskedObject, ...]


@dataclass(frozen=True, kw_only=True)
class ReplyObject:
    """What a model's reply was taken for."""

    open: ClassVar[bool] = True
    kind: str


@dataclass(frozen=True, kw_only=True)
class ChargedObject:
    """What a call cost by the tariff."""

    cost_units: int
    latency_ms: int


@dataclass(frozen=True, kw_only=True)
class SourceObject:
    """A publication in an envelope's `sources`."""

    title: str
    issuer: str
    date: date
    edition: str | None
    kind: str
    consolidated: bool = False


@dataclass(frozen=True, kw_only=True)
class EnvelopeObject:
    """What a call brought back. The objects in `results` are those of the tool; `sources` are by publication code;
    `left_out` are kinds that a search did not look at."""

    tool: str
    call_id: str
    ok: bool
    results: tuple[Mapping[str, Any], ...]
    sources: Mapping[str, Any]
    total: int
    returned: int
    truncated: bool
    insufficient: bool
    insufficient_reason: str | None
    as_of: date
    validity: None
    versions: VersionsObject
    charged: ChargedObject
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ErrorObject:
    """Why a call was refused."""

    code: str
    message: str
    path: str
    allowed: tuple[str, ...]
    hint: str


@dataclass(frozen=True, kw_only=True)
class RefusalObject:
    """The envelope of a refused call."""

    tool: str
    call_id: str
    ok: bool
    error: ErrorObject


@dataclass(frozen=True, kw_only=True)
class CitationObject:
    """A quote of a chunk; its span is null in a draft that was not checked yet."""

    chunk_id: int
    quote: str
    start: int | None
    end: int | None


@dataclass(frozen=True, kw_only=True)
class ComputationObject:
    """A value computed from quoted ones."""

    operation: str
    inputs: tuple[str, ...]
    result: str


@dataclass(frozen=True, kw_only=True)
class ClaimObject:
    """One sentence of an answer."""

    text: str
    sub_questions: tuple[str, ...]
    citations: tuple[CitationObject, ...]
    computed: ComputationObject | None


@dataclass(frozen=True, kw_only=True)
class PremiseObject:
    """What was found of what the question takes for granted."""

    status: PremiseStatus
    correction: str | None


@dataclass(frozen=True, kw_only=True)
class DraftObject:
    """A proposal to close."""

    claims: tuple[ClaimObject, ...]
    premise: PremiseObject


@dataclass(frozen=True, kw_only=True)
class FaultObject:
    """Why a draft was refused."""

    code: FaultCode
    where: str
    message: str
    chunk_id: int | None


@dataclass(frozen=True, kw_only=True)
class CoveredObject:
    """One requirement at the end of a run."""

    id: str
    kind: str
    label: str
    status: Status
    chunk_id: int | None


@dataclass(frozen=True, kw_only=True)
class CoverageObject:
    """One part of the question at the end of a run."""

    id: str
    text: str
    origin: str
    status: Status
    requirements: tuple[CoveredObject, ...]


@dataclass(frozen=True, kw_only=True)
class SpendObject:
    """What a run spent. Tokens and money are null while no model was asked, or where they are not known."""

    turns: int
    tool_calls: int
    read_tokens: int
    cost_units: int
    latency_ms: int
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    elapsed_ms: int
