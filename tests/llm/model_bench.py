"""A run of the model planner over the corpus in memory, against a provider on this machine."""

from __future__ import annotations

import time
from typing import Any

import bench
from bench import QUOTE

from dofrag.agent.setup import ModelSeat
from dofrag.domain.run import Limits
from dofrag.llm.connect import connect
from dofrag.llm.interface import Mode
from dofrag.llm.openai_http import Endpoint
from dofrag.planner.model import ModelPlanner
from dofrag.profiles.dof.profile import DofProfile
from dofrag.tools import CORE

KEY = "sk-planted-0123456789abcdefghij"
FILTERS = dict.fromkeys(("date_from", "date_to", "issuer", "edition", "kind"))
SEARCH = ("search_documents", {"query": "cuota anual amarre", **FILTERS, "prefer_recent": False})
READ = ("read_chunks", {"chunk_ids": [1], "neighbor_window": 0})


def claim(text: str = f"{QUOTE}.", quote: str = QUOTE, chunk_id: int = 1, **more: Any) -> dict[str, Any]:
    citations = [{"chunk_id": chunk_id, "quote": quote}]
    return {"sub_questions": ["q1"], "text": text, "citations": citations, "computed": None} | more


def submit(*claims: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    premise = {"status": "not_applicable", "correction": None}
    return "submit_answer", {"claims": list(claims) or [claim()], "premise": premise}


GOOD = (SEARCH, READ, submit())


class Slept:
    """Sleeps that only note how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def run(
    url: str,
    *,
    api: str = "chat",
    mode: Mode = Mode.STRICT_TOOLS,
    limits: Limits | None = None,
    language: str = "es",
    timeout_s: float = 20.0,
    sleep: Any = None,
    cap: int = 2_000,
    monotonic: Any = time.monotonic,
    **more: Any,
) -> tuple[dict[str, Any], Any, Any, Any]:
    """As `bench.run`, with a `ModelPlanner` in the seat."""
    model = connect(Endpoint(model="tiny", base_url=url, api_key=KEY), api)
    planner = ModelPlanner(DofProfile().prompts(language), CORE, mode, cap)
    seat = ModelSeat(model=model, timeout_s=timeout_s, sleep=sleep or Slept(), jitter=lambda: 0.0)
    try:
        return bench.run(planner, seat=seat, limits=limits, monotonic=monotonic, **more)
    finally:
        model.close()
