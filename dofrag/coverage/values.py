"""Whether a passage holds the value that is asked for: figure, unit, what it is of, how often, where and when."""

from __future__ import annotations

from functools import lru_cache

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.measures import column_fits, is_factor, said_after, unit_fits
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.qualifiers import falls_in, frequency_costs, period_costs, zone_costs
from dofrag.coverage.quantities import Quantity
from dofrag.coverage.source import about, closeness, held, meant, names_anything, telling_terms
from dofrag.coverage.spans import quotable_span
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.evidence import QUOTE_MAX
from dofrag.domain.question import Period, Status, ValueRequired
from dofrag.domain.records import dataclass
from dofrag.text.fold import content_words, fold, stem, words

LENGTHS = frozenset(("days", "calendar_days", "working_days", "months", "years", "hours"))
OTHER_DATE = "another date than the one asked"


@dataclass(frozen=True, slots=True)
class _Found:
    cost: int
    quantity: Quantity
    sentence: Sentence
    more: tuple[tuple[int, int], ...]  # what must be quoted as well: the line that dates it


def value_support(requirement: ValueRequired, prepared: PreparedPassage) -> Support:
    """The best value of the passage that fits every slot; else which slot is missing."""
    found: list[_Found] = []
    misses: list[str] = []
    bears = False
    if requirement.indicator and prepared.passage.publication.consolidated and not names_anything(requirement.source):
        return Support(Status.OPEN, "a consolidated law fixes no value of a published indicator")
    titled, anywhere = _borne(requirement, prepared)
    priced = requirement.unit is None and any(stem(t) in wordset("prices") for t in requirement.terms)
    if not titled and not anywhere:
        return Support(Status.OPEN, "nothing read speaks of it")
    increase = any(stem(t) in wordset("increases") for t in requirement.terms)
    other = _unqualified(requirement, prepared)
    if other:
        return Support(Status.OPEN, f"not said of {other}")
    for index in _speaking(requirement, prepared, titled):
        sentence = prepared.sentences[index]
        bears = True
        if not increase and cue("added_to").search(sentence.folded):
            misses.append("what is added to it")
            continue
        figures = [q for q in sentence.quantities if unit_fits(requirement.unit, q)]
        figures = [q for q in figures if not priced or (q.unit and q.unit not in LENGTHS and q.kind != "surface")]
        figures = figures or [q for q in sentence.quantities if said_after(requirement.unit, q, sentence)]
        if not figures and sentence.header is not None:
            figures = [q for q in sentence.quantities if column_fits(requirement.unit, q, sentence, prepared)]
        plain = [q for q in figures if requirement.unit == "money" or not is_factor(q, prepared)]
        # "El tope será de 500 veces la unidad": where nothing else is said, that is what it amounts to.
        figures = plain or [q for q in figures if requirement.indicator is None and cue("times_unit").match(q.noun)]
        figures = [q for q in figures if not _counts_it(requirement, q)]
        if not figures:
            misses.append(f"no figure in {requirement.unit or 'any unit'}")
            continue
        found += _fitting(requirement, prepared, index, figures, misses)
    if not found:
        why = misses[-1] if misses else "nothing read speaks of it"
        if OTHER_DATE in misses or not _mentions(requirement.period, prepared):
            return Support(Status.OPEN, OTHER_DATE)  # the value of another period is no trace of this one
        return Support(Status.READ if bears else Status.OPEN, why)
    subject = _subject(requirement)
    best = min(found, key=lambda f: (f.cost - 40 * closeness(subject, f.sentence), f.quantity.start))
    same = [f for f in found if f.quantity.text == best.quantity.text and f.quantity.unit == best.quantity.unit]
    proofs = tuple(
        Proof(((f.quantity.start, f.quantity.end), *f.more), f.quantity.text)
        for f in sorted(same, key=lambda f: (f is not best, f.quantity.start))
    )
    span = quotable_span(prepared.text, best.sentence.span, (best.quantity.start, best.quantity.end))
    shown = prepared.text[best.quantity.start : best.quantity.end]
    spans = (span, *best.more)
    if best.sentence.header is not None and span[0] - best.sentence.header[0] <= QUOTE_MAX // 2:
        # A cell is read with the header of its table.
        spans = (best.sentence.header, *spans)
    rank = closeness(subject, best.sentence) + 2 * _titled_by(subject, requirement, prepared)
    rank += 2 * _begins_with(subject, best.sentence)
    return Support(Status.SUPPORTED, f"{shown.strip()} fits", spans, (best.quantity.text,), proofs, rank=rank)


