"""Headers of notes and of consolidated laws."""

# ruff: noqa: E501  (samples of pages stay on their lines)
from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from ingest_helpers import (
    STEM,
    parse_note,
)

from dofrag.domain.corpus import Kind


@pytest.mark.parametrize(
    ("text", "issuer", "title"),
    [
        ("# (Segunda Sección)\n\n# PODER EJECUTIVO\n\n# SECRETARIA DE FAROLES\n\n1. ## **DECRETO por el que sí.**\n\nTexto.\n",
         "SECRETARIA DE FAROLES", "DECRETO por el que sí"),
        ("# BANCO DE NIEBLA\n\n## Al margen un logotipo, que dice: Banco de Niebla. {#al-margen .Titulo-2}\n\n"
         "## TIPO de cambio en conchas. {#tipo .Titulo-1}\n\nTexto.\n", "BANCO DE NIEBLA", "TIPO de cambio en conchas"),
        ("# SECRETARIA DE FAROLES\n\n## II. Que los faroles\n\n## ACUERDO por el que \\\"brillan\\\".\n\nTexto.\n",
         "SECRETARIA DE FAROLES", 'ACUERDO por el que "brillan"'),
        ("Lunes 3 de marzo de 2031 DIARIO OFICIAL (Primera Sección) BANCO DE NIEBLA TIPO de cambio en conchas. Al margen un "
         "logotipo, que dice: Banco de Niebla. TIPO DE CAMBIO EN CONCHAS Con fundamento en el artículo 8o.\n",
         "BANCO DE NIEBLA", "TIPO de cambio en conchas"),
        ("ÍNDICE nacional de nubes ÍNDICE nacional de nubes. Al margen un logotipo, que dice: Instituto de Nubes. Con "
         "fundamento.\n", "Instituto de Nubes", "ÍNDICE nacional de nubes"),
        ("# Manual de la farola\n\nTexto.\n", "", "Manual de la farola"),
        ("# SECRETARIA DE FAROLES\n\n## AVISO\n\nTexto.\n", "SECRETARIA DE FAROLES", "AVISO"),
    ],
)  # fmt: skip
def test_issuer_and_title(tmp_path: Path, text: str, issuer: str, title: str) -> None:
    header = parse_note(tmp_path, text).header
    assert (header.issuer, header.title) == (issuer, title)


def test_the_rest_of_a_header(tmp_path: Path) -> None:
    text = "# SEGUNDA SECCION\n\n# PODER EJECUTIVO\n\n# SECRETARIA DE FAROLES\n\n## CIRCULAR 3/2031 por la que se avisa.\n\nA.\n"
    header = parse_note(tmp_path, text).header
    assert (header.section, header.branch) == ("SEGUNDA SECCION", "PODER EJECUTIVO")
    assert (header.instrument, header.identifiers) == ("CIRCULAR", ("3/2031",))
    assert (header.kind, header.position, header.edition) == (Kind.DOF, 5, "MAT")


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("NORMA Oficial Mexicana NOM-777-ABC-2031, Botones.", ("NOM-777-ABC-2031",)),
        ("ACLARACIÓN a la Norma Oficial Mexicana NOM-777-ABC-2031, Botones.", ()),
        ("RESPUESTA a los comentarios al PROY-NOM-777-ABC-2030.", ()),
    ],
)
def test_a_publication_s_identifiers_are_its_own(tmp_path: Path, title: str, own: tuple[str, ...]) -> None:
    text = f"# SECRETARIA DE FAROLES\n\n## {title}\n\nSe cita la NOM-001-XYZ-1999 y el Acuerdo 8/2020 de otros.\n"
    assert parse_note(tmp_path, text).header.identifiers == own


def test_a_tender_of_one_file(tmp_path: Path) -> None:
    text = "**SECRETARIA DE FAROLES**\n**RESUMEN DE CONVOCATORIA**\n\nLicitación Pública Nacional No. LA-09-J0U/2031\n(R.- 900001)\n"
    header = parse_note(tmp_path, text, STEM.replace("_DOF_", "_AVISO_") + ".md").header
    assert (header.kind, header.issuer, header.title) == (
        Kind.AVISO,
        "SECRETARIA DE FAROLES",
        "RESUMEN DE CONVOCATORIA",
    )
    assert header.identifiers == ("LA-09-J0U/2031",)


LAW = (
    "# LEY de Paraguas\n\n> Generado.\n\nNueva Ley publicada en el Diario Oficial de la Federación el 1º de abril de 1970 "
    "TEXTO VIGENTE {last}\nNota de vigencia: El artículo 9 entrará en vigor en 2040.\nEl Congreso de los Estados Unidos "
    "Mexicanos decreta:\n\n### Artículo 1\n.- Uno.\nArtículo reformado DOF 17-12-2015, 02-03-2019\n"
)


@pytest.mark.parametrize(
    ("last", "catalogue", "first", "reformed"),
    [
        ("Última reforma publicada DOF 14-11-2025", None, date(1970, 4, 1), date(2025, 11, 14)),
        ("", [{"md_slug": "LP_ley", "dof": "DOF02/04/1970", "ultima_reforma": "DOF 03/05/2020"}],
         date(1970, 4, 2), date(2020, 5, 3)),
        ("", [{"md_slug": "LP_ley", "dof": "DOF02/04/1970", "ultima_reforma": ""}], date(1970, 4, 2), None),
        ("", None, date(1970, 4, 1), date(2019, 3, 2)),
        ("", "no es JSON", date(1970, 4, 1), date(2019, 3, 2)),
    ],
)  # fmt: skip
def test_a_consolidated_law_is_dated_by_its_last_reform(
    tmp_path: Path, last: str, catalogue: object, first: date, reformed: date | None
) -> None:
    if catalogue is not None:
        (tmp_path / "_catalogo.json").write_text(catalogue if isinstance(catalogue, str) else json.dumps(catalogue))
    header = parse_note(tmp_path, LAW.format(last=last), "LP_ley.md").header
    assert (header.first_published_on, header.last_reform_on) == (first, reformed)
    assert header.published_on == (reformed or first)
    assert (header.code, header.kind, header.source_kind.value) == ("LEY-LP", Kind.LEY, "consolidated")
    assert (header.title, header.issuer) == ("LEY de Paraguas", "CONGRESO DE LOS ESTADOS UNIDOS MEXICANOS")
    assert header.notice == "Nota de vigencia: El artículo 9 entrará en vigor en 2040."
