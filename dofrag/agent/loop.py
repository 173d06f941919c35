"""The loop: one straight path from a question to one of the declared ends.

A planner proposes a step; everything else is decided here. A call goes through dispatch, a draft through the closure
check, and a run that cannot go on says which limit, gap or fault stopped it. There is no special last turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from dofrag.agent.absence import looked_for
from dofrag.agent.budget import Budget, Trip
from dofrag.agent.contested import positions, read_positions
from dofrag.agent.currency import currency_fault, left_aside, reform_fault
from dofrag.agent.parts import added_parts
from dofrag.agent.record import Recorder
from dofrag.agent.setup import Setup
from dofrag.agent.view import make_view
from dofrag.coverage.closure import check_closure
from dofrag.coverage.complete import completed
from dofrag.coverage.compose import as_shown, corrected_in, in_quotes
from dofrag.coverage.facts import facts_of, unquoted
from dofrag.coverage.interface import Coverage, Verdict
from dofrag.coverage.ledger import assess
from dofrag.coverage.prepared import PreparedPassage, prepare
from dofrag.domain.evidence import Draft, Fault, FaultCode, PremiseStatus
from dofrag.domain.question import Question, Status, SubQuestion
from dofrag.domain.records import dataclass
from dofrag.domain.run import LIMIT_REASONS, Reason
from dofrag.errors import MalformedStep, PlannerError
from dofrag.planner.interface import Abstain, Ask, Clarify, Parts, PastCall, Step, ToolCall
from dofrag.text.shown import shown
from dofrag.text.tokens import one_line
from dofrag.tools.contract import ErrorCode, ToolContext, ToolInputError
from dofrag.tools.dispatch import Dispatched, dispatch, error_envelope, open_tools
from dofrag.tools.session import ResearchSession

CLARIFY_MAX = 400
"""Characters of a question back at most."""
STALLED_AFTER = 3
"""Turns in a row without a usable step, after which the planner counts as stalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a run ended. `verdict` is of the accepted draft; `options` are the readings of an ambiguous question."""

    reason: Reason
    message: str = ""
    verdict: Verdict | None = None
    options: tuple[str, ...] = ()
    error: Exception | None = None


class Run:
    """The state of one run. A new object each time; nothing is reset."""

    def __init__(self, question: Question, setup: Setup) -> None:
        self.question = question
        self.setup = setup
        self.session = ResearchSession()
        self.budget = Budget(setup.limits, setup.monotonic)
        self.record = Recorder(setup.trace, setup.listener)
        self.sub_questions: tuple[SubQuestion, ...] = ()
        self.prepared: dict[int, PreparedPassage] = {}
        self.coverage = Coverage({}, {}, {})
        self.history: list[PastCall] = []
        self.rejections: list[tuple[int, tuple[Fault, ...]]] = []
        self.rejected_citations: dict[int, None] = {}
        self.tripped: Trip | None = None
        self.model_spoke = False

    def research(self) -> End:
        """Turn by turn until something ends the run. What it raises, `execute` turns into an end."""
        self.record.started(self.question, self.setup)
        denied = self.setup.profile.named_scopes(self.question.text, self._restricted()) - self.question.scopes
        if denied:
            return End(reason=Reason.SCOPE_DENIED, message=", ".join(sorted(denied)))
        self.sub_questions = self.setup.profile.decompose(self.question)
        self.coverage = assess(self.sub_questions, self.prepared)
        self.record.decomposed(self.sub_questions)
        stalled = 0
        while True:
            trip = self.budget.start_turn()
            if trip is not None:
                self._trip(trip)
                return self._stopped()
            try:
                step = self._next_step()
            except MalformedStep as error:
                stalled += 1
                if stalled >= STALLED_AFTER:  # a limit that tripped before it is what ended the run
                    stuck = End(reason=Reason.PLANNER_STALLED, message=error.message)
                    return stuck if self.tripped is None else self._stopped()
                continue
            stalled = 0
            match step:
                case Trip():
                    self._trip(step)
                    return self._stopped()
                case Parts():
                    self._split(step)
                case ToolCall():
                    self._call(step)
                case tuple():
                    self._calls(step)
                case Draft():
                    end = self._draft(step)
                    if end is not None:
                        return end
                case Clarify():
                    message = one_line(shown(step.message), CLARIFY_MAX)
                    return End(reason=Reason.AMBIGUOUS, message=message, options=self._options(step))
                case Abstain():
                    return self._abstained(step)
                case _:
                    assert_never(step)

    def _next_step(self) -> Step | Trip:
        """The planner's step, asked of its model where it has one; or the limit that a request would go over. Raises
        MalformedStep for what cannot be used."""
        step = self.setup.planner.next_step(make_view(self))
        if isinstance(step, Ask):
            answered = self._asked(step)
            if isinstance(answered, Trip):
                return answered
            step = answered
        if isinstance(step, Clarify) and not self._choosable(step):
            raise MalformedStep("clarify")
        if isinstance(step, Parts) and self.history:
            raise MalformedStep("parts after the first call")
        return step

    def _asked(self, ask: Ask) -> Step | Trip:
        from dofrag.agent.desk import Desk  # a run without a model imports nothing of it

        if self.setup.seat is None:
            raise PlannerError(f"planner {self.setup.planner.name!r} asks a model, and the run has none")
        self.model_spoke = True
        return Desk(self.setup.seat, self.budget, self.record).put(ask)

    def _split(self, parts: Parts) -> None:
        """What the planner proposes to look at besides. What the rules require stays as it is."""
        added = added_parts(parts, self.question, self.sub_questions, self.setup.profile.decompose)
        if added and not any(sub.origin == "planner" for sub in self.sub_questions):
            self.sub_questions += added
            self.coverage = assess(self.sub_questions, self.prepared)
            self.record.decomposed(self.sub_questions)

    def _choosable(self, step: Clarify) -> bool:
        """Whether there is something to choose from, two publications at least, all of them found in this run; and
        whether it only asks: no figure or date that the question does not hold."""
        if unquoted(step.message, facts_of(self.question.text)):
            return False
        return len(set(step.options)) >= 2 and all(self.session.is_discovered(code) for code in step.options)

    def _options(self, step: Clarify) -> tuple[str, ...]:
        found = [self.session.publications[code] for code in dict.fromkeys(step.options)]
        return tuple(f"{p.title} ({self.setup.profile.cite_as(p)})" for p in found)

    def _calls(self, steps: tuple[ToolCall, ...]) -> None:
        """One call a turn: the first runs, each other is refused, traced and kept in the history."""
        for n, step in enumerate(steps):
            if n == 0:
                self._call(step)
                continue
            call_id = f"c{len(self.history) + 1}"
            self.record.called(self.budget.turns, call_id, step)
            error = ToolInputError(ErrorCode.ONE_CALL_PER_TURN, "one call a turn", hint="send it in the next turn")
            done = Dispatched(
                envelope=error_envelope(step.tool, call_id, error), arguments=step.arguments, error=error.code
            )
            self.history.append(PastCall(call_id, step.tool, done.arguments, done.envelope))
            self.record.returned(self.budget.turns, call_id, done)

    def _call(self, step: ToolCall) -> None:
        call_id = f"c{len(self.history) + 1}"
        self.record.called(self.budget.turns, call_id, step)
        done = dispatch(
            step.tool,
            step.arguments,
            call_id=call_id,
            tools=self.setup.tools,
            state=self.session.state,
            context=self._context(),
            budget=self.budget,
            versions=self.setup.versions,
        )
        self.history.append(PastCall(call_id, step.tool, done.arguments, done.envelope))
        self.record.returned(self.budget.turns, call_id, done)
        if done.error is ErrorCode.BUDGET_EXHAUSTED:
            self._trip(self._refused(step.tool, done.limit), tool=step.tool)
        if done.outcome is not None:
            fresh = self.session.observe(step.tool, done.arguments, done.outcome)
            for passage in fresh:
                self.record.read(self.budget.turns, call_id, passage)
                self.prepared[passage.id] = prepare(passage)
            if fresh:
                before, self.coverage = self.coverage, assess(self.sub_questions, self.prepared)
                self.record.covered(self.budget.turns, before, self.coverage)

    def _draft(self, draft: Draft) -> End | None:
        """Accept a draft, or record why not. A rejected draft has cost its turn."""
        proposed = as_shown(draft)
        if self.model_spoke:
            proposed = completed(proposed, self.sub_questions, self.prepared)
        verdict = self._judged(self._in_quotes(proposed))
        if verdict.faults:
            return None
        match verdict.premise.status:
            case PremiseStatus.FALSE:
                reason = Reason.PREMISE_CORRECTED
            case PremiseStatus.UNCLEAR:
                return End(reason=Reason.PREMISE_UNCLEAR)
            case PremiseStatus.SUPPORTED | PremiseStatus.NOT_APPLICABLE:
                contested = positions(self.sub_questions, self.prepared, verdict.claims)
                reason = Reason.CLOSED_CONTESTED if contested else Reason.CLOSED
            case _:
                assert_never(verdict.premise.status)
        return End(reason=reason, verdict=verdict)

    def _in_quotes(self, draft: Draft) -> Draft:
        """What a model answers, in the words of its quotes: those around a quote can turn it into anything, and no
        check sees them all. So is a draft of which only words are at fault; with another fault it is refused."""
        checked = self._checked(draft)
        mended = {FaultCode.WORDS_NOT_QUOTED, *([FaultCode.REQUIREMENT_MISSING] if self.model_spoke else [])}
        if any(f.code not in mended for f in checked.faults) or not (checked.faults or self.model_spoke):
            return draft
        claims = in_quotes(checked.claims, self.sub_questions, self.prepared, self.setup.profile.message)
        return Draft(claims=claims, premise=corrected_in(claims, draft.premise))

    def _judged(self, draft: Draft) -> Verdict:
        turn = self.budget.turns
        self.record.proposed(turn, draft)
        verdict = self._with_the_rest(self._checked(draft))
        self.rejected_citations.update(dict.fromkeys(verdict.rejected_citations))
        if verdict.faults:
            self.rejections.append((turn, verdict.faults))
            self.record.rejected(turn, verdict)
        return verdict

    def _checked(self, draft: Draft) -> Verdict:
        seen = [pointer.chunk_id for pointer in self.session.seen]
        return check_closure(draft, self.sub_questions, self.prepared, seen, message=self.setup.profile.message)

    def _with_the_rest(self, verdict: Verdict) -> Verdict:
        """What is in force now is never answered without a search for what came later, and nothing that was found and
        bears on the answer is left aside."""
        if verdict.faults or verdict.premise.status is PremiseStatus.UNCLEAR:
            return verdict
        message = self.setup.profile.message
        cited = [self.session.passages[c.chunk_id].publication for claim in verdict.claims for c in claim.citations]
        fault = None
        if self.asks_current:
            fault = currency_fault(self.session, cited, message)
            fault = fault or reform_fault(self.session, self.prepared, self.sub_questions, verdict.answered, message)
        fault = fault or left_aside(
            self.session, self.question, self.sub_questions, verdict.answered, verdict.claims, message
        )
        fault = fault or self._other_side(verdict)
        return replace(verdict, faults=(fault,)) if fault is not None else verdict

    def _other_side(self, verdict: Verdict) -> Fault | None:
        """Of values in conflict that were read, an answer that gives one gives all."""
        if verdict.premise.status is PremiseStatus.FALSE:
            return None
        cited = {self.session.passages[c.chunk_id].chunk.code for claim in verdict.claims for c in claim.citations}
        for position in read_positions(self.sub_questions, self.prepared):
            publication = self.session.passages[position.chunk_id].publication
            if publication.code not in cited:
                text = self.setup.profile.message("fault.other_side", title=publication.title, value=position.value)
                return Fault(code=FaultCode.REQUIREMENT_MISSING, where=position.requirement, message=text)
        return None

    def _abstained(self, step: Abstain) -> End:
        """What a planner's giving up means is decided by what the run did, never by what the planner says of it."""
        trip = self.tripped or self.budget.exhausted(self.setup.tools) or self.budget.last_turn()
        if trip is not None:
            if self.tripped is None:
                self._trip(trip)
            return self._stopped()
        open_only = all(s is Status.OPEN for s in self.coverage.status.values())
        absent = open_only and looked_for(self.session.searched, self.question, self.sub_questions)
        return End(reason=Reason.NOT_IN_CORPUS if absent else Reason.COVERAGE_MISSING, message=step.why)

    def _stopped(self) -> End:
        """The end that the first tripped limit leads to."""
        assert self.tripped is not None
        return End(reason=LIMIT_REASONS[self.tripped.limit], message=self.tripped.limit)

    def _trip(self, trip: Trip, tool: str | None = None) -> None:
        self.tripped = self.tripped or trip
        self.record.limit(self.budget.turns, trip, tool)

    def _refused(self, tool: str, limit: str | None) -> Trip:
        spec = next(t for t in self.setup.tools if t.name == tool)
        trip = self.budget.trip(spec)
        if trip is not None and trip.limit == limit:
            return trip
        maximum = self.setup.limits.max_read_tokens
        return Trip("max_read_tokens", maximum, self.session.read_tokens, maximum - self.session.read_tokens + 1)

    def _restricted(self) -> frozenset[str]:
        return self.setup.corpus.reader.restricted_scopes()

    def _context(self) -> ToolContext:
        return ToolContext(
            reader=self.setup.corpus.reader,
            backend=self.setup.corpus.backend,
            session=self.session,
            as_of=self.question.as_of,
            scopes=self.question.scopes,
            read_tokens_left=self.setup.limits.max_read_tokens - self.session.read_tokens,
            canonical_issuer=self.setup.profile.canonical_issuer,
        )

    @property
    def asks_current(self) -> bool:
        return self.setup.profile.asks_current(self.question.text)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that are open now: valid in this state and affordable."""
        return tuple(
            t.name for t in open_tools(self.setup.tools, self.session.state) if self.budget.refuse(t) is None
        )


def execute(question: Question, setup: Setup) -> tuple[Run, End]:
    """Research a question. However it goes, there is one end, and the trace holds everything up to it.

    Raises only what makes a trace impossible to write.
    """
    run = Run(question, setup)
    try:
        end = run.research()
    except KeyboardInterrupt:
        end = End(reason=Reason.INTERRUPTED)
        if not run.record.began:  # interrupted before its first line: a trace begins with it
            run.record.started(question, setup)
    except PlannerError as error:
        end = End(reason=Reason.PROVIDER_ERROR, message=error.message, error=error)
    except Exception as error:  # noqa: BLE001 - a bug ends the run as `failed`, with its traceback kept
        end = End(reason=Reason.INTERNAL_ERROR, message=f"{type(error).__name__}: {error}", error=error)
    return run, end
