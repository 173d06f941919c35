"""Planners with what each needs of a run: a model and the way to it, a recording and its clock.

`wiring` asks here; below, parts get the values they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from dofrag.agent.setup import ModelSeat, Player
from dofrag.domain.run import Limits
from dofrag.errors import UsageError
from dofrag.llm.connect import connect, served_models
from dofrag.llm.interface import ChatModel, Mode
from dofrag.llm.known import address, recall, remember
from dofrag.llm.openai_http import Endpoint, check_endpoint
from dofrag.llm.probe import Report, probe
from dofrag.planner.replay import Recording, ReplayModel, ReplayPlanner, load_recording
from dofrag.profiles.base import GazetteProfile
from dofrag.settings import ModelChoice, ModelSettings, Settings, model_settings
from dofrag.tools.contract import ToolSpec
from dofrag.trace.events import RunStarted

KNOWN_MODELS = "models.json"
"""In the cache: which mode a probe found for which endpoint."""


def model_player(
    choice: ModelChoice,
    question: str,
    profile: GazetteProfile,
    settings: Settings,
    environ: Mapping[str, str],
    cwd: Path,
    tools: Sequence[ToolSpec] | None = None,
) -> Player:
    """A language model with the core's tools or others, told in the question's language. Raises UsageError where its
    name or address is missing."""
    from dofrag.planner.model import ModelPlanner
    from dofrag.text.language import language_of
    from dofrag.tools import CORE

    chosen = _chosen(choice, environ, cwd)
    prompts = profile.prompts(language_of(question))
    found = recall(settings.cache / KNOWN_MODELS, chosen.base_url, chosen.name, chosen.api)
    start = Mode(chosen.mode) if chosen.mode != "auto" else found or Mode.STRICT_TOOLS
    return Player(
        planner=ModelPlanner(prompts, CORE if tools is None else tools, start, chosen.max_output_tokens),
        seat=ModelSeat(model=_connected(chosen), timeout_s=chosen.timeout_s),
        versions={"prompts": prompts.stamp},
    )


def probe_endpoint(
    choice: ModelChoice, settings: Settings, environ: Mapping[str, str], cwd: Path
) -> tuple[str, Report]:
    """What the endpoint can do, under the name that may be shown. The mode that was found is kept for later runs.

    Raises UsageError where something is missing, or the cache cannot be written.
    """
    chosen = _chosen(choice, environ, cwd)
    chat = _connected(chosen)
    try:
        report = probe(chat, lambda: served_models(_endpoint(chosen), chosen.timeout_s), chosen.timeout_s)
    finally:
        chat.close()
    if report.mode is not None:
        path = settings.cache / KNOWN_MODELS
        try:
            remember(path, chosen.base_url, chosen.name, chosen.api, report.mode, datetime.now(UTC).date())
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}", hint="set XDG_CACHE_HOME") from None
    return f"{chosen.name} at {address(chosen.base_url)} ({chosen.api})", report


def _chosen(choice: ModelChoice, environ: Mapping[str, str], cwd: Path) -> ModelSettings:
    """The settings, with an address that is one: whatever else is made of it may rely on that."""
    chosen = model_settings(environ, cwd, choice)
    check_endpoint(_endpoint(chosen))
    return chosen


def _endpoint(chosen: ModelSettings) -> Endpoint:
    return Endpoint(model=chosen.name, base_url=chosen.base_url, api_key=chosen.api_key)


def _connected(chosen: ModelSettings) -> ChatModel:
    return connect(_endpoint(chosen), chosen.api)


def recording_of(planner: str) -> Recording:
    """The recording that `replay:FILE` names."""
    name = planner.partition(":")[2]
    if not name:
        raise UsageError("replay names no trace", hint="--planner replay:traces/RUN.jsonl")
    return load_recording(Path(name))


def as_recorded(
    start: RunStarted, text: str | None, as_of: date | None, limits: Limits | None
) -> tuple[str, date, Limits]:
    """Question, cut-off and limits of the recording; what the caller gives besides must agree. Scopes are never taken
    from a file: the caller grants them."""
    if text is not None and text != start.question:
        raise UsageError("the recording is of another question", hint="leave --question out")
    if as_of is not None and as_of != start.as_of:
        raise UsageError(f"the recording is as of {start.as_of}, not {as_of}", hint="leave --as-of out")
    return start.question, start.as_of, limits or Limits(**start.limits)


def replay_player(recording: Recording) -> Player:
    """A recorded run, with its own clock, and without waits."""
    prompts = recording.start.versions.get("prompts")
    return Player(
        planner=ReplayPlanner(recording),
        seat=ModelSeat(model=ReplayModel(recording), sleep=lambda _: None, jitter=lambda: 0.0),
        monotonic=recording.clock,
        versions={"prompts": str(prompts)} if prompts else {},
    )
