"""Which unread pointers to read: how well each fits what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from dofrag.coverage.match import PreparedPassage, meets, prepare
from dofrag.coverage.source import held, mismatch, names_anything, scene_of, telling_terms
from dofrag.domain.corpus import Chunk, Passage, Publication
from dofrag.domain.question import (
    DateRequired,
    DateRole,
    DefinitionRequired,
    Requirement,
    ValueRequired,
)
from dofrag.domain.records import dataclass
from dofrag.planner.interface import Seen, View
from dofrag.planner.queries import Window, windows
from dofrag.planner.series import of_no_time, superseded
from dofrag.text.fold import fold, stem, words
from dofrag.text.paths import provision_matches

MAX_POINTERS = 60
"""Pointers that are looked at, the newest first; more would cost without telling more."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An unread pointer. `strong` means that its source fits and that it promises an answer; `placed`, that it was
    published when an answer is likeliest."""

    chunk_id: int
    score: float
    strong: bool
    placed: bool
    requirements: tuple[str, ...]


def rank_pointers(view: View, missing: Sequence[Requirement]) -> list[Ranked]:
    """Unread pointers by how well they fit some missing requirement, the best first; each requirement's best come
    before any other's second best."""
    unread = [s for s in view.seen if s.chunk_id not in view.passages][-MAX_POINTERS:]
    glimpses = {s.chunk_id: glimpse(s, view.publications[s.code]) for s in unread if s.code in view.publications}
    place = {s.chunk_id: n for n, s in enumerate(unread)}
    scores: dict[int, float] = {}
    serves: dict[int, list[str]] = {}
    turns: dict[int, int] = {}
    strong: set[int] = set()
    placed: set[int] = set()
    old = superseded(view.publications.values())
    for requirement in missing:
        timeless = of_no_time(requirement, view.question.text, current=view.asks_current)
        window = next(windows(requirement))
        rated = []
        for pointer in unread:
            if pointer.chunk_id in glimpses:
                score = _score(requirement, pointer, glimpses[pointer.chunk_id])
                if timeless and pointer.code in old:
                    score = min(score - 1.0, STRONG - 0.5)  # a later member of its series says what holds
                if score > 0:
                    rated.append((score - place[pointer.chunk_id] * 0.01, pointer.chunk_id))
        rated.sort(key=lambda pair: (-pair[0], pair[1]))
        for turn, (score, chunk_id) in enumerate(rated[:8]):
            scores[chunk_id] = max(scores.get(chunk_id, 0.0), score)
            turns[chunk_id] = min(turns.get(chunk_id, turn), turn)
            if _in_window(glimpses[chunk_id].passage.publication, window):
                placed.add(chunk_id)
            if score >= STRONG and turn < 2:
                strong.add(chunk_id)
                serves.setdefault(chunk_id, []).append(requirement.id)
    order = sorted(scores, key=lambda i: (turns[i], -scores[i], i))
    return [Ranked(i, scores[i], i in strong, i in placed, tuple(serves.get(i, ()))) for i in order]


STRONG = 2.0


def _score(requirement: Requirement, pointer: Seen, glimpse: PreparedPassage) -> float:
    """0 when the source is wrong. A snippet that already supports the requirement, the provision itself, and words of
    the subject count."""
    if mismatch(requirement.source, glimpse):
        # Another title may still hold it: several instruments are published as one. Read last.
        return 0.0 if mismatch(replace(requirement.source, name=()), glimpse) else 0.2
    score = 1.0 if names_anything(requirement.source) else 0.3
    if requirement.path is not None:
        if provision_matches(requirement.path, pointer.provision):
            return score + 4.0
        score -= 0.5
    if meets(requirement, glimpse).supported:
        score += 3.0
    elif isinstance(requirement, DefinitionRequired):
        # The term stands all over its instrument: only a place of definitions promises one.
        place = fold(" ".join(pointer.heading_path))
        return score + (1.0 if "definicion" in place or "glosario" in place else 0.0)
    subject = subject_of(requirement)
    wide = glimpse.stems | glimpse.title_stems | glimpse.heading_stems
    if subject:
        here = sum(held(s, glimpse.stems) for s in subject) / len(subject)
        all_over = sum(held(s, wide) for s in subject) / len(subject)
        score += here + 1.2 * all_over
    elif names_anything(requirement.source):
        score += 0.8
    if isinstance(requirement, DateRequired) and requirement.role is DateRole.EFFECT:
        where = " ".join([pointer.provision or "", *pointer.heading_path]).lower()
        score += 1.0 if "trans" in where or "vigor" in pointer.snippet.lower() else 0.0
    if glimpse.passage.publication.consolidated:
        score -= 0.3  # the publication itself, where both are there
    window = next(windows(requirement))
    if not _in_window(glimpse.passage.publication, window):
        score -= 1.0
    return max(score, 0.0)


