"""Word files and PDFs: what is read, and the reason given for what cannot be."""

# ruff: noqa: E501  (samples of pages stay on their lines)
from __future__ import annotations

import dataclasses
import os
import shutil
import stat
import time
import zipfile
from pathlib import Path

import pytest
from ingest_helpers import (
    STEM,
    identify,
    parse_all,
    parse_note,
    unreadable,
    write,
)

from dofrag.errors import SourceUnreadable
from dofrag.ingest.readers.doc import DocReader
from dofrag.ingest.readers.registry import reader_for


def write_docx(path: Path) -> None:
    import docx
    from docx.enum.style import WD_STYLE_TYPE

    document = docx.Document()
    for name in ("CABEZA", "Titulo 1", "Titulo 2"):
        document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("PODER EJECUTIVO", style="CABEZA")
    document.add_paragraph("SECRETARIA DE FAROLES", style="CABEZA")
    document.add_paragraph("MANUAL de la farola.", style="Titulo 1")
    document.add_paragraph("Al margen un logotipo, que dice: Faroles.", style="Titulo 2")
    document.add_paragraph("Artículo 1.- Se enciende.")
    table = document.add_table(rows=2, cols=2)
    for n, text in enumerate(("Zona", "Hora", "A", "19:00")):
        table.cell(n // 2, n % 2).text = text
    document.add_paragraph("Fin.")
    document.save(str(path))


@pytest.mark.parametrize("suffix", [".docx", ".doc", ".md"])
def test_a_word_file_whatever_its_ending(tmp_path: Path, suffix: str) -> None:
    (tmp_path / STEM).parent.mkdir(parents=True)
    write_docx(tmp_path / (STEM + suffix))
    (note,) = parse_all(identify(tmp_path, STEM + suffix))
    assert (note.header.issuer, note.header.title) == ("SECRETARIA DE FAROLES", "MANUAL de la farola")
    assert note.text.endswith("Artículo 1.- Se enciende.\n| Zona | Hora |\n| A | 19:00 |\nFin.\n")
    assert note.header.branch == "PODER EJECUTIVO"


def test_damaged_word_files(tmp_path: Path) -> None:
    write_docx(tmp_path / "ok.docx")
    whole = (tmp_path / "ok.docx").read_bytes()
    assert "damaged" in unreadable(tmp_path, STEM + ".docx", whole[: len(whole) // 2]).message
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as container:
        container.writestr("otro.txt", "hola")
    assert "no Word document" in unreadable(tmp_path, STEM + ".docx", (tmp_path / "z.zip").read_bytes()).message
    assert "error" in unreadable(tmp_path, STEM + ".doc", b'{"error": "no existe"}').message
    assert "no Word document" in unreadable(tmp_path, STEM + ".doc", b"texto cualquiera, nada de Word").message


OLE = (  # the header and the one name of a directory that a Word document needs
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 20 + b"\xfe\xff\x09\x00" + b"\0" * 480
    + "WordDocument".encode("utf-16-le") + b"\0" * 600
)  # fmt: skip


def test_without_libreoffice_the_reason_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = unreadable(tmp_path, STEM + ".doc", OLE)
    assert error.hint == "install libreoffice or convert to .docx"


def program(tmp_path: Path, script: str) -> str:
    path = tmp_path / "soffice-double"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_conversion_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    source = write(tmp_path, STEM + ".doc", OLE)
    reader = DocReader(program(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; wait"), timeout_s=0.5)
    began = time.monotonic()
    with pytest.raises(SourceUnreadable, match="did not convert"):
        reader.read(source)
    assert time.monotonic() - began < 10
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        try:
            state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        pytest.fail("the converter's child lives on")


def test_a_conversion_that_fails_says_why(tmp_path: Path) -> None:
    source = write(tmp_path, STEM + ".doc", OLE)
    with pytest.raises(SourceUnreadable, match=r"could not convert.*source file could not be loaded"):
        DocReader(program(tmp_path, "echo 'Error: source file could not be loaded' >&2")).read(source)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not on PATH")
def test_a_legacy_word_file(tmp_path: Path) -> None:
    rtf = rb"{\rtf1\ansi ACUERDO por el que se ilumina la se\'f1al.\par Art\'edculo 1.- Se enciende.\par}"
    (note,) = parse_all(write(tmp_path, STEM + ".doc", rtf))
    assert note.header.title == "ACUERDO por el que se ilumina la señal"
    assert "Artículo 1.- Se enciende." in note.text


def pdf(lines: list[str]) -> bytes:
    """A one-page PDF, written by hand: a text layer where there are lines, an empty page where there are none."""
    shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    stream = f"BT /F1 11 Tf 40 700 Td {shown}ET".encode("latin-1") if lines else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for n, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (n, body)
    xref = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % at for at in offsets)
    out += b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % xref
    return bytes(out)


@pytest.mark.parametrize("suffix", [".pdf", ".doc"])
def test_a_pdf_with_a_text_layer(tmp_path: Path, suffix: str) -> None:
    lines = [
        "SECRETARIA DE FAROLES",
        "MANUAL de la farola de la se\xf1al.",
        "Al margen un logotipo, que dice: Faroles.",
        "Fin.",
    ]
    note = parse_note(tmp_path, pdf(lines), STEM + suffix)
    assert (note.header.issuer, note.header.title) == ("SECRETARIA DE FAROLES", "MANUAL de la farola de la señal")
    assert note.text == "".join(f"{line}\n" for line in lines)


def test_pdfs_that_cannot_be_read(tmp_path: Path) -> None:
    assert "no text layer" in unreadable(tmp_path, STEM + ".pdf", pdf([])).message
    assert unreadable(tmp_path, STEM + ".pdf", b"%PDF-1.4\ngarbage")
    assert "no PDF" in unreadable(tmp_path, STEM + ".pdf", b"hola, no soy un PDF").message


def test_the_reader_is_chosen_by_content(tmp_path: Path) -> None:
    source = write(tmp_path, STEM + ".md", "<!DOCTYPE html><html><body><p>Hola.</p></body></html>")
    assert reader_for(source).name == "html"
    source = write(tmp_path, STEM + ".md", "<p>Un párrafo en Markdown.</p>\n\n## ACUERDO por el que sí.\n")
    assert reader_for(source).name == "markdown"
    assert reader_for(dataclasses.replace(write(tmp_path, "a.txt", "hola"), format="text")).name == "text"
