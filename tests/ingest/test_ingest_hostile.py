"""Files that lie: error pages under a document's name, bombs, loops, garbage behind a good mark, odd names."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from ingest_helpers import BODY, NOTE_PATH, PROFILE, STEM, drain, identify, parse_all, parse_note, unreadable, write

from dofrag.errors import SourceUnreadable
from dofrag.ingest.parse import parse
from dofrag.ingest.plan import make_plan
from dofrag.ingest.readers.doc import DocReader, is_plausible
from dofrag.ingest.readers.docx import RATIO_FROM
from dofrag.ingest.readers.registry import reader_for

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
STYLES = (
    f"<w:styles {W}><w:style w:type='paragraph' w:default='1' w:styleId='n'><w:name w:val='Normal'/></w:style>"
    "<w:style w:type='paragraph' w:styleId='t'><w:name w:val='Titulo 1'/></w:style></w:styles>"
)


def p(text: str, style: str = "") -> str:
    mark = f"<w:pPr><w:pStyle w:val='{style}'/></w:pPr>" if style else ""
    return f"<w:p>{mark}<w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, before: str = "", **parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("word/styles.xml", STYLES)
        container.writestr("word/document.xml", f"{before}<w:document {W} {MC}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            container.writestr(name, content)
    return out.getvalue()


ERRORS = [
    "<html><body>Servicio no disponible</body></html>",
    "<html><head><title>Error</title></head><body><h1>Error 404</h1><p>La página no existe.</p></body></html>",
    "<!DOCTYPE html><html><body><p>Ocurrió un problema al procesar la petición. Intente más tarde.</p></body></html>",
    "<html><body><h1>503 Service Unavailable</h1><hr>nginx</body></html>",
    "<html><body><p>Session expired</p></body></html>",
    f"<html><body><h1>Request Rejected</h1><p>{'Your support ID is 1234567890. ' * 40}</p></body></html>",
]


@pytest.mark.parametrize("page", ERRORS)
@pytest.mark.parametrize("suffix", [".html", ".docx", ".doc", ".md", ".json"])
def test_an_error_page_is_none_of_the_gazette(tmp_path: Path, page: str, suffix: str) -> None:
    assert "error page" in unreadable(tmp_path, STEM + suffix, page.encode()).message


@pytest.mark.parametrize("suffix", [".html", ".docx", ".doc", ".md", ".txt", ".json"])
def test_an_error_in_json_is_none_either(tmp_path: Path, suffix: str) -> None:
    for body in (
        {"error": "Servicio no disponible"},
        {"messageCode": 500, "response": "Error"},
        {"titulo": "Error", "contenido": "Servicio no disponible"},
    ):
        assert unreadable(tmp_path, STEM + suffix, json.dumps(body).encode())


@pytest.mark.parametrize(
    "page",
    [
        "<html><body><h1>AVISO de faroles.</h1><p>Se apagan.</p></body></html>",
        "<html><body><p>Se apagan los faroles.</p><p>Bruma, a 3 de enero de 2031.</p></body></html>",
        "<html><body><p>Se apagan los faroles, a tres del mes de enero de dos mil treinta.</p></body></html>",
        "<html><body><div id='DivDetalleNota'><p>Se apagan.</p></div></body></html>",
        f"<html><body><p>{'El farolero apaga cada farol de la calle de la Bruma. ' * 14}</p></body></html>",
    ],
)
@pytest.mark.parametrize("suffix", [".html", ".doc"])
def test_a_short_note_is_no_error_page(tmp_path: Path, page: str, suffix: str) -> None:
    assert parse_note(tmp_path, page, STEM + suffix).text


def test_a_short_note_in_an_envelope_with_a_code_is_no_error_page(tmp_path: Path) -> None:
    note = {"Nota": {"codNota": 5700123, "fecha": "04-03-2031", "cadenaContenido": "<p>Se apagan.</p>"}}
    assert parse_note(tmp_path, json.dumps(note), "nota.json").text == "Se apagan.\n"


def test_a_word_bomb_is_known_by_its_directory(tmp_path: Path) -> None:
    bomb = docx(p("a" * 1000) * (RATIO_FROM // 1000))
    assert len(bomb) < 200_000
    began = time.monotonic()
    assert "unpacks from" in unreadable(tmp_path, STEM + ".docx", bomb).message
    assert time.monotonic() - began < 2


def test_a_large_word_file_is_streamed(tmp_path: Path) -> None:
    rng = random.Random(7)
    body = p("AVISO de faroles.", "t") + "".join(p(f"Farol {rng.random()}.") for _ in range(60_000))
    meta, blocks = reader_for(source := write(tmp_path, STEM + ".docx", docx(body))).read(source)
    assert meta.title is None
    began = time.process_time()
    assert next(iter(blocks)).level == 2
    assert time.process_time() - began < 0.5  # without the rest having been read


def test_a_paragraph_without_end_is_refused(tmp_path: Path) -> None:
    rng = random.Random(7)
    runs = "".join(f"<w:r><w:t>{rng.random()} {'a' * 400}</w:t></w:r>" for _ in range(22_000))
    assert "more than" in unreadable(tmp_path, STEM + ".docx", docx(f"<w:p>{runs}</w:p>")).message


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE w [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE w [<!ENTITY e "texto">]>',
        '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY e "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>',
        "",
    ],
    ids=["external", "internal", "laughs", "undeclared"],
)
def test_no_text_is_lost_behind_an_entity(tmp_path: Path, declared: str) -> None:
    error = unreadable(tmp_path, STEM + ".docx", docx(p("ACUERDO uno. &e; Fin."), declared))
    assert "damaged Word document" in error.message
    assert not declared or "document type" in error.message


def test_every_text_of_a_word_body_comes(tmp_path: Path) -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    box = f"<mc:AlternateContent><mc:Choice><w:p>{run.format('Recuadro.')}</w:p></mc:Choice><mc:Fallback><w:p>{{}}</w:p></mc:Fallback></mc:AlternateContent>"  # noqa: E501
    nested = f"<w:tbl><w:tr><w:tc>{p('Dentro')}</w:tc></w:tr></w:tbl>"
    down = "<w:tcPr><w:vMerge w:val='{}'/></w:tcPr>"
    body = (
        p("AVISO de faroles.", "t")
        + f"<w:sdt><w:sdtContent>{p('Control.')}</w:sdtContent></w:sdt>"
        + f"<w:p><w:ins>{run.format('Puesto ')}</w:ins><w:del><w:r><w:delText>No</w:delText></w:r></w:del>"
        f"<w:smartTag>{run.format('vale.')}</w:smartTag></w:p>"
        + f"<w:p>{run.format('Afuera.')}<w:r>{box.format(run.format('Recuadro.'))}</w:r></w:p>"
        + "<w:p><w:pPr><w:tabs><w:tab w:val='left' w:pos='9'/></w:tabs></w:pPr>"
        "<w:r><w:rPr><w:b/></w:rPr><w:t>Uno</w:t><w:tab/><w:t>dos</w:t></w:r></w:p>"
        + f"<w:tbl><w:tr><w:tc>{down.format('restart')}{p('Zona')}</w:tc><w:tc>{p('A')}{nested}</w:tc></w:tr>"
        f"<w:tr><w:tc>{down.format('continue')}<w:p/></w:tc><w:tc>{p('B')}</w:tc></w:tr></w:tbl>"
    )
    source = write(tmp_path, STEM + ".docx", docx(body))
    blocks = list(reader_for(source).read(source)[1])
    assert "".join(b.text for b in blocks) == (
        "AVISO de faroles.\nControl.\nPuesto vale.\nRecuadro.\nAfuera.\nUno dos\n| Zona | A Dentro |\n| Zona | B |\n"
    )
    assert [b.style for b in blocks if b.text == "Uno dos\n"] == ["bold"]


def test_a_body_of_another_form_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as container:
        container.writestr("word/document.xml", "<document><body><p>Hola</p></body></document>")
    assert "not in the form" in unreadable(tmp_path, STEM + ".docx", out.getvalue()).message


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SOUND = OLE + b"\0" * 20 + b"\xfe\xff\x09\x00" + b"\0" * 480 + "WordDocument".encode("utf-16-le")


def test_garbage_behind_the_mark_of_word_is_refused_without_asking_libreoffice(tmp_path: Path) -> None:
    garbage = random.Random(1).randbytes(5000)
    assert "holds none" in unreadable(tmp_path, STEM + ".doc", OLE + garbage).message
    assert "holds none" in unreadable(tmp_path, STEM + ".doc", OLE + b"Servicio no disponible").message


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not on PATH")
@pytest.mark.parametrize("head", [SOUND, b"{\\rtf1\\ansi "], ids=["ole", "rtf"])
def test_garbage_that_libreoffice_takes_for_text_is_refused(tmp_path: Path, head: bytes) -> None:
    source = write(tmp_path, STEM + ".doc", head + random.Random(1).randbytes(9000))
    with pytest.raises(SourceUnreadable, match=r"LibreOffice could not|no words|holds no text"):
        drain(source)


def test_a_conversion_that_gives_no_words_is_refused(tmp_path: Path) -> None:
    noise = "".join(chr(33 + b % 90) for b in random.Random(2).randbytes(6000)).replace("<", "x").replace("&", "y")
    (tmp_path / "noise.docx").write_bytes(docx(p(noise)))
    double = tmp_path / "soffice-double"
    double.write_text(
        '#!/bin/sh\nwhile [ "$1" != --outdir ]; do shift; done\n'
        f'mkdir -p "$2" && cp {tmp_path}/noise.docx "$2/source.docx"\n'
    )
    double.chmod(0o755)
    with pytest.raises(SourceUnreadable, match="no words"):
        DocReader(str(double)).read(write(tmp_path, STEM + ".doc", SOUND))


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        "PRIMERO.......... 14\nSEGUNDO.......... 15\n",
        "| 1,204.50 | 33.1 | 2031 |\n| 9.00 | 1 | -4 |\n",
        "D E C R E T A: SE APAGAN LOS FAROLES",
        "Η Βουλή αποφασίζει και ψηφίζει τον νόμο.",
        "",
    ],
)
def test_writing_is_plausible(text: str) -> None:
    assert is_plausible([text])


def encrypted_pdf(password: str) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def loop_pdf(kids: str, page: str, contents: str) -> bytes:
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count 1 >>",
        f"<< /Type /Page /Parent {page} /MediaBox [0 0 9 9] /Contents 4 0 R "
        "/Resources << /XObject << /X 4 0 R >> >> >>",
        f"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >> "
        f"/Length {len(contents)} >>\nstream\n{contents}\nendstream",
    )
    out = "%PDF-1.4\n" + "".join(f"{n} 0 obj\n{body}\nendobj\n" for n, body in enumerate(objects, 1))
    return (out + "trailer << /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n").encode()


@pytest.mark.parametrize(
    "content",
    [
        encrypted_pdf("secreto"),
        encrypted_pdf("secreto").replace(b"/V 2", b"/V 9"),
        loop_pdf("2 0 R", "2 0 R", ""),
        loop_pdf("3 0 R", "3 0 R", ""),
        loop_pdf("3 0 R", "2 0 R", "/X Do /X Do /X Do"),
        loop_pdf("3 0 R", "2 0 R", "q " * 30_000 + "BT " * 3000 + "/X Do"),
        b"%PDF-1.4\n1 0 obj\n<< /Length 1 0 R >>\nstream\nx\nendstream\nendobj\nstartxref\n9\n%%EOF",
    ],
    ids=["encrypted", "cipher", "kids", "parent", "form", "deep", "length"],
)
def test_bad_pdfs_are_refused_in_bounded_time_and_silence(
    tmp_path: Path, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    assert unreadable(tmp_path, STEM + ".pdf", content).message
    assert time.monotonic() - began < 20
    assert capfd.readouterr() == ("", "")


def test_an_encrypted_pdf_says_so(tmp_path: Path) -> None:
    assert "is encrypted" in unreadable(tmp_path, STEM + ".pdf", encrypted_pdf("secreto")).message


def test_the_pdf_library_is_silent_without_a_handler(tmp_path: Path) -> None:
    """What pytest's log capture hides: the library's own loggers must not reach the last-resort handler."""
    import subprocess
    import sys

    write(tmp_path, STEM + ".pdf", b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\nstartxref\n3\n")
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path; from ingest_helpers import STEM, drain, identify\n"
        "from dofrag.errors import SourceUnreadable\n"
        "try: drain(identify(Path(sys.argv[1]), STEM + '.pdf'))\n"
        "except SourceUnreadable: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent)], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("refused\n", "")


@pytest.mark.parametrize(
    "raw",
    [
        b"\0".join(BODY.encode().partition("señal".encode())),
        BODY.encode() + b"\0" * 600,
        b"\0" * 300 + BODY.encode() + b"Sigue.\n" * 80,
        b"".join(word + b" \0\x0c" for word in BODY.encode().split(b" ")),
    ],
)
def test_zeros_in_a_text_are_taken_out(tmp_path: Path, raw: bytes) -> None:
    note = parse_note(tmp_path, raw)
    assert note.text == raw.translate(None, b"\0\x0c").decode()


@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_binary_stays_refused(tmp_path: Path, suffix: str) -> None:
    for content in (random.Random(3).randbytes(6000), b"\0" * 5000 + b"hola", b"\x01\x02+-/$%" * 900):
        assert "binary" in unreadable(tmp_path, STEM + suffix, content).message


def test_a_folder_whose_name_is_no_utf8_tells_its_files_from_another_s(tmp_path: Path) -> None:
    folders = [tmp_path / "uno", tmp_path / os.fsdecode(b"wei\xff")]
    for folder in folders:
        folder.mkdir()
        (folder / "igual.md").write_text(BODY + "DOF: 04/03/2031\n")
    plan = make_plan(folders, PROFILE, None, skip=tmp_path / "index", fresh=False)
    try:
        assert [rel for rel, _, _ in plan.all_files()] == ["igual.md", "wei%FF/igual.md"]
    finally:
        plan.close()


def test_names_that_are_no_utf8_are_spelled_out_and_indexed(tmp_path: Path) -> None:
    folder = tmp_path / "datos"
    names = [b"se\xf1al_20310304_MAT.md", b"a\\b.md", "línea\nrota.md".encode(), "señal.md".encode()]
    folder.mkdir()
    for name in names:
        (folder / os.fsdecode(name)).write_bytes(BODY.encode() + b"DOF: 04/03/2031\n")
    plan = make_plan([folder], PROFILE, None, skip=tmp_path / "index", fresh=False)
    try:
        files = [plan.file(rel) for rel, _, _ in plan.all_files()]
    finally:
        plan.close()
    assert [f.rel for f in files if f] == ["a%5Cb.md", "línea%0Arota.md", "se%F1al_20310304_MAT.md", "señal.md"]
    for file in files:
        assert file is not None
        assert file.error is None
        assert file.rel.isprintable()
        source = PROFILE.identify(file.path, file.rel)
        assert source is not None
        (note,) = parse_all(source)
        assert note.header.source == file.rel


def test_many_headings_take_linear_time(tmp_path: Path) -> None:
    def seconds(count: int, line: str) -> float:
        source = write(tmp_path, NOTE_PATH, BODY + "".join(line.format(n) for n in range(count)))
        began = time.process_time()
        for publication in parse(source, PROFILE):
            for _ in publication.chunks:
                pass
        return time.process_time() - began

    for line in ("# X\n\n", "###### Farol {}\n", "### Artículo {}\n", "## {}.1 Uno\n", "# SECRETARIA {}\n"):
        small, large = seconds(2_000, line), seconds(16_000, line)
        assert large < 30 * (small + 0.02), line  # eight times the text; a square would take 64 times as long


def test_a_page_that_is_a_note_may_be_named_json(tmp_path: Path) -> None:
    page = "<html><body><h1>AVISO de faroles.</h1><p>Se apagan.</p></body></html>"
    assert identify(tmp_path, STEM + ".json").format == "sidof"
    assert parse_note(tmp_path, page, STEM + ".json").text == "AVISO de faroles.\nSe apagan.\n"


def test_half_a_character_in_json_takes_nothing_with_it(tmp_path: Path) -> None:
    note = '{"Nota": {"codNota": 5700123, "fecha": "04-03-2031", "titulo": "ACUERDO \\ud800 uno.", '
    note += '"cadenaContenido": "<p>Hola \\ud800 mundo\\u0000.</p>"}}'
    found = parse_note(tmp_path, note, "nota.json")
    assert (found.header.title, found.text) == ("ACUERDO \ufffd uno", "Hola \ufffd mundo.\n")
