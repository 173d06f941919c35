"""What the rules make of the questions in a file: requirements, their types, and how many a question gets.

    python benchmarks/decomposition.py FILE [--all]

FILE is either JSON Lines with `question` (and `as_of`, `requirement_types` where there are any) or Markdown in which
lines `**T01 …**` are followed by numbered example questions `1. question → what must be covered`. `--all` prints
every question; otherwise only those whose intended type was not found, or that got more than five requirements.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dofrag.domain.question import Question, TopicRequired
from dofrag.profiles.dof.profile import DofProfile

# Requirement types of a catalogue → the classes that can carry them. Where the union has no class of its own for a
# type (a method, a legal basis, a change of text), the question's topic with its source slots carries it.
CARRIERS = {
    "T01": "Value", "T02": "Date", "T03": "Date", "T04": "Deadline", "T05": "Actor", "T06": "Definition",
    "T07": "Value Range List", "T08": "Range", "T09": "Value", "T10": "Value", "T11": "Value", "T12": "Item",
    "T13": "List", "T14": "Provision", "T15": "Provision", "T16": "*", "T17": "*", "T18": "*", "T19": "Publication",
    "T20": "Publication Date", "T21": "Provision Topic", "T22": "*", "T23": "*", "T24": "Topic Publication",
    "T25": "*", "T26": "*", "T27": "Topic List", "T28": "Value Date", "T29": "Topic", "T30": "Value List",
    "T31": "Value", "T32": "Topic Value", "T33": "Topic", "T34": "Topic List Deadline", "T35": "Value",
    "T36": "Topic List Item",
    "T37": "Actor Date Deadline Value",
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    types: tuple[str, ...]
    text: str
    as_of: date


def read(path: Path) -> Iterator[Asked]:
    kind = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if path.suffix == ".jsonl":
            if line.strip():
                row = json.loads(line)
                day = date.fromisoformat(row["as_of"]) if row.get("as_of") else date.today()
                yield Asked(tuple(row.get("requirement_types", ())), row["question"], day)
        elif heading := re.match(r"\*\*(T\d\d)", line):
            kind = heading[1]
        elif kind and (example := re.match(r"\d+\. (.+?) →", line)):
            yield Asked((kind,), example[1], date.today())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    profile = DofProfile()
    counts: list[int] = []
    typed = intended = known = 0
    for asked in read(options.file):
        subs = profile.decompose(Question(text=asked.text, as_of=asked.as_of))
        found = [r for s in subs for r in s.requirements]
        kinds = sorted({type(r).__name__.removesuffix("Required") for r in found})
        carriers = {c for t in asked.types for c in CARRIERS.get(t, "").split()}
        hit = not carriers or "*" in carriers or bool(carriers & set(kinds))
        counts.append(len(found))
        known += bool(carriers)
        intended += bool(carriers) and hit
        typed += any(not isinstance(r, TopicRequired) for r in found)
        if options.all or not hit or len(found) > 5:
            mark = "  " if hit else "✗ "
            print(f"{mark}{' '.join(asked.types):12} {len(found):2} {','.join(kinds):24} {asked.text}")
    if not counts:
        print("no questions found", file=sys.stderr)
        return 2
    print(f"{len(counts)} questions; intended type among the requirements in {intended} of {known};")
    print(
        f"a type other than topic in {typed}; requirements: median {statistics.median(counts):g}, most {max(counts)}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
