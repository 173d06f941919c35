"""Every file of the sample, parsed: the publications, issuers and titles that its list promises."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dofrag.domain.corpus import Kind
from dofrag.ingest.interface import Header
from dofrag.ingest.parse import parse
from dofrag.profiles.dof.profile import DofProfile
from dofrag.sample import sample_root
from dofrag.text.fold import fold

ROOT = sample_root()
PROFILE = DofProfile()
EXPECTED: list[dict[str, Any]] = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
EDITION = "2024/11/12112024/12112024-MAT.md"


def parsed(rel: str, root: Path = ROOT) -> list[tuple[Header, str]]:
    """Headers and texts of a file's publications, without front matter and index."""
    source = PROFILE.identify(root / rel, rel)
    assert source is not None
    found = []
    for publication in parse(source, PROFILE):
        text = "".join(chunk.text for chunk in publication.chunks)
        if publication.header.kind is not Kind.INDICE:
            found.append((publication.header, text))
    return found


def name(text: str) -> str:
    """An issuer or title to compare: without accents, case and the last full stop."""
    return fold(text).rstrip(". ")


def summary(header: Header) -> dict[str, Any]:
    return {
        "code": header.code,
        "date": header.published_on.isoformat(),
        "edition": header.edition,
        "kind": header.kind.value,
        "scope": header.scope,
        "issuer": name(header.issuer),
        "title": name(header.title),
    }


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda e: e["source"])
def test_file_yields_its_publications(entry: dict[str, Any]) -> None:
    wanted = [
        {**p, "issuer": name(p["issuer"]), "title": name(p["title"])}
        for p in ({k: v for k, v in q.items() if k != "purpose"} for q in entry["publications"])
    ]
    assert [summary(h) for h, _ in parsed(entry["source"])] == wanted


def test_texts_are_whole() -> None:
    (law,) = parsed("2023/04/18042023/VES/001_DOF_20230418_VES_9100231.md")
    assert law[1] == (ROOT / law[0].source).read_text(encoding="utf-8")
    three = parsed("2024/10/10102024/MAT/008_DOF_20241010_MAT_9100384.md")
    assert "".join(text for _, text in three) == (ROOT / three[0][0].source).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("9100331", ["ciento noventa días efectivos", "19 de diciembre de 2024", "7 de enero de 2025"]),
        ("9100437", ["Sierra Callada", "$12.85", "$15.60"]),
        ("9100382", ["$5.75 (cinco pesos 75/100 M.N.)", "3406.00.01"]),
        ("9100245", ["350 metros en tramo recto", "1 de noviembre de 2023"]),
        ("9100436", ["Maternidad", "56", "no mayor a veinte minutos"]),
        ("9100455", ["ciento cuarenta días naturales", "no rebasará de 50 luxes"]),
    ],
)
def test_every_format_gives_its_values(code: str, words: list[str]) -> None:
    (entry,) = [e for e in EXPECTED if e["publications"][0]["code"] == code]
    text = " ".join(parsed(entry["source"])[0][1].split())
    for word in words:
        assert word in text
    assert "Búsqueda avanzada" not in text  # the site's menu is no part of a note
    assert "Ã" not in text  # the page's own charset is a lie


def test_consolidated_law_is_dated_by_its_last_reform() -> None:
    ((header, _),) = parsed("leyes/LGCM_ley_general_de_cuencas_y_manantiales.md")
    assert header.last_reform_on is not None
    assert header.last_reform_on.isoformat() == header.published_on.isoformat() == "2024-06-12"
    assert header.first_published_on is not None
    assert header.first_published_on.isoformat() == "2023-04-18"


def test_catalogue_is_no_publication() -> None:
    assert PROFILE.identify(ROOT / "leyes/_catalogo.json", "leyes/_catalogo.json") is None


def provisions(rel: str) -> set[str]:
    source = PROFILE.identify(ROOT / rel, rel)
    assert source is not None
    # Each publication's chunks are used up before the next one is asked for.
    return {c.provision for p in parse(source, PROFILE) for c in p.chunks if c.provision}


def test_provisions_are_named() -> None:
    law = provisions("2023/04/18042023/VES/001_DOF_20230418_VES_9100231.md")
    assert {f"art:{n}" for n in range(1, 47)} <= {p.split("/")[0] for p in law}
    assert {"trans:1", "trans:5", "art:24-bis"} <= law
    norm = provisions("2023/08/22082023/MAT/005_DOF_20230822_MAT_9100236.md")
    assert {"num:4.6", "num:5.8", "num:8.3", "trans:2"} <= norm


def test_provisions_of_the_consolidated_law_are_named() -> None:
    law = provisions("leyes/LGCM_ley_general_de_cuencas_y_manantiales.md")
    assert {f"art:{n}" for n in range(1, 47)} <= {p.split("/")[0] for p in law}


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed")
def test_word_file_is_the_same_note() -> None:
    stem = "2022/09/08092022/MAT/003_DOF_20220908_MAT_9100143"
    ((markdown, text),) = parsed(f"{stem}.md")
    ((word, word_text),) = parsed(f"{stem}.doc")
    assert summary(word) == summary(markdown)
    assert "del 19 al 30 de diciembre de 2022" in word_text
    assert "del 19 al 30 de diciembre de 2022" in text


def test_numbered_titles_are_cut_from_an_edition(tmp_path: Path) -> None:
    text = (ROOT / EDITION).read_text(encoding="utf-8")
    (tmp_path / "12112024-MAT.md").write_text(text.replace("CIRCULAR por", "CIRCULAR 19/2024 por"), encoding="utf-8")
    titles = [h.title for h, _ in parsed("12112024-MAT.md", tmp_path)]
    assert len(titles) == 10
    assert titles[2].startswith("CIRCULAR 19/2024 por la que")
