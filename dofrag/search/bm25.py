"""Full-text search with Tantivy.

Candidates come by their words: bm25 over the passage and over the title of its publication, and which of the words
they hold at all, at the same weight. Each thing that a query names besides (a day, an identifier, a provision, an
entry into force) is looked for on its own, and lifts what it finds by one share of the best score: docs/search.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import tantivy

from dofrag.domain.corpus import Filters, Hit, Kind
from dofrag.domain.records import dataclass
from dofrag.search.analysis import CONSOLIDATED_WORDS, QUERY_TERMS, named_identifiers, query_text
from dofrag.search.anchors import Anchors, find_anchors
from dofrag.search.engine import TEXT_FIELDS, any_of, filtered, index_terms, open_searcher, whole_number
from dofrag.search.expansions import Expanded
from dofrag.search.interface import Page
from dofrag.search.names import phrase_keys
from dofrag.store.rows import issuer_words

LIFT = 0.4
"""Share of the best score by which a passage is lifted for each thing that the query names and that it is of."""
POOL = 50
"""Candidates by words, at least."""
COMMON = 2.5
"""Words that tell less (natural logarithm of how many passages there are to one that holds it, about) find nothing by
themselves where others tell more; they only count."""
IDENTIFIER_BONUS = 1000.0
PROVISION_BONUS = 12.0
NAME_BONUS = 200.0
"""For a law whose name the query holds as a phrase, whatever else is made of the same words."""
EXPANSION_WEIGHT = 0.3
"""Where publications are ranked: of the words of another name of what a query names, against 1 for its own words."""
NEAR_TIE = 0.05
"""Share of the best score by which a gazette publication is lifted over a consolidated law of the same words, where
publications are ranked."""
_ANCHORED = 20  # passages that are looked for with each thing that is named
_TIES = 512  # how many hits beyond the limit are fetched at most to settle a tie at the edge
_GROUP_DEPTH = 8  # chunks fetched per publication wanted, before going deeper
_GROUP_MAX = 20_000

Provisions = Callable[[str], Sequence[str]]
Expansions = Callable[[], Mapping[str, Sequence[str]]]


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
        self._index, self._searcher = open_searcher(folder, name or str(folder))
        self._schema = self._index.schema
        self._terms = index_terms()
        self._provisions = provisions
        self._expansions = expansions
        self._expanded: Expanded | None = None
        self._held: dict[str, dict[str, int]] = {}
        self._consolidated = frozenset(self._terms.of([CONSOLIDATED_WORDS])[0].split())

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def search_chunks(self, query: str, filters: Filters, *, limit: int, explain: bool = False) -> Page:
        # Within some publications every word finds: what is common in the corpus may tell passages of one apart.
        asked = self._asked(query, all_find=filters.codes is not None)
        if asked is None or limit < 1:
            return Page((), 0)
        restricted = self._restrict(asked.query, filters)
        found, total = self._ranked(restricted, max(limit, POOL))
        entries = {entry.chunk_id: entry for entry in found}
        lifts: dict[int, dict[str, None]] = {}
        for name, condition in asked.anchors:
            named = self._ranked(filtered(restricted, condition), _ANCHORED, count=False)[0]
            entries |= {entry.chunk_id: entry for entry in named}
            # A named day or identifier is of whole publications, the rest of single passages.
            publications = {e.publication for e in named} if name in ("date", "identifier") else set()
            for entry in (*named, *(e for e in entries.values() if e.publication in publications)):
                lifts.setdefault(entry.chunk_id, {})[name] = None
        lift = LIFT * max((entry.score for entry in found), default=0.0)
        raised = [replace(e, score=e.score + lift * len(lifts.get(e.chunk_id, ()))) for e in entries.values()]
        best = sorted(raised, key=lambda e: (-e.score, e.chunk_id))[:limit]
        hits = []
        for n, entry in enumerate(best, start=1):
            parts = self._parts(asked.parts, entry) if explain else ()
            parts += tuple((name, round(lift, 6)) for name in lifts.get(entry.chunk_id, ()) if explain)
            hits.append(Hit(n, entry.score, entry.chunk_id, self._code(entry), parts))
        return Page(tuple(hits), total)

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        parsed = self._parse(query, filters)
        if parsed is None or limit < 1:
            return Page((), 0)
        restricted = self._restrict(parsed.query, filters)
        groups, total = self._grouped(restricted, limit)
        if parsed.named is not None:
            # Grouped apart: the chunks of a long law would fill the list before any other publication is met.
            called = filtered(self._restrict(parsed.lifted, filters), parsed.named)
            few = min(limit, round(self._searcher.cardinality(called, "publication")))
            first = self._grouped(called, few)[0] if few else []
            raised = {p: [replace(e, score=e.score + NAME_BONUS) for e in members] for p, members in first}
            groups = [*raised.items(), *(g for g in groups if g[0] not in raised)][:limit]
        hits: list[Hit] = []
        for number, members in groups:
            if len(best := members[:per_publication]) < per_publication:
                within = filtered(restricted, self._term("publication", number))
                best += self._ranked(within, per_publication)[0][len(best) :]
            code = self._code(best[0])
            hits += [Hit(len(hits) + i, e.score, e.chunk_id, code) for i, e in enumerate(best, start=1)]
        return Page(tuple(hits), total)

    def find_provision(self, path: str, filters: Filters, *, limit: int) -> Page:
        keys = [self._key(name, path.lower().replace("regla:", "num:")) for name in ("provision", "within")]
        wanted = self._restrict(any_of(keys), filters)
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

    def _asked(self, query: str, *, all_find: bool) -> _Asked | None:
        """A query for passages: what finds them, its parts for `explain`, and the conditions that lift."""
        text = query_text(query)
        terms = list(dict.fromkeys(self._terms.of([text])[0].split()))[:QUERY_TERMS]
        named = find_anchors(text, self._provisions(text) if self._provisions else ())
        if not terms and not named.identifiers:
            return None
        weights = {term: self._weight(term) for term in terms}
        telling = terms if all_find else [term for term in terms if weights[term] >= COMMON] or terms
        finding = self._words(telling, weights)
        rest = self._words([term for term in terms if term not in telling], weights)
        expansion = [self._other_name(name, field) for name in self._names(terms) for field in TEXT_FIELDS]
        keys = [self._key("identifier", key) for key in named.identifiers]
        # An identifier finds what it is of even where its words do not; it has no say in the words' score.
        silent = [tantivy.Query.const_score_query(key, 0.0) for key in keys]
        found = any_of([*(q for part in finding.values() for q in part), *expansion, *silent])
        counted = [(tantivy.Occur.Should, q) for part in rest.values() for q in part]
        whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, found), *counted]) if counted else found
        parts = [(name, any_of([*part, *rest[name]])) for name, part in finding.items()]
        parts += [("expansion", any_of(expansion))] if expansion else []
        return _Asked(whole, tuple(parts), tuple(self._anchors(text, terms, named, keys)))

    def _words(self, terms: Sequence[str], weights: Mapping[str, float]) -> dict[str, list[tantivy.Query]]:
        """How often each term stands in each field, and whether it stands in any."""
        fields = {name: [self._term(name, term, "freq") for term in terms] for name in TEXT_FIELDS}
        anywhere = [any_of([self._term(name, term, "freq") for name in TEXT_FIELDS]) for term in terms]
        present = [
            tantivy.Query.const_score_query(query, weights[term])
            for term, query in zip(terms, anywhere, strict=True)
            if weights[term] > 0
        ]
        return fields | {"presence": present}

    def _weight(self, term: str) -> float:
        """How telling a term is, as bm25 has it; 0 for one that no passage holds."""
        total = self._searcher.num_docs
        holding = max(self._searcher.doc_freq(name, term) for name in TEXT_FIELDS)
        return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0

    def _other_name(self, name: Sequence[str], field: str) -> tantivy.Query:
        """All words of another name, together as much as one word."""
        words = [(tantivy.Occur.Must, self._term(field, term, "freq")) for term in name]
        return tantivy.Query.boost_query(tantivy.Query.boolean_query(words), 1 / len(name))

    def _anchors(
        self, text: str, terms: Sequence[str], named: Anchors, keys: Sequence[tantivy.Query]
    ) -> list[tuple[str, tantivy.Query]]:
        """What the query names, each with its condition."""
        # A consolidated law bears the day of its last reform, which is not the day that it was published.
        published = self._one_of("kind", [kind for kind in Kind if kind is not Kind.LEY])
        days = [
            filtered(published, tantivy.Query.range_query(self._schema, "day", tantivy.FieldType.Integer, *span))
            for span in named.days
        ]
        signs = [any_of(keys)] if keys else []
        law = self._named(text, terms) if named.provisions or named.transitory else None
        within = signs if law is None else [*signs, law]
        anchors = [("date", day) for day in days] + [("identifier", sign) for sign in signs]
        if named.provisions:
            place = any_of([self._key("provision", path) for path in named.provisions])
            anchors += [("provision", place), *(("provision", filtered(place, q)) for q in (*days, *signs))]
            # A law counts with its provision only: all else of it is told by its title.
            anchors += [("law", filtered(place, law))] if law is not None else []
        if named.transitory:
            place = self._key("part", "transitory")
            anchors += [("transitory", place), *(("transitory", filtered(place, q)) for q in (*days, *within))]
        return anchors

    def _parse(self, query: str, filters: Filters) -> _Parsed | None:
        text = query_text(query)
        terms = list(dict.fromkeys(self._terms.of([text])[0].split()))[:QUERY_TERMS]
        identifiers = named_identifiers(text)
        if not terms and not identifiers:
            return None
        found = self._words(terms, {term: self._weight(term) for term in terms})
        parts = [(name, any_of(part)) for name, part in found.items() if part]
        optional: list[tuple[str, tantivy.Query]] = []
        if terms and not self._consolidated.intersection(terms):
            optional += self._gazette_first(any_of([query for _, query in parts]), filters)
        parts += self._other_names(terms)
        base = [query for _, query in parts]
        if identifiers:
            keys = any_of([self._key("identifier", key) for key in identifiers])
            parts.append(("identifier", tantivy.Query.const_score_query(keys, IDENTIFIER_BONUS)))
            base.append(parts[-1][1])
        asked = [p.lower().replace("regla:", "num:") for p in self._provisions(text)] if self._provisions else []
        if asked:
            place = any_of([self._key("provision", path) for path in asked[:16]])
            optional.append(("provision", tantivy.Query.const_score_query(place, PROVISION_BONUS)))
        named = self._named(text, terms)
        lifted: list[tuple[str, tantivy.Query]] = []
        if asked and named is not None:
            both = tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Must, place)])
            lifted = [("name", tantivy.Query.const_score_query(q, NAME_BONUS)) for q in (named, both)]
        # A bare provision is not what a question is about: it lifts what the words found, it finds nothing by itself.
        clauses = [(tantivy.Occur.Must, any_of(base)), *((tantivy.Occur.Should, q) for _, q in optional)]
        ahead = tantivy.Query.boolean_query([*clauses, *((tantivy.Occur.Should, q) for _, q in lifted)])
        return _Parsed(tantivy.Query.boolean_query(clauses), ahead, (*parts, *optional, *lifted), named)

    def _named(self, text: str, terms: Sequence[str]) -> tantivy.Query | None:
        """The laws whose name, or another name of theirs, stands in the query word after word."""
        keys = sorted({key for run in (terms, *self._names(terms)) for key in phrase_keys(run)})
        return tantivy.Query.term_set_query(self._schema, "key", keys) if keys else None

    def _names(self, terms: Sequence[str]) -> list[tuple[str, ...]]:
        """The terms of each other name of what the query names."""
        if self._expansions is None:
            return []
        if self._expanded is None:
            self._expanded = Expanded(self._expansions(), self._terms)
        return self._expanded.names(terms)

    def _other_names(self, terms: Sequence[str]) -> list[tuple[str, tantivy.Query]]:
        """Passages that hold all words of another name of what the query names."""
        queries = [
            tantivy.Query.boolean_query([(tantivy.Occur.Must, self._term(field, t, "freq")) for t in name])
            for name in self._names(terms)
            for field in TEXT_FIELDS
        ]
        return [("expansion", tantivy.Query.boost_query(any_of(queries), EXPANSION_WEIGHT))] if queries else []

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
        ]
        without: list[tantivy.Query] = []
        for name, values in (("scope", filters.scopes), ("kind", filters.kinds)):
            held = self._values(name)
            hidden = sorted(held.keys() - values)
            # The shorter list of the two: what nearly all passages are takes longest to check.
            if sum(held[value] for value in hidden) <= sum(held.values()) / 2:
                without += [self._one_of(name, hidden)] if hidden else []
            else:
                conditions.append(self._one_of(name, sorted(held.keys() & values)))
        if filters.editions:
            conditions.append(self._one_of("edition", filters.editions))
        if filters.codes is not None:
            codes = [query_text(code) for code in filters.codes]
            within = tantivy.Query.term_set_query(self._schema, "code", codes)
            conditions.append(within if codes else tantivy.Query.empty_query())
        if filters.issuer is not None:
            words = issuer_words(query_text(filters.issuer))
            conditions += [self._key("issuer_word", word) for word in words] or [tantivy.Query.empty_query()]
        return filtered(query, *conditions, without=without)

    def _values(self, name: str) -> dict[str, int]:
        """What the passages of the index have under a name, and how many have it."""
        if name not in self._held:
            found = self._searcher.terms_with_prefix("key", f"{name}:")
            self._held[name] = {str(key).partition(":")[2]: int(count) for key, count in found}
        return self._held[name]

    def _term(self, field: str, value: object, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)

    def _key(self, name: str, value: str) -> tantivy.Query:
        return self._term("key", f"{name}:{value}")

    def _one_of(self, name: str, values: Sequence[str]) -> tantivy.Query:
        keys = [f"{name}:{query_text(value)}" for value in values]
        return tantivy.Query.term_set_query(self._schema, "key", keys) if keys else tantivy.Query.empty_query()

    def _ranked(self, query: tantivy.Query, limit: int, *, count: bool = True) -> tuple[list[_Entry], int]:
        """The best `limit` by score, ties by chunk id, and the number of matches.

        The engine leaves ties in any order, so at the edge of the list more are fetched until the tie is whole.
        """
        depth = limit + 1
        while True:
            result = self._searcher.search(query, limit=depth, count=count)
            scores = [score for score, _ in result.hits]
            whole = len(scores) < depth or scores[-1] < scores[limit - 1]
            if whole or depth >= limit + _TIES:
                break
            depth = min(depth * 4, limit + _TIES)
        return self._entries(result.hits)[:limit], int(result.count or 0)

    def _entries(self, hits: Sequence[tuple[Any, tantivy.DocAddress]]) -> list[_Entry]:
        addresses = [address for _, address in hits]
        ids = self._searcher.fast_field_values("id", addresses)
        publications = self._searcher.fast_field_values("publication", addresses)
        entries = [
            _Entry(whole_number(i), whole_number(p), float(score), address)
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

    def _parts(self, parts: Sequence[tuple[str, tantivy.Query]], entry: _Entry) -> tuple[tuple[str, float], ...]:
        one = self._term("id", entry.chunk_id)
        found = ((name, self._searcher.search(filtered(query, one), limit=1).hits) for name, query in parts)
        return tuple((name, round(float(hits[0][0]), 6) if hits else 0.0) for name, hits in found)


@dataclass(frozen=True, slots=True)
class _Asked:
    query: tantivy.Query
    parts: tuple[tuple[str, tantivy.Query], ...]
    anchors: tuple[tuple[str, tantivy.Query], ...]


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
