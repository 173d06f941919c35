"""The systems that are compared. All rank the same chunks, under the cut-off of the question, over the same kinds.

The baselines are built once from the store of the index, a publication at a time, into a folder beside it that is
named for its stamp.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import tantivy

from dofrag import wiring
from dofrag.domain.corpus import PUBLIC, Chunk, Filters, Publication
from dofrag.search import bm25
from dofrag.search.analysis import STOP_WORDS
from dofrag.settings import SearchChoice
from dofrag.store.corpus import StoreReader
from dofrag.text.fold import words
from dofrag.tools.contract import ToolContext
from dofrag.tools.search_evidence import SEARCH_EVIDENCE
from dofrag.tools.session import ResearchSession
from ranking.metrics import POOL

QUERY_CHARS = 400
"""Of a question at most, as the product's own schema has it."""
DOCUMENTS = 10
"""Documents whose passages the two-step baseline ranks."""
NAMES = ("fts5-documents", "fts5-chunks", "tantivy", "tantivy-title", "dofrag")


@dataclass(frozen=True)
class Ranking:
    """`ids` as shown, best first; `pool`, the candidates behind them; milliseconds for what is shown."""

    ids: list[int]
    pool: list[int]
    ms: float


class System(Protocol):
    def rank(self, question: str, as_of: date) -> Ranking: ...


def open_system(name: str, index: Path, folder: Path) -> System:
    """A system by its name: one of `NAMES`, `dofrag:STRATEGY`, `dofrag:hybrid:rrf`, or `dofrag@CHUNKS`; else
    ValueError."""
    if name.startswith("dofrag@") and name[7:].isdecimal():
        return AsIf(index, int(name[7:]))
    if name == "dofrag" or name.startswith("dofrag:"):
        return Product(index, name.partition(":")[2] or None)
    if name not in NAMES:
        raise ValueError(f"no system named {name!r}: {', '.join(NAMES)}, dofrag:STRATEGY, dofrag@CHUNKS")
    if name.startswith("fts5"):
        return Fts5(folder / "fts5.sqlite", whole=name == "fts5-documents")
    return Tantivy(folder / name)


def build(name: str, reader: StoreReader, folder: Path) -> float:
    """Build what a baseline needs unless it is there. Seconds that it took."""
    begun = time.perf_counter()
    if name.startswith("fts5"):
        _once(folder / "fts5.sqlite", lambda part: _build_fts5(reader, part))
    elif name.startswith("tantivy"):
        _once(folder / name, lambda part: _build_tantivy(reader, part, titled=name.endswith("-title")))
    return time.perf_counter() - begun


def _once(target: Path, work: Callable[[Path], None]) -> None:
    """Complete or absent: built beside itself and renamed."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    if part.is_dir():
        shutil.rmtree(part)
    part.unlink(missing_ok=True)
    work(part)
    part.rename(target)


def stored(reader: StoreReader) -> Iterator[tuple[int, Publication, list[Chunk]]]:
    """Every public publication that is searched by default, with its chunks."""
    everything = Filters(as_of=date.max, scopes=frozenset({PUBLIC}))
    number = 0
    while page := reader.list_publications(everything, limit=1000, offset=number).publications:
        for publication in page:
            number += 1
            yield number, publication, reader.chunks(publication.code, everything)


def query_words(question: str) -> list[str]:
    """For the baselines: the distinct words of a question that are no stop words."""
    return [w for w in dict.fromkeys(words(question[:QUERY_CHARS])) if w not in STOP_WORDS][:64]


class Fts5:
    """SQLite's full-text search with its own bm25: over chunks, or over whole documents with their titles, and then
    over the chunks of the best of those."""

    def __init__(self, path: Path, *, whole: bool) -> None:
        self._db = sqlite3.connect(path)
        self._whole = whole

    def rank(self, question: str, as_of: date) -> Ranking:
        begun = time.perf_counter()
        query = " OR ".join(f'"{word}"' for word in query_words(question))
        condition, values = "c.day <= ?", [as_of.toordinal()]
        if self._whole and query:
            best = self._db.execute(
                """SELECT d.id FROM document_text t JOIN documents d ON d.id = t.rowid
                   WHERE document_text MATCH ? AND d.day <= ? ORDER BY bm25(document_text), d.id LIMIT ?""",
                [query, as_of.toordinal(), DOCUMENTS],
            )
            values = [row[0] for row in best]
            condition = f"c.document IN ({','.join('?' * len(values))})"
        found = self._db.execute(
            f"""SELECT c.id FROM chunk_text t JOIN chunks c ON c.id = t.rowid
                WHERE chunk_text MATCH ? AND {condition} ORDER BY bm25(chunk_text), c.id LIMIT ?""",
            [query, *values, POOL],
        )
        ids = [row[0] for row in found] if query else []
        return Ranking(ids, ids, (time.perf_counter() - begun) * 1000)


def _build_fts5(reader: StoreReader, path: Path) -> None:
    database = sqlite3.connect(path)
    database.executescript(
        """CREATE TABLE documents (id INTEGER PRIMARY KEY, day INTEGER NOT NULL);
           CREATE TABLE chunks (id INTEGER PRIMARY KEY, document INTEGER NOT NULL, day INTEGER NOT NULL);
           CREATE VIRTUAL TABLE document_text USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');
           CREATE VIRTUAL TABLE chunk_text USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');"""
    )
    for number, publication, chunks in stored(reader):
        day = publication.published_on.toordinal()
        whole = "\n".join([publication.title, publication.issuer, *(c.text for c in chunks)])
        database.execute("INSERT INTO documents VALUES (?, ?)", [number, day])
        database.execute("INSERT INTO document_text (rowid, text) VALUES (?, ?)", [number, whole])
        database.executemany("INSERT INTO chunks VALUES (?, ?, ?)", [(c.id, number, day) for c in chunks])
        database.executemany("INSERT INTO chunk_text (rowid, text) VALUES (?, ?)", [(c.id, c.text) for c in chunks])
    database.commit()
    database.close()


