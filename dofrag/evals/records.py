"""A campaign on disk: its specification, its items, and one record an episode, appended as it ends.

DIR/spec.json        what is run, written before the first run
DIR/items.jsonl      the questions as they were read, in our format
DIR/episodes.jsonl   one line a run of one question
DIR/traces/          the trace of each
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.errors import EvalError, UsageError
from dofrag.evals.dataset import Item, item_row, load_set

SPEC, ITEMS, EPISODES, TRACES = "spec.json", "items.jsonl", "episodes.jsonl", "traces"
CLOCK_FIELDS = ("utc", "run_id", "trace", "trace_sha256", "sha256")
"""Fields of a record that differ between two runs of one thing; so does `spend.elapsed_ms`."""

Json = dict[str, Any]


def canonical(document: Any) -> str:
    """One line of JSON, the same for the same values."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256_of(record: Mapping[str, Any]) -> str:
    """Of a record, without the field that holds it."""
    return hashlib.sha256(canonical({k: v for k, v in record.items() if k != "sha256"}).encode()).hexdigest()


def comparable(record: Mapping[str, Any]) -> Json:
    """A record without what a clock or a run id decides."""
    kept = {k: v for k, v in record.items() if k not in CLOCK_FIELDS}
    return kept | {"spend": {k: v for k, v in record["spend"].items() if k != "elapsed_ms"}}


def begin(folder: Path, spec: Json, items: Sequence[Item]) -> None:
    """Write what is to be run, before anything is; or see that the folder holds just that campaign.

    Raises UsageError for a folder that holds another one.
    """
    path = folder / SPEC
    lines = "".join(canonical(item_row(item)) + "\n" for item in items)
    spec = spec | {"items_sha256": hashlib.sha256(lines.encode()).hexdigest()}
    if path.exists():
        there = read_spec(folder)
        other = sorted(k for k in {*there, *spec} if there.get(k) != spec.get(k) and k != "utc")
        if other:
            raise UsageError(
                f"{str(folder)!r} holds another campaign: {', '.join(other)} differ",
                hint="name another folder with --out",
            )
        return
    _write_whole(folder / ITEMS, lines)
    _write_whole(path, json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def read_spec(folder: Path) -> Json:
    """Raises UsageError where the folder holds no campaign."""
    try:
        spec: Any = json.loads((folder / SPEC).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{str(folder)!r} holds no campaign", hint="dof eval --set v4 --out DIR") from None
    except (OSError, ValueError) as error:
        raise EvalError(f"{folder / SPEC} cannot be read: {error}") from None
    whole = isinstance(spec, dict) and all(isinstance(spec.get(n), int) for n in ("questions", "passes"))
    variants = spec.get("variants") if whole else None
    named = isinstance(variants, list) and variants and all(isinstance(v, dict) and "name" in v for v in variants)
    if not named or not all(isinstance(spec.get(n), str) for n in ("title", "set_role")):
        raise EvalError(f"{folder / SPEC} is no campaign's specification")
    return dict(spec)


def read_items(folder: Path) -> dict[str, Item]:
    """The campaign's items by id."""
    return {item.id: item for item in load_set(str(folder / ITEMS), folder).items}


def expected_episodes(spec: Mapping[str, Any]) -> int:
    """How many records a finished campaign holds."""
    return int(spec["questions"]) * int(spec["passes"]) * len(spec["variants"])


def items_sha256(folder: Path) -> str:
    """Of the items as they lie there; "" where they are gone."""
    path = folder / ITEMS
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def mend(folder: Path) -> None:
    """Take away half a line that a killed campaign left: what was not written whole was not done."""
    path = folder / EPISODES
    if not path.exists():
        return
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):
        with path.open("r+b") as handle:
            handle.truncate(whole)


def read_records(folder: Path) -> list[Json]:
    """The episodes, by variant, by pass and in the order of the set. Raises EvalError for a line that is none, or a
    run twice."""
    path = folder / EPISODES
    rows: dict[tuple[str, int, int], Json] = {}
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            record = json.loads(line)
            key = (str(record["variant"]), int(record["pass"]), int(record["index"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise EvalError(f"{path}:{number} is no episode record: {type(error).__name__} {error}") from None
        fault = _shape_fault(record)
        if fault is not None:
            raise EvalError(f"{path}:{number} is no episode record: {fault}")
        if key in rows:
            raise EvalError(f"{path}:{number}: question {record.get('question_id')!r} was recorded twice")
        rows[key] = record
    return [rows[key] for key in sorted(rows)]


_Shape = dict[str, tuple[type, ...]]
_NUMBER: tuple[type, ...] = (int, float, type(None))
_SHAPE: _Shape = {
    **dict.fromkeys(("question_id", "category", "terminal_state", "termination_reason", "expected_state"), (str,)),
    "spend": (dict,),
    "grade": (dict,),
    "result": (dict,),
    "units": (list,),
    "conduct": (dict,),
    "read": (dict,),
    "calls_rejected": (dict,),
    "sequence": (list,),
    **dict.fromkeys(("variant", "arm", "run_id"), (str,)),
    **dict.fromkeys(
        (
            "empty_calls",
            "identical_calls",
            "overlap_searches",
            "context_tokens_est",
            "requirements_total",
            "requirements_met",
        ),
        (int,),
    ),
    **dict.fromkeys(("first_call_empty", "recovered_after_empty"), (bool,)),
}
_GRADE: _Shape = {
    **dict.fromkeys(("confident_error", "answerable", "refused", "false_refusal", "scored"), (bool,)),
    "end": (str,),
    "nuggets": (list,),
    "why": (list,),
    "correct": (bool, type(None)),
    "citation_precision": _NUMBER,
    "citation_recall": _NUMBER,
}
_CONDUCT: _Shape = {
    **dict.fromkeys(("tool_selection", "trajectory", "all_hops"), (bool, type(None))),
    **dict.fromkeys(("hops_total", "hops_found", "documents_total", "documents_found"), (int,)),
    "termination": (bool,),
}
_NUGGET: _Shape = {"text": (str,), "vital": (bool,), "found": (bool,), "share": (int, float)}
_SPENT: _Shape = dict.fromkeys(
    ("turns", "tool_calls", "read_tokens", "cost_units", "elapsed_ms", "input_tokens", "output_tokens", "cost"),
    _NUMBER,
)
_GONE = object()


def _shape_fault(record: Json) -> str | None:
    """Which field that figures are computed from is missing, or of another type."""
    wrong = _misfit("", record, _SHAPE) or _misfit("grade.", record["grade"], _GRADE)
    wrong = wrong or _misfit("spend.", record["spend"], _SPENT) or _misfit("conduct.", record["conduct"], _CONDUCT)
    nuggets = () if wrong else record["grade"]["nuggets"]
    return wrong or next((w for n in nuggets if (w := _misfit("nugget.", n, _NUGGET))), None)


def _misfit(where: str, part: Any, shape: _Shape) -> str | None:
    if not isinstance(part, dict):
        return where
    return next((f"{where}{k}" for k, kinds in shape.items() if not isinstance(part.get(k, _GONE), kinds)), None)


def append(folder: Path, record: Json) -> None:
    """One line more, on the disk when this returns."""
    line = canonical(record | {"sha256": sha256_of(record)}) + "\n"
    with (folder / EPISODES).open("ab") as handle:
        handle.write(line.encode("utf-8"))
        handle.flush()
        os.fsync(handle.fileno())
