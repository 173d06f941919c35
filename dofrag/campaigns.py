"""Campaigns put together: a question set, an index and a planner. `cli` asks here; `evals` gets what it needs."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from dofrag import __version__, wiring
from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.evals.dataset import Item, QuestionSet, load_set
from dofrag.evals.lint import Finding, lint
from dofrag.evals.locate import GoldReader, Unit, units
from dofrag.evals.runner import Ran, run_campaign
from dofrag.llm.known import address
from dofrag.planner.registry import make_planner
from dofrag.settings import ModelChoice, SearchChoice, model_settings
from dofrag.trace.events import Event, ToolReturned

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBench:
    """Runs questions with `wiring.run_question`, all in one way. Values only: it travels to other processes."""

    index: Path | None
    planner: str
    model: ModelChoice
    limits: Limits
    search: SearchChoice
    traces: Path

    def ask(self, question: str, as_of: date | None) -> Ran:
        calls: Counter[str] = Counter()
        refused: Counter[str] = Counter()

        def listen(event: Event) -> None:
            if isinstance(event, ToolReturned) and event.ok:
                calls[event.tool] += 1
            elif isinstance(event, ToolReturned):
                error = event.envelope["error"]
                assert isinstance(error, dict)
                refused[str(error["code"])] += 1

        outcome = wiring.run_question(
            question,
            as_of=as_of,
            index=self.index,
            planner=self.planner,
            model=self.model,
            limits=self.limits,
            search=self.search,
            trace_dir=self.traces,
            on_event=listen,
        )
        return Ran(outcome.result, calls, refused, outcome.error)

    def units(self, item: Item, cited: Sequence[int]) -> tuple[Unit, ...]:
        return units(_reader(self.index), item, cited)


@lru_cache(maxsize=2)
def _reader(index: Path | None) -> GoldReader:
    return _gold_reader(wiring.open_corpus(index))


def _gold_reader(corpus: wiring.OpenCorpus) -> GoldReader:
    from dofrag.store.corpus import StoreReader

    assert isinstance(corpus.reader, StoreReader)
    return corpus.reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the caller of `dof eval` chose. `out` None: a folder of its own under the traces."""

    set_name: str
    index: Path | None = None
    planner: str = "rules"
    model: ModelChoice = ModelChoice()
    limits: Limits = Limits()
    search: SearchChoice = SearchChoice()
    workers: int = 1
    passes: int = 1
    out: Path | None = None


def evaluate(
    plan: Plan,
    *,
    notice: Callable[[str], None] = lambda _: None,
    on_done: Callable[[Json, int, int], None] = lambda record, done, total: None,
) -> tuple[Path, Json]:
    """Run a campaign, or go on with it, and write its report: the folder, and the report as JSON values.

    Raises UsageError and CorpusError before anything runs; else what `run_campaign` raises.
    """
    from dofrag.evals.report import write_report

    chosen = load_set(plan.set_name, Path.cwd())
    index = plan.index or (wiring.SAMPLE if chosen.named else None)
    if plan.planner.startswith("replay:"):
        raise UsageError("a recording is of one question", hint="dof run --planner replay:FILE")
    seat = _seat(plan)
    corpus = wiring.open_corpus(index, notice, search=plan.search)
    spec = _spec(plan, chosen, corpus) | seat
    corpus.close_searcher()
    folder = plan.out or wiring.settings().trace_dir / "eval" / f"{_stamp()}-{chosen.name}"
    bench = IndexBench(index=index, planner=plan.planner, model=plan.model, limits=plan.limits, search=plan.search,
                       traces=folder / "traces")  # fmt: skip
    notice(f"{spec['title']}: {len(chosen.items)} questions × {plan.passes}, records in {folder}")
    run_campaign(folder, bench, chosen.items, spec, workers=plan.workers, passes=plan.passes, on_done=on_done)
    return folder, write_report(folder)


def lint_set(name: str, index: Path | None, against: Sequence[str], notice: Callable[[str], None]) -> list[Finding]:
    """What is wrong with a set, and what it shares with others. Spans are looked for where an index is named, or the
    set has its own corpus."""
    chosen = load_set(name, Path.cwd())
    where = index or (wiring.SAMPLE if chosen.named else None)
    reader = None if where is None else _gold_reader(wiring.open_corpus(where, notice))
    others = [load_set(other, Path.cwd()) for other in against]
    return lint(chosen.items, reader, [(other.name, other.items) for other in others])


def _spec(plan: Plan, chosen: QuestionSet, corpus: wiring.OpenCorpus) -> Json:
    corpus_name = "sample gazette" if corpus.name == "sample" else corpus.name
    return {
        "schema": "dofrag.campaign/1",
        "title": f"{chosen.name} ({corpus_name})",
        "utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "set_id": chosen.name,
        "set_sha256": chosen.sha256,
        "set_role": "dev",
        "questions": len(chosen.items),
        "passes": plan.passes,
        "corpus": corpus_name,
        "planner": plan.planner,
        "strategy": corpus.strategy,
        "limits": asdict(plan.limits),
        "versions": wiring.versions(corpus),
        "code_rev": f"{__version__}+{code_digest()}",
    }


def _seat(plan: Plan) -> Json:
    """Which model plays, if one does. What cannot be played is refused here, not once a question."""
    if plan.planner != "model":
        make_planner(plan.planner)
        return {"model": None, "provider_host": None}
    chosen = model_settings(os.environ, Path.cwd(), plan.model)
    return {"model": chosen.name, "provider_host": address(chosen.base_url)}


@cache
def code_digest() -> str:
    """Of every file of the package that runs, short."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".toml", ".json")):
        digest.update(
            f"{path.relative_to(root).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return digest.hexdigest()[:16]


def _stamp() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
