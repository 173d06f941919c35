"""The language tools that a profile's rule engine works with; Spanish is one set of them."""

from __future__ import annotations

import re
from typing import Protocol

from dofrag.text.dates import FoundDate, find_dates
from dofrag.text.fold import content_words
from dofrag.text.mentions import FoundProvision, find_provisions
from dofrag.text.numbers import FoundNumber, find_numbers
from dofrag.text.numwords import CARDINAL
from dofrag.text.patterns import late


class Language(Protocol):
    """Stateless. Patterns run over folded text."""

    number: str  # pattern of a whole number in digits or words
    quantity: str  # pattern of a quantity with its currency sign and decimals
    noun: str  # pattern of a word that may be what is counted: no connective
    interrogatives: frozenset[str]  # words that ask only where they carry an accent
    joint: re.Pattern[str]  # what must stand right before a word of asking for it to begin a part
    conjoined: re.Pattern[str]  # a conjunction at the end, which joins what stands before it to what follows
    coordination: re.Pattern[str]  # between two coordinated noun phrases
    span: re.Pattern[str]  # "from … to …", groups `first` and `last`
    determiner: re.Pattern[str]  # articles at the beginning of a noun phrase
    parallel: re.Pattern[str]  # two phrases that a repeated preposition coordinates, groups `first` and `second`
    pair: re.Pattern[str]  # two phrases after "between", groups `first` and `second`
    series: re.Pattern[str]  # three bare nouns or more in a row, group `list`
    stretch: re.Pattern[str]  # "from a draft to a norm", groups `first` and `last`
    side: re.Pattern[str]  # all that may stand between two names side by side
    conjunctions: frozenset[str]
    relative: str  # the word that begins a relative clause
    infinitive: re.Pattern[str]  # a verb that begins a clause of purpose after a preposition
    asked: re.Pattern[str]  # before an instrument that is asked for, or that is the object of an infinitive
    between: re.Pattern[str]  # before the first date of a span
    until: re.Pattern[str]  # all that stands between its two dates
    through: re.Pattern[str]  # all that stands between two years, where those between are meant too
    aside: re.Pattern[str]  # where what is defined ends and what defines it is named
    measures: re.Pattern[str]  # "per kilo and per litre", groups `first` and `second`
    verb: re.Pattern[str]  # what stands right after a word of asking who, group `verb`
    ordinal: str  # pattern of an ordinal before the noun

    def find_dates(self, text: str, *, default_year: int | None = None) -> list[FoundDate]: ...

    def find_numbers(self, text: str) -> list[FoundNumber]: ...

    def find_provisions(self, text: str) -> list[FoundProvision]: ...

    def content_words(self, text: str) -> tuple[str, ...]: ...


class Spanish:
    """Spanish, as the gazette of Mexico writes it."""

    number = rf"(?:\d{{1,4}}(?![\d.,/-]*\d)|{CARDINAL}(?:(?: y)? {CARDINAL}){{0,5}})"
    quantity = (
        rf"(?:(?:us)?\$ ?)?(?:(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,12}})(?:\.\d{{1,6}})?(?![\d/-]|[.,]\d)"
        rf"|{CARDINAL}(?:(?: y)? {CARDINAL}){{0,7}})"
    )
    noun = r"(?!(?:y|e|o|u|de|del|a|al|en|con|por|para|el|la|los|las|que|se|su|sus|mas|menos)\b)[a-zñ]{2,}"
    interrogatives = frozenset({"que", "como", "cuando", "donde", "quien", "quienes", "cual", "cuales", "cuanto"})
    joint = late(r"(?:^|[¿?¡!:;.,(]\s*|\b(?:y|e|o|u|pero|ademas|tambien)\s+)$")
    conjoined = late(r",? (?:y|e|o|u|ni|pero)(?: (?:ademas|tambien))? $")
    coordination = late(r",? (?:y|e) (?=(?:(?:para|de|en|a) )?(?:el|la|los|las|sus?) )|, (?=(?:el|la|los|las) )")
    span = re.compile(r"\bdesde (?P<first>.+?) hasta (?P<last>.+)", re.S)
    determiner = late(r"\b(?:el|la|los|las|un|una|unos|unas|al|del)\s+")
    parallel = late(
        r"\b(?P<p>de|con|en)(?:l| el| la| los| las)? (?P<first>[^,;:?]{3,80}?) y (?P=p)(?:l| el| la| los| las)? "
        r"(?P<second>[^,;:?]{3,80})"
    )
    pair = late(
        r"\bentre (?:el |la |los |las )?(?P<first>[a-zñ][^,;:?]{2,60}?) y (?:el |la |los |las )?"
        r"(?P<second>[a-zñ][^,;:?]{2,60})"
    )
    series = late(r"\b(?P<list>[a-zñ]{4,}(?:, [a-zñ]{4,}){1,8} y [a-zñ]{4,})\b")
    stretch = re.compile(r"\bde (?P<first>[a-zñ]{4,}(?: [a-zñ]+){0,3}) a (?P<last>[a-zñ].+)", re.S)
    side = late(r"(?:, |,? (?:y|e) )(?:(?:de|del|a|al|con|en|la|el|los|las|para|por) ){0,3}")
    conjunctions = frozenset({"y", "e"})
    relative = "que"
    infinitive = late(r"[a-zñ]{2,}(?:ar|er|ir)(?:se|l[aeo]s?)?")
    ordinal = r"(?:(?:primer|tercer)[ao]?|(?:segund|cuart|quint|sext|septim|octav|noven|decim|ultim)[ao])"
    between = late(r"\b(?:entre|del?|desde)(?: (?:el|la|los))? $")
    until = late(r" (?:y|al?|hasta)(?: (?:el|la))? ")
    through = late(r" (?:al?|hasta)(?: el(?: año)?)? ")
    aside = late(r"\b(?:segun|conforme a|de acuerdo con|en terminos de|para (?:los )?efectos)\b")
    measures = late(r"\bpor (?P<first>[a-zñ]{3,20}) (?:y|o) por (?P<second>[a-zñ]{3,20})\b")
    verb = late(
        r" (?:que )?(?:(?:se|le|les|l[ao]s?|no|pueden?|deben?|podran?|deberan?|corresponde) ){0,4}"
        r"(?P<verb>(?!(?:es|son|fue|fueron|era|eran|de|del|hay|en)\b)[a-zñ]{4,})"
    )
    asked = late(r"\b(?:que|cual|cuales|cuant[oa]s?|[a-zñ]{2,}(?:ar|er|ir)(?: (?:el|la|los|las|un|una|su|sus))?) $")

    def find_dates(self, text: str, *, default_year: int | None = None) -> list[FoundDate]:
        return find_dates(text, default_year=default_year)

    def find_numbers(self, text: str) -> list[FoundNumber]:
        return find_numbers(text)

    def find_provisions(self, text: str) -> list[FoundProvision]:
        return find_provisions(text)

    def content_words(self, text: str) -> tuple[str, ...]:
        return content_words(text)
