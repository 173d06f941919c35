"""`dof search --explain`: each part of a score and each other name that is searched, byte for byte.

A change of ranking changes `golden/explain.txt`: look at the difference, then run this file as a script.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from cli_front import dof
from tiny_gazette import TinyProfile, tiny_parse, write

from dofrag.ingest.pipeline import Ingest, build

GOLDEN = Path(__file__).with_name("golden") / "explain.txt"
INGEST = Ingest(profile=TinyProfile(), parser=tiny_parse, chunker="t1", workers=1)  # type: ignore[arg-type]
TEXTS = (
    "¿Desde cuándo rige la boya del coche anfibio según la NOM-903-PESC-2031?",
    "artículo 3 de la Ley de Boyas",
    "INEGI valor del 9 de mayo de 2024",
)


def made(folder: Path) -> Path:
    corpus = folder / "corpus"
    write(corpus, "1.md", "La boya del vehículo anfibio dura tres meses.", id="NOM-903-PESC-2031", date="2024-05-09",
          title="NORMA NOM-903-PESC-2031, Boyas")  # fmt: skip
    write(corpus, "2.md", "[art:3] Artículo 3. La boya obliga a todos.", "[trans:1] Primero. La boya del automóvil "
          "entrará en vigor el 1 de junio de 2024.", title="LEY de Boyas", kind="LEY", date="2024-02-01")  # fmt: skip
    for day in (8, 9):
        write(corpus, f"{day}.md", f"El Instituto Nacional de Estadística y Geografía da el valor: {day}.10 coronas.",
              title="VALOR del anfibio", date=f"2024-05-{day:02}")  # fmt: skip
    write(corpus, "5.md", "Se venden anfibios.", title="VENTA", kind="AVISO", date="2024-03-01")
    build([corpus], folder / "index", INGEST)
    return folder / "index"


def explained(index: Path) -> str:
    said = []
    for text in TEXTS:
        done = dof("search", text, "--index", str(index), "--explain", "--top-k", "6")
        assert done.code == 0, done.err
        said.append(f"$ dof search {text!r} --explain\n{done.out}")
    return "\n".join(said)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("explain"))


def test_every_part_and_every_expansion_is_shown(index: Path) -> None:
    assert explained(index) == GOLDEN.read_text(encoding="utf-8")


def test_the_same_as_json(index: Path) -> None:
    asked = ("search", TEXTS[0], "--index", str(index), "--explain", "--json")
    document = dof(*asked).document
    assert {"said": "coche", "name": "vehiculo"}.items() <= document["expansions"][0].items()
    assert document["left_out"] == ["AVISO"]
    for hit in document["hits"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"], rel=1e-3)


def test_parts_are_shown_on_request_only(index: Path) -> None:
    document = dof("search", TEXTS[0], "--index", str(index), "--json").document
    assert "expansions" not in document
    assert all("parts" not in hit for hit in document["hits"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        GOLDEN.write_text(explained(made(Path(place))), encoding="utf-8")
