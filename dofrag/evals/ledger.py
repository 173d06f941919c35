"""The ledger of a sealed set: every seal, every look and its end, one line each, chained by hash, only ever added to.

A look is a campaign that ran the set's questions, or began to. `sha256` of a line covers it and the line before it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dofrag.errors import SetTampered
from dofrag.evals.records import canonical

LEDGER = "ledger.jsonl"
SEALED, LOOK, FINISHED = "sealed", "look", "finished"
_BEGIN = "0" * 64

Json = dict[str, Any]


def entry_sha256(entry: Mapping[str, Any]) -> str:
    """Of a line, without the field that holds it."""
    return hashlib.sha256(canonical({k: v for k, v in entry.items() if k != "sha256"}).encode()).hexdigest()


def read_ledger(path: Path) -> list[Json]:
    """The lines, oldest first; none where the file is not there. Raises SetTampered for a broken chain."""
    if not path.is_file():
        return []
    entries: list[Json] = []
    before = _BEGIN
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line:
            continue
        try:
            entry: Any = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        sound = (
            isinstance(entry, dict) and entry.get("event") in (SEALED, LOOK, FINISHED) and entry.get("prev") == before
        )
        if not sound or entry.get("sha256") != entry_sha256(entry):
            raise SetTampered(f"{path}:{number} is not what was written", hint="restore the ledger from git")
        before = str(entry["sha256"])
        entries.append(entry)
    return entries


def add(path: Path, event: str, fields: Mapping[str, Any]) -> Json:
    """Append one line, on the disk when this returns. The caller holds the folder's lock."""
    entries = read_ledger(path)
    entry: Json = {"n": len(entries) + 1, "event": event, **fields,
                   "prev": entries[-1]["sha256"] if entries else _BEGIN}  # fmt: skip
    entry["sha256"] = entry_sha256(entry)
    with path.open("ab") as handle:
        handle.write((canonical(entry) + "\n").encode("utf-8"))
        handle.flush()
        os.fsync(handle.fileno())
    return entry


def keep(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write a copy of these lines."""
    part = path.with_name(path.name + ".part")
    part.write_text("".join(canonical(e) + "\n" for e in entries), encoding="utf-8")
    part.replace(path)


def looks(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The looks among the lines."""
    return [e for e in entries if e["event"] == LOOK]


def standing(entries: Sequence[Mapping[str, Any]], campaign: str) -> tuple[bool, str]:
    """Whether a campaign is a locked result, and what it has to be called. `entries` may end after its look: what
    comes later takes nothing from it."""
    every = looks(entries)
    own = next((n for n, look in enumerate(every, 1) if look.get("campaign") == campaign), None)
    if own is None:
        return False, "not in the ledger: no locked result"
    others = []
    if own > 1:
        others.append(f"look {own} at this set")
    if not every[own - 1].get("sealed_code"):
        others.append("other code than was sealed")
    if others:
        return False, "no longer a locked result: " + ", ".join(others)
    return True, "locked result: first look, with the sealed code"


def ledger_rows(entries: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the ledger as a table."""
    rows = []
    for e in entries:
        what = {SEALED: f"sealed by {e.get('author')}", LOOK: f"look {e.get('look')}",
                FINISHED: f"look {e.get('look')} finished"}[e["event"]]  # fmt: skip
        code = "-" if e["event"] == FINISHED else "sealed code"
        code = "other code" if e["event"] == LOOK and not e.get("sealed_code") else code
        ran = ", ".join(e.get("variants", ())) if e["event"] == LOOK else str(e.get("episodes_sha256") or "")[:16]
        ran = f"{e.get('questions')} questions" if e["event"] == SEALED else ran
        rows.append([str(e["n"]), str(e.get("utc")), what, code, str(e.get("commit") or "-")[:12], ran,
                     str(e["sha256"])[:16]])  # fmt: skip
    return ["", "When (UTC)", "What", "Code", "Commit", "Of what", "Hash"], rows
