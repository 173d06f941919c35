"""Lists: the n-th item of a list of stated length, and whole lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import about, held, meant, names_anything, telling_terms
from dofrag.coverage.spans import Span, merged, pieces, quotable_span
from dofrag.coverage.units import Item
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import said, same
from dofrag.domain.question import ItemRequired, ListRequired, Source, Status
from dofrag.domain.records import dataclass
from dofrag.text.fold import fold_chars, stem, words
from dofrag.text.mentions import find_provisions
from dofrag.text.numwords import parse_roman
from dofrag.text.patterns import late

MAX_ITEM_WORDS = 14
"""Words of an item that no mark sets off: a longer piece between commas is a clause."""


@dataclass(frozen=True, slots=True)
class _List:
    items: tuple[Item, ...]
    whole: bool  # both ends were read
    lead: Span | None
    key: str
    within: Span | None = None  # the sentence that holds all the items, quoted as a whole


def item_support(requirement: ItemRequired, prepared: PreparedPassage) -> Support:
    """The item with that number, in a list of no more than `of` items that is introduced as what is asked for."""
    subject = telling_terms(requirement.terms, requirement.source)
    amounts = any(stem(w) in wordset("amounts") for term in requirement.terms for w in words(term))
    why = "no such list"
    best: tuple[int, _List, Item] | None = None
    for found in _candidates(requirement.of, subject, requirement.source, prepared):
        longest = max(i.ordinal for i in found.items)
        if longest > requirement.of:
            why = f"a list of {longest}, not of {requirement.of}"
            continue
        why = f"the list has {len(found.items)} of {requirement.of}"
        item = next((i for i in found.items if i.ordinal == requirement.ordinal), None)
        if amounts and item is not None and not _measured(item, prepared):
            continue
        if item is not None and (best is None or len(found.items) > best[0]):
            best = (len(found.items), found, item)
    if best is None:
        return Support(Status.READ if why != "no such list" else Status.OPEN, why)
    count, found, item = best
    text = prepared.text[item.start : item.end]
    value = " ".join(words(text))
    spans = pieces(prepared.text, (item.start, item.end))
    proof = Proof(spans)
    if found.within is not None:
        spans = pieces(prepared.text, found.within)
    why = f"item {item.ordinal}; {count} of {requirement.of} in this passage"
    return Support(Status.SUPPORTED, why, spans, (value,), (proof,), found.key)


def _measured(item: Item, prepared: PreparedPassage) -> bool:
    """Whether an item holds a figure that measures something."""
    inside = (q for s in prepared.sentences for q in s.quantities if item.start <= q.start < item.end)
    return any(not q.reference and (q.unit is not None or q.value != int(q.value)) for q in inside)


def list_support(requirement: ListRequired, prepared: PreparedPassage, part: str = "") -> Support:
    """A list introduced as what is asked for, from its first item to its last; READ when an end is missing. Verbs of
    the question (`part`) are said otherwise by what introduces it."""
    subject = telling_terms(requirement.terms, requirement.source)
    spoken = {stem(w) for w in said(part).words} if part else set()
    subject = tuple(s for s in subject if s in spoken) or subject
    partial: _List | None = None
    named = _provisions_named(requirement, prepared)
    if named is not None:
        return named
    asked = next(iter(words(next(iter(requirement.terms), ""))), "")
    plural = asked if asked.endswith("s") else ""
    own = _candidates(None, subject, requirement.source, prepared, plural)
    listed = () if requirement.aspect in CHANGES else own
    for found in listed:
        if found.whole and found.items[0].ordinal == 1:
            spans = [s for i in found.items for s in pieces(prepared.text, (i.start, i.end))]
            proof = Proof(tuple(spans))
            shown = merged([found.lead, *spans] if found.lead else spans, prepared.text)
            if found.within is not None:
                shown = pieces(prepared.text, found.within)
            values = tuple(" ".join(words(prepared.text[i.start : i.end]))[:80] for i in found.items)
            why = f"a whole list of {len(found.items)}"
            return Support(Status.SUPPORTED, why, shown, values, (proof,), found.key)
        partial = partial or found
    changed = _changed(requirement, prepared) if requirement.aspect in CHANGES else None
    if changed is not None:
        span = quotable_span(prepared.text, changed.span)
        return Support(
            Status.SUPPORTED, f"the sentence that tells the {requirement.aspect}", (span,), (), (Proof((span,)),)
        )
    if partial is None:
        return Support(Status.OPEN, "no such list")
    return Support(Status.READ, f"{len(partial.items)} items of a list that goes on", (), (), (), partial.key)


def _provisions_named(requirement: ListRequired, prepared: PreparedPassage) -> Support | None:
    """Which articles or numerals something is so of: the sentence that names them and says it; None when something
    else is asked for."""
    spoken = [w for term in requirement.terms for w in words(term)]
    if requirement.aspect is not None or not spoken or stem(spoken[0]) not in wordset("provision_nouns"):
        return None
    telling = [w for w in spoken[1:] if stem(w) not in wordset("slots", "kinds", "common")]
    heads = [tuple(s[: max(4, len(s) - 2)] for s in same(stem(w))) for w in telling]
    for sentence in prepared.sentences:
        told = all(any(own.startswith(head) for own in sentence.near) for head in heads)
        if not sentence.heading and told and find_provisions(prepared.text[sentence.start : sentence.end]):
            span = quotable_span(prepared.text, sentence.span)
            return Support(Status.SUPPORTED, "the sentence that names them", (span,), (), (Proof((span,)),))
    return Support(Status.OPEN, "names no provisions of which it says so")


CHANGES = frozenset({"change", "repeal", "correction"})
"""Aspects whose list stands in one sentence: what it reforms, adds or repeals."""


def _changed(requirement: ListRequired, prepared: PreparedPassage) -> Sentence | None:
    """The sentence of an amending act that names what it changes."""
    if not (names_anything(requirement.source) or requirement.entities):
        return None
    head = next(iter(telling_terms(requirement.terms[:1], Source())), None) or stem(next(iter(requirement.terms), ""))
    for sentence in prepared.sentences:
        does = not sentence.heading and cue(f"aspect_{requirement.aspect}").search(sentence.folded)
        if does and held(head, sentence.stems):
            return sentence
    return None


def whole_lists(requirement: ItemRequired, prepared: PreparedPassage) -> Iterator[tuple[Item, ...]]:
    """The lists that are introduced as what is asked for and were read from end to end, however long they are."""
    subject = telling_terms(requirement.terms, requirement.source)
    for found in _candidates(None, subject, requirement.source, prepared):
        if found.whole and found.within is None and found.items[0].ordinal == 1:
            yield found.items


def _candidates(
    of: int | None, subject: tuple[str, ...], source: Source, prepared: PreparedPassage, plural: str = ""
) -> Iterator[_List]:
    """Lists of the passage that the subject introduces: marked ones, then pieces of a sentence, then short sentences
    in a row after one that counts them. `plural`: the noun that is asked for, where it stands in the plural."""
    named = names_anything(source)
    for one in prepared.lists:
        if one.lead is not None and _defines(prepared.text[one.lead[0] : one.lead[1]]) and not _asks_terms(subject):
            continue  # what terms mean is no list of anything else
        own = prepared.text[one.items[0].start : one.items[-1].end] if named else ""
        if _introduced(subject, prepared, one.lead, named, continued=one.items[0].ordinal > 1, own=own):
            lead = _lead_span(prepared, one.lead)
            yield _List(one.items, one.closed, lead, _key(prepared, one.kind))
    alone = _lone_item(prepared)
    if alone is not None and _introduced(subject, prepared, None, named, continued=True):
        yield _List((alone,), False, None, _key(prepared, "roman"))
    for index, sentence in enumerate(prepared.sentences):
        if of is not None:
            run = _counted_run(of, subject, prepared, index)
            if run:
                yield _List(run, True, sentence.span, _key(prepared, f"run{sentence.start}"))
        if subject and about(subject, sentence, prepared, share=0.5 if named else 0.6) and not sentence.heading:
            inline = _inline(of, subject, sentence, prepared, plural)
            if inline:
                key = _key(prepared, f"inline{sentence.start}")
                yield _List(inline, True, None, key, sentence.span)
    yield from _labelled(subject, prepared)
    yield from _rows(subject, prepared)


def _defines(lead: str) -> bool:
    return bool(cue("definition_lead").search(fold_chars(lead)))


def _asks_terms(subject: tuple[str, ...]) -> bool:
    return bool(wordset("meanings").intersection(subject))


def _introduced(
    subject: tuple[str, ...],
    prepared: PreparedPassage,
    lead: Span | None,
    named: bool,
    *,
    continued: bool,
    own: str = "",
) -> bool:
    if not subject:
        return named
    wide = prepared.wide
    near: frozenset[str] = frozenset()
    if lead is not None:
        near = frozenset(stem(w) for w in words(prepared.text[lead[0] : lead[1]]))
        if cue("hands_in").search(fold_chars(prepared.text[lead[0] : lead[1]]).rstrip()):
            near |= wordset("papers")  # what somebody hands in are papers
    here = [s for s in subject if meant(s, near)]
    hits = len(here) + sum(meant(s, wide) for s in subject if s not in here)
    if continued and named and not here:
        # What another chunk introduced: its source and its headings must do.
        return True
    if len(here) >= min(1 if named else 2, len(subject)) and hits * 2 >= len(subject):
        return True
    # A list that stands without its introduction may tell by its own words what it is, in a source that is named.
    inside = frozenset(stem(w) for w in words(own))
    return bool(own) and (hits + sum(meant(s, inside) for s in subject if s not in here)) * 10 >= len(subject) * 6


def _lead_span(prepared: PreparedPassage, lead: Span) -> Span | None:
    text = prepared.text[lead[0] : lead[1]]
    stripped = text.strip()
    if not stripped or len(stripped) > 300:
        return None
    start = lead[0] + text.index(stripped)
    return start, start + len(stripped)


def _key(prepared: PreparedPassage, kind: str) -> str:
    """Names a list across the chunks that it may span: publication, provision or heading, kind of mark."""
    chunk = prepared.passage.chunk
    root = (chunk.provision or "").split("/")[0] or "/".join(chunk.heading_path)
    return f"{prepared.passage.publication.code}|{root}|{kind}"


def _lone_item(prepared: PreparedPassage) -> Item | None:
    """A chunk that is one fraction or subparagraph of a list."""
    kind, _, number = (prepared.passage.chunk.provision or "").split("/")[-1].partition(":")
    ordinal: int | None = None
    if kind == "frac":
        ordinal = parse_roman(number)
    elif kind == "inc" and len(number) == 1:
        ordinal = ord(number.lower()) - ord("a") + 1
    elif kind == "num" and number.rsplit(".", 1)[-1].isdigit():
        ordinal = int(number.rsplit(".", 1)[-1])
    if not ordinal or not prepared.sentences:
        return None
    body = [s for s in prepared.sentences if not s.heading]
    if not body:
        return None
    return Item(ordinal, body[0].start, body[-1].end)


def _counted_run(of: int, subject: tuple[str, ...], prepared: PreparedPassage, index: int) -> tuple[Item, ...]:
    """`… cuatro ejes generales y tres transversales. A. B. C. D. E. F. G.`: the short sentences that follow one that
    counts them, those of the asked count only."""
    sentence = prepared.sentences[index]
    counts = [q for q in sentence.quantities if not q.reference and q.unit is None and 1 < q.value <= 40]
    counts = [q for q in counts if q.value == int(q.value) and q.noun[:1].isalpha()]
    mine = [q for q in counts if q.value == of and _counts(subject, q.noun)]
    if not mine:
        return ()
    total = sum(int(q.value) for q in counts)
    run: list[Sentence] = []
    for after in prepared.sentences[index + 1 : index + 2 + total]:
        gap = prepared.text[(run[-1].end if run else sentence.end) : after.start]
        if after.heading or len(after.folded.split()) > MAX_ITEM_WORDS or (run and "\n\n" in gap):
            break
        run.append(after)
    if len(run) < total:
        return ()
    skip = sum(int(q.value) for q in counts if q.start < mine[0].start)
    return tuple(Item(n, s.start, s.end) for n, s in enumerate(run[skip : skip + of], 1))


def _counts(subject: tuple[str, ...], noun: str) -> bool:
    """Whether what is counted is the subject: all that the noun phrase says of it."""
    following = tuple(stem(w) for w in words(noun)[:3])
    return bool(subject) and sum(held(s, following) for s in subject) * 3 >= min(len(subject), 3) * 2


_SEPARATOR = late(r",\s+(?:[yeou]\s+)?|;\s*(?:[yeou]\s+)?|\s+[yeou]\s+")
_STRONG = late(r";\s*(?:[yeou]\s+)?|,\s+[yeou]\s+|,\s+")


def _inline(
    of: int | None, subject: tuple[str, ...], sentence: Sentence, prepared: PreparedPassage, plural: str = ""
) -> tuple[Item, ...]:
    """`los frutos son manzana, pera y uva`: pieces between commas that end the sentence; as many as asked, or at
    least three. What says how many there are of each (`tres frutos, dos hojas y una flor`) names none; what one of
    them has (`el fruto tiene piel, pulpa y semilla`) is no list of them."""
    text = prepared.text[sentence.start : sentence.end].rstrip(" .;*_")
    starts = [m.end() for m in re.finditer(r":\s+", text)][:4]
    for match in re.finditer(r"[^\W_]+", sentence.folded[: len(text)]):
        if len(starts) >= 12:
            break
        single = bool(plural) and stem(match.group()) == stem(plural) and not match.group().endswith("s")
        if held(stem(match.group()), subject) and not single:
            after = re.match(
                r"\s+(?:de|del|en|son|es|siguientes|seran|los|las|el|la)\b(?:\s+(?:los|las|el|la|siguientes))*\s+|\s+",
                sentence.folded[match.end() :],
            )
            if after:
                starts.append(match.end() + after.end())
    for start in starts:
        for separator in (_SEPARATOR, _STRONG):
            parts = _split(text, start, separator)
            commas = sum(text[b : b + 1] in ",;" for _, b in parts[:-1])
            names = len(parts) == 2 and all(text[a : a + 1].isupper() for a, _ in parts)
            enough = (len(parts) == of if of is not None else len(parts) >= 3 or names) and commas >= len(parts) - 2
            counted = _counts_only(subject, sentence, [(sentence.start + a, sentence.start + b) for a, b in parts])
            other = bool(plural) and bool(parts) and _of_another_kind(text[slice(*parts[0])], subject)
            if enough and not counted and not other and all(_is_item(text[a:b], subject) for a, b in parts):
                return tuple(Item(n, sentence.start + a, sentence.start + b) for n, (a, b) in enumerate(parts, 1))
    return ()


def _counts_only(subject: tuple[str, ...], sentence: Sentence, parts: list[Span]) -> bool:
    """Whether a sentence counts what is asked for among other things, and names none of it."""
    counts = [q for q in sentence.quantities if not q.reference and q.noun[:1].isalpha()]
    mine = next((q for q in counts if _counts(subject, q.noun)), None)
    if (
        mine is None
        or len(parts) < 2
        or ":" in sentence.folded[mine.start - sentence.start : parts[-1][0] - sentence.start]
    ):
        return False
    return any(a <= q.start <= a + 2 for q in counts for a, _ in parts[1:])


_OTHER_KIND = late(r"^(?:[a-zñ]+ ){0,3}?(?P<kind>[a-zñ]{3,}s) de(?:l| la| los| las)? (?=[A-ZÁÉÍÓÚÑ])")


def _of_another_kind(first: str, subject: tuple[str, ...]) -> bool:
    """Whether the first of some names says that they are of something else: asked for programmes, `opera en las
    provincias de Bruma, Alba y Coral` lists provinces."""
    match = _OTHER_KIND.match(first)
    return match is not None and not held(stem(match["kind"]), subject)


def _is_item(text: str, subject: tuple[str, ...]) -> bool:
    """A piece of a sentence that can be an item: short, and not the list's own name again."""
    return 0 < len(text.split()) <= MAX_ITEM_WORDS and not any(held(stem(w), subject[:1]) for w in words(text))


