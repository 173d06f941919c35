"""Parts that the tests of evaluation share: a small set on the sample gazette, the command line, and benches that
play any planner through the real loop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from dofrag import wiring
from dofrag.agent.loop import execute
from dofrag.agent.result import finish
from dofrag.agent.setup import Setup
from dofrag.domain.evidence import Citation, Claim, Draft
from dofrag.domain.question import Question
from dofrag.evals.dataset import Item
from dofrag.evals.locate import Unit, units
from dofrag.evals.observe import Observer
from dofrag.evals.runner import Ran
from dofrag.planner.interface import Abstain, Planner, Step, ToolCall, View
from dofrag.planner.rules import RulePlanner
from dofrag.trace.codec import jsonable
from dofrag.trace.writer import TraceWriter

SMALL = Path(__file__).with_name("small_set.jsonl")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def dof(*args: str, cwd: Path) -> Done:
    """`dof` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "dofrag.cli.main", *args],
        capture_output=True,
        timeout=300,
        cwd=cwd,
        env=environment(cwd),
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(*args: str, cwd: Path) -> subprocess.Popen[bytes]:
    """`dof`, left running in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dofrag.cli.main", *args],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment(cwd),
        start_new_session=True,
    )


def environment(cwd: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DOF_", "OPENAI_"))}
    root = str(Path(wiring.__file__).parents[1])
    return kept | {"XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"], "PYTHONPATH": root}


def lines(folder: Path) -> int:
    path = folder / "episodes.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def search(view: View, words: str) -> ToolCall:
    arguments = {"query": words, "date_from": None, "date_to": None, "issuer": None, "edition": None, "kind": None}
    return ToolCall("search_documents", arguments | {"prefer_recent": False}, "look around")


class FirstHit:
    """Searches once, reads the first hit, and answers every part with its beginning."""

    name = "first_hit"

    def next_step(self, view: View) -> Step:
        if not view.history:
            return search(view, view.question.text[:300])
        if not view.seen:
            return Abstain("nothing found")
        if not view.passages:
            return ToolCall("read_chunks", {"chunk_ids": [view.seen[0].chunk_id], "neighbor_window": 0}, "read it")
        if view.rejections:
            return Abstain("refused")
        passage = next(iter(view.passages.values()))
        quote = passage.text.strip()[:300].strip()
        subs = tuple(s.id for s in view.sub_questions)
        return Draft(
            claims=(Claim(text=quote, sub_questions=subs, citations=(Citation(chunk_id=passage.id, quote=quote),)),)
        )


class Abstains:
    """Gives up at once."""

    name = "abstains"

    def next_step(self, view: View) -> Step:
        return Abstain("always")


class Denies:
    """Looks as well as it must, then says that the corpus does not hold it."""

    name = "denies"

    def next_step(self, view: View) -> Step:
        if len(view.history) < 2:
            return search(view, f"palabra que no existe {len(view.history)}")
        return Abstain("not there")


PLANNERS: dict[str, Callable[[], Planner]] = {
    "first_hit": FirstHit, "abstains": Abstains, "denies": Denies, "rules": RulePlanner,
}  # fmt: skip


@dataclass(frozen=True)
class AgentBench:
    """Any planner through the real loop on the sample. `gate` off: what it proposes stands, as if it had been
    accepted. `heard` keeps all that reaches a run."""

    planner: str
    traces: Path
    gate: bool = True
    heard: list[tuple[str, date | None]] | None = None
    errors: tuple[tuple[str, Exception], ...] = ()

    def ask(self, question: str, as_of: date | None, turn: int) -> Ran:
        if self.heard is not None:
            self.heard.append((question, as_of))
        corpus = wiring.open_corpus(wiring.SAMPLE)
        chosen, dates = wiring.cutoff(corpus, as_of, ())
        run_id = f"r{time.monotonic_ns()}"
        observer = Observer()
        path = self.traces / f"{run_id}.jsonl"
        with TraceWriter(path, lambda: datetime.now(UTC)) as trace:
            setup = Setup(
                run_id=run_id, corpus=corpus.for_run(dates), profile=corpus.profile,
                planner=PLANNERS[self.planner](), trace=trace, monotonic=time.monotonic,
                versions=wiring.versions(corpus), listener=observer,
            )  # fmt: skip
            run, end = execute(Question(text=question, as_of=chosen, scopes=frozenset()), setup)
            result = finish(run, end)
            result |= {"trace": path.as_posix(), "trace_sha256": trace.last_hash}
        if not self.gate and run.session.passages:
            result |= _let_through(run)
        error = next((e for text, e in self.errors if text in question), None)
        if error is not None:
            result |= {"terminal_state": "failed", "reason": "provider_error", "answer": None, "claims": [],
                       "sources": [], "citations": []}  # fmt: skip
        return Ran(result, observer.seen(), error)

    def units(self, item: Item, cited: Sequence[int]) -> tuple[Unit, ...]:
        reader: Any = wiring.open_corpus(wiring.SAMPLE).reader
        return units(reader, item, cited)


def _let_through(run: Any) -> dict[str, Any]:
    passage = next(iter(run.session.passages.values()))
    quote = passage.text.strip()[:300].strip()
    claim = Claim(text=quote, sub_questions=("q1",), citations=(Citation(chunk_id=passage.id, quote=quote),))
    return {
        "terminal_state": "answered", "reason": "closed", "closure": "complete", "answer": quote,
        "claims": [jsonable(claim)], "citations": [passage.id],
        "sources": [{"chunk_id": passage.id, "publication_code": passage.publication.code}],
    }  # fmt: skip


def without(item: Item, **changed: Any) -> Item:
    return replace(item, **changed)
