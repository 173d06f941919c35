"""A provision of a named law: the law by its name, the provision through its outline, and all of its text.

A law as it stands collects the decrees that changed it: they have an article 7 and a second transitory of their own.
The law's own come first in its text, and their numbers are written as those of its other articles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dofrag.coverage.lawnames import is_law, issued
from dofrag.coverage.match import PreparedPassage
from dofrag.coverage.source import mismatch
from dofrag.domain.corpus import Passage, Publication
from dofrag.domain.question import ProvisionRequired, Requirement
from dofrag.planner.interface import PastCall, Seen, ToolCall, View
from dofrag.planner.pointers import glimpse
from dofrag.planner.queries import outline
from dofrag.text.fold import content_words, stem, words
from dofrag.text.numwords import parse_roman
from dofrag.text.paths import provision_matches
from dofrag.text.patterns import late

READ_AT_ONCE = 5
SENTENCE_MIN = 30
"""Characters of a sentence that tells whether a text has changed."""
_STOP = late(r"[.;:][*_]*\s")
Run = tuple[Seen, ...]
"""Pointers that follow each other in a publication."""


def laws_of(view: View, requirement: Requirement) -> list[Publication]:
    """The discovered publications that are the law which a requirement names a provision of: what issued it, then the
    law as it stands now. None for any other source."""
    source = requirement.source
    name = source.name or source.about
    if requirement.path is None or not is_law(name):
        return []
    wanted = tuple(map(stem, name))
    fitting = [p for p in view.publications.values() if not _misfits(requirement, p)]
    issuing = [p for p in fitting if not p.consolidated and issued(_shown(p))[: len(wanted)] == wanted]
    standing = [p for p in fitting if p.consolidated and _stems(p.title)[: len(wanted)] == wanted]
    issuing.sort(key=lambda p: (p.published_on, p.code))
    # Long names may begin alike: the question holds all of the right one.
    asked = frozenset(_stems(view.question.text))
    standing.sort(key=lambda p: (len({*_stems(p.title)} - asked), len(_stems(p.title)), p.code))
    return [*issuing[:1], *standing[:1]]


def _shown(publication: Publication) -> PreparedPassage:
    return glimpse(Seen(0, publication.code, (), None, ""), publication)


def _misfits(requirement: Requirement, publication: Publication) -> str:
    return mismatch(requirement.source, _shown(publication))


def _stems(title: str) -> tuple[str, ...]:
    return tuple(map(stem, content_words(title)))


def resolve(view: View, missing: Sequence[Requirement], why_outline: str, why_read: str) -> Iterator[ToolCall]:
    """Look a provision of a known law up in its outline, and read it: all outlines first, then one reading."""
    ids: list[int] = []
    for requirement in missing:
        path = requirement.path or ""
        for law in _to_look_up(view, requirement):
            looked = _looked_up(view, law.code, path)
            if looked is None:
                yield ToolCall("browse_document", outline(law.code, path), why_outline)
                break
            ids += [i for i in to_read(path, _pointers(view, looked)) if i not in view.passages]
    wanted = list(dict.fromkeys(ids))[:READ_AT_ONCE]
    while wanted:
        yield ToolCall("read_chunks", {"chunk_ids": wanted, "neighbor_window": 0}, why_read)
        wanted = wanted[: len(wanted) // 2]


def _to_look_up(view: View, requirement: Requirement) -> list[Publication]:
    """The law as issued; as it stands now where the provision was not found there, or where it may have changed since
    and its text is asked for."""
    laws = laws_of(view, requirement)
    if len(laws) == 2:
        looked = _looked_up(view, laws[0].code, requirement.path or "")
        found = looked is None or bool(looked.envelope.get("results"))
        changed = isinstance(requirement, ProvisionRequired) and laws[1].published_on > laws[0].published_on
        return laws if changed or not found else laws[:1]
    return laws


def nowhere(view: View, requirement: Requirement) -> bool:
    """Whether the named law was found as it stands, and its outline has no such provision."""
    laws = laws_of(view, requirement)
    looked = [_looked_up(view, law.code, requirement.path or "") for law in laws if law.consolidated]
    return len(looked) == len(laws) > 0 and all(p is not None and not p.envelope.get("results") for p in looked)


def _looked_up(view: View, code: str, path: str) -> PastCall | None:
    """The look-up of this provision in this publication's outline, if it was made."""
    arguments = outline(code, path)
    return next((p for p in view.history if p.tool == "browse_document" and p.arguments == arguments), None)


def _pointers(view: View, looked: PastCall) -> list[Seen]:
    shown = [int(entry["chunk_id"]) for entry in looked.envelope.get("results") or ()]
    seen = {s.chunk_id: s for s in view.seen}
    return [seen[i] for i in sorted(shown) if i in seen]


