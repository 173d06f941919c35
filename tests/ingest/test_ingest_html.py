"""Pages of the site and notes of the SIDOF service."""

# ruff: noqa: E501  (samples of pages stay on their lines)
from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import (
    PROFILE,
    STEM,
    parse_all,
    parse_note,
    unreadable,
    write,
)

from dofrag.errors import SourceUnreadable
from dofrag.ingest.parse import parse
from dofrag.ingest.readers.html import read_html

PAGE = """<!DOCTYPE html><html><head><title>Gaceta</title>
<meta http-equiv="content-type" content="text/html; charset=ISO-8859-1"><script>var x = "no";</script></head><body>
<table><tr><td><a href="/menu">Menú</a></td></tr></table>
<table><tr><td class='txt'><b>DOF: 04/03/2031</b></td></tr><tr><td><div id='DivDetalleNota'>
<html xmlns="x"><head><meta charset=utf-8><title>ACUERDO por el que se ilumina la se&ntilde;al.</title></head><body>
<table width='100%'><tr><td><h1 class='Titulo_1'><span>ACUERDO</span> <span>por el que se ilumina la señal.</span></h1>
<h2 class='Titulo_2'>Al margen un sello con el Escudo Nacional, que dice: Estados Unidos Mexicanos.- Secretaría de Faroles.</h2>
<div class='Texto'>PRIMERO. Se &quot;ilumina&quot; la
   señal &amp; ya.<br>Segundo renglón.</div>
<table><tr><td>Zona</td><td>Cuota|1</td></tr><tr><td>A</td><td>2.50</td></tr></table>
<div><div>Anidado <b>sin cerrar</div></td></tr></table></body></html>
<table><tr><td>En el documento que usted está visualizando puede haber texto, caracteres u objetos</td></tr></table></div>
</td></tr></table><a href='/nota_detalle.php?codigo=5700123&fecha=04/03/2031&print=true'>x</a>
<p>Tipo de Cambio al 25/04/2026</p></body></html>"""


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_page_of_the_site(tmp_path: Path, encoding: str) -> None:
    note = parse_note(tmp_path, PAGE.encode(encoding), "pagina.html")
    header = note.header
    assert (header.code, header.published_on) == ("5700123", date(2031, 3, 4))
    assert (header.issuer, header.title) == ("Secretaría de Faroles", "ACUERDO por el que se ilumina la señal")
    assert header.url == "https://www.dof.gob.mx/nota_detalle.php?codigo=5700123&fecha=04/03/2031"
    assert note.text == (
        "ACUERDO por el que se ilumina la señal.\nAl margen un sello con el Escudo Nacional, que dice: Estados Unidos "
        'Mexicanos.- Secretaría de Faroles.\nPRIMERO. Se "ilumina" la señal & ya.\nSegundo renglón.\n'
        "| Zona | Cuota¦1 |\n| A | 2.50 |\nAnidado sin cerrar\n"
    )


def test_a_page_that_only_points_elsewhere_is_titled_by_what_it_points_at(tmp_path: Path) -> None:
    page = (
        "<html><body><b>DOF: 04/03/2031</b><div id='DivDetalleNota'><html><head><title>Documento sin título</title></head>"
        '<body><p>Para consultar la <strong>"Resolución de Faroles para 2031"</strong>, dar clic.</p></body></html></div>'
        "<a href='/nota_detalle.php?codigo=5700124&fecha=04/03/2031'>x</a></body></html>"
    )
    header = parse_note(tmp_path, page, "pagina.html").header
    assert (header.title, header.code) == ("Resolución de Faroles para 2031", "5700124")


@pytest.mark.parametrize(
    "page",
    [
        "<html>",
        "<html><body></body></html>",
        "<div id='DivDetalleNota'></div>",
        "<html><body><script>x</script></body>",
    ],
)
def test_a_page_without_a_note(tmp_path: Path, page: str) -> None:
    assert "no text" in unreadable(tmp_path, STEM + ".html", page.encode()).message


def test_an_error_page_is_no_document(tmp_path: Path) -> None:
    page = b"<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>"
    for suffix in (".html", ".doc", ".docx"):
        assert "error page" in unreadable(tmp_path, STEM + suffix, page).message


def test_depth_is_read_or_refused_but_loses_nothing() -> None:
    page = "<div id='DivDetalleNota'>Antes.{}Hola.{}</div>"
    deep = page.format("<div>" * 1500, "</div>" * 1500)
    assert "".join(b.text for b in read_html(deep, "x")[1]) == "Antes.\nHola.\n"
    with pytest.raises(SourceUnreadable, match="nests too deep"):
        read_html(page.format("<div>" * 30_000, "</div>" * 30_000), "x")


@given(st.text(alphabet="<>/abdivtrp'\" =&;#x1\n!-", max_size=400))
@settings(max_examples=80, deadline=None)
def test_any_markup_gives_blocks_or_a_reason(markup: str) -> None:
    try:
        blocks = list(read_html(f"<div id='DivDetalleNota'>{markup}", "x")[1])
    except SourceUnreadable:
        return
    assert all(b.text.endswith("\n") and b.text.strip() for b in blocks)


def sidof(code: int, **extra: object) -> dict[str, object]:
    return {
        "codNota": code, "fecha": "04-03-2031", "titulo": f"ACUERDO número {code} por el que sí.",
        "nombreCodOrgaUno": "PODER EJECUTIVO", "nombreCodOrgaDos": "SECRETARIA DE FAROLES",
        "cadenaContenido": f"<html><body><p>Texto de la nota {code}.</p></body></html>", **extra,
    }  # fmt: skip


def test_one_sidof_note(tmp_path: Path) -> None:
    (note,) = parse_all(
        write(tmp_path, "nota.json", json.dumps({"messageCode": 200, "Nota": sidof(5700123, edicion="VES")}))
    )
    header = note.header
    assert (header.code, header.published_on, header.edition) == ("5700123", date(2031, 3, 4), "VES")
    assert (header.issuer, header.branch) == ("SECRETARIA DE FAROLES", "PODER EJECUTIVO")
    assert header.title == "ACUERDO número 5700123 por el que sí"


def test_a_day_of_sidof_notes_keys_in_any_case(tmp_path: Path) -> None:
    day = {
        "NotasMatutinas": [sidof(5700123)],
        "notasVespertinas": [{k.upper(): v for k, v in sidof(5700124).items()}, {}],
    }
    found = list(parse(write(tmp_path, "dia.json", json.dumps(day)), PROFILE))
    assert [(p.header.code, p.header.edition) for p in found] == [("5700123", "MAT"), ("5700124", "VES")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"Nota":', "no valid JSON"),
        (b"[" * 100_000, "no valid JSON"),
        (b'{"messageCode": 404}', "no note"),
        (b'{"NotasMatutinas": [{"codNota": 1, "titulo": "X"}]}', "no note"),
        (b'[1, null, "x"]', "no note"),
    ],
)
def test_json_that_holds_no_note(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in unreadable(tmp_path, "dia.json", content).message
