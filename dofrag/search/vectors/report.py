"""What there is of vectors in an index, and whether it is as it was written. Changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import PUBLIC
from dofrag.errors import IndexMismatch, UsageError
from dofrag.search.open import open_index
from dofrag.search.vectors.manifest import FOLDER, Manifest, embed_command, read_manifest


def vector_status(folder: Path, scopes: Iterable[str] = ()) -> dict[str, Any] | None:
    """Model, dimension, how many chunks of the public collection and of `scopes` have a vector, and what is wrong
    (`problem`, None for nothing); None when the index has no vectors. Raises as `open_index`."""
    try:
        manifest = read_manifest(folder)
    except IndexMismatch as error:
        return {"problem": error.message}
    if manifest is None:
        return None
    card = manifest.card
    found: dict[str, Any] = {
        "model": card.name,
        "revision": card.revision,
        "dimension": card.dimension,
        "query_prefix": card.query_prefix,
        "passage_prefix": card.passage_prefix,
        "stamp": manifest.stamp,
        "vectors": None,
        "chunks": None,
        "complete": False,
        "problem": None,
    }
    from dofrag.search.vectors.held import corpus_of
    from dofrag.search.vectors.index import VectorIndex

    try:
        with open_index(folder) as index:
            corpus = corpus_of(index.reader.meta())
            coverage = VectorIndex(folder, index.reader.connection, corpus, {PUBLIC, *scopes}).coverage
    except (IndexMismatch, UsageError) as error:  # damaged, or numpy is not there
        return found | {"problem": error.message}
    return found | {"vectors": coverage.vectors, "chunks": coverage.chunks, "complete": coverage.complete}


def vector_faults(folder: Path) -> list[str]:
    """One line for each file of vectors that is not as it was written."""
    try:
        manifest: Manifest | None = read_manifest(folder)
    except IndexMismatch as error:
        return [error.message]
    faults: list[str] = []
    for name, part in sorted(manifest.parts.items()) if manifest is not None else ():
        place = folder / FOLDER / name / f"gen-{part.generation}"
        for file, expected in sorted(part.digests.items()):
            path = place / f"{Path(file).name}.npy"
            if not path.is_file() or _digest(path) != expected:
                faults.append(f"vectors: {name}/{path.name} is damaged; {embed_command(str(folder), fresh=True)}")
    return faults


def vector_line(status: dict[str, Any]) -> str:
    """The status in one line, for people."""
    if status["problem"] is not None:
        return f"PROBLEM: {status['problem']}"
    have, chunks = status["vectors"], status["chunks"]
    share = f"all {chunks:,} chunks" if status["complete"] else f"{have:,} of {chunks:,} chunks (not complete)"
    return f"{status['model']}, {status['dimension']} numbers, {share}"


def _digest(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
