"""The slots of a question: its dates with their roles, provisions, instruments, issuers, indicators, zones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

from dofrag.domain.question import DateRole
from dofrag.domain.records import dataclass
from dofrag.profiles.aliases import Aliases, Found
from dofrag.profiles.bodies import Spanned, issuers_of, unknown_issuers, zones_of
from dofrag.profiles.language import Language
from dofrag.profiles.named import Name, blanked, descriptions, entities
from dofrag.profiles.rules import Rule, RuleSet
from dofrag.text.dates import FoundDate
from dofrag.text.fold import fold, fold_chars
from dofrag.text.mentions import FoundProvision

REFERENCE = "reference"
"""Role of a date that a value is only compared with; every other role is a `DateRole`."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A date of the question and what it is the date of. `rule` names the row that told its role, "" if none did.
    `opened`: the time that it begins or ends, where the words before it say so ("hasta junio de 2031")."""

    found: FoundDate
    role: str
    rule: str
    opened: FoundDate | None = None

    @property
    def start(self) -> int:
        return self.found.start

    @property
    def end(self) -> int:
        return self.found.end


@dataclass(frozen=True, slots=True)
class Provision:
    """A provision that the question speaks of. `use`: "asked" for its text, "cited" when it is only invoked,
    "amended" when it is what a reform changed."""

    start: int
    end: int
    path: str
    use: str


@dataclass(frozen=True, slots=True)
class Instrument:
    """A named law, plan or programme. `words` are its folded content words; `use` as for provisions, or "source"."""

    start: int
    end: int
    text: str
    words: tuple[str, ...]
    use: str = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that was read off the question before its parts are looked at."""

    dates: tuple[Dated, ...]
    provisions: tuple[Provision, ...]
    instruments: tuple[Instrument, ...]
    identifiers: tuple[Spanned, ...]
    issuers: tuple[Spanned, ...]
    indicators: tuple[Found, ...]
    frequencies: tuple[Found, ...]
    zones: tuple[Spanned, ...]
    editions: tuple[Spanned, ...]
    cites: tuple[Spanned, ...]  # verbs of citing: they tell how provisions are used, not what is asked
    entities: tuple[Name, ...]
    descriptions: tuple[Name, ...]  # of instruments
    measures: tuple[Spanned, ...]  # amounts, surfaces and percentages that the question itself states
    gazette_only: bool


def read_facts(
    text: str,
    as_of: date,
    *,
    rules: RuleSet,
    aliases: Aliases,
    language: Language,
    identifiers: Callable[[str], tuple[str, ...]],
) -> Facts:
    """Read the slots of a question. Spans are characters of `text`."""
    folded = fold_chars(text)
    found = language.find_provisions(text)
    named = _instruments(text, folded, aliases, language)
    dates = joined(_dates(text, folded, as_of, rules, language), folded, language)
    taken = [(n.start, n.end) for n in named]
    # `Ley Reglamentaria del Artículo 27`: that provision is part of a name, and nothing is asked of it.
    found = [f for f in found if not any(s <= f.start and f.end <= e for s, e in taken)]
    free = blanked(folded, taken)
    provisions = _provisions(free, found, rules)
    acts = [m.end() for r in rules.of("act") for m in r.pattern.finditer(folded)]
    facts = Facts(
        dates=tuple(d for d in dates if not any(s <= d.start and d.end <= e for s, e in taken)),
        provisions=provisions,
        instruments=_uses(folded, named, provisions, acts),
        identifiers=_identifiers(text, folded, aliases, identifiers),
        issuers=(),
        indicators=tuple(aliases.indicators.find(folded)),
        frequencies=_frequencies(folded, rules, aliases),
        zones=zones_of(text, folded, rules, aliases),
        editions=tuple(Spanned(f.start, f.end, f.alias.name) for f in aliases.editions.find(folded)),
        cites=tuple(Spanned(*m.span(), m.group()) for r in rules.of("cites") for m in r.pattern.finditer(free)),
        entities=(),
        descriptions=(),
        measures=tuple(
            Spanned(n.start, n.end, text[n.start : n.end])
            for n in language.find_numbers(text)
            if n.kind in ("surface", "money", "percent")
        ),
        gazette_only=rules.any("gazette", free),
    )
    slots: list[Any] = [*facts.dates, *facts.provisions, *facts.identifiers, *facts.indicators]
    slots += [*facts.frequencies, *facts.zones, *facts.editions, *facts.measures]
    held = [(s.start, s.end) for s in slots]
    names = [(s.start, s.end) for s in facts.instruments]
    spans: list[Any] = [*facts.instruments, *facts.identifiers, *facts.provisions]
    named_at = [s.start for s in spans]
    known = issuers_of(text, folded, rules, aliases)
    found_names = entities(text, folded, [*held, *names, *((s.start, s.end) for s in known)], aliases, language)
    issuers = known or unknown_issuers(text, folded, found_names, rules)
    taken = [(s.start, s.end) for s in issuers]
    return replace(
        facts,
        issuers=issuers,
        entities=tuple(n for n in found_names if not any(a <= n.start < b for a, b in taken)),
        descriptions=descriptions(folded, [*held, *names, *taken], named_at, aliases, language),
    )


