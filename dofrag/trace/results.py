"""What differs between two envelopes of one call, result by result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.trace.problems import as_id, objects

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. `kind`: "gone" or "new" (a result; `was`, `now` are ranks from 1), "moved" (to another rank),
    "changed" (a field of a result, a source or the envelope), "text" (of a passage that was read), "refused" (the
    call itself; `was`, `now` are error codes, None where it ran). `what` names it: "publication 5778070", "chunk 12",
    "chunk 12 heading", "total"."""

    kind: str
    what: str
    was: Any
    now: Any


def differences(was: Json, now: Json) -> list[Difference]:
    """In order of the envelope: refusal, counts, results, sources. Versions are left out: they are of the run."""
    codes = _code(was), _code(now)
    if codes != (None, None):
        return [] if codes[0] == codes[1] else [Difference("refused", "call", *codes)]
    found = [
        Difference("changed", name, was.get(name), now.get(name))
        for name in ("as_of", "total", "truncated", "insufficient_reason", "charged")
        if was.get(name) != now.get(name)
    ]
    found += _results(objects(was.get("results")), objects(now.get("results")))
    sources = [s if isinstance(s := e.get("sources"), Mapping) else {} for e in (was, now)]
    for code in sorted(sources[0].keys() & sources[1].keys()):
        before, after = sources[0][code], sources[1][code]
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += _fields(f"publication {code}", before, after)
    return found


def _code(envelope: Json) -> str | None:
    if envelope.get("ok") is not False:
        return None
    error = envelope.get("error")
    return str(error.get("code")) if isinstance(error, Mapping) else "?"


def _results(was: Iterable[Json], now: Iterable[Json]) -> list[Difference]:
    before, after = _ranked(was), _ranked(now)
    found = [Difference("gone", key, rank, None) for key, (rank, _) in before.items() if key not in after]
    found += [Difference("new", key, None, rank) for key, (rank, _) in after.items() if key not in before]
    kept = [key for key in before if key in after]
    places = {key: n for n, key in enumerate(key for key in after if key in before)}
    for n, key in enumerate(kept):
        (rank, one), (new_rank, other) = before[key], after[key]
        # What only shifted because something else came or went has not moved.
        if places[key] != n:
            found.append(Difference("moved", key, rank, new_rank))
        found += _fields(key, one, other)
        found += _results(objects(one.get("passages")), objects(other.get("passages")))
    return found


def _ranked(results: Iterable[Json]) -> dict[str, tuple[int, Json]]:
    return {_key(result): (rank, result) for rank, result in enumerate(results, 1)}


def _key(result: Json) -> str:
    chunk_id = as_id(result.get("chunk_id"))
    return f"publication {str(result.get('publication'))[:60]}" if chunk_id is None else f"chunk {chunk_id}"


def _fields(key: str, was: Json, now: Json) -> list[Difference]:
    names = sorted((was.keys() | now.keys()) - {"passages", "text"})
    return [
        Difference("changed", f"{key} {name}", was.get(name), now.get(name))
        for name in names
        if was.get(name) != now.get(name)
    ]
