"""The real text, where the folder of it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dofrag.ingest import pipeline
from dofrag.ingest.pipeline import Ingest, build
from dofrag.ingest.verify import verify
from dofrag.profiles.dof.profile import DofProfile

DATA = os.environ.get("DOF_DATA")
pytestmark = [
    pytest.mark.realtext,
    pytest.mark.skipif(DATA is None, reason="DOF_DATA names no folder of real official text"),
]


def test_the_real_text_builds_and_verifies(tmp_path: Path) -> None:
    assert DATA is not None
    paths = [Path(DATA) / "gazette", Path(DATA) / "dof_v4" / "corpus"]
    ingest = Ingest(profile=DofProfile())
    report = build(paths, tmp_path / "index", ingest)
    assert report.problems == ()
    assert report.indexed >= 330
    assert len(report.alternate_of) >= 4
    assert all(reason for _, reason in report.failed)
    assert verify(tmp_path / "index", pipeline.silent).faults == []
    again = build(paths, tmp_path / "index", ingest)
    assert (again.parsed, again.stamp) == (0, report.stamp)
