"""Lists: what is found, counted, sampled; each file read once until it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_front import NOON, answered_run, make_campaign, served
from trace_samples import write_trace

from dofrag.errors import UsageError
from dofrag.review import catalog as catalog_module
from dofrag.review.catalog import Catalog
from dofrag.review.filters import FACETS, Filters, parse_filters, sample, select
from dofrag.review.summaries import RISKS, Facts, Row, make_row, read_facts
from dofrag.review.verdicts import Mark, Verdict, append


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("lists") / "c", extra=60)


def _rows(count: int) -> list[Row]:
    rows = []
    for n in range(count):
        facts = Facts(run_id=f"r{n:03}", question="q")
        row = make_row(Path(f"r{n:03}.jsonl"), facts, {"category": "abc"[n % 3]})
        rows.append(replace(row, risk=RISKS[n % 7 % 3]))
    return rows


def test_a_run_is_summed_up_from_its_trace(campaign: Path) -> None:
    facts = read_facts(campaign / "traces" / "run-good.jsonl")
    assert (facts.state, facts.reason, facts.turns, facts.drafts_rejected) == ("answered", "closed", 4, 1)
    assert (facts.supported, facts.required, facts.limits_reached, facts.fault) == (2, 2, 0, "")


def test_a_trace_that_a_crash_cut_off_reads_as_interrupted(campaign: Path) -> None:
    facts = read_facts(campaign / "traces" / "run-cut.jsonl")
    assert (facts.state, facts.reason, facts.closure) == ("abstained", "interrupted", "incomplete")
    assert facts.question == "¿Se cortó la corrida?"


def test_half_a_line_after_the_end_does_not_undo_the_end(tmp_path: Path) -> None:
    path = write_trace(tmp_path)
    with path.open("ab") as handle:
        handle.write(b'{"half')
    assert read_facts(path).reason == "closed"


def test_what_is_no_trace_says_so(campaign: Path) -> None:
    assert "not JSON" in read_facts(campaign / "traces" / "broken.jsonl").fault


def test_search_is_blind_to_accents_and_counts_are_of_what_would_be_shown(campaign: Path) -> None:
    listing = Catalog(None, [campaign]).collections()[0].listing()
    shown = select(listing, Filters(text="CORTO corrida"), "ana")
    assert [r.facts.question for r in shown.rows] == ["¿Se cortó la corrida?"]
    for name, values in select(listing, Filters(), "ana").facets.items():
        for value, count in values:
            narrowed = select(listing, Filters(chosen=((name, value),)), "ana")
            assert len(narrowed.rows) == count, (name, value)


def test_lists_are_in_order_and_verdicts_narrow_them(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c")
    row = next(r for r in Catalog(None, [folder]).collections()[0].listing().rows if r.run_id == "run-good")
    append(row.path, Verdict(run_id="run-good", claim=None, verdict=Mark.CORRECT, reasons=(), note="", author="ana",
                             at=NOON, blind=False, trace_sha256=""))  # fmt: skip
    listing = Catalog(None, [folder]).collections()[0].listing()

    def runs(verdict: str, author: str = "ana") -> set[str]:
        return {r.run_id for r in select(listing, Filters(chosen=(("verdict", verdict),)), author).rows}

    assert runs("correct") == {"run-good"}
    assert "run-good" not in runs("todo")
    assert "run-good" in runs("todo", "luz")
    assert "run-good" not in runs("unseen")
    shuffled = [r.run_id for r in select(listing, Filters(order="shuffled"), "ana").rows]
    assert shuffled != [r.run_id for r in listing.rows]
    assert sorted(shuffled) == sorted(r.run_id for r in listing.rows)
    risks = [r.risk for r in select(listing, Filters(order="risk"), "ana").rows]
    assert risks == sorted(risks, key=RISKS.index)


def test_a_file_is_read_again_only_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_trace(tmp_path, "run-1")
    asked: list[Path] = []

    def counting(path: Path) -> Facts:
        asked.append(path)
        return read_facts(path)

    monkeypatch.setattr(catalog_module, "read_facts", counting)
    collection = Catalog(tmp_path).collections()[0]
    assert collection.listing().rows == collection.listing().rows
    assert len(asked) == 1
    path.unlink()
    write_trace(tmp_path, "run-1", answered_run("run-1", [], (12, 21), question="¿Otra?"))
    assert collection.listing().rows[0].facts.question == "¿Otra?"
    assert len(asked) == 2


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    outside = write_trace(tmp_path, "run-1")
    (tmp_path / "traces" / "run-1.jsonl").symlink_to(outside)
    assert Catalog(tmp_path / "traces").collections()[0].listing().rows == ()


def test_campaigns_in_the_usual_place_are_found_and_named_ones_must_be_some(tmp_path: Path) -> None:
    make_campaign(tmp_path / "eval" / "arm-gpt")
    found = Catalog(tmp_path).collections()
    assert [c.campaign is not None for c in found] == [False, True]
    assert "gpt" not in found[1].id
    with pytest.raises(UsageError, match="holds no campaign"):
        Catalog(None, [tmp_path])


QUERIES = st.dictionaries(
    st.sampled_from([*FACETS, "text", "order", "queue", "seed", "page", "x"]), st.text(max_size=9)
)


@given(QUERIES)
def test_an_address_reads_back_as_it_was_written(query: Mapping[str, str]) -> None:
    from urllib.parse import parse_qsl

    filters = parse_filters(query, blind=False)
    again = parse_filters(dict(parse_qsl(filters.query(page=filters.page))), blind=False)
    assert again == (filters if filters.queue else replace(filters, seed="1"))


def test_blind_mode_cannot_be_asked_around() -> None:
    assert parse_filters({"arm": "model-x", "planner": "model"}, blind=True).chosen == ()
    assert parse_filters({"order": "newest"}, blind=True).order == "shuffled"


def test_a_queue_is_the_same_for_the_same_seed_and_a_longer_one_goes_on() -> None:
    rows = _rows(200)
    ten, twenty = sample(rows, 10, "7"), sample(rows[::-1], 20, "7")
    assert twenty[:10] == ten
    assert len({r.run_id for r in twenty}) == 20
    assert sample(rows, 20, "8") != twenty
    assert sorted(r.run_id for r in sample(rows, 999, "7")) == [r.run_id for r in rows]


def test_a_queue_has_every_category_and_prefers_risk() -> None:
    rows = _rows(210)
    drawn = sample(rows, 60, "1")
    assert {r.category for r in drawn} == {"a", "b", "c"}
    share = {risk: sum(r.risk == risk for r in drawn) / sum(r.risk == risk for r in rows) for risk in RISKS}
    assert share["high"] > 2 * share["low"] > 0


def test_a_campaign_whose_traces_are_elsewhere_says_so(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c")
    for path in (folder / "traces").iterdir():
        path.unlink()
    with served(folder) as (browser, where):
        for page in (browser.get("/").body, browser.get(where).body):
            assert "4 " in page
            assert str(folder / "traces") in page
