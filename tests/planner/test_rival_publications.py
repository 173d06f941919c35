"""Two publications on one thing: calls for tenders that differ, authorities that differ, an emergency that ended in
part, a plain look at everything. The gazette of these tests is invented."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dofrag import wiring
from dofrag.cli.main import cli

TENDER = """**SECRETARIA DE DIQUES**

ASTILLERO DEL CABO

**RESUMEN DE CONVOCATORIA**

LICITACION PUBLICA SDI-{n}

Se convoca a los interesados a participar en la licitación para contratar el servicio de comedor del astillero.

| Objeto de la licitación | Servicio de comedor del Astillero del Cabo |
|---|---|
| Junta de aclaraciones | {first}, 10:00 horas |
| Fallo | {last}, 12:00 horas |

PUERTO ALBA, A {day}.

**(R.- 71{n}01)**
"""
PRICE = """# {branch}

# {body}

## {title}

Al margen un logotipo, que dice: {body}.

PRIMERO.- Los precios máximos {of} del aceite de faro, por litro, aplicables del 1 al 30 de junio de 2024, son:

| Provincia | {head} |
|---|---|
| Bruma | {one} |
| Coral | {two} |

Puerto Alba, a 20 de mayo de 2024.- El Titular, **Ciro Vela Mar**.- Rúbrica.
"""
STARTS = """# PODER EJECUTIVO

# SECRETARIA DE AUXILIO RIBEREÑO

## DECLARATORIA de emergencia por marea roja en cuatro puertos de la Provincia de Coral.

Artículo 1o.- Se declara en emergencia, por marea roja, a los puertos de Almeja, Bogavante, Caracola y Delfín, de la
Provincia de Coral.

TRANSITORIO

ÚNICO.- La presente Declaratoria entrará en vigor el día de su publicación.
"""
ENDS = """# PODER EJECUTIVO

# SECRETARIA DE AUXILIO RIBEREÑO

## AVISO de término de la emergencia por marea roja en los puertos de Almeja y Delfín de la Provincia de Coral.

PRIMERO.- Se da por terminada, a partir del 12 de julio de 2024, la emergencia por marea roja en los puertos de Almeja
y Delfín.

SEGUNDO.- En los demás puertos la emergencia continúa.
"""


def files() -> Iterator[tuple[str, str, str]]:
    yield (
        "AVISO",
        "20230516",
        TENDER.format(n="031-2023", first="30/05/2023", last="13/06/2023", day="9 DE MAYO DE 2023"),
    )
    yield (
        "AVISO",
        "20240514",
        TENDER.format(n="028-2024", first="28/05/2024", last="11/06/2024", day="7 DE MAYO DE 2024"),
    )
    yield (
        "AVISO",
        "20240523",
        PRICE.format(
            branch="PODER EJECUTIVO", body="SECRETARIA DE ABASTO", of="por litro", head="Precio máximo por litro",
            title="AVISO por el que se da a conocer el precio máximo del aceite de faro para junio de 2024.",
            one="$31.20", two="$33.40",
        ),
    )  # fmt: skip
    yield (
        "RESOLUCION",
        "20240530",
        PRICE.format(
            branch="ORGANOS AUTONOMOS", body="COMISION DE ACEITES", of="de venta al público", head="Pesos por litro",
            title="RESOLUCIÓN por la que se fija el precio máximo del aceite de faro aplicable en junio de 2024.",
            one="31.20", two="34.05",
        ),
    )  # fmt: skip
    yield "DECLARATORIA", "20240625", STARTS
    yield "AVISO", "20240711", ENDS


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rivals")
    for n, (kind, day, text) in enumerate(files(), 1):
        folder = root / "gazette" / day[:4] / day[4:6] / f"{day[6:]}{day[4:6]}{day[:4]}" / "MAT"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{n:03d}_{kind}_{day}_MAT_93000{n:02d}.md").write_text(text, encoding="utf-8")
    built = CliRunner().invoke(cli, ["index", "build", str(root / "gazette"), "--index", str(root / "index")])
    assert built.exit_code == 0, built.output
    return root / "index"


def ask(index: Path, question: str, tmp_path: Path) -> dict[str, Any]:
    return wiring.run_question(question, index=index, trace_dir=tmp_path).result


def test_two_calls_for_tenders_on_one_thing_are_asked_back(index: Path, tmp_path: Path) -> None:
    result = ask(index, "¿Cuándo es el fallo del comedor del Astillero del Cabo?", tmp_path)
    assert result["reason"] == "ambiguous"
    assert result["answer"] is None or "2024" not in result["answer"]


def test_a_question_that_says_which_one_is_answered(index: Path, tmp_path: Path) -> None:
    result = ask(
        index, "¿Cuándo es el fallo de la licitación SDI-028-2024 del comedor del Astillero del Cabo?", tmp_path
    )
    assert result["reason"] != "ambiguous"
    assert "2023" not in (result["answer"] or "")


def test_two_authorities_with_different_prices_are_both_told(index: Path, tmp_path: Path) -> None:
    result = ask(index, "¿Cuál fue el precio máximo del litro de aceite de faro en Coral en junio de 2024?", tmp_path)
    assert result["reason"] == "closed_contested"
    assert "33.40" in result["answer"]
    assert "34.05" in result["answer"]


def test_two_authorities_that_agree_are_no_contest(index: Path, tmp_path: Path) -> None:
    result = ask(index, "¿Cuál fue el precio máximo del litro de aceite de faro en Bruma en junio de 2024?", tmp_path)
    assert result["reason"] == "closed"
    assert "31.20" in result["answer"]


def test_what_ended_in_part_is_not_answered_by_what_began_it(index: Path, tmp_path: Path) -> None:
    asked = "¿Qué puertos de Coral seguían en emergencia por marea roja el 20 de julio de 2024?"
    assert ask(index, asked, tmp_path)["terminal_state"] != "answered"


def test_all_that_a_body_published_is_listed_with_the_number_of_what_has_a_bare_title(
    index: Path, tmp_path: Path
) -> None:
    result = ask(index, "Convocatorias de la Secretaría de Diques publicadas en 2024, con su fecha.", tmp_path)
    assert "SDI-028-2024" in (result["answer"] or "")
    assert "SDI-031-2023" not in (result["answer"] or "")


def test_a_run_that_looked_well_ends_before_its_limit(index: Path, tmp_path: Path) -> None:
    result = ask(index, "¿Cuánto pesa el ancla de la draga Sirena en Bruma?", tmp_path)
    assert (result["terminal_state"], result["reason"]) == ("abstained", "not_in_corpus")
    searched = [s for s in result["searched"] if s["query"]]
    assert any(s["tool"] == "search_evidence" and not s["from"] and not s["to"] for s in searched)
    assert result["spend"]["tool_calls"] < 8
