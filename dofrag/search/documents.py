"""What the search index takes of a publication and its chunks. No engine in here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from json.encoder import encode_basestring

from dofrag.domain.corpus import Publication
from dofrag.search.analysis import Terms, identifier_keys, outer_keys, provision_keys
from dofrag.store.rows import issuer_words

ChunkText = tuple[int, tuple[str, ...], str | None, str]
"""What the index takes of a chunk: id, heading path, provision, text."""
IndexedChunk = tuple[int, str | None, str, str]
"""A chunk ready for the engine: id, provision, terms of its text, terms of its heading path."""
ChunkTerms = tuple[Sequence[str], Sequence[str]]
"""Terms of a publication's chunks worked out ahead, in order: of their texts, of their heading paths."""
ChunksAhead = tuple[Sequence[str | None], Sequence[str], Sequence[str]]
"""The same with their provisions before them: all that the index takes but their ids."""
_BATCH_CHARS = 40_000  # of chunks whose terms are worked out in one piece: their words stay near the processor


def publication_keys(publication: Publication) -> list[str]:
    """What all chunks of a publication are matched by, whole."""
    keys = [f"kind:{publication.kind}", f"scope:{publication.scope}"]
    if publication.edition:
        keys.append(f"edition:{publication.edition}")
    keys += [f"issuer_word:{word}" for word in issuer_words(publication.issuer)]
    return keys + [f"identifier:{key}" for key in identifier_keys(publication.identifiers)]


@lru_cache(maxsize=16_384)  # each law has an article 1
def provision_json(path: str | None) -> str:
    """Keys of a chunk's provision as JSON, to go on behind those of its publication."""
    keys = [f"provision:{key}" for key in provision_keys(path)] + [f"within:{key}" for key in outer_keys(path)]
    if path and path.startswith("trans:"):
        keys.append("part:transitory")
    return "".join([f",{encode_basestring(key)}" for key in keys])  # `json.dumps` makes an encoder each time


def batches(chunks: Iterable[ChunkText]) -> Iterator[list[ChunkText]]:
    """Chunks by the handful, in order."""
    batch: list[ChunkText] = []
    size = 0
    for chunk in chunks:
        batch.append(chunk)
        size += len(chunk[3])
        if size >= _BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def with_terms(chunks: Iterable[ChunkText], terms: Terms) -> Iterator[IndexedChunk]:
    """Stored chunks with their terms, in order."""
    for batch in batches(chunks):
        texts = terms.of([chunk[3] for chunk in batch])
        headings = _heading_terms(batch, terms)
        for (chunk_id, path, provision, _), text in zip(batch, texts, strict=True):
            yield chunk_id, provision, text, headings[path]


def terms_ahead(chunks: Iterable[tuple[tuple[str, ...], str]], terms: Terms) -> ChunkTerms:
    """The same terms in the same order before anything is stored, from heading paths and texts."""
    texts: list[str] = []
    headings: list[str] = []
    for batch in batches((0, path, None, text) for path, text in chunks):
        texts += terms.of([chunk[3] for chunk in batch])
        known = _heading_terms(batch, terms)
        headings += [known[chunk[1]] for chunk in batch]
    return texts, headings


def _heading_terms(batch: Iterable[ChunkText], terms: Terms) -> dict[tuple[str, ...], str]:
    """By path: neighbours share theirs."""
    paths = {chunk[1] for chunk in batch}
    known = terms.of_names({name for path in paths for name in path})
    return {path: " ".join([known[name] for name in path]) for path in paths}
