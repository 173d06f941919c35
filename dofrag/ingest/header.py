"""Issuer, title and the rest of a publication's header, from its first lines.

The gazette prints section, branch, agency, title, seal. Converters keep that order, not its marks: headings, bold
spans, or one line for all of it. A seal, a branch or a fragment of the body is never a title or an issuer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from dofrag.domain.records import dataclass
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.lines import bare, is_caps
from dofrag.ingest.segment import opens_title
from dofrag.profiles.anatomy import Anatomy
from dofrag.text.fold import fold

# E D I C T O. The look behind stands after the first letter, so that the engine skips to capitals.
_SPACED = re.compile(r"[A-ZÁÉÍÓÚÑÜ](?<!\w\w)(?: [A-ZÁÉÍÓÚÑÜ]){3,}\b")
TITLE_MAX = 1_200
ISSUER_MAX = 300
_TAIL = " .,;:-–—\"'”“"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the first lines say of a publication; "" and None where they say nothing."""

    issuer: str = ""
    title: str = ""
    section: str | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A bare content line and its heading level, 0 for none."""

    text: str
    level: int


def head_lines(blocks: Sequence[Block], anatomy: Anatomy) -> list[HeadLine]:
    """The bare content lines among the first blocks: no blanks, page headers, converters' noise, tables."""
    lines = []
    for block in blocks:
        if block.kind in ("blank", "table"):
            continue
        text = _SPACED.sub(lambda m: m[0].replace(" ", ""), bare(block.text))
        if text and not (
            len(text) < 160 and (anatomy.lines["running"].fullmatch(text) or anatomy.lines["noise"].fullmatch(text))
        ):
            lines.append(HeadLine(text, block.level))
    return lines


def find_names(
    lines: Sequence[HeadLine],
    meta: DocumentMeta,
    anatomy: Anatomy,
    *,
    notice: bool = False,
    issuer_before: str = "",
) -> Names:
    """Issuer and title of a publication from its `head_lines` (a few thousand characters are enough). `notice` is
    True for a third-party notice, whose issuer stands before `EDICTO`, `CONVOCATORIA`…; `issuer_before` is the
    issuer of the publication before it in the same file, which holds where no heading names another."""
    section, branch, rest = _strip_places(lines, anatomy)
    headed = any(line.level in (1, 2) for line in rest)
    if notice and not (headed and any(opens_title(line.text, anatomy) for line in rest[:6] if line.level)):
        issuer, title = _of_notice(rest, anatomy)
    elif headed:
        issuer, title = _of_headings(rest, anatomy)
    else:
        issuer, title = _of_text(rest, anatomy)
    if meta.title and (not headed or not title):
        title = meta.title
    issuer = meta.issuer or issuer or issuer_before or _of_seal(rest, anatomy)
    return Names(
        issuer=clean_issuer(issuer),
        title=clean(title)[:TITLE_MAX],
        section=section or meta.section,
        branch=branch or meta.branch,
    )


def clean(text: str) -> str:
    """A name without the marks around it; white space collapsed, a text that stands there twice once."""
    text = " ".join(text.split()).strip(_TAIL.replace('"', "").replace("“", "").replace("”", ""))
    half = re.fullmatch(r"(.{8,600}?)[. ]{1,2}\1", text)
    text = half[1] if half else text
    if text.count('"') % 2 or (text[:1] in "“\"'" and text[-1:] in "”\"'"):
        text = text.strip(_TAIL)
    return text.rstrip(" .,;:-–—")


def clean_issuer(text: str) -> str:
    """The same for an issuer, whose last full stop may belong to it: `BANCA DEL DELTA, S.A.`"""
    name = clean(text)[:ISSUER_MAX]
    return (
        f"{name}."
        if re.search(r"\b[A-Z]\.(?:\s?[A-Z]\.)*\s?[A-Z]$", name) and f"{name}." in " ".join(text.split())
        else name
    )


def instrument_of(title: str, anatomy: Anatomy) -> str | None:
    """`DECRETO`, `ACUERDO`, `NORMA OFICIAL MEXICANA`…: the kind of act that a title opens with."""
    for name, pattern in anatomy.instruments:
        if m := pattern.match(title):
            word = m.groupdict().get("word")
            return word.upper() if name == "*" and word else name
    return None


def own_identifiers(title: str, lines: Sequence[HeadLine], anatomy: Anatomy) -> str:
    """The text in which a publication names itself: the title where it opens with its own identifier, and short
    lines near the top that are nothing but one (`Acuerdo 49/2024`)."""
    parts = []
    if anatomy.own_title.match(title):
        parts.append(title[:200])
    if m := anatomy.own_lines.match(title):
        parts.append(m[0])
    for line in lines[:30]:
        m = anatomy.own_lines.match(line.text)
        if m and len(line.text) <= m.end() + 12:
            parts.append(m[0])
    return "\n".join(parts)


def find_date(text: str, anatomy: Anatomy) -> date | None:
    """The publication date that a head says: `DOF: 23/10/2018`, a page header, a link to the note."""
    for pattern in anatomy.dates.published:
        for m in pattern.finditer(text):
            if found := anatomy.dates.value(m):
                return found
    return None


def _strip_places(lines: Sequence[HeadLine], anatomy: Anatomy) -> tuple[str | None, str | None, list[HeadLine]]:
    section = branch = None
    rest = []
    for i, line in enumerate(lines):
        text = line.text
        if i < 12 and anatomy.lines["section"].fullmatch(text):
            section = section or text.strip("()")
        elif i < 12 and (m := anatomy.lines["branch"].match(text)) and is_caps(text):
            branch = branch or m[0]
            if left := text[m.end() :].strip():
                rest.append(HeadLine(left, line.level))
        elif not anatomy.lines["disclaimer"].match(text):
            rest.append(line)
    return section, branch, rest


