"""A language model in the planner's seat. It proposes; whatever it says is held to the same rules as any planner.

One object a run: it keeps the conversation, so that a provider's cache of its beginning holds. A turn is one request
(`Ask`) and one reading of the reply. A reply that cannot be used costs its turn, and the next prompt says what was
wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dofrag.domain.evidence import Draft
from dofrag.llm.actions import TEXT_MAX, Action, find_actions
from dofrag.llm.faults import ProviderFault
from dofrag.llm.interface import (
    ChatRequest,
    ChatResponse,
    Finish,
    Function,
    FunctionCall,
    Message,
    Mode,
    Role,
)
from dofrag.llm.modes import action_schema, lower
from dofrag.llm.thoughts import larger_than, thoughtless, without_reasoning
from dofrag.planner.control import CONTROLS, control_step, open_controls
from dofrag.planner.interface import Abstain, Ask, Clarify, Parts, Step, ToolCall, Understood, View
from dofrag.planner.prompt import describe, opening, part_lines, result_text, status
from dofrag.planner.talk import Talk, alternating, function_tokens, message_tokens
from dofrag.profiles.prompts import Prompts
from dofrag.text.tokens import estimate_tokens, one_line
from dofrag.tools.arguments import checked_arguments
from dofrag.tools.contract import ToolInputError, ToolSpec
from dofrag.trace.codec import jsonable

MAX_CALLS = 8
"""Calls of one reply that are answered; a reply with more is cut to these."""
LOWER_AFTER = 2
"""Replies in a row without an action, after which a mode that calls functions is left."""


class ModelPlanner:
    """`tools` are those of the run. `mode` is where it starts: it goes down where the provider refuses or ignores it,
    and never up again."""

    name = "model"

    def __init__(self, prompts: Prompts, tools: Sequence[ToolSpec], mode: Mode, max_output_tokens: int) -> None:
        self._prompts = prompts
        self._tools = {t.name: Function(t.name, t.summary, t.schema) for t in tools}
        self._mode = mode
        self._cap = max_output_tokens
        self._opening = ""
        self._talk = Talk()
        self._asked: tuple[FunctionCall, ...] = ()  # the calls of the last turn, whose results are due
        self._step: Step | None = None
        self._notice = ""
        self._silent = 0
        self._known = 0  # calls of the history whose results were shown
        self._made: set[str] = set()
        self._shown: set[str] = set()

    def next_step(self, view: View) -> Ask:
        """The request of this turn. What came of the last turn is added to the conversation first."""
        if not self._opening:
            self._opening = opening(self._prompts, view)
        self._settle(view)
        return self._ask(view)

    def _settle(self, view: View) -> None:
        """Answer the last reply's calls: each has its result, in its order, so that the history is valid."""
        fresh = view.history[self._known :]
        self._known = len(view.history)
        for n, call in enumerate(self._asked):
            if n < len(fresh):
                past = fresh[n]
                text, stub = result_text(self._prompts, past, self._shown), self._prompts("omitted")
                if past.envelope["ok"] and past.tool != "read_chunks":
                    self._result(call, text, stub)
                else:
                    self._result(call, text)
                if past.envelope["ok"]:
                    self._made.add(_key(past.tool, past.arguments))
            elif n == 0:
                self._result(call, self._outcome(view))
            else:
                self._result(call, self._prompts("one_call"))
        for past in fresh[len(self._asked) :]:  # made for the model, before it was asked anything
            self._talk.add(Message(role=Role.USER, text=result_text(self._prompts, past, self._shown)))
        self._asked = ()

    def _outcome(self, view: View) -> str:
        """What came of a step that was no tool call."""
        if isinstance(self._step, Draft):
            return self._prompts("draft_rejected")
        if isinstance(self._step, Parts):
            added = [sub.id for sub in view.sub_questions if sub.origin == "planner"]
            if not added:
                return self._prompts("parts_none")
            return self._prompts("parts_added", parts="\n" + "\n".join(part_lines(self._prompts, view, added)))
        return self._notice

    def _result(self, call: FunctionCall, text: str, stub: str | None = None) -> None:
        if self._mode.calls_functions:
            self._talk.add(Message(role=Role.TOOL, text=text, call_id=call.call_id), stub)
        else:
            self._talk.add(Message(role=Role.USER, text=text), stub)

    def _ask(self, view: View) -> Ask:
        functions = [self._tools[name] for name in view.tools if name in self._tools]
        functions += open_controls(view)
        block = status(self._prompts, view, [f.name for f in functions], self._notice)
        mode = self._mode
        if not mode.calls_functions:
            block = f"{block}\n{self._prompts('next_json')}"
        start = [
            Message(role=Role.SYSTEM, text=self._system(mode)),
            Message(role=Role.USER, text=self._opening),
        ]
        end = Message(role=Role.USER, text=block)
        sent = function_tokens(functions) if mode.calls_functions else 0
        schema = action_schema(functions) if mode is Mode.JSON_SCHEMA else None
        sent += estimate_tokens(json.dumps(schema, ensure_ascii=False)) if schema else 0
        fixed = sent + sum(message_tokens(m) for m in (*start, end))
        if self._talk.shorten(fixed):
            # What is no longer in sight may be asked for, and introduced, again.
            self._shown.clear()
            self._made.clear()
        messages = alternating([*start, *self._talk.messages, end])
        request = ChatRequest(
            messages=messages,
            functions=tuple(functions) if mode.calls_functions else (),
            mode=mode,
            prompt_tokens=sent + sum(message_tokens(m) for m in messages),
            max_output_tokens=self._cap,
            schema=schema,
        )
        names = tuple(f.name for f in functions)
        return Ask(
            request=request,
            read=lambda response: self._read(response, view, names),
            lower=lambda fault: self._lower(fault, view),
        )

    def _system(self, mode: Mode) -> str:
        if mode.calls_functions:
            return f"{self._prompts('system')}\n{self._prompts('system_functions')}"
        actions = describe([*self._tools.values(), *CONTROLS.values()])
        return f"{self._prompts('system')}\n{self._prompts('system_json', actions=actions)}"

    def _lower(self, fault: ProviderFault, view: View) -> Ask | None:
        """The same turn in the next mode. The conversation so far is told anew in its form."""
        mode = lower(self._mode)
        if mode is None:
            return None
        self._enter(mode)
        return self._ask(view)

    def _enter(self, mode: Mode) -> None:
        if self._mode.calls_functions and not mode.calls_functions:
            self._talk = self._talk.without_calls()
        self._mode = mode

    def _read(self, response: ChatResponse, view: View, names: tuple[str, ...]) -> Understood:
        """What a reply asks for, or why it cannot be used."""
        self._notice = ""
        self._step = None
        if response.finish is Finish.LENGTH:
            return self._unusable("truncated", cap=self._cap)
        calls, fault = self._calls(response, names)
        if not calls:
            return self._unusable(fault)
        self._silent = 0
        self._talk.add(self._said(calls, response), self._prompts("draft_stub") if _is_draft(calls) else None)
        self._asked = calls
        return self._understand(calls, view, names)

    def _calls(self, response: ChatResponse, names: tuple[str, ...]) -> tuple[tuple[FunctionCall, ...], str]:
        """The calls of a reply, with ids of ours where it has none; or what is wrong with it."""
        if response.calls:
            first = response.calls[:MAX_CALLS]
            if larger_than([(call.name, call.arguments) for call in first], TEXT_MAX):
                return (), "too_long"  # before anything is done with it
            return _numbered([_plain(call) for call in first], self._known), ""
        if response.finish is Finish.REFUSAL:
            return (), "refusal"
        text = response.text
        if len(text) > TEXT_MAX:
            return (), "too_long"
        found = find_actions(text, (*self._tools, *CONTROLS), self._valid)
        if found.actions:
            calls = [_plain(FunctionCall("", a.name, a.arguments)) for a in found.actions[:MAX_CALLS]]
            return _numbered(calls, self._known), ""
        if found.cut:
            return (), "cut_json"
        return (), "no_action" if without_reasoning(text).strip() else "empty_reply"

    def _valid(self, action: Action) -> bool:
        function = self._tools.get(action.name) or CONTROLS.get(action.name)
        if function is None:
            return False
        try:
            checked_arguments(function.name, function.schema, action.arguments)
        except ToolInputError:
            return False
        return True

    def _said(self, calls: tuple[FunctionCall, ...], response: ChatResponse) -> Message:
        """The reply as it stays in the conversation: its calls, never its loose text or its thoughts."""
        if self._mode.calls_functions:
            kept = tuple(FunctionCall(c.call_id, c.name, _object(c.arguments)) for c in calls)
            return Message(role=Role.ASSISTANT, calls=kept, carry=response.carry)
        first = calls[0]
        text = json.dumps({"action": first.name, "arguments": _object(first.arguments)}, ensure_ascii=False)
        return Message(role=Role.ASSISTANT, text=text)

    def _understand(self, calls: tuple[FunctionCall, ...], view: View, names: tuple[str, ...]) -> Understood:
        first = calls[0]
        if not self._mode.calls_functions:
            self._asked = calls[:1] if first.name in CONTROLS else calls
        others = [one_line(c.name, 60) for c in calls[1:]]
        if first.name in CONTROLS:
            return self._control(first, view, names, others)
        if self._repeats(first):
            return self._unusable("repeated_call", tool=first.name)
        steps = tuple(ToolCall(one_line(c.name, 80), jsonable(_parsed(c.arguments))) for c in calls)
        self._step = steps if len(steps) > 1 else steps[0]
        return Understood(step=self._step, reply={"kind": "call"})

    def _repeats(self, call: FunctionCall) -> bool:
        """Whether the same call was made and its result is still in sight."""
        function = self._tools.get(call.name)
        if function is None:
            return False
        try:
            arguments = checked_arguments(call.name, function.schema, jsonable(_parsed(call.arguments)))
        except ToolInputError:
            return False
        return _key(call.name, arguments) in self._made

    def _control(self, call: FunctionCall, view: View, names: tuple[str, ...], others: list[str]) -> Understood:
        if call.name not in names:
            return self._unusable("not_open", name=call.name)
        try:
            step = control_step(call.name, jsonable(_parsed(call.arguments)), view, self._prompts)
        except ToolInputError as error:
            if str(error) in ("unknown_options", "not_ambiguous", "not_a_part"):
                return self._unusable(str(error))
            return self._unusable("invalid_arguments", name=call.name, why=one_line(str(error), 300))
        self._step = step
        return Understood(step=step, reply=_reply(step) | ({"refused": others} if others else {}))

    def _unusable(self, code: str, **values: Any) -> Understood:
        """Nothing to do. Replies without any action, twice in a row, mean that the mode is not understood."""
        self._notice = self._prompts(f"unusable.{code}", **values)
        if code in ("no_action", "empty_reply"):
            self._silent += 1
            below = lower(self._mode)
            if self._silent >= LOWER_AFTER and self._mode.calls_functions and below is not None:
                self._enter(Mode.JSON_SCHEMA)
                self._silent = 0
        return Understood(step=None, outcome=code, message=code, reply={"kind": "nothing"})


