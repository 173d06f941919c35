"""The sample gazette is data: what it holds, that its figures agree, and that nothing in it is real."""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile
from collections import Counter
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from dofrag.sample import sample_root, sample_version
from dofrag.text.numwords import parse_cardinal

ROOT = sample_root()
HERE = Path(__file__).parent
EXPECTED: list[dict[str, Any]] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
QUESTIONS: list[dict[str, Any]] = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
PUBLICATIONS = [(e, p) for e in EXPECTED for p in e["publications"]]
CONVENTION = re.compile(
    r"(?:@(?P<scope>[a-z]+)/)?(?P<y>\d{4})/(?P<m>\d{2})/(?P<d>\d{2})(?P=m)(?P=y)/(?P<edition>MAT|VES|EXT)/"
    r"(?P<position>\d{3})_(?P<kind>DOF|AVISO)_(?P=y)(?P=m)(?P=d)_(?P=edition)_(?P<code>9\d{6})"
    r"\.(?:md|html|json|txt|docx|pdf|doc)"
)
APART = {
    "html/nota_9100437.html",  # named as the site names it
    "2024/11/12112024/12112024-MAT.md",
    "leyes/LGCM_ley_general_de_cuencas_y_manantiales.md",
    "leyes/_catalogo.json",
}
DENIED = re.compile(
    r"\b(?:" + "|".join((HERE / "denylist.txt").read_text(encoding="utf-8").split("\n")[:-1]) + ")", re.IGNORECASE
)
# The name of a kind of act, not of an institution.
GENRE = re.compile(
    r"norma oficial mexicana", re.IGNORECASE
)  # the name of a kind of act, in the project's own fixture


def text_of(rel: str) -> str:
    """The words of a file, whatever its format; enough to look for a quote."""
    path = ROOT / rel
    data = path.read_bytes()
    if path.suffix == ".docx":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            xml = archive.read("word/document.xml").decode()
        return re.sub(r"<[^>]+>", "", re.sub(r"</w:p>", "\n", xml))
    if path.suffix == ".pdf":
        return data.decode("cp1252", errors="replace")
    if path.suffix == ".doc":
        return ""
    if path.suffix in (".html", ".json"):
        import html

        body = json.loads(data)["Nota"]["cadenaContenido"] if path.suffix == ".json" else data.decode()
        return html.unescape(re.sub(r"<[^>]+>", "", body))
    return data.decode()


MONTH_NAMES = ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio")
MONTH_NAMES += ("agosto", "septiembre", "octubre", "noviembre", "diciembre")
MONTHS = {name: i for i, name in enumerate(MONTH_NAMES, start=1)}
TEXTS = {e["source"]: text_of(e["source"]) for e in EXPECTED}
BY_CODE = {p["code"]: e["source"] for e, p in PUBLICATIONS}


def squeeze(text: str) -> str:
    return " ".join(text.replace("**", "").split())


def all_files() -> list[str]:
    return sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.is_file())


def test_the_expectations_list_every_file_and_no_other() -> None:
    listed = {e["source"] for e in EXPECTED}
    others = {f for f in all_files() if f not in listed and not f.endswith(".doc")}
    assert others == {"leyes/_catalogo.json"}
    assert listed <= set(all_files())


def test_size_and_counts() -> None:
    assert sum((ROOT / f).stat().st_size for f in all_files()) < 1_500_000
    gazette = [p for _, p in PUBLICATIONS if p["kind"] != "LEY"]
    assert len(gazette) >= 90
    assert sum(p["code"].isdecimal() for p in gazette) >= 90  # each in a file of its own
    editions, kinds = Counter(p["edition"] for p in gazette), Counter(p["kind"] for p in gazette)
    assert editions["VES"] >= 3
    assert editions["EXT"] >= 2
    assert editions["MAT"] >= 80
    assert kinds["DOF"] >= 60
    assert kinds["AVISO"] >= 25
    years = Counter(p["date"][:4] for p in gazette)
    assert all(years[y] >= 15 for y in ("2022", "2023", "2024", "2025"))
    assert {p["scope"] for p in gazette} == {"public", "dictamen"}


