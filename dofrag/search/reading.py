"""An open index of the engine: its terms, its filters, ranked entries. What `bm25` asks with. Tantivy, like it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

from dofrag.domain.corpus import Filters
from dofrag.search.analysis import query_text
from dofrag.search.engine import TEXT_FIELDS, filtered, index_terms, lacking_a_field, open_searcher, whole_number
from dofrag.search.expansions import Expanded
from dofrag.search.names import phrase_keys
from dofrag.store.rows import issuer_words

_TIES = 512  # how many hits beyond the limit are fetched at most to settle a tie at the edge

Provisions = Callable[[str], Sequence[str]]
Expansions = Callable[[], Mapping[str, Sequence[str]]]


class Entry(NamedTuple):
    """One passage found. A tuple, for a search has hundreds."""

    chunk_id: int
    publication: int
    score: float
    address: tantivy.DocAddress


class Word(NamedTuple):
    """A term of a query, and how many passages hold it."""

    term: str
    in_text: int
    in_title: int
    weight: float
    """How telling it is, as bm25 has it; 0 where none holds it."""

    @property
    def holding(self) -> int:
        """Passages that hold it in the field where most do."""
        return max(self.in_text, self.in_title)


class EngineReader:
    """One index of the engine as it stood when it was opened."""

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
        self._span: tuple[int, int] | None = None

    def _word(self, term: str) -> Word:
        in_text, in_title = (self._searcher.doc_freq(name, term) for name in TEXT_FIELDS)
        holding, total = max(in_text, in_title), self._searcher.num_docs
        telling = 0 < holding <= total
        weight = math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if telling else 0.0
        return Word(term, in_text, in_title, weight)

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

    def _code(self, entry: Entry) -> str:
        return str(self._searcher.doc(entry.address).get_first("code"))

    def _restrict(self, query: tantivy.Query, filters: Filters) -> tantivy.Query:
        """Filters as conditions of the query itself, without a say in the score."""
        latest = filters.as_of if filters.published_to is None else min(filters.as_of, filters.published_to)
        first = (filters.published_from or date.min).toordinal()
        if first > latest.toordinal():
            return tantivy.Query.empty_query()
        conditions: list[tantivy.Query] = []
        earliest, newest = self._days()
        if first > earliest or latest.toordinal() < newest:  # else every passage would be looked at for nothing
            conditions.append(self._between(first, latest.toordinal()))
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

    def _between(self, first: int, last: int) -> tantivy.Query:
        """Published on these days, both included, as ordinals."""
        return tantivy.Query.range_query(self._schema, "day", tantivy.FieldType.Integer, first, last)

    def _days(self) -> tuple[int, int]:
        """First and last day of publication, as ordinals; of an empty one the last is before the first."""
        if self._span is None:
            ends = [
                self._searcher.search(
                    tantivy.Query.all_query(), limit=1, count=False, order_by_field="day", order=order
                ).hits
                for order in (tantivy.Order.Asc, tantivy.Order.Desc)
            ]
            self._span = (whole_number(ends[0][0][0]), whole_number(ends[1][0][0])) if ends[0] else (1, 0)
        return self._span

    def _values(self, name: str) -> dict[str, int]:
        """What the passages of the index have under a name, and how many have it."""
        if name not in self._held:
            found = self._searcher.terms_with_prefix("key", f"{name}:")
            self._held[name] = {str(key).partition(":")[2]: int(count) for key, count in found}
        return self._held[name]

    def _often(self, field: str, words: Sequence[Word]) -> list[tantivy.Query]:
        """How often each word stands in a field; nothing of those that stand there nowhere."""
        held = [word for word in words if (word.in_text if field == "text" else word.in_title)]
        return [self._term(field, word.term, "freq") for word in held]

    def _present(self, words: Sequence[Word], *, often: bool = False) -> list[tantivy.Query]:
        """Whether each word stands in the text; `often`: and how often, of which both is read off one list."""
        held = [word for word in words if word.in_text]
        if not often:
            return [tantivy.Query.const_score_query(self._term("text", w.term), w.weight) for w in held]
        both = []
        for word in held:
            present = tantivy.Query.const_score_query(tantivy.Query.all_query(), word.weight)
            each = [self._term("text", word.term, "freq"), present]
            both.append(tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in each]))
        return both

    def _in_title_alone(self, words: Sequence[Word]) -> list[tantivy.Query]:
        """Whether each word stands in the title and not in the text: so a word counts once wherever it stands,
        without a union, which would be walked through where a passage need only be looked up."""
        queries = []
        for word in words:
            if word.in_title:
                text, title = (self._term(name, word.term) for name in TEXT_FIELDS)
                alone = tantivy.Query.boolean_query([(tantivy.Occur.Must, title), (tantivy.Occur.MustNot, text)])
                queries.append(tantivy.Query.const_score_query(alone, word.weight))
        return queries

    def _in_any(self, words: Sequence[Word]) -> list[tantivy.Query]:
        """Whether each word stands in either field, to find by."""
        # The greater of two that are the same: a sum of scores that is then made one number takes longer.
        return [
            tantivy.Query.disjunction_max_query(
                [tantivy.Query.const_score_query(self._term(name, w.term), w.weight) for name in TEXT_FIELDS]
            )
            for w in words
            if w.weight > 0
        ]

    def _term(self, field: str, value: object, option: str = "basic") -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, option)

    def _key(self, name: str, value: str) -> tantivy.Query:
        return self._term("key", f"{name}:{value}")

    def _one_of(self, name: str, values: Sequence[str]) -> tantivy.Query:
        keys = [f"{name}:{query_text(value)}" for value in values]
        return tantivy.Query.term_set_query(self._schema, "key", keys) if keys else tantivy.Query.empty_query()

    def _ranked(
        self, query: tantivy.Query, limit: int, *, count: bool = True, enough: int | None = None
    ) -> tuple[list[Entry], int]:
        """The best `limit` by score, ties by chunk id, and the number of matches.

        The engine leaves ties in any order, so at the edge of the list more are fetched until the tie is whole; or
        none of a tie that is not whole is taken, where so many as `enough` stand before it.
        """
        depth = limit + 1
        while True:
            result = self._searcher.search(query, limit=depth, count=count)
            hits, total = result.hits, int(result.count or 0)
            edge = hits[limit - 1][0] if len(hits) >= depth else None
            if edge is None or hits[-1][0] < edge or depth >= limit + _TIES:
                break
            before = [hit for hit in hits if hit[0] > edge]
            if enough is not None and len(before) >= enough:
                return self._entries(before), total
            depth = min(depth * 4, limit + _TIES)
        return self._entries(hits)[:limit], total

    def _entries(self, hits: Sequence[tuple[Any, tantivy.DocAddress]]) -> list[Entry]:
        scores = [-float(score) for score, _ in hits]
        addresses = [address for _, address in hits]
        ids, publications = self._numbers("id", addresses), self._numbers("publication", addresses)
        # Ids are told apart: nothing behind them is ever compared.
        order = sorted(zip(scores, ids, publications, addresses, strict=True))
        return [Entry(chunk, publication, -score, address) for score, chunk, publication, address in order]

    def _numbers(self, field: str, addresses: Sequence[tantivy.DocAddress]) -> list[int]:
        """Of a fast field of whole numbers. Raises IndexMismatch where it is missing."""
        values = self._searcher.fast_field_values(field, addresses)
        if None in values:
            raise lacking_a_field()
        return list(values)
