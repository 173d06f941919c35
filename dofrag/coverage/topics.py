"""Publications by identity, and subjects without a known type."""

from __future__ import annotations

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held, names_anything, telling_terms
from dofrag.coverage.spans import Span, quotable_span
from dofrag.domain.question import PublicationRequired, Status, TopicRequired
from dofrag.text.fold import stem, words


def title_span(prepared: PreparedPassage) -> Span:
    """Where a passage states what it is: its title, as far as it holds it, else its first sentence."""
    title = prepared.passage.publication.title.strip()
    found = prepared.quotable.find(title) if title else None
    if found is None and len(title) > 80:
        found = prepared.quotable.find(title[:80].rsplit(" ", 1)[0])
    if found is not None:
        return quotable_span(prepared.text, found)
    for sentence in prepared.sentences:
        if not sentence.heading and len(sentence.folded) >= 24:
            return quotable_span(prepared.text, sentence.span)
    first = prepared.sentences[0].span if prepared.sentences else (0, min(len(prepared.text), 200))
    return quotable_span(prepared.text, first)


def publication_support(requirement: PublicationRequired, prepared: PreparedPassage) -> Support:
    """Identity and act: the source agrees, and its title (with issuer and headings) is about the subject."""
    subject = telling_terms(requirement.terms, requirement.source)
    own = prepared.wide
    hits = [s for s in subject if held(s, own)]
    if len(hits) * 2 < len(subject):
        inside = [s for s in subject if s not in hits and held(s, prepared.stems)]
        # A subject that only the text speaks of will do for a publication that the question identifies otherwise.
        if not names_anything(requirement.source) or (len(hits) + len(inside)) * 10 < len(subject) * 7:
            return Support(Status.OPEN, "its title is about something else")
    elif not subject and not names_anything(requirement.source):
        return Support(Status.OPEN, "nothing tells which publication")
    span = title_span(prepared)
    why = f"published {prepared.passage.publication.published_on.isoformat()}: its title agrees"
    return Support(Status.SUPPORTED, why, (span,), (), (Proof((span,)),), identity=True)


DONE = {stem("resolvio"): "resolves", stem("corrigio"): "corrects", stem("aclaracion"): "corrects", "dejo": "voids"}
"""Stem of a verb in a question about an act → the cue of the sentence that performs it."""


def _performed(requirement: TopicRequired, prepared: PreparedPassage) -> Sentence | None:
    """The sentence that does what the question asks about, in a publication that it names."""
    asked = {stem(w) for term in requirement.terms for w in words(term)}
    for verb, name in DONE.items():
        if verb in asked and names_anything(requirement.source):
            for sentence in prepared.sentences:
                if not sentence.heading and cue(name).search(sentence.folded):
                    return sentence
    return None


def topic_support(requirement: TopicRequired, prepared: PreparedPassage) -> Support:
    """A sentence that holds most of the content words, or what the source is about, and says something of them."""
    subject = telling_terms(requirement.terms, requirement.source)
    if not subject and not names_anything(requirement.source):
        return Support(Status.OPEN, "the question does not say what it is about")
    best: tuple[int, Sentence] | None = None
    bears = False
    wide = prepared.wide
    titled = sum(held(s, wide) for s in subject)
    for sentence in prepared.sentences:
        if sentence.heading or len(sentence.folded) < 24:
            continue
        near = sentence.near
        here = [s for s in subject if held(s, near)]
        bears = bears or bool(here)
        total = len(here) + sum(held(s, wide) for s in subject if s not in here)
        need = max(1, -(-len(subject) * 6 // 10))
        enough_here = len(here) >= min(2, len(subject)) or (len(here) >= 1 and titled >= 1)
        if not subject and names_anything(requirement.source):
            enough_here = total == 0
        if total >= need and enough_here and (best is None or len(here) > best[0]):
            best = (len(here), sentence)
        elif not subject and enough_here and best is None:
            best = (0, sentence)
    performed = _performed(requirement, prepared) if best is None else None
    if performed is not None:
        span = quotable_span(prepared.text, performed.span)
        return Support(Status.SUPPORTED, "the sentence that does it", (span,), (), (Proof((span,)),))
    if best is None:
        return Support(Status.READ if bears else Status.OPEN, "no sentence answers all of its words")
    spans = (quotable_span(prepared.text, best[1].span), *_what_follows(best[1], prepared))
    why = f"{best[0]} of {len(subject)} words in one sentence"
    return Support(Status.SUPPORTED, why, spans, (), (Proof(spans),), rank=best[0])


MAX_FOLLOWING = 1200
"""Characters of what a sentence announces (`… el siguiente método:`) that are quoted with it."""


def _what_follows(announced: Sentence, prepared: PreparedPassage) -> tuple[Span, ...]:
    """The sentences that a colon announces, up to the end of their paragraph."""
    if not announced.folded.rstrip(" *_").endswith(":"):
        return ()
    out: list[Span] = []
    size = 0
    last = announced.end
    for sentence in prepared.sentences:
        if sentence.start < announced.end:
            continue
        breaks = "\n\n" in prepared.text[last : sentence.start]
        if (breaks and out) or size + len(sentence.folded) > MAX_FOLLOWING:
            break
        out.append(quotable_span(prepared.text, sentence.span))
        size += len(sentence.folded)
        last = sentence.end
    return tuple(out)
