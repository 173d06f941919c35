"""Where a planner's question to a model is sent: reserved before, within the wall clock, settled and traced after.

Retries and lower modes happen here, inside one turn; what the reply means is the planner's business.
"""

from __future__ import annotations

from dofrag.agent.budget import Budget, Trip
from dofrag.agent.record import Recorder
from dofrag.agent.setup import ModelSeat
from dofrag.errors import CreditExhausted, MalformedStep, ModelUnavailable
from dofrag.llm.faults import BILLED, LOWERS_MODE, FaultKind, ProviderFault
from dofrag.llm.interface import ChatRequest, ChatResponse, Usage
from dofrag.llm.retry import wait_before
from dofrag.llm.usage import credible
from dofrag.planner.interface import Ask, Step
from dofrag.text.tokens import estimate_tokens
from dofrag.trace.codec import jsonable
from dofrag.trace.events import ModelCalled

HINTS = {
    FaultKind.UNAUTHORIZED: "set DOF_API_KEY to a key that the endpoint knows",
    FaultKind.FORBIDDEN: "the key may not use this model: dof doctor --model",
    FaultKind.MODEL_NOT_FOUND: "name a model that the endpoint serves: dof doctor --model",
    FaultKind.NOT_FOUND: "the base URL usually ends in /v1: dof doctor --model",
    FaultKind.REDIRECTED: "name the place where the endpoint really is, if you know it, as --base-url",
    FaultKind.CREDIT_EXHAUSTED: "the account has no credit left; waiting does not help",
    FaultKind.RATE_LIMITED: "wait, or raise --limit wall_clock_s",
    FaultKind.CONNECTION: "is the server running, at that address? dof doctor --model",
    FaultKind.SERVER_ERROR: "the provider is in trouble: try again later, or another endpoint",
    FaultKind.TIMEOUT: "raise DOF_MODEL_TIMEOUT and --limit wall_clock_s, or use a faster model",
    FaultKind.INVALID_BODY: "is there an OpenAI-compatible API at that address? dof doctor --model",
    FaultKind.REPLY_TOO_LARGE: "lower DOF_MAX_OUTPUT_TOKENS: what came is no reply of a model",
    FaultKind.UNSUPPORTED: "the endpoint refuses every mode: dof doctor --model",
    FaultKind.BAD_REQUEST: "the endpoint refuses every mode: dof doctor --model",
    FaultKind.CONTEXT_TOO_LONG: "the model's context is too short: lower --limit max_read_tokens, or serve it longer",
}


class Desk:
    """Sends the requests of one run."""

    def __init__(self, seat: ModelSeat, budget: Budget, record: Recorder) -> None:
        self._seat = seat
        self._budget = budget
        self._record = record

    def put(self, ask: Ask) -> Step | Trip:
        """What the planner decides after asking, or the limit that stopped it from asking.

        Raises ModelUnavailable when the provider fails for good, MalformedStep when its reply cannot be used.
        """
        number = 0
        attempt = 0
        while True:
            number += 1
            attempt += 1
            trip = self._budget.reserve_tokens(_wanted(ask.request))
            if trip is not None:
                return trip
            try:
                response = self._send(ask.request, number)
            except ProviderFault as fault:
                trip = self._budget.out_of_time()
                if trip is not None:
                    return trip
                lower = ask.lower(fault) if fault.kind in LOWERS_MODE else None
                if lower is not None:
                    ask, attempt = lower, 0
                else:
                    self._wait(fault, attempt)
                continue
            return self._read(ask, response, number)

    def _send(self, request: ChatRequest, number: int) -> ChatResponse:
        timeout = max(0.001, min(self._seat.timeout_s, self._budget.time_left()))
        try:
            return self._seat.model.complete(request, timeout)
        except ProviderFault as fault:
            self._failed(request, number, str(fault.kind), billed=fault.kind in BILLED)
            raise
        except KeyboardInterrupt:
            self._failed(request, number, "interrupted", billed=True)
            raise

    def _failed(self, request: ChatRequest, number: int, outcome: str, *, billed: bool) -> None:
        self._budget.settle_tokens(_wanted(request), request.prompt_tokens if billed else 0, 0)
        self._emit(request, number, outcome, Usage(), 0, None, None)

    def _read(self, ask: Ask, response: ChatResponse, number: int) -> Step:
        request = ask.request
        usage = credible(response.usage, request.prompt_tokens, request.max_output_tokens)
        sent = request.prompt_tokens if usage.input_tokens is None else usage.input_tokens
        size = _size(response)
        got = size if usage.output_tokens is None else usage.output_tokens
        cost = self._seat.model.price(usage)
        cost = None if cost is None else round(cost, 8)
        self._budget.settle_tokens(_wanted(request), sent, got)
        self._budget.charge_money(cost)
        understood = ask.read(response)
        self._emit(request, number, understood.outcome, usage, size, cost, jsonable(understood.reply))
        if understood.step is None:
            raise MalformedStep(understood.message or understood.outcome)
        return understood.step

    def _wait(self, fault: ProviderFault, attempt: int) -> None:
        """Wait before the next attempt, or raise what ends the run."""
        wait = wait_before(fault, attempt, self._seat.jitter())
        if wait is not None and wait < self._budget.time_left():
            self._seat.sleep(wait)
            return
        kind = CreditExhausted if fault.kind is FaultKind.CREDIT_EXHAUSTED else ModelUnavailable
        hint = HINTS.get(fault.kind)
        if wait is not None and fault.retry_after is not None:
            hint = f"the provider asks to wait {wait:.0f} s, longer than the run has left: --limit wall_clock_s"
        raise kind(f"{self._seat.model.name}: {fault.kind}: {fault.message}", hint=hint)

    def _emit(
        self,
        request: ChatRequest,
        number: int,
        outcome: str,
        usage: Usage,
        size: int,
        cost: float | None,
        reply: dict[str, object] | None,
    ) -> None:
        self._record.emit(
            ModelCalled(
                turn=self._budget.turns,
                model=self._seat.model.name,
                attempt=number,
                mode=str(request.mode),
                prompt_tokens=request.prompt_tokens,
                max_output_tokens=request.max_output_tokens,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                output_estimate=size,
                cost=cost,
                outcome=outcome,
                reply=reply,
            )
        )


def _wanted(request: ChatRequest) -> int:
    return request.prompt_tokens + request.max_output_tokens


def _size(response: ChatResponse) -> int:
    """Tokens of a reply that nobody counted, estimated."""
    calls = "".join(f"{call.name}{call.arguments}" for call in response.calls)
    return estimate_tokens(response.text + calls)
