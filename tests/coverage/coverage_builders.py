"""Small makers of passages and requirements for the tests of coverage. Everything in them is invented."""

from __future__ import annotations

from datetime import date
from typing import Any

from dofrag.coverage.match import PreparedPassage, prepare
from dofrag.domain.corpus import Chunk, Kind, Passage, Publication, SourceKind
from dofrag.domain.question import Period


def passage(text: str, **given: Any) -> Passage:
    """A passage; `given` overrides id, code, title, issuer, published_on, headings, provision, identifiers…"""
    publication = Publication(
        code=given.get("code", "9000001"),
        published_on=given.get("published_on", date(2031, 3, 4)),
        edition=given.get("edition", "MAT"),
        kind=Kind.DOF,
        source_kind=given.get("source_kind", SourceKind.PUBLICATION),
        position=1,
        section=None,
        branch=None,
        issuer=given.get("issuer", ""),
        title=given.get("title", ""),
        instrument=None,
        identifiers=given.get("identifiers", ()),
        url=None,
        scope="public",
        source="x.md",
        span=(0, len(text)),
        chars=given.get("chars", len(text)),
        sha256="",
    )
    chunk = Chunk(
        id=given.get("id", 1),
        code=publication.code,
        ordinal=0,
        start=0,
        end=len(text),
        heading_path=tuple(given.get("headings", ())),
        provision=given.get("provision"),
        kind="text",
        text=text,
    )
    return Passage(chunk, publication)


def prepared(text: str, **given: Any) -> PreparedPassage:
    return prepare(passage(text, **given))


def year(y: int) -> Period:
    return Period(start=date(y, 1, 1), end=date(y, 12, 31))


def day(y: int, m: int, d: int) -> Period:
    return Period(start=date(y, m, d), end=date(y, m, d))
