"""Mentions of provisions in questions and passages: `fracción II del artículo 3` → `art:3/frac:II`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache

from dofrag.domain.records import dataclass
from dofrag.text.fold import fold_chars
from dofrag.text.paths import (
    ANNEX_NUMBER,
    ARTICLE_NUMBER,
    DIVISION_NUMBER,
    DOTTED_NUMBER,
    LEVELS,
    ROMAN_NUMBER,
    WORD_NUMBER,
    canonical_number,
)
from dofrag.text.patterns import late


@dataclass(frozen=True, slots=True)
class FoundProvision:
    """A provision that `[start, end)` of the text speaks of. One phrase may name several (`numerales 8.3 y 8.4`):
    then each carries the span of the whole phrase."""

    start: int
    end: int
    path: str


@dataclass(frozen=True, slots=True)
class _Mention:
    """One phrase of one kind, with the numbers it names."""

    start: int
    end: int
    kind: str
    numbers: tuple[str, ...]


_SEP = r"(?:[ ]*,[ ]*(?:y[ ]+)?|[ ]+(?:y|e|o|u|al?)[ ]+(?:el[ ]+|la[ ]+)?)"
_MAX = 40  # provisions of one phrase


@dataclass(frozen=True, slots=True)
class _Unit:
    """How one kind is mentioned. `words`: one of them stands in any text that the pattern could find something in, so
    that a pattern (they are long) is compiled and tried only where it may."""

    kind: str
    words: tuple[str, ...]
    source: str

    def finditer(self, folded: str) -> Iterator[re.Match[str]]:
        if not any(word in folded for word in self.words):
            return iter(())
        return _compiled(self.source).finditer(folded)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


# "el artículo 3 y el 7" names two; "el artículo 3 y el 7 de agosto", "el artículo 3 y el 5 por ciento" do not.
_NO_PROVISION = (
    r"[ ]*(?:%|por[ ]+ciento|dias?\b|meses\b|años?\b|de[ ]+(?:\d{4}|enero|febrero|marzo|abril|mayo|junio|julio"
    r"|agosto|sep?tiembre|octubre|noviembre|diciembre))|[ ]+parrafo|[ ]+transitori"
)


def _unit(kind: str, words: tuple[str, ...], singular: str, plural: str, number: str) -> _Unit:
    """`singular number`, or `plural number, number y number`. Counted repetition keeps it linear."""
    source = (
        rf"\b(?:(?:{singular})[ ]+(?P<pair>(?:{number})[ ]+y[ ]+(?:(?:el|la)[ ]+(?:{number})"
        rf"|(?:{number})(?=[ ]+(?:del?|constitucional)\b|[ ]*[,.;?)]|[ ]*$)))(?!{_NO_PROVISION})"
        rf"|(?:{singular})[ ]+(?P<one>{number})"
        rf"|(?:{plural})[ ]+(?P<many>(?:{number})(?:{_SEP}(?:{number})){{0,30}}))"
    )
    return _Unit(kind, words, source)


_PARAGRAPH = rf"(?:(?:ante)?penultimo\b|ultimo\b|{WORD_NUMBER})"
_LETTER = r"(?:[a-zñ]{1,2}\)|[a-zñ](?![a-zñ0-9.]))"
_TRANSITORY = rf"{WORD_NUMBER}|\d{{1,2}}(?:[oº]\.?)?\b"
# In this order: a phrase that an earlier pattern took is not read again by a later one.
_UNITS = (
    _Unit("trans", ("transitori",), (
        rf"\b(?:(?:articulos?|disposicion(?:es)?)[ ]+)?(?P<many>(?:{WORD_NUMBER})(?:{_SEP}(?:{WORD_NUMBER})){{0,12}})"
        r"[ ]+(?:(?:articulos?|parrafos?)[ ]+)?transitori[oa]s?\b")),
    _Unit("trans", ("transitori",), (
        rf"\b(?:(?:articulos?|disposicion(?:es)?)[ ]+)?transitori[oa]s?[ ]+(?:articulos?[ ]+)?"
        rf"(?P<many>(?:{_TRANSITORY})(?:{_SEP}(?:{_TRANSITORY})){{0,12}})")),
    _Unit("par", ("parrafo",), (rf"\b(?P<many>{_PARAGRAPH}(?:{_SEP}{_PARAGRAPH}){{0,6}})[ ]+parrafos?\b")),
    _unit("par", ("parrafo",), "parrafo", "parrafos", _PARAGRAPH),
    _unit("frac", ("frac",), r"fraccion|fracc\.|fracc|frac\.", r"fracciones|fraccs\.", ROMAN_NUMBER),
    _unit("inc", ("inciso",), "inciso", "incisos", _LETTER),
    _unit("art", ("art",), r"articulo|art\.|art", r"articulos|arts\.|arts", rf"{ARTICLE_NUMBER}|{WORD_NUMBER}"),
    _unit("num", ("numeral", "punto"), "numeral|punto", "numerales|puntos", rf"{DOTTED_NUMBER}|\d{{1,3}}\b(?!\.\d)"),
    _unit("regla", ("regla",), "regla", "reglas", DOTTED_NUMBER),
    _unit("anx", ("anexo",), "anexo", "anexos", rf"(?:no\.?[ ]+)?(?:{ANNEX_NUMBER})"),
    _unit("ap", ("apartado",), "apartado", "apartados", r"[a-z](?![a-z0-9.])"),
    _unit("cla", ("clausula",), "clausula", "clausulas", DIVISION_NUMBER),
    _unit("cap", ("capitulo",), "capitulo", "capitulos", DIVISION_NUMBER),
    _unit("tit", ("titulo",), "titulo", "titulos", DIVISION_NUMBER),
    _unit("sec", ("seccion",), "seccion", "secciones", DIVISION_NUMBER),
    # "el 15-A de la LFT": a number with a letter, after an article, needs no noun.
    _Unit("art", ("-",), (r"\b(?:el|del|al)[ ]+(?P<one>\d{1,4}-[a-z])\b(?=[ ]+(?:del?|de la|constitucional)\b)")),
)  # fmt: skip
_SEPARATOR = late(_SEP)
_RANGE = late(r"[ ]+al?[ ]+(?:el[ ]+)?")
_FORWARD = late(r"(?:,?[ ]+constitucional)?[ ]*,?[ ]*(?:(?:en[ ]+|y[ ]+)?su[ ]+)?(?:(?:apartado|base)[ ]+)?")
_INWARD = late(r"[ ]*,?[ ]+(?:del?|de la|de los|de las|al|a la)[ ]+(?:citado[ ]+|propio[ ]+|mismo[ ]+)?")


def find_provisions(text: str) -> list[FoundProvision]:
    """Provisions that a text mentions, in order. `artículo 4o., párrafo octavo` and the inverted `párrafo octavo del
    artículo 4o.` give the same path; a list gives one for each; `artículos 5 al 8` gives four."""
    folded = fold_chars(text)
    found: list[FoundProvision] = []
    for group in _chains(folded, _mentions(folded)):
        ordered = _outer_first(group)
        start, end = min(m.start for m in group), max(m.end for m in group)
        choices = itertools.product(*([f"{m.kind}:{n}" for n in m.numbers] for m in ordered))
        for path in itertools.islice(choices, _MAX):
            found.append(FoundProvision(start, end, "/".join(path)))
    return found


def _outer_first(group: list[_Mention]) -> list[_Mention]:
    """The mentions of one place, outer first. A paragraph is of whatever it is named after (`fracción IV, segundo
    párrafo`) or before (`segundo párrafo de la fracción IV`)."""
    ordered = sorted((m for m in group if m.kind != "par"), key=lambda m: LEVELS.get(m.kind, 4))
    for n, mention in enumerate(group):
        if mention.kind == "par":
            holder = group[n - 1] if n else group[1] if len(group) > 1 else None
            ordered.insert(ordered.index(holder) + 1 if holder else 0, mention)
    return ordered


def _mentions(folded: str) -> list[_Mention]:
    mentions: list[_Mention] = []
    busy = bytearray(len(folded))
    for unit in _UNITS:
        for match in unit.finditer(folded):
            start, end = match.span()
            if any(busy[start:end]):
                continue
            group = next(name for name, value in match.groupdict().items() if value)
            numbers = _numbers(unit.kind, match[group])
            if not numbers:
                continue
            busy[start:end] = b"\x01" * (end - start)
            mentions.append(_Mention(start, end, unit.kind, numbers))
    return sorted(mentions, key=lambda m: m.start)


def _numbers(kind: str, listed: str) -> tuple[str, ...]:
    """Canonical numbers of a list such as `8.3, 8.4 y 8.5` or `5 al 8`."""
    numbers: list[str] = []
    at = gap = 0
    for separator in itertools.chain(_SEPARATOR.finditer(listed), (None,)):
        raw = listed[at : separator.start() if separator else len(listed)]
        number = raw if raw in _LAST else canonical_number(kind, raw.rstrip(")"))
        if number is not None:
            plain = number.isdigit() and bool(numbers) and numbers[-1].isdigit()
            if plain and _RANGE.fullmatch(listed, at - gap, at):
                numbers.extend(str(n) for n in range(int(numbers[-1]) + 1, int(number))[:_MAX])
            numbers.append(number)
        if separator:
            at, gap = separator.end(), len(separator.group())
    return tuple(dict.fromkeys(numbers))[:_MAX]


_LAST = frozenset({"ultimo", "penultimo", "antepenultimo"})


def _chains(folded: str, mentions: list[_Mention]) -> list[list[_Mention]]:
    """Mentions that together name one place: `artículo 3, fracción II`, `fracción II del artículo 3`."""
    chains: list[list[_Mention]] = []
    for mention in mentions:
        if chains:
            before = chains[-1][-1]
            kinds = {m.kind for m in chains[-1]}
            deeper = LEVELS.get(mention.kind, 4) > LEVELS.get(before.kind, 4)
            links = [_FORWARD if deeper else _INWARD]
            if mention.kind == "par" or before.kind == "par":  # a paragraph may be of anything
                links = [_FORWARD, _INWARD]
            if mention.kind not in kinds and any(k.fullmatch(folded, before.end, mention.start) for k in links):
                chains[-1].append(mention)
                continue
        chains.append([mention])
    return chains
