"""What a run is put together from. `wiring` fills it; the loop only uses it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import date
from typing import TYPE_CHECKING

from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits
from dofrag.planner.interface import Planner
from dofrag.profiles.base import GazetteProfile
from dofrag.search.interface import SearchBackend
from dofrag.store.interface import CorpusReader
from dofrag.tools import CORE, ToolSpec
from dofrag.trace.events import Event
from dofrag.trace.writer import TraceSink

if TYPE_CHECKING:  # a run without a model imports nothing of it
    from dofrag.llm.interface import ChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """An opened index. `name` is how the caller named it ("sample" for the built-in one); `dates` are the first and
    last publication date that the run may see, before its cut-off."""

    name: str
    reader: CorpusReader
    backend: SearchBackend
    dates: tuple[date, date]
    stamp: str

    @property
    def is_sample(self) -> bool:
        return self.name == "sample"


def _jitter() -> float:
    import random  # only a run with a model waits

    return random.random()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSeat:
    """The model of a run. `timeout_s` bounds one request; `sleep` and `jitter` (in [0, 1)) are injected, so that
    tests need not wait."""

    model: ChatModel
    timeout_s: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _jitter


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A planner with what it needs of a run."""

    planner: Planner
    seat: ModelSeat | None = None
    monotonic: Callable[[], float] = time.monotonic
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The parts of one run. `monotonic` and `run_id` are injected, so that a run can be repeated byte for byte."""

    run_id: str
    corpus: Corpus
    profile: GazetteProfile
    planner: Planner
    trace: TraceSink
    monotonic: Callable[[], float]
    limits: Limits = field(default_factory=Limits)
    tools: tuple[ToolSpec, ...] = CORE
    tools_name: str = "core"
    strategy: str = "lexical"
    versions: Mapping[str, str] = field(default_factory=dict)
    listener: Callable[[Event], None] | None = None
    seat: ModelSeat | None = None  # the model of a planner that asks one
