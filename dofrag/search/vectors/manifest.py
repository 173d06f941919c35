"""What the vectors of an index are, in one small file that is replaced atomically.

vectors/manifest.json            this
vectors/public/gen-N/            the arrays of the public collection, Nth generation
vectors/public/journal.bin       what was embedded since, see journal.py
vectors/restricted-…/            the same for each restricted collection
vectors/writer.lock              held by the process that embeds
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import IndexMismatch
from dofrag.search.vectors.interface import Card

FOLDER = "vectors"
MANIFEST = "manifest.json"
_FORMAT = 1
_DIMENSION_MAX = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The arrays of one collection. `chunks` is how many the store held when they were made, `digests` the SHA-256 of
    each file by name, `rows` how many vectors they hold."""

    generation: int
    rows: int
    chunks: int
    digests: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`probe` is the int8 vector of PROBE as a query, `corpus` the store's digest when the arrays were made, "" while
    none were."""

    card: Card
    probe: tuple[int, ...]
    corpus: str = ""
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def stamp(self) -> str:
        """One value for the model and every vector."""
        digests = {name: part.digests for name, part in self.parts.items()}
        data = json.dumps([asdict(self.card), list(self.probe), self.corpus, digests], sort_keys=True)
        return f"sha256:{hashlib.sha256(data.encode('utf-8', 'surrogatepass')).hexdigest()}"


def embed_command(index: str, *, fresh: bool = False) -> str:
    """The command that makes an index's vectors, for hints."""
    return f"run `dof index embed --index {index} --embedder …{' --fresh' if fresh else ''}`"


def read_manifest(index_folder: Path) -> Manifest | None:
    """None when the index has no vectors. Raises IndexMismatch for a manifest that cannot be read."""
    path = index_folder / FOLDER / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']!r}, this dofrag reads {_FORMAT}")
        return _manifest(data)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise IndexMismatch(
            f"index {str(index_folder)!r}: {FOLDER}/{MANIFEST} cannot be read ({error})",
            hint=embed_command(str(index_folder), fresh=True),
        ) from error


def _manifest(data: dict[str, Any]) -> Manifest:
    card = data["card"]
    values = {f.name: card[f.name] for f in fields(Card)}
    if not (isinstance(values["dimension"], int) and 0 < values["dimension"] <= _DIMENSION_MAX):
        raise ValueError(f"dimension {values['dimension']!r}")
    if not all(isinstance(v, str) for name, v in values.items() if name != "dimension"):
        raise ValueError("the card is garbled")
    parts = {}
    for name, part in data["parts"].items():
        if not (name == "public" or (name.startswith("restricted-") and name[11:].isalnum())):
            raise ValueError(f"part {name!r}")
        numbers = {key: int(part[key]) for key in ("generation", "rows", "chunks")}
        digests = {str(k): str(v) for k, v in dict(part["digests"]).items()}
        parts[name] = Part(**numbers, digests=digests)
    probe = tuple(int(v) for v in data["probe"])
    if len(probe) != values["dimension"]:
        raise ValueError("the probe has another dimension")
    return Manifest(card=Card(**values), probe=probe, corpus=str(data["corpus"]), parts=parts)


def write_manifest(index_folder: Path, manifest: Manifest) -> None:
    """Replace the manifest so that a reader sees the old one or the new one, never a part."""
    data = {"format": _FORMAT, **asdict(manifest)}
    path = index_folder / FOLDER / MANIFEST
    part = path.with_name(MANIFEST + ".part")
    with part.open("w", encoding="utf-8") as handle:
        json.dump(data, handle, indent=1, sort_keys=True)
        handle.write("\n")
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(path)
