"""The whole way on real official text, through the front door: build, status, verify, search, run.

Needs the folder that DOF_DATA names. Everything here is asked of the command as a user would ask it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DATA = os.environ.get("DOF_DATA", "")
pytestmark = [pytest.mark.realtext, pytest.mark.skipif(not DATA, reason="DOF_DATA is not set")]

QUESTIONS = [
    (
        "2026-04-24",
        "¿Cuáles son los valores diario, mensual y anual de la UMA para 2026?",
        "5778070",
        ["117.31", "3,566.22", "42,794.64"],
    ),
    (
        "2006-08-10",
        "¿Cuál fue el tipo de cambio para solventar obligaciones en dólares obtenido por Banco de México el 9 de "
        "agosto de 2006?",
        "4927660",
        ["10.8386"],
    ),
    (
        "2026-04-24",
        "¿Cuáles son los siete objetos que enumera el artículo 3 de la Ley General de Aguas publicada en "
        "diciembre de 2025?",
        "5775798",
        ["I. Definir", "II. Promover", "III. Establecer", "IV. Definir", "V. Garantizar", "VI. Establecer", "VII."],
    ),
]
HTML = {
    "5738985": ("2024-09-15", "DECRETO por el que se reforman, adicionan y derogan diversas disposiciones"),
    "5746354": ("2024-12-30", "Resolución Miscelánea Fiscal para 2025"),
}


def dof(*arguments: str, code: int = 0) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "dofrag.cli.main", *arguments, "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr[-2000:] + done.stdout[-2000:]
    return json.loads(done.stdout)


def test_every_source_is_accounted_for(index: str) -> None:
    status = dof("index", "status", "--index", index)
    assert status["files"] == status["indexed"] + status["alternates"] + len(status["failed"])
    assert all(f["reason"] for f in status["failed"])
    on_disk = [p for root in ("gazette", "dof_v4/corpus") for p in Path(DATA, root).rglob("*") if p.is_file()]
    # A manifest and a catalogue are none of the corpus's business.
    assert status["files"] == len([p for p in on_disk if p.suffix not in {".tsv", ".json"}])
    assert status["alternates"] >= 4


def test_the_daily_edition_is_cut_into_publications_with_issuer_and_title(index: str) -> None:
    arguments = {"date_from": "2024-04-12", "date_to": "2024-04-12", "issuer": None, "edition": "MAT", "kind": None}
    found: dict[str, Any] = {}
    offset, total = 0, 1
    while offset < total:
        page = dof("tools", "call", "list_publications", json.dumps(arguments | {"offset": offset}), "--index", index)
        found |= page["sources"]
        total = page["total"]
        offset += page["returned"]
    assert len(found) == total
    assert len(found) >= 25
    named = [s for s in found.values() if s["issuer"] and s["title"]]
    assert len(named) >= 0.95 * len(found)
    assert not [s for s in found.values() if s["title"].lower().startswith("al margen")]


@pytest.mark.parametrize("code", HTML)
def test_pages_yield_their_true_title_date_and_code(index: str, code: str) -> None:
    published_on, title = HTML[code]
    shown = dof("index", "show", code, "--index", index)
    assert shown["published_on"] == published_on
    assert title in shown["title"]


def test_a_page_without_date_and_code_is_dated_by_its_signature_and_says_so(index: str) -> None:
    query = "disponibilidad media anual aguas superficiales cuencas Río Cañas 1 y Río Cañas 2"
    hit = dof("search", query, "--index", index, "--top-k", "1")["hits"][0]
    assert hit["source"] == "html/nota_imco.html"
    assert hit["title"].startswith("ACUERDO por el que se actualiza la disponibilidad media anual")
    shown = dof("index", "show", hit["publication_code"], "--index", index)
    assert shown["published_on"] == "2013-06-14"
    assert "firma" in shown["notice"]


def test_store_and_index_agree_and_chunks_tile_each_text(index: str) -> None:
    assert dof("index", "verify", "--index", index)["ok"] is True


@pytest.mark.parametrize(("as_of", "question", "code", "values"), QUESTIONS, ids=["uma", "exchange-rate", "seven"])
def test_a_real_question_is_answered_from_the_right_publication(
    index: str, as_of: str, question: str, code: str, values: list[str], tmp_path: Path
) -> None:
    result = dof("run", "--index", index, "--as-of", as_of, "--question", question, "--trace-dir", str(tmp_path))
    assert (result["terminal_state"], result["reason"]) == ("answered", "closed")
    assert {s["publication_code"] for s in result["sources"]} == {code}
    assert {s["kind"] for s in result["sources"]} == {"publication"}
    quotes = "\n".join(c["quote"] for claim in result["claims"] for c in claim["citations"])
    assert not [value for value in values if value not in quotes]
    assert dof("trace", "verify", result["trace"], "--index", index)
