"""A run over a corpus in memory with an injected clock: the same input gives the same bytes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from doubles import MemoryCorpus, publication

from dofrag.agent.loop import End, Run, execute
from dofrag.agent.result import finish
from dofrag.agent.setup import Corpus, ModelSeat, Setup
from dofrag.domain.question import Question
from dofrag.domain.run import Limits
from dofrag.planner.interface import Planner
from dofrag.planner.scripted import Scripted, ScriptedPlanner
from dofrag.profiles.dof.profile import DofProfile
from dofrag.trace.events import Event
from dofrag.trace.writer import MemoryTrace

QUESTION = "¿Cuál es la cuota anual de amarre para 2024?"
AS_OF = date(2024, 6, 30)
QUOTE = "La cuota anual de amarre para 2024 es de 1,250.00 pesos"


def corpus() -> MemoryCorpus:
    return MemoryCorpus(
        (
            publication("9000001", "2024-01-10", title="AVISO por el que se da a conocer la cuota anual de amarre"),
            [f"{QUOTE} por embarcación.", "Esta cuota se paga en las oficinas de la Autoridad."],
        ),
        (publication("9000002", "2023-01-10", title="AVISO de faros"), ["Los faros se pintan cada año."]),
        (
            publication("9000003", "2024-01-11", scope="dictamen", title="Dictamen"),
            ["La cuota interna es de 9 pesos."],
        ),
    )


def search(query: str = "cuota anual amarre") -> tuple[str, dict[str, Any]]:
    keys = ("date_from", "date_to", "issuer", "edition", "kind")
    return "search_documents", {"query": query, **dict.fromkeys(keys), "prefer_recent": False}


def read(*chunk_ids: int) -> tuple[str, dict[str, Any]]:
    return "read_chunks", {"chunk_ids": list(chunk_ids), "neighbor_window": 0}


def run(
    planner: Planner | Iterable[Scripted],
    *,
    question: str = QUESTION,
    limits: Limits | None = None,
    scopes: frozenset[str] = frozenset(),
    monotonic: Callable[[], float] | None = None,
    listener: Callable[[Event], None] | None = None,
    source: MemoryCorpus | None = None,
    run_id: str = "20240701T000000Z-000000",
    seat: ModelSeat | None = None,
) -> tuple[dict[str, Any], MemoryTrace, Run, End]:
    ticks = itertools.count()
    trace = MemoryTrace(lambda: datetime(2024, 7, 1, tzinfo=UTC) + timedelta(seconds=next(ticks)))
    memory = source or corpus()
    setup = Setup(
        run_id=run_id,
        corpus=Corpus(name="memory", reader=memory, backend=memory, dates=(date(2023, 1, 10), AS_OF), stamp="s"),
        profile=DofProfile(),
        planner=planner if hasattr(planner, "next_step") else ScriptedPlanner(planner),
        trace=trace,
        monotonic=monotonic or (lambda: 0.0),
        limits=limits or Limits(),
        versions={"code": "test", "index": "s", "profile": "test", "contract": "test"},
        listener=listener,
        seat=seat,
    )
    done, end = execute(Question(text=question, as_of=AS_OF, scopes=scopes), setup)
    return finish(done, end), trace, done, end
