"""The made-up gazette is the same each time and fits the real parser; a document keeps what stands beside figures."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import synthetic  # the folder beside the script is not installed
from report import write_between

from dofrag.wiring import profile


def test_a_publication_is_the_same_whoever_draws_it_and_its_chunks_tile_it(tmp_path: Path) -> None:
    text = synthetic.gazette(1).publication(7)
    assert text == synthetic.Gazette(1).publication(7)
    synthetic.write_ready(text, tmp_path)
    source = profile().identify(tmp_path / text.name, text.name)
    assert source is not None
    (parsed,) = synthetic.parse(source, None)
    assert parsed.header.published_on == source.published_on
    chunks = list(parsed.chunks)
    assert [c.start for c in chunks[1:]] == [c.end for c in chunks[:-1]]
    assert len(chunks) == len(text.passages)


def test_its_markdown_is_read_as_one_publication(tmp_path: Path) -> None:
    from dofrag.ingest.parse import parse

    text = synthetic.gazette(1).publication(7)
    synthetic.write_markdown(text, tmp_path)
    source = profile().identify(tmp_path / text.name, text.name)
    assert source is not None
    (parsed,) = [(p.header, list(p.chunks)) for p in parse(source, profile())]
    assert parsed[0].code == text.code
    assert sum(c.provision is not None for c in parsed[1]) >= len(text.passages) - 1


def test_figures_go_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Before\n\nAfter: <!-- x: begin -->\nold\n<!-- x: end -->\n\nthe rest\n", encoding="utf-8")
    write_between(page, "x", "new\nfigures\n")
    write_between(page, "y", "another")
    write_between(page, "y", "another one")
    said = page.read_text(encoding="utf-8")
    assert "old" not in said
    assert "<!-- x: begin -->\nnew\nfigures\n<!-- x: end -->\n\nthe rest\n" in said
    assert said.count("another one") == said.count("another") == 1
