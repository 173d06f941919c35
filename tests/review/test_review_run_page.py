"""A run on one page: from the trace and, where it is at hand, the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from review_front import GOOD, LABELS, PASSAGES, answered_run, cite_as, claim, make_campaign, passage, read, shelf
from trace_samples import started, write_trace

import dofrag.review
from dofrag.domain.question import Status
from dofrag.domain.run import ENDS, TerminalState
from dofrag.errors import StoreMissing, TraceError
from dofrag.review import run_page
from dofrag.review.events import judged
from dofrag.review.passages import Shelf
from dofrag.review.run_page import load_run
from dofrag.review.words import LANGUAGES, language_from, words
from dofrag.store.interface import CorpusReader


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("pages") / "c") / "traces"


def test_each_claim_has_its_passage_with_the_quote_in_its_context(traces: Path) -> None:
    page = load_run(traces / "run-good.jsonl", [shelf()], cite_as)
    first = page.claims[0].evidence[0]
    assert first.source is not None
    assert first.shown is not None
    assert (first.source.cite_as, first.source.url) == ("DOF 09/01/2026", "https://gaceta.example/nota?codigo=1")
    assert (
        '<td><mark id="c1q1-1" tabindex="-1"> Norte </mark></td><td><mark> $113.14 </mark></td>' in first.shown.html
    )
    assert "La cuota se actualiza" in first.shown.html
    assert "Artículo 1" in first.source.before
    assert "pierde el permiso" in first.source.after


def test_the_matrix_the_timeline_and_the_drafts_are_those_of_the_trace(traces: Path) -> None:
    page = load_run(traces / "run-good.jsonl", [shelf()], cite_as)
    cells = {r.id: dict(r.cells) for p in page.parts for r in p.requirements}
    assert cells == {"q1.r1": {12: "answers"}, "q2.r1": {21: "answers"}}
    assert [s.kind for s in page.steps] == ["call", "call", "coverage", "draft", "rejected", "draft"]
    assert (page.steps[0].took_ms, page.steps[0].cost, page.steps[0].total) == (1000, "3", 14)
    assert page.steps[1].read == (12, 21)
    assert page.drafts[0].faults == (("citation_required", "claims[0]", "none"),)


def test_without_an_index_the_trace_s_own_beginning_is_shown(traces: Path) -> None:
    page = load_run(traces / "run-good.jsonl", [], cite_as)
    first = page.claims[0].evidence[0]
    assert first.source is not None
    assert (first.source.origin, first.source.title, first.source.url) == (
        "excerpt",
        "ACUERDO que fija las cuotas",
        None,
    )
    assert first.shown is not None
    assert "$113.14" in first.shown.html


def test_a_text_that_the_index_has_changed_is_not_shown_as_the_one_that_was_read(traces: Path) -> None:
    owner = PASSAGES[12].publication
    page = load_run(traces / "run-good.jsonl", [shelf({12: passage(12, "La cuota es de $999.", owner)})], cite_as)
    first = page.claims[0].evidence[0]
    assert first.source is not None
    assert first.source.origin == "changed"
    assert "999" not in first.source.text
    assert page.problem_count > 0


def test_an_index_that_cannot_be_opened_is_said_and_the_rest_is_shown(traces: Path) -> None:
    @contextmanager
    def gone() -> Iterator[CorpusReader]:
        raise StoreMissing("no index at 'indexes/prueba'")
        yield

    page = load_run(traces / "run-good.jsonl", [Shelf(name="indexes/prueba", open=gone)], cite_as)
    assert page.index_faults == ("no index at 'indexes/prueba'",)
    assert len(page.claims) == 2


def test_another_machine_s_name_of_the_index_does_not_matter(traces: Path) -> None:
    page = load_run(traces / "run-good.jsonl", [shelf(name="otro/nombre")], cite_as)
    assert page.sources[0].origin == "index"


def test_a_trace_that_was_cut_off_shows_all_it_holds(traces: Path) -> None:
    page = load_run(traces / "run-cut.jsonl", [shelf()], cite_as)
    assert not page.finished
    assert (page.state, page.reason) == ("abstained", "interrupted")
    assert [s.chunk_id for s in page.sources] == [12, 21]
    assert {r.status for p in page.parts for r in p.requirements} == {"supported"}
    assert len(page.faults) == 1


def test_of_a_run_without_an_answer_the_partial_report_is_shown(traces: Path) -> None:
    page = load_run(traces / "run-cut.jsonl", [shelf()], cite_as, [GOOD[0], "x"])
    assert page.partial
    assert [c.text for c in page.claims] == [GOOD[0]["text"]]
    assert page.claims[0].evidence[0].shown is not None
    assert not load_run(traces / "run-good.jsonl", [shelf()], cite_as, [GOOD[0]] * 9).partial


def test_a_planted_quote_is_said_not_to_stand_there(tmp_path: Path) -> None:
    false = claim("La cuota es de $555.", {"chunk_id": 12, "quote": "$555.00 al mes", "start": 3, "end": 17})
    never = claim("Otra.", {"chunk_id": 99, "quote": "nada", "start": 0, "end": 4})
    path = write_trace(tmp_path, "run-1", answered_run("run-1", [false, never, claim("Sin cita.")], (12, 21)))
    page = load_run(path, [shelf()], cite_as)
    shown = page.claims[0].evidence[0].shown
    assert shown is not None
    assert shown.missing == ("$555.00 al mes",)
    assert page.claims[1].evidence[0].source is None
    assert page.claims[2].evidence == ()
    assert page.problem_count > 0


def test_odd_values_of_a_trace_do_no_harm(tmp_path: Path) -> None:
    odd = (
        '{"citations":[3,{"chunk_id":"x","quote":null},{"quote":["a"]}],"computed":[1],"sub_questions":"q1","text":7}'
    )
    path = write_trace(tmp_path, "run-1", answered_run("run-1", [claim("RARO")], (12, 21)))
    lines = path.read_text(encoding="utf-8")
    plain = '{"citations":[],"computed":null,"sub_questions":["q1"],"text":"RARO"}'
    assert plain in lines
    path.write_text(lines.replace(plain, odd), "utf-8")
    page = load_run(path, [shelf()], cite_as)
    assert page.claims[0].text == "7"
    assert [e.chunk_id for e in page.claims[0].evidence] == [None]
    assert judged(path)[0] == 1


def test_a_page_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [claim(f"La cuota {n} es de $113.14.", *GOOD[0]["citations"] * 5) for n in range(300)]
    many[0]["text"] = "x" * 40_000
    path = write_trace(tmp_path, "run-1", answered_run("run-1", many, (12, 21)))
    page = load_run(path, [shelf()], cite_as)
    assert len(page.claims) == 200
    assert sum(len(e.quotes) for c in page.claims for e in c.evidence) <= 400
    assert max(len(c.text) for c in page.claims) <= 4_001
    monkeypatch.setattr(run_page, "EVENTS_MAX", 50)
    events = [started("run-2"), *(read(12) for _ in range(80))]
    assert load_run(write_trace(tmp_path, "run-2", events), [shelf()], cite_as).truncated
    ends = answered_run("run-3", GOOD, (12, 21))
    path = write_trace(tmp_path, "run-3", [*ends[:2], *events[1:], *ends[2:]])
    page = load_run(path, [shelf()], cite_as)
    assert (page.truncated, len(page.claims), page.reason) == (True, 2, "closed")
    monkeypatch.setattr(run_page, "VERIFIED_MAX", 1_000)
    page = load_run(path, [shelf()], cite_as)
    assert (page.checked, page.problem_count) == (False, 0)


def test_what_is_no_trace_is_refused(traces: Path) -> None:
    with pytest.raises(TraceError):
        load_run(traces / "broken.jsonl", [], cite_as)


def test_both_languages_have_the_same_words() -> None:
    spanish, english = (words(lang) for lang in LANGUAGES)
    assert list(spanish) == list(english)
    for key in spanish:
        assert set(_slots(spanish[key])) == set(_slots(english[key])), key


def test_every_word_is_used() -> None:
    folder = Path(dofrag.review.__file__).parent
    code = "".join(p.read_text(encoding="utf-8") for p in (*folder.glob("*.py"), *folder.glob("templates/*.html")))
    prefixes = {
        *re.findall(r'"([a-z]+_)" ~', code),
        *re.findall(r'f"([a-z]+_)\{', code),
        "risk_",
        "mark_",
        "verdict_",
    }
    unused = [k for k in words("es") if not (f".{k}" in code or f'"{k}"' in code or k.startswith(tuple(prefixes)))]
    assert not unused


def _slots(text: str) -> list[str]:
    import string

    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_end_and_status_has_a_name(lang: str) -> None:
    assert {str(r) for r in ENDS} <= set(LABELS.reasons[lang])
    assert {str(s) for s in TerminalState} <= set(LABELS.states[lang])
    assert {str(s) for s in Status} <= set(LABELS.statuses[lang])


def test_the_language_is_the_browser_s() -> None:
    assert language_from("en-US,en;q=0.9,es;q=0.8") == "en"
    assert language_from("fr, es-MX;q=0.5") == "es"
    assert language_from("fr") == "es"