def _analyzer() -> tantivy.TextAnalyzer:
    """As the engine has it for Spanish, with accents folded."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    filters = [
        tantivy.Filter.lowercase(),
        tantivy.Filter.stopword("spanish"),
        tantivy.Filter.stemmer("spanish"),
        tantivy.Filter.ascii_fold(),
    ]
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


class Tantivy:
    """Tantivy's bm25 over one field: the chunk's text, alone or behind the title of its publication."""

    def __init__(self, folder: Path) -> None:
        self._index = tantivy.Index.open(str(folder))
        self._analyzer = _analyzer()
        self._searcher = self._index.searcher()

    def rank(self, question: str, as_of: date) -> Ranking:
        begun = time.perf_counter()
        terms = list(dict.fromkeys(self._analyzer.analyze(question[:QUERY_CHARS])))[:64]
        schema, occur = self._index.schema, tantivy.Occur
        any_term = tantivy.Query.boolean_query(
            [(occur.Should, tantivy.Query.term_query(schema, "text", term)) for term in terms]
        )
        days = tantivy.Query.range_query(schema, "day", tantivy.FieldType.Integer, 1, as_of.toordinal())
        dated = tantivy.Query.boolean_query(
            [(occur.Must, any_term), (occur.Must, tantivy.Query.const_score_query(days, 0.0))]
        )
        hits = self._searcher.search(dated, limit=2 * POOL, count=False).hits
        ids: list[Any] = self._searcher.fast_field_values("id", [address for _, address in hits])
        ranked = sorted(zip(ids, hits, strict=True), key=lambda pair: (-pair[1][0], pair[0]))
        best = [int(chunk) for chunk, _ in ranked][:POOL]
        return Ranking(best, best, (time.perf_counter() - begun) * 1000)


def _build_tantivy(reader: StoreReader, folder: Path, *, titled: bool) -> None:
    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("id", indexed=True, fast=True)
    schema.add_integer_field("day", indexed=True, fast=True)
    schema.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    folder.mkdir(parents=True)
    index = tantivy.Index(schema.build(), str(folder), reuse=False)
    writer = index.writer(60_000_000, 1)
    analyzer = _analyzer()
    for _, publication, chunks in stored(reader):
        title = f"{publication.title}\n{publication.issuer}\n" if titled else ""
        for chunk in chunks:
            text = " ".join(analyzer.analyze(title + chunk.text))
            writer.add_document(tantivy.Document(id=chunk.id, day=publication.published_on.toordinal(), text=text))
    writer.commit()
    writer.wait_merging_threads()


class Product:
    """What a run gets: the tool `search_evidence`, over all publications, in the running configuration."""

    def __init__(self, index: Path, strategy: str | None) -> None:
        # Partial vectors serve: hybrid then embeds what words found, and keeps it in the cache.
        name, _, fusion = (strategy or "lexical").partition(":")
        choice = SearchChoice(strategy=name, fusion=fusion or "z", allow_partial=True)
        self._corpus = wiring.open_corpus(index, search=choice)

    def rank(self, question: str, as_of: date) -> Ranking:
        context = ToolContext(
            reader=self._corpus.reader,
            backend=self._corpus.backend,
            session=ResearchSession(),
            as_of=as_of,
            scopes=frozenset(),
            read_tokens_left=12_000,
            canonical_issuer=self._corpus.profile.canonical_issuer,
        )
        query = question[:QUERY_CHARS]
        asked = {"query": query, "publications": None, "date_from": None, "date_to": None, "prefer_recent": False}
        begun = time.perf_counter()
        outcome = SEARCH_EVIDENCE.run(context, asked)
        taken = (time.perf_counter() - begun) * 1000
        pool = self._corpus.backend.search_chunks(query, Filters(as_of=as_of), limit=POOL)
        # A copy that is listed with another passage takes no place, and counts for nothing.
        return Ranking([r["chunk_id"] for r in outcome.results], [h.chunk_id for h in pool.hits], taken)


class AsIf(Product):
    """The product as it ranks in a corpus of so many chunks: how common a word may be that finds is then a smaller
    share of all, and here that share of this corpus."""

    def __init__(self, index: Path, chunks: int) -> None:
        super().__init__(index, None)
        share = min(1.0, self._corpus.backend.documents / chunks)
        self._usual, self._many = bm25.many_of, round(bm25.many_of(chunks) * share)

    def rank(self, question: str, as_of: date) -> Ranking:
        bm25.many_of = lambda passages: self._many
        try:
            return super().rank(question, as_of)
        finally:
            bm25.many_of = self._usual
