"""The longest prompts of a run, and what a turn costs besides the model and the search.

    python benchmarks/prompts.py [FOLDER --index DIR] [--mode MODE] [--passages 40] [--json FILE]

A model in this process plays the hungriest run that the default limits allow: it searches in ever new words, opens
outlines, reads until nothing more may be read, and hands in drafts as long as a reply may be. Every request is
measured by the estimate that the budget reserves (a quarter of the characters). Without arguments the questions of
the sample gazette are asked of it; with FOLDER, those of its `questions.jsonl`, of the index.

`overhead` is the time of a turn (CPU time of the thread) without that of the model and of the tools' own work (search
and store): prompt, parsing, validation, trace, coverage. `--passages` sets how many passages are read for it.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from dofrag import wiring
from dofrag.agent.loop import execute
from dofrag.agent.setup import Corpus, ModelSeat, Setup
from dofrag.domain.question import Question
from dofrag.domain.run import Limits
from dofrag.llm.interface import ChatRequest, ChatResponse, Finish, FunctionCall, Mode, Usage
from dofrag.planner.model import ModelPlanner
from dofrag.text.language import language_of
from dofrag.tools import CORE
from dofrag.trace.writer import TraceWriter

PROMPT_LIMIT = 24_000
OVERHEAD_LIMIT_MS = 10.0
CAP = 4_000
NULLS = dict.fromkeys(("date_from", "date_to", "issuer", "edition", "kind"))


@dataclass
class Clock:
    """CPU time of this thread, split into the tools' and the rest."""

    tools: float = 0.0
    last: float = 0.0
    turns: list[float] = field(default_factory=list)

    def asked(self) -> None:
        """A request arrives: what passed since the last reply, tools taken out, is overhead."""
        if self.last:
            self.turns.append((time.thread_time() - self.last - self.tools) * 1000)

    def replied(self) -> None:
        self.tools, self.last = 0.0, time.thread_time()


