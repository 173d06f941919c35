"""Text files: encodings, dates, and the reason given for what is no text."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from ingest_helpers import (
    BODY,
    NOTE_PATH,
    PROFILE,
    STEM,
    identify,
    normalised,
    parse_note,
    unreadable,
    write,
)

from dofrag.errors import SourceUnreadable
from dofrag.ingest.parse import parse
from dofrag.ingest.readers.textio import text_lines


@pytest.mark.parametrize(
    "raw",
    [
        BODY.encode(),
        b"\xef\xbb\xbf" + BODY.encode(),
        BODY.encode("cp1252"),
        BODY.encode("utf-16"),
        BODY.encode("utf-16-le"),
        BODY.encode("utf-16-be"),
        BODY.replace("\n", "\r\n").encode(),
        BODY.replace("\n", "\r").encode(),
        BODY.replace("ú", "u\u0301").replace("ñ", "n\u0303").encode(),
        BODY.replace("Sí", "S\x00í\x07\x85").encode(),
    ],
    ids=["utf8", "bom", "cp1252", "utf16", "utf16le", "utf16be", "crlf", "cr", "decomposed", "controls"],
)
def test_every_encoding_gives_the_same_text(tmp_path: Path, raw: bytes) -> None:
    note = parse_note(tmp_path, raw)
    assert note.text == BODY
    assert note.header.title == "ACUERDO por el que se ilumina la señal número uno"


def test_a_file_glued_from_two_encodings(tmp_path: Path) -> None:
    raw = BODY.encode() + "Añadido de otra página.\n".encode("cp1252")
    assert parse_note(tmp_path, raw).text == BODY + "Añadido de otra página.\n"


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) - 1, (1 << 20) + 1])
def test_no_character_is_lost_where_two_reads_meet(tmp_path: Path, size: int) -> None:
    raw = ("a" * (size - 1) + "ñ\r\nfin ").encode() + b"x" * 10 + "\r\nú".encode()
    write(tmp_path, NOTE_PATH, raw)
    assert "".join(text_lines(tmp_path / NOTE_PATH)) == normalised(raw)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\n", "no text"),
        (b" \r\n\t \n" * 400, "no text"),
        (b"x", "no text"),
        (bytes(range(256)) * 40, "binary"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "PNG"),
        (b"\x00\x01\x02" * 2000, "binary"),
    ],
)
@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_what_is_no_text_is_refused_with_a_reason(tmp_path: Path, content: bytes, reason: str, suffix: str) -> None:
    assert reason in unreadable(tmp_path, STEM + suffix, content).message


def test_a_missing_and_a_forbidden_file(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="cannot read"):
        list(parse(identify(tmp_path, NOTE_PATH), PROFILE))
    (tmp_path / NOTE_PATH).mkdir(parents=True)
    with pytest.raises(SourceUnreadable, match="cannot read"):
        list(parse(identify(tmp_path, NOTE_PATH), PROFILE))


def test_no_date_anywhere_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    error = unreadable(tmp_path, "nota.md", BODY.encode())
    assert "no publication date" in error.message
    assert "2026/01/09012026" in (error.hint or "")
    error = unreadable(tmp_path, "2031/001_DOF_20310231_MAT_9700001.md", BODY.encode())
    assert "20310231" in error.message


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("DOF: 23/10/2018\n", date(2018, 10, 23)),
        ("Lunes 7 de marzo de 2011 DIARIO OFICIAL (Primera Sección)\n", date(2011, 3, 7)),
        ("Sábado 1 de setiembre de 2012\nDIARIO OFICIAL\n", date(2012, 9, 1)),
        ("Texto.\nBruma, a los catorce días del mes de junio de dos mil trece.- Rúbrica.\n", date(2013, 6, 14)),
        ("Texto.\nBruma, a 3 de enero de 2014.- El Farolero.- Rúbrica.\n", date(2014, 1, 3)),
    ],
)
def test_the_text_itself_dates_a_note(tmp_path: Path, text: str, day: date) -> None:
    note = parse_note(tmp_path, BODY + text, "nota.md")
    assert note.header.published_on == day
    assert (note.header.notice is not None) == ("Rúbrica" in text)
    assert note.header.code == parse_note(tmp_path, BODY + text, "nota.md").header.code
    assert note.header.url is None
