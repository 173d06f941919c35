"""Whatever a provider sends, a run ends as declared: no exception from the inside, no trace that does not verify."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import bench
from hypothesis import given, settings
from hypothesis import strategies as st
from model_bench import GOOD, READ, SEARCH, claim, submit

from dofrag.agent.setup import ModelSeat
from dofrag.domain.run import Limits, Reason
from dofrag.llm.faults import FaultKind, ProviderFault, classify
from dofrag.llm.interface import ChatRequest, ChatResponse, Finish, FunctionCall, Mode, Usage
from dofrag.llm.openai_chat import _response as from_chat
from dofrag.llm.openai_responses import _response as from_responses
from dofrag.planner.model import ModelPlanner
from dofrag.planner.talk import PROMPT_MAX
from dofrag.profiles.dof.profile import DofProfile
from dofrag.tools import CORE
from dofrag.trace.verify import verify

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
NAMES = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "usage",
    "output",
    "type",
    "status",
    "text",
    "finish_reason",
    "call_id",
    "refusal",
    "incomplete_details",
    "reason",
    "prompt_tokens",
]
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)
messages = st.fixed_dictionaries({}, optional={"content": values, "tool_calls": values, "refusal": values})
bodies = values | st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": messages}), max_size=2)}
)


@settings(max_examples=120, deadline=None)
@given(bodies)
def test_any_body_is_a_reply_or_a_fault(body: Any) -> None:
    for read in (from_chat, from_responses):
        try:
            reply = read(body)
        except ProviderFault:
            continue
        assert isinstance(reply.text, str)
        assert all(isinstance(c.name, str) and isinstance(c.call_id, str) for c in reply.calls)


@settings(max_examples=80, deadline=None)
@given(st.integers(300, 599), values)
def test_any_error_body_has_a_kind(status: int, body: Any) -> None:
    fault = classify(status, body)
    assert fault.kind in FaultKind
    assert len(fault.message) < 400


CALLS = (
    *GOOD,
    ("read_chunks", {"chunk_ids": [2, 3], "neighbor_window": 1}),
    ("browse_document", {"publication": "x"}),
    ("abstain", {"why": "no"}),
    ("split_question", {"parts": ["la cuota anual de amarre"]}),
    ("x", {}),
    ("", None),
    ("ask_clarification", {"about": "amarre", "publications": ["9000001", "9000002"]}),
    submit(claim(chunk_id=9)),
    submit(claim(quote="x")),
    ("submit_answer", {"claims": []}),
)
call = st.sampled_from(CALLS) | st.tuples(st.sampled_from([c[0] for c in CALLS]), values)
texts = (
    st.text(max_size=80) | call.map(lambda c: json.dumps({"action": c[0], "arguments": c[1]})) | st.just("<think>")
)
replies = st.builds(
    lambda calls, text, finish, as_text, usage: ChatResponse(
        text=text,
        calls=tuple(
            FunctionCall(f"c{n % 2}", c[0], json.dumps(c[1]) if as_text else c[1]) for n, c in enumerate(calls)
        ),
        finish=finish,
        usage=Usage(*usage),
    ),
    st.lists(call, max_size=3),
    texts,
    st.sampled_from([*Finish, Finish.CALLS, Finish.STOP]),
    st.booleans(),
    st.tuples(st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 10**6)),
)
faults = st.sampled_from(list(FaultKind)).map(lambda kind: ProviderFault(kind, "no", retry_after=0.0))


class Scripted:
    """Plays replies and faults in order, and holds every request to what a conversation must be."""

    name = "fuzz"

    def __init__(self, plan: list[Any]) -> None:
        self.plan = plan

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse:
        due: list[str] = []
        for message in request.messages:
            if message.role == "tool":
                assert message.call_id == due.pop(0)
            else:
                assert not due
                due = [c.call_id for c in message.calls]
                assert len(set(due)) == len(due)
                assert all(isinstance(c.arguments, dict) for c in message.calls)
        assert not due
        json.dumps([m.text for m in request.messages]).encode()
        step = self.plan.pop(0) if self.plan else ChatResponse(text="")
        if isinstance(step, ProviderFault):
            raise step
        return step

    def price(self, usage: Usage) -> float | None:
        return None

    def close(self) -> None:
        """Nothing to give back."""


ENDS = frozenset(Reason) - {Reason.INTERNAL_ERROR, Reason.INTERRUPTED, Reason.SCOPE_DENIED, Reason.APPROVAL_REQUIRED}


@settings(max_examples=60, deadline=None)
@given(st.lists(replies | faults, max_size=12), st.sampled_from(list(Mode)), st.integers(2_000, 60_000))
def test_no_order_of_replies_and_faults_breaks_a_run(plan: list[Any], mode: Mode, tokens: int) -> None:
    planner = ModelPlanner(DofProfile().prompts("es"), CORE, mode, 1_000)
    seat = ModelSeat(model=Scripted(plan), sleep=lambda _: None, jitter=lambda: 0.0)
    result, trace, _, end = bench.run(planner, seat=seat, limits=Limits(max_tokens=tokens))
    assert result["reason"] in ENDS, end
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{result['run_id']}.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in trace.lines))
        assert verify(path) == []


def test_a_long_conversation_is_shortened_and_stays_valid() -> None:
    """Results of searches give way, the oldest first; passages stay."""
    searches = [
        ChatResponse(calls=(FunctionCall("a", SEARCH[0], {**SEARCH[1], "query": f"amarre {'palabra ' * 40}{n}"}),))
        for n in range(60)
    ]
    read = ChatResponse(calls=(FunctionCall("r", READ[0], READ[1]),))
    long = submit(*(claim("Texto que no está. " * 90, "Texto que no está en ningún pasaje.") for _ in range(8)))
    drafts = [ChatResponse(calls=(FunctionCall("d", long[0], long[1]),)) for _ in range(4)]
    model = Scripted([searches[0], read, *searches[1:], *drafts])
    sizes: list[int] = []
    complete = model.complete

    def noted(request: ChatRequest, timeout_s: float) -> ChatResponse:
        sizes.append(request.prompt_tokens)
        assert len(sizes) < 3 or "por embarcación" in "".join(m.text for m in request.messages if m.role == "tool")
        return complete(request, timeout_s)

    model.complete = noted  # type: ignore[method-assign]
    planner = ModelPlanner(DofProfile().prompts("es"), CORE, Mode.TOOLS, 4_000)
    limits = Limits(max_turns=70, max_tool_calls=70, max_cost_units=1_000, max_latency_ms=10**6, max_tokens=10**8)
    result, _, _, _ = bench.run(planner, seat=ModelSeat(model=model), limits=limits)
    assert result["spend"]["turns"] > 60
    assert max(sizes) > PROMPT_MAX * 0.8, "it got long"
    assert max(sizes) <= 24_000
