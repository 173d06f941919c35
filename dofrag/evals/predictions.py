"""Predictions, registered before a run and scored after it: a file of comparisons between figures of a report.

One JSON object a line: `id, text, left, is, right` and perhaps `by`. `left` is a figure, `right` a figure or a
number; a figure is `{"figure", "variant", "category", "subset"}`, the last two optional and not together. `is` says
how left must lie to right: `>`, `>=`, `<`, `<=` (by at least `by`), or `~` (no further apart than `by`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import EvalError, UsageError
from dofrag.evals.metrics import Figures, Record, figures, of_variant

FILE = "predictions.jsonl"
SIGNS = (">", ">=", "<", "<=", "~")
FIGURES = tuple(f.name for f in fields(Figures) if "Rate" in str(f.type))
"""Figures that can be predicted: all rates of the report."""
_KEYS = {"id", "text", "left", "is", "right", "by"}
_FORMAT = "docs/evaluation.md has the format"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """A file as it was read: its bytes, their hash, its rows."""

    raw: bytes
    sha256: str
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One prediction after the run. `held` None: one of its figures is of nothing, so that there is nothing to
    say."""

    id: str
    text: str
    claim: str
    left: float | None
    right: float | None
    held: bool | None


def read(path: Path) -> Predictions:
    """Raises UsageError for a file that is missing, empty or not of the format."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint=_FORMAT) from None
    rows = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{path}:{number} is not JSON: {str(error)[:120]}", hint="one prediction a line"
            ) from None
        fault = _fault(row)
        if fault is not None:
            raise UsageError(f"{path}:{number}: {fault}", hint=_FORMAT)
        rows.append(row)
    if not rows:
        raise UsageError(f"{path} predicts nothing", hint=_FORMAT)
    if len({row["id"] for row in rows}) < len(rows):
        raise UsageError(f"{path}: two predictions have one id", hint="give each its own")
    return Predictions(raw=raw, sha256=hashlib.sha256(raw).hexdigest(), rows=tuple(rows))


def _fault(row: Any) -> str | None:
    if not isinstance(row, dict) or not _KEYS >= set(row) >= _KEYS - {"by"}:
        return f"a prediction has {', '.join(sorted(_KEYS))}"
    if not all(isinstance(row[k], str) and row[k].strip() for k in ("id", "text")):
        return "id and text are words"
    if row["is"] not in SIGNS:
        return f"'is' is one of {' '.join(SIGNS)}"
    by = row.get("by", 0)
    if isinstance(by, bool) or not isinstance(by, int | float) or by < 0:
        return "'by' is a number from 0"
    if isinstance(row["right"], int | float) and not isinstance(row["right"], bool):
        return _figure_fault(row["left"])
    return _figure_fault(row["left"]) or _figure_fault(row["right"])


def _figure_fault(figure: Any) -> str | None:
    if not isinstance(figure, dict) or not {"figure", "variant", "category", "subset"} >= set(figure):
        return "a figure has figure, variant and perhaps category or subset"
    if figure.get("figure") not in FIGURES:
        return f"there is no figure {str(figure.get('figure'))[:40]!r}: {', '.join(FIGURES)}"
    if not all(isinstance(figure.get(k, ""), str) for k in ("variant", "category", "subset")):
        return "variant, category and subset are names"
    return "category and subset go not together" if "category" in figure and "subset" in figure else None


def keep(told: Predictions, folder: Path) -> None:
    """Put the file beside the campaign that it is about."""
    (folder / FILE).write_bytes(told.raw)


def kept(folder: Path, spec: Mapping[str, Any]) -> Predictions | None:
    """The predictions of a campaign, None where none were made. Raises EvalError for a file that was changed
    since."""
    expected = spec.get("predictions_sha256")
    if expected is None:
        return None
    told = read(folder / FILE)
    if told.sha256 != expected:
        raise EvalError(f"{folder / FILE} was changed since the campaign began", hint="restore it")
    return told


def score(told: Predictions, records: Sequence[Record]) -> list[Scored]:
    """Each prediction against the records, in the order of the file."""
    return [_scored(row, records) for row in told.rows]


def _scored(row: Mapping[str, Any], records: Sequence[Record]) -> Scored:
    left, right = _value(row["left"], records), _value(row["right"], records)
    by = float(row.get("by", 0))
    held = None if left is None or right is None else _holds(left, right, row["is"], by)
    claim = f"{_name(row['left'])} {row['is']} {_name(row['right'])}" + (f" by {by:g}" if by else "")
    return Scored(id=row["id"], text=row["text"], claim=claim, left=left, right=right, held=held)


def _value(figure: Any, records: Sequence[Record]) -> float | None:
    if not isinstance(figure, dict):
        return float(figure)
    rows: Sequence[Record] = of_variant(records, figure["variant"]) if "variant" in figure else records
    for key in ("category", "subset"):
        if key in figure:
            rows = [r for r in rows if r[key] == figure[key]]
    value: float | None = getattr(figures("", rows), figure["figure"]).value
    return value


def _holds(left: float, right: float, sign: str, by: float) -> bool:
    apart = left - right
    slack = 1e-9  # of the floats, not of the prediction
    match sign:
        case ">":
            return apart > by + slack if by == 0 else apart >= by - slack
        case ">=":
            return apart >= by - slack
        case "<":
            return -apart > by + slack if by == 0 else -apart >= by - slack
        case "<=":
            return -apart >= by - slack
        case _:
            return abs(apart) <= by + slack


def _name(figure: Any) -> str:
    if not isinstance(figure, dict):
        return f"{figure:g}"
    where = [figure[k] for k in ("variant", "category", "subset") if k in figure]
    return f"{figure['figure']}({', '.join(where)})" if where else str(figure["figure"])
