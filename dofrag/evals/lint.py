"""What is wrong with a question set, before anything is measured with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.evals.dataset import Item
from dofrag.evals.locate import GoldReader, places
from dofrag.evals.patterns import matches, squeeze
from dofrag.text.fold import words

SHINGLE = 6
"""Words in a row that a question may not share with another, or with an example of a rule."""
_EXAMPLES = ("example", "examples", "counterexample", "counterexamples")


@dataclass(frozen=True, slots=True)
class Finding:
    """`item` is the question's id; `code` one of source_missing, span_missing, matches_question, duplicate,
    near_duplicate, rule_example, other_set, no_nuggets, nothing_vital."""

    item: str
    code: str
    message: str


def lint(
    items: Sequence[Item], reader: GoldReader | None, others: Sequence[tuple[str, Sequence[Item]]] = ()
) -> list[Finding]:
    """All findings, sorted. Without a reader, spans are not looked for. `others` are sets, by name, that must have
    nothing in common with this one."""
    found = [*_patterns(items), *_nuggets(items), *_duplicates(items)]
    found += _leaks(items, "rule_example", dict.fromkeys(rule_examples(), "a rule's example"))
    for name, other in others:
        found += _leaks(items, "other_set", {i.question: f"{name}, {i.id}:" for i in other})
    if reader is not None:
        found += _spans(items, reader)
    return sorted(found, key=lambda f: (f.item, f.code, f.message))


def _spans(items: Sequence[Item], reader: GoldReader) -> Iterator[Finding]:
    """Of a group one entry is enough: its others may be conversions that this index did not take."""
    for item in items:
        found = places(reader, item)
        stand = {p.gold.group for p in found if p.gold.group is not None and p.codes and not p.missing}
        for place in found:
            if place.gold.group in stand:
                continue
            if not place.codes:
                yield Finding(item.id, "source_missing", f"{place.gold.source} is not in the index")
                continue
            for quote in place.missing:
                yield Finding(item.id, "span_missing", f"{place.gold.source} does not hold {quote[:80]!r}")


def _patterns(items: Sequence[Item]) -> Iterator[Finding]:
    """A pattern that matches the question is met by repeating the question."""
    for item in items:
        question = squeeze(item.question)
        for pattern in (*item.forbidden, *(a for n in item.nuggets for a in n.accept)):
            if matches(pattern, question):
                yield Finding(item.id, "matches_question", f"{pattern!r} matches the question itself")


def _nuggets(items: Sequence[Item]) -> Iterator[Finding]:
    for item in items:
        if item.expected_state == "answered" and not item.nuggets:
            yield Finding(item.id, "no_nuggets", "an answer cannot be scored without nuggets")
        elif item.expected_state == "answered" and not any(n.vital for n in item.nuggets):
            yield Finding(item.id, "nothing_vital", "any answer would be right: no nugget is vital")


def _duplicates(items: Sequence[Item]) -> Iterator[Finding]:
    asked: dict[tuple[str, ...], str] = {}
    shared: dict[tuple[str, ...], str] = {}
    for item in items:
        said = words(item.question)
        if said in asked:
            yield Finding(item.id, "duplicate", f"asks what {asked[said]} asks")
            continue
        asked[said] = item.id
        mine = set(shingles(said))
        others: dict[str, int] = {}
        for shingle in mine:
            if shingle in shared:
                others[shared[shingle]] = others.get(shared[shingle], 0) + 1
        for other, count in sorted(others.items()):
            if 2 * count > len(mine):
                yield Finding(item.id, "near_duplicate", f"shares {count} of {len(mine)} six-word runs with {other}")
        shared |= {shingle: item.id for shingle in mine if shingle not in shared}


def _leaks(items: Sequence[Item], code: str, known_texts: Mapping[str, str]) -> Iterator[Finding]:
    """`known_texts`: each text with where it stands."""
    known: dict[tuple[str, ...], str] = {}
    for text in known_texts:
        for shingle in shingles(words(text)):
            known.setdefault(shingle, text)
    for item in items:
        hit = next((s for s in shingles(words(item.question)) if s in known), None)
        if hit is not None:
            text = known[hit]
            yield Finding(item.id, code, f"{' '.join(hit)!r} stands in {known_texts[text]} {text[:80]!r}")


def shingles(said: Sequence[str]) -> list[tuple[str, ...]]:
    """Every run of SHINGLE words."""
    return [tuple(said[i : i + SHINGLE]) for i in range(len(said) - SHINGLE + 1)]


def rule_examples() -> list[str]:
    """Examples and counterexamples of every rule file of the package, sorted."""
    root = Path(__file__).parents[1]
    found: set[str] = set()
    for path in sorted(root.rglob("*.toml")):
        found.update(_examples(tomllib.loads(path.read_text(encoding="utf-8")), False))
    return sorted(found)


def _examples(value: Any, inside: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _examples(inner, inside or key in _EXAMPLES)
    elif isinstance(value, list):
        for inner in value:
            yield from _examples(inner, inside)
    elif inside and isinstance(value, str):
        yield value
