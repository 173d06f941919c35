"""What an embedding model has to offer, and the texts that it is given. Standard library only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from dofrag.domain.records import dataclass

TEXT_VERSION = "1"
"""Version of `passage_text`; part of the stamp."""
PROBE = "El decreto entrará en vigor al día siguiente de su publicación en el Diario Oficial de la Federación."
"""A fixed text whose vector tells two models apart that go by one name."""
_TITLE = 300  # characters of a title; the longest would leave no room for the passage itself
_PASSAGE = 6_000  # characters in all: more than any small model reads

Vectors = Sequence[Sequence[float]]
"""One row a text, finite numbers; a numpy array will do."""


class Role(StrEnum):
    """Models are trained on pairs: what is asked and what is found are embedded apart."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What makes two vectors comparable. `revision` is whatever tells versions of a model apart, "" where nothing
    does; the prefixes stand before each text, as the model's card asks for."""

    name: str
    revision: str
    dimension: int
    query_prefix: str
    passage_prefix: str
    text: str = TEXT_VERSION

    def prefix(self, role: Role) -> str:
        return self.query_prefix if role is Role.QUERY else self.passage_prefix


class Embedder(Protocol):
    """A model, here or at an endpoint. Deterministic as far as the model is."""

    @property
    def card(self) -> Card:
        """May load the model or ask the endpoint. Raises as `embed`."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """A vector for each text, without the prefix, which is put on here. Raises ModelUnavailable when the model
        cannot be had, or answers with something that is not that."""
        ...

    def close(self) -> None: ...


def passage_text(title: str, headings: Iterable[str], text: str) -> str:
    """What stands for a chunk: most passages say only together with title and headings what they are about."""
    head = [title.strip()[:_TITLE], " > ".join(headings)]
    return "\n".join(part for part in (*head, text.strip()) if part)[:_PASSAGE]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """A family of models, told by a part of its name, and the prefixes that its card asks for."""

    family: str
    query: str
    passage: str


_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
FAMILIES = (
    # Longer names first: the first family whose name is in the model's decides.
    Prefixes("e5-small-instruct", _INSTRUCTION, ""),
    Prefixes("e5-large-instruct", _INSTRUCTION, ""),
    Prefixes("e5-mistral", _INSTRUCTION, ""),
    Prefixes("e5", "query: ", "passage: "),
    Prefixes("nomic-embed", "search_query: ", "search_document: "),
    Prefixes("arctic-embed-l-v2", "query: ", ""),
    Prefixes("arctic-embed-m-v2", "query: ", ""),
    Prefixes("arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
    Prefixes("mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    Prefixes("bge-m3", "", ""),
    Prefixes("bge-small-en", "Represent this sentence for searching relevant passages: ", ""),
    Prefixes("bge-base-en", "Represent this sentence for searching relevant passages: ", ""),
    Prefixes("bge-large-en", "Represent this sentence for searching relevant passages: ", ""),
    Prefixes("embeddinggemma", "task: search result | query: ", "title: none | text: "),
)
"""From the models' cards. A model that is not here gets no prefix, unless its files or the caller name one."""


def prefixes_of(model: str) -> tuple[str, str]:
    """Query and passage prefix of a model's family. A name with `{role}` in it means a server that puts them on."""
    if "{role}" in model:
        return "", ""
    name = model.lower()
    return next(((f.query, f.passage) for f in FAMILIES if f.family in name), ("", ""))


def publication_key(code: str, title: str, chunks_sha256: str) -> int:
    """64 bits that change with whatever the vectors of a publication's chunks were made from."""
    data = "\0".join((code, title, chunks_sha256)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
