"""Bytes of any encoding → normalised text, as a stream of bounded lines.

**Normalised text** of a Markdown or plain text file is its decoded text where, and only where,

1. the byte order mark is gone;
2. `\\r\\n` and lone `\\r` are `\\n`;
3. control characters (C0 but tab and line feed, DEL, C1) and zero-width no-break spaces are gone;
4. what is left is in Unicode form NFC.

Nothing else is changed or dropped: Markdown marks, pandoc attributes and white space are text like any other.

Encoding: a byte order mark decides; else UTF-8; a line that is not valid UTF-8 is read as Windows-1252 (the gazette's
older files, and pages that were glued together from both). UTF-16 without a mark is recognised by its zero bytes.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from dofrag.errors import SourceUnreadable

SAMPLE = 65_536
READ = 1 << 20
LINE_MAX = 32_768
"""Characters of one yielded line at most; a longer line comes in several pieces, cut behind white space."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
_BINARY = bytes([*range(9), 11, *range(14, 32), 127])
_C0 = bytes([*range(9), 11, 12, *range(14, 32), 127])
_COMMON = bytes([9, 10, *range(32, 127), *range(0x80, 0xC0), 0xC2, 0xC3, 0xE2])
# Of what is written with these bytes: C1 controls, and all of U+2000–2FFF but quotation marks, dashes and the like.
# Two patterns, each with a literal beginning, are found ten times as fast as one.
_C1 = re.compile(b"\xc2[\x80-\x9f]")
_ODD = re.compile(b"\xe2(?:[^\x80]|\x80[\x80\x81])")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_SPACED_LINES = re.compile(r"[^\n]+\n{0,3}|\n+")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP container (DOCX?)"),
    (b"\xd0\xcf\x11\xe0", "an old Word document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
)


def read_sample(path: Path, size: int = SAMPLE) -> bytes:
    """The first bytes of a file. Raises SourceUnreadable for one that is missing, no file, unreadable or empty."""
    try:
        with path.open("rb") as file:
            sample = file.read(size)
    except OSError as error:
        raise SourceUnreadable(
            f"cannot read {path.name}: {error.strerror or error}", hint="check its rights"
        ) from error
    if not sample:
        raise SourceUnreadable(f"{path.name} is empty (0 bytes)", hint="download it again")
    return sample


def sniff_encoding(sample: bytes, name: str = "file") -> tuple[str, int]:
    """Encoding and length of the byte order mark. Raises SourceUnreadable for bytes that are no text."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return encoding, len(bom)
    for magic, what in _MAGIC:
        if sample.startswith(magic):
            raise SourceUnreadable(
                f"{name} is {what}, not text", hint="give it its own ending, or convert it to Markdown"
            )
    head = sample[:8192]
    zeros = head.count(0)
    if zeros > len(head) * 0.2:
        odd, even = head[1::2].count(0), head[::2].count(0)
        if len(head) > 3 and max(odd, even) > len(head) * 0.3 and min(odd, even) < len(head) * 0.05:
            return ("utf-16-le" if odd > even else "utf-16-be"), 0
    if not _is_written(head):
        raise SourceUnreadable(
            f"{name} holds binary data, not text", hint="download it again or convert it to Markdown"
        )
    return "utf-8", 0


def _is_written(head: bytes) -> bool:
    """Whether bytes are text: hardly a control character, or else, those taken away (they are in normalised text),
    sound UTF-8 with letters in most places, as where a disk left zeros in a file or a converter left page marks."""
    rest = head.translate(None, _BINARY)
    if len(head) - len(rest) <= max(2, len(head) * 0.02):
        return True
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(rest)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return len(rest) * 10 >= len(head) and sum(c.isalnum() or c.isspace() for c in text) > 0.6 * len(text)


def decode(raw: bytes) -> str:
    """UTF-8, and Windows-1252 for the lines that are not. Whole lines only."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(_decode_line(line) for line in raw.splitlines(keepends=True))


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        # Five bytes mean nothing in Windows-1252; Latin-1 makes them control characters, which are dropped.
        return "".join(chr(b) if b in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes([b]).decode("cp1252") for b in line)


