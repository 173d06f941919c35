"""How a run went about it, held against what its question's author wrote down: tools, trajectory, end, hops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.evals.dataset import Item
from dofrag.evals.locate import Unit
from dofrag.evals.patterns import is_trajectory

LETTERS = {
    "list_publications": "L",
    "search_documents": "D",
    "search_evidence": "E",
    "browse_document": "B",
    "read_chunks": "R",
}
"""A trajectory is a pattern over these, one letter an executed call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """None where the item says nothing, or where there is nothing to choose. A hop is one gold publication's piece,
    or one of a group of alternatives; it is found when a chunk that holds it was read."""

    tool_selection: bool | None
    trajectory: bool | None
    termination: bool
    hops_total: int
    hops_found: int
    documents_total: int
    documents_found: int

    @property
    def all_hops(self) -> bool | None:
        return self.hops_found == self.hops_total if self.hops_total else None


def conduct(
    item: Item,
    units: Sequence[Unit],
    *,
    sequence: Sequence[str],
    read: Mapping[int, str],
    choice: bool,
    reason_ok: bool,
) -> Conduct:
    """Pure. `sequence` are the executed calls, `read` chunk id → publication code; `choice`: the run had the tools
    that the item speaks of."""
    hops: dict[str, list[Unit]] = {}
    for unit in units:
        hops.setdefault(unit.name.rpartition(".")[0] or unit.name, []).append(unit)
    documents = {unit.codes for unit in units if unit.codes}
    codes = set(read.values())
    expected = item.expected_tools if choice else None
    pattern = item.trajectory if choice and is_trajectory(item.trajectory or "") else None
    return Conduct(
        tool_selection=None if not expected else bool(sequence) and sequence[0] in expected,
        trajectory=None if not pattern else matches_trajectory(pattern, sequence),
        termination=reason_ok,
        hops_total=len(hops),
        hops_found=sum(any(_read(u, read) for u in hop) for hop in hops.values()),
        documents_total=len(documents),
        documents_found=sum(bool(codes & set(each)) for each in documents),
    )


def matches_trajectory(pattern: str, sequence: Sequence[str]) -> bool:
    """Whether the calls, as letters, match the whole pattern."""
    return re.fullmatch(pattern, letters(sequence), re.IGNORECASE) is not None


def letters(sequence: Sequence[str]) -> str:
    return "".join(LETTERS.get(tool, "?") for tool in sequence)


def conduct_row(made: Conduct) -> dict[str, Any]:
    """As JSON values."""
    return asdict(made) | {"all_hops": made.all_hops}


def _read(unit: Unit, read: Mapping[int, str]) -> bool:
    if unit.chunk_ids:
        return any(i in read for i in unit.chunk_ids)
    return any(code in unit.codes for code in read.values())
