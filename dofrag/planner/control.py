"""What a model may do besides calling a research tool: answer, give up, ask back, split the question at the start.

Each is offered as a function with a closed schema, and held to it here whatever the provider promised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dofrag.coverage.compute import OPERATIONS
from dofrag.domain.evidence import QUOTE_MAX, Citation, Claim, Computation, Draft, PremiseFinding, PremiseStatus
from dofrag.llm.interface import Function
from dofrag.planner.ambiguity import may_ask_which
from dofrag.planner.interface import Abstain, Clarify, Parts, View
from dofrag.profiles.prompts import Prompts
from dofrag.text.shown import shown, whole_words
from dofrag.tools.arguments import checked_arguments
from dofrag.tools.contract import ErrorCode, ToolInputError, closed_schema

MAX_CLAIMS = 30
MAX_CITATIONS = 12
ABOUT_MAX = 200

_CITATION = closed_schema(
    {
        "chunk_id": {"type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991},
        "quote": {
            "type": "string",
            "minLength": 1,
            "maxLength": QUOTE_MAX,
            "description": "Copied letter by letter.",
        },
    }
)
_COMPUTED: dict[str, Any] = {
    "anyOf": [
        closed_schema(
            {
                "operation": {"type": "string", "enum": list(OPERATIONS)},
                "inputs": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 60},
                    "minItems": 1,
                    "maxItems": 40,
                },
                "result": {"type": "string", "maxLength": 60},
            }
        ),
        {"type": "null"},
    ]
}
_CLAIM = closed_schema(
    {
        "sub_questions": {
            "type": "array",
            "items": {"type": "string", "maxLength": 12},
            "minItems": 1,
            "maxItems": 20,
            "description": "Parts that it answers: q1, q2…",
        },
        "text": {"type": "string", "minLength": 1, "maxLength": 2_000, "description": "One sentence."},
        "citations": {"type": "array", "items": _CITATION, "minItems": 1, "maxItems": MAX_CITATIONS},
        "computed": _COMPUTED,
    }
)
_PREMISE = closed_schema(
    {
        "status": {"type": "string", "enum": [str(s) for s in PremiseStatus]},
        "correction": {"type": ["string", "null"], "maxLength": 1_000},
    }
)

SUBMIT = Function(
    "submit_answer",
    "Close with claims, each with verbatim quotes of passages that were read.",
    closed_schema(
        {
            "claims": {"type": "array", "items": _CLAIM, "minItems": 1, "maxItems": MAX_CLAIMS},
            "premise": _PREMISE,
        }
    ),
)
ABSTAIN = Function(
    "abstain",
    "Give up: what is missing cannot be found here.",
    closed_schema({"why": {"type": "string", "maxLength": 400}}),
)
CLARIFY = Function(
    "ask_clarification",
    "Ask which of several discovered publications is meant. The program words the question.",
    closed_schema(
        {
            "about": {
                "type": ["string", "null"],
                "maxLength": ABOUT_MAX,
                "description": "The words of the question that fit several, copied letter by letter.",
            },
            "publications": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 80},
                "minItems": 2,
                "maxItems": 12,
                "description": "Codes of discovered publications.",
            },
        }
    ),
)
SPLIT = Function(
    "split_question",
    "Optional, first turn only: add parts that the list lacks. Each is copied letter by letter from the question.",
    closed_schema(
        {
            "parts": {
                "type": "array",
                "items": {"type": "string", "minLength": 15, "maxLength": 600},
                "minItems": 1,
                "maxItems": 4,
            }
        }
    ),
)
CONTROLS = {f.name: f for f in (SUBMIT, ABSTAIN, CLARIFY, SPLIT)}


def open_controls(view: View) -> tuple[Function, ...]:
    """Those that are valid now: splitting at first, answering once something was read."""
    if view.turn == 1:
        return (SPLIT,)
    found = [SUBMIT] if view.passages else []
    found += [CLARIFY] if len(view.publications) >= 2 else []
    return (*found, ABSTAIN)


def control_step(name: str, arguments: object, view: View, prompts: Prompts) -> Draft | Abstain | Clarify | Parts:
    """The step that a control stands for. Raises ToolInputError where its arguments do not fit."""
    if name == SUBMIT.name:
        arguments = _filled(arguments)
    given = checked_arguments(name, CONTROLS[name].schema, arguments)
    match name:
        case "submit_answer":
            return _draft(given)
        case "abstain":
            return Abstain(shown(given["why"]))
        case "ask_clarification":
            codes = tuple(dict.fromkeys(given["publications"]))
            if len(codes) < 2 or any(code not in view.publications for code in codes):
                raise ToolInputError(ErrorCode.UNDISCOVERED_DOCUMENT, "unknown_options", path="publications")
            if not may_ask_which(view, codes):
                raise ToolInputError(ErrorCode.SCHEMA_VIOLATION, "not_ambiguous", path="publications")
            return Clarify(_asked_back(given["about"], view.question.text, prompts), codes)
        case _:
            return Parts(_spans(given["parts"], view.question.text))


def _asked_back(about: str | None, question: str, prompts: Prompts) -> str:
    """What a person is asked, in our words: of the model's own only what stands in the question is said."""
    span = _span((about or "").strip(), question)
    if span is None:
        return prompts("clarify")
    return prompts("clarify_about", about=shown(question[span[0] : span[1]]))


def _filled(arguments: object) -> object:
    """An answer with what goes without saying: nothing computed, no premise to correct. Models without an enforced
    schema leave such fields out."""
    if not isinstance(arguments, Mapping):
        return arguments
    claims = arguments.get("claims")
    if isinstance(claims, list):
        claims = [{"computed": None, **claim} if isinstance(claim, Mapping) else claim for claim in claims]
    premise = {"status": str(PremiseStatus.NOT_APPLICABLE), "correction": None}
    return {"premise": premise, **arguments, "claims": claims}


def _draft(given: Mapping[str, Any]) -> Draft:
    premise = given["premise"]
    return Draft(
        claims=tuple(
            Claim(
                text=shown(claim["text"]),
                sub_questions=tuple(claim["sub_questions"]),
                citations=tuple(Citation(chunk_id=int(c["chunk_id"]), quote=c["quote"]) for c in claim["citations"]),
                computed=_computed(claim["computed"]),
            )
            for claim in given["claims"]
        ),
        premise=PremiseFinding(status=PremiseStatus(premise["status"]), correction=premise["correction"]),
    )


def _computed(given: Mapping[str, Any] | None) -> Computation | None:
    if given is None:
        return None
    return Computation(operation=given["operation"], inputs=tuple(given["inputs"]), result=given["result"])


def _spans(parts: list[str], question: str) -> tuple[tuple[int, int], ...]:
    """Where the parts stand in the question. Raises ToolInputError for one that does not."""
    spans = []
    for n, part in enumerate(parts):
        span = _span(part.strip(), question)
        if span is None:
            raise ToolInputError(ErrorCode.SCHEMA_VIOLATION, "not_a_part", path=f"parts[{n}]")
        spans.append(span)
    return tuple(spans)


def _span(part: str, question: str) -> tuple[int, int] | None:
    """Where a part first stands in the question without cutting a word, None where it does not."""
    start = question.find(part) if part else -1
    while start >= 0 and not whole_words(question, start, start + len(part)):
        start = question.find(part, start + 1)
    return (start, start + len(part)) if start >= 0 else None