def _begins_with(subject: tuple[str, ...], sentence: Sentence) -> bool:
    """Whether a sentence is about what is asked, and does not speak of it by the way: it begins with it."""
    mark = sentence.mark.end if sentence.mark else 0
    first = [stem(w) for w in content_words(sentence.folded[mark : mark + 60])][:2]
    return bool(subject) and any(meant(subject[0], (word,)) for word in first)


def _counts_it(requirement: ValueRequired, quantity: Quantity) -> bool:
    """Whether a figure is a number of the indicator's own units (`de cien a doscientas unidades de cuenta`): it says
    what something costs in them, not what one of them is worth."""
    if requirement.unit not in (None, "money", "MXN"):
        return False  # how many of them there are is what is asked
    if quantity.kind in ("money", "percent", "surface", "duration"):
        return False
    following = [stem(w) for w in content_words(quantity.noun)][:6]
    called = names(requirement) or (" ".join(requirement.terms),)
    spelled = (tuple(stem(w) for w in content_words(name) if stem(w) not in wordset("slots")) for name in called)
    return any(n and n == tuple(following[at : at + len(n)]) for n in spelled for at in range(3))


def _unqualified(requirement: ValueRequired, prepared: PreparedPassage) -> str:
    """The first word that narrows the indicator (*subyacente*, *en euros*, *de un chofer*) and that neither the
    passage nor its title says: without it, the value is that of another series. "" when every one is said."""
    if requirement.indicator is None:
        return ""
    narrowing = telling_terms(requirement.terms, requirement.source, requirement.indicator, *requirement.names)
    own = prepared.wide
    said = (s for s in narrowing if s not in wordset("standing"))
    return next((s for s in said if not held(s, prepared.stems) and not held(s, own)), "")


def _speaking(requirement: ValueRequired, prepared: PreparedPassage, titled: bool) -> tuple[int, ...]:
    """Which sentences are about what is asked. The same for every period, zone and frequency of it."""
    by_source = names_anything(requirement.source) or bool(requirement.entities)
    key = ("speaking", requirement.indicator, requirement.names, _subject(requirement), by_source)
    if key in prepared.memo:
        known: tuple[int, ...] = prepared.memo[key]
        return known
    found: list[int] = []
    spoke: int | None = None  # end of the last sentence that speaks of it by name
    for index, sentence in enumerate(prepared.sentences):
        if sentence.heading:
            continue  # a title never supports a value
        if speaks_of(requirement, sentence, prepared, titled=titled):
            spoke = sentence.end
        elif not (titled and spoke is not None and "\n\n" not in prepared.text[spoke : sentence.start]):
            # In a notice about the indicator, a paragraph that began with it goes on with it.
            continue
        found.append(index)
    prepared.memo[key] = tuple(found)
    return tuple(found)


def _titled_by(subject: tuple[str, ...], requirement: ValueRequired, prepared: PreparedPassage) -> int:
    """How far the title is about the subject: a notice about it outweighs one that happens to speak of it."""
    own = prepared.wide
    return sum(held(s, own) for s in subject) + (2 if requirement.indicator and _titled(requirement, prepared) else 0)


def _mentions(period: Period | None, prepared: PreparedPassage) -> bool:
    """Whether anything in the passage, its title or its headings names a date of the period."""
    return period is None or any(falls_in(d, period) for d in (*prepared.dates, *prepared.title_dates))


def _subject(requirement: ValueRequired) -> tuple[str, ...]:
    said = (requirement.zone or "", " ".join(names(requirement)))
    own = telling_terms(requirement.terms, requirement.source, *said)
    return tuple(s for s in own if s not in wordset("plain")) or own


def names(requirement: ValueRequired) -> tuple[str, ...]:
    """Spellings of the indicator, the canonical one first."""
    if requirement.indicator is None:
        return ()
    return (requirement.indicator, *requirement.names)


def speaks_of(
    requirement: ValueRequired, sentence: Sentence, prepared: PreparedPassage, *, titled: bool = False
) -> bool:
    """Whether a sentence is about the indicator, by any of its names, or about the subject. In a notice whose title
    names the indicator (`titled`) a word of its name will do."""
    if requirement.indicator is None:
        # A figure that shares only some words with the question is another figure, unless its source is named.
        share = 0.5 if names_anything(requirement.source) or requirement.entities else 0.65
        subject = _subject(requirement)
        return about(subject, sentence, prepared, share=share) or _told_by_title(
            requirement, subject, sentence, prepared
        )
    near = sentence.near
    spelled = _spelled(requirement)
    if any(all(held(s, near) for s in name) for name in spelled):
        return True
    if any(len(n) > 2 and 10 * sum(held(s, near) for s in n) >= 6 * len(n) for n in spelled):
        return False  # most of the name but not all of it: a sister of the indicator
    parts = {s for name in spelled for s in name}
    return titled and (
        sentence.header is not None or bool(parts & near) or any(held(s, near) for s in _subject(requirement))
    )


