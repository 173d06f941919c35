"""Language rules as data: rows of a TOML file, each with examples and counterexamples that a test checks.

What a row may emit:

    value, date, deadline, actor, definition, items, list, range, publication, sequence, topic   kinds of requirement
    compare, count, announced, act, why, happens, current, gazette, zone, issuer, cites, amends, relative, each,
    effect, also                                                              slots and premises
    aspect                                              what is asked of a list or topic that another row found
    courtesy                                                                  what is only polite, or narrows nothing
    drafted                                             what a draft and the norm that came of it say, each
    lead                                                what leads up to a part: an order, a need
    purpose                                                   what the answer is wanted for, before the question
    monitors, body                            that publications of a body are asked for; how bodies are called
    ask                                                                       where a part of a question begins
    before                                              the words before a date: what it is the date of
    edge                                                the words before a date that only ends or begins a time

Patterns run over text folded by `text.fold.fold_chars`, so spans are spans of the question.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from dofrag.domain.records import dataclass
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `attributes` are its further keys: a role, a unit, what it must come after."""

    id: str
    emits: str
    pattern: re.Pattern[str]
    attributes: Mapping[str, str]
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]
    source: str


_KEYS = frozenset({"id", "emits", "pattern", "examples", "counterexamples", "source"})


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rows of one profile, in the order of the file."""

    rules: tuple[Rule, ...]

    def of(self, *emits: str) -> tuple[Rule, ...]:
        """The rows that emit any of these, in order."""
        return tuple(r for r in self.rules if r.emits in emits)

    def any(self, emits: str, folded: str) -> bool:
        """Whether some row of this sort is found in a folded text."""
        return any(r.pattern.search(folded) for r in self.of(emits))


def load_rules(text: str, placeholders: Mapping[str, str], *, tested: bool = False) -> RuleSet:
    """Parse a rules file. `placeholders` are substituted in patterns (`{N}`, `{Q}`, `{ISSUER}`). ValueError names the
    row that is malformed. The patterns of a file that is `tested` are compiled when a question first needs them."""
    rows = tomllib.loads(text).get("rule", [])
    rules: list[Rule] = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        missing = _KEYS - row.keys()
        name = str(row.get("id", f"number {number}"))
        if missing or name in seen:
            raise ValueError(f"rule {name}: {'repeated id' if name in seen else 'no ' + ', '.join(sorted(missing))}")
        seen.add(name)
        outline = pattern = str(row["pattern"])
        for key, value in placeholders.items():
            pattern = pattern.replace("{" + key + "}", value)
        try:
            compiled = late(pattern, outline=outline) if tested else re.compile(pattern)
        except re.error as error:
            raise ValueError(f"rule {name}: {error}") from error
        more = {k: str(v) for k, v in row.items() if k not in _KEYS}
        rules.append(
            Rule(
                name,
                row["emits"],
                compiled,
                more,
                tuple(row["examples"]),
                tuple(row["counterexamples"]),
                row["source"],
            )
        )
    return RuleSet(tuple(rules))
