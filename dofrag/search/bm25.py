"""Full-text search with Tantivy.

Candidates come by their words: bm25 over the passage and over the title of its publication, and which of the words
they hold at all, at the same weight. Each thing that a query names besides (a day, an identifier, a provision, an
entry into force) is looked for on its own, and lifts what it finds by one share of the best score: docs/search.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tantivy

from dofrag.domain.corpus import Filters, Hit, Kind
from dofrag.domain.records import dataclass
from dofrag.search.analysis import CONSOLIDATED_WORDS, QUERY_TERMS, named_identifiers, query_text
from dofrag.search.anchors import Anchors, find_anchors
from dofrag.search.engine import TEXT_FIELDS, any_of, filtered
from dofrag.search.interface import Page
from dofrag.search.reading import EngineReader, Entry, Word

LIFT = 0.4
"""Share of the best score by which a passage is lifted for each thing that the query names and that it is of."""
POOL = 50
"""Candidates by words, at least."""
COMMON = 2.5
"""Words that tell less (natural logarithm of how many passages there are to one that holds it, about) find nothing by
themselves where others tell more; they only count."""
MANY, SHARE = 10_000, 0.01
"""Words that more passages hold than that many, and than that share of all, only count, too, where enough others
find. With a number alone, rare words would be all that finds in a large corpus."""
ENOUGH = 3
"""Words that find, at least, and more of them until what they find may be three times that many passages: rare words
that only the asker would use must not be all that finds. Where documents are ranked, words may be three times as
common, for documents are told apart by common words, too."""
DEPTH = 200
"""Passages that the finding words rank before the counting ones have their say, at least."""
IDENTIFIER_BONUS = 1000.0
PROVISION_BONUS = 12.0
NAME_BONUS = 200.0
"""For a law whose name the query holds as a phrase, whatever else is made of the same words."""
EXPANSION_WEIGHT = 0.3
"""Where publications are ranked: of the words of another name of what a query names, against 1 for its own words."""
NEAR_TIE = 0.05
"""Share of the best score by which a gazette publication is lifted over a consolidated law of the same words, where
publications are ranked."""
_ANCHORED = 20  # passages that are lifted for each thing that is named
_ANCHORED_DEPTH = 100  # as DEPTH, of those
_GROUP_DEPTH = 8  # chunks fetched per publication wanted, before going deeper
_GROUP_MAX = 20_000
_EACH_DEPTH = 40  # chunks fetched per publication of which further ones are wanted


class Bm25Index(EngineReader):
    """Implements `SearchBackend`. It sees the index as it stood when it was opened.

    `provisions` finds canonical provision paths in a query ("artículo 3" → `art:3`). `expansions` gives other names
    for folded terms of a query ("uma" → "unidad de medida y actualizacion"); it is asked at the first search.
    """

    name = "bm25"

    @property
    def documents(self) -> int:
        return int(self._searcher.num_docs)

    def search_chunks(
        self, query: str, filters: Filters, *, limit: int, explain: bool = False, codes: bool = True
    ) -> Page:
        # Within some publications every word finds: what is common in the corpus may tell passages of one apart.
        asked = self._asked(query, all_find=filters.codes is not None, explain=explain)
        if asked is None or limit < 1:
            return Page((), 0)
        restricted = self._restrict(asked.finding, filters)
        depth, deep = (DEPTH, _ANCHORED_DEPTH) if asked.counting else (POOL, _ANCHORED)
        found, total = self._ranked(restricted, max(limit, depth), enough=max(limit, POOL))
        entries = {entry.chunk_id: entry for entry in found}
        named = [
            (name, self._ranked(filtered(restricted, condition), deep, count=False, enough=_ANCHORED)[0])
            for name, condition in asked.anchors
        ]
        entries |= {entry.chunk_id: entry for _, members in named for entry in members}
        counted = self._counted(asked.counting, list(entries))
        scores = {chunk: entry.score + counted.get(chunk, 0.0) for chunk, entry in entries.items()}
        lifts = _lifts(entries, scores, named)
        lift = LIFT * max((scores[entry.chunk_id] for entry in found), default=0.0)
        raised = {chunk: score + lift * len(lifts[chunk]) for chunk, score in scores.items() if chunk in lifts}
        best = [chunk for _, chunk in sorted((-raised.get(c, s), c) for c, s in scores.items())][:limit]
        hits = []
        for n, entry in enumerate((entries[chunk] for chunk in best), start=1):
            parts = self._parts(asked.parts, entry) if explain else ()
            parts += tuple((name, round(lift, 6)) for name in lifts.get(entry.chunk_id, ()) if explain)
            score = raised.get(entry.chunk_id, scores[entry.chunk_id])
            hits.append(Hit(n, score, entry.chunk_id, self._code(entry) if codes else "", parts))
        return Page(tuple(hits), total)

    def search_publications(self, query: str, filters: Filters, *, limit: int, per_publication: int = 2) -> Page:
        parsed = self._parse(query, filters)
        if parsed is None or limit < 1:
            return Page((), 0)
        restricted = self._restrict(parsed.query, filters)
        groups, total = self._grouped(restricted, parsed.counting, limit)
        if parsed.named is not None:
            # Grouped apart: the chunks of a long law would fill the list before any other publication is met.
            called = filtered(self._restrict(parsed.lifted, filters), parsed.named)
            few = min(limit, round(self._searcher.cardinality(called, "publication")))
            first = self._grouped(called, parsed.counting, few)[0] if few else []
            raised = {p: [e._replace(score=e.score + NAME_BONUS) for e in members] for p, members in first}
            groups = [*raised.items(), *(g for g in groups if g[0] not in raised)][:limit]
        short = [number for number, members in groups if len(members) < per_publication]
        more = self._of_each(restricted, parsed.counting, short, per_publication)
        hits: list[Hit] = []
        for number, members in groups:
            best = members[:per_publication]
            best += more.get(number, [])[len(best) : per_publication]
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

    def _asked(self, query: str, *, all_find: bool, explain: bool) -> _Asked | None:
        """A query for passages: what finds them, its parts for `explain`, and the conditions that lift."""
        text = query_text(query)
        terms = list(dict.fromkeys(self._terms.of([text])[0].split()))[:QUERY_TERMS]
        named = find_anchors(text, self._provisions(text) if self._provisions else ())
        if not terms and not named.identifiers:
            return None
        words = [self._word(term) for term in terms]
        many = many_of(self._searcher.num_docs)
        telling = words if all_find else _telling(words, many)
        others = [word for word in words if word not in telling]
        expansion = [self._other_name(name, field) for name in self._names(terms) for field in TEXT_FIELDS]
        keys = [self._key("identifier", key) for key in named.identifiers]
        # An identifier finds what it is of even where its words do not; it has no say in the words' score.
        silent = [tantivy.Query.const_score_query(key, 0.0) for key in keys]
        found = any_of([*self._often("text", telling), *self._often("title", telling), *expansion, *silent])
        # A word that is common in passages may tell titles apart, and is counted at once where few have it there.
        rare = [word for word in others if word.in_title <= many]
        at_once = [(tantivy.Occur.Should, query) for query in self._often("title", rare)]
        whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, found), *at_once]) if at_once else found
        common = [word for word in others if word.in_title > many]
        present = [*self._present(telling), *self._present(others, often=True)]
        counting = (*self._often("title", common), *present, *self._in_title_alone(words))
        parts: list[tuple[str, tantivy.Query]] = []
        if explain:
            presence = [*self._present(words), *self._in_title_alone(words)]
            every = [(name, self._often(name, words)) for name in TEXT_FIELDS]
            every += [("presence", presence), ("expansion", expansion)]
            parts = [(name, any_of(part)) for name, part in every if part]
        return _Asked(whole, counting, tuple(parts), tuple(self._anchors(text, terms, named, keys)))

    def _counted(self, counting: Sequence[tantivy.Query], chunks: Sequence[int]) -> dict[int, float]:
        """What the words that only count add to each passage."""
        if not counting or not chunks:
            return {}
        these = tantivy.Query.const_score_query(any_of([self._term("id", chunk) for chunk in chunks]), 0.0)
        every = tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)
        # Apart, because each condition copies what it stands on: hundreds of ids would be copied for each word.
        query = filtered(_counted_on(every, counting), these)
        hits = self._searcher.search(query, limit=len(chunks), count=False).hits
        ids = self._numbers("id", [address for _, address in hits])
        return {chunk: float(score) for chunk, (score, _) in zip(ids, hits, strict=True)}

    def _consolidated(self) -> frozenset[str]:
        return frozenset(self._terms.of([CONSOLIDATED_WORDS])[0].split())

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
        days = [filtered(published, self._between(*span)) for span in named.days]
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
        words = [self._word(term) for term in terms]
        many = 3 * many_of(self._searcher.num_docs)
        finding = _not_too_common(words, many, many)
        others = [word for word in words if word not in finding]
        counting = [*self._often("title", others), *self._present(others, often=True), *self._in_title_alone(others)]
        found = [*((name, self._often(name, finding)) for name in TEXT_FIELDS), ("presence", self._in_any(finding))]
        parts = [(name, any_of(part)) for name, part in found if part]
        optional: list[tuple[str, tantivy.Query]] = []
        if terms and not self._consolidated().intersection(terms):
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
        return _Parsed(tantivy.Query.boolean_query(clauses), tuple(counting), ahead, named)

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

    def _grouped(
        self, query: tantivy.Query, counting: Sequence[tantivy.Query], limit: int
    ) -> tuple[list[tuple[int, list[Entry]]], int]:
        """Publications by their best chunk, each with the chunks that were met, and how many publications match."""
        depth = max(limit * _GROUP_DEPTH, DEPTH if counting else 0)
        while True:
            entries = self._best(query, counting, depth)
            groups: dict[int, list[Entry]] = {}
            for entry in entries:
                groups.setdefault(entry.publication, []).append(entry)
            complete = len(entries) < depth
            if complete or len(groups) >= limit or depth >= _GROUP_MAX:
                break
            depth = min(depth * 4, _GROUP_MAX)
        # Beyond what was fetched the engine's estimate stands (HyperLogLog, within about 2 %).
        count = len(groups) if complete else round(self._searcher.cardinality(query, "publication"))
        return list(groups.items())[:limit], max(count, len(groups))

    def _best(self, query: tantivy.Query, counting: Sequence[tantivy.Query], depth: int) -> list[Entry]:
        """The best chunks, up to `depth`, in order of all that they score."""
        entries, _ = self._ranked(query, depth, count=False)
        if not counting:
            return entries
        counted = self._counted(counting, [entry.chunk_id for entry in entries])
        scored = [entry._replace(score=entry.score + counted.get(entry.chunk_id, 0.0)) for entry in entries]
        return sorted(scored, key=lambda entry: (-entry.score, entry.chunk_id))

    def _of_each(
        self, query: tantivy.Query, counting: Sequence[tantivy.Query], publications: Sequence[int], count: int
    ) -> dict[int, list[Entry]]:
        """The best chunks of each of these publications: of all of them at once, of one alone where it has so many
        that others had no place."""
        if not publications:
            return {}
        depth = len(publications) * _EACH_DEPTH
        within = any_of([self._term("publication", number) for number in publications])
        entries = self._best(filtered(query, within), counting, depth)
        found: dict[int, list[Entry]] = {number: [] for number in publications}
        for entry in entries:
            found[entry.publication].append(entry)
        for number in publications if len(entries) == depth else ():
            if len(found[number]) < count:
                alone = filtered(query, self._term("publication", number))
                found[number] = self._best(alone, counting, max(count, DEPTH if counting else 0))
        return found

    def _parts(self, parts: Sequence[tuple[str, tantivy.Query]], entry: Entry) -> tuple[tuple[str, float], ...]:
        one = self._term("id", entry.chunk_id)
        found = ((name, self._searcher.search(filtered(query, one), limit=1).hits) for name, query in parts)
        return tuple((name, round(float(hits[0][0]), 6) if hits else 0.0) for name, hits in found)


def many_of(passages: int) -> int:
    """How many passages of so many a word may stand in that finds, if enough others do."""
    return max(MANY, round(SHARE * passages))


def _telling(words: Sequence[Word], many: int) -> list[Word]:
    """The words that find; the others only count."""
    telling = [word for word in words if word.weight >= COMMON] or list(words)
    return _not_too_common(telling, many, 3 * many)


def _not_too_common(words: Sequence[Word], many: int, enough: int) -> list[Word]:
    """Those that few passages hold, and so many of the others, from the rarest on, that enough find `enough`."""
    finding: set[Word] = set()
    found = 0
    for word in sorted(words, key=lambda word: word.holding):
        if word.holding <= many or len(finding) < ENOUGH or found < enough:
            finding.add(word)
            found += word.holding
    return [word for word in words if word in finding]


def _counted_on(query: tantivy.Query, counting: Sequence[tantivy.Query]) -> tantivy.Query:
    """The query with what only counts: one condition on top of the other, so that the engine looks each passage up
    instead of walking through all that hold a common word."""
    for each in counting:
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Should, each)])
    return query


def _lifts(
    entries: Mapping[int, Entry], scores: Mapping[int, float], named: Sequence[tuple[str, Sequence[Entry]]]
) -> dict[int, dict[str, None]]:
    """What lifts each passage: of what is of a named thing the best, and all that is of the same publications where a
    day or an identifier is named, which are of whole publications."""
    lifts: dict[int, dict[str, None]] = {}
    for name, members in named:
        best = sorted(members, key=lambda e: (-scores[e.chunk_id], e.chunk_id))[:_ANCHORED]
        publications = {e.publication for e in best} if name in ("date", "identifier") else set()
        for entry in (*best, *(e for e in entries.values() if e.publication in publications)):
            lifts.setdefault(entry.chunk_id, {})[name] = None
    return lifts


@dataclass(frozen=True, slots=True)
class _Asked:
    finding: tantivy.Query
    counting: tuple[tantivy.Query, ...]
    parts: tuple[tuple[str, tantivy.Query], ...]
    anchors: tuple[tuple[str, tantivy.Query], ...]


@dataclass(frozen=True, slots=True)
class _Parsed:
    query: tantivy.Query
    counting: tuple[tantivy.Query, ...]
    lifted: tantivy.Query  # the same, with what is of a named law first
    named: tantivy.Query | None
