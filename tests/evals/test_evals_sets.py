"""Question sets: ours, the public one, hostile ones; patterns whose work is bounded; lint; intervals."""

from __future__ import annotations

import json
import os
import time
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from eval_front import SMALL, dof
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag import wiring
from dofrag.domain.corpus import Filters, Kind
from dofrag.errors import UsageError
from dofrag.evals.dataset import ALONG, FILE, item_row, load_set
from dofrag.evals.lint import lint, rule_examples
from dofrag.evals.locate import units
from dofrag.evals.metrics import bootstrap, paired, wilson
from dofrag.evals.patterns import matches, pattern_fault

ROOT = Path(wiring.__file__).parents[1]
V4 = Path(os.environ.get("DOF_DATA", "")) / "dof_v4" / "questions.jsonl"
realtext = pytest.mark.skipif(not os.environ.get("DOF_DATA"), reason="DOF_DATA is not set")


def base() -> dict[str, Any]:
    return json.loads(SMALL.read_text(encoding="utf-8").splitlines()[0])


def write(folder: Path, *rows: Any) -> str:
    path = folder / "set.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return str(path)


def test_a_set_is_written_and_read_back(tmp_path: Path) -> None:
    items = load_set(str(SMALL), tmp_path).items
    again = load_set(write(tmp_path, *(item_row(i) for i in items)), tmp_path)
    assert again.items == items
    assert again.name == "set"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{", "set.jsonl:1 is not JSON"),
        ("[" * 5000, "set.jsonl:1 is not JSON"),
        ("7", "no JSON object"),
        (base() | {"surprise": 1}, "surprise"),
        (base() | {"expected_state": "maybe"}, "expected_state"),
        (base() | {"expected_reason": "maybe"}, "is no reason"),
        (base() | {"as_of": "2025-02-30"}, "is not a date"),
        (base() | {"id": "../x"}, "id:"),
        (base() | {"forbidden": ["(a+)+b"]}, "may take for ever"),
        (base() | {"forbidden": ["("]}, "does not compile"),
        (base() | {"forbidden": ["x*"]}, "matches any text"),
        (base() | {"sub_questions": []}, "sub_questions"),
        (
            base() | {"sub_questions": [{"id": "q1", "text": "", "nuggets": [{"text": "x", "vital": True}]}]},
            "nuggets/0",
        ),
        ({"gold_documents": [], "answerability": "answerable"}, "not a line of the public v4 format"),
    ],
)
def test_a_line_that_is_no_item_is_named(row: Any, fault: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_set(write(tmp_path, row), tmp_path)
    assert fault in caught.value.message
    assert "set.jsonl:1" in caught.value.message


def test_empty_and_doubled_sets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no questions"):
        load_set(write(tmp_path), tmp_path)
    with pytest.raises(UsageError, match="two questions have the id"):
        load_set(write(tmp_path, base(), base()), tmp_path)


def public_line() -> dict[str, Any]:
    return {
        "id": "SP-901", "category": "single_passage", "question": "¿Cuánto?", "persona": "p", "difficulty": "easy",
        "as_of": "2025-10-14", "answerability": "false_premise", "reference_answer": "No.", "required_hops": 1,
        "gold_documents": [{"document_id": 1, "relpath": "a/9100402.md", "publication_date": "2025-01-13",
                            "section": "MAT", "role": "answer",
                            "evidence": [{"chunk_id": 1, "chunk_index": 0, "quote": "una cita"}]}],
        "unanswerable_reason": None,
    }  # fmt: skip


def test_the_public_format_is_read_with_what_lies_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path, public_line())
    alone = load_set(path, tmp_path)
    assert (alone.items[0].expected_state, alone.items[0].expected_reason) == ("answered", "premise_corrected")
    assert alone.items[0].nuggets == ()
    shared = {"codigo": "9100402", "chunk": 1, "types": [], "id": "x"}
    nuggets = [
        shared | {"ask": "a", "expected": "99.00", "match": ["99.00"], "core": True, "derived": False},
        shared
        | {"ask": "b", "expected": "bajó 1,000.07", "match": [], "core": False, "derived": True, "codigo": None},
    ]
    beside = json.dumps({"id": "SP-901", "nuggets": nuggets})
    (tmp_path / "nuggets.jsonl").write_text(beside + "\n", encoding="utf-8")
    with_them = load_set(path, tmp_path)
    first, second = with_them.items[0].nuggets
    assert (first.quotes, first.source, first.vital) == (("99.00",), "9100402", True)
    assert second.value is not None
    assert (str(second.value.number), second.computed, second.vital) == ("1000.07", True, False)
    assert with_them.sha256 != alone.sha256


