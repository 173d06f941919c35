"""Embedding an index: what has no vector yet, range after range, kept as it comes.

It runs beside readers and beside a writer: it holds a lock of its own, and looks at the store anew for each range, so
that an update in the meantime is neither waited for nor lost. The arrays that searches use are made at the end,
however it comes: done, interrupted, or with an endpoint that is gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import CorpusError, IndexMismatch
from dofrag.search.open import OpenIndex, open_index
from dofrag.search.vectors.arrays import generation_folder, open_arrays, write_generation
from dofrag.search.vectors.codes import Query, numpy, quantised
from dofrag.search.vectors.held import Held, corpus_of, held_parts
from dofrag.search.vectors.interface import PROBE, Embedder, Role, passage_text, publication_key
from dofrag.search.vectors.journal import JOURNAL, Journal, JournalRows
from dofrag.search.vectors.manifest import (
    FOLDER,
    Manifest,
    Part,
    embed_command,
    read_manifest,
    write_manifest,
)
from dofrag.store.lock import WriterLock
from dofrag.store.ranges import range_texts

RANGE = 512
"""Chunks read from the store at a time."""
SAME_MODEL = 0.99
"""Cosine of the probe's two vectors from which one model is taken for the other: far above what rounding does, far
below what any other model gives."""
Progress = Callable[[int, int], None]
"""Called with chunks that have a vector and chunks in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What a call of `embed_index` did, and what there is now."""

    embedded: int
    rows: int
    chunks: int
    stamp: str

    @property
    def complete(self) -> bool:
        return self.rows == self.chunks


def embed_index(
    folder: Path,
    embedder: Embedder,
    *,
    batch: int,
    limit: int | None = None,
    fresh: bool = False,
    progress: Progress = lambda done, total: None,
) -> Embedded:
    """Give every chunk of an index a vector, `batch` texts a request, at most `limit` chunks this time.

    Raises IndexMismatch for vectors of another model, unless `fresh` throws them away, StoreBusy while another
    process embeds, and as the embedder; what was embedded until then is kept and in use. KeyboardInterrupt likewise.
    """
    open_index(folder).close()  # no folder is made beside an index that cannot be read
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    with WriterLock(place, "dof index embed"):
        manifest = _begin(folder, embedder, fresh)
        count = 0
        try:
            for done, total in _embed_all(folder, embedder, manifest, batch, limit):
                count += done
                progress(total[0], total[1])
        finally:
            manifest = _finish(folder, manifest)
    parts = manifest.parts.values()
    rows, chunks = sum(p.rows for p in parts), sum(p.chunks for p in parts)
    return Embedded(embedded=count, rows=rows, chunks=chunks, stamp=manifest.stamp)


def check_model(manifest: Manifest, embedder: Embedder, probe: Any, index: str) -> None:
    """Raise IndexMismatch when these are not vectors of this model. `probe` is PROBE's vector as a query, now."""
    for name in ("name", "revision", "dimension", "query_prefix", "passage_prefix", "text"):
        found, needed = getattr(manifest.card, name), getattr(embedder.card, name)
        if found != needed:
            raise IndexMismatch(
                f"index {index!r}: its vectors' {name.replace('_', ' ')} is {found!r}, the embedder's {needed!r}",
                hint=f"name the embedder that they were made with, or {embed_command(index, fresh=True)}",
            )
    np = numpy()
    cosine = float(Query(np.array(manifest.probe, dtype=np.float32)).vector @ Query(probe).vector)
    if cosine < SAME_MODEL:
        raise IndexMismatch(
            f"index {index!r}: {manifest.card.name!r} is another model than the one that its vectors were made with "
            f"(a fixed text's vectors have cosine {cosine:.3f})",
            hint=f"serve the same model, or {embed_command(index, fresh=True)}",
        )


def _begin(folder: Path, embedder: Embedder, fresh: bool) -> Manifest:
    """The manifest to go on with, made where there is none."""
    probe = embedder.embed([PROBE], Role.QUERY)[0]
    place = folder / FOLDER
    found = None if fresh else read_manifest(folder)
    if found is not None:
        check_model(found, embedder, probe, str(folder))
        for name, part in found.parts.items():
            open_arrays(place / name, part, found.card.dimension, str(folder))
        return found
    rows, _ = quantised([probe])
    manifest = Manifest(card=embedder.card, probe=tuple(int(v) for v in rows[0]))
    write_manifest(folder, manifest)
    for path in sorted(place.iterdir()):
        if path.is_dir():  # of vectors that are thrown away, or that no manifest told of
            shutil.rmtree(path)
    return manifest


