"""Question sets: the items, and reading them from a file, ours or the public dof-rag v4's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.domain.run import Reason
from dofrag.errors import UsageError
from dofrag.evals.patterns import pattern_fault, trajectory_fault
from dofrag.evals.schema import fault_of

NAMED = ("v4", "locked")
"""Sets that come with the project, each on the sample gazette; `locked` with publications of its own besides."""
ALONG = ("v4",)
"""Those that an installed package has. A sealed set stays in its checkout, with corpus, seal and ledger."""
CORPUS = "corpus"
FILE = "questions.jsonl"
_LINE_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a nugget says, typed. Just one of the first four is set; `others` are what the list must not hold."""

    number: Decimal | None = None
    date: date | None = None
    identifier: str | None = None
    items: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nugget:
    """An atomic fact that the answer must hold (`vital`) or may. It counts when one of `accept` is found, or `value`
    is, or all of `quotes` stand in quotes of `source` (a publication code; None: of any), which without `quotes` must
    be quoted at all. `computed`: the value must be the result of a declared computation."""

    text: str
    vital: bool
    accept: tuple[str, ...] = ()
    value: Value | None = None
    quotes: tuple[str, ...] = ()
    source: str | None = None
    computed: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-question with what its answer must say."""

    id: str
    text: str
    nuggets: tuple[Nugget, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A publication that answers, by file path or code, with verbatim spans. Entries of one `group` are alternatives:
    one of them is enough."""

    source: str
    quotes: tuple[str, ...]
    title: str | None = None
    publication_date: date | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question with what is expected of it. Only `question` and `as_of` ever reach a run."""

    id: str
    category: str
    question: str
    as_of: date | None
    expected_state: str
    expected_reason: str | None
    parts: tuple[Part, ...]
    gold: tuple[Gold, ...]
    forbidden: tuple[str, ...] = ()
    persona: str | None = None
    reference_answer: str | None = None
    notes: str | None = None
    expected_tools: tuple[str, ...] | None = None
    trajectory: str | None = None
    hops: int | None = None
    phrasing: str | None = None
    subset: str | None = None

    @property
    def nuggets(self) -> tuple[Nugget, ...]:
        return tuple(n for part in self.parts for n in part.nuggets)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """`sha256` is over the files that were read, `path` the first of them. `named`: it comes with the project, and so
    does its corpus. `sealed`: a seal lies beside it, or it must have one. `corpus` holds publications that a sealed
    set adds to the sample gazette."""

    name: str
    named: bool
    sha256: str
    path: Path
    sealed: bool
    corpus: Path | None
    items: tuple[Item, ...]


def load_set(name: str, cwd: Path) -> QuestionSet:
    """A set by its name, or by the path of its file. Raises UsageError that names file, line and fault."""
    if name in NAMED:
        return _load(_named_file(name, cwd), name, named=True)
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"there is no question set {name[:200]!r}", hint=f"name a file, or {' or '.join(NAMED)}")
    return _load(path, path.parent.name if path.name == FILE and path.parent.name else path.stem, named=False)


def _named_file(name: str, cwd: Path) -> Path:
    package = Path(__file__).parent
    places = (package / "sets" / name / FILE, package.parents[1] / "eval" / name / FILE, cwd / "eval" / name / FILE)
    found = next((p for p in places if p.is_file()), None)
    if found is None:
        raise UsageError(f"the set {name!r} is not installed", hint="run it in a checkout, or name the set's file")
    return found


def _load(path: Path, name: str, *, named: bool) -> QuestionSet:
    from dofrag.evals.public import from_public, is_public, read_nuggets

    raw = path.read_bytes()
    digest = hashlib.sha256(raw)
    beside = path.with_name("nuggets.jsonl")
    rows = list(_rows(path, raw))
    if rows and is_public(rows[0][1]):
        annotations: dict[str, Any] = {}
        if beside.is_file():
            more = beside.read_bytes()
            digest.update(more)
            annotations = read_nuggets(_rows(beside, more))
        rows = [(n, from_public(row, annotations.get(str(row.get("id"))), f"{path}:{n}")) for n, row in rows]
    items = tuple(_item(row, f"{path}:{n}") for n, row in rows)
    if not items:
        raise UsageError(f"{path} holds no questions")
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise UsageError(f"{path}: two questions have the id {item.id!r}", hint="give each its own")
        seen.add(item.id)
    sealed = name == "locked" or path.with_name("seal.json").is_file()
    own = path.with_name(CORPUS)
    return QuestionSet(name=name, named=named, sha256=digest.hexdigest(), path=path, sealed=sealed,
                       corpus=own if (sealed or named) and own.is_dir() else None, items=items)  # fmt: skip


def _rows(path: Path, raw: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig")) if len(line) <= _LINE_MAX else None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number} is not JSON: {str(error)[:120]}", hint="one item a line") from None
        if not isinstance(row, dict):
            raise UsageError(
                f"{path}:{number} is no JSON object of at most {_LINE_MAX:,} bytes", hint="one item a line"
            )
        yield number, row


def _item(row: Mapping[str, Any], where: str) -> Item:
    fault = fault_of(row)
    if fault is not None:
        raise UsageError(f"{where}: {fault}", hint="docs/evaluation.md has the format")
    reason = row.get("expected_reason")
    if reason is not None and reason not in set(Reason):
        raise UsageError(f"{where}: expected_reason {reason!r} is no reason", hint="docs/results.md lists them")
    item = Item(
        id=row["id"],
        category=row["category"],
        question=row["question"],
        as_of=_date(row["as_of"], where),
        expected_state=row["expected_state"],
        expected_reason=reason,
        parts=tuple(Part(p["id"], p["text"], tuple(_nugget(n, where) for n in p["nuggets"]))
                    for p in row["sub_questions"]),
        gold=tuple(
            Gold(source=g["source"], quotes=tuple(g["quotes"]), title=g.get("title"),
                 publication_date=_date(g.get("publication_date"), where), group=g.get("group"))
            for g in row["gold"]
        ),
        forbidden=tuple(row["forbidden"]),
        expected_tools=None if row.get("expected_tools") is None else tuple(row["expected_tools"]),
        **{name: row.get(name) for name in
           ("persona", "reference_answer", "notes", "trajectory", "hops", "phrasing", "subset")},
    )  # fmt: skip
    for pattern in (*item.forbidden, *(a for n in item.nuggets for a in n.accept)):
        fault = pattern_fault(pattern)
        if fault is not None:
            raise UsageError(f"{where}: the pattern {pattern[:80]!r} cannot be used: {fault}", hint="make it simpler")
    fault = None if item.trajectory is None else trajectory_fault(item.trajectory)
    if fault is not None:
        raise UsageError(f"{where}: the trajectory cannot be used: {fault}", hint="letters of calls, as in D+E?R+")
    return item


def _nugget(row: Mapping[str, Any], where: str) -> Nugget:
    value = row.get("value")
    return Nugget(
        text=row["text"],
        vital=row["vital"],
        accept=tuple(row.get("accept", ())),
        value=None if value is None else Value(
            number=Decimal(str(value["number"])) if "number" in value else None,
            date=_date(value.get("date"), where),
            identifier=value.get("identifier"),
            items=tuple(value.get("list", ())),
            others=tuple(value.get("others", ())),
        ),
        quotes=tuple(row.get("quotes", ())),
        source=row.get("source"),
        computed=row.get("computed", False),
    )  # fmt: skip


def _date(text: str | None, where: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{where}: {text!r} is not a date", hint="write it as YYYY-MM-DD") from None


def item_row(item: Item) -> dict[str, Any]:
    """The item as a line of our format."""
    row = asdict(item)
    row["sub_questions"] = [_part_row(part) for part in item.parts]
    del row["parts"]
    dates = {"as_of": None if item.as_of is None else item.as_of.isoformat()}
    row["gold"] = [
        asdict(g) | {"publication_date": None if g.publication_date is None else g.publication_date.isoformat()}
        for g in item.gold
    ]
    return row | dates


def _part_row(part: Part) -> dict[str, Any]:
    return {"id": part.id, "text": part.text, "nuggets": [_nugget_row(n) for n in part.nuggets]}


def _nugget_row(nugget: Nugget) -> dict[str, Any]:
    row = asdict(nugget)
    value = nugget.value
    del row["value"]
    if value is None:
        return row
    if value.number is not None:
        return row | {"value": {"number": float(value.number)}}
    if value.date is not None:
        return row | {"value": {"date": value.date.isoformat()}}
    if value.identifier is not None:
        return row | {"value": {"identifier": value.identifier}}
    return row | {"value": {"list": list(value.items), "others": list(value.others)}}