def _frequencies(folded: str, rules: RuleSet, aliases: Aliases) -> tuple[Found, ...]:
    """Without those in turns of speech ("año por año")."""
    polite = [m.span() for r in rules.of("courtesy") for m in r.pattern.finditer(folded)]
    found = aliases.frequencies.find(folded)
    return tuple(f for f in found if f.alias.name and not any(a <= f.start < b for a, b in polite))


def within(facts: Facts, reach: Sequence[tuple[int, int]]) -> Facts:
    """The facts that begin in one of these stretches."""

    def inside(found: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(one for one in found if any(a <= one.start < b for a, b in reach))

    kept: dict[str, Any] = {f.name: inside(getattr(facts, f.name)) for f in fields(facts) if f.name != "gazette_only"}
    return replace(facts, **kept)


def _dates(text: str, folded: str, as_of: date, rules: RuleSet, language: Language) -> list[Dated]:
    years = {d.first.year for d in language.find_dates(text) if d.year_given}
    # A day without a year is of the one year that the question names, else of the last year in which it had come.
    default = years.pop() if len(years) == 1 else None
    found = language.find_dates(text, default_year=default if default is not None else as_of.year)
    dated: list[Dated] = []
    for one in found:
        if not one.year_given and default is None and one.first > as_of and one.first.day < 29:
            one = replace(
                one, first=one.first.replace(year=as_of.year - 1), last=one.last.replace(year=as_of.year - 1)
            )
        before = folded[max(0, one.start - 110) : one.start]
        rule = next((r for r in rules.of("before") if r.pattern.search(before)), None)
        role, name = (rule.attributes["role"], rule.id) if rule else (DateRole.DATUM.value, "")
        near = dated and (
            one.start - dated[-1].end <= 6 or language.until.fullmatch(folded, dated[-1].end, one.start) is not None
        )
        if rule is None and near:
            role, name = dated[-1].role, dated[-1].rule  # "publicados el 3, el 4 y el 5 de mayo"
        dated.append(Dated(one, role, name, _opened(one, before, as_of, rules)))
    published = [d.found.first for d in dated if d.role == DateRole.PUBLICATION and d.found.precision == "day"]
    for rule in rules.of("relative"):
        today = rule.attributes.get("base") == "as_of"
        for match in rule.pattern.finditer(folded):
            before = folded[max(0, match.start() - 110) : match.start()]
            role = next((r.attributes["role"] for r in rules.of("before") if r.pattern.search(before)), "")
            # "hoy" dates what is published; the value or the rule of today is asked of what is in force.
            if today and role == DateRole.PUBLICATION:
                dated.append(_relative(match, as_of, rule, DateRole.PUBLICATION))
            elif not today and len(published) == 1:
                dated.append(_relative(match, published[0], rule, DateRole.DATUM))
    return sorted(dated, key=lambda d: d.start)


def _opened(one: FoundDate, before: str, as_of: date, rules: RuleSet) -> FoundDate | None:
    """The time that a date ends or begins, with the words that say so. It ends with the cut-off at the latest; one
    without a beginning has `date.min`. A date that has both ends of its own is none ("desde el 1 hasta el 30")."""
    sizes = {"day": 10, "month": 7, "year": 4}  # characters of an ISO date that its ends have in common
    if one.first.isoformat()[: sizes[one.precision]] != one.last.isoformat()[: sizes[one.precision]]:
        return None
    for rule in rules.of("edge"):
        if match := rule.pattern.search(before):
            start = one.start - len(before) + match.start()
            match rule.attributes["edge"]:
                case "until":
                    return replace(one, start=start, first=date.min)
                case "before":
                    return replace(one, start=start, first=date.min, last=one.first - timedelta(days=1))
                case "since":
                    return replace(one, start=start, last=max(one.last, as_of))
                case "after":
                    first = one.last + timedelta(days=1)
                    return replace(one, start=start, first=first, last=max(first, as_of))
    return None


def joined(dates: Sequence[Dated], folded: str, language: Language) -> tuple[Dated, ...]:
    """Publication dates, with both ends of a span (`entre enero y marzo de 2031`) as one."""
    out: list[Dated] = []
    for one in dates:
        last = out[-1] if out else None
        if (
            last is not None
            and last.role == one.role == DateRole.PUBLICATION
            and last.found.first <= one.found.first
            and language.until.fullmatch(folded, last.end, one.start)
            and language.between.search(folded[max(0, last.start - 12) : last.start])
        ):
            found = replace(last.found, end=one.end, last=one.found.last)
            out[-1] = Dated(found, last.role, last.rule)
        else:
            out.append(one)
    return tuple(
        Dated(one.opened, one.role, one.rule) if one.opened and one.role == DateRole.PUBLICATION else one
        for one in out
    )


def _relative(match: re.Match[str], base: date, rule: Rule, role: DateRole) -> Dated:
    day = base + timedelta(days=int(rule.attributes["days"]))
    return Dated(FoundDate(*match.span(), day, day, "day"), role, rule.id)


def _provisions(folded: str, found: Sequence[FoundProvision], rules: RuleSet) -> tuple[Provision, ...]:
    out: list[Provision] = []
    cites = [m.span() for r in rules.of("cites") for m in r.pattern.finditer(folded)]
    amends = [m.span() for r in rules.of("amends") for m in r.pattern.finditer(folded)]
    for one in found[:12]:
        use = "asked"
        transitory = one.path.startswith("trans")
        if not transitory and any(_near(folded, span, one) for span in cites):
            use = "cited"
        elif not transitory and any(
            0 <= one.start - end <= 70 and "?" not in folded[end : one.start] for _, end in amends
        ):
            use = "amended"
        out.append(Provision(one.start, one.end, one.path, use))
    return tuple(out)


def _near(folded: str, span: tuple[int, int], one: FoundProvision) -> bool:
    """Whether a verb of citing governs a provision: it stands within the same sentence, at most 120 signs away."""
    between = folded[span[1] : one.start] if span[1] <= one.start else folded[one.end : span[0]]
    return len(between) <= 120 and not re.search(r"[?;:]", between)


def _identifiers(
    text: str, folded: str, aliases: Aliases, identifiers: Callable[[str], tuple[str, ...]]
) -> tuple[Spanned, ...]:
    out: dict[int, Spanned] = {}
    for identifier in identifiers(text):
        at = folded.find(fold(identifier))
        if at >= 0 and not _YEAR.fullmatch(identifier):  # "convocatoria 2022" has a year, no number
            out[at] = Spanned(at, at + len(identifier), identifier)
    for match in aliases.partial_identifier.finditer(folded):
        if not any(s.start <= match.start() < s.end for s in out.values()):
            named = match.groupdict().get("id") or match.group()
            out[match.start()] = Spanned(*match.span(), named.upper())
    return tuple(out[at] for at in sorted(out))


_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PERIODS = re.compile(r"(?: | del? )(?:19|20)\d\d-(?:19|20)?\d\d(?:(?:, | y | e )(?:19|20)\d\d-(?:19|20)?\d\d)*")
_BARE_YEAR = re.compile(r" (?P<year>(?:19|20)\d\d)(?![\d-])")
_NUMBERED = re.compile(r"[/\d]")
_MAX_NAME_WORDS = 24


def _instruments(text: str, folded: str, aliases: Aliases, language: Language) -> list[Instrument]:
    out: list[Instrument] = []
    heads = "|".join(re.escape(h) for h in aliases.heads)
    spans = [(f.start, f.end, f.alias.name) for f in aliases.instruments.find(folded)]
    if heads:
        for match in re.finditer(rf"(?<![\w-])(?:{heads})(?![\w-])", folded):
            end = _name_end(text, folded, match.end(), aliases, language)
            if end > match.end() or _stands_alone(text, match.start()):
                spans.append((match.start(), end, text[match.start() : end]))
    titled = "|".join(re.escape(h) for h in aliases.titled)
    for match in re.finditer(rf"(?<![\w-])(?:{titled})(?![\w-])", folded) if titled else ():
        end = _name_end(text, folded, match.end(), aliases, language)
        if _stands_alone(text, match.start()) and end > match.end() and not _NUMBERED.search(text[match.end() : end]):
            spans.append((match.start(), end, text[match.start() : end]))
    for mention in language.find_provisions(text) if aliases.adjectives else ():
        word = _WORD.match(folded, mention.end + 1)
        if word is not None and word.group() in aliases.adjectives and not folded[mention.end].strip():
            spans.append((*word.span(), aliases.adjectives[word.group()]))
    last = -1
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < last:
            continue
        for one in _with_periods(folded, start, end, name, aliases, language):
            out.append(one)
            last = max(last, one.end)
    return out


def _stands_alone(text: str, start: int) -> bool:
    """`la Constitución`: a capital in the middle of a sentence makes a name of a single word."""
    return text[start].isupper() and start > 1 and text[start - 2] not in "?¿.:" and text[start - 1] == " "


def _name_end(text: str, folded: str, at: int, aliases: Aliases, language: Language) -> int:
    """Where the name that begins before `at` ends: after the last capitalised word that connectors join to it. An
    infinitive after *para* opens a stretch of lower-case words that the next capital closes
    (`Ley para regular las Instituciones de Tecnología Financiera`). What a law regulates is a provision of its name
    (`Ley Reglamentaria del artículo 27 Constitucional`)."""
    end, open_stretch, previous, regulating = at, False, "", False
    regulated_at = {m.start: m.end for m in language.find_provisions(text)} if aliases.regulating else {}
    for count, word in enumerate(_WORD.finditer(text, at)):
        if word.start() < end:
            continue  # of a provision that the name holds
        between = text[at if count == 0 else word.start() - 1 : word.start()]
        if count >= _MAX_NAME_WORDS or (between.strip() and between.strip() != ","):
            break
        if "," in text[max(at, word.start() - 2) : word.start()] and not word.group()[0].isupper():
            break
        token = folded[word.start() : word.end()]
        if token in language.conjunctions and _another(folded, word.end(), aliases):
            break  # "la Ley de Faros y la Ley de Boyas"
        if (token in aliases.validity or _YEAR.fullmatch(token)) and count == 0:
            previous = token  # "las reglas de operación vigentes de Boyas a Flote", "… 2031 de …"
            continue
        if regulating and (regulated := regulated_at.get(word.start())):
            end = regulated
        elif word.group()[0].isupper():
            end, open_stretch = word.end(), False
            regulating = regulating or token in aliases.regulating
        elif previous == "para" and token.endswith(("ar", "er", "ir")):
            open_stretch = True
        elif token not in aliases.connectors and not open_stretch:
            break
        if "," in text[word.end() : word.end() + 1] and not text[word.end() + 2 : word.end() + 3].isupper():
            break
        previous = token
    return end


def _another(folded: str, at: int, aliases: Aliases) -> bool:
    """Whether the noun that begins the name of an instrument stands here, after an article."""
    heads = "|".join(re.escape(h) for h in (*aliases.heads, *aliases.titled))
    return re.compile(rf" (?:[a-z]{{2,3}} ){{0,2}}(?:{heads})(?![\w-])").match(folded, at) is not None


def _with_periods(
    folded: str, start: int, end: int, name: str, aliases: Aliases, language: Language
) -> list[Instrument]:
    """A plan's period, or the year that stands right after the name of a budget, is part of the name; two periods
    make two instruments."""
    words = tuple(w for w in language.content_words(name) if w not in aliases.validity)
    periods = _PERIODS.match(folded, end)
    if periods:
        out: list[Instrument] = []
        for match in re.finditer(r"[\d-]{7,9}", folded[periods.start() : periods.end()]):
            at = periods.start() + match.start()
            span = (start if not out else at, at + len(match.group()))
            out.append(Instrument(*span, f"{name} {match.group()}", (*words, match.group())))
        return out
    year = _BARE_YEAR.match(folded, end)
    if year:
        return [Instrument(start, year.end(), f"{name} {year['year']}", (*words, year["year"]))]
    return [Instrument(start, end, name, words)]


def _uses(
    folded: str, named: list[Instrument], provisions: Sequence[Provision], acts: Sequence[int]
) -> tuple[Instrument, ...]:
    """`artículo 9 de la Ley X`, where the article is only invoked or amended, names no source."""
    out: list[Instrument] = []
    for one in named:
        use = one.use
        for provision in provisions:
            between = folded[provision.end : one.start] if provision.end <= one.start else "?"
            if provision.use != "asked" and len(between) < 24 and not re.search(r"[?;:]", between):
                use = provision.use
        if use == "source" and any(0 <= one.start - end <= 5 for end in acts):
            use = "object"  # "la Ley X abrogó el Código Y": what was acted on does not answer
        out.append(replace(one, use=use))
    return tuple(out)
