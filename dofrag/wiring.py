"""The only place that puts parts together: settings, corpus, planner, clock, trace."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dofrag import __version__
from dofrag.domain.corpus import PUBLIC, Filters, Kind
from dofrag.domain.question import Question
from dofrag.domain.records import dataclass
from dofrag.domain.run import ENDS, EXIT_CODES, INTERRUPTED_EXIT, Limits, Reason
from dofrag.errors import UsageError
from dofrag.profiles.base import GazetteProfile
from dofrag.search.interface import SearchBackend
from dofrag.settings import ModelChoice, SearchChoice, Settings, embedder_settings, from_environment
from dofrag.store.interface import CorpusReader
from dofrag.trace.events import Event, RunStarted

if TYPE_CHECKING:
    from dofrag.agent.arms import Arm
    from dofrag.agent.setup import Corpus, Player
    from dofrag.llm.probe import Report
    from dofrag.search.vectors.build import Embedded
    from dofrag.strategies import Check
    from dofrag.tools import ToolSpec

QUESTION_MAX = 4_000
"""Characters of a question at most: beyond, it is a document."""
SAMPLE = Path("<sample>")
"""Named as an index: the sample gazette, whatever the default index is."""


@dataclass(frozen=True, slots=True)
class OpenCorpus:
    """An index opened for reading. `name` is "sample" for the built-in gazette, else the folder as it was named.
    `vectors` is the stamp of the vectors that its backend uses, "" for those made as they are asked for, None where a
    search is by words alone."""

    name: str
    reader: CorpusReader
    backend: SearchBackend
    profile: GazetteProfile
    stamp: str
    strategy: str = "lexical"
    vectors: str | None = None
    close_searcher: Callable[[], None] = lambda: None

    def dates(self, scopes: Iterable[str] = ()) -> tuple[date, date]:
        """First and last publication date that these scopes (and the public one) hold."""
        dates = self.reader.dates(frozenset(scopes) | {PUBLIC})
        if dates is None:
            raise UsageError(f"index {self.name!r} is empty", hint="dof index build FOLDER --index DIR")
        return dates

    def for_run(self, dates: tuple[date, date]) -> Corpus:
        """As a run gets it; `dates` are what it may see."""
        from dofrag.agent.setup import Corpus

        return Corpus(name=self.name, reader=self.reader, backend=self.backend, dates=dates, stamp=self.stamp)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result as JSON values, the process's exit code, and the exception of a run that failed."""

    result: dict[str, Any]
    exit_code: int
    error: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """How an experiment has a question played: the arm, and slips at a rate, seeded."""

    arm: str = "core"
    epsilon: float = 0.0
    seed: int = 0


def settings() -> Settings:
    """From this process's environment and working folder."""
    return from_environment(os.environ, Path.cwd())


def profile() -> GazetteProfile:
    """The gazette that this installation serves."""
    from dofrag.profiles.dof.profile import DofProfile

    return DofProfile()


def open_corpus(
    index_dir: Path | None,
    notice: Callable[[str], None] = lambda _: None,
    *,
    search: SearchChoice | None = None,
    scopes: Iterable[str] = (),
) -> OpenCorpus:
    """Open a named index, the default one, or the sample (built on first use; `notice` is told so), to be searched as
    `search` says, with vectors of the public collection and of `scopes`.

    Raises StoreMissing or IndexMismatch with the command that mends it, UsageError where no embedder is named, and
    ModelUnavailable where it does not answer.
    """
    from dofrag.sample.index import sample_index
    from dofrag.search.open import open_index

    chosen = None if index_dir == SAMPLE else index_dir or settings().index
    dof = profile()
    name = "sample" if chosen is None else chosen.as_posix()
    folder = chosen if chosen is not None else sample_index(settings().cache, dof, notice)
    opened = open_index(folder, expansions=dof.expansions)
    corpus = OpenCorpus(name=name, reader=opened.reader, backend=opened.backend, profile=dof, stamp=opened.stamp)
    if search is None or search.strategy in (None, "lexical"):
        return corpus
    from dofrag.strategies import make_searcher

    embedder = embedder_settings(os.environ, search)
    seen = frozenset(scopes) | {PUBLIC}
    searcher = make_searcher(opened, folder, search, embedder, seen, settings().cache)
    return replace(
        corpus,
        backend=searcher.backend,
        strategy=str(search.strategy),
        vectors=searcher.vectors,
        close_searcher=searcher.close,
    )


def embed_corpus(
    folder: Path,
    choice: SearchChoice,
    *,
    batch: int,
    limit: int | None,
    fresh: bool,
    progress: Callable[[int, int], None],
) -> Embedded:
    """Give the chunks of an index vectors, as `embed_index`."""
    from dofrag.search.vectors.build import embed_index
    from dofrag.strategies import make_embedder

    embedder = make_embedder(embedder_settings(os.environ, choice))
    try:
        return embed_index(folder, embedder, batch=batch, limit=limit, fresh=fresh, progress=progress)
    finally:
        embedder.close()


