"""A gazette as small as one can be, with its own profile and parser: for testing what moves publications about.

A file holds publications, each begun by `= CODE`, then header lines `@name value`, then text. Every line is a
chunk. A line that begins with `[art:3]` has that provision; one that begins with `# ` is a heading for what follows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import PUBLIC, Filters, Kind, SourceFile, SourceKind
from dofrag.domain.draft import ChunkDraft, Header, ParsedPublication
from dofrag.errors import SourceUnreadable

FORMATS = {".md": ("md", 1), ".txt": ("txt", 2), ".best": ("best", 0)}
EVERYTHING = Filters(as_of=date.max, kinds=tuple(Kind))


class TinyProfile:
    """What the pipeline needs of a profile. `20240412-MAT.any.md` is a conversion of an edition."""

    name = "tiny"
    version = "1"

    def __init__(self, version: str = "1") -> None:
        self.version = version

    def scope_of(self, rel: str) -> str:
        return next((part[1:] for part in rel.split("/")[:-1] if part.startswith("@")), PUBLIC)

    def why_ignored(self, rel: str) -> str:
        return "of no known kind"

    def identify(self, path: Path, rel: str) -> SourceFile | None:
        name = path.name
        if path.suffix not in FORMATS or name.startswith("_"):
            return None
        if path.stat().st_size == 0:
            raise SourceUnreadable(f"{name} is empty")
        format_, rank = FORMATS[path.suffix]
        edition = name.split(".")[0] if name[:8].isdigit() and name[8:9] == "-" else None
        return SourceFile(
            path=path,
            rel=rel,
            format=format_,
            rank=rank + name.count("worse"),
            edition_key=edition,
            code=None if edition else name.split(".")[0].split("~")[0],
            scope=self.scope_of(rel),
        )


def tiny_parse(source: SourceFile, profile: Any) -> Iterator[ParsedPublication]:
    text = source.path.read_text(encoding="utf-8")
    if text.startswith("FAIL"):
        raise SourceUnreadable(f"{source.path.name}: told to fail")
    if text.startswith("BUG"):
        raise RuntimeError("a bug in a reader")
    if text.startswith("DIE"):
        os._exit(9)
    parts = text.split("\n= ")
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        yield _publication(source, ("" if i == 0 else "= ") + part + ("" if last else "\n"))


def _publication(source: SourceFile, text: str) -> ParsedPublication:
    lines = text.splitlines(keepends=True)
    values: dict[str, str] = {}
    for line in lines:
        if line.startswith("@"):
            name, _, value = line[1:].strip().partition(" ")
            values[name] = value
    code = lines[0].removeprefix("= ").strip()
    header = Header(
        code=code,
        published_on=date.fromisoformat(values.get("date", "2024-01-10")),
        edition=values.get("edition", "MAT"),
        kind=Kind(values.get("kind", "DOF")),
        source_kind=SourceKind.PUBLICATION,
        position=int(values.get("position", "1")),
        section=None,
        branch=None,
        issuer=values.get("issuer", "SECRETARÍA DE PRUEBA"),
        title=values.get("title", f"AVISO {code}"),
        instrument=None,
        identifiers=tuple(values["id"].split(",")) if "id" in values else (),
        url=None,
        scope=values.get("scope", PUBLIC),
        source=source.rel,
    )
    return ParsedPublication(header, _chunks(lines))


def _chunks(lines: list[str]) -> Iterator[ChunkDraft]:
    at = 0
    headings: tuple[str, ...] = ()
    for ordinal, line in enumerate(lines):
        provision = line[1 : line.index("]")] if line.startswith("[") else None
        if line.startswith("# "):
            headings = (line[2:].strip(),)
        yield ChunkDraft(
            ordinal=ordinal,
            start=at,
            end=at + len(line),
            heading_path=headings,
            provision=provision,
            kind="text",
            text=line,
        )
        at += len(line)


def write(folder: Path, name: str, *lines: str, code: str | None = None, **values: str) -> Path:
    """One file with one publication; its code is the file name's unless `code` is given."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    head = [f"= {code or path.name.split('.')[0].split('~')[0]}", *(f"@{k} {v}" for k, v in values.items())]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return path


def small_corpus(folder: Path, count: int = 40) -> None:
    """`count` publications in several folders, one edition in three conversions, one code in two formats."""
    for i in range(count):
        lines = [f"línea {i} {j} del agua potable y del ruido número {i * j}" for j in range(1 + i % 7)]
        write(folder, f"{i % 5}/{1000 + i}.md", *lines, date=f"2024-01-{1 + i % 28:02d}", title=f"ACUERDO número {i}")
    edition = "= E-1\n@date 2024-04-12\nprimero\n= E-2\n@date 2024-04-12\nsegundo\n"
    for name in ("20240412-MAT.a.md", "20240412-MAT.worse.md", "20240412-MAT.b.txt"):
        (folder / name).write_text(edition + name + "\n", encoding="utf-8")
    write(folder, "2000.md", "texto en un formato")
    write(folder, "2000.txt", "texto en otro formato")
    (folder / "MANIFEST.tsv").write_text("nothing of ours\n", encoding="utf-8")
