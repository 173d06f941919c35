"""What the tests of ingest parsing share: write a file, identify it, parse it, check that nothing was lost."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.chunk import HARD_MAX
from dofrag.ingest.interface import ChunkDraft, Header
from dofrag.ingest.parse import parse
from dofrag.ingest.readers.registry import reader_for
from dofrag.profiles.dof.profile import DofProfile

PROFILE = DofProfile()
NOTE_PATH = "2031/03/04032031/MAT/005_DOF_20310304_MAT_9700001.md"


@dataclass(frozen=True)
class Parsed:
    header: Header
    chunks: list[ChunkDraft]

    @property
    def text(self) -> str:
        return "".join(c.text for c in self.chunks)


def identify(root: Path, rel: str) -> SourceFile:
    source = PROFILE.identify(root / rel, rel)
    assert source is not None
    return source


def write(root: Path, rel: str, content: str | bytes) -> SourceFile:
    path = root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return identify(root, rel)


def parse_all(source: SourceFile, profile: object = PROFILE) -> list[Parsed]:
    """Every publication of a file, each checked to be tiled by its chunks, and the file by its publications."""
    found = [Parsed(p.header, list(p.chunks)) for p in parse(source, profile)]  # type: ignore[arg-type]
    for publication in found:
        check_tiles(publication)
    normalised = "".join(b.text for b in reader_for(source).read(source)[1])
    assert "".join(p.text for p in found) == normalised
    return found


def check_tiles(publication: Parsed) -> None:
    at = 0
    for ordinal, chunk in enumerate(publication.chunks):
        assert chunk.ordinal == ordinal
        assert chunk.start == at
        assert chunk.end == at + len(chunk.text)
        assert 0 < len(chunk.text) <= HARD_MAX
        at = chunk.end


def parse_note(root: Path, content: str | bytes, rel: str = NOTE_PATH) -> Parsed:
    found = parse_all(write(root, rel, content))
    assert len(found) == 1
    return found[0]


def normalised(raw: bytes) -> str:
    """The definition of normalised text, written a second time and slowly."""
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    text = raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    kept = [c for c in text if c in "\n\t" or (unicodedata.category(c) != "Cc" and c != "\ufeff")]
    return unicodedata.normalize("NFC", "".join(kept))


def words(text: str) -> list[str]:
    return re.findall(r"\S+", text)


STEM = "2031/03/04032031/MAT/005_DOF_20310304_MAT_9700001"
BODY = "# SECRETARIA DE FAROLES\n\n## ACUERDO por el que se ilumina la señal número uno.\n\nÚnico. Sí.\n"


def drain(source: SourceFile) -> None:
    for publication in parse(source, PROFILE):
        for _ in publication.chunks:
            pass


def unreadable(root: Path, rel: str, content: bytes) -> SourceUnreadable:
    source = write(root, rel, content)
    with pytest.raises(SourceUnreadable) as caught:
        drain(source)
    assert caught.value.hint
    return caught.value