_LABEL = late(r"^[\W_]*(?P<label>(?:[a-zñ]+\s+){1,4})(?P<n>\d{1,2}|[ivx]{1,5})[*_]*\s*[.:)–-]")


def _labelled(subject: tuple[str, ...], prepared: PreparedPassage) -> Iterator[_List]:
    """`Eje general 2. Oficios y escuela`: an item that names its list and its number, wherever it stands."""
    items: dict[str, list[Item]] = {}
    for sentence in prepared.sentences:
        match = _LABEL.match(sentence.folded)
        if match is None:
            continue
        label = tuple(stem(w) for w in match["label"].split())
        number = int(match["n"]) if match["n"].isdigit() else parse_roman(match["n"])
        if number and subject and all(held(s, label) for s in subject) and len(label) <= len(subject) + 1:
            items.setdefault(" ".join(label), []).append(Item(number, sentence.start, sentence.end))
    for label_text in sorted(items):
        key = f"{prepared.passage.publication.code}|{label_text}"
        yield _List(tuple(items[label_text]), False, None, key)


def _rows(subject: tuple[str, ...], prepared: PreparedPassage) -> Iterator[_List]:
    """The rows of a table whose header names what is asked for."""
    tables: dict[Span, list[Item]] = {}
    for sentence in prepared.sentences:
        if sentence.header is not None:
            rows = tables.setdefault(sentence.header, [])
            rows.append(Item(len(rows) + 1, sentence.start, sentence.end))
    for header, items in tables.items():
        named = frozenset(stem(w) for w in words(prepared.text[header[0] : header[1]]))
        if len(items) > 1 and subject and held(subject[0], named):
            yield _List(tuple(items), True, header, _key(prepared, f"rows{header[0]}"))


def _split(text: str, start: int, separator: re.Pattern[str]) -> list[Span]:
    parts: list[Span] = []
    at = start
    for match in separator.finditer(text, start):
        parts.append((at, match.start()))
        at = match.end()
    parts.append((at, len(text)))
    return parts if len(parts) <= 60 else []
