"""The text of one provision: never a mention of it, never the same number elsewhere."""

from __future__ import annotations

from dofrag.coverage.cues import cue
from dofrag.coverage.interface import Proof, Support
from dofrag.coverage.prepared import PreparedPassage, Sentence
from dofrag.coverage.source import names_anything
from dofrag.coverage.spans import merged, quotable_span
from dofrag.domain.question import ProvisionRequired, Status
from dofrag.text.mentions import find_provisions
from dofrag.text.paths import provision_matches

MAX_SHOWN = 1800
"""Characters of a provision to quote at most; three quotes."""
MIN_TEXT = 15


def provision_support(requirement: ProvisionRequired, prepared: PreparedPassage) -> Support:
    """The chunk that is the provision, or the sentences of a chunk that its mark begins."""
    own = provision_sentences(requirement.path, prepared)
    if not own:
        return Support(Status.OPEN, f"not the text of {requirement.path}")
    if not names_anything(requirement.source) and not requirement.terms:
        return Support(Status.READ, "the provision of an instrument that the question does not name")
    body = [s for s in own if not s.heading] or own
    if sum(len(s.folded) for s in body) < MIN_TEXT:
        return Support(Status.READ, "its heading only")
    if not _whole_of(requirement, prepared) and any(cue("elided").search(s.folded) for s in body):
        return Support(Status.READ, "only what was changed of it")
    shown: list[tuple[int, int]] = []
    size = 0
    for sentence in body:
        if shown and size + len(sentence.folded) > MAX_SHOWN:
            break
        shown.append(quotable_span(prepared.text, sentence.span))
        size += len(sentence.folded)
    proof = Proof((_first(body, prepared),))
    return Support(Status.SUPPORTED, f"the text of {requirement.path}", merged(shown, prepared.text), (), (proof,))


def _whole_of(requirement: ProvisionRequired, prepared: PreparedPassage) -> bool:
    """Whether dots in the text are the law's own, or the question is of the very act that left the rest out."""
    source = requirement.source
    named = {"decreto", "reforma", "acuerdo", "modificacion"} & {*source.name, *source.about}
    return prepared.passage.publication.consolidated or bool(source.published_from or source.identifier or named)


def _first(body: list[Sentence], prepared: PreparedPassage) -> tuple[int, int]:
    """The first sentence that says something, mark and all."""
    for sentence in body:
        mark = sentence.mark.end if sentence.mark else 0
        if len(sentence.folded) - mark >= MIN_TEXT:
            return quotable_span(prepared.text, sentence.span)
    return quotable_span(prepared.text, body[0].span)


def provision_sentences(path: str, prepared: PreparedPassage) -> list[Sentence]:
    """The sentences of a passage that are that provision's own text; none when it is not there."""
    chunk = prepared.passage.chunk
    if provision_matches(path, chunk.provision):
        return list(prepared.sentences)
    last = path.split("/")[-1]
    outer = path.split("/")[:-1]
    inside = [s for s in prepared.sentences if s.provision is not None and provision_matches(last, s.provision)]
    if not inside:
        return _amended(path, prepared)
    here = {s.provision for s in prepared.sentences} | set((chunk.provision or "").split("/"))
    if any(segment not in here for segment in outer):
        return []
    # From the mark to the next provision of the same depth: what is nested in it is part of it.
    first = inside[0]
    if first.mark is None:
        return inside
    out: list[Sentence] = []
    for sentence in prepared.sentences:
        if sentence.start < first.start:
            continue
        mark = sentence.mark
        if out and mark is not None and mark.level <= first.mark.level:
            break
        out.append(sentence)
    return out


def _amended(path: str, prepared: PreparedPassage) -> list[Sentence]:
    """`Se adiciona un párrafo al artículo 4o. para quedar como sigue: …`: the new text of the provision, up to the
    next mark."""
    out: list[Sentence] = []
    for sentence in prepared.sentences:
        if out:
            if sentence.mark is not None and sentence.mark.kind in ("art", "ordinal", "trans"):
                break
            out.append(sentence)
        elif not sentence.heading and (verb := cue("amends").search(sentence.folded)) is not None:
            if cue("cites_act").search(sentence.folded, max(0, verb.start() - 40), verb.start()):
                continue  # the title of another act, as it is cited
            mentioned = find_provisions(prepared.text[sentence.start : sentence.end])
            if any(provision_matches(path, m.path) for m in mentioned):
                out.append(sentence)
    return out
