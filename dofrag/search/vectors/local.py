"""A model on this machine, through sentence-transformers: the only module that imports it, when a model is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dofrag.errors import ModelUnavailable, UsageError
from dofrag.search.vectors.interface import Card, Role, Vectors, prefixes_of

_DESCRIBED_BY = ("config.json", "modules.json", "config_sentence_transformers.json")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_PIECE = 1 << 20  # bytes of the weights, from each end, that the revision looks at


class LocalEmbedder:
    """Implements `Embedder` with a model's folder, or a name that sentence-transformers knows where to find."""

    def __init__(self, model: str, *, query_prefix: str | None = None, passage_prefix: str | None = None) -> None:
        """Prefixes that are None come from the model's own files, else from what its family is known to need."""
        self._name = model
        self._given = (query_prefix, passage_prefix)
        self._model: Any = None
        self._card: Card | None = None

    @property
    def card(self) -> Card:
        if self._card is None:
            self._card = self._read_card(self._loaded())
        return self._card

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        model, prefix = self._loaded(), self.card.prefix(role)
        try:
            # `prompt=""`: the prefix is put on here, once.
            found: Vectors = model.encode(
                [prefix + text for text in texts], prompt="", batch_size=len(texts), show_progress_bar=False
            )
        except (RuntimeError, ValueError) as error:
            raise ModelUnavailable(f"embedding model {self._name!r} failed: {error}") from error
        return found

    def close(self) -> None:
        self._model = None

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError:
                raise UsageError(
                    "a model on this machine needs sentence-transformers, which is not installed",
                    hint="pip install 'dofrag[vectors-local]', or name an endpoint: --embedder http://…",
                ) from None
            try:
                self._model = SentenceTransformer(self._name)
            except (OSError, ValueError, RuntimeError, KeyError) as error:
                first = (str(error).strip().splitlines() or [""])[0][:200]
                raise ModelUnavailable(
                    f"embedding model {self._name!r} cannot be loaded: {first}",
                    hint="name the folder that holds its config.json: --embedder local:FOLDER",
                ) from error
        return self._model

    def _read_card(self, model: Any) -> Card:
        prompts = getattr(model, "prompts", None) or {}
        family = prefixes_of(self._name)
        query = prompts.get("query") or family[0]
        passage = prompts.get("passage") or prompts.get("document") or family[1]
        name = Path(self._name).name if Path(self._name).is_dir() else self._name
        return Card(
            name=name,
            revision=_revision(Path(self._name)),
            dimension=_dimension(model),
            query_prefix=query if self._given[0] is None else self._given[0],
            passage_prefix=passage if self._given[1] is None else self._given[1],
        )


def _dimension(model: Any) -> int:
    # Renamed in version 5.
    read = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(read())


def _revision(folder: Path) -> str:
    """From the files that describe the model and both ends of its weights; "" for a model that is known by name."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for name in _DESCRIBED_BY:
        path = folder / name
        digest.update(path.read_bytes() if path.is_file() else b"\0")
    for path in (folder / name for name in _WEIGHTS):
        if path.is_file():
            size = path.stat().st_size
            with path.open("rb") as handle:
                digest.update(size.to_bytes(8, "big") + handle.read(_PIECE))
                handle.seek(max(0, size - _PIECE))
                digest.update(handle.read(_PIECE))
    return digest.hexdigest()[:16]
