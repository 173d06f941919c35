"""What a person may type wrong: each refusal names the value and the way out, and nothing is run."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from cli_front import dof
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.cli.options import check_scopes, clean_text, parse_date, parse_limits
from dofrag.domain.run import Limits
from dofrag.errors import UsageError

BAD_QUESTIONS = {
    "empty": ("", "is empty"),
    "spaces": (" \t\n ", "is empty"),
    "no words": ("¿¡...!?", "holds no words"),
    "too long": ("a" * 4001, "more than 4,000 characters"),
    "bell": ("valor\x07 de la UMA", "U+0007 at character 6"),
    "escape": ("\x1b[31mvalor", "U+001B at character 1"),
    "delete": ("a\x7f", "U+007F"),
    "C1": ("a\x9bm", "U+009B"),
    "not UTF-8": ("a\udcff", "not valid UTF-8 at character 2"),
}


@pytest.mark.parametrize("name", BAD_QUESTIONS)
def test_bad_questions_are_refused(name: str, tmp_path: Path) -> None:
    text, message = BAD_QUESTIONS[name]
    done = dof("run", "--question", text, "--json", "--trace-dir", str(tmp_path / "t"))
    assert done.code == 2
    error = done.document["error"]
    assert error["code"] == "usage"
    assert message in error["message"]
    assert error["hint"]
    assert not (tmp_path / "t").exists()


def test_what_to_write_instead_is_of_the_command_at_hand() -> None:
    assert 'dof search "…"' in dof("search", "").err
    assert 'dof search "…"' in dof("search", "🐟").err
    assert "dof run --question" in dof("run", "--question", "").err


def test_a_question_of_100_000_characters_is_refused_on_both_ways_in() -> None:
    text = "¿Cuál es el valor de la UMA? " * 3449
    for done in (dof("run", "--question", text), dof("run", "--question", "-", stdin=text.encode())):
        assert done.code == 2
        assert "has more than 4,000 characters" in done.err
        assert done.out == ""


def test_bad_standard_input_is_refused() -> None:
    done = dof("run", "--question", "-", "--json", stdin=b"valor \xff\xfe")
    assert (done.code, done.document["error"]["message"]) == (2, "standard input is not UTF-8 (byte 7)")
    assert dof("run", "--question", "-", stdin=b"").code == 2
    cut = dof("run", "--question", "-", stdin="á".encode() * 31_999 + b"a" + "á".encode() * 9)
    assert cut.code == 2
    assert "has more than 4,000 characters" in cut.err


@settings(deadline=None)
@given(st.text(max_size=300))
def test_clean_text_gives_printable_words_or_a_usage_error(text: str) -> None:
    try:
        cleaned = clean_text(text)
    except UsageError:
        return
    assert cleaned == clean_text(cleaned)
    assert cleaned.strip() == cleaned
    assert all(c.isprintable() or ord(c) > 0xFFF for c in cleaned)


def test_a_question_that_an_ascii_console_passed_on_is_understood() -> None:
    assert clean_text("¿Cuál es?".encode().decode("ascii", "surrogateescape")) == "¿Cuál es?"
    with pytest.raises(UsageError, match="not valid UTF-8"):
        clean_text("a\ud800b")


def test_invisible_signs_and_line_breaks_of_pasted_text_are_taken_out() -> None:
    assert (
        clean_text("\ufeff¿Cuál es\r\n\tel va\u00adlor\u200b de la\u00a0UMA?\u202e") == "¿Cuál es el valor de la UMA?"
    )


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-01",
        "2026-02-30",
        "24/04/2026",
        "2026-4-2",
        "20260424",
        "ayer",
        "",
        "2026-04-24T00:00",
        "２０２６-04-24",
    ],
)
@pytest.mark.parametrize(
    "command", [["run", "--question", "¿valor?"], ["search", "valor"], ["tools", "call", "x", "{}"]]
)
def test_bad_dates_are_refused_with_the_form_named(text: str, command: list[str]) -> None:
    done = dof(*command, "--as-of", text, "--json")
    assert done.code == 2
    assert "is not a date" in done.document["error"]["message"]
    assert "YYYY-MM-DD" in done.document["error"]["hint"]


def test_dates() -> None:
    assert parse_date(None, "--as-of") is None
    assert str(parse_date(" 2026-04-24 ", "--as-of")) == "2026-04-24"


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("max_turns", "has no '='"),
        ("max_steps=3", "no limit 'max_steps'"),
        ("=3", "no limit ''"),
        ("max_turns=0", "not a whole number above zero"),
        ("max_turns=-1", "not a whole number above zero"),
        ("max_turns=1.5", "not a whole number above zero"),
        ("max_turns=", "not a whole number above zero"),
        ("max_turns=" + "9" * 5000, "not a whole number above zero"),
        ("wall_clock_s=nan", "not a number above zero"),
        ("wall_clock_s=inf", "not a number above zero"),
    ],
)
def test_bad_limits_are_refused(pair: str, message: str) -> None:
    done = dof("run", "--question", "¿valor?", "--limit", pair, "--json")
    assert done.code == 2
    assert message in done.document["error"]["message"]


def test_an_unknown_limit_lists_those_there_are() -> None:
    done = dof("run", "--question", "¿valor?", "--limit", "x=1")
    assert done.code == 2
    assert all(f.name in done.err for f in fields(Limits))


def test_limits() -> None:
    limits = parse_limits(["max_turns=3", " wall_clock_s = 0.5"])
    assert (limits.max_turns, limits.wall_clock_s, limits.max_tool_calls) == (3, 0.5, Limits().max_tool_calls)
    with pytest.raises(UsageError, match="given twice"):
        parse_limits(["max_turns=3", "max_turns=4"])


@pytest.mark.parametrize(
    "planner", ["model", "replay", "replay:", "replay:x.jsonl", "rule", "scripted", "scripted:nobody", ""]
)
def test_planners_that_are_not_there_are_refused(planner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DOF_MODEL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    done = dof("run", "--question", "¿valor?", "--planner", planner, "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "usage")
    assert done.document["error"]["hint"]


@pytest.mark.parametrize("scope", ["", "../x", "a b", "a" * 65, ".hidden"])
def test_malformed_scopes_are_refused(scope: str) -> None:
    with pytest.raises(UsageError, match="not a collection's name"):
        check_scopes([scope])


@pytest.mark.parametrize(
    "args",
    [
        ["run"],
        ["run", "--question", "x", "--tools", "graph"],
        ["run", "--question", "x", "--strategy", "psychic"],
        ["run", "--question", "x", "--frobnicate"],
        ["search"],
        ["search", "x", "--top-k", "0"],
        ["search", "x", "--top-k", "many"],
        ["tools", "call", "search_documents"],
        ["tools", "list", "--state", "asleep"],
        ["trace", "show"],
        ["trace", "list", "--state", "asleep"],
        ["trace", "verify"],
        ["nothing"],
    ],
)
def test_wrong_words_are_exit_2_and_one_json_document(args: list[str]) -> None:
    done = dof(*args, "--json")
    assert done.code == 2
    assert done.document["error"]["code"] == "usage"
    assert dof(*args).code == 2


@pytest.mark.parametrize(
    "command", [["run", "--question", "¿valor?"], ["search", "valor"], ["tools", "call", "x", "{}"]]
)
def test_a_named_index_that_does_not_exist_is_exit_2(command: list[str], tmp_path: Path) -> None:
    done = dof(*command, "--index", str(tmp_path / "no"), "--json")
    assert done.code == 2
    assert str(tmp_path / "no") in done.document["error"]["message"]
    assert not (tmp_path / "no").exists()
