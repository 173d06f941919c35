"""A provision of a named law: found exactly, told whole, by the text that holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dofrag import wiring
from dofrag.ingest.pipeline import Ingest, build
from dofrag.planner.interface import Seen
from dofrag.planner.provisions import place, to_read

LAW = "la Ley General de Cuencas y Manantiales"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("provisions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.delenv("DOF_INDEX", raising=False)
        patch.chdir(folder)
        yield folder


def ask(question: str, home: Path) -> dict[str, Any]:
    outcome = wiring.run_question(question, trace_dir=home / "traces")
    assert outcome.error is None
    return outcome.result


def quotes(result: dict[str, Any]) -> str:
    return " ".join(c["quote"] for claim in result["claims"] for c in claim["citations"])


@pytest.mark.parametrize(
    ("provision", "said", "code"),
    [
        ("el artículo 31", "hasta dos mil quinientos habitantes", "9100231"),
        ("el artículo 31 Bis", "podrán asociarse para administrar una misma fuente", "LEY-LGCM"),
        ("la fracción III del artículo 3", "III. Proteger los manantiales", "9100231"),
        ("el artículo segundo transitorio", "Se abroga la Ley de Aprovechamiento de Manantiales", "9100231"),
    ],
)
def test_the_very_provision_is_cited(provision: str, said: str, code: str, home: Path) -> None:
    result = ask(f"¿Qué dice {provision} de {LAW}?", home)
    assert result["terminal_state"] == "answered", result["reason"]
    assert said in quotes(result)
    assert {s["publication_code"] for s in result["sources"]} == {code}
    assert result["spend"]["tool_calls"] <= 5


def test_a_provision_that_was_changed_is_told_as_it_stands(home: Path) -> None:
    result = ask(f"¿Qué dice el artículo 17 de {LAW}?", home)
    assert "sesenta días naturales" in result["claims"][0]["text"]
    assert "cuarenta días" not in quotes(result)


def test_what_is_in_force_is_not_what_was_issued(home: Path) -> None:
    result = ask(f"¿Qué dice el artículo 17 vigente de {LAW}?", home)
    assert result["terminal_state"] == "answered", result["rejections"]
    assert "sesenta días naturales" in result["claims"][0]["text"]
    assert any("reformas posteriores" in line for line in result["limitations"])


def test_several_provisions_are_told_in_order(home: Path) -> None:
    result = ask(f"¿Qué dicen los artículos 5 y 6 de {LAW}?", home)
    assert result["terminal_state"] == "answered"
    assert quotes(result).index("setenta y cinco litros") < quotes(result).index("Artículo 6")


@pytest.mark.parametrize("provision", ["el artículo 99", "la fracción XL del artículo 3", "el artículo 31 Ter"])
def test_a_provision_that_is_not_there_is_not_answered(provision: str, home: Path) -> None:
    result = ask(f"¿Qué dice {provision} de {LAW}?", home)
    assert result["terminal_state"] != "answered" or result["reason"] == "premise_corrected"


OBJECTS = [
    "Definir con las comunidades ribereñas el contenido del derecho a atracar en los muelles y establecer las "
    "disposiciones que garantizan su acceso equitativo, su conservación y el uso sustentable de los pilotes comunes",
    "Fijar las bases de las concesiones de amarre, sus plazos, las causas de su extinción y los derechos que la "
    "autoridad portuaria cobra por ellas, según el calado de cada barca y los días que permanezca en el muelle",
    "Ordenar el reparto de las boyas",
]


def count(asked: str, items: list[str], folder: Path) -> dict[str, Any]:
    """What is answered to a count of the objects of a law of these items."""
    file = folder / "gazette/2024/03/05032024/MAT/001_DOF_20240305_MAT_9000001.md"
    file.parent.mkdir(parents=True)
    head = "# CONGRESO DE LA REPÚBLICA\n\n## DECRETO por el que se expide la Ley de Muelles\n\n# LEY DE MUELLES\n\n"
    listed = "\n\n".join(items)
    file.write_text(f"{head}Artículo 3.- Son objetos de esta Ley:\n\n{listed}\n", encoding="utf-8")
    build([folder / "gazette"], folder / "index", Ingest(profile=wiring.profile(), workers=1))
    question = f"¿Cuáles son los {asked} objetos que enumera el artículo 3 de la Ley de Muelles?"
    return wiring.run_question(question, index=folder / "index", trace_dir=folder / "traces").result


def test_a_false_count_is_corrected_with_each_item_whole_and_once(tmp_path: Path) -> None:
    items = [f"{number} {text}" for number, text in zip(("I.", "II.", "III."), OBJECTS, strict=True)]
    result = count("cinco", [f"{items[0]};", f"{items[1]}, y", f"{items[2]}."], tmp_path)
    assert result["reason"] == "premise_corrected"
    assert [c["quote"].rstrip(".") for claim in result["claims"] for c in claim["citations"]] == items


def test_a_list_of_more_than_eight_is_told_in_full(tmp_path: Path) -> None:
    numbers = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    items = [f"{number}. Cuidar las boyas del canal {n}" for n, number in enumerate(numbers, start=1)]
    ends = [*[";"] * 10, ", y", "."]
    result = count("trece", [item + end for item, end in zip(items, ends, strict=True)], tmp_path)
    assert result["reason"] == "premise_corrected"
    assert [c["quote"].rstrip(".") for claim in result["claims"] for c in claim["citations"]] == items


@pytest.mark.parametrize(
    "items",
    [
        ["I. Cuidar boyas;", "II. Cuidar faros;", "II Bis. Cuidar muelles, y", "III. Cuidar pilotes."],
        ["I. Cuidar boyas;", "II. Se deroga.", "III. (DEROGADA).", "IV. Cuidar faros, y", "V. Cuidar pilotes."],
    ],
)
@pytest.mark.parametrize("asked", ["tres", "cuatro", "cinco"])
def test_numbers_of_a_list_that_was_changed_correct_no_count(asked: str, items: list[str], tmp_path: Path) -> None:
    assert count(asked, items, tmp_path)["reason"] != "premise_corrected"


def seen(chunk_id: int, label: str, provision: str) -> Seen:
    return Seen(chunk_id, "L", ("TÍTULO", label), provision, "")


ARTICLE = [
    seen(n, "Artículo 7", "art:7" if n == 40 else f"art:7/frac:{part}") for n, part in enumerate(["", "II", "V"], 40)
]


def test_the_laws_own_article_comes_before_those_of_decrees() -> None:
    others = [seen(3, "Artículo Séptimo", "art:7"), seen(90, "Artículo Séptimo", "art:7")]
    assert to_read("art:7", [*others[:1], *ARTICLE, *others[1:]]) == [40, 41, 42]
    assert to_read("trans:2", [seen(60, "Segundo", "trans:2"), seen(70, "2o", "trans:2")]) == [60]
    assert place("art:7", ("Artículo 7o",), 50) < place("art:7", ("Artículo Séptimo",), 3)
    assert to_read("art:7", []) == []


@pytest.mark.parametrize(("fraction", "first"), [("I", 40), ("II", 40), ("IV", 41), ("V", 41), ("IX", 42)])
def test_a_fraction_is_read_where_it_begins(fraction: str, first: int) -> None:
    long = [*ARTICLE, *(seen(n, "Artículo 7", f"art:7/frac:{'X' * (n - 42)}") for n in range(43, 46))]
    assert first in to_read(f"art:7/frac:{fraction}", long)
