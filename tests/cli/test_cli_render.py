"""A result as people read it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.cli.labels import LABELS, REASONS, STATES, STATUSES
from dofrag.cli.output import clean, one_line, wrap
from dofrag.cli.render import render_result
from dofrag.domain.question import Status
from dofrag.domain.run import ENDS, Reason, TerminalState
from dofrag.text.language import language_of

RESULT: dict[str, Any] = {
    "schema": "dofrag.result/1",
    "run_id": "20260424T120000Z-1a2b3c",
    "corpus": "indexes/real",
    "question": "¿Cuáles son los valores diario y mensual de la Unidad de Prueba?",
    "as_of": "2026-04-24",
    "terminal_state": "answered",
    "closure": "complete",
    "reason": "closed",
    "answer": "El valor diario es de 113.14 pesos [1]. El valor mensual es de 3,439.46 pesos [2].",
    "claims": [
        {
            "text": "El valor diario es de 113.14 pesos.",
            "sub_questions": ["q1"],
            "citations": [{"chunk_id": 12, "quote": "valor diario de 113.14 pesos", "start": 0, "end": 28}],
            "computed": None,
        },
        {
            "text": "El valor mensual es de 3,439.46 pesos.",
            "sub_questions": ["q1"],
            "citations": [{"chunk_id": 40, "quote": "| mensual |\n| 3,439.46 |", "start": 0, "end": 22}],
            "computed": {"operation": "sum", "inputs": [], "result": "3,439.46"},
        },
    ],
    "citations": [12, 40],
    "sources": [
        {
            "chunk_id": 12,
            "kind": "publication",
            "publication_code": "5778070",
            "title": "UNIDAD de Prueba",
            "issuer": "INSTITUTO DE PRUEBA",
            "publication_date": "2026-01-09",
            "edition": "MAT",
            "cite_as": "DOF 09/01/2026",
            "url": "https://www.dof.gob.mx/nota_detalle.php?codigo=5778070&fecha=09/01/2026",
            "heading_path": ["UNIDAD de Prueba", "Valores"],
        },
        {
            "chunk_id": 40,
            "kind": "consolidated",
            "publication_code": "LPRUEBA",
            "title": "LEY de Prueba",
            "issuer": "",
            "publication_date": "2025-01-09",
            "edition": None,
            "cite_as": "Ley de Prueba, art. 4, texto consolidado, última reforma DOF 09/01/2025",
            "url": None,
            "heading_path": [],
        },
    ],
    "premise": {"status": "not_applicable", "correction": None},
    "positions": [],
    "limitations": ["El índice va de 2024-01-02 a 2026-04-24.", "El diario no es ley consolidada."],
    "options": [],
    "coverage": [
        {
            "id": "q1",
            "text": "valores",
            "origin": "question",
            "status": "answered",
            "requirements": [
                {"id": "q1.r1", "kind": "value", "label": "valor diario", "status": "answered", "chunk_id": 12},
                {"id": "q1.r2", "kind": "value", "label": "valor mensual", "status": "answered", "chunk_id": 40},
            ],
        }
    ],
    "searched": [
        {"tool": "search_documents", "query": "unidad de prueba", "from": "2026-01-01", "to": None, "total": 1400}
    ],
    "rejections": [],
    "rejected_citations": [],
    "spend": {
        "turns": 4,
        "tool_calls": 3,
        "read_tokens": 1900,
        "input_tokens": None,
        "output_tokens": None,
        "cost": None,
        "elapsed_ms": 41,
    },
    "limits": {"max_turns": 10},
    "corpus_dates": {"from": "2024-01-02", "to": "2026-04-24"},
    "versions": {},
    "trace": "traces/20260424T120000Z-1a2b3c.jsonl",
    "trace_sha256": "0" * 64,
}


def result(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(RESULT), **changes}


def partial(**changes: Any) -> dict[str, Any]:
    """A run that a limit stopped with one of two requirements supported."""
    base = result(
        terminal_state="abstained", closure="incomplete", reason="tool_call_limit", answer=None, citations=[12]
    )
    base["claims"] = base["claims"][:1]
    base["sources"] = base["sources"][:1]
    base["coverage"][0]["requirements"][0]["status"] = "supported"
    base["coverage"][0]["requirements"][1] |= {"status": "not_found", "chunk_id": None}
    return {**base, **changes}


def test_the_answer_comes_first_then_claims_with_numbered_citations() -> None:
    text = render_result(RESULT, 100)
    assert text.startswith("El valor diario es de 113.14 pesos [1].")
    assert "[1] DOF 09/01/2026, INSTITUTO DE PRUEBA, «UNIDAD de Prueba», fragmento 12" in text
    assert "https://www.dof.gob.mx/nota_detalle.php?codigo=5778070&fecha=09/01/2026\n" in text
    assert "[1] «valor diario de 113.14 pesos»" in text
    assert "[2] Ley de Prueba, art. 4, texto consolidado, última reforma DOF 09/01/2025, fragmento 40" in text
    assert "None" not in text
    order = [
        text.index(mark)
        for mark in ("Sustento", "Fuentes", "Cobertura", "Se buscó", "Limitaciones", "Costo", "Traza")
    ]
    assert order == sorted(order)


@pytest.mark.parametrize(("cost", "told"), [(None, "n/d"), (0.01234, "US$ 0.0123")])
def test_what_a_model_cost_is_told_where_it_is_known(cost: float | None, told: str) -> None:
    spend = {**RESULT["spend"], "input_tokens": 12_000, "output_tokens": 345, "cost": cost}
    text = " ".join(render_result(result(spend=spend), 100).split())
    assert f"12,000 tokens de entrada y 345 de salida del modelo, costo del modelo {told}" in text


def test_coverage_cost_search_and_trace_are_told() -> None:
    text = render_result(RESULT, 100)
    assert "Cobertura: 2 de 2" in text
    assert "q1.r2  valor mensual" in text
    assert 'search_documents: "unidad de prueba", 2026-01-01/... -> resultados: 1,400' in text
    assert "Costo: 4 turnos, 3 llamadas, 1,900 tokens leídos, 41 ms" in text
    assert "answered/closed" in text
    assert "dof trace show 20260424T120000Z-1a2b3c" in text
    assert "(calculado)" in text
    assert "Falta" not in text


def test_a_claim_that_is_its_quote_is_said_once() -> None:
    shown = partial()
    shown["claims"][0]["text"] = "valor diario de\n113.14 pesos"
    assert render_result(shown, 100).count("113.14") == 1


def test_a_long_claim_is_said_in_full_once_and_all_its_quotes_are() -> None:
    long = "El valor " + "muy largo " * 30 + "es de 113.14 pesos."
    shown = result(answer=f"{long} [1]")
    shown["claims"] = shown["claims"][:1]
    shown["claims"][0] |= {"text": long, "citations": [{"chunk_id": 12, "quote": q} for q in ("a" * 90, "b" * 90)]}
    text = render_result(shown, 100)
    assert " ".join(text.split()).count(long) == 1
    assert "«" + "a" * 90 + "»" in text
    assert "«" + "b" * 90 + "»" in text


def test_each_limitation_stands_once() -> None:
    text = render_result(result(limitations=["Una sola vez.", "Una sola vez."]), 100)
    assert text.count("Una sola vez.") == 1


def test_a_partial_report_is_clearly_partial() -> None:
    text = render_result(partial(rejected_citations=[999], rejections=[{"turn": 5, "faults": ["x"]}]), 100)
    assert text.startswith("NO RESPONDIDA: se agotaron las llamadas.")
    assert "informe parcial, no es una respuesta" in text
    assert "Cobertura: 1 de 2" in text
    assert "Falta:\n  - valor mensual (no encontrado)" in text
    assert "999" in text
    assert "Borradores rechazados antes de cerrar: 1" in text


@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("question", [RESULT["question"], "What is the daily value of the unit?"])
def test_only_answered_runs_look_answered(reason: Reason, question: str) -> None:
    state, closure = ENDS[reason]
    shown = partial(reason=str(reason), terminal_state=str(state), closure=str(closure), question=question)
    if state is TerminalState.ANSWERED:
        shown = result(reason=str(reason), question=question)
    first = render_result(shown, 100).splitlines()[0]
    heads = [LABELS[language_of(question)][k] for k in ("not_answered", "clarify", "escalated", "failed")]
    assert any(first.startswith(head) for head in heads) is (state is not TerminalState.ANSWERED)
    assert f"{state}/{reason}" in render_result(shown, 100)


def test_nothing_verified_is_said() -> None:
    text = render_result(
        partial(claims=[], citations=[], sources=[], reason="not_in_corpus", closure="complete"), 100
    )
    assert "Nada de lo pedido pudo comprobarse." in text
    assert "Fuentes" not in text


def test_a_clarification_lists_its_options() -> None:
    shown = partial(
        terminal_state="needs_clarification", reason="ambiguous", answer="¿De qué zona?", options=["Norte", "Sur"]
    )
    text = render_result(shown, 100)
    assert text.startswith("HACE FALTA PRECISAR LA PREGUNTA")
    assert "¿De qué zona?" in text
    assert "  - Norte\n  - Sur\n" in text


def test_a_corrected_premise_is_shown() -> None:
    shown = result(reason="premise_corrected", premise={"status": "false", "correction": "Son ocho, no siete [1]."})
    assert "Corrección de la premisa: Son ocho, no siete [1]." in render_result(shown, 100)


def test_english_questions_get_english_words() -> None:
    text = render_result(partial(question="What is the daily value of the unit?"), 100)
    assert text.startswith("NOT ANSWERED: the tool calls ran out.")
    assert "Coverage: 1 of 2" in text


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Cuál es el valor de la UMA?", "es"),
        ("valor UMA 2026", "es"),
        ("What is the value of the UMA?", "en"),
        ("Which day was the Ley General published on?", "en"),
        ("Was kostet das?", "es"),
        ("", "es"),
    ],
)
def test_language(question: str, language: str) -> None:
    assert language_of(question) == language


def test_every_state_reason_and_status_has_words_in_each_language() -> None:
    for language in LABELS:
        assert REASONS[language].keys() == set(Reason)
        assert STATES[language].keys() == set(TerminalState)
        assert STATUSES[language].keys() == set(Status)
        assert LABELS[language].keys() == LABELS["es"].keys()


@pytest.mark.parametrize("width", [40, 60, 100, 120])
def test_lines_fit_the_width(width: int) -> None:
    shown = result()
    shown["claims"][0]["citations"][0]["quote"] = "palabra " * 70
    shown["coverage"][0]["requirements"][0]["label"] = "un requisito de nombre muy largo " * 4
    long = [line for line in render_result(shown, width).splitlines() if len(line) > width]
    # A link or a path is never broken: it would be of no use.
    assert all("https://" in line or "traces/" in line for line in long)


HOSTILE = "\x1b[2J\x1b]0;title\x07 \x9b31m\u202eatrevés\u2066 texto\r\n\x00fin"


def test_the_corpus_cannot_drive_the_terminal() -> None:
    shown = partial(limitations=[HOSTILE], question=HOSTILE, options=[HOSTILE])
    shown["claims"][0]["text"] = HOSTILE
    shown["claims"][0]["citations"][0]["quote"] = HOSTILE
    shown["sources"][0] |= {"title": HOSTILE, "issuer": HOSTILE, "heading_path": [HOSTILE], "url": HOSTILE}
    shown["coverage"][0]["requirements"][0]["label"] = HOSTILE
    shown["searched"][0]["query"] = HOSTILE
    text = render_result(shown, 80)
    assert clean(text) == text


def test_piped_text_prints_in_old_consoles() -> None:
    """The words around a result have a form in the encodings of old consoles; only the corpus may not."""
    render_result(RESULT, 100).encode("cp850")
    render_result(partial(), 100).encode("cp1252")


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(40, 120))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    assert " ".join(wrap(text, width, "  ", "    ")).split() == clean(text).split()


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(3, 50))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
