"""Publications by identity, and subjects without a known type."""

from __future__ import annotations

from itertools import pairwise

from dofrag.coverage.cues import cue, has_cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import held, meant, names_anything, of_question, subject_of, telling_terms
from dofrag.coverage.spans import Span, quotable_span
from dofrag.coverage.vocabulary import wordset
from dofrag.domain.question import PublicationRequired, Status, TopicRequired
from dofrag.text.fold import STOP_WORDS, stem, words
from dofrag.text.mentions import find_provisions


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


DONE = {
    **dict.fromkeys((stem("resolvio"), stem("determino"), "orden"), "operative"),
    **dict.fromkeys((stem("corrigio"), stem("aclaracion"), stem("rectifico")), "correction"),
    "dejo": "repeal",
    **dict.fromkeys(map(stem, ("escolaridad", "grado", "academico", "nivel", "estudios")), "schooling"),
}
"""Stem of a word of a question → the aspect that it asks for, where the rules named none: what tells the aspect need
not say that word."""


def _aspect(requirement: TopicRequired) -> str | None:
    if requirement.aspect is not None or not names_anything(requirement.source):
        return requirement.aspect
    asked = {stem(w) for term in requirement.terms for w in words(term)}
    return next((aspect for verb, aspect in DONE.items() if verb in asked), None)


def _performing(requirement: TopicRequired, aspect: str, prepared: PreparedPassage, question: str) -> Sentence | None:
    """The sentence that does or shows what the question asks of its subject: it need not use the question's verb, but
    it must be of the named source, or hold most of the subject with its title."""
    does = {s for verb, name in DONE.items() if name == aspect for s in (verb,)} | wordset("tested")
    subject = tuple(s for s in telling_terms(requirement.terms, requirement.source) if s not in does)
    named = names_anything(requirement.source)
    if aspect == "identifier" and of_question(question, prepared):
        subject, named = (), True  # a number of a file stands by itself, in the notice that the question is about
    own = prepared.wide | prepared.issuer_stems
    best: tuple[int, Sentence] | None = None
    for sentence in prepared.sentences:
        if sentence.heading or not cue(f"aspect_{aspect}").search(sentence.folded):
            continue
        here = sum(held(s, sentence.near) for s in subject)
        total = sum(held(s, sentence.near) or held(s, own) for s in subject)
        enough = total * 10 >= len(subject) * 6 and (named or here > 0 or total == len(subject) > 0)
        if aspect == "validity" and not cue("this_act").search(sentence.folded):
            enough = bool(subject) and here * 10 >= len(subject) * 6  # what an act ends is named there
        if enough and (best is None or here > best[0]):
            best = (here, sentence)
    return best[1] if best else None


def _fits(wanted: str, sentence: Sentence) -> bool:
    """Whether a sentence holds the sort of thing that the part asks for: a figure, a day, a name."""
    match wanted:
        case "figure":
            return any(not q.reference for q in sentence.quantities)
        case "measure":
            return any(
                not q.reference and (q.unit or q.value != int(q.value) or _counted_in(q.noun))
                for q in sentence.quantities
            )
        case "date":
            rule = cue("relative_start").search(sentence.folded)
            return bool(sentence.dates or rule or any(q.kind == "duration" for q in sentence.quantities))
        case "provision":
            own = [
                m.end
                for m in find_provisions(sentence.folded)
                if m.start > (sentence.mark.end if sentence.mark else 0)
            ]
            return bool(own)
        case "actor":
            return bool(cue("authority").search(sentence.folded))
        case _:
            # Which law it is, no rule says that does not name one.
            return wanted not in LAWS or held(wanted, sentence.stems)


def _counted_in(noun: str) -> bool:
    """Whether what follows a figure is a unit of measure."""
    return stem(next(iter(words(noun)), "")) in wordset("units_of_things")


def _listed_elsewhere(sentence: Sentence, subject: tuple[str, ...], prepared: PreparedPassage) -> bool:
    """Whether a sentence is an item of a law's list that is introduced as something else: `no son salario: … VIII.
    Jornada extraordinaria, cuando…` does not say what the working day is."""
    if (
        sentence.mark is None
        or sentence.mark.kind not in ("frac", "inc")
        or not prepared.passage.publication.consolidated
    ):
        return False
    before = [s for s in prepared.sentences if s.end <= sentence.start and not s.heading]
    leads = [s for s in before if s.mark is None or s.mark.kind not in ("frac", "inc")]
    return not leads or not any(held(s, leads[-1].near) for s in subject)


