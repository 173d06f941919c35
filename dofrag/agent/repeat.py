"""The calls of a recorded run, made again on the index as it is now, one by one.

Each call is judged by itself: what the run had found, seen, read and spent before it is taken from the recording, so
that one call which finds something else does not make the calls after it differ. Nothing is asked of a planner or of
a model; `dof run --planner replay:FILE` decides everything anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from dofrag.agent.budget import Budget
from dofrag.agent.record import lean
from dofrag.agent.setup import Corpus
from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits
from dofrag.errors import TraceError
from dofrag.tools import CORE, State, ToolSpec
from dofrag.tools.contract import ErrorCode, ToolContext
from dofrag.tools.dispatch import Dispatched, dispatch
from dofrag.trace.codec import jsonable
from dofrag.trace.problems import as_id, objects
from dofrag.trace.redact import REDACTED
from dofrag.trace.results import Difference, differences
from dofrag.trace.trajectory import Call, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A call and what differs now. `skipped` says why it could not be made again; None where it was."""

    turn: int
    call_id: str
    tool: str
    differences: tuple[Difference, ...] = ()
    skipped: str | None = None


def repeat(
    run: Trajectory, corpus: Corpus, canonical_issuer: Callable[[str], str], tools: tuple[ToolSpec, ...] = CORE
) -> tuple[Repeated, ...]:
    """Make every call of a run again, under its own cut-off, scopes and limits. The caller has to have granted the
    scopes. Raises TraceError for limits that are none."""
    try:
        limits = Limits(**run.start.limits)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{run.path}: its limits are none: {error}", hint="dof trace verify") from None
    past = _Past()
    budget = Budget(limits, lambda: 0.0)
    made = []
    for call in run.calls:
        context = ToolContext(
            reader=corpus.reader,
            backend=corpus.backend,
            session=past,
            as_of=run.start.as_of,
            scopes=frozenset(run.start.scopes),
            read_tokens_left=limits.max_read_tokens - past.read_tokens,
            canonical_issuer=canonical_issuer,
        )
        made.append(_again(call, context, past.state, budget, tools))
        past.observe(call)
        spec = next((t for t in tools if t.name == call.asked.tool), None)
        if call.ok and spec is not None:
            budget.charge(spec)
    return tuple(made)


def _again(call: Call, context: ToolContext, state: State, budget: Budget, tools: tuple[ToolSpec, ...]) -> Repeated:
    asked = call.asked
    done = Repeated(turn=asked.turn, call_id=asked.call_id, tool=asked.tool)
    if call.returned is None:
        return replace(done, skipped="the run was broken off in the middle of it")
    if call.error is not None and call.error.get("code") == ErrorCode.ONE_CALL_PER_TURN:
        return done  # it was never looked at
    if REDACTED in str(asked.arguments):
        return replace(done, skipped="its arguments were redacted")
    now = dispatch(
        asked.tool,
        asked.arguments,
        call_id=asked.call_id,
        tools=tools,
        state=state,
        context=context,
        budget=_AsItWas(budget),
        versions={},
    )
    found = differences(call.envelope, jsonable(lean(now.envelope)))
    return replace(done, differences=(*found, *_texts(call, now)))


def _texts(call: Call, now: Dispatched) -> list[Difference]:
    """Passages whose text is another now. Those that are gone are among the results already."""
    passages = {p.id: p for p in now.outcome.passages} if now.outcome is not None else {}
    found = []
    for read in call.passages:
        passage = passages.get(read.chunk_id)
        sha256 = hashlib.sha256(passage.text.encode()).hexdigest() if passage is not None else read.sha256
        if sha256 != read.sha256:
            found.append(Difference("text", f"chunk {read.chunk_id}", read.sha256, sha256))
    return found


class _AsItWas:
    """The budget as the recorded run had spent it: what is called again is not spent again."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def refuse(self, spec: ToolSpec) -> str | None:
        return self._budget.refuse(spec)

    def charge(self, spec: ToolSpec) -> None:
        """What ran in the recording is charged once it is past."""


class _Past:
    """What the recorded run had found, seen and read, as its tools were told."""

    def __init__(self) -> None:
        self._discovered: set[str] = set()
        self._seen: set[int] = set()
        self._read: set[int] = set()
        self.read_tokens = 0

    @property
    def state(self) -> State:
        if self._read:
            return State.RESPOND
        if self._seen:
            return State.READ
        return State.DISCOVER_EVIDENCE if self._discovered else State.DISCOVER_DOCUMENTS

    def is_discovered(self, code: str) -> bool:
        return code in self._discovered

    def is_seen(self, chunk_id: int) -> bool:
        return chunk_id in self._seen or chunk_id in self._read

    def is_read(self, chunk_id: int) -> bool:
        return chunk_id in self._read

    def observe(self, call: Call) -> None:
        if not call.ok:
            return
        sources = call.envelope.get("sources")
        self._discovered |= sources.keys() if isinstance(sources, Mapping) else set()
        self._read |= {p.chunk_id for p in call.passages}
        self.read_tokens += sum(p.tokens for p in call.passages)
        if not call.passages:
            shown = (one for r in call.results for one in (r, *objects(r.get("passages"))))
            self._seen |= {i for one in shown if (i := as_id(one.get("chunk_id"))) is not None}
