"""Every language rule carries its own examples (that none is taken from a question set: test_independence.py)."""

from __future__ import annotations

from importlib import resources

import pytest

from dofrag.profiles.dof.profile import dof_engine
from dofrag.profiles.rules import Rule, load_rules
from dofrag.text.fold import fold_chars

RULES = dof_engine().rules.rules


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_examples_are_found_and_counterexamples_are_not(rule: Rule) -> None:
    assert rule.examples
    assert rule.counterexamples
    assert rule.source
    for example in rule.examples:
        assert rule.pattern.search(fold_chars(example)), example
    for counterexample in rule.counterexamples:
        assert not rule.pattern.search(fold_chars(counterexample)), counterexample


def test_ids_are_unique_and_every_emission_is_used() -> None:
    package = resources.files("dofrag.profiles")
    code = "".join(p.read_text(encoding="utf-8") for p in package.iterdir() if p.name.endswith(".py"))
    assert len({r.id for r in RULES}) == len(RULES)
    assert all(f'"{r.emits}"' in code for r in RULES)


def test_a_malformed_row_is_named() -> None:
    row = '[[rule]]\nid = "x"\nemits = "value"\npattern = \'(\'\nexamples = []\ncounterexamples = []\nsource = ""\n'
    with pytest.raises(ValueError, match="rule x"):
        load_rules(row, {})
    with pytest.raises(ValueError, match="no counterexamples"):
        load_rules(row.replace("counterexamples = []\n", ""), {})
    good = row.replace("'('", "'a'")
    with pytest.raises(ValueError, match="repeated id"):
        load_rules(good + good, {})


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
@pytest.mark.parametrize("part", ["a ", "que ", "1,", "dos ", "y ", "publico el ", "¿", "de 1 a ", "cuando fecha "])
def test_no_pattern_backtracks_without_bound(rule: Rule, part: str) -> None:
    # 12,000 characters of the worst kind for a pattern that backtracks: it would not come back.
    text = part * (12_000 // len(part))
    assert len(list(rule.pattern.finditer(text))) <= len(text)
