"""What a tool is: one declaration each, a closed schema, and a typed outcome.

A tool never touches the session: it returns an `Outcome` that says what it discovered, showed and read, and the
session observes that. So a result and what it entitles a planner to can never drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

from dofrag.domain.corpus import PUBLIC, Filters, Hit, Kind, Passage, Publication
from dofrag.domain.records import dataclass
from dofrag.search.interface import SearchBackend
from dofrag.store.interface import CorpusReader

JsonObject = dict[str, Any]


class State(StrEnum):
    """How far a run has come. Each state keeps the operations of those before it and adds its own."""

    DISCOVER_DOCUMENTS = "discover_documents"
    DISCOVER_EVIDENCE = "discover_evidence"  # some publication has been discovered
    READ = "read"  # some chunk has been seen
    RESPOND = "respond"  # some passage has been read: a draft can be accepted

    @property
    def order(self) -> int:
        return list(State).index(self)


class ErrorCode(StrEnum):
    """Why a call was refused. Closed set; the tests hold it against docs/cli.md."""

    UNKNOWN_TOOL = "unknown_tool"
    INVALID_JSON = "invalid_json"
    SCHEMA_VIOLATION = "schema_violation"
    TOOL_NOT_IN_STATE = "tool_not_in_state"
    DATE_AFTER_CUTOFF = "date_after_cutoff"
    UNKNOWN_DOCUMENT = "unknown_document"
    UNDISCOVERED_DOCUMENT = "undiscovered_document"
    UNSEEN_CHUNK = "unseen_chunk"
    SCOPE_DENIED = "scope_denied"
    APPROVAL_REQUIRED = "approval_required"
    BUDGET_EXHAUSTED = "budget_exhausted"
    ONE_CALL_PER_TURN = "one_call_per_turn"


class ToolInputError(Exception):
    """A call that cannot be served as it stands. Becomes a structured error that a planner can act on."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        path: str = "",
        allowed: tuple[str, ...] = (),
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.allowed = allowed
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Pointer:
    """A chunk that a result shows: it may be read from now on."""

    chunk_id: int
    code: str
    heading_path: tuple[str, ...]
    provision: str | None
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a tool did. `results` is what a planner is shown; the typed fields are what the session observes."""

    results: list[JsonObject]
    total: int
    offset: int = 0  # entries of a paged listing before the first of `results`
    publications: tuple[Publication, ...] = ()
    pointers: tuple[Pointer, ...] = ()
    passages: tuple[Passage, ...] = ()
    insufficient_reason: str | None = None  # "no_match" | "truncated" | None
    left_out: tuple[Kind, ...] = ()  # kinds that a search did not look at, because its words ask for others
    searched: bool = False  # a search or a listing: it counts in the report of what was searched


class SessionView(Protocol):
    """The part of the session that tools may consult (and cannot change)."""

    def is_discovered(self, code: str) -> bool: ...
    def is_seen(self, chunk_id: int) -> bool: ...
    def is_read(self, chunk_id: int) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a run lends its tools. Cut-off and scopes come from the caller: no argument can widen them."""

    reader: CorpusReader
    backend: SearchBackend
    session: SessionView
    as_of: date
    scopes: frozenset[str]
    read_tokens_left: int
    canonical_issuer: Callable[[str], str]

    @property
    def filters(self) -> Filters:
        """Everything that this run may see, of every kind."""
        return Filters(as_of=self.as_of, kinds=tuple(Kind), scopes=self.scopes | {PUBLIC})

    def narrowed(self, arguments: Mapping[str, Any]) -> Filters:
        """The run's filters narrowed by a call's date, issuer, edition and kind arguments.

        Raises ToolInputError for a window that starts after it ends or reaches beyond the cut-off.
        """
        start, end = parse_date(arguments, "date_from"), parse_date(arguments, "date_to")
        for name, value in (("date_from", start), ("date_to", end)):
            if value is not None and value > self.as_of:
                raise ToolInputError(
                    ErrorCode.DATE_AFTER_CUTOFF,
                    f"{name} {value} is after this run's cut-off {self.as_of}",
                    path=name,
                    hint=f"use a date up to {self.as_of}, or null",
                )
        if start is not None and end is not None and start > end:
            raise ToolInputError(
                ErrorCode.SCHEMA_VIOLATION, f"date_from {start} is after date_to {end}", path="date_from"
            )
        kind = arguments.get("kind")
        edition = arguments.get("edition")
        issuer = arguments.get("issuer")
        defaults = Filters(as_of=self.as_of)
        return replace(
            defaults,
            published_from=start,
            published_to=end,
            editions=(edition,) if edition else (),
            kinds=(Kind(kind),) if kind else defaults.kinds,
            issuer=self.canonical_issuer(issuer) if issuer else None,
            scopes=self.scopes | {PUBLIC},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool: its schema, where it opens, what it costs, and the function that runs it.

    `cost_units` and `latency_ms` are the tariff that is reserved before the call. `read_only` False is refused by
    dispatch with `approval_required`.
    """

    name: str
    summary: str
    schema: JsonObject
    opens_in: State
    run: Callable[[ToolContext, Mapping[str, Any]], Outcome]
    cost_units: int
    latency_ms: int
    read_only: bool = True


def closed_schema(properties: JsonObject) -> JsonObject:
    """A strict JSON Schema object: every property required, none other allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


QUERY = {"type": "string", "minLength": 1, "maxLength": 400, "description": "Words to look for, in Spanish."}
DATE = {
    "type": ["string", "null"],
    "pattern": r"^\d{4}-\d{2}-\d{2}$",
    "description": "Publication date (ISO), inclusive; not the date of the datum or of effect. Null: open.",
}
ISSUER = {"type": ["string", "null"], "minLength": 2, "maxLength": 200, "description": "Issuing body or its acronym."}
EDITION = {"type": ["string", "null"], "enum": ["MAT", "VES", "EXT", None], "description": "Edition, not a subject."}
KIND = {
    "type": ["string", "null"],
    "enum": ["DOF", "AVISO", "LEY", None],
    "description": "DOF: acts of the State. AVISO: paid notices. LEY: consolidated laws. Null: all.",
}
PREFER_RECENT = {"type": "boolean", "description": "Breaks near-ties by date; never drops a better passage."}


def parse_date(arguments: Mapping[str, Any], name: str) -> date | None:
    """An ISO date argument; an impossible one is a schema violation."""
    value = arguments.get(name)
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ToolInputError(
            ErrorCode.SCHEMA_VIOLATION, f"{name} {value!r} is not a date: {error}", path=name, hint="use YYYY-MM-DD"
        ) from None


NEAR_TIE = 0.05
"""Scores within this share of each other count as a tie for `prefer_recent`."""


def order_hits(hits: tuple[Hit, ...], dates: Mapping[str, date], *, prefer_recent: bool) -> list[Hit]:
    """Hits as ranked or, where recency is asked for, with runs of near-ties ordered newest first.

    The first hit of a run sets its bar, so the order can never drift by a chain of small steps, and no hit leaves
    the list: a clearly better passage stays ahead however old it is.
    """
    if not prefer_recent:
        return list(hits)
    ordered: list[Hit] = []
    run: list[Hit] = []
    for hit in hits:
        if run and hit.score < run[0].score * (1 - NEAR_TIE):
            ordered += sorted(run, key=lambda h: -dates[h.code].toordinal())
            run = []
        run.append(hit)
    return ordered + sorted(run, key=lambda h: -dates[h.code].toordinal())