def _is_draft(calls: Sequence[FunctionCall]) -> bool:
    return calls[0].name == "submit_answer"


def _reply(step: Step) -> dict[str, Any]:
    """What the trace keeps of a step that has no event of its own."""
    match step:
        case Abstain():
            return {"kind": "abstain", "why": step.why}
        case Clarify():
            return {"kind": "clarify", "message": step.message, "options": list(step.options)}
        case Parts():
            return {"kind": "parts", "spans": [list(span) for span in step.spans]}
        case _:
            return {"kind": "draft"}


def _numbered(calls: Sequence[FunctionCall], start: int) -> tuple[FunctionCall, ...]:
    """Calls with usable ids: a provider may leave them out or repeat them."""
    seen: set[str] = set()
    out = []
    for n, call in enumerate(calls):
        call_id = call.call_id
        if not call_id or len(call_id) > 64 or call_id in seen:
            call_id = f"call_{start + n + 1}"
        seen.add(call_id)
        out.append(FunctionCall(call_id, call.name, call.arguments))
    return tuple(out)


def _plain(call: FunctionCall) -> FunctionCall:
    """A call without thoughts in its name or arguments. Text that is no JSON object stays text."""
    arguments = call.arguments
    if isinstance(arguments, str):
        arguments = without_reasoning(arguments) if not isinstance(_parsed(arguments), dict) else arguments
        arguments = _parsed(arguments)
    return FunctionCall(call.call_id, without_reasoning(call.name).strip(), thoughtless(arguments))


def _parsed(arguments: Any) -> Any:
    """Arguments as a JSON value; text that is no JSON stays text, for dispatch to refuse."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def _object(arguments: Any) -> Any:
    """Arguments as they are sent back: an object always, since templates read nothing else."""
    value = _parsed(arguments)
    return jsonable(value) if isinstance(value, dict) else {}


def _key(tool: str, arguments: Any) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)}"