def _told_by_title(
    requirement: ValueRequired, subject: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage
) -> bool:
    """Whether a sentence or a row tells of a zone or of how often, where that is asked, in a notice whose title is
    all of the subject."""
    zoned = requirement.zone is not None and (sentence.header is not None or bool(sentence.zones))
    told = zoned or (requirement.frequency is not None and bool(sentence.frequencies))
    return told and bool(subject) and all(meant(s, prepared.title_stems) for s in subject)


def _spelled(requirement: ValueRequired) -> tuple[frozenset[str], ...]:
    """Each spelling of the indicator as stems."""
    return _spellings(requirement.indicator, names(requirement))


@lru_cache(maxsize=1024)
def _spellings(indicator: str | None, spelled: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    # A number in the indicator ("TIIE 28") tells it from its sisters, whatever name it goes by.
    variant = {w for w in words(indicator or "") if w.isdigit()}
    found = [frozenset(stem(w) for w in content_words(name)) for name in spelled]
    return tuple(name | variant for name in found if name)


def _anywhere(requirement: ValueRequired, prepared: PreparedPassage) -> bool:
    """Whether the passage as a whole holds the words: no sentence can where it does not."""
    if requirement.indicator is not None:
        return any(all(held(s, prepared.stems) for s in name) for name in _spelled(requirement))
    subject = _subject(requirement)
    return (
        not subject or any(meant(s, prepared.stems) for s in subject) or all(meant(s, prepared.wide) for s in subject)
    )


def _borne(requirement: ValueRequired, prepared: PreparedPassage) -> tuple[bool, bool]:
    """Whether the title names what is asked, and whether anything in the passage does."""
    key = ("borne", requirement.indicator, requirement.names, _subject(requirement))
    if key not in prepared.memo:
        prepared.memo[key] = _titled(requirement, prepared), _anywhere(requirement, prepared)
    known: tuple[bool, bool] = prepared.memo[key]
    return known


def _titled(requirement: ValueRequired, prepared: PreparedPassage) -> bool:
    own = prepared.wide
    return any(all(held(s, own) for s in name) for name in _spelled(requirement))


def _fitting(
    requirement: ValueRequired, prepared: PreparedPassage, index: int, figures: list[Quantity], misses: list[str]
) -> list[_Found]:
    sentence = prepared.sentences[index]
    spans = [(q.start - sentence.start, q.end - sentence.start) for q in figures]
    often = frequency_costs(requirement, prepared, index, spans)
    where = zone_costs(requirement, prepared, index, spans)
    when = period_costs(requirement.period, prepared, index, spans)
    out: list[_Found] = []
    for quantity, frequency, zone, period in zip(figures, often, where, when, strict=True):
        if period is None:
            misses.append(OTHER_DATE)
        elif frequency is None:
            misses.append(f"not {requirement.frequency}")
        elif zone is None:
            misses.append(f"another zone than {requirement.zone}")
        else:
            apart = _apart(requirement, quantity, sentence) + (0 if requirement.unit or quantity.unit else BARE)
            out.append(_Found(frequency + zone + period[0] + apart, quantity, sentence, period[1]))
    return out


BARE = 150
"""What a figure without a unit weighs against one that has one, in characters."""


def _apart(requirement: ValueRequired, quantity: Quantity, sentence: Sentence) -> int:
    """How far a figure stands from the indicator's name, where a sentence names it among others: the nearest figure
    after the name is its own."""
    if requirement.indicator is None or sentence.header is not None or len(sentence.quantities) < 2:
        return 0
    at = quantity.start - sentence.start
    costs = [100]
    for name in (fold(n) for n in names(requirement)):
        start = sentence.folded.rfind(name, 0, at)
        # A name that runs on (`CCP` in `CCP-UDIS`) is a sister's.
        while start >= 0 and _runs_on(sentence.folded, start, start + len(name)):
            start = sentence.folded.rfind(name, 0, start)
        if start >= 0:
            between = sum(start <= q.start - sentence.start < at for q in sentence.quantities)
            costs.append(min(at - start - len(name), 60) + 20 * between)
    return min(costs)


def _runs_on(text: str, start: int, end: int) -> bool:
    return (
        text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or text[end : end + 2].strip("-").isalnum()
    )