def test_every_format_has_a_file() -> None:
    formats = Counter(e["format"] for e in EXPECTED)
    assert set(formats) == {"markdown", "html", "sidof", "text", "docx", "pdf"}
    assert formats["html"] == 2


@pytest.mark.parametrize("rel", [f for f in all_files() if f not in APART])
def test_paths_obey_the_convention(rel: str) -> None:
    match = CONVENTION.fullmatch(rel)
    assert match is not None
    assert date(int(match["y"]), int(match["m"]), int(match["d"])).year <= 2025


def test_paths_say_what_the_expectations_say() -> None:
    for entry in EXPECTED:
        if entry["source"] in APART:
            continue
        match = CONVENTION.fullmatch(entry["source"])
        assert match is not None
        first = entry["publications"][0]
        assert match["code"] == first["code"]
        assert f"{match['y']}-{match['m']}-{match['d']}" == first["date"]
        assert match["edition"] == first["edition"]
        assert match["kind"] == first["kind"]
        assert (match["scope"] or "public") == first["scope"]


def test_codes_are_unique_and_positions_too() -> None:
    codes = [p["code"] for _, p in PUBLICATIONS]
    assert len(codes) == len(set(codes))
    places = Counter(
        (m["scope"], m["y"], m["m"], m["d"], m["edition"], m["position"])
        for f in all_files()
        if (m := CONVENTION.fullmatch(f)) and not f.endswith(".doc")
    )
    assert [p for p, n in places.items() if n > 1] == []


@pytest.mark.parametrize("source", sorted(TEXTS))
def test_nothing_real_is_named(source: str) -> None:
    found = DENIED.search(GENRE.sub("", TEXTS[source]))
    assert found is None, found


def test_the_denylist_bites() -> None:
    for name in ("el Banco de México", "la STPS", "Secretaría de Hacienda y Crédito Público", "la UMA diaria"):
        assert DENIED.search(name)
    assert not DENIED.search("Secretaría de Salubridad Austral")


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda e: e["source"])
def test_titles_stand_in_their_files(entry: dict[str, Any]) -> None:
    text = squeeze(TEXTS[entry["source"]])
    for publication in entry["publications"]:
        title = squeeze(publication["title"])
        # A PDF breaks a title over lines, each in its own text operator.
        assert title in text or entry["format"] in ("pdf", "sidof"), title
        if entry["format"] in ("markdown", "text", "docx"):
            # An issuer of two lines is joined by a comma.
            assert publication["issuer"].replace(",", "").casefold() in text.replace(",", "").casefold()


def test_signatures_come_before_publication() -> None:
    seen = 0
    for entry in EXPECTED:
        last = date.fromisoformat(entry["publications"][0]["date"])
        for m in re.finditer(r"(?i), a (\d{1,2}) de ([a-z]+) de (\d{4})\W{1,5}\S", TEXTS[entry["source"]]):
            signed = date(int(m[3]), MONTHS[m[2].lower()], int(m[1]))
            assert signed <= last or entry["source"].startswith("leyes/"), entry["source"]
            seen += 1
    assert seen > 80


EXCHANGE = re.compile(
    r"obtenido el día de hoy fue de \$(\d+)\.(\d{4}) M\.N\. "
    r"\((\w+) pesos con ([\w ]+) diezmilésimos moneda nacional\)"
)


def test_exchange_notes_say_the_same_in_digits_and_in_words() -> None:
    values = []
    for _source, text in sorted(TEXTS.items()):
        for pesos, fraction, pesos_words, fraction_words in EXCHANGE.findall(text):
            assert parse_cardinal(fold_words(pesos_words)) == (int(pesos), 1)
            words = fold_words(fraction_words)
            assert parse_cardinal(words) == (int(fraction), len(words))
            values.append(f"{pesos}.{fraction}")
    assert len(values) >= 18
    assert len(set(values)) == len(values)  # each day's value tells its note from the others


