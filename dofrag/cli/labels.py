"""The words around a result, in the languages that it can be printed in. Data only, and the choice between them."""

from __future__ import annotations

import re

LABELS: dict[str, dict[str, str]] = {
    "es": {
        "not_answered": "NO RESPONDIDA",
        "clarify": "HACE FALTA PRECISAR LA PREGUNTA",
        "escalated": "REMITIDA A QUIEN PUEDA AUTORIZARLA",
        "failed": "LA INVESTIGACIÓN FALLÓ",
        "premise": "Corrección de la premisa",
        "positions": "Valores en disputa",
        "options": "Opciones",
        "claims": "Sustento",
        "partial": "Lo que sí se comprobó (informe parcial, no es una respuesta)",
        "nothing": "Nada de lo pedido pudo comprobarse.",
        "sources": "Fuentes",
        "chunk": "fragmento",
        "coverage": "Cobertura: {done} de {total}",
        "missing": "Falta",
        "searched": "Se buscó",
        "any": "(sin texto)",
        "found": "resultados: {total}",
        "limitations": "Limitaciones",
        "dropped": "Citas descartadas por no corresponder a nada leído: {ids}",
        "rejected": "Borradores rechazados antes de cerrar: {count}",
        "cost": "Costo: {turns} turnos, {calls} llamadas, {read} tokens leídos, {ms} ms",
        "model_tokens": ", {input} tokens de entrada y {output} de salida del modelo",
        "trace": "Traza",
        "end": "Estado",
        "computed": "calculado",
        "see": "Paso a paso: dof trace show {run_id}",
    },
    "en": {
        "not_answered": "NOT ANSWERED",
        "clarify": "THE QUESTION NEEDS TO BE MADE PRECISE",
        "escalated": "REFERRED TO WHOEVER MAY AUTHORISE IT",
        "failed": "THE RUN FAILED",
        "premise": "Correction of the premise",
        "positions": "Contested values",
        "options": "Options",
        "claims": "Evidence",
        "partial": "What was verified (partial report, not an answer)",
        "nothing": "Nothing that was asked could be verified.",
        "sources": "Sources",
        "chunk": "chunk",
        "coverage": "Coverage: {done} of {total}",
        "missing": "Missing",
        "searched": "Searched",
        "any": "(no text)",
        "found": "results: {total}",
        "limitations": "Limitations",
        "dropped": "Citations dropped because nothing that was read matches them: {ids}",
        "rejected": "Drafts refused before closing: {count}",
        "cost": "Cost: {turns} turns, {calls} calls, {read} tokens read, {ms} ms",
        "model_tokens": ", {input} model input tokens and {output} output",
        "trace": "Trace",
        "end": "State",
        "computed": "computed",
        "see": "Step by step: dof trace show {run_id}",
    },
}

STATES: dict[str, dict[str, str]] = {
    "es": {
        "answered": "respondida",
        "abstained": "sin respuesta",
        "needs_clarification": "necesita precisión",
        "escalated": "remitida",
        "failed": "fallida",
    },
    "en": {
        "answered": "answered",
        "abstained": "not answered",
        "needs_clarification": "needs clarification",
        "escalated": "referred",
        "failed": "failed",
    },
}

REASONS: dict[str, dict[str, str]] = {
    "es": {
        "closed": "todo lo pedido está respondido y citado",
        "closed_contested": "respondida con valores en disputa, todos citados",
        "premise_corrected": "la pregunta daba por cierto algo que las fuentes corrigen",
        "coverage_missing": "no se leyó evidencia suficiente para todo lo pedido",
        "turn_limit": "se agotaron los turnos",
        "tool_call_limit": "se agotaron las llamadas",
        "read_limit": "se agotó el límite de lectura",
        "token_limit": "se agotaron los tokens del modelo",
        "cost_limit": "se agotó el presupuesto de costo",
        "latency_limit": "se agotó el presupuesto de latencia",
        "wall_clock": "se agotó el tiempo",
        "premise_unclear": "no se pudo confirmar ni corregir lo que la pregunta da por cierto",
        "interrupted": "se interrumpió",
        "not_in_corpus": "el índice no contiene lo que se pregunta; abajo está lo que se buscó",
        "ambiguous": "la pregunta admite varias lecturas",
        "scope_denied": "pide una colección restringida que no está autorizada (opción --scope)",
        "approval_required": "requiere una operación que alguien debe aprobar",
        "provider_error": "el modelo no respondió",
        "planner_stalled": "el planificador dejó de proponer pasos válidos",
        "internal_error": "error interno",
    },
    "en": {
        "closed": "everything asked is answered and cited",
        "closed_contested": "answered with contested values, each cited",
        "premise_corrected": "the question took for granted something that the sources correct",
        "coverage_missing": "not enough evidence was read for everything that was asked",
        "turn_limit": "the turns ran out",
        "tool_call_limit": "the tool calls ran out",
        "read_limit": "the reading limit ran out",
        "token_limit": "the model tokens ran out",
        "cost_limit": "the cost budget ran out",
        "latency_limit": "the latency budget ran out",
        "wall_clock": "the time ran out",
        "premise_unclear": "what the question takes for granted could be neither confirmed nor corrected",
        "interrupted": "it was interrupted",
        "not_in_corpus": "the index does not hold what is asked; what was searched stands below",
        "ambiguous": "the question can be read in several ways",
        "scope_denied": "it asks for a restricted collection that was not authorised (option --scope)",
        "approval_required": "it needs an operation that somebody must approve",
        "provider_error": "the model did not answer",
        "planner_stalled": "the planner stopped proposing valid steps",
        "internal_error": "internal error",
    },
}

STATUSES: dict[str, dict[str, str]] = {
    "es": {
        "open": "pendiente",
        "read": "leído, sin el dato",
        "supported": "sustentado",
        "answered": "respondido",
        "contradicted": "contradicho",
        "not_found": "no encontrado",
    },
    "en": {
        "open": "open",
        "read": "read, value absent",
        "supported": "supported",
        "answered": "answered",
        "contradicted": "contradicted",
        "not_found": "not found",
    },
}

# Words that only one of the two languages has; a question in neither is answered in the gazette's language.
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(_WORD.findall("the of what which who when where how is are were does did and for by on"))
_SPANISH = frozenset(
    _WORD.findall("el la los las del que qué cuál cuáles quién cuándo dónde cómo es son fue en y por para un una")
)


def language_of(question: str) -> str:
    """`es` or `en`: the language whose function words the question uses more; `es` when in doubt."""
    words = [w.lower() for w in _WORD.findall(question)]
    english = sum(w in _ENGLISH for w in words)
    return "en" if english > sum(w in _SPANISH for w in words) else "es"
