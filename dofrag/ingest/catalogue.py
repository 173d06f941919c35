"""Consolidated laws: the dates that their text and a catalogue beside them give, and the notices they carry."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.ingest.interface import Block
from dofrag.profiles.anatomy import Anatomy

CATALOGUE_MAX = 16 << 20
"""Bytes of a catalogue that are read at most; a longer one is no catalogue."""
NOTICE_MAX = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class LawDates:
    """`first` published, `last` reformed; None where nothing says it."""

    first: date | None = None
    last: date | None = None
    name: str | None = None


@lru_cache(maxsize=8)
def _catalogue(
    path: Path, mtime_ns: int, size: int, keys: tuple[str, str, str, str]
) -> Mapping[str, tuple[str, str, str]]:
    del mtime_ns  # part of the cache's key: a changed catalogue is read again
    if size > CATALOGUE_MAX:
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig", errors="replace"))
    except (OSError, ValueError):
        return {}  # a broken catalogue takes nothing away: the text itself is asked
    if not isinstance(rows, list):
        return {}
    key, *rest = keys
    return {str(r[key]): tuple(str(r.get(k) or "") for k in rest) for r in rows if isinstance(r, dict) and r.get(key)}  # type: ignore[misc]


def catalogue_dates(path: Path, anatomy: Anatomy) -> LawDates | None:
    """What the catalogue beside a file says of it; None when there is none or it does not list the file."""
    beside = path.parent / anatomy.paths.catalogue
    try:
        stat = beside.stat()
    except OSError:
        return None
    keys = tuple(anatomy.catalogue_keys[k] for k in ("key", "name", "first", "last"))
    row = _catalogue(beside, stat.st_mtime_ns, stat.st_size, keys).get(path.stem)
    if row is None:
        return None
    name, first, last = row
    return LawDates(first=_one(first, anatomy), last=_one(last, anatomy), name=name or None)


def _one(text: str, anatomy: Anatomy) -> date | None:
    m = anatomy.dates.any.search(text)
    return anatomy.dates.value(m) if m else None


def text_dates(head: str, anatomy: Anatomy) -> LawDates:
    """First publication and last reform as a law's own head states them."""
    law = anatomy.consolidated
    first = last = None
    if m := law.last.search(head):
        last = _date_in(head[m.end() : m.end() + 60], anatomy)
    for m in law.first.finditer(head):
        if last is not None and law.last.match(head, max(0, m.start() - 20), m.end() + 4):
            continue
        first = _date_in(head[m.end() : m.end() + 160], anatomy)
        break
    return LawDates(first=first, last=last)


def last_amendment(blocks: Iterable[Block], anatomy: Anatomy) -> date | None:
    """The newest date in the reform notes of a text (`Artículo reformado DOF 17-12-2015`)."""
    newest: date | None = None
    for block in blocks:
        for m in anatomy.consolidated.amended.finditer(block.text):
            for d in anatomy.dates.any.finditer(block.text, m.start(), m.end() + 120):
                value = anatomy.dates.value(d)
                if value is not None and (newest is None or value > newest):
                    newest = value
    return newest


def _date_in(text: str, anatomy: Anatomy) -> date | None:
    found = [
        (m.start(), anatomy.dates.value(m)) for p in (anatomy.dates.long, anatomy.dates.any) for m in p.finditer(text)
    ]
    dated = sorted((at, value) for at, value in found if value is not None)
    return dated[0][1] if dated else None


def head_notice(head: str, anatomy: Anatomy) -> str | None:
    """A notice of invalidity, abrogation or deferred force in a law's own head, as it stands there."""
    m = anatomy.consolidated.notice.search(head)
    if m is None:
        return None
    start = max(head.rfind("\n", 0, m.start()), head.rfind(". ", 0, m.start()) + 1) + 1
    start = max([start, *(mark.end() for mark in anatomy.consolidated.mark.finditer(head, start, m.start()))])
    end = head.find("\n", m.end())
    text = " ".join(re.sub(r"[>*]", "", head[start : end if end >= 0 else len(head)]).split())
    return text[:NOTICE_MAX] or None


def law_issuer(head: str, anatomy: Anatomy) -> str:
    """Who issued a law, as its promulgation says; "" when it does not."""
    for name, pattern in anatomy.consolidated.issuers:
        if pattern.search(head):
            return name
    return ""


def law_slug(path: Path, rel: str) -> str:
    """What a law's code is made of: its file's name up to the first `_`, as in `LFT_ley_federal_del_trabajo.md`;
    where another file of the folder shares that, six digits that tell them apart."""
    short = re.sub(r"[^A-Za-z0-9-]+", "-", path.stem.split("_", 1)[0]).strip("-").upper()
    told_apart = hashlib.sha256(os.fsencode(path.stem if short else rel)).hexdigest()[:6].upper()
    if not short:
        return told_apart
    alike = _stems(path.parent, path.parent.stat().st_mtime_ns).get(path.stem.split("_", 1)[0], 0)
    return f"{short}-{told_apart}" if alike > 1 else short


@lru_cache(maxsize=4)
def _stems(folder: Path, mtime_ns: int) -> Mapping[str, int]:
    """How many files of a folder, endings apart, begin with each short name (`LFT_…`)."""
    del mtime_ns  # part of the cache's key
    stems = {file.stem for file in folder.iterdir() if "_" in file.name}
    return Counter(stem.split("_", 1)[0] for stem in stems)