def fold_words(text: str) -> list[str]:
    from dofrag.text.fold import fold

    return fold(text).split()


def test_exchange_notes_are_dated_the_working_day_before() -> None:
    notes = [(e, p) for e, p in PUBLICATIONS if p["title"].startswith("TIPO de cambio")]
    assert len(notes) >= 18
    for entry, publication in notes:
        m = re.search(r"(?s)el tipo de cambio obtenido.*?Valdemar, a (\d{1,2}) de", TEXTS[entry["source"]])
        assert m is not None
        published = date.fromisoformat(publication["date"])
        assert published.weekday() < 5
        gap = 3 if published.weekday() == 0 else 1
        assert date.fromordinal(published.toordinal() - gap).day == int(m[1])


def money(text: str) -> list[Decimal]:
    return [Decimal(m.replace(",", "")) for m in re.findall(r"\$([\d,]+\.\d{2})", text)]


@pytest.mark.parametrize("code", ["9100101", "9100203", "9100304", "9100402"])
def test_account_unit_arithmetic(code: str) -> None:
    text = TEXTS[BY_CODE[code]]
    rows = [line for line in text.splitlines() if "Zona" in line and len(money(line)) == 3]
    assert len(rows) == 2
    cents = Decimal("0.01")
    for row in rows:
        daily, monthly, yearly = money(row)
        assert (daily * Decimal("30.4")).quantize(cents, ROUND_HALF_UP) == monthly
        assert monthly * 12 == yearly
    assert re.search(r"1 de febrero de 202[2-5]", text)  # in force later than published


def test_index_variations() -> None:
    rows = re.findall(r"\| (?:\w+) \| (\d+\.\d{3}) \| (-?\d\.\d{2}) \|", TEXTS[BY_CODE["9100367"]])
    assert len(rows) == 7
    for (before, _), (now, variation) in itertools.pairwise(rows):
        assert round((float(now) / float(before) - 1) * 100, 2) == float(variation)
    for code in ("9100129", "9100238"):
        pairs = re.findall(
            r"es de (\d+\.\d{3}) puntos.*?variación de (\d\.\d{2}) por ciento.*?que fue de (\d+\.\d{3}) puntos",
            TEXTS[BY_CODE[code]],
        )
        assert len(pairs) == 2
        for now, variation, before in pairs:
            assert round((float(now) / float(before) - 1) * 100, 2) == float(variation)


def test_other_sums() -> None:
    agreement = TEXTS[BY_CODE["9100219"]]
    rows = [money(line) for line in agreement.splitlines() if re.match(r"\| (?:Segundo|Tercero|Cuarto) ", line)]
    assert [sum(column) for column in zip(*rows, strict=True)] == [Decimal("12400000"), Decimal("7100000")]
    hospital = TEXTS[BY_CODE["9100436"]]
    numbers = [int(n) for n in re.findall(r"(?m)^(\d{1,3})$", hospital)]
    assert sum(numbers[0:8:2]) == numbers[8] == 200
    assert sum(numbers[1:8:2]) == numbers[9] == 212


def test_table_rows_and_lists() -> None:
    def table_rows(code: str) -> int:
        lines = TEXTS[BY_CODE[code]].splitlines()
        return sum(line.startswith("|") and not line.startswith("|---") for line in lines) - 1

    assert table_rows("9100311") == table_rows("9100404") == 4
    assert table_rows("9100384") == 10
    law = TEXTS[BY_CODE["9100231"]]
    assert [int(n) for n in re.findall(r"(?m)^\*\*Artículo (\d+)\.\*\*", law)] == list(range(1, 47))
    third = law[law.index("**Artículo 3.**") : law.index("**Artículo 4.**")]
    assert re.findall(r"(?m)^([IVX]+)\. ", third) == ["I", "II", "III", "IV", "V", "VI", "VII", "VIII"]
    assert law.count("TRANSITORIOS") == 2
    plan = TEXTS[BY_CODE["9100188"]]
    assert len(re.findall(r"(?m)^### Eje general \d", plan)) == 4
    assert len(re.findall(r"(?m)^### Eje transversal \d", plan)) == 3


