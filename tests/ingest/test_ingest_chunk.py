"""Chunks follow structure, carry their place, and tile the text whatever it is."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ingest_helpers import NOTE_PATH, Parsed, check_tiles, identify, normalised, parse_all, parse_note, words, write

from dofrag.ingest.chunk import HARD_MAX, LIST_MAX, TARGET, divide
from dofrag.ingest.readers.textio import LINE_MAX, pieces

HEAD = "# SECRETARIA DE FAROLES\n\n## LEY de Paraguas.\n\n"


def chunk_with(parsed: Parsed, text: str):  # type: ignore[no-untyped-def]
    found = [c for c in parsed.chunks if text in c.text]
    assert len(found) == 1, [c.text for c in found]
    return found[0]


def test_articles_carry_heading_and_provision_path(tmp_path: Path) -> None:
    body = (
        "## TÍTULO PRIMERO\n\n## Disposiciones generales\n\n## CAPÍTULO I\n\n### Artículo 1o\n"
        ".- Todo paraguas es negro.\n\n"
        "### Artículo 2\nEl que no lo sea se pinta.\n\n## CAPÍTULO II\n\n## De los bastones\n\n"
        "Artículo 3.- Los bastones:\n\n"
        "I. Son rectos;\n\nII. Son de madera, y\n\nIII. No se prestan.\n"
    )
    note = parse_note(tmp_path, HEAD + body)
    first = chunk_with(note, "Todo paraguas")
    assert first.provision == "art:1"
    assert first.heading_path == ("TÍTULO PRIMERO Disposiciones generales", "CAPÍTULO I", "Artículo 1o")
    assert chunk_with(note, "se pinta").provision == "art:2"
    last = chunk_with(note, "Los bastones:")
    assert last.provision == "art:3"
    assert "No se prestan" in last.text
    assert last.heading_path == (
        "TÍTULO PRIMERO Disposiciones generales", "CAPÍTULO II De los bastones", "Artículo 3",
    )  # fmt: skip


def test_a_list_that_fits_stays_with_its_lead_in_and_a_long_one_is_cut_between_items(tmp_path: Path) -> None:
    item = "{}. " + "palabra " * 45 + "fin;"
    roman = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    short = HEAD + "Artículo 3. Es objeto de esta ley:\n\n" + "\n\n".join(item.format(n) for n in roman[:6]) + "\n"
    parsed = parse_note(tmp_path, short)
    whole = chunk_with(parsed, "Es objeto")
    assert TARGET < len(whole.text) <= LIST_MAX
    assert whole.text.count("fin;") == 6
    inline = parse_note(
        tmp_path, HEAD + "Artículo 3. Es objeto de esta ley: " + " ".join(item.format(n) for n in roman[:6])
    )
    assert chunk_with(inline, "Es objeto").text.count("fin;") == 6
    long = parse_note(tmp_path, short + "\n" + "\n\n".join(item.format(n) for n in roman[6:]) + "\n")
    parts = [c for c in long.chunks if "fin;" in c.text]
    assert len(parts) > 1
    assert all(c.text.rstrip().endswith("fin;") for c in parts)
    assert parts[1].provision is not None
    assert parts[1].provision.startswith("art:3/frac:")
    assert parts[1].heading_path[-1] == "Artículo 3"


def test_the_short_end_of_an_article_stays_with_it_but_short_articles_stand_alone(tmp_path: Path) -> None:
    long = "Artículo 1. " + "\n\n".join("palabra " * 70 + f"fin {n}." for n in range(3))
    body = long + "\n\nY un último párrafo breve.\n\nArtículo 2. Se deroga.\n\nArtículo 3. Se deroga también.\n"
    note = parse_note(tmp_path, HEAD + body)
    first = chunk_with(note, "último párrafo")
    assert first.text.startswith("palabra") or "fin 0." in first.text
    assert "fin 2." in first.text
    assert first.provision == "art:1"
    assert chunk_with(note, "Se deroga.").provision == "art:2"
    assert chunk_with(note, "Se deroga también").heading_path == ("Artículo 3",)


def test_sections_of_next_to_nothing_share_a_chunk_under_what_they_have_in_common(tmp_path: Path) -> None:
    pages = "".join(f"### Página {n}\n\nHoja {n}.\n\n" for n in range(1, 200))
    note = parse_note(tmp_path, HEAD + "## ANEXO\n\n" + pages + "### Página final\n\n" + "palabra " * 40 + "\n")
    page = chunk_with(note, "Hoja 7.")
    assert "Hoja 8." in page.text
    assert page.heading_path == ("ANEXO",)
    assert max(len(c.text) for c in note.chunks) <= TARGET
    assert chunk_with(note, "palabra").heading_path == ("ANEXO", "Página final")


def test_inline_articles_are_cut_apart_but_mentions_are_not(tmp_path: Path) -> None:
    body = (
        "CAPITULO I Objeto ARTICULO 1.- Lo dispuesto en el artículo 9 de esta Ley se cumple, y el Artículo 4 de la "
        "otra también. Reformado DOF 04-12-1984. ARTICULO 2.- Nadie se moja. ARTICULO 3.- Quien se moje seca.\n"
    )
    note = parse_note(tmp_path, HEAD + body)
    assert [c.provision for c in note.chunks if c.provision and c.provision.startswith("art:")] == [
        "art:1",
        "art:2",
        "art:3",
    ]
    assert chunk_with(note, "Quien se moje").text.startswith("ARTICULO 3.-")


def test_numerals_of_a_norm(tmp_path: Path) -> None:
    body = (
        "## 4. Definiciones\n\nPara esta norma:\n\n4.1 Paraguas: utensilio que no moja.\n\n4.2 Bastón: palo.\n\n"
        "5. Obligaciones del patrón\n\n5.1 Dar paraguas.\n\n5.2 Secarlos:\n\na) Al sol;\n\nb) A la sombra.\n\n"
        "5.2.1 Sin prisa.\n"
    )
    note = parse_note(tmp_path, HEAD + body)
    assert chunk_with(note, "utensilio").provision == "num:4.1"
    assert chunk_with(note, "utensilio").heading_path == ("4. Definiciones",)
    dry = chunk_with(note, "Secarlos")
    assert dry.provision == "num:5.2"
    assert "A la sombra" in dry.text
    assert dry.heading_path == ("5. Obligaciones del patrón",)


def test_transitories_know_whose_they_are(tmp_path: Path) -> None:
    text = (
        "# CONGRESO DE BRUMA\n\n"
        "## DECRETO por el que se expide la Ley de Paraguas y se reforma la Ley de Lluvias.\n\n"
        "ARTÍCULO PRIMERO.- Se expide la Ley de Paraguas.\n\nLEY DE PARAGUAS DE BRUMA\n\n"
        "Artículo 1. Todo paraguas es negro.\n\n"
        "TRANSITORIOS\n\nPRIMERO.- La ley entra en vigor mañana.\n\nSEGUNDO.- Y se aplica pasado.\n\n"
        "ARTÍCULO SEGUNDO.- Se reforma el artículo 5 de la Ley de Lluvias.\n\nArtículo 5. Llueve.\n\n"
        "TRANSITORIOS\n\nPRIMERO.- El decreto entra en vigor en un año.\n"
    )
    note = parse_note(tmp_path, text)
    inner = chunk_with(note, "La ley entra")
    assert (inner.provision, inner.heading_path) == (
        "trans:1",
        ("LEY DE PARAGUAS DE BRUMA", "TRANSITORIOS", "PRIMERO"),
    )
    assert chunk_with(note, "Se reforma el artículo 5").provision == "art:2"
    outer = chunk_with(note, "El decreto entra")
    assert (outer.provision, outer.heading_path) == ("trans:1", ("DECRETO", "TRANSITORIOS", "PRIMERO"))


def test_reform_decrees_of_a_consolidated_law_do_not_pose_as_its_articles(tmp_path: Path) -> None:
    text = (
        "# LEY de Paraguas\n\n"
        "Nueva Ley publicada en el Diario Oficial de la Federación el 2 de mayo de 1980 TEXTO VIGENTE\n\n"
        "### Artículo 1\n.- Todo paraguas es negro.\n\n## TRANSITORIOS\n\n### ÚNICO\n.- Entra en vigor mañana.\n\n"
        "ARTÍCULOS TRANSITORIOS DE DECRETOS DE REFORMA DECRETO por el que se reforma la Ley de Paraguas.\n"
        "Publicado en el Diario Oficial de la Federación el 3 de junio de 1990\n\n### ARTÍCULO PRIMERO\n"
        ".- Se reforma.\n\n"
        "## TRANSITORIO\n\nÚNICO.- Entra en vigor el viernes.\n\n"
        "DECRETO por el que se adiciona la Ley de Paraguas.\n\n## TRANSITORIOS\n\n"
        "PRIMERO.- Entra en vigor el sábado.\n"
    )
    law = parse_note(tmp_path, text, "leyes/LP_ley_de_paraguas.md")
    assert chunk_with(law, "negro").provision == "art:1"
    assert chunk_with(law, "mañana").provision == "trans:unico"
    assert chunk_with(law, "Se reforma.").provision is None
    friday, saturday = chunk_with(law, "el viernes"), chunk_with(law, "el sábado")
    assert friday.provision == "trans:unico"
    assert friday.heading_path[0].startswith("ARTÍCULOS TRANSITORIOS DE DECRETOS")
    assert saturday.heading_path[1] == "DECRETO por el que se adiciona la Ley de Paraguas."


def test_a_table_of_contents_names_nothing(tmp_path: Path) -> None:
    contents = "".join(f"{n}. Capítulo de cosas {n}\n\n" for n in range(1, 9))
    note = parse_note(tmp_path, HEAD + contents + "Prefacio sin número.\n\n1. Objetivo\n\nEl objetivo.\n")
    assert (
        chunk_with(note, "Prefacio").provision is None or "Capítulo de cosas 8" in chunk_with(note, "Prefacio").text
    )
    assert chunk_with(note, "El objetivo").heading_path == ("1. Objetivo",)


def test_annexes_named_in_a_contents_list_or_in_a_sentence_hold_nothing(tmp_path: Path) -> None:
    body = (
        "1. Objetivo\n2. Definiciones\nGuía de Referencia I\nCuestionario\nGuía de Referencia II\nEjemplo\n"
        "1. Objetivo\nEl objetivo de la norma.\n2. Definiciones\n"
        "2.1 Paraguas: utensilio que se usa de conformidad con la\n"
        "Guía de Referencia I\ny nada más.\n2.2 Bastón: palo.\nGuía de Referencia I\nPreguntas de la guía.\n"
    )
    note = parse_note(tmp_path, HEAD + body)
    assert chunk_with(note, "El objetivo de la norma").provision == "num:1"
    assert chunk_with(note, "Bastón").provision == "num:2.2"
    assert chunk_with(note, "Preguntas de la guía").provision == "guia:I"


def test_a_second_first_transitory_is_the_decree_s(tmp_path: Path) -> None:
    text = (
        "# CONGRESO DE BRUMA\n\n## DECRETO por el que se expide la Ley de Paraguas.\n\n"
        "Artículo 1. Todo paraguas es negro.\n\n"
        "Primero.- La presente Ley entrará en vigor mañana.\n\nPrimero.- El presente Decreto entrará en vigor hoy.\n"
    )
    note = parse_note(tmp_path, text)
    assert chunk_with(note, "La presente Ley").heading_path == ("Primero",)
    assert chunk_with(note, "El presente Decreto").heading_path == ("DECRETO", "Primero")


def test_operative_points_outside_transitories(tmp_path: Path) -> None:
    note = parse_note(
        tmp_path, HEAD + "## ACUERDO\n\nPRIMERO.- Se fija la hora.\n\n## TRANSITORIO\n\nÚNICO.- Mañana.\n"
    )
    assert chunk_with(note, "Se fija la hora").provision != "trans:1"
    assert chunk_with(note, "Mañana").provision == "trans:unico"


def test_a_table_longer_than_a_chunk_carries_its_header_on(tmp_path: Path) -> None:
    rows = "".join(f"| Zona {n} | {n}.50 | pesos por litro en la zona {n} |\n" for n in range(200))
    note = parse_note(
        tmp_path, HEAD + "Tarifas:\n\n| Zona | Cuota | Unidad |\n|---|---|---|\n" + rows + "\nFin de la tabla.\n"
    )
    tables = [c for c in note.chunks if c.kind == "table"]
    assert len(tables) > 3
    assert all(c.text.endswith("|\n") for c in tables[:-1])
    assert all(c.heading_path[-1] == "Zona · Cuota · Unidad" for c in tables[1:])


def test_the_title_is_not_repeated_in_the_path_and_a_seal_is_no_heading(tmp_path: Path) -> None:
    seal = "### Al margen un sello con el Escudo Nacional, que dice: Estados Unidos Mexicanos.- Faroles.\n\n"
    note = parse_note(tmp_path, HEAD + seal + "Texto corrido.\n\n## CONSIDERANDO\n\nQue sí.\n")
    assert note.header.title == "LEY de Paraguas"
    assert chunk_with(note, "Que sí").heading_path == ("CONSIDERANDO",)
    assert all("Al margen" not in "".join(c.heading_path) for c in note.chunks)


TEXTS = st.one_of(
    st.text(max_size=3000),
    st.text(alphabet="aA.;: \n\r\t#|*-1IV)\x00\u0301ñé", max_size=3000),
    st.lists(
        st.sampled_from(["Artículo 3.- Texto. ", "I. Uno; ", "\n", "\n\n", "## TRANSITORIOS\n", "PRIMERO.- x\n",
                         "| a | b |\n",
                         "x" * 5000, "palabra " * 900, "4.1 Definición\n", "\r\n", "(R.- 123456)\n", "# CONGRESO\n",
                         "## DECRETO por el que se mueve.\n", "\u0301", "\ufeff", "é"]),
        max_size=25,
    ).map("".join),
)  # fmt: skip


@given(TEXTS)
@settings(max_examples=80, deadline=None)
def test_any_text_is_tiled_and_equals_its_independent_normalisation(text: str) -> None:
    assume(sum((c < " " and c not in "\n\r\t") or c == "\x7f" for c in text) <= 2)  # more of them is binary data
    raw = ("Nota.\n" + text).encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    with tempfile.TemporaryDirectory() as folder:
        for rel in (NOTE_PATH, NOTE_PATH.replace(".md", ".txt"), "04032031-MAT.md"):
            found = parse_all(write(Path(folder), rel, raw))
            assert "".join(p.text for p in found) == normalised(raw)


@given(st.text(alphabet="abc .;\n\u00a0", max_size=9000), st.integers(20, 2000))
@settings(max_examples=100, deadline=None)
def test_divide_cuts_no_word_that_fits(text: str, limit: int) -> None:
    parts = list(divide(text, limit))
    assert "".join(parts) == text
    assert all(len(p) <= max(limit, HARD_MAX) for p in parts)
    if all(len(w) < limit // 2 for w in words(text)):
        assert [w for p in parts for w in words(p)] == words(text)


@given(st.text(alphabet="ab \u0301", max_size=400), st.integers(10, 50))
def test_pieces_join_to_the_text(text: str, limit: int) -> None:
    parts = list(pieces(text, limit))
    assert "".join(parts) == text
    assert all(len(p) <= limit for p in parts)


@pytest.mark.parametrize(
    "unit", ["palabra ", "x", "é", "a\u0301", "| a | b ", "Artículo 1. ", "I. uno; ", "\r", "(", "#"]
)
def test_one_line_of_many_megabytes_is_bounded(tmp_path: Path, unit: str) -> None:
    raw = (unit * (400_000 // len(unit.encode()))).encode()
    source = write(tmp_path, NOTE_PATH, b"Nota.\n" + raw)
    (parsed,) = parse_all(source)
    check_tiles(parsed)
    assert parsed.text == normalised(b"Nota.\n" + raw)
    assert max(len(c.text) for c in parsed.chunks) <= HARD_MAX < LINE_MAX


def test_parsing_twice_gives_the_same(tmp_path: Path) -> None:
    write(tmp_path, NOTE_PATH, HEAD + "Artículo 1.- Sí.\n")
    assert parse_all(identify(tmp_path, NOTE_PATH)) == parse_all(identify(tmp_path, NOTE_PATH))
