"""A run as OpenTelemetry spans (OTLP/JSON): the run, a span a call of a tool or a model, span events for the rest.

Ids come from the trace's own hashes: the same trace gives the same ids, however often it is exported. Attribute names
are those of the semantic conventions for generative AI where there is one, and begin with `dofrag.` otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from dofrag.domain.run import TerminalState
from dofrag.trace.codec import Record
from dofrag.trace.events import (
    Answered,
    CoverageChanged,
    DraftProposed,
    DraftRejected,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
)
from dofrag.trace.export.escape import safe_json, visible
from dofrag.trace.trajectory import Call, Trajectory

Json = dict[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INTERNAL, _CLIENT = 1, 3
_UNSET, _OK, _ERROR = 0, 1, 2
TEXT_MAX = 4_000
"""Characters of one attribute at most."""


def to_otel(runs: Sequence[Trajectory]) -> str:
    """An `ExportTraceServiceRequest` in JSON: one resource, one trace a run."""
    version = str(runs[0].start.versions.get("code", "")) if runs else ""
    document = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.name": "dofrag", "service.version": version})},
                "scopeSpans": [
                    {
                        "scope": {"name": "dofrag.trace", "version": version},
                        "spans": [span for run in runs for span in _spans(run)],
                    }
                ],
            }
        ]
    }
    return safe_json(document) + "\n"


def _spans(run: Trajectory) -> list[Json]:
    trace_id = _id(run.records[0].digest, "trace", 16)
    root = _id(run.records[0].digest, "run", 8)

    def child(name: str, key: str, kind: int, start: datetime, end: datetime, told: Json, status: int) -> Json:
        return {
            "traceId": trace_id,
            "spanId": _id(run.records[0].digest, key, 8),
            "parentSpanId": root,
            "name": visible(name)[:200],
            "kind": kind,
            "startTimeUnixNano": _nanos(start),
            "endTimeUnixNano": _nanos(end),
            "attributes": _attributes(told),
            "status": {"code": status},
        }

    spans = [_run(run, trace_id, root)]
    for call in run.calls:
        asked = call.asked
        end = call.returned_at or run.last_at
        status = _OK if call.ok else _ERROR
        spans.append(
            child(f"execute_tool {asked.tool}", asked.call_id, _INTERNAL, call.asked_at, end, _call(call), status)
        )
    before = run.records[0]
    for record in run.records:
        if isinstance(event := record.event, ModelCalled):
            # The event is written when a request is over: it began after what was written before it.
            key, status = f"model {event.turn}.{event.attempt}", _OK if event.outcome == "ok" else _ERROR
            spans.append(child(f"chat {event.model}", key, _CLIENT, before.at, record.at, _model(event), status))
        before = record
    return spans


def _run(run: Trajectory, trace_id: str, span_id: str) -> Json:
    start, finish = run.start, run.finish
    told: Json = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "dofrag",
        "gen_ai.conversation.id": run.run_id,
        "dofrag.question": start.question,
        "dofrag.as_of": start.as_of.isoformat(),
        "dofrag.corpus": start.corpus,
        "dofrag.planner": start.planner,
        "dofrag.strategy": start.strategy,
        "dofrag.terminal_state": str(run.terminal_state),
        "dofrag.closure": str(run.closure),
        "dofrag.reason": str(run.reason),
        "dofrag.interrupted": run.interrupted,
        "dofrag.citations": len(run.answer.citations) if run.answer else 0,
        "dofrag.trace_sha256": run.last_hash,
    }
    told |= {f"dofrag.version.{k}": v for k, v in sorted(start.versions.items())}
    if finish is not None:
        told |= {f"dofrag.spend.{k}": v for k, v in sorted(finish.spend.items()) if v is not None}
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "name": "invoke_agent dofrag",
        "kind": _INTERNAL,
        "startTimeUnixNano": _nanos(run.started_at),
        "endTimeUnixNano": _nanos(run.last_at),
        "attributes": _attributes(told),
        "events": [e for record in run.records if (e := _event(record)) is not None],
        "status": {"code": _status(run)},
    }


def _status(run: Trajectory) -> int:
    """To abstain is no error; to fail is. A run that was broken off says neither."""
    if run.terminal_state is TerminalState.FAILED:
        return _ERROR
    return _UNSET if run.interrupted else _OK


def _call(call: Call) -> Json:
    told: Json = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.asked.tool,
        "gen_ai.tool.call.id": call.asked.call_id,
        "gen_ai.tool.call.arguments": json.dumps(call.asked.arguments, ensure_ascii=False, sort_keys=True),
        "dofrag.turn": call.asked.turn,
        "dofrag.why": call.asked.why,
        "dofrag.read": len(call.passages),
    }
    if isinstance(total := call.envelope.get("total"), int):
        told["dofrag.total"] = total
    if call.error is not None:
        told["error.type"] = str(call.error.get("code"))
    return told


def _model(event: ModelCalled) -> Json:
    told: Json = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": event.model,
        "gen_ai.request.max_tokens": event.max_output_tokens,
        "dofrag.turn": event.turn,
        "dofrag.mode": event.mode,
    }
    known = {
        "gen_ai.usage.input_tokens": event.input_tokens,
        "gen_ai.usage.output_tokens": event.output_tokens,
        "dofrag.cost_usd": event.cost,
        "error.type": None if event.outcome == "ok" else event.outcome,
    }
    return told | {name: value for name, value in known.items() if value is not None}


def _event(record: Record) -> Json | None:
    told: Json
    match record.event:
        case PassageRead() as event:
            told = {"chunk_id": event.chunk_id, "publication": event.publication, "sha256": event.sha256}
        case CoverageChanged() as event:
            told = {"supported": event.supported, "total": event.total}
        case DraftProposed() as event:
            told = {"turn": event.turn}
        case DraftRejected() as event:
            told = {"turn": event.turn, "codes": " ".join(str(f.get("code")) for f in event.faults)}
        case LimitReached() as event:
            told = {"limit": event.limit, "maximum": event.maximum, "spent": event.spent}
        case Answered() as event:
            told = {"turn": event.turn, "citations": len(event.citations)}
        case RunFinished() as event:
            told = {"reason": str(event.reason)}
        case _:
            return None
    told = {f"dofrag.{name}": value for name, value in told.items()}
    return {
        "timeUnixNano": _nanos(record.at),
        "name": f"dofrag.{record.event.event}",
        "attributes": _attributes(told),
    }


def _id(digest: str, key: str, size: int) -> str:
    """`size` bytes in hex; never all zeros, which would be no id."""
    return hashlib.sha256(f"{digest}\n{key}".encode()).hexdigest()[: size * 2]


def _nanos(moment: datetime) -> str:
    return str((moment - _EPOCH) // timedelta(microseconds=1) * 1000)


def _attributes(told: Mapping[str, Any]) -> list[Json]:
    return [{"key": visible(str(key))[:200], "value": _value(value)} for key, value in told.items()]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": visible(str(value))[:TEXT_MAX]}
