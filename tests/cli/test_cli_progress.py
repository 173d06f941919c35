"""What a person sees on stderr while a run works."""

from __future__ import annotations

import pytest
from trace_samples import TEXT, limit_run, sound_events, started

from dofrag.cli.progress import Progress
from dofrag.trace.events import Event, ToolCalled, ToolReturned


def shown(events: list[Event], capsys: pytest.CaptureFixture[str]) -> str:
    progress = Progress()
    for event in events:
        progress(event)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_turn_tool_aim_and_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(sound_events("r"), capsys).splitlines() == [
        'turno 1: search_documents "valor" - find the notice',
        "  -> encontró 14",
        "turno 2: read_chunks chunk_ids=[12]",
        "  -> leyó 1",
        "  cubierto 1/1",
        "turno 3: propone cerrar con 1 afirmaciones",
        "  borrador rechazado: not there",
        "turno 4: propone cerrar con 1 afirmaciones",
        "  respuesta aceptada",
    ]


def test_neither_read_text_nor_an_unchecked_answer_shows(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(sound_events("r"), capsys)
    assert TEXT[:30] not in text
    assert "113.14" not in text


def test_a_limit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "límite max_tool_calls: 1 de 1" in shown(limit_run("r"), capsys)


def test_english_for_english(capsys: pytest.CaptureFixture[str]) -> None:
    events = [started("r", question="What is the value of the unit?"), *sound_events("r")[1:]]
    assert "turn 1: search_documents" in shown(events, capsys)


@pytest.mark.parametrize("arguments", ["not json", None, [1, 2], {"query": 5, "x": {"y": "\x1b[2J"}}, {}, 7])
def test_odd_calls_and_envelopes_are_told_too(arguments: object, capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Event] = [
        ToolCalled(turn=1, call_id="c1", tool="\x1b[2J", arguments=arguments, why="\n\n"),
        ToolReturned(turn=1, call_id="c1", tool="x", ok=False, envelope={"error": {"code": "unknown_tool"}}),
        ToolReturned(turn=1, call_id="c1", tool="x", ok=False, envelope={"error": 5}),
    ]
    text = shown(events, capsys)
    assert "\x1b" not in text
    assert text.count("\n") == 3
    assert "rechazada: unknown_tool" in text
