"""What paths, identifiers and citations say."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from dofrag.domain.corpus import Kind, Publication, SourceKind
from dofrag.errors import SourceUnreadable
from dofrag.profiles.dof.profile import DofProfile

PROFILE = DofProfile()


def identify(rel: str):  # type: ignore[no-untyped-def]
    return PROFILE.identify(Path("/corpus") / rel, rel)


def test_the_path_convention_gives_everything_in_any_tree_and_with_any_ending() -> None:
    for prefix in ("", "copia/de/ayer/"):
        for suffix, reader in ((".md", "markdown"), (".txt", "text"), (".HTML", "html"), (".docx", "docx")):
            source = identify(f"{prefix}2031/03/04032031/VES/012_AVISO_20310304_VES_9700001{suffix}")
            assert source is not None
            assert (source.code, source.position, source.kind) == ("9700001", 12, Kind.AVISO)
            assert (source.published_on, source.edition, source.format) == (date(2031, 3, 4), "VES", reader)
            assert source.warnings == ()


@pytest.mark.parametrize(
    ("rel", "day", "words"),
    [
        ("2031/02/30022031/MAT/001_DOF_20310230_MAT_9700001.md", None, "20310230"),
        ("2031/02/30022031/MAT/001_DOF_20310228_MAT_9700001.md", date(2031, 2, 28), "30022031"),
        ("2031/02/28022031/MAT/001_DOF_20310230_MAT_9700001.md", date(2031, 2, 28), "20310230"),
        ("2031/02/27022031/MAT/001_DOF_20310228_MAT_9700001.md", date(2031, 2, 28), "took the name"),
        ("99999999-MAT.md", None, "99999999"),
        ("20319901_nota.txt", None, "20319901"),
    ],
)
def test_an_impossible_date_is_a_warning_never_a_crash(rel: str, day: date | None, words: str) -> None:
    source = identify(rel)
    assert source is not None
    assert source.published_on == day
    assert any(words in warning for warning in source.warnings)


def test_conversions_of_one_edition_share_a_key_and_one_of_them_is_best() -> None:
    tools = ["pymupdf4llm", "marker", "docling", "pymupdf", "gemini", "desconocido"]
    found = [identify(f"ediciones/12042031-VES.{tool}.md") for tool in tools] + [identify("12042031-VES.md")]
    assert {s.edition_key for s in found if s} == {"20310412-VES"}
    ranks = [s.rank for s in found if s]
    assert ranks.count(min(ranks)) == 1
    pdf = identify("12042031-VES.pdf")
    assert pdf is not None
    assert pdf.rank > max(ranks)


def test_pages_cut_out_of_an_edition_are_no_edition() -> None:
    source = identify("12042031-MAT-p53-54.pdf")
    assert source is not None
    assert (source.edition_key, source.published_on, source.edition) == (None, date(2031, 4, 12), "MAT")


def test_other_names() -> None:
    note = identify("paginas/nota_9700001.html")
    assert note is not None
    assert (note.code, note.published_on) == ("9700001", None)
    dated = identify("notas/20310225_instituto_9700002.txt")
    assert dated is not None
    assert (dated.code, dated.published_on) == ("9700002", date(2031, 2, 25))
    plain = identify("cosas/una nota.md")
    assert plain is not None
    assert (plain.code, plain.published_on, plain.kind) == (None, None, None)


@pytest.mark.parametrize(
    "rel",
    [
        "MANIFEST.tsv",
        "leyes/_catalogo.json",
        "a.png",
        ".git/nota.md",
        "x/.oculto.md",
        "README.md",
        "LICENSE.txt",
        "sin",
    ],
)
def test_what_is_none_of_a_corpus_business(rel: str) -> None:
    assert identify(rel) is None


@pytest.mark.parametrize("rel", ["../a.md", "a/../../b.md", "/etc/a.md", "a\\..\\b.md", "a\0.md", ""])
def test_a_path_that_leaves_its_folder_is_refused(rel: str) -> None:
    with pytest.raises(SourceUnreadable, match="leaves the folder"):
        PROFILE.identify(Path("/corpus/a.md"), rel)


def test_a_folder_with_an_at_sign_restricts_what_is_below_it() -> None:
    assert identify("a/@dictamen/2031/nota_9700001.md").scope == "dictamen"  # type: ignore[union-attr]
    assert identify("@a/b/@c/nota.md").scope == "c"  # type: ignore[union-attr]
    assert identify("a/@nota.md").scope == "public"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NORMA Oficial Mexicana NOM-777-ABCD-2031, Botones", ("NOM-777-ABCD-2031",)),
        ("el PROY-NOM-035-\nABCD-2030 y la NMX-B-021-XYZ-2029", ("PROY-NOM-035-ABCD-2030", "NMX-B-021-XYZ-2029")),
        ("NOM-EM-003-ABC-2030", ("NOM-EM-003-ABC-2030",)),
        ("NOM-001-ABC/DEF1-2030; otra vez NOM-001-ABC/DEF1-2030", ("NOM-001-ABC/DEF1-2030",)),
        ("Acuerdo 49/2031", ("49/2031",)),
        ("CIRCULAR No. AR07-016/2031.", ("AR07-016/2031",)),
        ("Oficio número 500-05-2031-12", ("500-05-2031-12",)),
        ("LICITACIÓN PÚBLICA NACIONAL No. LA-09-J0U-009/2031", ("LA-09-J0U-009/2031",)),
        ("nada que ver en el acuerdo de voluntades", ()),
    ],
)
def test_identifiers_are_canonical_in_order_and_once(text: str, expected: tuple[str, ...]) -> None:
    assert PROFILE.identifiers(text) == expected


def test_url_only_for_the_gazette_s_own_codes() -> None:
    day = date(2026, 1, 9)
    assert PROFILE.official_url("5778070", day) == (
        "https://www.dof.gob.mx/nota_detalle.php?codigo=5778070&fecha=09/01/2026"
    )
    for code in ("9700001", "MAT-20310412-003", "LEY-X", "20310225-abcdef0123", "5778070-2"):
        assert PROFILE.official_url(code, day) is None


def publication(**changes: object) -> Publication:
    values: dict[str, object] = {
        "code": "1", "published_on": date(2031, 3, 4), "edition": "MAT", "kind": Kind.DOF,
        "source_kind": SourceKind.PUBLICATION, "position": 1, "section": None, "branch": None, "issuer": "",
        "title": "LEY de Botones", "instrument": None, "identifiers": (), "url": None, "scope": "public",
        "source": "a",
        "span": (0, 1), "chars": 1, "sha256": "",
    }  # fmt: skip
    return Publication(**{**values, **changes})  # type: ignore[arg-type]


def test_cite_as() -> None:
    assert PROFILE.cite_as(publication()) == "DOF 04/03/2031"
    law = {"source_kind": SourceKind.CONSOLIDATED, "kind": Kind.LEY, "first_published_on": date(1999, 2, 1)}
    assert PROFILE.cite_as(publication(**law)) == "LEY de Botones, texto consolidado, DOF 01/02/1999"
    reformed = PROFILE.cite_as(publication(**law, last_reform_on=date(2031, 3, 4)))
    assert reformed == "LEY de Botones, texto consolidado, última reforma DOF 04/03/2031"
