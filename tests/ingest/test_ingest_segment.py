"""Whole editions and files of several notes are cut into their publications."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from ingest_helpers import Parsed, parse_all, write

from dofrag.domain.corpus import Kind

EDITION = "07052031-MAT.{tool}.md"

PLAIN = """\
No. de edición del mes: 4
Ciudad de México, miércoles 7 de mayo de 2031

CONTENIDO
Secretaría de Faroles
Instituto de Nubes
Avisos
Indice en página 9

2
DIARIO OFICIAL
Miércoles 7 de mayo de 2031
PODER EJECUTIVO
SECRETARIA DE FAROLES
ACUERDO por el que se fija la hora de encendido de los faroles
de la plaza mayor.
Al margen un sello con el Escudo Nacional, que dice: Estados Unidos Mexicanos.- Secretaría de Faroles.
ACUERDO POR EL QUE SE FIJA LA HORA DE ENCENDIDO
Acuerdo 7/2031
PRIMERO. Los faroles se encienden a las 19:00 horas.
SEGUNDO. Este acuerdo entra en vigor mañana.
TRANSITORIO
ÚNICO.- Se deja sin efectos el anterior.
Ciudad de México, a 2 de mayo de 2031.- El Secretario, Luis Mecha.- Rúbrica.
SEGUNDO Convenio Modificatorio que celebran la Secretaría de Faroles y el Estado de Bruma.
Al margen un sello con el Escudo Nacional, que dice: Estados Unidos Mexicanos.- Secretaría de Faroles.
SECRETARIA DE FAROLES
I. DECLARA LA SECRETARÍA QUE:
ANEXO Técnico que se agrega como parte del convenio.
El anexo no es otra publicación.
Firman: Luis Mecha.- Rúbrica.
Miércoles 7 de mayo de 2031
DIARIO OFICIAL
     3
INSTITUTO DE NUBES
ÍNDICE nacional de nubosidad.
Al margen un logotipo, que dice: Instituto de Nubes.
ÍNDICE NACIONAL DE NUBOSIDAD
El índice de abril es de 12.5 puntos.
Atentamente.- Rúbrica.

SECCION DE AVISOS