class Hungry:
    """A `ChatModel` that wants all it can get. `batch` ids are read at a time, with their neighbours if `wide`."""

    name = "hungry"

    def __init__(self, question: str, clock: Clock, batch: int, wide: bool) -> None:
        self.words = question
        self.clock = clock
        self.batch = batch
        self.wide = wide
        self.prompts: list[int] = []
        self.asked = 0

    def complete(self, request: ChatRequest, timeout_s: float) -> ChatResponse:
        self.clock.asked()
        self.prompts.append(request.prompt_tokens)
        self.asked += 1
        name, arguments = self.next_action(request)
        usage = Usage(request.prompt_tokens, 200)
        text = json.dumps({"action": name, "arguments": arguments}, ensure_ascii=False)
        calls = (FunctionCall(f"c{self.asked}", name, json.dumps(arguments, ensure_ascii=False)),)
        if not request.mode.calls_functions:
            response = ChatResponse(text=text, usage=usage)
        else:
            response = ChatResponse(calls=calls, finish=Finish.CALLS, usage=usage)
        self.clock.replied()
        return response

    def next_action(self, request: ChatRequest) -> tuple[str, dict[str, Any]]:
        told = "\n".join(m.text for m in request.messages)
        status = request.messages[-1].text
        pointers = [int(n) for n in re.findall(r"^ *#(\d+)", told, re.MULTILINE)]
        read = {int(n) for n in re.findall(r"<<<(?:PASAJE|PASSAGE) (\d+)", told)}
        unread = [n for n in dict.fromkeys(pointers) if n not in read]
        codes = re.findall(r"^\[([^\]]+)\] \d{4}-", told, re.MULTILINE)
        left = int((re.search(r": \d+ \w+, (\d+) ", status) or ["", "0"])[1])
        if self.asked == 1 or not unread:
            return "search_documents", {"query": self.query(), **NULLS, "prefer_recent": False}
        if self.asked in (2, 3):
            windows = {"publications": None, "date_from": None, "date_to": None, "prefer_recent": False}
            return "search_evidence", {"query": self.query(), **windows}
        if "budget_exhausted" in told:
            self.batch = min(self.batch, 1 + told.count("budget_exhausted") % 2)  # fewer may still fit
        if left and unread and "read_chunks" in status:
            return "read_chunks", {"chunk_ids": unread[: self.batch], "neighbor_window": int(self.wide)}
        if left and codes and "browse_document" in status:
            return "browse_document", {"publication": codes[self.asked % len(codes)], "provision": None, "offset": 0}
        return "submit_answer", self.draft(sorted(read) or [1])

    def query(self) -> str:
        words = self.words.split()
        return " ".join(words[self.asked :] + words[: self.asked])[:300]

    def draft(self, ids: list[int]) -> dict[str, Any]:
        """A draft that fills a reply, and is refused."""
        quote = f"Texto que no está en ningún pasaje, número {self.asked}. " * 10
        cited = [{"chunk_id": n, "quote": quote[:600]} for n in ids[:4]]
        claim = {"sub_questions": ["q1"], "text": quote[:300], "citations": cited, "computed": None}
        claims = [claim] * max(1, CAP * 4 // len(json.dumps(claim)))
        return {"claims": claims[:30], "premise": {"status": "not_applicable", "correction": None}}

    def price(self, usage: Usage) -> float | None:
        return None

    def close(self) -> None:
        """Nothing to give back."""


def timed(clock: Clock) -> tuple[Any, ...]:
    """The tools, with the time of their own work on the clock."""

    def wrap(run: Any) -> Any:
        def inner(context: Any, arguments: Any) -> Any:
            start = time.thread_time()
            try:
                return run(context, arguments)
            finally:
                clock.tools += time.thread_time() - start

        return inner

    return tuple(replace(spec, run=wrap(spec.run)) for spec in CORE)


def play(corpus: Any, text: str, as_of: date | None, mode: Mode, limits: Limits, batch: int) -> tuple[Hungry, int]:
    """One hungry run. Returns the model with what it saw, and how many passages were read."""
    chosen, dates = wiring.cutoff(corpus, as_of, ())
    clock = Clock()
    model = Hungry(text, clock, batch, wide=limits.max_read_tokens > 100_000)
    run_id = "bench"
    with tempfile.TemporaryDirectory() as folder:
        trace = TraceWriter(Path(folder) / f"{run_id}.jsonl", lambda: datetime.now(UTC))
        tools = timed(clock)
        prompts = corpus.profile.prompts(language_of(text))
        setup = Setup(
            run_id=run_id,
            corpus=Corpus(
                name=corpus.name, reader=corpus.reader, backend=corpus.backend, dates=dates, stamp=corpus.stamp
            ),
            profile=corpus.profile,
            planner=ModelPlanner(prompts, tools, mode, CAP),
            trace=trace,
            monotonic=lambda: 0.0,
            limits=limits,
            tools=tools,
            versions=wiring.versions(corpus),
            seat=ModelSeat(model=model),
        )
        run, end = execute(Question(text=text, as_of=chosen), setup)
        trace.close()
    if end.error is not None:
        raise end.error
    return model, len(run.session.passages)


def questions(folder: Path | None) -> Iterator[tuple[str, date | None]]:
    if folder is None:
        sample = Path(__file__).parents[1] / "tests" / "sample" / "questions.json"
        yield from ((row["question"], None) for row in json.loads(sample.read_text(encoding="utf-8")))
        return
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["question"], date.fromisoformat(row["as_of"]) if row.get("as_of") else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--mode", type=Mode, choices=list(Mode), default=None)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    corpus = wiring.open_corpus(options.index)
    asked = list(questions(options.folder))
    figures: dict[str, Any] = {"questions": len(asked)}
    for mode in [options.mode] if options.mode else [Mode.STRICT_TOOLS, Mode.JSON_SCHEMA, Mode.JSON_TEXT]:
        # Ever new words for a run that reads less, and one that reads all it may.
        runs = [play(corpus, *one, mode, Limits(max_tokens=10**9), batch)[0] for one in asked for batch in (3, 8)]
        runs = [model for model in runs if model.prompts]  # a question may name what is restricted
        longest = max(max(model.prompts) for model in runs)
        figures[str(mode)] = {
            "first": round(statistics.median(model.prompts[0] for model in runs)),
            "last": round(statistics.median(model.prompts[-1] for model in runs)),
            "longest": longest,
        }
        print(f"{mode:<13} first {figures[mode]['first']:>6,}  last {figures[mode]['last']:>6,}  "
              f"longest {longest:>6,} of {PROMPT_LIMIT:,} tokens")  # fmt: skip
        assert longest <= PROMPT_LIMIT
    wide = Limits(max_turns=24, max_tool_calls=22, max_cost_units=10**6, max_latency_ms=10**9,
                  max_read_tokens=10**6, max_tokens=10**9)  # fmt: skip
    turns: list[float] = []
    passages = []
    for text, as_of in asked[:12]:
        model, read = play(corpus, text, as_of, Mode.STRICT_TOOLS, wide, 8)
        if read >= options.passages:
            turns += model.clock.turns
            passages.append(read)
    if turns:
        figures["overhead_ms"] = {"median": statistics.median(turns), "p95": sorted(turns)[len(turns) * 95 // 100]}
        print(f"overhead a turn: median {figures['overhead_ms']['median']:.1f} ms, 95 % under "
              f"{figures['overhead_ms']['p95']:.1f} ms; {len(passages)} runs, "
              f"{min(passages)} passages read at least; limit {OVERHEAD_LIMIT_MS:g} ms")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
