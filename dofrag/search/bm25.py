"""Full-text search with Tantivy: the only module that imports it.

One document a chunk. Texts are cut into terms by `analysis` before they reach the engine, so that what is indexed and
what is asked pass the same way; the engine only parts terms at spaces. Scores add three evenly weighted fields; the
publication that *issues* a named identifier and the passage that *is* a named provision get a bonus on top, which no
amount of mentions reaches.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast

import tantivy

from dofrag.domain.corpus import Filters, Hit, Kind, Publication
from dofrag.domain.records import dataclass
from dofrag.errors import IndexMismatch
from dofrag.search.analysis import (
    CONSOLIDATED_WORDS,
    QUERY_TERMS,
    STOP_WORDS,
    Terms,
    named_identifiers,
    query_text,
)
from dofrag.search.documents import IndexedChunk, provision_json, publication_keys
from dofrag.search.guard import GuardedSearcher, guarded
from dofrag.search.interface import Page
from dofrag.search.names import name_keys, other_names, phrase_keys
from dofrag.store.rows import issuer_words
from dofrag.store.schema import REBUILD

SCHEMA_VERSION = "bm25-4"
"""Changes with the fields below; part of the stamp."""

TEXT_FIELDS = ("text", "title", "headings")
"""The chunk's own text; title and issuer of its publication; its heading path."""
IDENTIFIER_BONUS = 1000.0
PROVISION_BONUS = 12.0
NAME_BONUS = 200.0
"""For a law whose name the query holds as a phrase, whatever else is made of the same words."""
EXPANSION_WEIGHT = 0.3
"""Of the words of another name of what a query names, against 1 for its own words."""
NEAR_TIE = 0.05
"""Share of the best score by which a gazette publication is lifted over a consolidated law of the same words."""
_WRITER_HEAP = 120_000_000  # bytes, for the indexing thread
_TIES = 512  # how many hits beyond the limit are fetched at most to settle a tie at the edge
_GROUP_DEPTH = 8  # chunks fetched per publication wanted, before going deeper
_GROUP_MAX = 20_000

Provisions = Callable[[str], Sequence[str]]
Expansions = Callable[[], Mapping[str, Sequence[str]]]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", indexed=True, fast=True)
    builder.add_integer_field("publication", indexed=True, fast=True)
    builder.add_integer_field("day", indexed=True, fast=True)
    builder.add_text_field("code", stored=True, tokenizer_name="raw", index_option="basic")
    # One field for all that is matched whole, `kind:DOF`: every further field costs time with every chunk.
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def index_terms() -> Terms:
    """How texts are cut into terms, for the index and for queries."""
    stemmer = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
        .filter(tantivy.Filter.custom_stopword(list(STOP_WORDS)))
        .filter(tantivy.Filter.stemmer("spanish"))
        .build()
    )
    return Terms(stemmer.analyze)


def _open(folder: Path, name: str) -> tantivy.Index:
    return cast("tantivy.Index", guarded(name, lambda: tantivy.Index.open(str(folder))))


def _open_searcher(folder: Path, name: str) -> tuple[tantivy.Index, GuardedSearcher]:
    """For reading. The engine takes a lock file even then; where the folder cannot be written, it opens a folder of
    links to the files instead, which is not needed any longer once they are mapped into memory."""
    try:
        index = _open(folder, name)
        return index, _searcher(index, name)
    except IndexMismatch as refusal:
        if "lock" not in str(refusal.__cause__).lower():
            raise
    with tempfile.TemporaryDirectory(prefix="dofrag-") as links:
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (Path(links) / file.name).symlink_to(file.resolve())
        index = _open(Path(links), name)
        return index, _searcher(index, name)


def _searcher(index: tantivy.Index, name: str) -> GuardedSearcher:
    return GuardedSearcher(guarded(name, index.searcher), name)


