"""Every reason, limit, fault and error code that a user can meet stands in the documentation."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from dofrag.domain.evidence import FaultCode
from dofrag.domain.run import ENDS, Limits
from dofrag.tools import ErrorCode

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = (DOCS / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("reason", list(ENDS))
def test_reason_is_documented_with_its_state_and_closure(reason: str) -> None:
    state, closure = ENDS[reason]
    assert f"| `{reason}` | `{state}` | {closure} |" in RESULTS


@pytest.mark.parametrize("limit", fields(Limits), ids=lambda f: f.name)
def test_limit_is_documented_with_its_default(limit) -> None:
    assert f"| `{limit.name}` | {limit.default:,.0f} |" in RESULTS


@pytest.mark.parametrize("code", [*FaultCode, *ErrorCode])
def test_code_is_documented(code: str) -> None:
    assert f"| `{code}` | " in RESULTS