def _is_name(text: str, anatomy: Anatomy) -> bool:
    return (
        len(text) > 2
        and not anatomy.lines["seal"].match(text)
        and not (anatomy.fragment.match(text) and not opens_title(text, anatomy))
        and not any(rank > 1 and pattern.match(text) for rank, pattern in anatomy.structure)
    )


def _of_headings(lines: Sequence[HeadLine], anatomy: Anatomy) -> tuple[str, str]:
    names: list[str] = []
    for line in lines:
        text = line.text
        if line.level == 0:
            if names and opens_title(text, anatomy) and anatomy.openers.match(text):
                return names[-1], text
            continue
        if line.level > 2 and not (opens_title(text, anatomy) and anatomy.openers.match(text)):
            continue
        if not _is_name(text, anatomy):
            continue
        if (line.level == 1 and not opens_title(text, anatomy)) or (
            line.level == 2 and is_caps(text) and anatomy.lines["agency"].match(text) and not names
        ):
            names.append(text)
        else:
            return (names[-1] if names else ""), text
    if not names:
        return _of_text(lines, anatomy)
    return (names[-2] if len(names) > 1 else ""), names[-1]


def _of_notice(lines: Sequence[HeadLine], anatomy: Anatomy) -> tuple[str, str]:
    """`Estados Unidos Mexicanos / Poder Judicial… / EDICTO`: the issuer is what stands before the word."""
    names: list[str] = []
    for i, line in enumerate(lines[:25]):
        text = line.text
        if not names and anatomy.lines["notice_section"].fullmatch(text):
            continue
        m = anatomy.lines["notice_title"].search(text)
        if m and is_caps(text[m.start() : m.end()]):
            title = text[m.start() :][:300]
            following = lines[i + 1].text if i + 1 < len(lines) else ""
            if len(title) < 16 and is_caps(following) and anatomy.lines["continues"].match(following):
                title = f"{title} {following}"
            issuer = _issuer_of([*names, text[: m.start()].strip()], anatomy)
            return issuer or _gazette(lines[i : i + 3], anatomy), title
        if len(text) > 300:
            break
        names.append(text)
    if not names:
        return "", (lines[0].text[:200] if lines else "")
    return _issuer_of(names[:1], anatomy) or names[0], (names[1] if len(names) > 1 else names[0])


def _gazette(lines: Sequence[HeadLine], anatomy: Anatomy) -> str:
    """The gazette's own name, for a notice that it addresses to its users."""
    m = anatomy.lines["gazette"].search(" ".join(line.text[:200] for line in lines))
    return m[0] if m else ""


def _issuer_of(names: Sequence[str], anatomy: Anatomy) -> str:
    kept = ""
    mixed = False
    for name in names:
        folded = fold(name)
        for country in anatomy.country:
            if folded.startswith(country):
                name = name[len(country) :].strip(" ,")
        name = name.strip(" ,")
        if not name or name[0] in "“\"'" or (mixed and is_caps(name)):
            continue
        mixed = mixed or not is_caps(name)
        kept += name if not kept else (f" {name}" if name[0].islower() else f", {name}")
    return kept[:ISSUER_MAX]


def _of_text(lines: Sequence[HeadLine], anatomy: Anatomy) -> tuple[str, str]:
    """Header set in running text, perhaps all on one line with the body."""
    text = " ".join(line.text for line in lines[:12])[:3000]
    if m := anatomy.lines["running"].match(text):
        text = text[m.end() :]
    seal = anatomy.lines["seal"].search(text)
    head = text[: seal.start()] if seal else (lines[0].text if lines else "")
    if not seal and not opens_title(head, anatomy) and len(lines) > 1:
        head = text[:1500]
    for m in re.finditer(rf"(?<![\w]){anatomy.openers.pattern}", head):
        title = head[m.start() :]
        if opens_title(title, anatomy) and (m.start() == 0 or is_caps(head[: m.start()].strip()) or seal):
            before = head[: m.start()].strip()
            if not seal:
                title = next((line.text for line in lines if line.text.startswith(title[:40])), title)
            return (before if is_caps(before) else ""), title
    for i, line in enumerate(lines[:6]):
        if _is_name(line.text, anatomy) and len(line.text) <= 600:
            agency = is_caps(line.text) and anatomy.lines["agency"].match(line.text)
            if agency and i + 1 < len(lines) and len(lines[i + 1].text) <= 600:
                return line.text, lines[i + 1].text
            return "", line.text
    return "", (lines[0].text[:160] if lines else "")


def _of_seal(lines: Sequence[HeadLine], anatomy: Anatomy) -> str:
    """The body that a seal names: `…que dice: Estados Unidos Mexicanos.- Secretaría de Salud.` → the first part that
    is neither the country nor an acronym."""
    text = " ".join(line.text for line in lines[:10])[:4000]
    m = anatomy.lines["seal_says"].search(text)
    if m is None:
        return ""
    parts = re.split(r"\.\s?-\s?|\.\s", m["says"])
    if len(parts) > 1 and anatomy.lines["arms"].search(m[0]):
        parts = parts[1:]  # a seal with the arms of the country names the country first
    for part in parts:
        name = part.strip(" .'\"")
        if name and fold(name) not in anatomy.country and not (is_caps(name) and " " not in name):
            return name
    return ""