class Bm25Index:
    """Implements `SearchBackend`. It sees the index as it stood when it was opened.

    `provisions` finds canonical provision paths in a query ("artículo 3" → `art:3`). `expansions` gives other names
    for folded terms of a query ("uma" → "unidad de medida y actualizacion"); it is asked at the first search.
    """

    name = "bm25"

    def __init__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        provisions: Provisions | None = None,
        expansions: Expansions | None = None,
    ) -> None:
        """Raises IndexMismatch when the folder holds no index that can be opened."""
        self._index, self._searcher = _open_searcher(folder, name or str(folder))
        self._schema = self._index.schema
        self._terms = index_terms()
        self._provisions = provisions
        self._expansions = expansions
        self._consolidated = frozenset(self._terms.of([CONSOLIDATED_WORDS])[0].split())

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def search_chunks(self, query: str, filters: Filters, *, limit: int, explain: bool = False) -> Page:
        parsed = self._parse(query, filters)
        if parsed is None or limit < 1:
            return Page((), 0)
        found, total = self._ranked(self._restrict(parsed.lifted, filters), limit)
        parts = [self._parts(parsed, e) if explain else () for e in found]
        hits = (Hit(n + 1, e.score, e.chunk_id, self._code(e), parts[n]) for n, e in enumerate(found))
        return Page(tuple(hits), total)

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        parsed = self._parse(query, filters)
        if parsed is None or limit < 1:
            return Page((), 0)
        restricted = self._restrict(parsed.query, filters)
        groups, total = self._grouped(restricted, limit)
        if parsed.named is not None:
            # Grouped apart: the chunks of a long law would fill the list before any other publication is met.
            called = _filtered(self._restrict(parsed.lifted, filters), parsed.named)
            few = min(limit, round(self._searcher.cardinality(called, "publication")))
            first = self._grouped(called, few)[0] if few else []
            raised = {p: [replace(e, score=e.score + NAME_BONUS) for e in members] for p, members in first}
            groups = [*raised.items(), *(g for g in groups if g[0] not in raised)][:limit]
        hits: list[Hit] = []
        for number, members in groups:
            if len(best := members[:per_publication]) < per_publication:
                within = _filtered(restricted, self._term("publication", number))
                best += self._ranked(within, per_publication)[0][len(best) :]
            code = self._code(best[0])
            hits += [Hit(len(hits) + i, e.score, e.chunk_id, code) for i, e in enumerate(best, start=1)]
        return Page(tuple(hits), total)

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        keys = [self._key(name, path.lower().replace("regla:", "num:")) for name in ("provision", "within")]
        wanted = self._restrict(_any(keys), filters)
        found = self._searcher.search(wanted, limit=max(1, limit), order_by_field="id", order=tantivy.Order.Asc)
        codes = [str(self._searcher.doc(address).get_first("code")) for _, address in found.hits]
        hits = tuple(Hit(n + 1, 0.0, int(key), codes[n]) for n, (key, _) in enumerate(found.hits))
        return Page(hits[: max(0, limit)], int(found.count))

    def ids_between(self, low: int, high: int) -> list[int]:
        """Ids of the chunks in the index from `low` to `high`, ascending; the range must be narrow."""
        window = tantivy.Query.range_query(self._schema, "id", tantivy.FieldType.Integer, low, high)
        result = self._searcher.search(
            window, limit=high - low + 2, count=False, order_by_field="id", order=tantivy.Order.Asc
        )
        return [int(key) for key, _ in result.hits]

    def _parse(self, query: str, filters: Filters) -> _Parsed | None:
        text = query_text(query)
        terms = list(dict.fromkeys(self._terms.of([text])[0].split()))[:QUERY_TERMS]
        identifiers = named_identifiers(text)
        if not terms and not identifiers:
            return None
        parts: list[tuple[str, tantivy.Query]] = [
            (field, _any([self._term(field, term, "freq") for term in terms])) for field in TEXT_FIELDS if terms
        ]
        optional: list[tuple[str, tantivy.Query]] = []
        if terms and not self._consolidated.intersection(terms):
            optional += self._gazette_first(_any([query for _, query in parts]), filters)
        parts += self._other_names(text, terms)
        base = [query for _, query in parts]
        if identifiers:
            keys = _any([self._key("identifier", key) for key in identifiers])
            parts.append(("identifier", tantivy.Query.const_score_query(keys, IDENTIFIER_BONUS)))
            base.append(parts[-1][1])
        asked = [p.lower().replace("regla:", "num:") for p in self._provisions(text)] if self._provisions else []
        if asked:
            place = _any([self._key("provision", path) for path in asked[:16]])
            optional.append(("provision", tantivy.Query.const_score_query(place, PROVISION_BONUS)))
        named = self._named(text, terms)
        lifted: list[tuple[str, tantivy.Query]] = []
        if asked and named is not None:
            both = tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Must, place)])
            lifted = [("name", tantivy.Query.const_score_query(q, NAME_BONUS)) for q in (named, both)]
        # A bare provision is not what a question is about: it lifts what the words found, it finds nothing by itself.
        clauses = [(tantivy.Occur.Must, _any(base)), *((tantivy.Occur.Should, q) for _, q in optional)]
        ahead = tantivy.Query.boolean_query([*clauses, *((tantivy.Occur.Should, q) for _, q in lifted)])
        return _Parsed(tantivy.Query.boolean_query(clauses), ahead, (*parts, *optional, *lifted), named)

    def _named(self, text: str, terms: Sequence[str]) -> tantivy.Query | None:
        """The laws whose name, or another name of theirs, stands in the query word after word."""
        keys = sorted({key for run in (terms, *self._aliases(text)) for key in phrase_keys(run)})
        return tantivy.Query.term_set_query(self._schema, "key", keys) if keys else None

    def _aliases(self, text: str) -> list[list[str]]:
        """The terms of each other name of what the query names."""
        names = other_names(text, self._expansions()) if self._expansions else []
        return [found.split() for found in self._terms.of(names)]

    def _other_names(self, text: str, terms: Sequence[str]) -> list[tuple[str, tantivy.Query]]:
        """Passages that hold all words of another name of what the query names."""
        queries = [
            tantivy.Query.boolean_query(
                [(tantivy.Occur.Must, self._term(field, t, "freq")) for t in dict.fromkeys(name)]
            )
            for name in self._aliases(text)
            if not set(name) <= set(terms)
            for field in ("text", "title")
        ]
        return [("expansion", tantivy.Query.boost_query(_any(queries), EXPANSION_WEIGHT))] if queries else []

    def _gazette_first(self, query: tantivy.Query, filters: Filters) -> list[tuple[str, tantivy.Query]]:
        """Where laws compete with publications: a lift of the latter that decides near-ties and no more."""
        published = [kind for kind in filters.kinds if kind is not Kind.LEY]
        if not published or len(published) == len(filters.kinds):
            return []
        best = self._searcher.search(self._restrict(query, filters), limit=1, count=False).hits
        lift = NEAR_TIE * float(best[0][0]) if best else 0.0
        return [("gazette", tantivy.Query.const_score_query(self._one_of("kind", published), lift))]

    def _restrict(self, query: tantivy.Query, filters: Filters) -> tantivy.Query:
        """Filters as conditions of the query itself, without a say in the score."""
        latest = filters.as_of if filters.published_to is None else min(filters.as_of, filters.published_to)
        first = (filters.published_from or date.min).toordinal()
        if first > latest.toordinal():
            return tantivy.Query.empty_query()
        conditions = [
            tantivy.Query.range_query(self._schema, "day", tantivy.FieldType.Integer, first, latest.toordinal()),
            self._one_of("scope", sorted(filters.scopes)),
            self._one_of("kind", [str(kind) for kind in filters.kinds]),
        ]
        if filters.editions:
            conditions.append(self._one_of("edition", filters.editions))
        if filters.codes is not None:
            codes = [query_text(code) for code in filters.codes]
            within = tantivy.Query.term_set_query(self._schema, "code", codes)
            conditions.append(within if codes else tantivy.Query.empty_query())
        if filters.issuer is not None:
            words = issuer_words(query_text(filters.issuer))
            conditions += [self._key("issuer_word", word) for word in words] or [tantivy.Query.empty_query()]
        return _filtered(query, *conditions)

    def _term(self, field: str, value: object, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)

    def _key(self, name: str, value: str) -> tantivy.Query:
        return self._term("key", f"{name}:{value}")

    def _one_of(self, name: str, values: Sequence[str]) -> tantivy.Query:
        keys = [f"{name}:{query_text(value)}" for value in values]
        return tantivy.Query.term_set_query(self._schema, "key", keys) if keys else tantivy.Query.empty_query()

    def _ranked(self, query: tantivy.Query, limit: int) -> tuple[list[_Entry], int]:
        """The best `limit` by score, ties by chunk id, and the number of matches.

        The engine leaves ties in any order, so at the edge of the list more are fetched until the tie is whole.
        """
        depth = limit + 1
        while True:
            result = self._searcher.search(query, limit=depth)
            scores = [score for score, _ in result.hits]
            whole = len(scores) < depth or scores[-1] < scores[limit - 1]
            if whole or depth >= limit + _TIES:
                break
            depth = min(depth * 4, limit + _TIES)
        return self._entries(result.hits)[:limit], int(result.count)

    def _entries(self, hits: Sequence[tuple[Any, tantivy.DocAddress]]) -> list[_Entry]:
        addresses = [address for _, address in hits]
        ids = self._searcher.fast_field_values("id", addresses)
        publications = self._searcher.fast_field_values("publication", addresses)
        entries = [
            _Entry(_int(i), _int(p), float(score), address)
            for i, p, (score, address) in zip(ids, publications, hits, strict=True)
        ]
        return sorted(entries, key=lambda e: (-e.score, e.chunk_id))

    def _grouped(self, query: tantivy.Query, limit: int) -> tuple[list[tuple[int, list[_Entry]]], int]:
        """Publications by their best chunk, each with the chunks that were met, and how many publications match."""
        depth = limit * _GROUP_DEPTH
        while True:
            entries, total = self._ranked(query, depth)
            groups: dict[int, list[_Entry]] = {}
            for entry in entries:
                groups.setdefault(entry.publication, []).append(entry)
            complete = len(entries) >= total
            if complete or len(groups) >= limit or depth >= _GROUP_MAX:
                break
            depth = min(depth * 4, _GROUP_MAX)
        # Beyond what was fetched the engine's estimate stands (HyperLogLog, within about 2 %).
        count = len(groups) if complete else round(self._searcher.cardinality(query, "publication"))
        return list(groups.items())[:limit], max(count, len(groups))

    def _code(self, entry: _Entry) -> str:
        return str(self._searcher.doc(entry.address).get_first("code"))

    def _parts(self, parsed: _Parsed, entry: _Entry) -> tuple[tuple[str, float], ...]:
        one = self._term("id", entry.chunk_id)
        found = ((name, self._searcher.search(_filtered(query, one), limit=1).hits) for name, query in parsed.parts)
        return tuple((name, round(float(hits[0][0]), 6) if hits else 0.0) for name, hits in found)


