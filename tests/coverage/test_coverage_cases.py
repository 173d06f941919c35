"""Question–passage pairs, each with the verdict that its passage deserves, through what `dof coverage check` uses."""

from __future__ import annotations

import json
import os
import sys
from datetime import date
from pathlib import Path

import pytest

from dofrag.coverage.match import prepare
from dofrag.coverage.trial import passage_from, try_passage, verdict
from dofrag.domain.question import Question
from dofrag.profiles.dof.profile import DofProfile

OWN = Path(__file__).with_name("cases.jsonl")
DATA = os.environ.get("DOF_DATA")
PROFILE = DofProfile()


def cases(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def reached(case: dict) -> tuple[str, list[str]]:
    day = date.fromisoformat(case["publication_date"])
    subs = PROFILE.decompose(Question(text=case["question"], as_of=day))
    passage = passage_from(
        case["passage"],
        day,
        title=case["title"],
        issuer=case["issuer"],
        headings=tuple(case["headings"]),
        identifiers=PROFILE.identifiers(case["title"]),
    )
    tried = try_passage(subs, prepare(passage))
    return verdict(tried), [f"{t.kind} {t.label}: {t.status} ({t.why})" for t in tried]


@pytest.mark.parametrize("case", cases(OWN), ids=lambda c: c["id"])
def test_own_case_gets_its_verdict(case):
    got, why = reached(case)
    assert got == case["verdict"], (case["why"], why)


def test_half_of_the_own_cases_are_negative():
    verdicts = [c["verdict"] for c in cases(OWN)]
    assert verdicts.count("none") + verdicts.count("some") >= len(verdicts) // 2 >= 12


@pytest.mark.realtext
@pytest.mark.skipif(not DATA, reason="DOF_DATA does not name the folder of real official text")
def test_development_cases_get_their_verdicts(capsys):
    rows = [(c, *reached(c)) for c in cases(Path(DATA or "") / "coverage_cases.jsonl")]
    table = [
        f"  {c['id']}  {c['verdict']:<5} {got:<5} {'ok' if got == c['verdict'] else 'WRONG'}" for c, got, _ in rows
    ]
    with capsys.disabled():
        sys.stdout.write(
            "\n".join(["", *table, f"  {sum(got == c['verdict'] for c, got, _ in rows)} of {len(rows)}", ""])
        )
    wrong = [(c["id"], got, why) for c, got, why in rows if got != c["verdict"]]
    assert wrong == []
