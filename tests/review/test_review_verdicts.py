"""Verdicts are appended and never lost, and agreement is what the books say it is."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_front import NOON

from dofrag.errors import UsageError
from dofrag.review.agreement import agreements, cohen, disputed
from dofrag.review.verdicts import Mark, Verdict, Why, append, current, parse, path_of, read_verdicts

PLAIN = Verdict(run_id="run-1", claim=None, verdict=Mark.INCORRECT, reasons=(Why.WRONG_VALUE,), note="dice otra cosa",
                author="ana", at=NOON, blind=False, trace_sha256="ab")  # fmt: skip
TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@given(
    st.builds(
        Verdict,
        run_id=TEXT,
        claim=st.none() | st.integers(0, 999),
        verdict=st.just(Mark.UNRESOLVED),
        reasons=st.lists(st.sampled_from(list(Why)), unique=True).map(tuple),
        note=TEXT,
        author=st.text("abcñ é", min_size=1, max_size=60).filter(str.strip),
        at=st.just(NOON),
        blind=st.booleans(),
        trace_sha256=TEXT,
    )
)
def test_a_verdict_reads_back_as_it_was_written(verdict: Verdict) -> None:
    line = verdict.line()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert parse(line) == verdict


@given(st.binary(max_size=200) | TEXT.map(lambda t: ('{"schema": "dofrag.verdict/1", "run_id": ' + t).encode()))
def test_what_is_no_verdict_is_none(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"reasons": ()},
        {"verdict": Mark.CORRECT},
        {"author": "  "},
        {"author": "a\nb"},
        {"author": "a" * 61},
        {"note": "x" * 4_001},
        {"claim": -1},
    ],
)
def test_what_does_not_hold_together_is_refused_and_not_written(tmp_path: Path, changes: dict[str, object]) -> None:
    trace = tmp_path / "run-1.jsonl"
    with pytest.raises(UsageError):
        append(trace, replace(PLAIN, **changes))  # type: ignore[arg-type]
    assert not path_of(trace).exists()


def test_the_last_word_of_each_counts(tmp_path: Path) -> None:
    trace = tmp_path / "run-1.jsonl"
    append(trace, PLAIN)
    append(trace, replace(PLAIN, author="luz"))
    append(trace, replace(PLAIN, verdict=Mark.CORRECT, reasons=()))
    found, bad = read_verdicts(path_of(trace))
    assert (len(found), bad) == (3, 0)
    kept = current(found)
    assert kept[("run-1", None, "ana")].verdict is Mark.CORRECT
    assert kept[("run-1", None, "luz")].verdict is Mark.INCORRECT


def test_half_a_line_of_a_crash_spoils_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "run-1.jsonl"
    append(trace, PLAIN)
    with path_of(trace).open("ab") as handle:
        handle.write(PLAIN.line()[:40])
    append(trace, replace(PLAIN, author="luz"))
    found, bad = read_verdicts(path_of(trace))
    assert [v.author for v in found] == ["ana", "luz"]
    assert bad == 1


def _append_many(trace: str, author: str, count: int) -> None:
    for n in range(count):
        append(Path(trace), replace(PLAIN, author=author, claim=n, note="x" * (n % 50) * 40))


def test_two_reviewers_at_once_lose_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "run-1.jsonl"
    context = multiprocessing.get_context("spawn")
    people = [context.Process(target=_append_many, args=(str(trace), name, 60)) for name in ("ana", "luz")]
    for person in people:
        person.start()
    for person in people:
        person.join(60)
    found, bad = read_verdicts(path_of(trace))
    assert bad == 0
    for name in ("ana", "luz"):
        assert [v.claim for v in found if v.author == name] == list(range(60))


def test_kappa_is_that_of_a_worked_example() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed .70, by chance .50, kappa .40.
    yes, no = Mark.CORRECT, Mark.INCORRECT
    pairs = [(yes, yes)] * 20 + [(yes, no)] * 5 + [(no, yes)] * 10 + [(no, no)] * 15
    observed, kappa = cohen(pairs)
    assert observed == pytest.approx(0.7)
    assert kappa == pytest.approx(0.4)


def test_kappa_is_not_made_up_where_it_is_not_defined() -> None:
    assert cohen([]) == (None, None)
    assert cohen([(Mark.CORRECT, Mark.CORRECT)] * 5) == (1.0, None)


@given(st.lists(st.tuples(st.sampled_from(list(Mark)), st.sampled_from(list(Mark))), min_size=1, max_size=40))
def test_kappa_is_symmetric_and_at_most_one(pairs: list[tuple[Mark, Mark]]) -> None:
    _, kappa = cohen(pairs)
    _, mirrored = cohen([(b, a) for a, b in pairs])
    assert (kappa is None) is (mirrored is None)
    if kappa is not None and mirrored is not None:
        assert kappa == pytest.approx(mirrored)
        assert kappa <= 1 + 1e-9


def test_agreement_is_over_what_both_judged_and_disputes_are_listed() -> None:
    def said(run: str, author: str, mark: Mark, claim: int | None = None) -> Verdict:
        return replace(PLAIN, run_id=run, author=author, verdict=mark, claim=claim)

    every = [said("a", "ana", Mark.PARTIAL), said("a", "luz", Mark.PARTIAL), said("b", "ana", Mark.PARTIAL),
             said("b", "luz", Mark.INCORRECT), said("c", "ana", Mark.PARTIAL),
             said("a", "luz", Mark.PARTIAL, 0)]  # fmt: skip
    (pair,) = agreements(every, claims=False)
    assert (pair.first, pair.second, pair.n, pair.observed) == ("ana", "luz", 2, 0.5)
    assert sum(map(sum, pair.table)) == 2
    assert agreements(every, claims=True) == []
    assert list(disputed(every)) == [("b", None)]
