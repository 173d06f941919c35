"""What the rules make of a file of questions, and whether something beside the point may close them.

    python benchmarks/decompose.py FILE [--show failing|all|none] [--distractors INDEX [--top 5]]

FILE is Markdown in which headings `**T01 …**` are followed by numbered questions `1. question → what to cover`, or
JSON Lines with `question` (and `id`, `as_of`, `requirement_types`, `gold_documents` where there are any).
`--distractors` needs the gold documents: it takes the best passages of every other publication, drafts from each one
alone the most that can be said for it, and asks the closure check.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dofrag.coverage.closure import check_closure
from dofrag.coverage.compose import partial_claims
from dofrag.coverage.ledger import assess
from dofrag.coverage.prepared import PreparedPassage, prepare
from dofrag.coverage.trial import passage_from
from dofrag.domain.corpus import Filters, Passage, Publication
from dofrag.domain.evidence import NO_PREMISE, Draft, PremiseFinding, PremiseStatus
from dofrag.domain.question import (
    ActorRequired,
    DateRequired,
    DateRole,
    DeadlineRequired,
    DefinitionRequired,
    ItemRequired,
    ListRequired,
    PublicationRequired,
    Question,
    RangeRequired,
    Requirement,
    Source,
    SubQuestion,
    TopicRequired,
    ValueRequired,
)
from dofrag.profiles.dof.profile import DofProfile
from dofrag.search.open import OpenIndex, open_index
from dofrag.text.fold import fold

Found = Sequence[Requirement]
NUMBERED = {"primer", "segund", "tercer", "cuarta", "cuarto", "quinta", "quinto"}
"""Beginnings of ordinals."""


@dataclass(frozen=True)
class Asked:
    """A question of the file. `gold` are paths of the documents that answer it."""

    id: str
    text: str
    as_of: date
    types: tuple[str, ...]
    gold: tuple[str, ...]


# --- which requirements carry which type of question ---


def sourced(r: Requirement) -> bool:
    return r.source != Source()


def filled(r: Requirement) -> bool:
    """A slot beyond the content words: source, provision, name, aspect, period, unit, role, bound, term, count."""
    own = {
        ValueRequired: ("indicator", "unit", "frequency", "period", "zone"),
        DateRequired: ("role",),
        ActorRequired: ("role", "action"),
        DefinitionRequired: ("term",),
        ItemRequired: ("of",),
        ListRequired: ("period",),
        TopicRequired: ("period",),
    }.get(type(r), ())
    if isinstance(r, RangeRequired):
        return r.low is not None or r.high is not None
    carried = sourced(r) or r.path is not None or bool(r.entities) or r.aspect is not None or r.cited is not None
    return carried or any(getattr(r, slot) is not None for slot in own)


def periods(found: Found) -> set[object]:
    """The different times that requirements are about: their own periods, else the window of their sources."""
    own: set[object] = {getattr(r, "period", None) for r in found}
    windows: set[object] = {(r.source.published_from, r.source.published_to) for r in found}
    return (own - {None}) or (windows - {(None, None)})


def has(*kinds: type) -> Callable[[Found], bool]:
    return lambda found: any(isinstance(r, kinds) for r in found)


def several(*kinds: type) -> Callable[[Found], bool]:
    return lambda found: sum(isinstance(r, kinds) for r in found) > 1


def aspect(*names: str) -> Callable[[Found], bool]:
    """Types without a class of their own: a topic or a list of which just this aspect is asked."""
    return lambda found: any(r.aspect in names for r in found)


def apart(found: Found) -> bool:
    """Two requirements about different things: their sources, names or provisions differ."""
    return len({(r.source.identifier, r.source.name, r.source.about, r.entities, r.path) for r in found}) > 1


def either(*tests: Callable[[Found], bool]) -> Callable[[Found], bool]:
    return lambda found: any(test(found) for test in tests)


def slot(test: Callable[[Requirement], object]) -> Callable[[Found], bool]:
    return lambda found: any(test(r) for r in found)


path = slot(lambda r: r.path)


def penalty(r: Requirement) -> bool:
    """A value or a range whose own words are those of a sanction."""
    words = fold(r.label)
    return isinstance(r, ValueRequired | RangeRequired) and ("multa" in words or "sancion" in words)


CARRIERS: dict[str, tuple[str, Callable[[Found], bool]]] = {
    "T01": ("value", has(ValueRequired)),
    "T02": ("date", has(DateRequired)),
    "T03": ("date of effect, or of its end", slot(
        lambda r: isinstance(r, DateRequired) and r.role in (DateRole.EFFECT, DateRole.END))),
    "T04": ("deadline", has(DeadlineRequired)),
    "T05": ("actor", has(ActorRequired)),
    "T06": ("definition", has(DefinitionRequired)),
    "T07": ("value, range or list of conditions", has(ValueRequired, RangeRequired, ListRequired)),
    "T08": ("range with a bound", slot(lambda r: isinstance(r, RangeRequired) and filled(r))),
    "T09": ("two periods", lambda found: len(periods(found)) > 1),
    "T10": ("two values", several(ValueRequired)),
    "T11": ("value of an indicator", slot(lambda r: isinstance(r, ValueRequired) and r.indicator)),
    "T12": ("item of n", has(ItemRequired)),
    "T13": ("list", has(ListRequired)),
    "T14": ("provision path", path),
    "T15": ("two requirements, one with a path", lambda found: path(found) and len(found) > 1),
    "T16": ("identifier", slot(lambda r: r.source.identifier)),
    "T17": ("named instrument", slot(lambda r: r.source.name or r.source.identifier)),
    "T18": ("publication window", slot(lambda r: r.source.published_from)),
    "T19": (
        "publication or list, with issuer and window",
        slot(
            lambda r: isinstance(r, PublicationRequired | ListRequired)
            and r.source.issuer
            and r.source.published_from
        ),
    ),
    "T20": ("two publications or dates, or a sequence", either(
        several(PublicationRequired), several(DateRequired), slot(lambda r: r.rule == "sequence"))),
    "T21": ("provision path, or what changed or was before", either(path, aspect("change", "former"))),
    "T22": ("asks for what is in force", lambda found: False),  # seen in the sub-questions
    "T23": ("premise other than the instrument", lambda found: False),  # seen in the sub-questions
    "T24": ("publication with a window or an identifier", slot(
        lambda r: isinstance(r, PublicationRequired) and (r.source.published_from or r.source.identifier))),
    "T25": ("correction, or a value or provision of the correction", either(
        aspect("correction"), slot(lambda r: {"erratas", "aclaracion", "aclaratoria"} & set(r.source.about)))),
    "T26": ("two requirements about different things", apart),
    "T27": ("relation between acts", aspect("repeal", "replacement", "change", "extension", "correction")),
    "T28": ("two values, a percentage, or a date", either(
        several(ValueRequired), has(DateRequired),
        slot(lambda r: isinstance(r, ValueRequired) and r.unit == "percent"))),
    "T29": ("method", aspect("method")),
    "T30": ("surface, or list of places", slot(
        lambda r: isinstance(r, ListRequired) or (isinstance(r, ValueRequired) and r.unit == "m2"))),
    "T31": ("value", has(ValueRequired)),
    "T32": ("amount of a sanction, or consequence", either(slot(penalty), aspect("consequence"))),
    "T33": ("legal basis", aspect("basis")),
    "T34": ("procedure", aspect("procedure")),
    "T35": ("count", slot(lambda r: isinstance(r, ValueRequired) and r.unit)),
    "T36": ("publication, list or topic of a numbered version", slot(
        lambda r: bool(NUMBERED & {w[:6] for w in r.source.about}) or NUMBERED & {w[:6] for w in r.terms})),
    "T37": ("two of actor, date, deadline, value, file number, named topic", lambda found: sum(
        isinstance(r, ActorRequired | DateRequired | DeadlineRequired | ValueRequired)
        or (isinstance(r, TopicRequired) and (r.aspect == "identifier" or r.entities != ()))
        for r in found) > 1),
}  # fmt: skip
"""Type of question → what is looked for among the requirements. Where the union has no class for a type (a method,
a legal basis, a correction), a topic must know that this aspect is asked; some requirement or other is no hit."""


def recognised(kind: str, asked: Asked, subs: Sequence[SubQuestion], profile: DofProfile) -> bool:
    if kind == "T22":
        return any(s.current for s in subs)
    if kind == "T23":
        return any(p.slot != "instrument" for s in subs for p in s.premises)
    return CARRIERS[kind][1]([r for s in subs for r in s.requirements])


# --- questions ---


def read(file: Path) -> Iterator[Asked]:
    kind = ""
    for n, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if file.suffix == ".jsonl":
            if line.strip():
                yield _asked(json.loads(line), n)
        elif heading := re.match(r"\*\*(T\d\d)\b", line):
            kind = heading[1]
        elif kind and (example := re.match(r"(\d+)\. (.+?) →", line)):
            yield Asked(f"{kind}.{example[1]}", example[2], date.today(), (kind,), ())


def _asked(row: dict[str, Any], n: int) -> Asked:
    day = date.fromisoformat(row["as_of"]) if row.get("as_of") else date.today()
    types = tuple(t for t in row.get("requirement_types", ()) if t in CARRIERS)
    gold = tuple(g["relpath"] for g in row.get("gold_documents", ()))
    return Asked(str(row.get("id", n)), row["question"], day, types, gold)


def describe(r: Requirement) -> str:
    name = type(r).__name__.removesuffix("Required").lower()
    slots = {
        k: getattr(r, k, None)
        for k in ("path", "indicator", "unit", "frequency", "zone", "role", "term", "aspect", "cited")
    }
    slots |= {k: getattr(r.source, k) for k in ("issuer", "identifier", "edition", "published_from")}
    slots |= {"name": " ".join(r.source.name), "about": " ".join(r.source.about), "of": "; ".join(r.entities)}
    if (period := getattr(r, "period", None)) is not None:
        slots["period"] = f"{period.start}/{period.end}"
    inner = ", ".join(f"{k}={v}" for k, v in slots.items() if v)
    return f"{name} «{r.label}»" + (f" [{inner}]" if inner else "")


def decomposition(asked: Sequence[Asked], profile: DofProfile, show: str) -> None:
    counts: list[int] = []
    per_type: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    only_topic, empty, missed, echoed = [], [], [], []
    for a in asked:
        subs = profile.decompose(Question(text=a.text, as_of=a.as_of))
        found = [r for s in subs for r in s.requirements]
        counts.append(len(found))
        hit = {t: recognised(t, a, subs, profile) for t in a.types}
        for t, ok in hit.items():
            per_type[t] = [per_type[t][0] + 1, per_type[t][1] + ok, per_type[t][2] + len(found)]
        marks = []
        if all(isinstance(r, TopicRequired) for r in found):
            only_topic.append(a.id)
            marks.append("topic only")
        if not any(filled(r) for r in found):
            empty.append(a.id)
            marks.append("no slot filled")
        if echo(a, subs, profile):
            echoed.append(a.id)
            marks.append("closed by its own words")
        if hit and not all(hit.values()):
            missed.append(a.id)
            marks.append("not recognised: " + ", ".join(f"{t} ({CARRIERS[t][0]})" for t, ok in hit.items() if not ok))
        if show == "all" or (show == "failing" and marks):
            print(f"{a.id}  {a.text}\n    {'; '.join(marks) or 'ok'}")
            print(*(f"    {r.id}  {describe(r)}" for r in found), sep="\n")
    _report(asked, counts, only_topic, empty, missed, per_type)
    print(f"closed by its own words        {len(echoed):4}  {' '.join(echoed)}")


def _report(
    asked: Sequence[Asked], counts: list[int], only_topic: list[str], empty: list[str], missed: list[str],
    per_type: dict[str, list[int]],
) -> None:  # fmt: skip
    if per_type:
        print(f"\n{'type':5} {'n':>3} {'found':>5} {'mean':>5}  looked for")
        for t, (n, ok, total) in sorted(per_type.items()):
            print(f"{t:5} {n:3} {ok:5} {total / n:5.1f}  {CARRIERS[t][0]}")
    ninth = sorted(counts)[min(len(counts) - 1, int(0.9 * len(counts)))]
    print(f"\n{len(counts)} questions")
    print(f"without a filled slot          {len(empty):4}  {' '.join(empty)}")
    print(f"with no type but topic         {len(only_topic):4}  {' '.join(only_topic)}")
    neither = [i for i in empty if i in only_topic]
    print(f"with neither type nor slot     {len(neither):4}  {' '.join(neither)}")
    if per_type:
        known = sum(bool(a.types) for a in asked)
        print(f"every intended type recognised {known - len(missed):4}  of {known}; not in {' '.join(missed) or '-'}")
    middle = statistics.median(counts)
    print(f"requirements a question: median {middle:g}, 90th percentile {ninth}, most {max(counts)}")


# --- distractors ---


def distractors(index: OpenIndex, asked: Asked, top: int) -> list[Passage]:
    """The best passage of each of the `top` best publications that are no gold document, nor a copy of one."""
    filters = Filters(as_of=asked.as_of)
    hits = index.backend.search_publications(asked.text, filters, limit=top + 4 * len(asked.gold), per_publication=1)
    passages = index.reader.passages([h.chunk_id for h in hits.hits], filters)
    own = [Path(g).stem.rpartition("_")[2] for g in asked.gold]
    gold = list(index.reader.publications(own, filters).values())
    return [p for p in passages if not _is_gold(p.publication, asked.gold, gold)][:top]


def gold_passages(index: OpenIndex, asked: Asked, limit: int = 40) -> list[Passage]:
    """The best passages of the gold documents themselves: the control, without which refusing everything would do."""
    codes = tuple(Path(g).stem.rpartition("_")[2] for g in asked.gold)
    filters = Filters(as_of=asked.as_of, codes=codes)
    return index.reader.passages(
        [h.chunk_id for h in index.backend.search_chunks(asked.text, filters, limit=limit).hits], filters
    )


def _is_gold(publication: Publication, paths: Sequence[str], gold: Iterable[Publication]) -> bool:
    same = {(fold(g.title), g.published_on) for g in gold}
    return publication.source in paths or (fold(publication.title), publication.published_on) in same


def closes(subs: Sequence[SubQuestion], read_passages: Sequence[Passage]) -> bool:
    """Whether the most favourable draft from these passages alone is accepted: every stretch that supports anything,
    with the premise left alone or, if that is refused, called false with each claim as the correction."""
    prepared: dict[int, PreparedPassage] = {p.id: prepare(p) for p in read_passages}
    claims = partial_claims(subs, prepared, assess(subs, prepared).support)
    findings = [NO_PREMISE, *(PremiseFinding(status=PremiseStatus.FALSE, correction=c.text) for c in claims)]
    return any(
        not check_closure(Draft(claims=claims, premise=finding), subs, prepared).faults for finding in findings
    )


def echo(asked: Asked, subs: Sequence[SubQuestion], profile: DofProfile) -> bool:
    """Whether a passage that says the question over again closes it. Its publication has whatever the question names:
    issuer, identifier, title, a day inside the window."""
    sources = [r.source for s in subs for r in s.requirements]
    day = next((s.published_from for s in sources if s.published_from), asked.as_of)
    issuer = next((s.issuer for s in sources if s.issuer), "")
    names = profile.identifiers(asked.text)
    text = f"Se recibió una consulta que dice: {asked.text}"
    return closes(subs, [passage_from(text, day, title=asked.text, issuer=issuer, identifiers=names)])


def distraction(asked: Sequence[Asked], profile: DofProfile, folder: Path, top: int) -> None:
    known = [a for a in asked if a.gold]
    refused = together = tried = control = 0
    with open_index(folder) as index:
        for a in known:
            subs = profile.decompose(Question(text=a.text, as_of=a.as_of))
            beside = distractors(index, a, top)
            closed = [p for p in beside if closes(subs, [p])]
            all_at_once = closes(subs, beside)
            control += closes(subs, gold_passages(index, a))
            tried += len(beside)
            refused += not closed
            together += not all_at_once
            for p in closed:
                print(f"{a.id}  closed by {p.publication.code} (chunk {p.id}, {p.publication.published_on}):")
                print(f"    {p.publication.title[:110]}\n    {' '.join(p.text.split())[:240]}")
            if all_at_once and not closed:
                print(f"{a.id}  closed by {len(beside)} passages together, by none alone")
    print(f"\nclosure refused to each of the best {top} distractors ({tried} passages): {refused} of {len(known)}")
    print(f"closure refused to all of them read together: {together} of {len(known)}")
    print(f"control, closure granted to the best 40 passages of the gold documents: {control} of {len(known)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", choices=("failing", "all", "none"), default="failing")
    parser.add_argument("--distractors", type=Path, metavar="INDEX")
    parser.add_argument("--top", type=int, default=5, help="distractors a question")
    options = parser.parse_args()
    asked = list(read(options.file))
    if not asked:
        print(f"no questions found in {options.file}", file=sys.stderr)
        return 2
    profile = DofProfile()
    decomposition(asked, profile, options.show)
    if options.distractors:
        distraction(asked, profile, options.distractors, options.top)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
