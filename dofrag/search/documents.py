"""What the search index takes of a publication and its chunks. No engine in here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from dofrag.domain.corpus import Publication
from dofrag.search.analysis import identifier_keys
from dofrag.store.rows import issuer_words

ChunkText = tuple[int, str, str | None, str]
"""What the index takes of a chunk: id, heading path as stored (JSON), provision, text."""
_BATCH_CHARS = 200_000  # of chunks whose terms are worked out in one piece


def publication_keys(publication: Publication) -> list[str]:
    """What all chunks of a publication are matched by, whole."""
    keys = [f"kind:{publication.kind}", f"scope:{publication.scope}"]
    if publication.edition:
        keys.append(f"edition:{publication.edition}")
    keys += [f"issuer_word:{word}" for word in issuer_words(publication.issuer)]
    return keys + [f"identifier:{key}" for key in identifier_keys(publication.identifiers)]


def plain_path(path: str) -> str:
    """The words of a heading path as stored (JSON). Only escapes need reading: its signs part words anyway."""
    return "\n".join(json.loads(path)) if "\\" in path else path


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
