"""Parts of the closure check: computations recomputed, and claims that say what they quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from dofrag.coverage.compute import NotComputable, agrees, recompute
from dofrag.coverage.cues import cue
from dofrag.coverage.facts import Facts, facts_of
from dofrag.coverage.interface import Proof
from dofrag.coverage.prepared import PreparedPassage, zones
from dofrag.coverage.quantities import canonical
from dofrag.coverage.source import held
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.evidence import Computation
from dofrag.text.dates import find_dates
from dofrag.text.fold import content_words, fold, fold_chars, stem, stems
from dofrag.text.numbers import find_numbers


def identity_facts(passages: Iterable[PreparedPassage]) -> Facts:
    """What a cited passage is, apart from what it says: the date and identifiers of its publication, and the number
    of its provision. A claim may name these without quoting them."""
    parts: list[Facts] = []
    for prepared in passages:
        publication = prepared.passage.publication
        tokens = {fold(i) for i in publication.identifiers} | {publication.code}
        for segment in (prepared.passage.chunk.provision or "").split("/"):
            tokens.add(segment.partition(":")[2].lower())
        day = publication.published_on
        parts.append(Facts(days=frozenset({(day, day)}), tokens=frozenset(t for t in tokens if t)))
    return Facts.join(parts)


def computation_fault(computed: Computation, quoted: Facts, identity: Facts, quotes: Sequence[str]) -> str:
    """Why a computed value does not stand; "" when it does. Every input must be quoted; a base date may be the
    publication date of what is cited."""
    if computed.operation == "count":
        return _count_fault(computed, quotes)
    numbers: list[Decimal] = []
    days = []
    for text in computed.inputs:
        found = [d for d in find_dates(text) if d.precision == "day"]
        if found:
            day = (found[0].first, found[0].last)
            if day not in quoted.days and day not in identity.days:
                return f"input {text!r} is in no quote"
            days.append(found[0].first)
            continue
        value = _number(text)
        if value is None or canonical(value) not in quoted.numbers:
            return f"input {text!r} is in no quote"
        if computed.operation.startswith("add_") and (canonical(value), "working_days") in quoted.measures:
            return "working days are not computed: quote the rule"
        numbers.append(value)
    try:
        exact = recompute(computed.operation, numbers, days)
    except NotComputable as error:
        return str(error)
    if isinstance(exact, Decimal):
        stated = _number(computed.result)
        return "" if stated is not None and agrees(stated, exact) else f"the result is {canonical(round(exact, 4))}"
    dates = find_dates(computed.result)
    return "" if dates and dates[0].first == dates[0].last == exact else f"the result is {exact.isoformat()}"


def _count_fault(computed: Computation, quotes: Sequence[str]) -> str:
    inputs = [" ".join(fold(i).split()) for i in computed.inputs]
    said = [" ".join(fold(q).split()) for q in quotes]
    for one in inputs:
        if len(one) < 3 or not any(one in quote for quote in said):
            return f"counted item {one!r} is in no quote"
    if len(set(inputs)) != len(inputs):
        return "an item is counted twice"
    stated = _number(computed.result)
    return "" if stated is not None and stated == len(inputs) else f"the result is {len(inputs)}"


def _number(text: str) -> Decimal | None:
    found = find_numbers(text)
    if found:
        return found[0].value
    try:
        value = Decimal(text.strip().rstrip("%").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return stems(text)


def echoes(said: str, proof: Proof, text: str) -> bool:
    """Whether claims say what they quote: the value, or enough of the words of the proof. A sentence that only
    points at its quote answers nothing."""
    if proof.value:
        facts = facts_of(said)
        return proof.value in facts.numbers or any(
            first == last and first.isoformat() == proof.value for first, last in facts.days
        )
    wanted = _stems(" ".join(text[a:b] for a, b in proof.spans))
    common = len(wanted & _stems(said))
    return common >= min(3, (len(wanted) + 1) // 2)


def unsaid_words(text: str, ground: frozenset[str], *, computed: bool = False) -> list[str]:
    """Words of a claim that nothing it rests on holds, figures and dates apart: what is only plausible around a right
    figure. `ground` is stems."""
    spans = [(n.start, n.end) for n in find_numbers(text)] + [(d.start, d.end) for d in find_dates(text)]
    parts = list(text)
    for start, end in spans:
        parts[start:end] = " " * (end - start)
    free = wordset("reporting", "bland", *(["computing"] if computed else []))
    out: dict[str, None] = {}
    for word in content_words("".join(parts)):
        one = stem(word)
        if word.isalpha() and len(word) > 2 and one not in free and not held(one, ground):
            out[word] = None
    return list(out)


def unsaid_turns(text: str, quotes: str) -> list[str]:
    """Words of a claim that turn a figure into its opposite or another's (*no*, *menor que*, *sin efectos*, a zone)
    and that no quote and nothing above it holds."""
    said, shown = fold_chars(text), fold_chars(quotes)
    turns = dict.fromkeys(m.group() for m in cue("turns_about").finditer(said))
    missing = [turn for turn in turns if not re.search(rf"\b{re.escape(turn)}", shown)]
    held = {frozenset(z.what) for z in zones(shown)}
    names = [z for z in zones(said) if not any(z.what <= other for other in held)]
    return missing + [said[z.start : z.end] for z in names if not all(w in stems(shown) for w in z.what)]
