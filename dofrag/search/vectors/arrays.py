"""The vectors of one collection as sorted arrays that are mapped into memory, and how a new generation is written.

A generation is a function of which chunks have which vectors and of nothing else: a build that was killed and went on
leaves the same bytes as one that was not.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import CorpusError, IndexMismatch
from dofrag.search.vectors.codes import Array, centre, numpy, row_codes, words
from dofrag.search.vectors.journal import JOURNAL, JournalRows
from dofrag.search.vectors.manifest import Part, embed_command

FILES = ("ids", "keys", "scales", "rows", "codes", "centre")
_BLOCK = 32_768  # rows written at a time


@dataclass(frozen=True, slots=True)
class Arrays:
    """`ids` ascending int64, `keys` uint64, `scales` float32, `rows` int8 (n, dimension), `codes` uint64 (n, words),
    `centre` float32. Mapped read-only."""

    ids: Array
    keys: Array
    scales: Array
    rows: Array
    codes: Array
    centre: Array


def generation_folder(part_folder: Path, generation: int) -> Path:
    return part_folder / f"gen-{generation}"


def open_arrays(part_folder: Path, part: Part, dimension: int, index: str) -> Arrays:
    """Raises IndexMismatch for files that are missing, cut or not what the manifest says."""
    np = numpy()
    folder = generation_folder(part_folder, part.generation)
    n = part.rows
    shapes = {
        "ids": (np.int64, (n,)),
        "keys": (np.uint64, (n,)),
        "scales": (np.float32, (n,)),
        "rows": (np.int8, (n, dimension)),
        "codes": (np.uint64, (n, words(dimension))),
        "centre": (np.float32, (dimension,)),
    }
    found: dict[str, Any] = {}
    for name, (kind, shape) in shapes.items():
        path = folder / f"{name}.npy"
        try:
            array = np.load(path, mmap_mode="r" if n else None, allow_pickle=False)
        except (OSError, ValueError, EOFError, SyntaxError) as error:
            raise _damaged(index, path, str(error)) from error
        if array.dtype != kind or array.shape != shape:
            raise _damaged(index, path, f"it holds {array.dtype} {array.shape}, not {np.dtype(kind)} {shape}")
        found[name] = array
    return Arrays(**found)


def _damaged(index: str, path: Path, why: str) -> IndexMismatch:
    return IndexMismatch(
        f"index {index!r}: its vectors are damaged: {path.parent.name}/{path.name} ({why[:200]})",
        hint=embed_command(index, fresh=True),
    )


def write_generation(part_folder: Path, old: Part | None, dimension: int, alive: Any, index: str) -> Part:
    """Merge the last generation and the journal into a new generation, of the rows that are `alive`: a function from
    ids and keys to a mask. Returns the part, with `chunks` 0. The old one stays, for the manifest has to be replaced
    first. Complete or absent."""
    np = numpy()
    arrays = open_arrays(part_folder, old, dimension, index) if old else None
    journal = JournalRows(part_folder / JOURNAL, dimension)
    ids = np.concatenate([arrays.ids, journal.ids]) if arrays else journal.ids
    keys = np.concatenate([arrays.keys, journal.keys]) if arrays else journal.keys
    scales = np.concatenate([arrays.scales, journal.scales]) if arrays else journal.scales
    before = len(arrays.ids) if arrays else 0
    kept = np.flatnonzero(alive(ids, keys))
    order = kept[np.lexsort((kept, ids[kept]))]  # by id, the latest last
    last = np.ones(len(order), dtype=bool)
    last[:-1] = ids[order][1:] != ids[order][:-1]
    order = order[last]

    def rows() -> Iterator[tuple[int, Array]]:
        for at in range(0, len(order), _BLOCK):
            which = order[at : at + _BLOCK]
            block = np.empty((len(which), dimension), dtype=np.int8)
            old_rows = which < before
            if arrays is not None:
                block[old_rows] = arrays.rows[which[old_rows]]
            block[~old_rows] = journal.rows(which[~old_rows] - before)
            yield at, block

    generation = (old.generation if old else 0) + 1
    folder = generation_folder(part_folder, generation)
    unfinished = folder.with_name(folder.name + ".part")
    for left_over in (folder, unfinished):
        if left_over.exists():
            shutil.rmtree(left_over)
    unfinished.mkdir(parents=True)
    try:
        _write(unfinished, ids[order], keys[order], scales[order], rows, dimension)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise CorpusError(f"index {index!r}: its vectors cannot be written ({error.strerror})") from error
    unfinished.rename(folder)
    digests = {name: _digest(folder / f"{name}.npy") for name in FILES}
    return Part(generation=generation, rows=len(order), chunks=0, digests=digests)


def _write(folder: Path, ids: Array, keys: Array, scales: Array, rows: Any, dimension: int) -> None:
    np = numpy()
    n = len(ids)
    for name, array in (("ids", ids), ("keys", keys), ("scales", scales)):
        np.save(folder / f"{name}.npy", array)
    with (folder / "rows.npy").open("wb") as handle:
        header = {"descr": "|i1", "fortran_order": False, "shape": (n, dimension)}
        np.lib.format.write_array_header_1_0(handle, header)
        for _, block in rows():
            handle.write(block.tobytes())
    written = np.load(folder / "rows.npy", mmap_mode="r" if n else None)
    middle = centre(written, scales)
    np.save(folder / "centre.npy", middle)
    with (folder / "codes.npy").open("wb") as handle:
        header = {"descr": "<u8", "fortran_order": False, "shape": (n, words(dimension))}
        np.lib.format.write_array_header_1_0(handle, header)
        for at in range(0, n, _BLOCK):
            handle.write(row_codes(written[at : at + _BLOCK], scales[at : at + _BLOCK], middle).tobytes())


def _digest(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
