"""Vectors of passages that have none in the index, made as a search asks for them and kept for the next time.

A cheap way to rank by meaning: fifty passages a question instead of a whole corpus. What was embedded lies in a small
database in the user's cache; where that cannot be written, it is kept for this process only.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import Filters
from dofrag.search.vectors.codes import Query, numpy, quantised
from dofrag.search.vectors.interface import Embedder, Role, passage_text
from dofrag.store.interface import CorpusReader

BATCH = 16
"""Texts a request: a small model on one core takes a few seconds for so many."""
_KEPT = 200_000  # vectors in the cache, some 80 MB; the oldest go first
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, scale REAL NOT NULL, numbers BLOB NOT NULL)"


class PoolEmbedder:
    """Implements `PoolCosines`."""

    def __init__(self, embedder: Embedder, probe: Any, reader: CorpusReader, cache: Path | None) -> None:
        """`probe` is PROBE's vector as this model gives it: another model under the same name has another key."""
        rows, _ = quantised([probe])
        model = json.dumps(asdict(embedder.card), sort_keys=True).encode("utf-8", "surrogatepass")
        self._model = hashlib.sha256(model + rows.tobytes()).digest()
        self._embedder = embedder
        self._reader = reader
        self._cache = _open(cache)

    def __call__(self, query: Query, ids: Sequence[int], filters: Filters) -> Mapping[int, float]:
        """The cosine of each passage that exists under the filters. Raises ModelUnavailable as the embedder."""
        np = numpy()
        texts = {
            p.id: passage_text(p.publication.title, p.chunk.heading_path, p.text)
            for p in self._reader.passages(ids, filters)
        }
        if not texts:
            return {}
        keys = {i: self._key(text) for i, text in texts.items()}
        known = self._known(keys)
        missing = sorted(i for i in texts if i not in known)
        for at in range(0, len(missing), BATCH):
            some = missing[at : at + BATCH]
            rows, scales = quantised(self._embedder.embed([texts[i] for i in some], Role.PASSAGE))
            found = {i: (float(s), r.tobytes()) for i, r, s in zip(some, rows, scales, strict=True)}
            self._keep((keys[i], *value) for i, value in found.items())
            known |= found
        order = sorted(known)
        rows = np.stack([np.frombuffer(known[i][1], dtype=np.int8) for i in order])
        scales = np.array([known[i][0] for i in order], dtype=np.float32)
        return dict(zip(order, query.cosines(rows, scales).tolist(), strict=True))

    def close(self) -> None:
        self._cache.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._model + text.encode("utf-8", "surrogatepass")).digest()

    def _known(self, keys: Mapping[int, bytes]) -> dict[int, tuple[float, bytes]]:
        dimension = self._embedder.card.dimension
        found: dict[int, tuple[float, bytes]] = {}
        for i, key in keys.items():
            row = self._cache.execute("SELECT scale, numbers FROM vectors WHERE key = ?", [key]).fetchone()
            if row is not None and len(row[1]) == dimension:
                found[i] = (float(row[0]), bytes(row[1]))
        return found

    def _keep(self, rows: Any) -> None:
        try:
            self._cache.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", list(rows))
            self._cache.execute("DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?", [_KEPT])
            self._cache.commit()
        except sqlite3.Error:
            # Another process may be writing, or the disk is full. The vectors at hand serve this search all the same.
            self._cache.rollback()


def _open(path: Path | None) -> sqlite3.Connection:
    """The cache, or one in memory where the file cannot be used."""
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=2.0)
            connection.execute(_TABLE)
            connection.execute("SELECT key, scale, numbers FROM vectors LIMIT 1")
            return connection
        except (OSError, sqlite3.Error):
            pass
    connection = sqlite3.connect(":memory:")
    connection.execute(_TABLE)
    return connection
