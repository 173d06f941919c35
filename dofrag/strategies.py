"""How an index is searched, put together: an embedder from its address, and a backend from a strategy.

`wiring` asks here; below, parts get the values they need. Where a model is comes from the caller or the environment,
never from the index: an index may be somebody else's, and questions and keys are not to go where it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dofrag.domain.records import dataclass
from dofrag.errors import IndexMismatch, UsageError
from dofrag.search.interface import SearchBackend
from dofrag.search.open import OpenIndex
from dofrag.settings import EmbedderSettings, SearchChoice

if TYPE_CHECKING:
    from dofrag.search.vectors.interface import Embedder

CACHE = "vectors.sqlite"
"""In the cache: vectors of passages that have none in their index."""
QUERY_PATIENCE_S = 30.0
"""Seconds that embedding a question may take, with all attempts; a corpus may wait longer for an endpoint."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """A backend, with the stamp of the vectors that it uses: "" where those are made as they are asked for."""

    backend: SearchBackend
    vectors: str
    close: Callable[[], None]


def make_embedder(chosen: EmbedderSettings, *, patience_s: float | None = None) -> Embedder:
    """`local:FOLDER-OR-NAME` or an endpoint's address. Asks nothing yet. Raises UsageError for anything else."""
    given: dict[str, Any] = {"query_prefix": chosen.query_prefix, "passage_prefix": chosen.passage_prefix}
    kind, _, rest = chosen.address.partition(":")
    if kind == "local" and rest:
        from dofrag.search.vectors.local import LocalEmbedder

        return LocalEmbedder(rest, **given)
    if kind not in ("http", "https"):
        raise UsageError(
            f"embedder {chosen.address[:80]!r} is neither a model's folder nor an endpoint",
            hint="--embedder local:FOLDER, or --embedder http://127.0.0.1:8000/v1 --embedder-model NAME",
        )
    if chosen.model is None:
        raise UsageError("the embedder's model is not named", hint="--embedder-model NAME, or DOF_EMBEDDER_MODEL")
    from dofrag.llm.openai_embeddings import OpenAIEmbeddings
    from dofrag.llm.openai_http import Endpoint

    endpoint = Endpoint(model=chosen.model, base_url=chosen.address.rstrip("/"), api_key=chosen.api_key)
    more: dict[str, Any] = {} if patience_s is None else {"patience_s": patience_s}
    return OpenAIEmbeddings(endpoint, revision=chosen.revision, **given, **more)


def make_searcher(
    opened: OpenIndex,
    folder: Path,
    choice: SearchChoice,
    embedder: EmbedderSettings,
    scopes: Iterable[str],
    cache: Path,
) -> Searcher:
    """The strategies with vectors, `vector` and `hybrid`, over an open index. `scopes` is all that may be seen.

    Raises IndexMismatch for vectors that are missing, or of another model, with the command that mends it: fewer than
    all serve only where the caller allows it.
    """
    from dofrag.search.hybrid import HybridIndex, VectorOnly
    from dofrag.search.vectors.build import check_model
    from dofrag.search.vectors.index import VectorIndex
    from dofrag.search.vectors.interface import PROBE, Role
    from dofrag.search.vectors.manifest import read_manifest
    from dofrag.search.vectors.pool import PoolEmbedder

    corpus = opened.reader.meta().get("corpus_digest", "")
    there = read_manifest(folder) is not None
    pooled = choice.strategy == "hybrid" and choice.allow_partial
    model = make_embedder(embedder, patience_s=None if pooled else QUERY_PATIENCE_S)
    # Without vectors this refuses, with the command that makes them.
    vectors = VectorIndex(folder, opened.reader.connection, corpus, scopes) if there or not pooled else None
    if vectors is not None and not vectors.coverage.complete and not choice.allow_partial:
        raise IndexMismatch(
            f"index {opened.name!r}: only {vectors.coverage} have a vector",
            hint=f"run `dof index embed --index {folder} --embedder …`, or add --allow-partial",
        )
    probe = model.embed([PROBE], Role.QUERY)[0]
    if vectors is not None:
        check_model(vectors.manifest, model, probe, opened.name)

    def embed(query: str) -> Any:
        return model.embed([query], Role.QUERY)[0]

    stamp = vectors.manifest.stamp if vectors is not None else ""
    if choice.strategy == "vector":
        assert vectors is not None
        return Searcher(VectorOnly(opened.backend, opened.reader, embed, vectors), stamp, model.close)
    complete = vectors is not None and vectors.coverage.complete
    pool = None if complete else PoolEmbedder(model, probe, opened.reader, cache / CACHE)
    backend = HybridIndex(opened.backend, opened.reader, embed, vectors=vectors, pool=pool, fusion=choice.fusion)
    return Searcher(backend, stamp, model.close)
