"""Articles whose heading a converter broke in two: `### Artículo 12` and, in the next line, `Bis.- …`."""

from __future__ import annotations

import pytest

from dofrag.ingest.chunk import chunks
from dofrag.ingest.interface import Block
from dofrag.ingest.numbered import numbered
from dofrag.ingest.outline import Outline
from dofrag.profiles.dof.profile import DofProfile

BROKEN = [
    ("### Artículo 12\n", "Bis.- Las boyas se pintan de rojo.\n", "art:12-bis"),
    ("### Artículo 12\n", "bis 2. Las boyas se pintan de rojo.\n", "art:12-bis-2"),
    ("### ARTÍCULO 12\n", "QUÁTER. Las boyas se pintan de rojo.\n", "art:12-quater"),
    ("### Artículo 12\n", "Bis A. Las boyas se pintan de rojo.\n", "art:12-bis-A"),
    ("### Artículo 4o\n", ".-A.- Las boyas se pintan de rojo.\n", "art:4-A"),
    ("### Artículo 12\n", ".- Las boyas se pintan de rojo.\n", "art:12"),
    ("### Artículo 12\n", "Bistec y pan para la tripulación.\n", "art:12"),
    ("### Artículo 12\n", "En el artículo 3 Bis se dice lo mismo.\n", "art:12"),
]


@pytest.mark.parametrize(("heading", "text", "path"), BROKEN)
def test_the_number_is_read_to_its_end(heading: str, text: str, path: str) -> None:
    blocks = [Block("heading", heading, 3), Block("paragraph", text), Block("heading", "### Artículo 13\n", 3)]
    blocks += [Block("paragraph", "Otra cosa que se dice de las boyas del puerto y de los faros.\n")]
    outline = Outline(DofProfile().anatomy, frozenset(), "LEY", consolidated=True)
    found = list(chunks(numbered(blocks), outline))
    assert [c.provision for c in found] == [path, "art:13"]
    assert "".join(c.text for c in found) == "".join(b.text for b in blocks)


def test_no_block_is_lost_or_moved() -> None:
    blocks = [Block("heading", "### Artículo 1\n", 3), Block("heading", "### Artículo 2\n", 3), Block("blank", "\n")]
    assert [b.text for b in numbered(blocks)] == [b.text for b in blocks]
    assert [b.text for b in numbered(blocks[:2])] == [b.text for b in blocks[:2]]
    assert list(numbered([])) == []
