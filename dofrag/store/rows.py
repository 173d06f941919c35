"""Rows to domain objects and back, and the filters of a run as SQL."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from datetime import date
from typing import Any

from dofrag.domain.corpus import Chunk, Filters, Kind, Publication, SourceKind
from dofrag.store.faults import damaged
from dofrag.store.headings import HeadingReader
from dofrag.store.interface import Candidate
from dofrag.text.fold import fold

PUBLICATION_COLUMNS = """
    p.code, p.published_on, p.edition, p.kind, p.source_kind, p.position, p.section, p.branch, i.name, p.title,
    p.instrument, p.identifiers, p.url, p.scope, s.rel, p.span_start, p.span_end, lower(hex(p.sha256)),
    p.first_published_on,
    p.last_reform_on, p.notice"""
PUBLICATION_TABLES = "publications p JOIN issuers i ON i.id = p.issuer_id JOIN sources s ON s.id = p.source_id"
CHUNK_KIND = "iif(kind = '', 'text', kind)"
"""A chunk's kind: nearly all are text, which is stored as nothing."""
CHUNK_COLUMNS = f'c.id, c.ordinal, c.start, c."end", c.heading, c.provision, {CHUNK_KIND}, c.text, c.publication_id'

_WORD = re.compile(r"\w+")
# Words that issuers share; a filter on them alone says nothing.
_ISSUER_STOP = frozenset({"a", "al", "de", "del", "e", "el", "en", "la", "las", "los", "o", "para", "por", "y"})


def issuer_words(issuer: str) -> tuple[str, ...]:
    """Folded content words of an issuer's name, without repeats. A filter on an issuer holds for a publication when
    each of its words is one of the publication's issuer's: store and index share this rule."""
    return tuple(dict.fromkeys(w for w in _WORD.findall(fold(issuer)) if w not in _ISSUER_STOP))


def publication_from(row: sqlite3.Row | tuple[Any, ...]) -> Publication:
    """From `PUBLICATION_COLUMNS`. Raises IndexMismatch for a row that no writer wrote."""
    try:
        return _publication(row)
    except (ValueError, TypeError) as error:
        raise damaged(f"publication {row[0]!r}", error) from error


def _publication(row: sqlite3.Row | tuple[Any, ...]) -> Publication:
    return Publication(
        code=row[0],
        published_on=date.fromisoformat(row[1]),
        edition=row[2],
        kind=Kind(row[3]),
        source_kind=SourceKind(row[4]),
        position=row[5],
        section=row[6],
        branch=row[7],
        issuer=row[8],
        title=row[9],
        instrument=row[10],
        identifiers=tuple(json.loads(row[11])),
        url=row[12],
        scope=row[13],
        source=row[14],
        span=(row[15], row[16]),
        chars=row[16] - row[15],
        sha256=row[17],
        first_published_on=_date(row[18]),
        last_reform_on=_date(row[19]),
        notice=row[20],
    )


def candidate_from(row: tuple[Any, ...]) -> Candidate:
    """Raises IndexMismatch for a row that no writer wrote."""
    try:
        return Candidate(row[0], row[1], Kind(row[2]), row[3], row[4])
    except ValueError as error:
        raise damaged(f"publication {row[1]!r}", error) from error


def chunk_from(row: tuple[Any, ...], code: str, headings: HeadingReader) -> Chunk:
    """From `CHUNK_COLUMNS`. Raises IndexMismatch for a row that no writer wrote."""
    return Chunk(
        id=row[0],
        code=code,
        ordinal=row[1],
        start=row[2],
        end=row[3],
        heading_path=headings.path(row[8], row[4]),
        provision=row[5],
        kind=row[6],
        text=row[7],
    )


def _date(value: str | None) -> date | None:
    return None if value is None else date.fromisoformat(value)


def array(values: Iterable[object]) -> str:
    """A list as one bound parameter for `json_each(?)`: any length, any characters, no SQL built from data."""
    # SQLite ends a JSON string at a NUL, and would find "10" for "10\0".
    return json.dumps([v.replace("\0", "\ufffd") if isinstance(v, str) else v for v in values])


def where(filters: Filters) -> tuple[str, list[object]]:
    """The conditions on `publications p` that hold for what may be seen under these filters."""
    clauses = ["p.published_on <= ?", "p.scope IN (SELECT value FROM json_each(?))"]
    latest = filters.as_of if filters.published_to is None else min(filters.as_of, filters.published_to)
    params: list[object] = [latest.isoformat(), array(sorted(filters.scopes))]
    clauses.append("p.kind IN (SELECT value FROM json_each(?))")
    params.append(array(filters.kinds))
    if filters.published_from is not None:
        clauses.append("p.published_on >= ?")
        params.append(filters.published_from.isoformat())
    if filters.editions:
        clauses.append("p.edition IN (SELECT value FROM json_each(?))")
        params.append(array(filters.editions))
    if filters.codes is not None:
        clauses.append("p.code IN (SELECT value FROM json_each(?))")
        params.append(array(filters.codes))
    if filters.issuer is not None:
        # An issuer filter without a content word matches nothing: it must not widen to everything.
        words = issuer_words(filters.issuer)
        match = " AND ".join(["instr(words, ?) > 0"] * len(words)) or "0"
        clauses.append(f"p.issuer_id IN (SELECT id FROM issuers WHERE {match})")
        params.extend(f" {word} " for word in words)
    return " AND ".join(clauses), params
