"""JSON of the SIDOF service: one note (`{"Nota": {…}}`), or the notes of a day (`{"NotasMatutinas": […], …}`).

Keys vary in case and spelling from endpoint to endpoint, so they are looked up folded. A note's text is HTML in
`cadenaContenido`; a day's list that carries no texts is an index and is refused with a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.html import read_html
from dofrag.ingest.readers.textio import normalise

BYTES_MAX = 400 << 20
_EDITIONS = {"matutin": "MAT", "vespertin": "VES", "extraordinari": "EXT"}
_TEXT = ("cadenacontenido", "contenidohtml", "contenido", "contenidotxt", "texto", "html")
_ISSUER = ("nombrecodorgados", "nombreorgados", "dependencia", "organismo", "codorgados")
_BRANCH = ("nombrecodorgauno", "nombreorgauno", "poder", "codorgauno")
_HALVES = re.compile("[\ud800-\udfff]")

Note = dict[str, Any]


class SidofReader:
    """Reads `SourceFile`s of format "sidof"."""

    name = "sidof"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        documents = list(self.documents(source))
        if len(documents) > 1:
            raise SourceUnreadable(f"{source.path.name} holds {len(documents)} notes", hint="read them one by one")
        return documents[0]

    def documents(self, source: SourceFile) -> Iterator[tuple[DocumentMeta, Iterator[Block]]]:
        """Each note that carries a text, in the file's order."""
        name = source.path.name
        notes = [n for n in _notes(_load(source), None) if _first(n, _TEXT)]
        if not notes:
            raise SourceUnreadable(
                f"{name} holds no note with a text (`cadenaContenido`)", hint="download each note by its codNota"
            )
        for note in notes:
            yield _document(note, name)


def _load(source: SourceFile) -> Any:
    if source.path.stat().st_size > BYTES_MAX:
        raise SourceUnreadable(f"{source.path.name} has more than {BYTES_MAX >> 20} MB", hint="split it into notes")
    try:
        return json.loads(source.path.read_bytes().decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise SourceUnreadable(f"{source.path.name} is no valid JSON: {error}", hint="download it again") from error


def _notes(value: Any, edition: str | None) -> Iterator[Note]:
    """Every object that looks like a note, two levels deep; the list that it stands in names the edition."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _notes(item, edition)
        return
    if not isinstance(value, dict):
        return
    folded = {re.sub(r"[^a-z]", "", str(k).lower()): v for k, v in value.items()}
    if _first(folded, ("codnota", "titulo", *_TEXT[:2])):
        yield {"edicion": edition, **{k: v for k, v in folded.items() if v is not None}}
        return
    for key, item in folded.items():
        if key.startswith("nota"):
            named = next((code for stem, code in _EDITIONS.items() if stem in key), edition)
            yield from _notes(item, named)


def _first(note: Note, keys: tuple[str, ...]) -> str:
    """The first of these keys that holds something, as text."""
    for key in keys:
        value = note.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            # Half of a surrogate pair is no character: the parser would stop there and lose what follows.
            return _HALVES.sub("\ufffd", str(value)).strip()
    return ""


def _document(note: Note, name: str) -> tuple[DocumentMeta, Iterator[Block]]:
    code = _first(note, ("codnota", "codigo"))
    day = _day(_first(note, ("fecha", "fechapublicacion")))
    known = day is not None or re.fullmatch(r"\d{4,9}", code) is not None  # else the service's own words
    _, blocks = read_html(normalise(_first(note, _TEXT)), name, shell=known)
    edition = _first(note, ("edicion",)).upper()[:3]
    issuer = _first(note, _ISSUER)
    return DocumentMeta(
        title=_first(note, ("titulo",)) or None,
        code=code if re.fullmatch(r"\d{4,9}", code) else None,
        published_on=day,
        edition=edition if edition in _EDITIONS.values() else None,
        issuer=issuer if re.search(r"[^\W\d_]", issuer) else None,
        section=_first(note, ("nombreseccion", "seccion", "codseccion")) or None,
        branch=branch if re.search(r"[^\W\d_]", branch := _first(note, _BRANCH)) else None,
    ), blocks


def _day(text: str) -> date | None:
    m = re.match(r"(\d{1,2})[-/](\d{1,2})[-/](\d{4})", text) or re.match(
        r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})", text
    )
    if m is None:
        return None
    day, month, year = (m["d"], m["m"], m["y"]) if "y" in m.re.groupindex else m.groups()
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
