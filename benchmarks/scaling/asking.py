"""Questions to a made-up gazette, and how long the product and SQLite's own full-text search take for them."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psutil
import synthetic

from dofrag import wiring
from dofrag.domain.corpus import Filters
from dofrag.search.analysis import STOP_WORDS
from dofrag.text.fold import words
from dofrag.tools.contract import ToolContext, ToolSpec
from dofrag.tools.search_documents import SEARCH_DOCUMENTS
from dofrag.tools.search_evidence import SEARCH_EVIDENCE
from dofrag.tools.session import ResearchSession

TERMS = 10
AGAIN = 5  # times that each question is asked once more; the best counts, for other work comes on top of the rest
WINDOW = 365  # days to either side of the publication that a question is drawn from


@dataclass(frozen=True)
class Asked:
    """Ten words that stand one after another in some passage, stop words left out, and the window to search."""

    text: str
    first: date
    last: date


def questions(seed: int, publications: int, count: int, newest: date) -> list[Asked]:
    gazette, draw = synthetic.gazette(seed), random.Random(f"questions {seed}")
    found: list[Asked] = []
    while len(found) < count:
        text = gazette.publication(draw.randrange(publications))
        telling = [w for w in dict.fromkeys(words(draw.choice(text.passages).text)) if w not in STOP_WORDS]
        if len(telling) < TERMS:
            continue
        at = draw.randrange(len(telling) - TERMS + 1)
        day = text.published_on
        first, last = max(synthetic.FIRST_DAY, day - timedelta(WINDOW)), min(newest, day + timedelta(WINDOW))
        found.append(Asked(f"¿{' '.join(telling[at : at + TERMS])}?", first, last))
    return found


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds on the clock, and of processor time."""
    wall, busy = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - busy) * 1000


