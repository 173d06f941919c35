"""The stamp: what an index was built by and from.

An analyzer that differs under the same name raises nothing and finds nothing, so whoever opens an index compares the
stamp first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from dofrag.errors import IndexMismatch
from dofrag.search.analysis import ANALYZER
from dofrag.search.engine import SCHEMA_VERSION
from dofrag.store.layout import Pointer
from dofrag.store.schema import REBUILD


def stamp_parts(meta: Mapping[str, str]) -> dict[str, str]:
    """What this code would stamp the store with that `meta` belongs to."""
    return {
        "schema": SCHEMA_VERSION,
        "analyzer": ANALYZER,
        "chunker": meta.get("chunker", ""),
        "corpus": meta.get("corpus_digest", ""),
    }


def stamp_of(parts: Mapping[str, str]) -> str:
    data = json.dumps(dict(sorted(parts.items())), separators=(",", ":"))
    return f"sha256:{hashlib.sha256(data.encode()).hexdigest()}"


def check_stamp(pointer: Pointer, meta: Mapping[str, str], name: str, chunker: str | None = None) -> None:
    """Raise IndexMismatch, naming the part that differs. `chunker` is the version in use, None to leave it out."""
    needed = stamp_parts(meta)
    if chunker is not None:
        needed["chunker"] = chunker
    for part, value in needed.items():
        found = pointer.parts.get(part, "")
        if part == "corpus" and found != value:
            raise IndexMismatch(f"index {name!r}: its search index does not hold what its store holds", hint=REBUILD)
        if found != value:
            raise IndexMismatch(f"index {name!r} was built by {part} {found!r}, need {value!r}", hint=REBUILD)
    if stamp_of(pointer.parts) != pointer.stamp:
        raise IndexMismatch(f"index {name!r}: its stamp does not fit what it lists", hint=REBUILD)