@realtext
@pytest.mark.realtext
def test_the_public_file_unchanged() -> None:
    loaded = load_set(str(V4), V4.parent)
    assert len(loaded.items) == 42
    assert sum(n.vital for i in loaded.items for n in i.nuggets) == 123
    assert {i.expected_reason for i in loaded.items} == {None, "premise_corrected"}


def test_sets_of_this_repository_load(tmp_path: Path) -> None:
    for path in sorted((ROOT / "eval").glob("*/questions.jsonl")):
        assert load_set(str(path), tmp_path).items, path


def test_named_sets_come_with_the_package(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    taken = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in ALONG:
        assert taken[f"eval/{name}/{FILE}"] == f"dofrag/evals/sets/{name}/{FILE}"
        loaded = load_set(name, tmp_path)
        assert (loaded.name, loaded.named) == (name, True)


def test_v4_is_sound(home: Path) -> None:
    """Every span stands in the sample gazette, and nothing is given away."""
    done = dof("eval", "lint", "v4", "--json", cwd=home)
    assert (done.code, done.document) == (0, {"findings": []})


# Patterns


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", r"(\w+\s?)*x", "(a?){30}a", "(.*a){10}", "(a)\\1", ".*.*b",
                                     "(x{0,50}){0,50}y", "(?:a|ab|b)*c", "(?=(a+)+b)a", "a|", "["])  # fmt: skip
def test_patterns_that_may_take_for_ever_are_refused(pattern: str) -> None:
    assert pattern_fault(pattern)


@pytest.mark.parametrize("pattern", [r"36,115\.20", r"no .{0,50}en efectivo", r"(?:[a-z]+\W+){0,8}?2\.20",
                                     r"\d+\.\d+",
                                     r"(?:uno|dos)\s+tres", r"(prohib|no se (permite|autoriza)).{0,60}castigo",
                                     r"\A(?![\s\S]*noventa)[\s\S]*(?:cuarenta|\b40\b)"])  # fmt: skip
def test_patterns_that_people_write_are_taken(pattern: str) -> None:
    assert pattern_fault(pattern) is None


ATOMS = st.sampled_from(["a", "b", "[ab]", ".", r"\w", r"\s", "(?:a|ab)", "ab"])


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        ATOMS,
        lambda inner: st.builds(
            lambda parts, end: f"(?:{''.join(parts)}){end}",
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from(["", "*", "+", "?", "{0,40}", "{2}", "{1,3}"]),
        ),
        max_leaves=6,
    )
)
def test_what_is_taken_ends_soon(pattern: str) -> None:
    pattern = pattern + "c"
    if pattern_fault(pattern) is not None:
        return
    began = time.process_time()
    for text in ("a" * 1000, "ab" * 500, "a b " * 250):
        matches(pattern, text)
    assert time.process_time() - began < 5


# Lint


def test_lint_finds_what_is_wrong(home: Path, tmp_path: Path) -> None:
    example = next(e for e in rule_examples() if len(e.split()) >= 8)
    rows = [
        base() | {"id": "A"},
        base() | {"id": "B"},
        base() | {"id": "C", "question": example, "gold": [{"source": "9100402", "quotes": ["esto no está"]}]},
        base() | {"id": "D", "question": "¿Es 93.50 el valor?", "gold": [{"source": "nowhere.md", "quotes": []}]},
        base() | {"id": "F", "question": "Otra cosa", "sub_questions": [{"id": "q1", "text": "", "nuggets": []}]},
        base() | {"id": "G", "question": base()["question"] + " ¿Y cuándo?"},
    ]
    done = dof("eval", "lint", write(tmp_path, *rows), "--json", cwd=home)
    assert done.code == 1
    assert not any(f["code"] == "span_missing" for f in done.document["findings"])  # no index was named
    done = dof("search", "valor", "--json", cwd=home)  # the sample is built by now
    assert done.code == 0
    reader: Any = wiring.open_corpus(wiring.SAMPLE).reader
    found = {(f.item, f.code) for f in lint(load_set(write(tmp_path, *rows), tmp_path).items, reader)}
    expected = {("B", "duplicate"), ("C", "rule_example"), ("C", "span_missing"), ("D", "matches_question"),
                ("D", "source_missing"), ("F", "no_nuggets"), ("G", "near_duplicate")}  # fmt: skip
    assert expected <= found
    assert not {code for name, code in found if name == "A"} - {"rule_example"}


