"""Counting and hashing the chunks of one publication on their way into the store."""

from __future__ import annotations

import hashlib
from itertools import chain

from dofrag.domain.draft import ChunkDraft

_AT_ONCE = 1_000  # chunks that wait to be hashed, at most


class ChunkTally:
    """Counts and digests of a publication's chunks as they pass; refuses chunks that do not tile the text."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._text = hashlib.sha256()
        self._chunks = hashlib.sha256()
        self._waiting: list[tuple[str, str]] = []  # of each chunk not yet hashed: what is said of it, its text
        self.count = 0
        self.chars = 0
        self.sha256 = self.chunks_sha256 = ""

    def add(self, chunk: ChunkDraft, headings: str) -> None:
        """`headings` is the heading path as stored. Raises ValueError for a gap, an overlap or a wrong length."""
        ordinal, start, end, _, provision, kind, text = chunk
        if ordinal != self.count or start != self.chars or end - start != len(text):
            at = f"chunk {ordinal} does not continue the text at {self.chars}"
            raise ValueError(f"publication {self._code}: {at}")
        self._waiting.append((f"{start}\0{end}\0{headings}\0{provision}\0{kind}\0", text))
        if len(self._waiting) >= _AT_ONCE:
            self.settle()
        self.count += 1
        self.chars = end

    def close(self) -> None:
        """Work the digests out. Raises ValueError for a publication without text."""
        if not self.count:
            raise ValueError(f"publication {self._code} has no text")
        self.settle()
        self.sha256 = self._text.hexdigest()
        self.chunks_sha256 = self._chunks.hexdigest()

    def settle(self) -> None:
        """Hash what waits. Cheapest once SQLite has taken the texts: they then hold their bytes."""
        pairs = [(said.encode(), text.encode()) for said, text in self._waiting]
        self._text.update(b"".join([text for _, text in pairs]))
        self._chunks.update(b"".join(chain.from_iterable(pairs)))
        self._waiting.clear()
