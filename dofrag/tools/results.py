"""How results look: short headings and snippets, and the publication data that goes along once per publication."""

from __future__ import annotations

from collections.abc import Sequence

from dofrag.domain.corpus import Passage, Publication
from dofrag.store.interface import OutlineEntry
from dofrag.tools.contract import JsonObject, Pointer

FIRST_WORDS = 70
TITLE_MAX = 160
HEADING_MAX = 120


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word, with an ellipsis that says so."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut else cut) + "…"


def source_line(publication: Publication) -> JsonObject:
    """Publication data as a planner sees it, given once per publication in an envelope's `sources`."""
    line: JsonObject = {
        "title": shorten(publication.title, TITLE_MAX),
        "issuer": publication.issuer,
        "date": publication.published_on.isoformat(),
        "edition": publication.edition,
        "kind": str(publication.kind),
    }
    if publication.consolidated:
        line["consolidated"] = True
    return line


def heading_line(heading_path: tuple[str, ...]) -> str:
    return shorten(" › ".join(heading_path[-2:]), HEADING_MAX)


def pointer_to(passage: Passage, snippet: str) -> Pointer:
    chunk = passage.chunk
    return Pointer(chunk.id, chunk.code, chunk.heading_path, chunk.provision, snippet)


def pointers_of(code: str, entries: Sequence[OutlineEntry]) -> tuple[Pointer, ...]:
    """Entries of a publication's outline as pointers, each with its first words."""
    return tuple(
        Pointer(e.chunk_id, code, e.heading_path, e.provision, shorten(e.first_words, FIRST_WORDS)) for e in entries
    )
