"""Two campaigns side by side, question by question: what changed, and whether it clears its interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dofrag.errors import UsageError
from dofrag.evals import records as store
from dofrag.evals.metrics import paired

Json = dict[str, Any]
_RANK = {False: 0.0, None: 0.5, True: 1.0}


def compare(first: Path, second: Path, variants: tuple[str | None, str | None] = (None, None)) -> Json:
    """Changes from the first campaign to the second over the questions and passes that both hold, of one variant each
    (None: the only one, or `core`). The two may be one campaign.

    Raises UsageError where they share none, or a variant is not there or not told.
    """
    specs = store.read_spec(first), store.read_spec(second)
    names = tuple(_variant(spec, name) for spec, name in zip(specs, variants, strict=True))
    a, b = (_by_question(store.read_records(folder), name)
            for folder, name in zip((first, second), names, strict=True))  # fmt: skip
    both = [key for key in a if key in b]
    if not both:
        raise UsageError(f"{str(first)!r} and {str(second)!r} have no question in common")
    judged = [k for k in both if a[k]["grade"]["correct"] is not None and b[k]["grade"]["correct"] is not None]
    return {
        "schema": "dofrag.comparison/1",
        "first": specs[0]["title"],
        "second": specs[1]["title"],
        "variants": list(names),
        "differs": sorted(k for k in {*specs[0], *specs[1]} if specs[0].get(k) != specs[1].get(k) and k != "utc"),
        "common": len(both),
        "only_first": sorted({k[0] for k in a if k not in b}),
        "only_second": sorted({k[0] for k in b if k not in a}),
        "correct": _difference([(float(a[k]["grade"]["correct"]), float(b[k]["grade"]["correct"])) for k in judged]),
        "vital": _difference([pair for k in both if (pair := _shares(a[k], b[k])) is not None]),
        "changes": [change for k in both if (change := _change(a[k], b[k])) is not None],
    }


def _variant(spec: Json, name: str | None) -> str:
    there = [str(v["name"]) for v in spec["variants"]]
    if name is None and len(there) == 1:
        return there[0]
    name = name or "core"
    if name not in there:
        raise UsageError(f"{spec['title']} has no variant {name!r}", hint=f"--variant, one of: {', '.join(there)}")
    return name


def _by_question(rows: Sequence[Json], variant: str) -> dict[tuple[str, int], Json]:
    return {(str(r["question_id"]), int(r["pass"])): r for r in rows if r["variant"] == variant}


def _difference(pairs: Sequence[tuple[float, float]]) -> Json:
    mean, low, high = paired(pairs)
    clear = low is not None and high is not None and (low > 0 or high < 0)
    return {"n": len(pairs), "difference": mean, "low": low, "high": high, "clears_its_interval": clear}


def _shares(a: Json, b: Json) -> tuple[float, float] | None:
    shares = []
    for record in (a, b):
        vital = [n for n in record["grade"]["nuggets"] if n["vital"]]
        if not vital or not record["grade"]["scored"]:
            return None
        shares.append(sum(n["found"] for n in vital) / len(vital))
    return shares[0], shares[1]


def _change(a: Json, b: Json) -> Json | None:
    """What is different of one question; None where nothing that is counted is."""
    before, after = _state(a), _state(b)
    if before == after:
        return None
    ranks = _RANK[a["grade"]["correct"]], _RANK[b["grade"]["correct"]]
    way = "better" if ranks[1] > ranks[0] else "worse" if ranks[1] < ranks[0] else "other"
    return {"question": a["question_id"], "pass": a["pass"], "way": way, "before": before, "after": after}


def _state(record: Json) -> Json:
    g = record["grade"]
    return {
        "ended": f"{record['terminal_state']}/{record['termination_reason']}",
        "correct": g["correct"],
        "confident_error": g["confident_error"],
        "found": [n["text"] for n in g["nuggets"] if n["found"]],
        "citation_precision": g["citation_precision"],
        "citation_recall": g["citation_recall"],
    }


def comparison_lines(document: Json) -> list[str]:
    """The comparison for a person to read."""
    sides = [
        f"{document[side]}, {name}" for side, name in zip(("first", "second"), document["variants"], strict=True)
    ]
    lines = [f"{sides[0]}  →  {sides[1]}: {document['common']} runs in common"]
    if document["differs"]:
        lines.append("the campaigns differ in: " + ", ".join(document["differs"]))
    for name in ("correct", "vital"):
        d = document[name]
        reach = "n/a" if d["low"] is None else f"{d['low']:+.3f} … {d['high']:+.3f}"
        verdict = "" if d["clears_its_interval"] else ", does not clear its interval"
        lines.append(
            f"{'correct' if name == 'correct' else 'core nuggets'} {d['difference']:+.3f} "
            f"(95 % {reach}; n {d['n']}{verdict})"
        )
    for change in document["changes"]:
        before, after = change["before"], change["after"]
        lines.append(f"{change['way']} {change['question']} (pass {change['pass']})")
        for key in ("ended", "correct", "confident_error", "citation_precision", "citation_recall"):
            if before[key] != after[key]:
                lines.append(f"         {key}: {before[key]} → {after[key]}")
        lines += [f"         lost: {text}" for text in before["found"] if text not in after["found"]]
        lines += [f"         found: {text}" for text in after["found"] if text not in before["found"]]
    if not document["changes"]:
        lines.append("nothing changed")
    for name in ("only_first", "only_second"):
        if document[name]:
            lines.append(f"{name.replace('_', ' in the ')}: {', '.join(document[name])}")
    return lines
