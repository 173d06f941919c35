"""How an index is searched, put together: an embedder from its address, and a backend from a strategy.

`wiring` asks here; below, parts get the values they need. Where a model is comes from the caller or the environment,
never from the index: an index may be somebody else's, and questions and keys are not to go where it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dofrag.domain.records import dataclass
from dofrag.errors import DofError, IndexMismatch, UsageError
from dofrag.search.interface import SearchBackend
from dofrag.search.open import OpenIndex
from dofrag.settings import EmbedderSettings, SearchChoice, embedder_settings

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
    pooled = choice.strategy == "hybrid" and choice.allow_partial
    model = make_embedder(embedder, patience_s=None if pooled else QUERY_PATIENCE_S)
    try:
        return _searcher(opened, folder, choice, model, scopes, cache)
    except BaseException:
        model.close()
        raise


def _searcher(
    opened: OpenIndex, folder: Path, choice: SearchChoice, model: Embedder, scopes: Iterable[str], cache: Path
) -> Searcher:
    from dofrag.search.hybrid import HybridIndex, VectorOnly
    from dofrag.search.vectors.build import check_model
    from dofrag.search.vectors.held import corpus_of
    from dofrag.search.vectors.index import VectorIndex
    from dofrag.search.vectors.interface import PROBE, Role
    from dofrag.search.vectors.manifest import read_manifest
    from dofrag.search.vectors.pool import PoolEmbedder

    corpus = corpus_of(opened.reader.meta())
    there = read_manifest(folder) is not None
    pooled = choice.strategy == "hybrid" and choice.allow_partial
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


Check = tuple[str, bool | None, str, str]
"""Name, whether it is fine (None: optional and missing, or not told), what was found, what to do about it."""


def vector_checks(folder: Path | None, environ: Mapping[str, str]) -> Iterator[Check]:
    """What there is for searches with vectors: libraries, the index's vectors, the embedder of the environment. The
    sample (`folder` None) has no vectors."""
    from dofrag.search.vectors.codes import numpy
    from dofrag.search.vectors.nearest import FAISS_FROM, faiss
    from dofrag.search.vectors.report import vector_line, vector_status

    try:
        found = numpy()
    except UsageError as error:
        yield "vectors", None, "numpy is not installed", f"optional: {error.hint}"
        return
    fast = "faiss too" if faiss() is not None else f"no faiss: worth it from {FAISS_FROM:,} chunks on"
    status = vector_status(folder) if folder is not None else None
    if status is None:
        detail, action = f"none in this index; numpy {found.__version__}, {fast}", "optional: `dof index embed`"
        yield "vectors", None, detail, action
    else:
        action = "" if status["complete"] else f"run `dof index embed --index {folder} --embedder …`"
        fine = False if status["problem"] is not None else status["complete"] or None
        yield "vectors", fine, f"{vector_line(status)}; numpy {found.__version__}, {fast}", action
    if environ.get("DOF_EMBEDDER"):
        yield _embedder_check(folder, environ)


def _embedder_check(folder: Path | None, environ: Mapping[str, str]) -> Check:
    from dofrag.search.vectors.build import check_model
    from dofrag.search.vectors.interface import PROBE, Role
    from dofrag.search.vectors.manifest import read_manifest

    try:
        model = make_embedder(embedder_settings(environ, SearchChoice()), patience_s=QUERY_PATIENCE_S)
        try:
            probe = model.embed([PROBE], Role.QUERY)[0]
            card = model.card
            manifest = read_manifest(folder) if folder is not None else None
            if manifest is not None:
                check_model(manifest, model, probe, str(folder))
        finally:
            model.close()
    except DofError as error:
        return "embedder", False, error.message, error.hint or ""
    return "embedder", True, f"{card.name}, {card.dimension} numbers", ""