def _in_window(publication: Publication, window: Window) -> bool:
    return not (
        (window.start is not None and publication.published_on < window.start)
        or (window.end is not None and publication.published_on > window.end)
    )


def well_placed(view: View, requirement: Requirement) -> bool:
    """Whether a discovered publication fits the source and the dates where the answer is likeliest. Of a requirement
    whose source says nothing, the title must be about most of the subject."""
    window = next(windows(requirement))
    codes = [c for c in fitting_publications(view, requirement) if _in_window(view.publications[c], window)]
    if names_anything(requirement.source):
        return bool(codes)
    subject = subject_of(requirement)
    titles = [glimpse(Seen(0, c, (), None, ""), view.publications[c]).title_stems for c in codes]
    return any(2 * sum(held(s, own) for s in subject) >= len(subject) for own in titles)


def subject_of(requirement: Requirement) -> tuple[str, ...]:
    """Stems of what a requirement is about, indicator and term included."""
    extra: list[str] = []
    if isinstance(requirement, ValueRequired):
        extra = [stem(w) for w in words(f"{requirement.indicator or ''} {requirement.zone or ''}") if len(w) > 2]
    elif isinstance(requirement, DefinitionRequired):
        extra = [stem(w) for w in words(requirement.term) if len(w) > 2]
    own = telling_terms(requirement.terms, requirement.source)
    return tuple(dict.fromkeys([*extra, *own, *scene_of(requirement)]))


@lru_cache(maxsize=512)
def parsed(passage: Passage) -> PreparedPassage:
    """A passage parsed, once for all turns: what it is parsed to follows from the passage alone."""
    return prepare(passage)


@lru_cache(maxsize=4096)
def glimpse(pointer: Seen, publication: Publication) -> PreparedPassage:
    """A pointer read as if its snippet were all there is: enough to test its source."""
    chunk = Chunk(
        id=pointer.chunk_id,
        code=pointer.code,
        ordinal=0,
        start=0,
        end=len(pointer.snippet),
        heading_path=pointer.heading_path,
        provision=pointer.provision,
        kind="text",
        text=pointer.snippet,
    )
    return prepare(Passage(chunk, publication))


def fitting_publications(view: View, requirement: Requirement) -> list[str]:
    """Codes of discovered publications that fit the requirement's source, in order of discovery; none when its source
    says nothing and nothing of its subject stands in a title."""
    fitting: list[tuple[bool, bool, bool, int, int, str]] = []
    head = next(iter(requirement.source.name), "")
    subject = subject_of(requirement)
    for n, (code, publication) in enumerate(view.publications.items()):
        glanced = glimpse(Seen(0, code, (), None, publication.title), publication)
        if mismatch(requirement.source, glanced):
            continue
        hits = sum(held(s, glanced.title_stems) for s in subject)
        if hits or names_anything(requirement.source):
            outside = not _in_window(publication, next(windows(requirement)))
            # What is called *Reglamento de la Ley…* begins so; other acts on the law only speak of it.
            other = bool(head) and not fold(publication.title).startswith(head)
            fitting.append((outside, publication.consolidated, other, -hits, n, code))
    best = sorted(fitting)
    inside = [one for one in best if not one[0]]
    return [one[-1] for one in inside or best]
