"""Counting and hashing the chunks of one publication on their way into the store."""

from __future__ import annotations

import hashlib

from dofrag.domain.draft import ChunkDraft


class ChunkTally:
    """Counts and digests of a publication's chunks as they pass; refuses chunks that do not tile the text."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._text = hashlib.sha256()
        self._chunks = hashlib.sha256()
        self.count = 0
        self.chars = 0
        self.sha256 = self.chunks_sha256 = ""

    def add(self, chunk: ChunkDraft, headings: str) -> None:
        """`headings` is the heading path as stored. Raises ValueError for a gap, an overlap or a wrong length."""
        if chunk.ordinal != self.count or chunk.start != self.chars or chunk.end - chunk.start != len(chunk.text):
            at = f"chunk {chunk.ordinal} does not continue the text at {self.chars}"
            raise ValueError(f"publication {self._code}: {at}")
        data = chunk.text.encode()
        self._text.update(data)
        self._chunks.update(f"{chunk.start}\0{chunk.end}\0{headings}\0{chunk.provision}\0{chunk.kind}\0".encode())
        self._chunks.update(data)
        self.count += 1
        self.chars = chunk.end

    def close(self) -> None:
        """Work the digests out. Raises ValueError for a publication without text."""
        if not self.count:
            raise ValueError(f"publication {self._code} has no text")
        self.sha256 = self._text.hexdigest()
        self.chunks_sha256 = self._chunks.hexdigest()