def _embed_all(
    folder: Path, embedder: Embedder, manifest: Manifest, batch: int, limit: int | None
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Chunks embedded in each step, and how many of all are done."""
    with open_index(folder) as index:
        parts = held_parts(index.reader.connection)
    done = {name: _known(folder, manifest, name, held) for name, held in parts.items()}
    total = sum(held.chunks for held in parts.values())
    have = sum(len(numpy().unique(ids)) for ids in done.values())
    left = total - have if limit is None else min(limit, total - have)
    yield 0, (have, total)
    for name, held in parts.items():
        with Journal(folder / FOLDER / name / JOURNAL, manifest.card.dimension) as journal:
            for piece in _pieces(held.missing(done[name]), left):
                for count in _embed_piece(folder, embedder, journal, piece, batch):
                    have, left = have + count, left - count
                    yield count, (have, total)
        if left <= 0:
            return


def _pieces(ranges: Iterator[tuple[int, int]], left: int) -> Iterator[list[tuple[int, int]]]:
    """The ranges by the handful, RANGE chunks at a time, `left` chunks in all."""
    piece: list[tuple[int, int]] = []
    room = min(RANGE, left)
    for first, last in ranges:
        at = first
        while at <= last and room > 0:
            end = min(last, at + room - 1)
            piece.append((at, end))
            room, left, at = room - (end - at + 1), left - (end - at + 1), end + 1
            if room == 0:
                yield piece
                piece, room = [], min(RANGE, left)
    if piece:
        yield piece


def _known(folder: Path, manifest: Manifest, name: str, held: Held) -> Any:
    """Ids of the chunks that have a vector."""
    np = numpy()
    journal = JournalRows(folder / FOLDER / name / JOURNAL, manifest.card.dimension)
    found = [journal.ids[held.alive(journal.ids, journal.keys)]]
    if name in manifest.parts:
        arrays = open_arrays(folder / FOLDER / name, manifest.parts[name], manifest.card.dimension, str(folder))
        found.append(arrays.ids[held.alive(arrays.ids, arrays.keys)])
    return np.concatenate(found)


def _embed_piece(
    folder: Path, embedder: Embedder, journal: Journal, piece: list[tuple[int, int]], batch: int
) -> Iterator[int]:
    """Embed the chunks of some ranges, as they stand now; what an update has removed in the meantime is left out."""
    np = numpy()
    with open_index(folder) as index:
        texts = [row for first, last in piece for row in _texts(index, first, last)]
    for at in range(0, len(texts), batch):
        some = texts[at : at + batch]
        rows, scales = quantised(embedder.embed([text for _, _, text in some], Role.PASSAGE))
        ids = np.array([i for i, _, _ in some], dtype=np.int64)
        keys = np.array([key for _, key, _ in some], dtype=np.uint64)
        try:
            journal.append(ids, keys, scales, rows)
        except OSError as error:
            raise CorpusError(
                f"index {str(folder)!r}: its vectors cannot be written ({error.strerror})",
                hint="make room, then run again: it goes on there",
            ) from error
        yield len(some)


def _texts(index: OpenIndex, first: int, last: int) -> list[tuple[int, int, str]]:
    """Id, publication key and text to embed of each chunk."""
    store = index.reader.connection
    found = store.execute(
        """SELECT first_chunk, chunk_count, code, title, lower(hex(chunks_sha256)) FROM publications
           WHERE first_chunk <= ? AND first_chunk + chunk_count > ? ORDER BY first_chunk""",
        [last, first],
    ).fetchall()
    rows: list[tuple[int, int, str]] = []
    for start, count, code, title, digest in found:
        key = publication_key(code, title, digest)
        for chunk_id, headings, _, text in range_texts(store, max(first, start), min(last, start + count - 1)):
            rows.append((chunk_id, key, passage_text(title, headings, text)))
    return rows


def _finish(folder: Path, manifest: Manifest) -> Manifest:
    """Make the arrays that searches use of all that was embedded, replace the manifest, and clear up."""
    with open_index(folder) as index:
        held = held_parts(index.reader.connection)
        corpus = corpus_of(index.reader.meta())
    place = folder / FOLDER
    journals = [place / name / JOURNAL for name in held]
    if corpus and manifest.corpus == corpus and not any(path.is_file() and path.stat().st_size for path in journals):
        return manifest
    parts: dict[str, Part] = {}
    for name, chunks in held.items():
        old = manifest.parts.get(name)
        made = write_generation(place / name, old, manifest.card.dimension, chunks.alive, str(folder))
        parts[name] = Part(generation=made.generation, rows=made.rows, chunks=chunks.chunks, digests=made.digests)
    fresh = Manifest(card=manifest.card, probe=manifest.probe, corpus=corpus, parts=parts)
    write_manifest(folder, fresh)
    for path in sorted(place.iterdir()):
        if path.is_dir() and path.name not in parts:
            shutil.rmtree(path, ignore_errors=True)
    for name, part in parts.items():
        (place / name / JOURNAL).unlink(missing_ok=True)
        keep = generation_folder(place / name, part.generation).name
        for path in sorted((place / name).iterdir()):
            if path.is_dir() and path.name != keep:
                shutil.rmtree(path, ignore_errors=True)
    return fresh