@dataclass(frozen=True, slots=True)
class _Parsed:
    query: tantivy.Query
    lifted: tantivy.Query  # the same, with what is of a named law first
    parts: tuple[tuple[str, tantivy.Query], ...]
    named: tantivy.Query | None


@dataclass(frozen=True, slots=True)
class _Entry:
    chunk_id: int
    publication: int
    score: float
    address: tantivy.DocAddress


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise IndexMismatch("the search index lacks a fast field", hint=REBUILD)
    return value


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _filtered(query: tantivy.Query, *conditions: tantivy.Query) -> tantivy.Query:
    silent = [(tantivy.Occur.Must, tantivy.Query.const_score_query(c, 0.0)) for c in conditions]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *silent])


class Bm25Writer:
    """Fills an index folder. `publication_id` is the store's row id: what belongs to a publication goes by it."""

    def __init__(self, folder: Path, *, create: bool, name: str | None = None, heap: int = _WRITER_HEAP) -> None:
        if create:
            folder.mkdir(parents=True)
            self._index = tantivy.Index(_schema(), str(folder), reuse=False)
        else:
            self._index = _open(folder, name or str(folder))
        # One thread keeps up with whoever feeds it, and leaves fewer segments to search.
        self._name = name or str(folder)
        self._writer = cast("tantivy.IndexWriter", guarded(self._name, lambda: self._index.writer(heap, 1)))
        self.terms = index_terms()

    def delete(self, publication_id: int) -> None:
        self._writer.delete_documents_by_term("publication", publication_id)

    def add(self, publication: Publication, publication_id: int, chunks: Iterable[IndexedChunk]) -> int:
        """Index the chunks of one publication; returns how many."""
        (title,) = self.terms.of([f"{publication.title}\n{publication.issuer}"])
        keys = publication_keys(publication) + name_keys(publication, self.terms)
        day = publication.published_on.toordinal()
        said = {"publication": publication_id, "code": publication.code, "day": day, "title": title, "key": keys}
        common = json.dumps(said, ensure_ascii=False).removesuffix("]}")
        count = 0
        for count, (chunk_id, provision, text, headings) in enumerate(chunks, start=1):  # noqa: B007
            # As JSON the engine takes a document in a third of the time. Terms hold nothing that JSON escapes.
            self._writer.add_json(
                f'{common}{provision_json(provision)}],"id":{chunk_id},"text":"{text}","headings":"{headings}"}}'
            )
        return count

    def commit(self) -> None:
        guarded(self._name, self._writer.commit)

    def close(self) -> None:
        """Wait for merges; the folder is complete afterwards."""
        guarded(self._name, self._writer.wait_merging_threads)
