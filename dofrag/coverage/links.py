"""Two passages that answer together: what a provision is about, and what another says of that provision by number.

*When do hearing tests begin?* One numeral asks for the tests, a transitory says when that numeral begins. *What is
the fine for breaking a meter?* One fraction lists the breaking, the next article fines the fraction. The reference
has to be explicit, both passages are read, and an answer cites both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import meant, mismatch, telling_terms
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.times import dated
from dofrag.coverage.vocabulary import wordset
from dofrag.coverage.wording import said
from dofrag.domain.question import (
    DateRequired,
    DateRole,
    Requirement,
    Source,
    Status,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.domain.records import dataclass
from dofrag.text.fold import fold, stem, words
from dofrag.text.mentions import FoundProvision, find_provisions
from dofrag.text.paths import provision_matches

ENOUGH = 6
"""Tenths of the subject that the provisions have to hold between them."""
MENTIONED = 8
"""Provisions that one sentence may name and still tell of each."""


@dataclass(frozen=True, slots=True)
class Link:
    """A passage that answers, and what to cite with it: the sentences of the provisions that it names."""

    chunk_id: int
    support: Support
    via: tuple[tuple[int, Span], ...]


def linked(requirement: Requirement, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]) -> tuple[Link, ...]:
    """The links by which read passages answer a requirement that none answers alone, the latest publication first.
    Pure; kept with the passages."""
    if not _may(requirement, sub) or len(prepared) < 2:
        return ()
    key = ("linked", id(requirement), frozenset(prepared))
    memo = next(iter(prepared.values())).memo
    known = memo.get(key)
    if known is not None and known[0] is requirement:
        found: tuple[Link, ...] = known[1]
        return found
    links = tuple(_links(requirement, sub, list(prepared.values())))
    on = {p.id: p.passage.publication.published_on for p in prepared.values()}
    worked_in = {k.chunk_id for k in links if _worked_in(k, links, prepared)}
    order = {k.chunk_id: (k.chunk_id not in worked_in, on[k.chunk_id], -k.chunk_id) for k in links}
    links = tuple(sorted(links, key=lambda k: order[k.chunk_id], reverse=True))
    memo[key] = (requirement, links)
    return links


def _worked_in(link: Link, links: Sequence[Link], prepared: Mapping[int, PreparedPassage]) -> bool:
    """Whether a link of a consolidated law says word for word what a publication says that was read too: then the
    publication is what is cited."""
    if not prepared[link.chunk_id].passage.publication.consolidated:
        return False
    published = [k for k in links if not prepared[k.chunk_id].passage.publication.consolidated]
    return any(_said(k, prepared) == _said(link, prepared) for k in published)


def _said(link: Link, prepared: Mapping[int, PreparedPassage]) -> list[str]:
    text = prepared[link.chunk_id].text
    return [w for start, end in link.support.spans for w in words(text[start:end])]


def support_of(
    requirement: Requirement, chunk_id: int, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]
) -> Support:
    """What a passage does for a requirement, alone or together with another one that was read."""
    alone = meets(requirement, prepared[chunk_id], sub)
    if alone.supported:
        return alone
    together = (k.support for k in linked(requirement, sub, prepared) if k.chunk_id == chunk_id)
    return next(together, alone)


def via(
    requirement: Requirement, chunk_id: int, sub: SubQuestion, prepared: Mapping[int, PreparedPassage]
) -> tuple[tuple[int, Span], ...]:
    """What has to be cited with a passage that answers only together with others; () for one that answers alone."""
    if meets(requirement, prepared[chunk_id], sub).supported:
        return ()
    return next((k.via for k in linked(requirement, sub, prepared) if k.chunk_id == chunk_id), ())


def _may(requirement: Requirement, sub: SubQuestion) -> bool:
    """Whether a requirement is of a kind that is often answered from two places: when something begins, what it costs
    to break a rule."""
    if requirement.path is not None or requirement.negated:
        return False
    if isinstance(requirement, DateRequired):
        return requirement.role is DateRole.EFFECT and requirement.period is None
    return isinstance(requirement, (ValueRequired, TopicRequired)) and _penal(requirement, sub)


def _penal(requirement: Requirement, sub: SubQuestion) -> bool:
    spoken = {stem(w) for w in words(sub.text)}
    return bool(spoken & wordset("penalties")) and requirement.aspect in (None, "consequence")


def _links(requirement: Requirement, sub: SubQuestion, read: Sequence[PreparedPassage]) -> Iterator[Link]:
    subject = _subject(requirement, sub)
    whole = not isinstance(requirement, DateRequired)
    if len(subject) < 2:
        return
    for passage in read:
        for sentence in passage.sentences:
            proof = None if sentence.heading else _tells(requirement, sentence, passage)
            if proof is None:
                continue
            mentions = _mentions(sentence, passage)
            cited = [
                (other, span)
                for other in read
                if _beside(requirement, passage, sentence, other)
                for span in [_of_it(subject, mentions, other, _reach(sentence, passage, other), alone=whole)]
                if span is not None
            ]
            if cited and len(mentions) <= MENTIONED and _enough(subject, cited):
                shown = quotable_span(passage.text, sentence.span, proof)
                support = Support(
                    Status.SUPPORTED, "it names the provision that is about it", (shown,), (), (Proof((proof,)),)
                )
                yield Link(passage.id, support, tuple((other.id, span) for other, span in cited))
                break


def _subject(requirement: Requirement, sub: SubQuestion) -> tuple[str, ...]:
    """What the provision is about: without the words that ask for its beginning, or for what breaking it costs."""
    aside = wordset("penalties", "beginnings", "scene", "common", "plain")
    spoken = {stem(w) for w in said(sub.text).words}
    source = Source(name=requirement.source.name, identifier=requirement.source.identifier)
    own = telling_terms((*requirement.terms, *requirement.context), source)
    before = {stem(w) for said_before in requirement.context for w in words(said_before)}
    # An offence is told by its verb; a duty that begins is told by its things, and asked for by any verb.
    acts = not isinstance(requirement, DateRequired)
    return tuple(s for s in own if s not in aside and (acts or s in spoken or s in before))


def _tells(requirement: Requirement, sentence: Sentence, passage: PreparedPassage) -> Span | None:
    """Where a sentence says when something begins, or what breaking it costs."""
    if isinstance(requirement, DateRequired):
        found = dated(requirement.role, sentence, passage)
        if found is None:
            return None
        return (found[0].start, found[0].end) if found[0] is not None else sentence.span
    leads = cue("penalty").search(sentence.folded) or cue("penalty").search(_lead(sentence, passage))
    figures = [q for q in sentence.quantities if not q.reference]
    return sentence.span if leads and figures else None


def _lead(sentence: Sentence, passage: PreparedPassage) -> str:
    """The sentence that introduces the list of which this one is an item."""
    if sentence.mark is None:
        return ""
    before = [s for s in passage.sentences if s.start < sentence.start and s.folded.rstrip(" *_").endswith(":")]
    return before[-1].folded if before else ""


def _mentions(sentence: Sentence, passage: PreparedPassage) -> list[FoundProvision]:
    """The provisions that a sentence names, or its introduction where it is an item of a list."""
    own = sentence.mark.end if sentence.mark else 0
    return [m for m in find_provisions(sentence.folded) if m.start >= own]


def _beside(requirement: Requirement, passage: PreparedPassage, sentence: Sentence, other: PreparedPassage) -> bool:
    """Whether a provision of `other` is what a sentence may mean by its number: it is of the same publication, or of
    the one that is asked about and that the sentence, or the title above it, names by its key."""
    if other.id == passage.id or mismatch(requirement.source, other):
        return False
    if other.passage.publication.code == passage.passage.publication.code:
        return True
    spoken = f"{sentence.folded} {fold(passage.passage.publication.title)}"
    return any(fold(i) in spoken for i in other.passage.publication.identifiers)


def _of_it(
    subject: tuple[str, ...],
    mentions: Sequence[FoundProvision],
    other: PreparedPassage,
    reach: Callable[[str], bool],
    *,
    alone: bool,
) -> Span | None:
    """The sentence of a passage that is one of the provisions named and speaks of the subject; `alone`: of most of
    it. `reach` says whether a path that is named reaches this passage."""
    best: tuple[int, Sentence] | None = None
    for sentence in other.sentences:
        if sentence.heading or not any(_is(m.path, sentence, other) and reach(m.path) for m in mentions):
            continue
        held = sum(meant(s, sentence.near) for s in subject)
        need = max(2, -(-len(subject) * ENOUGH // 10)) if alone else 2
        if held >= min(need, len(subject)) and (best is None or held > best[0]):
            best = (held, sentence)
    return quotable_span(other.text, best[1].span) if best else None


def _reach(sentence: Sentence, passage: PreparedPassage, other: PreparedPassage) -> Callable[[str], bool]:
    """A fraction alone is one of the article that is named beside it, or of *the article before*."""
    text = f"{_lead(sentence, passage)} {sentence.folded}"
    named = {m.path.split("/")[0] for m in find_provisions(text)}
    article = (other.passage.chunk.provision or "").split("/")[0]
    before = bool(cue("article_before").search(text)) and _number(passage) == _number(other) + 1
    return lambda path: not path.startswith(("frac:", "inc:", "par:")) or before or article in named


def _number(passage: PreparedPassage) -> int:
    """The number of a passage's article; -9 for none, or one that is more than a number."""
    kind, _, number = (passage.passage.chunk.provision or "").split("/")[0].partition(":")
    return int(number) if kind == "art" and number.isdigit() else -9


def _is(path: str, sentence: Sentence, passage: PreparedPassage) -> bool:
    """Whether a sentence is, or stands in, the provision of this path."""
    chunk = passage.passage.chunk
    if provision_matches(path, chunk.provision):
        return True
    outer, _, last = path.rpartition("/")
    if sentence.provision is not None and provision_matches(last, sentence.provision):
        return not outer or provision_matches(outer, chunk.provision)
    return path.startswith(("tit:", "cap:", "sec:", "lib:")) and any(
        m.path == path for heading in chunk.heading_path for m in find_provisions(heading)
    )


def _enough(subject: tuple[str, ...], cited: Sequence[tuple[PreparedPassage, Span]]) -> bool:
    """Whether the cited sentences hold enough of the subject between them."""
    near = [s.near for p, (a, b) in cited for s in p.sentences if s.start < b and a < s.end]
    return sum(any(meant(s, own) for own in near) for s in subject) * 10 >= len(subject) * ENOUGH
