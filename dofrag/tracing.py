"""Traces put together with what they were made of: the index that a run searched, its gazette, its tools.

A file names the index that was searched, but no path is opened because a file names it: the caller names the index,
or it is the default one or the sample, and then it must be the very index of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from dofrag import wiring
from dofrag.agent.repeat import Repeated, repeat
from dofrag.domain.corpus import PUBLIC, Filters, Kind, Passage, Publication, SourceKind
from dofrag.domain.records import dataclass
from dofrag.errors import DofError, UsageError
from dofrag.settings import SearchChoice
from dofrag.trace.events import RunStarted
from dofrag.trace.export.report import Cite
from dofrag.trace.problems import PassageOf
from dofrag.trace.trajectory import Trajectory, read_trajectory

HELD = 4_096
"""Passages kept at hand while many traces are checked."""
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A run whose calls were made again. `versions` has what changed since: name → before and now."""

    path: Path
    run_id: str
    calls: tuple[Repeated, ...]
    versions: Mapping[str, tuple[str | None, str | None]]

    @property
    def same(self) -> bool:
        return not any(call.differences for call in self.calls)


class Indexes:
    """The indexes that a command opens, each once. `named` is what the caller named; `scopes` what they grant."""

    def __init__(
        self,
        named: Path | None,
        notice: Notice = lambda _: None,
        search: SearchChoice | None = None,
        scopes: Iterable[str] = (),
    ) -> None:
        self._named = named
        self._notice = notice
        self._search = search or SearchChoice()
        self._scopes = frozenset(scopes)
        self._open: dict[tuple[Path, str], wiring.OpenCorpus] = {}
        self._absent: set[tuple[str, str]] = set()

    def of(self, start: RunStarted, *, strategy: str = "lexical") -> wiring.OpenCorpus:
        """The named index; else the sample or the default index, if it is the run's. Raises UsageError otherwise."""
        folder = self._named or self._own(start)
        key = folder, strategy
        if key not in self._open:
            search = replace(self._search, strategy=strategy)
            self._open[key] = wiring.open_corpus(folder, self._notice, search=search, scopes=self._scopes)
        return self._open[key]

    def _own(self, start: RunStarted) -> Path:
        if start.corpus == "sample":
            return wiring.SAMPLE
        default = wiring.settings().index
        if default is None or default.as_posix() != start.corpus:
            raise UsageError(f"the run searched index {start.corpus!r}", hint="name it with --index")
        return default

    def passages(self, start: RunStarted) -> PassageOf:
        """The texts of an index as the run could see them: under its own cut-off and scopes. Raises UsageError where
        the index is not named and is not at hand, or is another one by now."""
        corpus = self.of(start)
        if self._named is None and start.versions.get("index") != corpus.stamp:
            raise UsageError(f"index {corpus.name!r} is not as it was when the run searched it", hint="--index DIR")
        return _passage_of(corpus, start.as_of, frozenset(start.scopes))

    def at_hand(self, start: RunStarted) -> PassageOf | None:
        """Like `passages`; None where an index that nobody named is not to be had."""
        key = start.corpus, str(start.versions.get("index"))
        if key in self._absent:
            return None
        try:
            return self.passages(start)
        except DofError:
            if self._named is not None:
                raise
            self._absent.add(key)
            return None

    def replayed(self, path: Path) -> Replayed:
        """Make the calls of a trace again. Raises UsageError for scopes that the caller does not grant, and whatever
        opening the index or reading the trace raises."""
        from dofrag.agent.arms import arm_named

        run = read_trajectory(path)
        start = run.start
        if withheld := sorted(set(start.scopes) - self._scopes):
            raise UsageError(
                f"{path}: the run could see {', '.join(withheld)}", hint=f"grant it: --scope {withheld[0]}"
            )
        corpus = self.of(start, strategy=start.strategy)
        wiring.check_scopes(corpus, start.scopes)
        tools = arm_named(start.tools).tools
        calls = repeat(run, corpus.for_run(corpus.dates(start.scopes)), corpus.profile.canonical_issuer, tools)
        now: dict[str, str] = wiring.versions(corpus) | {"contract": wiring.contract_hash(tools)}
        names = sorted((start.versions.keys() | now.keys()) - {"prompts"})
        changed = {n: (start.versions.get(n), now.get(n)) for n in names if start.versions.get(n) != now.get(n)}
        return Replayed(path=path, run_id=run.run_id, calls=calls, versions=changed)

    def close(self) -> None:
        for corpus in self._open.values():
            corpus.close_searcher()


@lru_cache(maxsize=64)
def _passage_of(corpus: wiring.OpenCorpus, as_of: date, scopes: frozenset[str]) -> PassageOf:
    filters = Filters(as_of=as_of, kinds=tuple(Kind), scopes=scopes | {PUBLIC})

    @lru_cache(maxsize=HELD)
    def passage_of(chunk_id: int) -> Passage | None:
        found = corpus.reader.passages([chunk_id], filters)
        return found[0] if found else None

    return passage_of


def citing(run: Trajectory, indexes: Indexes) -> Cite:
    """How this gazette's publications are cited, and where their official pages are: from the index where it is at
    hand, else from what the trace tells, which for a consolidated law is not all."""
    gazette = wiring.profile()
    sample = run.start.corpus == "sample"
    passage_of = indexes.at_hand(run.start)

    def cite(chunk_id: int, code: str, source: Mapping[str, Any]) -> tuple[str | None, str | None]:
        passage = passage_of(chunk_id) if passage_of is not None else None
        if passage is not None and passage.publication.code == code:
            url = None if sample else passage.publication.url
            return _marked(gazette.cite_as(passage.publication), sample), url
        told = _as_told(code, source)
        if told is None:
            return None, None
        url = None if sample or told.consolidated else gazette.official_url(code, told.published_on)
        return _marked(gazette.cite_as(told), sample), url

    return cite


def _as_told(code: str, source: Mapping[str, Any]) -> Publication | None:
    """A publication as far as an envelope tells of it; None without a date."""
    try:
        day = date.fromisoformat(str(source.get("date")))
    except ValueError:
        return None
    consolidated = source.get("consolidated") is True
    return Publication(
        code=code,
        published_on=day,
        edition=None,
        kind=Kind.LEY if consolidated else Kind.DOF,
        source_kind=SourceKind.CONSOLIDATED if consolidated else SourceKind.PUBLICATION,
        position=None,
        section=None,
        branch=None,
        issuer=str(source.get("issuer") or ""),
        title=str(source.get("title") or ""),
        instrument=None,
        identifiers=(),
        url=None,
        scope=PUBLIC,
        source="",
        span=(0, 0),
        chars=0,
        sha256="",
    )


def _marked(cite_as: str, sample: bool) -> str:
    return f"EJEMPLO {cite_as}" if sample else cite_as
