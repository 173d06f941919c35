"""What has been read of a publication, and what of it has not: so that no call is spent on nothing."""

from __future__ import annotations

from dofrag.planner.interface import View


def read_whole(view: View, code: str) -> bool:
    """Whether every character of a publication was read: its chunks tile its text."""
    own = sorted((p.chunk.start, p.chunk.end) for p in view.passages.values() if p.chunk.code == code)
    reached = 0
    for start, end in own:
        if start > reached:
            return False
        reached = max(reached, end)
    publication = view.publications.get(code)
    return bool(own) and publication is not None and reached >= publication.chars


def open_around(view: View, chunk_id: int) -> bool:
    """Whether the chunk before or after a read one exists and was not read."""
    chunk = view.passages[chunk_id].chunk
    own = {p.chunk.ordinal for p in view.passages.values() if p.chunk.code == chunk.code}
    before = chunk.start > 0 and chunk.ordinal - 1 not in own
    after = chunk.end < view.passages[chunk_id].publication.chars and chunk.ordinal + 1 not in own
    return before or after


def untouched(view: View, code: str) -> bool:
    """Whether nothing of a publication was read."""
    return all(p.chunk.code != code for p in view.passages.values())