def vector_checks(index_dir: Path | None) -> list[Check]:
    """What there is for searches with vectors, for `dof doctor`."""
    from dofrag.strategies import vector_checks

    return list(vector_checks(index_dir or settings().index, os.environ))


def cutoff(corpus: OpenCorpus, as_of: date | None, scopes: Iterable[str]) -> tuple[date, tuple[date, date]]:
    """The run's cut-off and what the index reaches before it. Default: the newest publication.

    Raises UsageError for a cut-off before the corpus begins: nothing would exist for the run.
    """
    first, last = corpus.dates(scopes)
    chosen = as_of or last
    if chosen < first:
        raise UsageError(
            f"as-of {chosen} is before the corpus begins: index {corpus.name!r} reaches from {first} to {last}",
            hint=f"use --as-of {last} or leave it out",
        )
    return chosen, (first, min(last, chosen))


def check_question(text: str) -> str:
    """The question, trimmed. Raises UsageError for one that is empty, too long or holds control characters."""
    trimmed = text.strip()
    if not any(c.isalnum() for c in trimmed):
        raise UsageError("the question is empty", hint='dof run --question "¿…?"')
    if len(trimmed) > QUESTION_MAX:
        raise UsageError(
            f"the question has {len(trimmed):,} characters; at most {QUESTION_MAX:,} are taken",
            hint="ask one thing, in a few sentences",
        )
    bad = sorted({f"U+{ord(c):04X}" for c in trimmed if (ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160})
    if bad:
        raise UsageError(f"the question holds control characters: {', '.join(bad)}", hint="remove them and ask again")
    return trimmed


def check_scopes(corpus: OpenCorpus, scopes: Iterable[str]) -> frozenset[str]:
    """The restricted collections that the caller grants. Raises UsageError for one that the index does not hold."""
    granted = frozenset(scopes) - {PUBLIC}
    unknown = granted - corpus.reader.restricted_scopes()
    if unknown:
        raise UsageError(f"no collection named {', '.join(sorted(unknown))} in index {corpus.name!r}")
    return granted


def run_question(
    text: str | None,
    *,
    as_of: date | None = None,
    index: Path | None = None,
    planner: str = "rules",
    model: ModelChoice | None = None,
    limits: Limits | None = None,
    scopes: Iterable[str] = (),
    search: SearchChoice | None = None,
    trace_dir: Path | None = None,
    on_event: Callable[[Event], None] | None = None,
    notice: Callable[[str], None] = lambda _: None,
    play: Play | None = None,
) -> RunOutcome:
    """Research one question and leave its trace. `text` None: that of the recording that is replayed, in its arm.

    Raises UsageError or CorpusError before anything is run; from then on every fault is an end of the run."""
    from dofrag.agent.loop import execute
    from dofrag.agent.result import finish
    from dofrag.agent.setup import Setup
    from dofrag.trace.writer import TraceWriter

    if planner.partition(":")[0] == "replay":
        from dofrag.players import as_recorded

        player, arm, start = _replayed(planner)
        text, as_of, limits = as_recorded(start, text, as_of, limits)
        search = _as_recorded(search, start.strategy)
    else:
        player, arm = _player(planner, model or ModelChoice(), check_question(text or ""), play or Play())
    question_text = check_question(text or "")
    corpus = open_corpus(index, notice, search=search, scopes=scopes)
    granted = check_scopes(corpus, scopes)
    chosen, dates = cutoff(corpus, as_of, granted)
    run_id = new_run_id(datetime.now(UTC), secrets.token_hex(3))
    path = (trace_dir or settings().trace_dir) / f"{run_id}.jsonl"
    with ExitStack() as held, TraceWriter(path, lambda: datetime.now(UTC)) as trace:
        held.callback(corpus.close_searcher)
        if player.seat is not None:
            held.callback(player.seat.model.close)
        setup = Setup(
            run_id=run_id,
            corpus=corpus.for_run(dates),
            profile=corpus.profile,
            planner=player.planner,
            trace=trace,
            monotonic=player.monotonic,
            tools=arm.tools,
            tools_name=arm.name,
            strategy=corpus.strategy,
            limits=limits or Limits(),
            versions={**versions(corpus), "contract": contract_hash(arm.tools), **player.versions},
            listener=on_event,
            seat=player.seat,
        )
        run, end = execute(Question(text=question_text, as_of=chosen, scopes=granted), setup)
        result = finish(run, end)
        result |= {"trace": path.as_posix(), "trace_sha256": trace.last_hash}
    return RunOutcome(result, _exit_code(end.reason), end.error)


def _exit_code(reason: Reason) -> int:
    return INTERRUPTED_EXIT if reason is Reason.INTERRUPTED else EXIT_CODES[ENDS[reason][0]]


def _replayed(planner: str) -> tuple[Player, Arm, RunStarted]:
    """The player of a recording, the arm that it was played in, and how it began."""
    from dofrag.agent.arms import arm_named
    from dofrag.players import recording_of, replay_player

    recording = recording_of(planner)
    return replay_player(recording), arm_named(recording.start.tools), recording.start


def _as_recorded(search: SearchChoice | None, strategy: str) -> SearchChoice:
    """A recorded run is searched as it was, unless the caller says otherwise."""
    return search if search and search.strategy else replace(search or SearchChoice(), strategy=strategy)


def _player(planner: str, choice: ModelChoice, question: str, play: Play) -> tuple[Player, Arm]:
    from dofrag.agent.arms import arm_named, seated
    from dofrag.agent.setup import Player
    from dofrag.planner.registry import make_planner

    arm = arm_named(play.arm)
    if planner == "model":
        from dofrag.players import model_player

        player = model_player(choice, question, profile(), settings(), os.environ, Path.cwd(), arm.offered)
    else:
        player = Player(planner=make_planner(planner, profile().message, {t.name for t in arm.tools}))
    return replace(player, planner=seated(player.planner, arm, play.epsilon, play.seed)), arm


def probe_model(choice: ModelChoice) -> tuple[str, Report]:
    """What a model's endpoint can do, under a name that may be shown. The mode that was found is kept for later runs.

    Raises UsageError where something is missing, or the cache cannot be written.
    """
    from dofrag.players import probe_endpoint

    return probe_endpoint(choice, settings(), os.environ, Path.cwd())


def call_tool(
    name: str,
    arguments: str,
    *,
    index: Path | None = None,
    as_of: date | None = None,
    scopes: Iterable[str] = (),
    notice: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Call one tool outside a run, for inspection, and return its envelope.

    Gates are for runs: here every tool is open and everything under the cut-off and scopes counts as seen.
    """
    from dofrag.agent.budget import Budget
    from dofrag.tools import CORE, State
    from dofrag.tools.contract import ToolContext
    from dofrag.tools.dispatch import dispatch

    corpus = open_corpus(index, notice)
    granted = check_scopes(corpus, scopes)
    chosen, _ = cutoff(corpus, as_of, granted)
    limits = replace(Limits(), max_read_tokens=1_000_000)
    context = ToolContext(
        reader=corpus.reader,
        backend=corpus.backend,
        session=_Everything(corpus.reader, chosen, granted),
        as_of=chosen,
        scopes=granted,
        read_tokens_left=limits.max_read_tokens,
        canonical_issuer=corpus.profile.canonical_issuer,
    )
    done = dispatch(
        name,
        arguments,
        call_id="c1",
        tools=CORE,
        state=State.RESPOND,
        context=context,
        budget=Budget(limits, time.monotonic),
        versions=versions(corpus),
    )
    return done.envelope


class _Everything:
    """The session of an inspection: whatever exists under the cut-off and the scopes counts as seen."""

    def __init__(self, reader: CorpusReader, as_of: date, scopes: frozenset[str]) -> None:
        self._reader = reader
        self._filters = Filters(as_of=as_of, kinds=tuple(Kind), scopes=scopes | {PUBLIC})

    def is_discovered(self, code: str) -> bool:
        return self._reader.publication(code, self._filters) is not None

    def is_seen(self, chunk_id: int) -> bool:
        return bool(self._reader.passages([chunk_id], self._filters))

    def is_read(self, chunk_id: int) -> bool:
        return False


def versions(corpus: OpenCorpus) -> dict[str, str]:
    """What a result was made with: code, index, profile rules and tool contract."""
    found = {
        "code": __version__,
        "index": corpus.stamp,
        "profile": f"{corpus.profile.name}/{corpus.profile.rules_version}",
        "contract": contract_hash(),
    }
    return found if corpus.vectors is None else found | {"vectors": corpus.vectors}


def contract_hash(tools: tuple[ToolSpec, ...] | None = None) -> str:
    """SHA-256 over the tools' schemas and states (None: of the five) and the ends of a run."""
    from dofrag.tools import CORE

    rows = [[t.name, t.schema, str(t.opens_in), t.cost_units, t.latency_ms] for t in tools or CORE]
    ends = [[str(reason), str(state), str(closure)] for reason, (state, closure) in ENDS.items()]
    text = json.dumps([rows, ends], sort_keys=True, ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def new_run_id(now: datetime, salt: str) -> str:
    """Sortable by time, safe as a file name: `20260109T101500Z-1a2b3c`."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{salt}"