def normalise(text: str, *, clean: bool = False) -> str:
    """Rules 2–4 of the module's promise; complete line ends only. `clean`: rule 3 is known to change nothing."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not clean:
        text = _CONTROL.sub("", text)
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return text


def _is_clean(raw: bytes) -> bool:
    """Whether UTF-8 bytes hold nothing that rule 3 takes out: ten times as fast as looking in the decoded text."""
    return len(raw.translate(None, _C0)) == len(raw) and not _C1.search(raw) and codecs.BOM_UTF8 not in raw


def _is_common(raw: bytes) -> bool:
    """Whether UTF-8 bytes are surely normalised as they are: nothing but line feeds, Latin letters and usual signs.
    Nearly all of a corpus is."""
    return not (raw.translate(None, _COMMON) or _C1.search(raw) or _ODD.search(raw))


def _byte_parts(path: Path, skip: int) -> Iterator[bytes]:
    """The file in parts of about a megabyte, each ending behind a line feed; a line longer than a part is cut behind
    a blank, else before its last ASCII byte, so that no character and no composed letter is torn."""
    with path.open("rb") as file:
        file.seek(skip)
        carry = b""
        while data := file.read(READ):
            buffer = carry + data
            cut = buffer.rfind(b"\n") + 1
            if not cut and len(buffer) >= READ:
                cut = max(buffer.rfind(b" "), buffer.rfind(b"\t")) + 1 or _safe_cut(buffer)
            yield buffer[:cut]
            carry = buffer[cut:]
        if carry:
            yield carry


def _safe_cut(buffer: bytes) -> int:
    """Where to cut a megabyte without any blank: before its last ASCII letter, else before its last lead byte."""
    for i in range(len(buffer) - 1, max(0, len(buffer) - 4096), -1):
        if 0x20 < buffer[i] < 0x80:
            return i
    for i in range(len(buffer) - 1, max(0, len(buffer) - 8), -1):
        if buffer[i] >= 0xC0:
            return i
    return len(buffer)


def _wide_parts(path: Path, encoding: str, skip: int) -> Iterator[str]:
    """The same for encodings whose line feeds are not a single byte."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    carry = ""
    with path.open("rb") as file:
        file.seek(skip)
        while data := file.read(READ):
            buffer = carry + decoder.decode(data)
            cut = buffer.rfind("\n") + 1 or (buffer.rfind(" ") + 1 if len(buffer) > READ else 0)
            if not cut and len(buffer) > 2 * READ:
                cut = len(buffer) - 1
            yield buffer[:cut]
            carry = buffer[cut:]
        yield carry + decoder.decode(b"", final=True)


def text_lines(path: Path) -> Iterator[str]:
    """The normalised text of a file, line by line with line ends, no line over LINE_MAX characters; joined, they are
    the whole text. Memory stays bounded whatever the file's size or shape."""
    return _cut(path, _LINES)


def spaced_lines(path: Path) -> Iterator[str]:
    """The same, each line with up to two of the empty lines that follow it; any further ones together."""
    return _cut(path, _SPACED_LINES)


def _cut(path: Path, shape: re.Pattern[str]) -> Iterator[str]:
    for part in _text_parts(path):
        lines = shape.findall(part)
        if max(map(len, lines), default=0) > LINE_MAX:
            lines = [piece for line in lines for piece in pieces(line, LINE_MAX)]
        yield from lines


def _text_parts(path: Path) -> Iterator[str]:
    """Normalised text in parts of about a megabyte, each ending behind a line feed where lines are not that long."""
    encoding, skip = sniff_encoding(read_sample(path), path.name)
    if encoding == "utf-8":
        for raw in _byte_parts(path, skip):
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                yield normalise(decode(raw))
            else:
                yield text if _is_common(raw) else normalise(text, clean=_is_clean(raw))
    else:
        for text in _wide_parts(path, encoding, skip):
            yield normalise(text)


def pieces(text: str, limit: int) -> Iterator[str]:
    """A text in pieces of at most `limit` characters, cut behind white space, else before a plain letter."""
    at = 0
    while len(text) - at > limit:
        cut = max(text.rfind(c, at + limit // 2, at + limit) for c in (" ", "\t", "\n")) + 1
        if not cut:
            cut = at + limit
            while cut > at + limit // 2 and unicodedata.combining(text[cut]):
                cut -= 1
        yield text[at:cut]
        at = cut
    yield text[at:]
