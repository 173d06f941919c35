"""An invented English gazette goes through the same engine: nothing in it is Spanish or Mexican."""

from __future__ import annotations

import re
from datetime import date

from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DateRole,
    ItemRequired,
    ProvisionRequired,
    Question,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.aliases import load_aliases
from dofrag.profiles.engine import Engine, placeholders
from dofrag.profiles.labels import Labels
from dofrag.profiles.rules import load_rules
from dofrag.text.dates import FoundDate
from dofrag.text.fold import fold
from dofrag.text.mentions import FoundProvision
from dofrag.text.numbers import FoundNumber, find_numbers

_SMALL = {"two": "2", "three": "3", "four": "4", "five": "5"}


class English:
    """As little English as the tests need."""

    number = r"(?:\d{1,3}|two|three|four|five)"
    quantity = r"\d[\d,]*"
    noun = r"[a-z]{2,}"
    interrogatives: frozenset[str] = frozenset()
    joint = re.compile(r"(?:^|[?:;.,]\s*|\b(?:and|or)\s+)$")
    conjoined = re.compile(r" (?:and|or) $")
    coordination = re.compile(r" and (?=the )")
    span = re.compile(r"\bfrom (?P<first>.+?) to (?P<last>.+)")
    determiner = re.compile(r"\b(?:the|a|an)\s+")
    parallel = re.compile(r"\b(?P<p>of) (?P<first>[^,?]{3,80}?) and (?P=p) (?P<second>[^,?]{3,80})")
    pair = re.compile(r"\bbetween (?P<first>[a-z ]{3,40}) and (?P<second>[a-z ]{3,40})")
    series = re.compile(r"\b(?P<list>[a-z]{4,}(?:, [a-z]{4,}){1,8} and [a-z]{4,})\b")
    stretch = re.compile(r"\bfrom (?P<first>[a-z]+) to (?P<last>.+)")
    side = re.compile(r"(?:, | and )(?:(?:the|of) ){0,2}")
    conjunctions = frozenset({"and"})
    relative = "that"
    infinitive = re.compile(r"(?!)")
    between = re.compile(r"\b(?:between|from) $")
    until = re.compile(r" (?:and|to) ")
    through = re.compile(r" to ")
    aside = re.compile(r"\baccording to\b")
    measures = re.compile(r"\bper (?P<first>[a-z]+) and per (?P<second>[a-z]+)\b")
    verb = re.compile(r" (?P<verb>[a-z]{4,})")
    asked = re.compile(r"\b(?:what|which) $")
    ordinal = r"(?:first|second|third)"

    def find_dates(self, text: str, *, default_year: int | None = None) -> list[FoundDate]:
        return [
            FoundDate(*m.span(), date(int(m[0]), 1, 1), date(int(m[0]), 12, 31), "year")
            for m in re.finditer(r"\b20\d\d\b", text)
        ]

    def find_numbers(self, text: str) -> list[FoundNumber]:
        return find_numbers(re.sub("|".join(_SMALL), lambda m: _SMALL[m[0]], text))

    def find_provisions(self, text: str) -> list[FoundProvision]:
        return [FoundProvision(*m.span(), f"art:{m[1]}") for m in re.finditer(r"\bsection (\d+)", text)]

    def content_words(self, text: str) -> tuple[str, ...]:
        stop = {
            "the",
            "of",
            "and",
            "what",
            "who",
            "is",
            "was",
            "a",
            "in",
            "did",
            "does",
            "when",
            "how",
            "much",
            "for",
        }
        return tuple(w for w in re.findall(r"\w+", fold(text)) if w not in stop)


RULES = """
[[rule]]
id = "ask"
emits = "ask"
pattern = '\\b(?:what|who|when|how much)\\b'
examples = ["who keeps it"]
counterexamples = ["the keeper"]
source = "test"
[[rule]]
id = "much"
emits = "value"
pattern = '\\bhow much\\b'
examples = ["how much is it"]
counterexamples = ["how many"]
source = "test"
[[rule]]
id = "who"
emits = "actor"
pattern = '\\bwho\\b'
examples = ["who keeps it"]
counterexamples = ["whose"]
source = "test"
[[rule]]
id = "force"
emits = "date"
role = "effect"
pattern = '\\bwhen\\b[^?]{0,60}?\\bin(?:to)? force\\b'
examples = ["when did it come into force"]
counterexamples = ["when was it signed"]
source = "test"
[[rule]]
id = "items"
emits = "items"
pattern = '\\bwhat are the (?P<n>{N}) (?P<noun>[a-z]+s)\\b'
examples = ["what are the three buoys"]
counterexamples = ["what are buoys"]
source = "test"
[[rule]]
id = "gazetted"
emits = "before"
role = "publication"
pattern = '\\bgazetted in $'
examples = ["the act gazetted in "]
counterexamples = ["the act of "]
source = "test"
"""
ALIASES = """
stop_words = ["say"]
[instruments]
heads = ["act", "order"]
connectors = ["of", "the"]
[identifiers]
partial = '(?!)'
[[indicator]]
name = "harbour rate"
aliases = ["harbour rate"]
"""
MESSAGES = {
    "label": {
        "value_bare": "value", "date_effect": "in force from: {subject}", "actor": "who: {subject}",
        "item": "{noun} {ordinal} of {of}", "provision": "text of {path}", "topic": "{subject}",
        "in_provision": "{label} in {path}", "from_source": "{label} of {source}",
    },
    "path": {"art": "section {n}"},
    "premise": {"number": "{expected}", "instrument": "{expected}", "provision": "{expected}"},
}  # fmt: skip


def engine() -> Engine:
    aliases = load_aliases(ALIASES)
    language = English()
    return Engine(
        load_rules(RULES, placeholders(language, aliases)), aliases, Labels(MESSAGES), language, lambda text: ()
    )


def required(text: str) -> list[object]:
    subs = engine().decompose(Question(text=text, as_of=date(2032, 1, 1)))
    return [r for s in subs for r in s.requirements]


def test_the_rules_hold_their_own_examples() -> None:
    for rule in engine().rules.rules:
        assert all(rule.pattern.search(e) for e in rule.examples)
        assert not any(rule.pattern.search(e) for e in rule.counterexamples)


def test_parts_types_and_slots() -> None:
    who, when = required("Who keeps the buoys and when did the order come into force?")
    assert isinstance(who, ActorRequired)
    assert isinstance(when, DateRequired)
    assert when.role is DateRole.EFFECT
    (value,) = required("How much is the harbour rate for 2031?")
    assert isinstance(value, ValueRequired)
    assert value.indicator == "harbour rate"
    assert value.period is not None
    assert value.period.start == date(2031, 1, 1)


def test_items_and_provisions_of_a_gazetted_act() -> None:
    found = required("What are the three duties of section 4 of the Act of Lights gazetted in 2031?")
    assert len(found) == 3
    for item in found:
        assert isinstance(item, ItemRequired)
        assert item.path == "art:4"
        assert item.source.published_from == date(2031, 1, 1)
    (provision,) = required("What does section 9 say?")
    assert isinstance(provision, ProvisionRequired)
    assert provision.label == "text of section 9"


def test_anything_else_is_a_topic() -> None:
    (topic,) = required("Tell me of gulls.")
    assert isinstance(topic, TopicRequired)
    assert "gulls" in topic.terms