def test_sets_that_share_questions(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(base() | {"id": "Z"}) + "\n", encoding="utf-8")
    done = dof("eval", "lint", write(tmp_path, base()), "--against", str(other), "--json", cwd=home)
    assert "other_set" in {f["code"] for f in done.document["findings"]}


# Where gold stands


def test_gold_stands_where_it_is_written(home: Path, tmp_path: Path) -> None:
    reader: Any = wiring.open_corpus(wiring.SAMPLE).reader
    every = Filters(as_of=date.max, kinds=tuple(Kind))
    first, second = reader.chunks("9100231", every)[3:5]
    across = first.text.rstrip()[-60:].partition(" ")[2] + "\n" + second.text.lstrip()[:60].rpartition(" ")[0]
    source = reader.publication("9100231", every).source
    gold = [
        {"source": source, "quotes": [across, second.text.strip()[:50].rpartition(" ")[0]]},
        {"source": "9100231", "quotes": ["esto no está"], "group": "a"},
        {"source": "9100402", "quotes": ["Zona Ribereña | $99.00"], "group": "a"},
        {"source": f"elsewhere/2025_{'9100402'}.md", "quotes": []},
        {"source": "nowhere.md", "quotes": ["nada"]},
    ]
    item = load_set(write(tmp_path, base() | {"gold": gold}), tmp_path).items[0]
    found = {u.name: u for u in units(reader, item, [])}
    assert found["gold 0.0"].chunk_ids == (first.id, second.id)
    assert second.id in found["gold 0.1"].chunk_ids
    assert found["group a"].codes == ("9100231", "9100402")
    assert len(found["group a"].chunk_ids) == 1
    assert (found["gold 3.0"].codes, found["gold 3.0"].chunk_ids) == (("9100402",), ())
    assert (found["gold 4.0"].codes, found["gold 4.0"].chunk_ids) == ((), ())
    codes = {f.code for f in lint([item], reader)}
    assert "span_missing" not in codes  # of a group, one entry is enough
    assert "source_missing" in codes


# Intervals


def test_wilson_against_published_values() -> None:
    low, high = wilson(81, 263)
    assert (round(low or 0, 4), round(high or 0, 4)) == (0.2553, 0.3662)  # Newcombe 1998, method 3
    assert wilson(0, 0) == (None, None)
    low, high = wilson(0, 20)
    assert (low, round(high or 0, 4)) == (0.0, 0.1611)


@given(st.integers(0, 50), st.integers(1, 50))
def test_wilson_holds_the_share(hits: int, n: int) -> None:
    hits = min(hits, n)
    low, high = wilson(hits, n)
    assert low is not None
    assert high is not None
    assert 0 <= low <= hits / n <= high <= 1


def test_bootstrap_is_seeded_and_paired() -> None:
    rows = [(float(i % 3 > 0), 1.0) for i in range(30)]
    assert bootstrap(rows) == bootstrap(rows)
    low, high = bootstrap(rows)
    assert low is not None
    assert high is not None
    assert low < 2 / 3 < high
    # Pairs that all move the same way clear zero, however much questions differ.
    mean, low, high = paired([(i / 10, i / 10 + 0.05 + i / 1000) for i in range(10)])
    assert mean == pytest.approx(0.0545)
    assert low is not None
    assert low > 0
    assert paired([(0.0, 1.0)] * 5) == (1.0, 1.0, 1.0)
    assert paired([]) == (0.0, None, None)
    assert bootstrap([(1.0, 1.0)]) == (None, None)
    assert bootstrap([(1.0, 1.0), (3.0, 3.0)] * 20) == (None, None)