def spread(times: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Median and 95th percentile of both."""
    out: dict[str, float] = {}
    for name, column in zip(("wall", "cpu"), zip(*times, strict=True), strict=True):
        ordered = sorted(column)
        out[f"{name}_p50"] = statistics.median(ordered)
        out[f"{name}_p95"] = ordered[int(0.95 * (len(ordered) - 1))]
    return out


class Product:
    """The tools as a run calls them."""

    def __init__(self, index: Path) -> None:
        self.corpus = wiring.open_corpus(index)
        self.newest = self.corpus.dates()[1]

    def call(self, tool: ToolSpec, arguments: dict[str, Any]) -> Any:
        context = ToolContext(
            reader=self.corpus.reader,
            backend=self.corpus.backend,
            session=ResearchSession(),
            as_of=self.newest,
            scopes=frozenset(),
            read_tokens_left=12_000,
            canonical_issuer=self.corpus.profile.canonical_issuer,
        )
        return tool.run(context, arguments)

    def evidence(self, asked: Asked, *, dated: bool = True) -> Any:
        window = {"date_from": asked.first.isoformat(), "date_to": asked.last.isoformat()}
        arguments = {"query": asked.text, "publications": None, "prefer_recent": False}
        return self.call(SEARCH_EVIDENCE, arguments | (window if dated else dict.fromkeys(window)))

    def documents(self, asked: Asked) -> Any:
        arguments = dict.fromkeys(("issuer", "edition", "kind")) | {"query": asked.text, "prefer_recent": False}
        window = {"date_from": asked.first.isoformat(), "date_to": asked.last.isoformat()}
        return self.call(SEARCH_DOCUMENTS, arguments | window)


def own_memory() -> dict[str, float]:
    """MB of this process: what it allocated (`anonymous`), and with it the pages of files that no other process maps
    (`uss`): those are the system's cache, and go when memory is short."""
    anonymous = 0
    smaps = Path("/proc/self/smaps_rollup")
    if smaps.exists():
        lines = dict(line.split(":", 1) for line in smaps.read_text().splitlines()[1:] if ":" in line)
        anonymous = int(lines["Anonymous"].split()[0]) * 1024
    return {"anonymous": anonymous / 1e6, "uss": psutil.Process().memory_full_info().uss / 1e6}


def measure_search(index: Path, seed: int, publications: int, count: int) -> dict[str, Any]:
    """Search and readers in this process, which does nothing else; the words of the questions count as its own."""
    product = Product(index)
    asked = questions(seed, publications, count, product.newest)
    synthetic.gazette.cache_clear()
    for one in asked[:5]:
        product.evidence(one)
    out: dict[str, Any] = {"questions": count}
    out["search_evidence"] = spread([timed(lambda one=one: product.evidence(one)) for one in asked])
    out["search_evidence, again"] = spread(
        [min(timed(lambda one=one: product.evidence(one)) for _ in range(AGAIN)) for one in asked]
    )
    out["search_evidence, no dates"] = spread(
        [timed(lambda one=one: product.evidence(one, dated=False)) for one in asked]
    )
    out["searches"] = 5 + count * (2 + AGAIN)
    out["memory"] = own_memory()
    out["search_documents"] = spread([timed(lambda one=one: product.documents(one)) for one in asked])
    reader, everything = product.corpus.reader, Filters(as_of=product.newest)
    draw = random.Random(f"chunks {seed}")
    (last,) = reader.connection.execute("SELECT max(id) FROM chunks").fetchone()  # type: ignore[attr-defined]
    ids = [draw.randrange(1, last + 1) for _ in range(2000)]
    codes = [str(1_000_000 + draw.randrange(publications)) for _ in range(2000)]
    out["one chunk"] = spread([timed(lambda i=i: reader.passages([i], everything)) for i in ids])
    out["one publication"] = spread([timed(lambda c=c: reader.publication(c, everything)) for c in codes])
    out["outline of one"] = spread([timed(lambda c=c: reader.outline(c, everything, limit=50)) for c in codes[:500]])
    out["memory after all"] = own_memory()
    return out


def build_fts5(store: Path, target: Path, *, titles: bool) -> float:
    """SQLite's own full-text search over the same chunks, without a copy of the texts: over the texts, or (`titles`)
    over all that the product searches, with title and issuer of the publication and the heading. Seconds."""
    begun = time.perf_counter()
    database = sqlite3.connect(target)
    database.executescript(
        f"""PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
            CREATE TABLE chunks (id INTEGER PRIMARY KEY, day TEXT NOT NULL);
            CREATE VIRTUAL TABLE chunk_text USING fts5(
                text{", title, heading" if titles else ""}, content='', tokenize='unicode61 remove_diacritics 2');"""
    )
    database.execute("ATTACH ? AS store", [str(store)])
    database.execute(
        """INSERT INTO chunks SELECT c.id, p.published_on FROM store.chunks c
           JOIN store.publications p ON p.id = c.publication_id"""
    )
    if titles:
        database.execute(
            """INSERT INTO chunk_text (rowid, text, title, heading)
               SELECT c.id, c.text, p.title || ' ' || i.name, h.name FROM store.chunks c
               JOIN store.publications p ON p.id = c.publication_id JOIN store.issuers i ON i.id = p.issuer_id
               LEFT JOIN store.headings h ON h.publication_id = p.id AND h.number = c.heading"""
        )
    else:
        database.execute("INSERT INTO chunk_text (rowid, text) SELECT id, text FROM store.chunks")
    database.commit()
    database.close()
    return time.perf_counter() - begun


def measure_fts5(path: Path, index: Path, seed: int, publications: int, count: int) -> dict[str, Any]:
    newest = Product(index).newest
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def ask(one: Asked) -> list[Any]:
        query = " OR ".join(f'"{word}"' for word in words(one.text))
        return database.execute(
            """SELECT c.id FROM chunk_text t JOIN chunks c ON c.id = t.rowid
               WHERE chunk_text MATCH ? AND c.day BETWEEN ? AND ? ORDER BY bm25(chunk_text), c.id LIMIT 10""",
            [query, one.first.isoformat(), one.last.isoformat()],
        ).fetchall()

    asked = questions(seed, publications, count, newest)
    ask(asked[0])
    return {"questions": count} | spread([timed(lambda one=one: ask(one)) for one in asked])
