"""A trace as a document for others: the same numbers everywhere, and nothing in it taken for markup or formulas."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from trace_samples import CLAIM, NO_PREMISE, SOURCE, limit_run, sound_events, started, write_trace

from dofrag.errors import UsageError
from dofrag.trace.events import Answered, Event, PassageRead, ToolReturned
from dofrag.trace.export.escape import cell, markdown, official, one_line, safe_json, visible
from dofrag.trace.export.files import write_target
from dofrag.trace.export.otel import to_otel
from dofrag.trace.export.report import Report, make_report
from dofrag.trace.export.text import to_csv, to_json, to_markdown
from dofrag.trace.export.word import to_docx
from dofrag.trace.export.words import WORDS
from dofrag.trace.trajectory import read_trajectory

BAD = (
    "<script>alert(1)</script> ![x](https://evil.example/p.png) [a](javascript:alert(1)) <img src=x onerror=y>"
    " https://evil.example www.evil.example a@evil.example `code` **bold** | cell | # head \x1b[31m \u202egnp.exe"
    "\u2069 \u200bq \ufffe &lt;b&gt; $x$ ~~s~~ <javascript:alert(1)> [r]: javascript:x {{x}} \U000e0041"
)
WORDY = st.text(st.characters(codec="utf-8"), max_size=60) | st.text(
    "[]()<>!*_`#|-+=~$:/.w\\&\n\t 1)@^{}a", max_size=40
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def report_of(folder: Path, events: list[Event]) -> Report:
    return make_report(read_trajectory(write_trace(folder, "run-1", events)))


def three_sources() -> list[Event]:
    """Two claims that cite three passages, the second first."""
    events = sound_events("run-1")
    read = next(e for e in events if isinstance(e, PassageRead))
    passages = [replace(read, chunk_id=i, publication=f"P{i}") for i in (12, 13, 14)]

    def citing(*ids: int) -> list[dict[str, Any]]:
        return [{"chunk_id": i, "quote": "113.14 pesos", "start": 46, "end": 58} for i in ids]

    claims = (
        {**CLAIM, "text": "Uno.", "citations": citing(13, 12)},
        {**CLAIM, "text": "Dos.", "citations": citing(14)},
    )
    answered = Answered(turn=4, claims=claims, citations=(13, 12, 14), premise=NO_PREMISE,
                        answer="Uno. [1][2]\n\nDos. [3]")  # fmt: skip
    return [*events[:6], *passages, *events[7:11], answered, events[12]]


def hostile() -> list[Event]:
    """The sound run with bad text wherever a document or a model had a say."""
    events = sound_events("run-1")
    claim = {**CLAIM, "text": BAD, "citations": [{"chunk_id": 12, "quote": BAD, "start": 0, "end": 9}]}
    told = []
    for event in events:
        if isinstance(event, ToolReturned):
            source = {**SOURCE, "title": BAD, "issuer": "=cmd|' /C calc'!A1"}
            event = replace(event, envelope={**event.envelope, "sources": {"5778070": source}})
        elif isinstance(event, Answered):
            event = replace(event, claims=(claim,), premise={"status": "false", "correction": BAD}, answer=BAD)
        elif isinstance(event, PassageRead):
            event = replace(event, excerpt=BAD[:100])
        told.append(event)
    return [started("run-1", question=f"¿{BAD}?", corpus=BAD, planner=BAD), *told[1:]]


# --- one numbering ------------------------------------------------------------------------------------------------


def test_the_numbers_are_the_same_in_every_format(tmp_path: Path) -> None:
    report = report_of(tmp_path, three_sources())
    wanted = {1: 13, 2: 12, 3: 14}
    assert {s.number: s.chunk_id for s in report.sources} == wanted
    document = json.loads(to_json([report]))
    assert {s["number"]: s["chunk_id"] for s in document["sources"]} == wanted
    assert [c["numbers"] for c in document["claims"]] == [[1, 2], [3]]
    assert document["answer"] == "Uno. [1][2]\n\nDos. [3]"
    rows = list(csv.DictReader(io.StringIO(to_csv([report]))))
    assert {(int(r["number"]), int(r["chunk_id"])) for r in rows} == set(wanted.items())
    text = plain(to_markdown(report))
    assert "Uno. [1][2]" in text
    assert "Dos. [3]" in text
    word = docx_text(to_docx(report))
    assert "Uno. [1][2]" in word
    for number, chunk_id in wanted.items():
        line = (
            rf"\[{number}\] VALOR de la Unidad.*fragmento {chunk_id}\)"
            if chunk_id == 12
            else rf"\[{number}\].*{chunk_id}\)"
        )
        assert re.search(line.replace("VALOR de la Unidad", ".*"), text)
        assert re.search(line.replace("VALOR de la Unidad", ".*"), word)


def test_a_run_without_an_answer_numbers_what_its_coverage_names(tmp_path: Path) -> None:
    events = sound_events("run-1")[:8]  # broken off after a passage had supported the requirement
    path = write_trace(tmp_path, "run-1", events)
    with path.open("ab") as file:
        file.write(b'{"at":"2026')
    report = make_report(read_trajectory(path))
    assert (report.interrupted, report.terminal_state, report.reason) == (True, "abstained", "interrupted")
    assert [(s.number, s.chunk_id) for s in report.sources] == [(1, 12)]
    assert [(r.status, r.number) for r in report.coverage] == [("supported", 1)]
    assert report.unreadable == (9,)
    text = to_markdown(report)
    assert WORDS["es"]["interrupted"] in text
    assert WORDS["es"]["no_answer"] in text
    [row] = csv.DictReader(io.StringIO(to_csv([report])))
    assert (row["number"], row["chunk_id"], row["quote"]) == ("1", "12", "")
    assert WORDS["es"]["interrupted"] in docx_text(to_docx(report))


def test_a_run_that_a_limit_stopped(tmp_path: Path) -> None:
    report = report_of(tmp_path, limit_run("run-1"))
    assert (report.reason, report.sources, report.claims) == ("tool_call_limit", (), ())
    assert "tool\\_call\\_limit" in to_markdown(report)


def test_both_languages_have_every_heading() -> None:
    assert WORDS["es"].keys() == WORDS["en"].keys()


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    one, other = report_of(tmp_path / "a", three_sources()), report_of(tmp_path / "b", three_sources())
    assert to_markdown(one) == to_markdown(other)
    assert to_docx(one) == to_docx(other)


# --- Markdown -----------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """What a reader sees, without markup."""
    shown = []
    for token in MARKDOWN.parse(text):
        shown += [
            c.content if c.type != "softbreak" else "\n"
            for c in token.children or ()
            if c.type in ("text", "softbreak")
        ]
        shown.append("\n")
    return "".join(shown)


@settings(deadline=None)
@given(WORDY)
def test_markdown_shows_the_text_as_it_is_and_nothing_else(text: str) -> None:
    for before in ("", "- ", "> ", "1. "):
        inline = [t for t in MARKDOWN.parse(f"{before}{markdown(text)}") if t.type == "inline"]
        assert all(child.type == "text" for t in inline for child in t.children or ())
        assert "".join(t.content for i in inline for t in i.children or ()) == one_line(text)


@settings(deadline=None)
@given(WORDY, WORDY)
def test_a_cell_of_a_table_stays_one(one: str, other: str) -> None:
    table = f"| a | b |\n|---|---|\n| {markdown(one)} | {markdown(other)} |\n"
    tokens = MARKDOWN.parse(table)
    cells = [t.children for t in tokens if t.type == "inline"]
    assert [t.type for t in tokens].count("td_open") == 2
    assert ["".join(c.content for c in cell or ()) for cell in cells[2:]] == [one_line(one), one_line(other)]


ALLOWED = {"text", "softbreak", "strong_open", "strong_close", "link_open", "link_close"}


def test_a_hostile_trace_leaves_only_our_own_markup(tmp_path: Path) -> None:
    report = report_of(tmp_path, hostile())
    first, *_ = report.sources
    report = replace(report, sources=(replace(first, url="javascript:alert(1)"),))
    text = to_markdown(report)
    tokens = MARKDOWN.parse(text)
    assert {t.type for t in tokens}.isdisjoint({"html_block", "code_block", "fence"})
    inline = [c for t in tokens for c in t.children or ()]
    assert {c.type for c in inline} <= ALLOWED
    assert not [c for c in inline if c.type == "link_open"]
    assert "https://" not in text
    assert "www.evil" not in text
    linked = to_markdown(replace(report, sources=(replace(first, url="https://dof.example/nota?codigo=1&f=2"),)))
    links = [c.attrs["href"] for t in MARKDOWN.parse(linked) for c in t.children or () if c.type == "link_open"]
    assert links == ["https://dof.example/nota?codigo=1&f=2"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a b", "data:text/html,x", "https://a/<b>", "//a", "file:///x",
                                 "https://a/)\n[x](y", "https://u:p@a/", None, ""])  # fmt: skip
def test_what_is_no_official_address_is_left_out(url: str | None) -> None:
    assert official(url) == ""


# --- text ---------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=60))
def test_visible_text_drives_nothing_and_can_be_written(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co") for c in shown if c not in "\t\n")
    shown.encode("utf-8")
    assert visible(shown) == shown


def test_every_code_point_is_shown_or_harmless() -> None:
    """Planes 0 and 1 whole: a hole in a range of harmless ones is a handful of points that no random text meets."""
    points = [chr(n) for n in range(0x20000) if not 0xD800 <= n <= 0xDFFF]
    shown = "".join(map(visible, points))
    bad = {c for c in set(shown) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")}
    assert bad == {"\t", "\n"}


def test_what_is_changed_is_shown_by_its_number() -> None:
    assert visible("a\x1b[31m\u202eb\r\nc") == "a[U+001B][31m[U+202E]b\nc"
    assert visible("Año \u00ad«1º» — café\u0301 ½ ≥ €") == "Año «1º» — café\u0301 ½ ≥ €"


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=30), max_size=4))
def test_json_keeps_every_value_and_shows_no_control(document: dict[str, str]) -> None:
    text = safe_json(document)
    assert json.loads(text) == document
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in text if c not in "\n\t")


# --- CSV ----------------------------------------------------------------------------------------------------------

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "  =1",
    "\r=1",
    "|cmd",
    "%0",
    "＝1",
    "a;=1",
    "a,=1",
    "a\n=1",
    "a\t@x",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_in_whatever_program(text: str) -> None:
    [[read]] = csv.reader(io.StringIO(f'"{cell(text)}"'))
    for separator in (",", ";", "\t", "\n"):
        for field in read.split(separator):
            assert field.strip()[:1] not in tuple("=+-@|%＝＋－＠")


def test_cells_hold_their_text(tmp_path: Path) -> None:
    report = report_of(tmp_path, hostile())
    for table in ("citations", "coverage", "calls"):
        rows = list(csv.reader(io.StringIO(to_csv([report], table))))
        assert len({len(row) for row in rows}) == 1
        assert not [c for row in rows for c in row if c.strip().startswith(("=", "@"))]
    [row] = csv.DictReader(io.StringIO(to_csv([report])))
    assert row["quote"] == cell(BAD)
    assert row["issuer"] == "'=cmd'|' /C calc'!A1".replace("'|", "|")


# --- DOCX ---------------------------------------------------------------------------------------------------------


def docx_text(content: bytes) -> str:
    import docx

    document = docx.Document(io.BytesIO(content))
    cells = [c.text for table in document.tables for row in table.rows for c in row.cells]
    return "\n".join([*(p.text for p in document.paragraphs), *cells])


def test_a_word_file_of_a_hostile_trace_opens_and_links_nowhere(tmp_path: Path) -> None:
    content = to_docx(report_of(tmp_path, hostile()))
    text = docx_text(content)
    assert one_line(BAD) in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        relations = archive.read("word/_rels/document.xml.rels").decode()
        assert 'TargetMode="External"' not in relations
        body = archive.read("word/document.xml").decode()
        assert "<script" not in body
        assert "w:instrText" not in body


def test_without_python_docx_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(UsageError, match="python-docx") as caught:
        to_docx(report_of(tmp_path, sound_events("run-1")))
    assert "dofrag[docx]" in (caught.value.hint or "")


# --- OpenTelemetry ------------------------------------------------------------------------------------------------


def test_spans_hang_together_and_their_ids_are_stable(tmp_path: Path) -> None:
    run = read_trajectory(write_trace(tmp_path))
    text = to_otel([run])
    assert text == to_otel([read_trajectory(tmp_path / "run-1.jsonl")])
    [resource] = json.loads(text)["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert [s["name"] for s in spans] == [
        "invoke_agent dofrag",
        "execute_tool search_documents",
        "execute_tool read_chunks",
    ]
    root, *calls = spans
    assert {s["traceId"] for s in spans} == {root["traceId"]}
    assert re.fullmatch("[0-9a-f]{32}", root["traceId"])
    assert len({s["spanId"] for s in spans}) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", s["spanId"]) for s in spans)
    assert {s["parentSpanId"] for s in calls} == {root["spanId"]}
    assert all(
        int(root["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]) for s in spans
    )
    assert [s["status"]["code"] for s in spans] == [1, 1, 1]
    told = {a["key"]: a["value"] for a in root["attributes"]}
    assert told["dofrag.reason"] == {"stringValue": "closed"}
    assert told["dofrag.spend.read_tokens"] == {"intValue": "22"}
    assert [e["name"] for e in root["events"]][-1] == "dofrag.run_finished"


def test_two_runs_have_two_ids(tmp_path: Path) -> None:
    runs = [read_trajectory(write_trace(tmp_path, name, sound_events(name))) for name in ("run-1", "run-2")]
    spans = json.loads(to_otel(runs))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert len({s["traceId"] for s in spans}) == 2
    assert len({s["spanId"] for s in spans}) == 6


def test_a_broken_off_run_is_neither_good_nor_bad(tmp_path: Path) -> None:
    run = read_trajectory(write_trace(tmp_path, "run-1", sound_events("run-1")[:5]))
    root, _, call = json.loads(to_otel([run]))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert root["status"] == {"code": 0}
    assert call["status"] == {"code": 2}


# --- files --------------------------------------------------------------------------------------------------------


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_target(path, b"one", force=False)
    with pytest.raises(UsageError, match="exists already"):
        write_target(path, b"two", force=False)
    assert path.read_bytes() == b"one"
    write_target(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]


def test_places_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("kept")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    (tmp_path / "folder.md").mkdir()
    refused = [
        tmp_path / "link.md",
        tmp_path / "folder.md",
        tmp_path / "run.jsonl",
        tmp_path / "no" / "a.md",
        Path("a\0b"),
    ]
    for path in [*refused, Path("/dev/null")]:
        with pytest.raises(UsageError):
            write_target(path, b"x", force=True)
    assert (tmp_path / "real.md").read_text() == "kept"


def test_the_text_of_a_quote_is_kept_whole(tmp_path: Path) -> None:
    assert "«113.14 pesos»" in plain(to_markdown(report_of(tmp_path, sound_events("run-1"))))


def test_a_dash_is_no_file_and_the_refusal_says_how_to_write_to_stdout() -> None:
    with pytest.raises(UsageError) as refused:
        write_target(Path("-"), b"x", force=False)
    assert "stdout" in str(refused.value.hint)
