"""What a run is doing, a line at a time, on stderr."""

from __future__ import annotations

from typing import Any

import click

from dofrag.cli.labels import language_of
from dofrag.cli.output import one_line
from dofrag.trace.events import (
    Answered,
    CoverageChanged,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    RunStarted,
    ToolCalled,
    ToolReturned,
)

_WORDS = {
    "es": {
        "turn": "turno",
        "found": "encontró {total}",
        "read": "leyó {total}",
        "refused": "rechazada: {why}",
        "covered": "cubierto {done}/{total}",
        "draft": "propone cerrar con {claims} afirmaciones",
        "rejected": "borrador rechazado: {why}",
        "limit": "límite {limit}: {spent} de {maximum}",
        "accepted": "respuesta aceptada",
    },
    "en": {
        "turn": "turn",
        "found": "found {total}",
        "read": "read {total}",
        "refused": "refused: {why}",
        "covered": "covered {done}/{total}",
        "draft": "proposes to close with {claims} claims",
        "rejected": "draft rejected: {why}",
        "limit": "limit {limit}: {spent} of {maximum}",
        "accepted": "answer accepted",
    },
}


class Progress:
    """A listener of events. Texts that were read never show, nor does the answer before it is checked."""

    def __init__(self) -> None:
        self._words = _WORDS["es"]

    def __call__(self, event: Event) -> None:
        for line in self._lines(event):
            click.echo(line, err=True)

    def _lines(self, event: Event) -> list[str]:
        words = self._words
        match event:
            case RunStarted():
                self._words = _WORDS[language_of(event.question)]
            case ToolCalled():
                why = f" - {one_line(event.why, 120)}" if event.why else ""
                return [f"{words['turn']} {event.turn}: {one_line(event.tool, 60)} {aim(event.arguments)}{why}"]
            case ToolReturned():
                found = words["read" if event.tool == "read_chunks" else "found"]
                return [f"  -> {outcome(event, found, words['refused'])}"]
            case CoverageChanged():
                return ["  " + words["covered"].format(done=event.supported, total=event.total)]
            case DraftProposed():
                claims = event.draft.get("claims")
                count = len(claims) if isinstance(claims, list) else 0
                return [f"{words['turn']} {event.turn}: {words['draft'].format(claims=count)}"]
            case DraftRejected():
                return [
                    "  " + words["rejected"].format(why=one_line(str(f.get("message")), 160)) for f in event.faults
                ]
            case LimitReached():
                values = {"limit": event.limit, "spent": round(event.spent), "maximum": round(event.maximum)}
                return ["  " + words["limit"].format(**values)]
            case Answered():
                return ["  " + words["accepted"]]
            case _:
                pass  # nothing a person waits for
        return []


def aim(arguments: Any) -> str:
    """What a call is after, in a few words: its query, documents or chunks."""
    if not isinstance(arguments, dict):
        return f"{one_line(str(arguments), 80)!r}"
    parts = []
    for name, value in sorted(arguments.items(), key=lambda item: (item[0] != "query", item[0])):
        if value in (None, False, [], 0):
            continue
        parts.append(f'"{one_line(str(value), 100)}"' if name == "query" else f"{name}={one_line(str(value), 60)}")
    return " ".join(parts)[:240]


def outcome(event: ToolReturned, found: str, refused: str) -> str:
    """What came back, in a few words."""
    envelope = event.envelope
    if event.ok:
        return found.format(total=envelope.get("total"))
    error = envelope.get("error")
    error = error if isinstance(error, dict) else {}
    return refused.format(why=f"{error.get('code')}, {one_line(str(error.get('message')), 160)}")
