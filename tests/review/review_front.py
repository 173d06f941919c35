"""A campaign to review, written by hand: answered, refused, cut off, hostile; and the page served for real."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trace_samples import finished, started, write_trace

from dofrag.cli.labels import REASONS, STATES, STATUSES
from dofrag.domain.corpus import Chunk, Filters, Kind, Passage, Publication, SourceKind
from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.review.catalog import Catalog
from dofrag.review.passages import Shelf
from dofrag.review.words import Labels
from dofrag.trace.events import (
    Answered,
    CoverageChanged,
    Decomposed,
    DraftProposed,
    DraftRejected,
    Event,
    LimitReached,
    PassageRead,
    StatusChange,
    ToolCalled,
    ToolReturned,
)

LABELS = Labels(states=STATES, reasons=REASONS, statuses=STATUSES)
NOON = datetime(2026, 4, 24, 12, 0, tzinfo=UTC)
RATE = (
    "**Artículo 2.** La cuota por metro es la siguiente:\n\n"
    "| Zona | Cuota |\n|---|---|\n| Norte | $113.14 |\n| Sur | $98.20 |\n\n"
    "La cuota se actualiza cada mes de febrero."
)
BEFORE = "**Artículo 1.** Este acuerdo rige en las dos zonas."
AFTER = "**Artículo 3.** Quien no pague la cuota pierde el permiso."
TERM = "El plazo para pagar es de diez días hábiles, contados desde la notificación."
HOSTILE = (
    "# <script>window.pwned = 1</script>\n\n"
    '<img src=x onerror="window.pwned = 2"> **<b onmouseover=alert(1)>negrita</b>**\n\n'
    "[pulse aquí](javascript:window.pwned=3) <a href='javascript:window.pwned=4'>o aquí</a>\n\n"
    '| <iframe src="javascript:window.pwned=5"></iframe> | "><svg onload=window.pwned=6> |\n|---|---|\n'
    "| ' onfocus=window.pwned=7 autofocus x=' | </td></table></main><script>window.pwned=8</script> |\n\n"
    "&lt;script&gt; {{ 7 * 7 }} {% raw %} \u202egnirts desrever\u202c\n"
)
BOMB = "**" * 3_000 + "|" * 3_000 + "\n" + "|x" * 3_000 + "\n" + "#" * 3_000


def publication(code: str, title: str, url: str | None = "https://gaceta.example/nota?codigo=1") -> Publication:
    return Publication(
        code=code, published_on=date(2026, 1, 9), edition="MAT", kind=Kind.DOF, source_kind=SourceKind.PUBLICATION,
        position=1, section=None, branch=None, issuer="INSTITUTO DE PRUEBA", title=title, instrument="ACUERDO",
        identifiers=(), url=url, scope="public", source=f"{code}.md", span=(0, 10), chars=10, sha256="0" * 64,
    )  # fmt: skip


def passage(id: int, text: str, owner: Publication, ordinal: int = 0) -> Passage:
    chunk = Chunk(id=id, code=owner.code, ordinal=ordinal, start=0, end=len(text), heading_path=("Capítulo I",),
                  provision=None, kind="text", text=text)  # fmt: skip
    return Passage(chunk, owner)


RATES = publication("9001", "ACUERDO que fija las cuotas")
TERMS = publication("9002", "ACUERDO que fija los plazos")
EVIL = publication("9003", "ACUERDO <script>window.pwned = 9</script>", "javascript:window.pwned=10")
PASSAGES = {
    p.id: p
    for p in (
        passage(11, BEFORE, RATES, 0),
        passage(12, RATE, RATES, 1),
        passage(13, AFTER, RATES, 2),
        passage(21, TERM, TERMS),
        passage(31, HOSTILE, EVIL),
        passage(32, BOMB, EVIL, 1),
    )
}


class Reader:
    """A store of a few passages: what the page asks of a CorpusReader."""

    def __init__(self, passages: Mapping[int, Passage] = PASSAGES) -> None:
        self._passages = passages

    def passages(self, chunk_ids: Sequence[int], filters: Filters) -> list[Passage]:
        return [self._passages[i] for i in dict.fromkeys(chunk_ids) if i in self._passages]

    def neighbors(self, chunk_id: int, window: int) -> list[int]:
        code = self._passages[chunk_id].publication.code
        return [i for i in range(chunk_id - window, chunk_id + window + 1)
                if i in self._passages and self._passages[i].publication.code == code]  # fmt: skip


def shelf(passages: Mapping[int, Passage] = PASSAGES, name: str = "indexes/prueba") -> Shelf:
    return Shelf(name=name, open=lambda: contextlib.nullcontext(Reader(passages)))  # type: ignore[arg-type]


def cite_as(owner: Publication) -> str:
    return f"DOF {owner.published_on:%d/%m/%Y}"


def citation(chunk: int, quote: str) -> dict[str, Any]:
    text = PASSAGES[chunk].text
    start = text.find(quote)
    return {"chunk_id": chunk, "quote": quote, "start": start, "end": start + len(quote)}


def claim(text: str, *citations: dict[str, Any], subs: Sequence[str] = ("q1",)) -> dict[str, Any]:
    return {"text": text, "sub_questions": list(subs), "citations": list(citations), "computed": None}


def read(chunk: int, turn: int = 2, text: str | None = None) -> PassageRead:
    text = PASSAGES[chunk].text if text is None else text
    return PassageRead(turn=turn, call_id="c2", chunk_id=chunk, publication=PASSAGES[chunk].publication.code,
                       sha256=sha256(text.encode()).hexdigest(), chars=len(text), tokens=20,
                       excerpt=text[:300])  # fmt: skip


def envelope(*chunks: int) -> dict[str, Any]:
    owners = {PASSAGES[c].publication.code: PASSAGES[c].publication for c in chunks}
    return {
        "ok": True,
        "total": 14,
        "returned": len(chunks),
        "charged": {"cost_units": 3, "latency_ms": 400},
        "results": [{"chunk_id": c, "publication": PASSAGES[c].publication.code, "heading": "Capítulo I",
                     "snippet": PASSAGES[c].text[:80]} for c in chunks],
        "sources": {code: {"title": p.title, "issuer": p.issuer, "date": "2026-01-09"} for code, p in owners.items()},
    }  # fmt: skip


def answered_run(
    run_id: str,
    claims: Sequence[dict[str, Any]],
    chunks: Sequence[int],
    question: str = "¿Cuál es la cuota de la zona norte, y en qué plazo se paga?",
    rejected: bool = True,
    planner: str = "rules",
) -> list[Event]:
    """A run that read `chunks` and answered with `claims`."""
    cited = list(dict.fromkeys(c["chunk_id"] for one in claims for c in list(one["citations"])))
    parts = [{"id": "q1", "text": "cuál es la cuota", "origin": "rule:value", "premises": [{"label": "hay cuota"}],
              "requirements": [{"id": "q1.r1", "label": "cuota norte"}]},
             {"id": "q2", "text": "en qué plazo se paga", "origin": "rule:deadline", "premises": [],
              "requirements": [{"id": "q2.r1", "label": "plazo para pagar"}]}]  # fmt: skip
    moves = (StatusChange(id="q1.r1", before="open", after="supported", chunk_id=chunks[0]),
             StatusChange(id="q2.r1", before="open", after="supported", chunk_id=chunks[-1]))  # fmt: skip
    ends = [(p, r, c) for p, r, c in zip(parts, ("q1.r1", "q2.r1"), (chunks[0], chunks[-1]), strict=True)]
    coverage = tuple({"id": p["id"], "text": p["text"], "status": "answered",
                      "requirements": [{"id": r, "kind": "value", "label": r, "status": "answered", "chunk_id": c}]}
                     for p, r, c in ends)  # fmt: skip
    refused: list[Event] = [
        DraftProposed(turn=3, draft={"claims": [claim("Un borrador sin cita.")]}),
        DraftRejected(turn=3, faults=({"code": "citation_required", "where": "claims[0]", "message": "none"},)),
    ]
    return [
        started(run_id, question=question, corpus="indexes/prueba", planner=planner),
        Decomposed(sub_questions=tuple(parts)),
        ToolCalled(turn=1, call_id="c1", tool="search_documents", arguments={"query": "cuota"}, why="buscar"),
        ToolReturned(turn=1, call_id="c1", tool="search_documents", ok=True, envelope=envelope(*chunks)),
        ToolCalled(turn=2, call_id="c2", tool="read_chunks", arguments={"chunk_ids": list(chunks)}, why=""),
        ToolReturned(turn=2, call_id="c2", tool="read_chunks", ok=True, envelope=envelope(*chunks)),
        *(read(c) for c in chunks),
        CoverageChanged(turn=2, changes=moves, supported=2, total=2),
        *(refused if rejected else []),
        DraftProposed(turn=4, draft={"claims": list(claims)}),
        Answered(turn=4, claims=tuple(claims), citations=tuple(cited), premise={"status": "supported"},
                 answer=" ".join(c["text"] for c in claims)),
        finished(coverage=coverage, spend={"turns": 4, "tool_calls": 2, "read_tokens": 20 * len(chunks), "cost": None,
                                           "input_tokens": None, "elapsed_ms": 41}),
    ]  # fmt: skip


def refused_run(run_id: str, question: str = "¿Qué multa se impone?") -> list[Event]:
    """A run that a limit stopped."""
    return [
        started(run_id, question=question, corpus="indexes/prueba"),
        Decomposed(sub_questions=({"id": "q1", "text": "qué multa", "origin": "question", "premises": [],
                                   "requirements": [{"id": "q1.r1", "label": "multa"}]},)),
        ToolCalled(turn=1, call_id="c1", tool="search_documents", arguments={"query": "multa"}, why="buscar"),
        ToolReturned(turn=1, call_id="c1", tool="search_documents", ok=True, envelope=envelope()),
        LimitReached(turn=2, limit="max_tool_calls", maximum=1, spent=1, wanted=1, tool="read_chunks"),
        finished(terminal_state=TerminalState.ABSTAINED, closure=Closure.INCOMPLETE, reason=Reason.TOOL_CALL_LIMIT,
                 coverage=(), spend={"turns": 2, "tool_calls": 1, "read_tokens": 0, "elapsed_ms": 3}),
    ]  # fmt: skip


GOOD = (
    claim("La cuota de la zona norte es de $113.14.", citation(12, "| Norte | $113.14 |"), subs=("q1",)),
    claim("Se paga en diez días hábiles.", citation(21, "diez días hábiles"), subs=("q2",)),
)
EVIL_CLAIM = claim("<script>window.pwned = 11</script> dice negrita", citation(31, "negrita"), subs=("q1",))
EVIL_QUESTION = '"><script>window.pwned = 12</script> ¿<b>qué</b> dice?'


def make_campaign(folder: Path, extra: int = 0) -> Path:
    """A campaign with four runs worth looking at, and `extra` refused ones."""
    traces = folder / "traces"
    traces.mkdir(parents=True)
    write_trace(traces, "run-good", answered_run("run-good", GOOD, (12, 21)))
    write_trace(traces, "run-refused", refused_run("run-refused"))
    write_trace(traces, "run-evil", answered_run("run-evil", [EVIL_CLAIM], (31, 32), question=EVIL_QUESTION))
    cut = write_trace(traces, "run-cut", answered_run("run-cut", GOOD, (12, 21), question="¿Se cortó la corrida?"))
    lines = cut.read_bytes().split(b"\n")
    cut.write_bytes(b"\n".join(lines[:9]) + b"\n" + lines[9][:40])
    (traces / "broken.jsonl").write_text("not a trace\n", encoding="utf-8")
    for n in range(extra):
        write_trace(traces, f"run-x{n:04}", refused_run(f"run-x{n:04}", f"¿Qué dice el artículo {n}?"))
    names = ["run-good", "run-refused", "run-evil", "run-cut", *(f"run-x{n:04}" for n in range(extra))]
    (folder / "spec.json").write_text(json.dumps({"title": "Prueba (gaceta)", "questions": len(names)}))
    with (folder / "episodes.jsonl").open("w", encoding="utf-8") as out:
        for n, name in enumerate(names):
            grade = {
                "nuggets": [{"text": "113.14", "vital": True, "found": name == "run-good"}],
                "why": ["missing: x"],
            }
            row = {"run_id": name, "question_id": f"Q-{n:03}", "category": ("values", "fines", "lists")[n % 3],
                   "pass": 1, "arm": ("rules", "model-x")[n % 2], "expected_state": "answered",
                   "grade": grade}  # fmt: skip
            out.write(json.dumps(row) + "\n")
    with (folder / "items.jsonl").open("w", encoding="utf-8") as out:
        gold = [{"source": "9001.md", "title": "ACUERDO", "quotes": ["$113.14"]}]
        for n in range(len(names)):
            row = {
                "id": f"Q-{n:03}",
                "reference_answer": "Es de $113.14.",
                "gold": gold,
                "expected_state": "answered",
            }
            out.write(json.dumps(row) + "\n")
    return folder


@dataclass(frozen=True)
class Answer:
    """What came back over the wire."""

    status: int
    headers: http.client.HTTPMessage
    body: str


@dataclass
class Browser:
    """A client that keeps cookies and says where it comes from, as a browser does; nothing of that if told so."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers: str | None) -> Answer:
        """A header given as None is left out; `_` in a name stands for `-`."""
        usual: dict[str, str | None] = {"Host": self.host}
        if self.cookies:
            usual["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        if method == "POST":
            usual |= {"Origin": f"http://{self.host}", "Content-Type": "application/x-www-form-urlencoded"}
        sent = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = body.encode() if isinstance(body, str) else body
            if data is not None:
                sent.setdefault("Content-Length", str(len(data)))
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(data)
            response = connection.getresponse()
            for line in response.headers.get_all("Set-Cookie") or []:
                name, _, value = line.split(";")[0].partition("=")
                self.cookies[name] = value
            return Answer(response.status, response.headers, response.read().decode("utf-8"))
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def token(self) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.get("/").body)
        assert found
        return found[1]

    def post(self, path: str, fields: Sequence[tuple[str, str]], **headers: str | None) -> Answer:
        return self.ask("POST", path, urlencode([("csrf", self.token()), *fields]), **headers)


@contextlib.contextmanager
def served(campaign: Path, traces: Path | None = None, **changes: Any) -> Iterator[tuple[Browser, str]]:
    """The page, served on a free port: a client, and the campaign's address."""
    from dofrag.review.app import Setting, make_app
    from dofrag.review.serve import listen, make_server

    catalog = Catalog(traces, [campaign])
    values: dict[str, Any] = {"catalog": catalog, "shelves": [shelf()], "labels": LABELS, "cite_as": cite_as,
                              "author": "ana"}  # fmt: skip
    server = make_server(make_app(Setting(**(values | changes))))
    with listen(0) as socket:
        port = socket.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        until = time.monotonic() + 20
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started
        try:
            yield Browser(port), f"/c/{next(c.id for c in catalog.collections() if c.campaign)}"
        finally:
            server.should_exit = True
            thread.join(20)
