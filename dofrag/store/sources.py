"""What the store knows of the files that publications came from."""

from __future__ import annotations

from dofrag.domain.corpus import PUBLIC
from dofrag.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A file as the store knows it. `canonical` names the source that stands for an alternate, or that a failed one
    collides with; "" in a failed one whose text itself is at fault. Those two kinds of failure are tried again only
    when something else has changed."""

    rel: str
    format: str
    bytes: int
    mtime_ns: int
    sha256: str
    status: str  # "indexed" | "alternate" | "failed"
    group_key: str
    rank: int
    reason: str | None = None
    canonical: str | None = None
    scope: str = PUBLIC


@dataclass(frozen=True, slots=True)
class Owner:
    """Which source a stored publication came from."""

    source: str
    format: str
    sha256: str
    failed: bool  # it can no longer be read: this is its last good text


class CodeTaken(Exception):
    """A publication's code belongs to another source. Internal: the pipeline turns it into alternate or failure."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