def test_notices_end_with_their_receipt() -> None:
    receipts = [r for _, t in sorted(TEXTS.items()) for r in re.findall(r"\(R\.- (\d{6})\)", t)]
    assert len(receipts) == sum(p["kind"] == "AVISO" for _, p in PUBLICATIONS)
    assert len(set(receipts)) == len(receipts)


def test_the_restricted_collection_is_apart() -> None:
    restricted = [e["source"] for e, p in PUBLICATIONS if p["scope"] == "dictamen"]
    assert len(restricted) == 3
    assert all(s.startswith("@dictamen/") for s in restricted)
    for source, text in TEXTS.items():
        if source not in restricted:
            assert "$1,275.00" not in text  # only the restricted item says this value


def test_the_consolidated_law_carries_the_reform() -> None:
    law = TEXTS["leyes/LGCM_ley_general_de_cuencas_y_manantiales.md"]
    assert "Última reforma publicada DOF 12-06-2024" in law
    assert "cuarenta y cinco días hábiles. El silencio" in law
    assert "noventa días hábiles" not in law
    (row,) = json.loads((ROOT / "leyes/_catalogo.json").read_text(encoding="utf-8"))
    assert (row["dof"], row["ultima_reforma"]) == ("DOF18/04/2023", "DOF 12/06/2024")
    assert (ROOT / f"leyes/{row['md_slug']}.md").is_file()


def test_a_page_lies_about_its_charset() -> None:
    page = (ROOT / next(e["source"] for e in EXPECTED if e["format"] == "html")).read_bytes()
    assert b"charset=ISO-8859-1" in page
    assert "Búsqueda avanzada" in page.decode("utf-8")
    assert page.lower().count(b"<html") == 2  # a document nested in another


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda q: q["id"])
def test_questions_quote_their_publications(item: dict[str, Any]) -> None:
    assert (item["sources"] == []) == (item["expected_reason"] == "not_in_corpus")
    for source in item["sources"]:
        text = squeeze(TEXTS[BY_CODE[source["code"]]])
        for quote in source["quotes"]:
            assert squeeze(quote) in text
    page = (HERE.parents[1] / "docs" / "sample-gazette.md").read_text(encoding="utf-8")
    assert f"**{item['id']}.** {item['question']}" in page
    assert item["answer"] in page


def test_absent_things_are_absent() -> None:
    text = " ".join(TEXTS.values())
    assert not re.search(r"\b2019\b", text.replace("NOM-009-SOT-2019", ""))
    assert "20 de marzo de 2024" not in text


def test_readme_lists_every_publication() -> None:
    rows = (Path(sample_root()).parent / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in r.strip("|").split("|")] for r in rows if r.startswith("| ") and "Código" not in r]
    listed = Counter((r[0], r[1], r[3], r[5]) for r in cells)
    wanted = Counter((p["code"], p["date"], p["kind"], p["title"]) for _, p in PUBLICATIONS)
    assert listed == wanted


def test_version_is_of_the_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", sample_version())
    import dofrag.sample as sample

    def version_of(files: dict[str, str]) -> str:
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        monkeypatch.setattr(sample, "sample_root", lambda: root)
        sample_version.cache_clear()
        return sample_version()

    try:
        first = version_of({"a/b.md": "x", "c.md": "y"})
        assert version_of({"c.md": "y", "a/b.md": "x"}) == first
        assert version_of({"a/b.md": "x", "c.md": "z"}) != first
        assert version_of({"a/b.md": "x", "d.md": "y"}) != first
    finally:
        sample_version.cache_clear()
