"""The frozen picture of a run that a planner gets each turn."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from dofrag.planner.interface import Seen, View

if TYPE_CHECKING:
    from dofrag.agent.loop import Run


def make_view(run: Run) -> View:
    """Everything a planner may know, and nothing it could change."""
    session = run.session
    return View(
        turn=run.budget.turns,
        question=run.question,
        sub_questions=run.sub_questions,
        coverage=MappingProxyType(dict(run.coverage.status)),
        support=MappingProxyType(dict(run.coverage.support)),
        tools=run.tools,
        publications=MappingProxyType(dict(session.publications)),
        seen=tuple(Seen(p.chunk_id, p.code, p.heading_path, p.provision, p.snippet) for p in session.seen),
        passages=MappingProxyType(dict(session.passages)),
        history=tuple(run.history),
        rejections=run.rejections[-1][1] if run.rejections else (),
        limits=run.setup.limits,
        spend=run.budget.spend(session.read_tokens),
        corpus_dates=run.setup.corpus.dates,
        asks_current=run.asks_current,
    )
