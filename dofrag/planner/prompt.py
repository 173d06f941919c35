"""What a model reads: one stable beginning, results that say each thing once, and one status block at the end.

Everything that comes from documents stands in delimited blocks and cannot imitate the delimiters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.domain.question import Status
from dofrag.llm.interface import Function
from dofrag.planner.interface import PastCall, View
from dofrag.profiles.prompts import Prompts
from dofrag.text.tokens import one_line

LABEL_MAX = 160
PENDING_MAX = 40
IDS_MAX = 60
UNREAD_MAX = 24
FAULTS_MAX = 8
MESSAGE_MAX = 300
_DONE = (Status.SUPPORTED, Status.ANSWERED)


def defang(text: str) -> str:
    """Text from outside, unable to close its block or to speak a chat template's language."""
    return text.replace("<<<", "‹‹‹").replace(">>>", "›››").replace("<|", "< |").replace("[INST", "[ INST")


def opening(prompts: Prompts, view: View) -> str:
    """The question and what it requires: said once, and the same in every turn."""
    first, last = view.corpus_dates
    return prompts(
        "opening",
        question=defang(view.question.text),
        as_of=view.question.as_of.isoformat(),
        first=first.isoformat(),
        last=last.isoformat(),
        parts="\n".join(part_lines(prompts, view)),
    )


def part_lines(prompts: Prompts, view: View, only: Sequence[str] = ()) -> list[str]:
    """The sub-questions (`only` these, by id) with their requirements and premises."""
    lines = []
    for sub in (s for s in view.sub_questions if not only or s.id in only):
        lines.append(prompts("part", id=sub.id, text=one_line(defang(sub.text), LABEL_MAX)))
        lines += [prompts("requirement", id=r.id, label=_label(r.label)) for r in sub.requirements]
        lines += [prompts("premise", id=p.id, label=_label(p.label)) for p in sub.premises]
    return lines[: 3 * PENDING_MAX]


def _label(text: str) -> str:
    return one_line(defang(text), LABEL_MAX)


def status(prompts: Prompts, view: View, open_names: Sequence[str], notice: str) -> str:
    """The one block that says where the run stands, as of this turn."""
    requirements = [r for sub in view.sub_questions for r in sub.requirements]
    done = [r for r in requirements if view.coverage.get(r.id) in _DONE]
    pending = [f"{r.id} {_label(r.label)}" for r in requirements if view.coverage.get(r.id) not in _DONE]
    unread = [str(s.chunk_id) for s in view.seen if s.chunk_id not in view.passages]
    none = prompts("none")
    lines = [
        prompts(
            "status",
            turn=view.turn,
            turns=view.limits.max_turns - view.turn + 1,
            calls=view.limits.max_tool_calls - view.spend.tool_calls,
            read=f"{view.limits.max_read_tokens - view.spend.read_tokens:,}",
            open=", ".join(open_names) or none,
            covered=", ".join(f"{r.id} ({_ids(view.support.get(r.id, ())[:3])})" for r in done) or none,
            pending="; ".join(pending[:PENDING_MAX]) or none,
            citable=_ids(list(view.passages)[-IDS_MAX:]) or none,
            unread=", ".join(unread[-UNREAD_MAX:]) or none,
        )
    ]
    if view.rejections:  # of the last draft, until another one is made
        faults = dict.fromkeys(
            f"- {fault.where}: {one_line(defang(fault.message), MESSAGE_MAX)}" if fault.where
            else f"- {one_line(defang(fault.message), MESSAGE_MAX)}" for fault in view.rejections
        )  # fmt: skip
        lines.append(prompts("rejected", faults="\n".join(list(faults)[:FAULTS_MAX])))
    if notice:
        lines.append(prompts("notice", text=notice))
    return "\n".join(lines)


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def result_text(prompts: Prompts, past: PastCall, shown: set[str]) -> str:
    """What a call brought. Publication data stands once in a conversation: `shown` are the codes that were
    introduced, and is added to."""
    envelope = past.envelope
    call = f"{past.call_id} {one_line(defang(past.tool), 60)}"
    if not envelope["ok"]:
        return _refusal(prompts, call, envelope["error"])
    results = envelope["results"]
    if not results:
        if envelope["insufficient_reason"] == "already_read":
            return prompts("already_read", call=call)
        return prompts("nothing", call=call, reason=envelope["insufficient_reason"] or "-")
    lines = [prompts("found", call=call, returned=envelope["returned"], total=envelope["total"])]
    sources = envelope["sources"]
    if "text" in results[0]:
        lines.append(prompts("passages_note"))
        lines += [_passage(prompts, result, sources, shown) for result in results]
        return "\n".join(lines)
    if past.tool == "browse_document":  # the outline of one publication, which the caller named
        lines += [_pointer(result, "") for result in results]
    else:
        lines += [line for result in results for line in _hit(result, sources, shown)]
    if envelope["truncated"]:
        lines.append(prompts("more"))
    return "\n".join(lines)


def _refusal(prompts: Prompts, call: str, error: Mapping[str, Any]) -> str:
    message = one_line(defang(f"{error['message']} {error['hint']}".strip()), MESSAGE_MAX)
    lines = [prompts("refused", call=call, code=error["code"], message=message)]
    if error["allowed"]:
        lines.append(prompts("allowed", allowed=", ".join(error["allowed"])))
    return "\n".join(lines)


def _hit(result: Mapping[str, Any], sources: Mapping[str, Any], shown: set[str]) -> list[str]:
    """One entry of a search or a listing: its publication, introduced where it is new, and its pointers."""
    code = result.get("publication")
    if "passages" in result:
        return [_source(code, sources, shown), *(_pointer(p, "  ") for p in result["passages"])]
    if "chunk_id" in result:
        lead = [] if code in shown else [_source(code, sources, shown)]
        return [*lead, _pointer(result, "  ", str(code))]
    return [_source(code, sources, shown)]


def _source(code: Any, sources: Mapping[str, Any], shown: set[str]) -> str:
    name = defang(str(code))
    source = sources.get(code)
    if source is None or name in shown:
        return f"[{name}]"
    shown.add(name)
    facts = [source["date"], source["edition"], source["kind"], source["issuer"]]
    told = " · ".join(defang(str(fact)) for fact in facts if fact)
    return f"[{name}] {told} · {defang(source['title'])}"


def _pointer(result: Mapping[str, Any], indent: str, code: str = "") -> str:
    """`#12 heading: snippet`. A provision that the heading names already is not said again."""
    heading = defang(str(result.get("heading") or ""))
    text = defang(str(result.get("snippet") or result.get("first_words") or ""))
    of = f" [{defang(code)}]" if code else ""
    return f"{indent}#{result['chunk_id']}{of} {f'{heading}: {text}' if heading else text}"


def _passage(prompts: Prompts, result: Mapping[str, Any], sources: Mapping[str, Any], shown: set[str]) -> str:
    number = result["chunk_id"]
    source = _source(result["publication"], sources, shown)
    head = prompts("passage_open", id=number, source=source, heading=defang(str(result["heading"] or "-")))
    return f"{head}\n{defang(result['text'])}\n{prompts('passage_close', id=number)}"


def describe(functions: Sequence[Function]) -> str:
    """The actions for a model without functions: a line each, with the schema of its arguments."""
    lines = []
    for function in functions:
        schema = json.dumps(function.schema, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"- {function.name}: {function.description} arguments: {schema}")
    return "\n".join(lines)
