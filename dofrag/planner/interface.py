"""What a planner gets and what it may return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from dofrag.domain.corpus import Passage, Publication
from dofrag.domain.evidence import Draft, Fault
from dofrag.domain.question import Question, Status, SubQuestion
from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits, Spend

if TYPE_CHECKING:  # a run without a model imports nothing of it
    from dofrag.llm.faults import ProviderFault
    from dofrag.llm.interface import ChatRequest, ChatResponse


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to call one tool. `arguments` are unchecked: dispatch validates them. `why` is for the trace:
    a short reason in plain words, never a chain of thought."""

    tool: str
    arguments: Mapping[str, Any]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Abstain:
    """The planner gives up: nothing (more) can be covered. The run decides the reason from what was searched."""

    why: str = ""


@dataclass(frozen=True, slots=True)
class Clarify:
    """The question names something ambiguous; `options` are codes of discovered publications, two at least. The run
    refuses any other, and shows them to people by title and date."""

    message: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """Sub-questions that the planner proposes before its first call, each a span (characters, half-open) of the
    question. The run decides which are sound; they are added, and nothing is ever taken away for them."""

    spans: tuple[tuple[int, int], ...]


Step = ToolCall | Draft | Abstain | Clarify | Parts | tuple[ToolCall, ...]
"""What a planner may return. Of several calls at once the first runs; each other is refused (`one_call_per_turn`)."""


UNUSABLE = (
    "empty_reply", "no_action", "truncated", "cut_json", "too_long", "refusal", "repeated_call", "invalid_arguments",
    "not_open", "not_a_part", "unknown_options", "not_ambiguous",
)  # fmt: skip
"""Why nothing in a reply can be used: outcomes of `model_called`, besides "ok" and the faults of a provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a planner makes of a model's reply. `step` None: nothing in it can be used, and `outcome` says why (a code
    for the trace), `message` in words. `reply` is what the trace keeps, enough to play the step again."""

    step: Step | None
    outcome: str = "ok"
    message: str = ""
    reply: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A planner wants to ask a model before it decides. The run sends the request, within its limits, and hands the
    reply to `read`. `lower` gives a request that asks less of a provider which refuses this one, or None."""

    request: ChatRequest
    read: Callable[[ChatResponse], Understood]
    lower: Callable[[ProviderFault], Ask | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """A pointer that some tool returned: it may be read, not cited."""

    chunk_id: int
    code: str
    heading_path: tuple[str, ...]
    provision: str | None
    snippet: str


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of this run and the envelope that came back, as JSON values."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    envelope: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The frozen picture that a planner gets each turn. Nothing in it can change the run.

    `coverage` maps requirement id → status, given what was read so far; `support` maps requirement id → ids of the
    read passages that support it. `tools` are the names open in the present state.
    """

    turn: int
    question: Question
    sub_questions: tuple[SubQuestion, ...]
    coverage: Mapping[str, Status]
    support: Mapping[str, tuple[int, ...]]
    tools: tuple[str, ...]
    publications: Mapping[str, Publication]  # discovered so far, by code
    seen: tuple[Seen, ...]  # pointers in order of discovery
    passages: Mapping[int, Passage]  # read so far, by chunk id
    history: tuple[PastCall, ...]
    rejections: tuple[Fault, ...]  # of the last draft
    limits: Limits
    spend: Spend
    corpus_dates: tuple[date, date]
    asks_current: bool = False  # the question is about what is in force now


class Planner(Protocol):
    """`name` stands in the trace. `next_step` is called once a turn and must not keep a reference to the view."""

    name: str

    def next_step(self, view: View) -> Step | Ask: ...