AVISOS JUDICIALES
Estados Unidos Mexicanos
Poder Judicial de la Federación
Juzgado Primero de Lluvias
EDICTO
A Juana Niebla:
Se le emplaza.
Rúbrica.
(R.- 900001)
Empresa de Paraguas, S.A. de C.V.
CONVOCATORIA
Se convoca a los accionistas.
(R.- 900002)
9
DIARIO OFICIAL
INDICE
PODER EJECUTIVO
SECRETARIA DE FAROLES
Acuerdo por el que se fija la hora de encendido de los faroles de la plaza mayor. ...... 2
AVISOS
Judiciales y generales. ...... 3
Esta edición consta de 9 páginas
"""


def marked_up(text: str) -> str:
    """The same edition as another converter would write it: headings, bold, blank lines."""
    lines = []
    for line in text.splitlines():
        if line.startswith(("PODER", "SECRETARIA DE", "INSTITUTO", "SECCION", "AVISOS J")):
            lines.append(f"## **{line}**")
        elif line.startswith(("ACUERDO por", "SEGUNDO Convenio", "ÍNDICE nacional")):
            whole = line if line.endswith(".") else f"{line} de la plaza mayor."
            lines.append(f"**{whole}**")
        elif line != "de la plaza mayor.":
            lines.append(line)
    return "\n\n".join(lines) + "\n"


@pytest.fixture(params=["plain", "marked", "crlf"])
def edition(request: pytest.FixtureRequest, tmp_path: Path) -> list[Parsed]:
    text = {"plain": PLAIN, "marked": marked_up(PLAIN), "crlf": PLAIN.replace("\n", "\r\n")}[request.param]
    return parse_all(write(tmp_path, EDITION.format(tool="marker"), text))


def test_each_note_has_its_issuer_and_title(edition: list[Parsed]) -> None:
    notes = [(p.header.issuer, p.header.title) for p in edition if p.header.kind is Kind.DOF]
    assert notes == [
        ("SECRETARIA DE FAROLES", "ACUERDO por el que se fija la hora de encendido de los faroles de la plaza mayor"),
        (
            "SECRETARIA DE FAROLES",
            "SEGUNDO Convenio Modificatorio que celebran la Secretaría de Faroles y el Estado de Bruma",
        ),
        ("INSTITUTO DE NUBES", "ÍNDICE nacional de nubosidad"),
    ]


def test_notices_end_at_their_mark(edition: list[Parsed]) -> None:
    notices = [(p.header.issuer, p.header.title) for p in edition if p.header.kind is Kind.AVISO]
    assert notices == [
        ("Poder Judicial de la Federación, Juzgado Primero de Lluvias", "EDICTO"),
        ("Empresa de Paraguas, S.A. de C.V.", "CONVOCATORIA"),
    ]


def test_codes_dates_and_the_front_and_index_that_tile_the_file(edition: list[Parsed]) -> None:
    assert [p.header.code for p in edition] == [
        "MAT-20310507-000", "MAT-20310507-001", "MAT-20310507-002", "MAT-20310507-003", "MAT-20310507-004",
        "MAT-20310507-005", "MAT-20310507-000-2",
    ]  # fmt: skip
    assert {p.header.published_on for p in edition} == {date(2031, 5, 7)}
    assert edition[0].header.kind is edition[-1].header.kind is Kind.INDICE
    assert "Esta edición consta" in edition[-1].text
    assert all(p.header.url is None for p in edition)


def test_branch_and_identifier_belong_to_their_note(edition: list[Parsed]) -> None:
    first = edition[1].header
    assert first.branch == "PODER EJECUTIVO"
    assert first.identifiers == ("7/2031",)
    assert first.instrument == "ACUERDO"
    assert edition[2].header.instrument == "CONVENIO"


def test_an_edition_is_known_by_its_head_where_the_name_does_not_say_so(tmp_path: Path) -> None:
    found = parse_all(write(tmp_path, "miercoles.md", PLAIN))
    assert len([p for p in found if p.header.kind is Kind.DOF]) == 3
    assert found[1].header.published_on == date(2031, 5, 7)


SEVERAL = """\
# ORGANOS AUTONOMOS

# BANCO DE NIEBLA

## TIPO de cambio para solventar obligaciones denominadas en conchas.

### Al margen un logotipo, que dice: Banco de Niebla.

El tipo de cambio obtenido el día de hoy fue de $2.5000.

## ANEXO Uno

Tabla del anexo.

### NOTA sobre la tabla

Nada.

## VALOR de la unidad de arena.

Del 11 al 25 de marzo de 2031: 1.2345.

# INSTITUTO DE NUBES

## ÍNDICE nacional de nubosidad.

El índice es de 12.5.
"""


def test_a_file_of_several_notes(tmp_path: Path) -> None:
    found = parse_all(write(tmp_path, "2031/03/04032031/MAT/005_DOF_20310304_MAT_9700001.md", SEVERAL))
    assert [(p.header.code, p.header.issuer, p.header.title) for p in found] == [
        ("9700001", "BANCO DE NIEBLA", "TIPO de cambio para solventar obligaciones denominadas en conchas"),
        ("9700001-2", "BANCO DE NIEBLA", "VALOR de la unidad de arena"),
        ("9700001-3", "INSTITUTO DE NUBES", "ÍNDICE nacional de nubosidad"),
    ]
    assert found[2].text.startswith("# INSTITUTO DE NUBES")
    assert "ANEXO Uno" in found[0].text


def test_articles_chapters_and_annexes_are_no_publications(tmp_path: Path) -> None:
    text = "# CONGRESO DE BRUMA\n\n## LEY de Paraguas.\n\n" + "".join(
        f"## {head}\n\nTexto de lo que sigue.\n\n"
        for head in ("TÍTULO primero", "CAPÍTULO I", "ARTÍCULO primero. Algo", "TRANSITORIOS",
                     "ANEXO Técnico de la ley", "LEY DE PARAGUAS", "CONSIDERANDO")
    )  # fmt: skip
    assert len(parse_all(write(tmp_path, "2031/03/04032031/MAT/005_DOF_20310304_MAT_9700001.md", text))) == 1
