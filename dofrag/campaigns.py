"""Campaigns put together: a question set, an index, arms and planners. `cli` asks here; `evals` gets what it
needs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from dofrag import __version__, wiring
from dofrag.agent.arms import arm_named
from dofrag.domain.records import dataclass
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.evals import predictions as registered
from dofrag.evals.dataset import Item, QuestionSet, load_set
from dofrag.evals.lint import Finding, lint
from dofrag.evals.locate import GoldReader, Unit, units
from dofrag.evals.look import Look, looked_at
from dofrag.evals.observe import Observer
from dofrag.evals.runner import Ran, run_campaign
from dofrag.evals.seal import Seal, folder_sha256, lock
from dofrag.llm.known import address
from dofrag.planner.registry import make_planner
from dofrag.settings import ModelChoice, SearchChoice, model_settings

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to run every question. `planner` may carry its rate of slips: `rules:eps0.1`."""

    name: str
    arm: str = "core"
    planner: str = "rules"
    model: str | None = None
    limits: Limits = Limits()
    epsilon: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBench:
    """Runs questions with `wiring.run_question`, all in one way. Values only: it travels to other processes."""

    index: Path | None
    variant: Variant
    model: ModelChoice
    search: SearchChoice
    traces: Path

    def ask(self, question: str, as_of: date | None, turn: int) -> Ran:
        observer = Observer()
        outcome = wiring.run_question(
            question,
            as_of=as_of,
            index=self.index,
            planner=self.variant.planner,
            model=self.model,
            limits=self.variant.limits,
            search=self.search,
            trace_dir=self.traces,
            on_event=observer,
            play=wiring.Play(arm=self.variant.arm, epsilon=self.variant.epsilon, seed=turn),
        )
        return Ran(outcome.result, observer.seen(), outcome.error)

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
    """What the caller of `dof eval` chose. `variants` has one at least; `out` None: a folder of its own under the
    traces. `frozen`: the package that runs must be the one that was sealed with the set."""

    set_name: str
    variants: tuple[Variant, ...] = (Variant(name="core"),)
    index: Path | None = None
    model: ModelChoice = ModelChoice()
    search: SearchChoice = SearchChoice()
    workers: int = 1
    passes: int = 1
    out: Path | None = None
    frozen: bool = False
    predictions: Path | None = None
    experiment: str | None = None


def evaluate(
    plan: Plan,
    *,
    notice: Callable[[str], None] = lambda _: None,
    on_done: Callable[[Json, int, int], None] = lambda record, done, total: None,
) -> tuple[Path, Json]:
    """Run a campaign, or go on with it, and write its report: the folder, and the report as JSON values.

    Raises UsageError, CorpusError and FreezeError before anything runs; else what `run_campaign` raises.
    """
    from dofrag.evals.report import episodes_sha256, finished, write_report

    chosen = load_set(plan.set_name, Path.cwd())
    look = looked_at(chosen, plan.frozen, plan.index is not None)
    index = plan.index or set_index(chosen, notice)
    seats = {v.name: _seat(plan, v) for v in plan.variants}
    corpus = wiring.open_corpus(index, notice, search=plan.search)
    told = None if plan.predictions is None else registered.read(plan.predictions)
    spec = _spec(plan, chosen, corpus, look, seats)
    spec["predictions_sha256"] = None if told is None else told.sha256
    corpus.close_searcher()
    folder = plan.out or wiring.settings().trace_dir / "eval" / f"{_stamp()}-{chosen.name}"
    benches = {
        v.name: IndexBench(
            index=index, variant=v, model=_model(plan, v), search=plan.search, traces=folder / "traces"
        )
        for v in plan.variants
    }
    many = f" × {len(benches)} variants" if len(benches) > 1 else ""
    notice(f"{spec['title']}: {len(chosen.items)} questions × {plan.passes}{many}, records in {folder}")

    def begin() -> None:
        if told is not None:
            registered.keep(told, folder)
        if look is not None:
            look.enter(folder, spec, datetime.now(UTC).isoformat(timespec="seconds"))

    run_campaign(folder, benches, chosen.items, spec, workers=plan.workers, on_begin=begin, on_done=on_done)
    if look is not None:
        look.finish(folder, episodes_sha256(*finished(folder)))
    return folder, write_report(folder)


def set_index(chosen: QuestionSet, notice: Callable[[str], None]) -> Path | None:
    """The index of a set that has its own corpus: the sample gazette, with the set's publications, if it has some,
    built once. None where the set leaves that to the caller."""
    if chosen.corpus is None:
        return wiring.SAMPLE if chosen.named or chosen.sealed else None
    from dofrag.sample.index import sample_index

    more = chosen.corpus, folder_sha256(chosen.corpus)[0]
    return sample_index(wiring.settings().cache, wiring.profile(), notice, more)


def lock_set(name: str, author: str) -> Seal:
    """Seal a set as it lies there. Raises what `evals.seal.lock` raises."""
    from dofrag.sample import sample_version

    return lock(load_set(name, Path.cwd()), author, datetime.now(UTC).isoformat(timespec="seconds"), sample_version())


def lint_set(name: str, index: Path | None, against: Sequence[str], notice: Callable[[str], None]) -> list[Finding]:
    """What is wrong with a set, and what it shares with others. Spans are looked for where an index is named, or the
    set has its own corpus."""
    chosen = load_set(name, Path.cwd())
    where = index or set_index(chosen, notice)
    reader = None if where is None else _gold_reader(wiring.open_corpus(where, notice))
    others = [load_set(other, Path.cwd()) for other in against]
    return lint(chosen.items, reader, [(other.name, other.items) for other in others])


def _spec(
    plan: Plan, chosen: QuestionSet, corpus: wiring.OpenCorpus, look: Look | None, seats: dict[str, Json]
) -> Json:
    corpus_name = "sample gazette" if corpus.name == "sample" else corpus.name
    if chosen.corpus is not None and plan.index is None:
        corpus_name = f"sample gazette and {folder_sha256(chosen.corpus)[1]} publications"
    arms = {v.arm for v in plan.variants}
    return {
        "schema": "dofrag.campaign/2",
        "title": f"{chosen.name} ({corpus_name})",
        "utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "set_id": chosen.name,
        "set_sha256": chosen.sha256,
        "set_role": "dev" if look is None else "locked",
        "lock": None if look is None else look.row(),
        "questions": len(chosen.items),
        "passes": plan.passes,
        "experiment": plan.experiment,
        "corpus": corpus_name,
        "strategy": corpus.strategy,
        "variants": [asdict(v) | seats[v.name] for v in plan.variants],
        "registries": {arm: wiring.contract_hash(arm_named(arm).tools) for arm in sorted(arms)},
        "versions": wiring.versions(corpus),
        "code_rev": f"{__version__}+{code_digest()}",
    }


def _model(plan: Plan, variant: Variant) -> ModelChoice:
    if variant.model is None:
        return plan.model
    return ModelChoice(name=variant.model, base_url=plan.model.base_url, api=plan.model.api)


def _seat(plan: Plan, variant: Variant) -> Json:
    """Which model plays, if one does. What cannot be played is refused here, not once a question."""
    if variant.planner.startswith("replay:"):
        raise UsageError("a recording is of one question", hint="dof run --planner replay:FILE")
    arm_named(variant.arm)
    if variant.planner != "model":
        make_planner(variant.planner)
        return {"model": None, "provider_host": None}
    chosen = model_settings(os.environ, Path.cwd(), _model(plan, variant))
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
