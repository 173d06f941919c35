"""What a run is doing, a line at a time, on stderr."""

from __future__ import annotations

from typing import Any

import click

from dofrag.cli.labels import OUTCOMES
from dofrag.cli.output import one_line
from dofrag.text.language import language_of
from dofrag.trace.events import (
    Answered,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    ModelCalled,
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
        "retry": "  modelo {model}, intento {attempt}: {why}",
        "unused": "  respuesta del modelo sin usar: {why}",
        "parts": "  partes añadidas por el modelo: {parts}",
        "so_far": "llamadas {calls}, tokens {tokens}, costo {cost}",
        "unknown": "n/d",
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
        "retry": "  model {model}, attempt {attempt}: {why}",
        "unused": "  the model's reply was not used: {why}",
        "parts": "  parts added by the model: {parts}",
        "so_far": "calls {calls}, tokens {tokens}, cost {cost}",
        "unknown": "n/a",
    },
}


class Progress:
    """A listener of events. Texts that were read never show, nor does the answer before it is checked."""

    def __init__(self) -> None:
        self._language = "es"
        self._words = _WORDS["es"]
        self._calls = 0
        self._tokens = 0
        self._replies = 0
        self._cost: float | None = 0.0
        self._parts = 0

    def __call__(self, event: Event) -> None:
        for line in self._lines(event):
            click.echo(line, err=True)

    def _lines(self, event: Event) -> list[str]:
        words = self._words
        match event:
            case RunStarted():
                self._language = language_of(event.question)
                self._words = _WORDS[self._language]
            case Decomposed():
                return self._decomposed(event)
            case ModelCalled():
                return self._model(event)
            case ToolCalled():
                why = f" - {one_line(event.why, 120)}" if event.why else ""
                return [f"{words['turn']} {event.turn}: {one_line(event.tool, 60)} {aim(event.arguments)}{why}"]
            case ToolReturned():
                self._calls += event.ok
                found = words["read" if event.tool == "read_chunks" else "found"]
                return [f"  -> {outcome(event, found, words['refused'])}{self._so_far()}"]
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

    def _decomposed(self, event: Decomposed) -> list[str]:
        """The parts that a model added: those of the rules are no news."""
        added = [str(s.get("text")) for s in event.sub_questions if s.get("origin") == "planner"]
        return [self._words["parts"].format(parts=one_line("; ".join(added), 200))] if added else []

    def _model(self, event: ModelCalled) -> list[str]:
        """Nothing for a reply that is used: the step that it leads to is told. What went wrong is."""
        words = self._words
        why = OUTCOMES[self._language].get(event.outcome, event.outcome)
        if event.reply is None:
            return [words["retry"].format(model=one_line(event.model, 60), attempt=event.attempt, why=why)]
        got = event.output_estimate if event.output_tokens is None else event.output_tokens
        self._tokens += (event.prompt_tokens if event.input_tokens is None else event.input_tokens) + got
        self._cost = None if event.cost is None or self._cost is None else self._cost + event.cost
        self._replies += 1
        return [] if event.outcome == "ok" else [words["unused"].format(why=why)]

    def _so_far(self) -> str:
        """Calls, tokens and money so far, where a model is at work."""
        if not self._replies:
            return ""
        cost = self._words["unknown"] if self._cost is None else f"US$ {self._cost:.4f}"
        return "; " + self._words["so_far"].format(calls=self._calls, tokens=f"{self._tokens:,}", cost=cost)


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