def to_read(path: str, pointers: Sequence[Seen]) -> list[int]:
    """Which of the pointers to a provision to read: its own run, the part that holds an inner provision first."""
    runs = _runs(pointers)
    if not runs:
        return []
    run = min(runs, key=lambda r: place(path, r[0].heading_path, r[0].chunk_id))
    first = _holding(path, run)
    around = sorted(range(len(run)), key=lambda n: (abs(n - first), n))
    chosen = around if first else range(len(run))
    return sorted(run[n].chunk_id for n in list(chosen)[:READ_AT_ONCE])


def place(path: str, heading_path: tuple[str, ...], chunk_id: int) -> tuple[bool, int]:
    """Where a provision stands among those of the same number: in order of the text, articles in figures before those
    in words. A law's articles are numbered in figures; those of the decrees that issue or change it, in words."""
    label = heading_path[-1] if heading_path else ""
    return (path.startswith("art:") and not any(c.isdigit() for c in label), chunk_id)


def _runs(pointers: Sequence[Seen]) -> list[Run]:
    runs: list[list[Seen]] = []
    for pointer in pointers:
        last = runs[-1][-1] if runs else None
        if last and pointer.chunk_id == last.chunk_id + 1 and pointer.heading_path == last.heading_path:
            runs[-1].append(pointer)
        else:
            runs.append([pointer])
    return [tuple(run) for run in runs]


def _holding(path: str, run: Run) -> int:
    """The place in a run of the chunk in which the fraction of a path begins: the last that begins before it."""
    wanted = _fraction(path)
    if wanted is None:
        return 0
    at = 0
    for n, pointer in enumerate(run):
        begins = _fraction(pointer.provision or "")
        # A chunk at `frac:V` goes on with fraction V, so that V itself begins in the chunk before.
        if begins is not None and begins < wanted:
            at = n
    return at


def _fraction(path: str) -> int | None:
    number = next((s[5:] for s in path.split("/") if s.startswith("frac:")), "")
    return parse_roman(number.split("-")[0].lower()) if number else None


def in_order(view: View, requirement: Requirement, ids: tuple[int, ...]) -> tuple[int, ...]:
    """Supporting passages, those of one publication in the order in which its provisions stand for their number. A
    law as it stands now comes first where its text of the provision is another than the one that was issued."""
    if requirement.path is None or len(ids) < 2:
        return ids
    codes = list(dict.fromkeys(view.passages[i].chunk.code for i in ids))
    for law in laws_of(view, requirement)[1:]:
        if law.code in codes[1:] and _changed(view, ids, law):
            codes = [law.code, *(code for code in codes if code != law.code)]
    rank = {code: n for n, code in enumerate(codes)}
    path = requirement.path

    def key(chunk_id: int) -> tuple[int, bool, bool, int]:
        chunk = view.passages[chunk_id].chunk
        bears = _bears(path, view.passages[chunk_id])
        return (rank[chunk.code], not bears, *place(path, chunk.heading_path, chunk_id))

    return tuple(sorted(ids, key=key))


def _changed(view: View, ids: Sequence[int], law: Publication) -> bool:
    """Whether some sentence of the passages of earlier publications is missing in those of the law as it stands."""
    read = [view.passages[i] for i in ids]
    now = " ".join(_plain(p.text) for p in read if p.chunk.code == law.code)
    then = [p for p in read if p.chunk.code != law.code and p.publication.published_on < law.published_on]
    sentences = (_plain(s) for p in then for s in _STOP.split(p.text))
    return any(len(s) >= SENTENCE_MIN and s not in now for s in sentences)


def _plain(text: str) -> str:
    return " ".join(words(text))


def _bears(path: str, passage: Passage) -> bool:
    """Whether a passage is of the provision, or of the one around it."""
    outer = path.split("/")[0]
    return provision_matches(outer, passage.chunk.provision)


def continued(
    view: View, path: str, first: int, prepared: Mapping[int, PreparedPassage], most: int
) -> tuple[list[PreparedPassage], bool]:
    """The read chunks that go on with a provision after its first one, and whether there is more of it."""
    start = view.passages[first].chunk
    found: list[PreparedPassage] = []
    for chunk_id in range(first + 1, first + 1 + most):
        passage = view.passages.get(chunk_id)
        if passage is None or passage.chunk.code != start.code or passage.chunk.heading_path != start.heading_path:
            break
        if not provision_matches(path, passage.chunk.provision):
            break
        found.append(prepared[chunk_id])
    after = (found[-1].id if found else first) + 1
    more = any(
        s.chunk_id == after and s.heading_path == start.heading_path and provision_matches(path, s.provision)
        for s in view.seen
    )
    return found, more
