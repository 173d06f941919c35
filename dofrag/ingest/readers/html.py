"""Pages of the gazette's site and bare notes in HTML.

A `nota_detalle` page is a shell (menus, calendars, scripts) around `#DivDetalleNota`, which holds one or more whole
HTML documents and layout tables. Only what stands in that element is the note; a page without it is read whole.
The charset that a page declares is not believed: bytes that are UTF-8 are read as UTF-8.

The normalised text is this reader's text: one line a paragraph or heading, a pipe row a table row (a table that is
only layout is unwrapped), entities resolved, white space collapsed, script and style dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from dofrag.domain.corpus import SourceFile
from dofrag.errors import SourceUnreadable
from dofrag.ingest.interface import Block, DocumentMeta
from dofrag.ingest.readers.errorpage import is_error_page
from dofrag.ingest.readers.tables import pipe_rows
from dofrag.ingest.readers.textio import decode, normalise, sniff_encoding

if TYPE_CHECKING:
    from lxml.etree import _Element

BYTES_MAX = 400 << 20
"""A larger page is refused: the parser holds it in memory as a tree."""

_NESTED = re.compile(
    r"(?i)<!doctype[^>]{0,400}>|</?(?:html|body)\b[^>]{0,1000}>|<meta\b[^>]{0,1000}>|<\?xml[^>]{0,200}\?>"
)
_UNDEFINED = re.compile(r"(?<=>)undefined(?=<|\s*$)")
_CODE = re.compile(r"nota_detalle\w*\.php\?codigo=(\d{5,8})(?:&(?:amp;)?fecha=(\d{1,2})/(\d{1,2})/(\d{4}))?")
_SIDOF_CODE = re.compile(r"sidof\.segob\.gob\.mx/notas/(\d{5,8})")
_PAGE_DATE = re.compile(r"DOF:\s*(\d{1,2})/(\d{1,2})/(\d{4})")
_DIV_ID = "DivDetalleNota"
_SKIP = frozenset({"script", "style", "noscript", "head", "select", "iframe", "object", "form", "template"})
_HEADINGS = {f"h{i}": i for i in range(1, 7)}
# The site's converter gives Word's style names as classes.
_CLASSES = {"titulo_1": 2, "titulo1": 2, "titulo 1": 2, "cabeza": 1, "titulo_2": 3, "titulo2": 3, "anotacion": 4}
_BREAKING = frozenset(
    {
        "p",
        "div",
        "li",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "br",
        "hr",
        "table",
        "tr",
        "td",
        "th",
        "section",
        "article",
        "center",
        "blockquote",
        "pre",
        "tbody",
        "thead",
        "tfoot",
        "caption",
        "header",
        "footer",
        "form",
        "fieldset",
        "address",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "html",
        "body",
        "title",
    }
)
_DISCLAIMER = re.compile(
    r"(?i)en el documento que usted est. visualizando puede haber texto"
    r"|el contenido, forma y alcance de los documentos publicados"
)
_FOOT = re.compile(r"(?i)en el documento que usted est(?:á|&aacute;|.) visualizando puede haber")


class HtmlReader:
    """Reads `SourceFile`s of format "html", and Word files that are pages."""

    name = "html"

    def read(self, source: SourceFile) -> tuple[DocumentMeta, Iterator[Block]]:
        size = source.path.stat().st_size
        if size > BYTES_MAX:
            raise SourceUnreadable(
                f"{source.path.name} has {size >> 20} MB, more than a page may have ({BYTES_MAX >> 20})",
                hint="convert it to Markdown",
            )
        raw = source.path.read_bytes()
        encoding, skip = sniff_encoding(raw[:65_536], source.path.name)
        text = decode(raw[skip:]) if encoding == "utf-8" else raw[skip:].decode(encoding, "replace")
        return read_html(normalise(text), source.path.name, loose=source.format != "html")


def read_html(
    text: str, name: str, *, loose: bool = False, shell: bool = False
) -> tuple[DocumentMeta, Iterator[Block]]:
    """A page's text → its metadata and blocks. `loose` marks a page that was saved as a Word file, `shell` one that
    came in an envelope with a code or a date. A server's error page is refused."""
    from lxml import html

    note, titles, frame = _note(text)
    parser = html.HTMLParser(huge_tree=True)
    try:
        root = html.fragment_fromstring(note, create_parent="div", parser=parser)
    except (ValueError, AssertionError) as error:  # lxml's own errors are ValueErrors
        raise SourceUnreadable(f"{name} is no page that can be parsed: {error}", hint="download it again") from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        # libxml2 drops what lies deeper than 2,048 elements; nothing may be lost in silence
        raise SourceUnreadable(f"{name} nests too deep to be parsed whole", hint="convert it to Markdown")
    blocks = [b for b in _blocks(root) if not _DISCLAIMER.match(b.text)]
    plain = "".join(b.text for b in blocks)
    if not plain.strip():
        raise SourceUnreadable(f"{name} holds no note: the page has no text", hint="download it again")
    meta = _meta(frame, note, titles, root, plain)
    gazette = shell or _DIV_ID in text or meta.code is not None or meta.published_on is not None
    if is_error_page("\n".join(titles) + "\n" + plain if not gazette else plain, text, gazette=gazette, loose=loose):
        raise SourceUnreadable(f"{name} is an error page of the server, not a note", hint="download it again")
    return meta, iter(blocks)


