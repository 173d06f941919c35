"""Parsing of real official text, where DOF_DATA names its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from ingest_helpers import PROFILE, check_tiles, normalised, parse_all

from dofrag.domain.corpus import Kind, SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.parse import parse

DATA = Path(os.environ.get("DOF_DATA", ""))
pytestmark = [
    pytest.mark.realtext,
    pytest.mark.skipif("DOF_DATA" not in os.environ, reason="DOF_DATA does not name the folder of real text"),
]


def sources(*folders: str) -> Iterator[SourceFile]:
    for folder in folders:
        for path in sorted((DATA / folder).rglob("*")):
            if path.is_file():
                source = PROFILE.identify(path, path.relative_to(DATA).as_posix())
                if source is not None:
                    yield source


def test_every_text_file_is_tiled_by_its_publications_and_chunks() -> None:
    """…and the chunks, joined, are an independent normalisation of the file."""
    seen = 0
    for source in sources("gazette", "dof_v4/corpus"):
        if source.format not in ("markdown", "text"):
            continue
        texts = []
        for publication in parse(source, PROFILE):
            at = 0
            for ordinal, chunk in enumerate(publication.chunks):
                assert (chunk.ordinal, chunk.start, chunk.end) == (ordinal, at, at + len(chunk.text))
                at = chunk.end
                texts.append(chunk.text)
        assert "".join(texts) == normalised(source.path.read_bytes()), source.rel
        seen += 1
    assert seen > 300


def test_every_other_file_is_tiled_or_refused_with_a_reason() -> None:
    refused = []
    for source in sources("gazette/html", "gazette/pdf", "gazette/doc"):
        try:
            found = parse_all(source)
        except SourceUnreadable as error:
            refused.append((source.format, error.hint))
            continue
        for publication in found:
            check_tiles(publication)
            assert publication.header.title
    # Only a missing LibreOffice may refuse one of these.
    assert set(refused) <= {("doc", "install libreoffice or convert to .docx")}


@pytest.mark.parametrize("tool", ["docling", "gemini", "marker", "pymupdf", "pymupdf4llm"])
def test_each_conversion_of_the_edition_yields_its_notes_and_notices(tool: str) -> None:
    (source,) = [s for s in sources("gazette/editions") if f".{tool}." in s.rel]
    headers = [p.header for p in parse(source, PROFILE)]
    notes = [h for h in headers if h.kind is Kind.DOF]
    notices = [h for h in headers if h.kind is Kind.AVISO]
    # The edition's own index lists 32 notes; 49 notices carry a number, and more were printed without one.
    assert len(notes) == 32 or (tool == "gemini" and len(notes) in (31, 32))
    assert 49 <= len(notices) <= 60
    assert all(h.issuer and h.title for h in notes + notices)
    assert all(h.published_on == date(2024, 4, 12) and h.edition == "MAT" for h in headers)
    assert len({h.code for h in headers}) == len(headers)


@pytest.mark.parametrize(
    ("name", "code", "day", "title"),
    [
        (
            "nota_5738985",
            "5738985",
            date(2024, 9, 15),
            "DECRETO por el que se reforman, adicionan y derogan diversas",
        ),
        ("nota_5746354", "5746354", date(2024, 12, 30), "Resolución Miscelánea Fiscal para 2025, y sus Anexos"),
        ("nota_imco", None, date(2013, 6, 14), "ACUERDO por el que se actualiza la disponibilidad media anual"),
    ],
)
def test_pages_yield_their_true_titles_dates_and_codes(name: str, code: str | None, day: date, title: str) -> None:
    (source,) = [s for s in sources("gazette/html") if name in s.rel]
    (header,) = [p.header for p in parse(source, PROFILE)]
    assert header.published_on == day
    assert header.title.startswith(title)
    assert header.code == code or code is None


def test_consolidated_laws_are_dated_and_their_articles_named() -> None:
    codes = set()
    articles = 0
    for source in sources("gazette/laws"):
        ((header, chunks),) = [(p.header, list(p.chunks)) for p in parse(source, PROFILE)]
        assert header.kind is Kind.LEY
        assert header.published_on == (header.last_reform_on or header.first_published_on)
        assert header.code not in codes
        codes.add(header.code)
        articles += sum(1 for c in chunks if (c.provision or "").startswith("art:"))
    assert articles > 30_000
