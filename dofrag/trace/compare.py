"""Two traces of one question: what was set, looked for, read, covered, said and spent otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from difflib import SequenceMatcher
from typing import Any

from dofrag.errors import UsageError
from dofrag.trace.problems import objects
from dofrag.trace.results import differences
from dofrag.trace.trajectory import Call, Trajectory

Json = dict[str, Any]
SCHEMA = "dofrag.diff/1"
NEVER = "elapsed_ms"
"""What two runs of one thing differ in without being different."""


def compare(a: Trajectory, b: Trajectory) -> Json:
    """Every difference, as JSON values; empty sections where there is none. Raises UsageError for two questions."""
    if a.start.question != b.start.question:
        raise UsageError(
            f"{a.run_id} and {b.run_id} are of two questions: {a.start.question[:120]!r} and"
            f" {b.start.question[:120]!r}",
            hint="name two traces of one question",
        )
    sections: Json = {
        "settings": _pairs(_settings(a), _settings(b)),
        "end": _pairs(_end(a), _end(b)),
        "calls": _calls(a.calls, b.calls),
        "passages": _sides(
            {i: {"chunk_id": i, "publication": p.publication} for i, p in a.passages.items()},
            {i: {"chunk_id": i, "publication": p.publication} for i, p in b.passages.items()},
        )
        + _texts(a, b),
        "coverage": _coverage(a, b),
        "drafts": _drafts(a, b),
        "claims": _sides(_claims(a), _claims(b)),
        "spend": _pairs(_spend(a), _spend(b)),
    }
    return {
        "schema": SCHEMA,
        "question": a.start.question,
        "a": a.run_id,
        "b": b.run_id,
        "same": not any(sections.values()),
        **sections,
    }


def _pairs(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Json]:
    return [
        {"name": name, "a": a.get(name), "b": b.get(name)}
        for name in dict.fromkeys([*a, *b])
        if a.get(name) != b.get(name)
    ]


def _settings(run: Trajectory) -> Json:
    start = run.start
    told: Json = {
        "as_of": start.as_of.isoformat(),
        "scopes": list(start.scopes),
        "corpus": start.corpus,
        "corpus_dates": None
        if start.corpus_dates is None
        else [start.corpus_dates.first.isoformat(), start.corpus_dates.last.isoformat()],
        "planner": start.planner,
        "strategy": start.strategy,
        "tools": start.tools,
        "parts": list(run.parts),
    }
    told |= {f"limit {name}": value for name, value in sorted(start.limits.items())}
    return told | {f"version {name}": value for name, value in sorted(start.versions.items())}


def _end(run: Trajectory) -> Json:
    return {
        "terminal_state": str(run.terminal_state),
        "closure": str(run.closure),
        "reason": str(run.reason),
        "message": run.finish.message if run.finish else None,
        "premise": dict(run.answer.premise) if run.answer else None,
        "interrupted": run.interrupted,
    }


def _calls(a: tuple[Call, ...], b: tuple[Call, ...]) -> list[Json]:
    """Calls that only one side made, and those of both that brought something else. Lined up in order."""
    keys = [_key(call) for call in a], [_key(call) for call in b]
    found: list[Json] = []
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if kind == "equal":
            found += [row for x, y in zip(a[a1:a2], b[b1:b2], strict=True) if (row := _both(x, y)) is not None]
            continue
        found += [{"side": "a", **_told(call)} for call in a[a1:a2]]
        found += [{"side": "b", **_told(call)} for call in b[b1:b2]]
    return found


def _key(call: Call) -> str:
    return json.dumps([call.asked.tool, call.asked.arguments], sort_keys=True, ensure_ascii=False)


def _told(call: Call) -> Json:
    asked = call.asked
    error = call.error
    return {
        "turn": asked.turn,
        "call_id": asked.call_id,
        "tool": asked.tool,
        "arguments": asked.arguments,
        "outcome": "ok" if call.ok else error.get("code") if error else None,
    }


def _both(a: Call, b: Call) -> Json | None:
    if (a.returned is None) is not (b.returned is None):
        gone = "b" if b.returned is None else "a"
        return {"side": "both", **_told(a), "b_call_id": b.asked.call_id, "differences": [], "broken_off": gone}
    found = differences(a.envelope, b.envelope)
    if not found:
        return None
    return {
        "side": "both",
        **_told(a),
        "b_call_id": b.asked.call_id,
        "differences": [asdict(one) for one in found],
    }


def _sides(a: Mapping[Any, Json], b: Mapping[Any, Json]) -> list[Json]:
    return [{"side": "a", **row} for key, row in a.items() if key not in b] + [
        {"side": "b", **row} for key, row in b.items() if key not in a
    ]


def _texts(a: Trajectory, b: Trajectory) -> list[Json]:
    return [
        {"side": "both", "chunk_id": i, "publication": p.publication, "a": p.sha256, "b": b.passages[i].sha256}
        for i, p in a.passages.items()
        if i in b.passages and p.sha256 != b.passages[i].sha256
    ]


def _coverage(a: Trajectory, b: Trajectory) -> list[Json]:
    rows = [{str(row.get("id")): row for row in _rows(run)} for run in (a, b)]
    found = []
    for key in dict.fromkeys([*rows[0], *rows[1]]):
        one, other = (side.get(key, {}) for side in rows)
        if any(one.get(name) != other.get(name) for name in ("status", "chunk_id", "label")):
            row: Json = {"id": key, "label": one.get("label", other.get("label"))}
            for side, told in (("a", one), ("b", other)):
                row |= {side: told.get("status"), f"{side}_chunk_id": told.get("chunk_id")}
            found.append(row)
    return found


def _rows(run: Trajectory) -> Iterable[Mapping[str, Any]]:
    return (row for part in run.coverage for row in objects(part.get("requirements")))


def _drafts(a: Trajectory, b: Trajectory) -> list[Json]:
    told = [
        [{"verdict": d.verdict, "faults": [[f.get("code"), f.get("where")] for f in d.faults]} for d in run.drafts]
        for run in (a, b)
    ]
    return [] if told[0] == told[1] else [{"a": told[0], "b": told[1]}]


def _claims(run: Trajectory) -> dict[str, Json]:
    claims = run.answer.claims if run.answer else ()
    rows = [
        {
            "text": claim.get("text"),
            "citations": [[c.get("chunk_id"), c.get("quote")] for c in objects(claim.get("citations"))],
        }
        for claim in claims
    ]
    return {json.dumps(row, sort_keys=True, ensure_ascii=False): row for row in rows}


def _spend(run: Trajectory) -> Json:
    spend = run.finish.spend if run.finish else {}
    return {name: value for name, value in sorted(spend.items()) if name != NEVER}