LAWS = frozenset(map(stem, ("ley", "leyes", "codigo", "reglamento")))
"""Kinds of instruments that are asked for by *con qué…*, *según qué…*."""


def _wanted(part: str) -> str:
    """The sort of thing that a part asks for by its first words; "" where they do not tell."""
    asked = words(part)
    if any(w.startswith("cuant") for w in asked[:4]):
        return "figure"
    spoken = [w for w in asked[:5] if w not in STOP_WORDS]
    if {"cual", "cuales", "que"} & set(asked[:2]) and spoken and stem(spoken[0]) in wordset("measured"):
        return "measure"
    if {"cual", "cuales", "que"} & set(asked[:2]) and spoken and stem(spoken[0]) in wordset("provision_nouns"):
        return "provision"
    kind = next((stem(b) for a, b in pairwise(asked[:4]) if a in ("que", "cual")), "")
    if kind in LAWS:
        return kind
    if "cuando" in asked[:3] or {"fecha", "dia"} & set(asked[:4]):
        return "date"
    return "actor" if {"quien", "quienes"} & set(asked[:3]) else ""


def topic_support(
    requirement: TopicRequired, prepared: PreparedPassage, part: str = "", question: str = ""
) -> Support:
    """A sentence that holds most of the content words, or what the source is about, and says something of them: with
    an aspect, one that performs it; of a part that asks how much, when or who, one that holds such a thing."""
    subject = subject_of(requirement)
    aspect = _aspect(requirement)
    if not subject and not names_anything(requirement.source) and aspect != "identifier":
        return Support(Status.OPEN, "the question does not say what it is about")
    if aspect is not None and has_cue(f"aspect_{aspect}"):
        performed = _performing(requirement, aspect, prepared, question)
        if performed is not None:
            spans = (quotable_span(prepared.text, performed.span), *_what_follows(performed, prepared))
            spans = _corrections(performed, prepared) or spans
            return Support(Status.SUPPORTED, f"the sentence that tells the {aspect}", spans, (), (Proof(spans),))
        if requirement.aspect is not None:
            bears = any(held(s, prepared.stems) for s in subject)
            return Support(Status.READ if bears else Status.OPEN, f"no sentence tells the {aspect}")
    wanted = _wanted(part)
    singular = words(part)[:2] == ("cual", "es")
    best: tuple[int, Sentence] | None = None
    bears = False
    wide = prepared.wide
    titled = sum(meant(s, wide) for s in subject)
    for sentence in prepared.sentences:
        if sentence.heading or (len(sentence.folded) < 24 and not sentence.quantities):
            continue
        near = sentence.near
        here = [s for s in subject if meant(s, near)]
        bears = bears or bool(here)
        total = len(here) + sum(meant(s, wide) for s in subject if s not in here)
        need = max(1, -(-len(subject) * 6 // 10))
        enough_here = len(here) >= min(2, len(subject)) or (len(here) >= 1 and titled >= 1)
        if not subject and names_anything(requirement.source):
            enough_here = total == 0
        if not _fits(wanted, sentence) or (singular and _listed_elsewhere(sentence, subject, prepared)):
            continue
        if total >= need and enough_here and (best is None or len(here) > best[0]):
            best = (len(here), sentence)
        elif not subject and enough_here and best is None:
            best = (0, sentence)
    if best is None:
        return Support(Status.READ if bears else Status.OPEN, "no sentence answers all of its words")
    spans = (quotable_span(prepared.text, best[1].span), *_what_follows(best[1], prepared))
    why = f"{best[0]} of {len(subject)} words in one sentence"
    return Support(Status.SUPPORTED, why, spans, (), (Proof(spans),), rank=best[0])


def _corrections(performed: Sentence, prepared: PreparedPassage) -> tuple[Span, ...]:
    """Of a text that mends several places, every *debe decir*: one of them is not what was corrected."""
    if not cue("must_say").search(performed.folded):
        return ()
    mended = [s for s in prepared.sentences if cue("must_say").search(s.folded)]
    return tuple(quotable_span(prepared.text, s.span) for s in mended[:MENDED])


MENDED = 6
"""Corrections of one text that are quoted at most."""
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
