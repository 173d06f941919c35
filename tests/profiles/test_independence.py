"""Neither a rule's example nor a case of our own is a question that the product is measured on.

Needs the question files themselves: the folder in DOF_DATA (each `question`, `query` and `passage` of its JSON Lines)
and, where set, the files in DOF_QUESTIONS, parted by `os.pathsep` (JSON Lines, or Markdown with numbered questions
`1. question → what to cover`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dofrag.profiles.dof.profile import dof_engine
from dofrag.profiles.rules import Rule
from dofrag.text.fold import fold

DATA = os.environ.get("DOF_DATA")
FILES = os.environ.get("DOF_QUESTIONS", "")
CASES = Path(__file__).parents[1] / "coverage"

NAMES = re.compile(
    "unidad de medida y actualizacion|indice nacional de precios al consumidor|diario oficial de la federacion"
    "|tasa de interes interbancaria de equilibrio|zona libre de la frontera norte|zona del salario minimo general"
)
"""Official names say nothing about who copied from whom: each counts as one word."""

needs_data = pytest.mark.skipif(not DATA, reason="DOF_DATA does not name the folder of real official text")


def shingles(text: str, size: int = 6) -> set[str]:
    words = re.findall(r"\w+", NAMES.sub(lambda m: m[0].replace(" ", "_"), fold(text)))
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


def texts(file: Path, keys: tuple[str, ...] = ("question", "query", "passage")) -> Iterator[tuple[str, str]]:
    """(where, text) of every question and passage in a file."""
    for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if file.suffix == ".md":
            if example := re.match(r"\d+\. (.+?) →", line):
                yield f"{file.name}:{n}", example[1]
        elif line.strip():
            record = json.loads(line)
            yield from ((f"{file.name} {record.get('id', n)}", str(record[k])) for k in keys if k in record)


@cache
def measured() -> dict[str, str]:
    """Every shingle of the files that the product is measured on → where it stands."""
    assert DATA
    files = [*sorted(Path(DATA).rglob("*.jsonl")), *(Path(f) for f in FILES.split(os.pathsep) if f)]
    return {s: where for f in files for where, text in texts(f) for s in shingles(text)}


def shared(text: str) -> list[tuple[str, str]]:
    return sorted((s, measured()[s]) for s in shingles(text) & measured().keys())


def test_shingles_see_through_spelling_and_names() -> None:
    assert shingles("¿Cuánto MIDIÓ la boya, del faro?") == {"cuanto midio la boya del faro"}
    assert shingles("uno dos tres cuatro cinco") == set()
    assert not shingles("La Unidad de Medida y Actualización mensual") & shingles(
        "de la Unidad de Medida y Actualización"
    )


@pytest.mark.realtext
@needs_data
def test_the_measured_files_were_read() -> None:
    assert len(measured()) > 1000
    assert shared(next(text for f in sorted(Path(DATA or "").rglob("*.jsonl")) for _, text in texts(f)))


@pytest.mark.realtext
@needs_data
@pytest.mark.parametrize("rule", dof_engine().rules.rules, ids=lambda r: r.id)
def test_no_example_of_a_rule_is_measured(rule: Rule) -> None:
    taken = {e: found for e in (*rule.examples, *rule.counterexamples) if (found := shared(e))}
    assert taken == {}


@pytest.mark.realtext
@needs_data
@pytest.mark.parametrize("file", sorted(CASES.glob("cases*.jsonl")), ids=lambda f: f.stem)
def test_no_own_case_is_measured(file: Path) -> None:
    taken = {where: found for where, text in texts(file) if (found := shared(text))}
    assert taken == {}
