"""Counting and hashing the chunks of one publication on their way into the store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain

ChunkRow = tuple[int, int, int, int, str, str | None, str, str, int | None]
"""A chunk on its way: publication, ordinal, start, end, heading path (JSON, to be hashed), provision, kind, text,
number of its heading."""


class ChunkTally:
    """Counts and digests of a publication's chunks as they pass; refuses chunks that do not tile the text."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._text = hashlib.sha256()
        self._chunks = hashlib.sha256()
        self.count = 0
        self.chars = 0
        self.sha256 = self.chunks_sha256 = ""

    def take(self, rows: Sequence[ChunkRow]) -> None:
        """The next chunks. Cheapest once SQLite has taken them: their texts then hold their bytes. Raises ValueError
        for a gap, an overlap or a wrong length."""
        count, chars = self.count, self.chars
        for _, ordinal, start, end, _, _, _, text, _ in rows:
            if ordinal != count or start != chars or end - start != len(text):
                at = f"chunk {ordinal} does not continue the text at {chars}"
                raise ValueError(f"publication {self._code}: {at}")
            count += 1
            chars = end
        self.count, self.chars = count, chars
        said = [f"{start}\0{end}\0{path}\0{of}\0{kind}\0".encode() for _, _, start, end, path, of, kind, *_ in rows]
        texts = [row[7].encode() for row in rows]
        self._text.update(b"".join(texts))
        self._chunks.update(b"".join(chain.from_iterable(zip(said, texts, strict=True))))

    def close(self) -> None:
        """Work the digests out. Raises ValueError for a publication without text."""
        if not self.count:
            raise ValueError(f"publication {self._code} has no text")
        self.sha256 = self._text.hexdigest()
        self.chunks_sha256 = self._chunks.hexdigest()
