"""The engine's side of the search index: its fields, its terms, opening it, filling it. Tantivy, like `bm25`.

One document a chunk. Texts are cut into terms by `analysis` before they reach the engine, so that what is indexed and
what is asked pass the same way; the engine only parts terms at spaces.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import tantivy

from dofrag.domain.corpus import Publication
from dofrag.errors import IndexMismatch
from dofrag.search.analysis import QUERY_TERMS, STOP_WORDS, Terms, query_text
from dofrag.search.documents import IndexedChunk, provision_json, publication_keys
from dofrag.search.expansions import Expanded, Expansion
from dofrag.search.guard import GuardedSearcher, guarded
from dofrag.search.names import name_keys
from dofrag.store.schema import REBUILD

SCHEMA_VERSION = "bm25-5"
"""Changes with the fields below; part of the stamp."""

TEXT_FIELDS = ("text", "title")
"""The chunk's own text behind its heading path; title and issuer of its publication. They weigh the same."""
_WRITER_HEAP = 240_000_000  # bytes, for the indexing thread


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


def explain_expansions(query: str, expansions: Mapping[str, Sequence[str]]) -> list[Expansion]:
    """The other names that a search for these words looks for, in order of the words."""
    terms = index_terms()
    run = list(dict.fromkeys(terms.of([query_text(query)])[0].split()))[:QUERY_TERMS]
    return Expanded(expansions, terms).of(run)


def _open(folder: Path, name: str) -> tantivy.Index:
    return cast("tantivy.Index", guarded(name, lambda: tantivy.Index.open(str(folder))))


def open_searcher(folder: Path, name: str) -> tuple[tantivy.Index, GuardedSearcher]:
    """For reading. The engine takes a lock file even then; where the folder cannot be written, it opens a folder of
    links to the files instead, which is not needed any longer once they are mapped into memory."""
    try:
        index = _open(folder, name)
        return index, _searcher(index, name)
    except IndexMismatch as refusal:
        if "lock" not in str(refusal.__cause__).lower():
            raise
    # The engine's threads may still put a lock file there while the folder is removed: what is left is an empty one.
    with tempfile.TemporaryDirectory(prefix="dofrag-", ignore_cleanup_errors=True) as links:
        for file in folder.iterdir():
            if not file.name.endswith(".lock"):
                (Path(links) / file.name).symlink_to(file.resolve())
        index = _open(Path(links), name)
        return index, _searcher(index, name)


def _searcher(index: tantivy.Index, name: str) -> GuardedSearcher:
    return GuardedSearcher(guarded(name, index.searcher), name)


def lacking_a_field() -> IndexMismatch:
    return IndexMismatch("the search index lacks a fast field", hint=REBUILD)


def whole_number(value: object) -> int:
    """Of a fast field. Raises IndexMismatch where it is missing."""
    if not isinstance(value, int):
        raise lacking_a_field()
    return value


def any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def filtered(
    query: tantivy.Query, *conditions: tantivy.Query, without: Sequence[tantivy.Query] = ()
) -> tantivy.Query:
    """What meets all conditions and none of `without`; neither has a say in the score."""
    silent = [(tantivy.Occur.Must, tantivy.Query.const_score_query(c, 0.0)) for c in conditions]
    hidden = [(tantivy.Occur.MustNot, w) for w in without]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *silent, *hidden])


class Bm25Writer:
    """Fills an index folder. `publication_id` is the store's row id: what belongs to a publication goes by it."""

    def __init__(self, folder: Path, *, create: bool, name: str | None = None, heap: int = _WRITER_HEAP) -> None:
        if create:
            folder.mkdir(parents=True)
            self._index = tantivy.Index(_schema(), str(folder), reuse=False)
        else:
            self._index = _open(folder, name or str(folder))
        # One thread keeps up with whoever feeds it, and leaves fewer segments to search.
        self._folder = folder
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
                f'{common}{provision_json(provision)}],"id":{chunk_id},"text":"{headings} {text}"}}'
            )
        return count

    def commit(self) -> None:
        guarded(self._name, self._writer.commit)
        self._share()

    def close(self) -> None:
        """Wait for merges; the folder is complete afterwards."""
        guarded(self._name, self._writer.wait_merging_threads)
        self._share()

    def _share(self) -> None:
        """The engine writes its lists of files for nobody but their owner; whoever may enter the folder may read
        them, as the files that they list."""
        for path in (self._folder / "meta.json", self._folder / ".managed.json"):
            with contextlib.suppress(OSError):  # another's, or a system without such rights: it stays as it is
                path.chmod(self._folder.stat().st_mode & 0o666)
