"""What a path says of a file, how an official identifier reads, and how the gazette is cited."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path

from dofrag.domain.corpus import PUBLIC, Kind, Publication, SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.profiles.anatomy import Anatomy, load_anatomy

FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".json": "sidof",
    ".docx": "docx",
    ".doc": "doc",
    ".pdf": "pdf",
}
"""Ending → reader. The reader looks at the contents again, for endings lie."""

_NOT_CORPUS = re.compile(
    r"(?i)(?:readme|license|licence|licencia|changelog|manifest|copying|notice|authors)(?:[._-].*)?$"
)


@lru_cache(maxsize=1)
def dof_anatomy() -> Anatomy:
    """The DOF's anatomy, read once a process."""
    text = resources.files("dofrag.profiles.dof").joinpath("anatomy.toml").read_text(encoding="utf-8")
    return load_anatomy(text, tested=True)


def _day(digits: str, order: str) -> date | None:
    year, month, day = (
        (digits[:4], digits[4:6], digits[6:]) if order == "ymd" else (digits[4:], digits[2:4], digits[:2])
    )
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _parts(rel: str) -> list[str]:
    """Of a path below its folder. Plain text all through: a corpus has 650,000 paths, and each comes here twice."""
    return [part for part in rel.split("/") if part not in ("", ".")]


def _checked(rel: str) -> list[str]:
    parts = _parts(rel)
    if not parts or "\0" in rel or rel[0] == "/" or ".." in parts or "\\" in rel:
        raise SourceUnreadable(
            f"path {rel!r} leaves the folder that was given", hint="give paths below the folder, without `..`"
        )
    return parts


def _split(name: str) -> tuple[str, str]:
    """A file's name without its ending, and the ending with its dot, "" for none."""
    stem, _, ending = name.rpartition(".")
    return (stem, f".{ending}") if stem and ending else (name, "")


def scope_of(rel: str) -> str:
    """Everything below a folder `@NAME` belongs to the restricted collection NAME; the innermost one holds."""
    if "@" in rel:
        for part in reversed(_parts(rel)[:-1]):
            if part.startswith("@") and len(part) > 1:
                return part[1:]
    return PUBLIC


def why_ignored(rel: str) -> str:
    """What a file is that `identify` says None of."""
    parts = _parts(rel)
    name = parts[-1] if parts else ""
    if any(part.startswith(".") for part in parts):
        return "hidden"
    if _NOT_CORPUS.match(name):
        return "a manifest, a licence or the like, not a publication"
    if name.startswith("_"):
        return "a catalogue or a note beside the publications: its name begins with _"
    suffix = _split(name)[1].lower()
    return f"a file of a kind that is not read ({suffix})" if suffix else "a file without an ending"


def identify(path: Path, rel: str, anatomy: Anatomy) -> SourceFile | None:
    """What the path says of a file; None for one that is none of a corpus's business: hidden, an image, a manifest,
    a catalogue. Raises SourceUnreadable for a path that leaves its folder."""
    parts = _checked(rel)
    name = parts[-1]
    stem, suffix = _split(name)
    suffix = suffix.lower()
    if any(part[0] == "." for part in parts) or suffix not in FORMATS:
        return None
    if name.startswith("_") or _NOT_CORPUS.match(name):
        return None
    rules = anatomy.paths
    common = {"path": path, "rel": rel, "format": FORMATS[suffix], "scope": scope_of(rel)}
    if m := rules.publication.search(name):
        return _from_convention(m, parts[:-1], common, anatomy)
    if (m := rules.edition.match(name)) and not rules.excerpt.match(name):
        return _from_edition(m, name, suffix, common, anatomy)
    code = m["code"] if (m := rules.note.search(stem)) else None
    day: date | None = None
    warnings: tuple[str, ...] = ()
    if m := rules.excerpt.match(name):
        day = _day(m["date"], rules.date_order)
        return SourceFile(**common, published_on=day, edition=m["edition"])  # type: ignore[arg-type]
    if m := rules.dated.search(name):
        day = _day(m["date"], "ymd")
        code = code or m["code"]
        if day is None:
            warnings = (f"no such date in the name: {m['date']}",)
    return SourceFile(**common, code=code, published_on=day, warnings=warnings)  # type: ignore[arg-type]