def _note(text: str) -> tuple[str, list[str], str]:
    """The note's own markup, the titles of its nested documents, and the page around it."""
    at = text.find(_DIV_ID)
    start = text.find(">", at) + 1 if at >= 0 else 0
    note, shell = text[start:], text[:start]
    if start:
        end = _FOOT.search(note)  # surer than counting: the site's own markup leaves elements open
        cut = min(_end_of_div(note), end.start() if end else len(note))
        shell += note[cut:]
        note = note[:cut]
    else:
        shell = text
    titles = re.findall(r"(?is)<title[^>]{0,200}>(.{0,2000}?)</title>", note)
    note = re.sub(r"(?is)<title[^>]{0,200}>.{0,2000}?</title>", "", note)
    note = re.sub(r"(?i)</?head\b[^>]{0,200}>", "", note)
    if note.count("undefined<") > 50:  # a page written out by a script that joined with `undefined`
        note = _UNDEFINED.sub("\n", note)
    return _NESTED.sub("\n", note), titles, shell


def _end_of_div(note: str) -> int:
    depth = 1
    for m in re.finditer(r"(?i)<(/?)div\b", note):
        depth += -1 if m[1] else 1
        if not depth:
            return m.start()
    return len(note)


def _blocks(root: _Element) -> Iterator[Block]:
    """Walk without recursion: pages nest as deep as they like."""
    buffer: list[str] = []
    level, style = 0, ""
    stack: list[tuple[_Element, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        tag = node.tag.lower() if isinstance(node.tag, str) else ""
        if leaving:
            if tag in _BREAKING:
                yield from _flush(buffer, level, style)
                level, style = 0, ""
            if node.tail and node is not root:
                buffer.append(node.tail)
            continue
        if not tag or tag in _SKIP:
            if node.tail:
                buffer.append(node.tail)
            continue
        if tag in _BREAKING:
            yield from _flush(buffer, level, style)
            level, style = _level(node, tag), ""
        if tag == "table" and _is_data(node):
            yield from pipe_rows(_rows(node))
            if node.tail:
                buffer.append(node.tail)
            continue
        if tag in ("b", "strong") and not "".join(buffer).strip():
            style = "bold"
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node))
        if node.text:
            buffer.append(node.text)
    yield from _flush(buffer, level, style)


def _level(node: _Element, tag: str) -> int:
    by_class = _CLASSES.get((node.get("class") or "").strip().lower())
    return by_class or _HEADINGS.get(tag, 0)


def _flush(buffer: list[str], level: int, style: str) -> Iterator[Block]:
    text = " ".join("".join(buffer).split())
    buffer.clear()
    if text:
        yield Block("heading" if level else "paragraph", text + "\n", level, style)


def _is_data(table: _Element) -> bool:
    """Whether a table holds data: two columns or more in two rows or more, and no table or long prose within."""
    if table.find(".//table") is not None:
        return False
    rows = [[c for c in r if isinstance(c.tag, str) and c.tag in ("td", "th")] for r in table.iter("tr")]
    wide = [r for r in rows if len([c for c in r if _text(c).strip()]) > 1]
    return len(rows) > 1 and len(wide) > 1


def _rows(table: _Element) -> Iterator[list[str]]:
    for row in table.iter("tr"):
        yield [" ".join(_text(c).split()) for c in row if isinstance(c.tag, str) and c.tag in ("td", "th")]


def _meta(shell: str, note: str, titles: list[str], root: _Element, plain: str) -> DocumentMeta:
    from html import unescape

    code = published = None
    if m := _CODE.search(shell):
        code = m[1]
        published = _day(m[2], m[3], m[4]) if m[2] else None
    if m := _PAGE_DATE.search(shell):
        published = _day(m[1], m[2], m[3]) or published
    if code is None and (links := _CODE.findall(note)):  # a shell that the note's open elements swallowed
        code, *parts = links[-1]
        published = published or (_day(*parts) if parts[0] else None)
    if code is None and (m := _SIDOF_CODE.search(shell)):
        code = m[1]
    names = [" ".join(unescape(t).split()) for t in titles]
    title = next((t for t in names if len(t) > 8 and not re.match(r"(?i)documento sin t|untitled|dof\b", t)), None)
    if len(plain) < 600:  # a note that only points at its text: it names it in bold
        strong = [" ".join(_text(e).split()) for e in root.iter("strong", "b")]
        title = title or next((t for t in strong if len(t) > 8), None)
    return DocumentMeta(title=title, code=code, published_on=published)


def _text(node: _Element) -> str:
    return "".join(str(part) for part in node.itertext())


def _day(day: str, month: str, year: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
