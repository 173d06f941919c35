"""The public dof-rag v4 question file, as it stands, with the nuggets that may lie beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dofrag.errors import UsageError

_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
_ENDS = {"answerable": ("answered", None), "false_premise": ("answered", "premise_corrected"),
         "unanswerable": ("abstained", None)}  # fmt: skip
"""`answerability` → the state and reason that are expected."""


def is_public(row: Mapping[str, Any]) -> bool:
    """Whether a line is of the public format."""
    return "gold_documents" in row and "answerability" in row


def read_nuggets(rows: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """Annotations by the question's id."""
    return {str(row.get("id")): row for _, row in rows}


def from_public(row: Mapping[str, Any], annotation: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """A line of our format. Raises UsageError for a line that lacks what it must have."""
    try:
        state, reason = _ENDS[row["answerability"]]
        nuggets = [] if annotation is None else [_nugget(n) for n in annotation["nuggets"]]
        return {
            "id": row["id"],
            "category": row["category"],
            "question": row["question"],
            "as_of": row["as_of"],
            "persona": row.get("persona"),
            "expected_state": state,
            "expected_reason": reason,
            "sub_questions": [{"id": "q1", "text": row["question"], "nuggets": [n for n in nuggets if n]}],
            "gold": [
                {"source": d["relpath"], "publication_date": d["publication_date"],
                 "quotes": [e["quote"] for e in d["evidence"]]}
                for d in row["gold_documents"]
            ],
            "forbidden": [],
            "reference_answer": row.get("reference_answer"),
            "hops": row.get("required_hops"),
        }  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{where}: not a line of the public v4 format: {type(error).__name__} {error}") from None


def _nugget(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """None for one that nothing mechanical can find."""
    nugget: dict[str, Any] = {"text": f"{row['ask']}: {row['expected']}", "vital": row["core"]}
    if row["derived"] and row["codigo"] is None:
        numbers = _NUMBER.findall(row["expected"])
        if not numbers:
            return None
        return nugget | {"value": {"number": float(numbers[-1].replace(",", ""))}, "computed": True}
    if not row["match"] and row["codigo"] is None:
        return None
    return nugget | {"quotes": row["match"], "source": row["codigo"]}
