"""What people say of runs: one JSON object a line, `run, claim, verdict, reason, author`, only ever added to.

`run` is a run id, `claim` the place of a claim in its answer from 0, or null for the whole answer. Lines of the
review page (`dofrag.verdict/1`) are read too, and kept in these words.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError
from dofrag.evals.metrics import Record
from dofrag.evals.records import canonical

FILE = "verdicts.jsonl"
VERDICTS = ("correct", "partial", "incorrect", "unresolved")
"""From best to worst, but for `unresolved`: nobody could tell."""
_WORST = ("incorrect", "unresolved", "partial", "correct")
_KEYS = {"run", "claim", "verdict", "reason", "author"}

_REVIEWED = "dofrag.verdict/1"

Json = dict[str, Any]
Verdict = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Runs that people judged, by verdict, and how many of those that were also graded the grader agrees on
    (`correct` against all else)."""

    variant: str
    n: int
    verdicts: dict[str, int]
    compared: int
    agree: int


def read_verdicts(path: Path, records: Sequence[Record]) -> list[Verdict]:
    """Raises UsageError for a line that is no verdict, or of a run that the campaign does not have."""
    claims = {str(r["run_id"]): len(r["result"]["claims"]) for r in records}
    rows: list[Verdict] = []
    try:
        lines = path.read_bytes().split(b"\n") if path.is_file() else []
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and row.get("schema") == _REVIEWED:
            row = _from_review(row)
        fault = _fault(row, claims)
        if fault is not None:
            raise UsageError(f"{path}:{number}: {fault}", hint="docs/evaluation.md has the format of verdicts")
        rows.append(row)
    return rows


def _from_review(row: Mapping[str, Any]) -> Json:
    reasons, note = row.get("reasons"), row.get("note")
    said = [*(map(str, reasons) if isinstance(reasons, list | tuple) else ()), *([str(note)] if note else ())]
    return {"run": row.get("run_id"), "claim": row.get("claim"), "verdict": row.get("verdict"),
            "reason": "; ".join(said), "author": row.get("author")}  # fmt: skip


def _fault(row: Any, claims: Mapping[str, int]) -> str | None:
    if not isinstance(row, dict) or set(row) != _KEYS:
        return f"a verdict has {', '.join(sorted(_KEYS))}"
    if row["run"] not in claims:
        return f"the campaign has no run {str(row['run'])[:60]!r}"
    claim = row["claim"]
    if claim is not None and (
        isinstance(claim, bool) or not isinstance(claim, int) or not 0 <= claim < claims[row["run"]]
    ):
        return f"run {row['run']} has no claim {str(claim)[:20]}"
    if row["verdict"] not in VERDICTS:
        return f"the verdict is one of {', '.join(VERDICTS)}"
    if not all(isinstance(row[k], str) for k in ("reason", "author")) or not row["author"].strip():
        return "a verdict has a reason and an author"
    if not row["reason"].strip() and row["verdict"] in ("partial", "incorrect"):
        return "partial and incorrect have a reason"
    return None


def take_in(path: Path, folder: Path, records: Sequence[Record]) -> int:
    """Add the verdicts of a file to the campaign's, and count the new ones; one that is there already is not added
    again. Raises what `read_verdicts` raises, and adds nothing then."""
    there = {canonical(row) for row in read_verdicts(folder / FILE, records)}
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}", hint="docs/evaluation.md has the format of verdicts")
    fresh = [line for row in read_verdicts(path, records) if (line := canonical(row)) not in there]
    if fresh:
        with (folder / FILE).open("ab") as handle:
            handle.write("".join(line + "\n" for line in dict.fromkeys(fresh)).encode("utf-8"))
            handle.flush()
            os.fsync(handle.fileno())
    return len(dict.fromkeys(fresh))


def run_verdicts(rows: Sequence[Verdict]) -> dict[str, str]:
    """One verdict a run. Of one person: the last one given of the whole answer, else the worst of its claims' last
    ones. Of several who differ: unresolved."""
    whole: dict[tuple[str, str], str] = {}
    parts: dict[tuple[str, str], dict[int, str]] = {}
    for row in rows:
        key = row["run"], row["author"]
        if row["claim"] is None:
            whole[key] = row["verdict"]
        else:
            parts.setdefault(key, {})[row["claim"]] = row["verdict"]
    worst = {key: min(said.values(), key=_WORST.index) for key, said in parts.items()}
    by_run: dict[str, set[str]] = {}
    for (run, _), verdict in (worst | whole).items():
        by_run.setdefault(run, set()).add(verdict)
    return {run: next(iter(said)) if len(said) == 1 else "unresolved" for run, said in by_run.items()}


def judged(rows: Sequence[Verdict], records: Sequence[Record], variants: Sequence[str]) -> list[Judged]:
    """The table of verdicts, a row a variant that has any."""
    said = run_verdicts(rows)
    made = []
    for variant in variants:
        mine = [(said[r["run_id"]], r["grade"]["correct"]) for r in records
                if r["variant"] == variant and r["run_id"] in said]  # fmt: skip
        if not mine:
            continue
        counts = Counter(verdict for verdict, _ in mine)
        graded = [(v == "correct", c) for v, c in mine if c is not None and v != "unresolved"]
        made.append(Judged(variant=variant, n=len(mine), verdicts={v: counts[v] for v in VERDICTS},
                           compared=len(graded), agree=sum(a == b for a, b in graded)))  # fmt: skip
    return made
