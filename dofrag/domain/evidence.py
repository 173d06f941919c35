"""What a planner proposes and what a run accepts."""

from __future__ import annotations

from enum import StrEnum

from dofrag.domain.records import dataclass

QUOTE_MIN = 12
"""Characters of a quote at least, blanks apart: less is a word that stands in any document."""

QUOTE_MAX = 600
"""Characters of one quote at most; a longer list takes several citations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A read chunk and a verbatim span of it. `start`/`end` are filled by the closure check: characters of the
    chunk's text, after spacing, line breaks, hyphenation, quotation marks and accents were folded to find it."""

    chunk_id: int
    quote: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Computation:
    """A value computed from quoted inputs by a declared operation, and recomputed by the closure check.

    `operation`: "difference" | "percent_change" | "sum" | "count" | "add_days" | "add_months" | "add_years".
    Inputs and result are text as it stands in the claim ("113.14", "2026-01-09").
    """

    operation: str
    inputs: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence, the sub-questions that it answers, and its citations."""

    text: str
    sub_questions: tuple[str, ...]
    citations: tuple[Citation, ...]
    computed: Computation | None = None


class PremiseStatus(StrEnum):
    SUPPORTED = "supported"
    FALSE = "false"
    UNCLEAR = "unclear"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class PremiseFinding:
    """`FALSE` needs an affirmative correction, itself a cited claim; a failed search only allows `UNCLEAR`."""

    status: PremiseStatus = PremiseStatus.NOT_APPLICABLE
    correction: str | None = None


NO_PREMISE = PremiseFinding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A planner's proposal to close. The answer text is composed from the claims by the orchestrator, so a
    sentence without a citation has nowhere to stand."""

    claims: tuple[Claim, ...]
    premise: PremiseFinding = NO_PREMISE


class FaultCode(StrEnum):
    """Why a draft was refused."""

    NOT_READ = "evidence_not_read"
    CITATION_REQUIRED = "citation_required"
    UNKNOWN_CITATION = "unknown_citation"
    QUOTE_NOT_FOUND = "quote_not_found"
    QUOTE_TOO_LONG = "quote_too_long"
    QUOTE_TOO_SHORT = "quote_too_short"
    IRRELEVANT_CITATION = "irrelevant_citation"
    NUMBER_NOT_QUOTED = "number_not_quoted"
    WORDS_NOT_QUOTED = "words_not_quoted"
    COMPUTATION_WRONG = "computation_wrong"
    UNKNOWN_SUB_QUESTION = "unknown_sub_question"
    REQUIREMENT_MISSING = "requirement_missing"
    PREMISE_UNPROVEN = "premise_unproven"
    LATER_REFORMS = "later_reforms_unsearched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One typed rejection. `where` is a claim ("claims[0]"), a requirement id or "" for the whole draft; `chunk_id`
    is the citation's, where one citation is at fault."""

    code: FaultCode
    where: str
    message: str
    chunk_id: int | None = None