def _from_convention(m: re.Match[str], folders: list[str], common: dict[str, object], anatomy: Anatomy) -> SourceFile:
    """`YYYY/MM/DDMMYYYY/EDITION/NNN_KIND_YYYYMMDD_EDITION_CODE.ext`; the file's own name is trusted before its
    folders, and a contradiction between them is a warning."""
    warnings = []
    day = _day(m["date"], "ymd")
    if day is None:
        warnings.append(f"no such date in the name: {m['date']}")
    for part in folders:
        if len(part) == 8 and part.isdecimal():
            folder = _day(part, anatomy.paths.date_order)
            if folder is None:
                warnings.append(f"no such date in the path: {part}")
            elif day is None:
                day = folder
            elif folder != day:
                warnings.append(f"the folder says {folder.isoformat()}, the name {day.isoformat()}: took the name")
    return SourceFile(
        **common,  # type: ignore[arg-type]
        code=m["code"],
        position=int(m["position"]),
        kind=Kind(m["kind"]),
        published_on=day,
        edition=m["edition"],
        warnings=tuple(warnings),
    )


def _from_edition(
    m: re.Match[str], name: str, suffix: str, common: dict[str, object], anatomy: Anatomy
) -> SourceFile:
    """A whole edition. Files of one key are conversions of one edition; `rank` says which is read."""
    day = _day(m["date"], anatomy.paths.date_order) or _day(m["date"], "ymd")
    if day is None:
        return SourceFile(**common, warnings=(f"no such date in the name: {m['date']}",))  # type: ignore[arg-type]
    tool = (m["tool"] or "").lower()
    if f".{tool}" == suffix:
        tool = ""
    ranks = anatomy.conversions
    rank = ranks.get(tool, ranks["other"])
    if suffix not in (".md", ".markdown"):
        rank += 100  # marked-up text is cut more surely than a page image's text layer
    return SourceFile(
        **common,  # type: ignore[arg-type]
        rank=rank,
        edition_key=f"{day:%Y%m%d}-{m['edition']}",
        published_on=day,
        edition=m["edition"],
    )


def identifiers(text: str, anatomy: Anatomy) -> tuple[str, ...]:
    """Official identifiers in a text, canonical (upper case, no white space), in order, without repeats: standards
    (`PROY-NOM-035-STPS-2016`, also broken over a line end) and the numbers of agreements, circulars, letters, files
    and tenders (`AR07-016/2024`, `49/2024`)."""
    joined = re.sub(r"-[ \t]*\r?\n[ \t]*(?=[A-Z0-9])", "-", text)
    joined = re.sub(r"[‐‑‒–−]", "-", joined)
    found = [(m.start(), m[0]) for m in anatomy.standard.finditer(joined)]
    found += [(m.start(), m["id"]) for m in anatomy.own_lines.finditer(joined)]
    return tuple(dict.fromkeys(re.sub(r"\s", "", name).upper().rstrip("./-") for _, name in sorted(found)))


def official_url(code: str, published_on: date, anatomy: Anatomy) -> str | None:
    """The gazette's page for a person to read; None for a code that is not one of the gazette's own."""
    if not anatomy.paths.official_code.fullmatch(code):
        return None
    return anatomy.paths.url.format(code=code, date=published_on)


def cite_as(publication: Publication) -> str:
    """`DOF 09/01/2026`; a consolidated law by its name and last reform, never as a publication."""
    if not publication.consolidated:
        return f"DOF {publication.published_on:%d/%m/%Y}"
    if publication.last_reform_on is not None:
        return f"{publication.title}, texto consolidado, última reforma DOF {publication.last_reform_on:%d/%m/%Y}"
    first = publication.first_published_on or publication.published_on
    return f"{publication.title}, texto consolidado, DOF {first:%d/%m/%Y}"
