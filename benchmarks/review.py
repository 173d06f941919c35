"""How fast the review page is: a list of thousands of runs, and a run that read forty passages of the sample gazette.

    python benchmarks/review.py [--runs 5000] [--passages 40]

Prints milliseconds over the wire (and of this process's CPU) and the size of each page. Its traces are made up here
and thrown away.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from dofrag.cli.review import make_setting
from dofrag.domain.corpus import Filters, Kind, Passage
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.review.app import make_app
from dofrag.review.serve import listen, make_server
from dofrag.trace.events import (
    Answered,
    Decomposed,
    Event,
    PassageRead,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from dofrag.trace.writer import TraceWriter
from dofrag.wiring import SAMPLE, open_corpus

QUOTE = 200
ROUNDS = 9


def longest_passages(count: int) -> list[Passage]:
    """The longest passages of the sample gazette."""
    reader = open_corpus(SAMPLE).reader
    everything = Filters(as_of=date.max, kinds=tuple(Kind))
    found = reader.passages(range(1, 3_000), everything)
    return sorted(found, key=lambda p: (-len(p.text), p.id))[:count]


def events(run_id: str, passages: list[Passage]) -> list[Event]:
    """A run that read the passages, eight a call, and cites each of them in a claim of its own."""
    claims, parts = [], []
    for n, passage in enumerate(passages, 1):
        quote = passage.text[:QUOTE]
        cited = {"chunk_id": passage.id, "quote": quote, "start": 0, "end": len(quote)}
        claims.append({"text": quote, "sub_questions": [f"q{n}"], "citations": [cited], "computed": None})
        label = {"id": f"q{n}.r1", "kind": "topic", "label": passage.publication.title[:80], "status": "answered"}
        parts.append({"id": f"q{n}", "text": passage.publication.title, "origin": "question", "premises": [],
                      "requirements": [label | {"chunk_id": passage.id}], "status": "answered"})  # fmt: skip
    made: list[Event] = [
        RunStarted(run_id=run_id, question="¿Qué dicen las publicaciones del día?", as_of=date(2099, 1, 1), scopes=(),
                   corpus="sample", corpus_dates=None, planner="rules", strategy="lexical", tools="core",
                   limits={"max_turns": 10}, versions={"code": "0"}),
        Decomposed(sub_questions=tuple(parts)),
    ]  # fmt: skip
    for turn, first in enumerate(range(0, len(passages), 8), 1):
        group = passages[first : first + 8]
        results = [{"chunk_id": p.id, "publication": p.publication.code, "heading": "", "snippet": p.text[:200]}
                   for p in group]  # fmt: skip
        envelope = {"ok": True, "results": results, "total": len(group), "returned": len(group), "sources": {}}
        call: dict[str, Any] = {"turn": turn, "call_id": f"c{turn}", "tool": "read_chunks"}
        made.append(ToolCalled(**call, arguments={"chunk_ids": [p.id for p in group]}, why="leer"))
        made.append(ToolReturned(**call, ok=True, envelope=envelope))
        made += [PassageRead(turn=turn, call_id=f"c{turn}", chunk_id=p.id, publication=p.publication.code,
                             sha256=sha256(p.text.encode()).hexdigest(), chars=len(p.text), tokens=len(p.text) // 4,
                             excerpt=p.text[:300]) for p in group]  # fmt: skip
    spend = {"turns": 6, "tool_calls": 5, "read_tokens": 9_000, "elapsed_ms": 900}
    made.append(Answered(turn=6, claims=tuple(claims), citations=tuple(p.id for p in passages),
                         premise={"status": "not_applicable", "correction": None}, answer="…"))  # fmt: skip
    made.append(RunFinished(terminal_state=TerminalState.ANSWERED, closure=Closure.COMPLETE, reason=Reason.CLOSED,
                            message=None, spend=spend, coverage=tuple(parts), limitations=(),
                            rejected_citations=()))  # fmt: skip
    return made


def write(folder: Path, run_id: str, passages: list[Passage]) -> Path:
    """One trace."""
    path = folder / f"{run_id}.jsonl"
    clock = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(10_000))
    with TraceWriter(path, lambda: next(clock)) as trace:
        for event in events(run_id, passages):
            trace.emit(event)
    return path


@contextlib.contextmanager
def served(traces: Path) -> Iterator[int]:
    """The page over these traces; its port."""
    server = make_server(make_app(make_setting(traces)))
    with listen(0) as socket:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield socket.getsockname()[1]
        server.should_exit = True
        thread.join()


def ask(port: int, path: str) -> tuple[float, float, int]:
    """Wall and CPU milliseconds of a page, and its bytes."""
    wall, cpu = time.perf_counter(), time.process_time()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200, (path, response.status)
    connection.close()
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu), len(body)


def report(name: str, port: int, path: str, rounds: int = ROUNDS) -> None:
    """Ask several times and print the medians."""
    asked = [ask(port, path) for _ in range(rounds)]
    wall, cpu = (statistics.median(a[n] for a in asked) for n in (0, 1))
    print(f"{name:44} {wall:8.1f} ms {cpu:8.1f} ms CPU {asked[0][2] / 1000:8.1f} kB")


def main() -> None:
    """Make the traces, serve them, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--passages", type=int, default=40)
    chosen = parser.parse_args()
    passages = longest_passages(chosen.passages)
    with tempfile.TemporaryDirectory() as folder:
        traces = Path(folder)
        short = write(traces, "run-short", passages[:3]).read_bytes()
        for n in range(chosen.runs - 2):
            (traces / f"run-{n:05}.jsonl").write_bytes(re.sub(rb"run-short", f"run-{n:05}".encode(), short))
        write(traces, "run-long", passages)
        chars = sum(len(p.text) for p in passages)
        print(f"{chosen.runs} runs; the long one read {len(passages)} passages of {chars} characters")
        with served(traces) as port:
            report("list, first time (every file is read)", port, "/c/traces", 1)
            report("list", port, "/c/traces")
            report("list, last page", port, f"/c/traces?page={chosen.runs // 50}")
            report("list, searched and narrowed", port, "/c/traces?text=publicaciones&state=answered")
            report("queue of 200", port, "/c/traces?queue=200")
            report("run", port, "/c/traces/r/run-long")


if __name__ == "__main__":
    main()
