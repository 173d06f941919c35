"""The small parts of the llm room, each by itself: text to actions, waits, prices, settings, deadlines."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.errors import UsageError
from dofrag.llm.actions import Action, find_actions, objects
from dofrag.llm.deadline import DeadlinePassed, within
from dofrag.llm.faults import RETRIED, FaultKind, ProviderFault, classify
from dofrag.llm.interface import Function, Mode, Usage
from dofrag.llm.known import address, recall, remember
from dofrag.llm.modes import ORDER, action_schema, lower, provider_schema
from dofrag.llm.openai_http import Endpoint, check_endpoint
from dofrag.llm.prices import price_of
from dofrag.llm.retry import LONGEST_WAIT_S, MAX_ATTEMPTS, wait_before
from dofrag.llm.thoughts import without_reasoning
from dofrag.llm.usage import credible
from dofrag.planner.control import CONTROLS
from dofrag.profiles.prompts import load_prompts
from dofrag.settings import ModelChoice, model_settings
from dofrag.tools import CORE
from dofrag.tools.arguments import checked_arguments
from dofrag.tools.contract import ToolInputError

PING = '{"action": "ping", "arguments": {"n": 1}}'


def actions(text: str, names: tuple[str, ...] = ("ping", "submit_answer")) -> list[Action]:
    return list(find_actions(text, names, lambda a: a.name in names and isinstance(a.arguments, dict)).actions)


@pytest.mark.parametrize(
    "text",
    [
        PING,
        f"```json\n{PING}\n```",
        f"Of course. {PING} Done.",
        f"{{no}} {{ and }} {PING}",
        f"<think>{{}} maybe submit_answer</think>{PING}",
        '<tool_call>{"name": "ping", "arguments": {"n": 1}}</tool_call>',
        '{"tool": "ping", "args": {"n": 1}}',
        '{"function": {"name": "ping", "arguments": {"n": 1}}}',
        '{"next": {"action": "ping", "arguments": {"n": 1}}}',
        '{"action": "ping", "n": 1}',
        f'{{"action": "nothing", "arguments": {{}}}} {PING} {{"x": 2}}',
        f"[{PING}]",
        f"<reasoning >first {PING.replace('1', '2')}</ reasoning>\n{PING}",
    ],
)  # fmt: skip
def test_one_action_is_found(text: str) -> None:
    assert actions(text) == [Action("ping", {"n": 1})]


@pytest.mark.parametrize(
    "text", ["", "ping", "{}", "[1, 2]", "{" * 5_000, '{"a": ' * 5_000, '"' * 9_999, "[" * 99_999]
)
def test_no_action_is_found_in_noise(text: str) -> None:
    start = time.process_time()
    assert actions(text) == []
    assert time.process_time() - start < 2


@pytest.mark.parametrize("cut", range(1, len(PING)))
def test_what_is_cut_is_never_an_action(cut: int) -> None:
    found = find_actions(PING[:cut], ("ping",), lambda a: True)
    assert found.actions == ()
    assert found.cut


@given(st.text(alphabet='{}[]",:a1\\ <>/think', max_size=300))
def test_any_text_is_read_without_a_crash(text: str) -> None:
    found = find_actions(text, ("a",), lambda a: True)
    assert all(action.name for action in found.actions)
    assert isinstance(objects(text)[1], bool)


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_stands_in_a_thought_is_not_kept(before: str, thought: str) -> None:
    if "<" in before + thought:
        return
    assert without_reasoning(f"{before}<think>{thought}</think>") == before
    assert without_reasoning(f"{before}<think>{thought}") == before
    assert without_reasoning(f"{thought}</think>{before}") == before


def test_many_thoughts_take_linear_time() -> None:
    start = time.process_time()
    assert without_reasoning("<think>x</think>" * 12_000) == ""
    assert time.process_time() - start < 1


@pytest.mark.parametrize("kind", list(FaultKind))
def test_waits(kind: FaultKind) -> None:
    waits = [wait_before(ProviderFault(kind, ""), n, 0.5) for n in range(1, MAX_ATTEMPTS + 2)]
    if kind not in RETRIED:
        assert waits == [None] * len(waits)
        return
    assert waits[MAX_ATTEMPTS - 1 :] == [None, None]
    told = [w for w in waits if w is not None]
    assert told == sorted(told)
    assert max(told) <= LONGEST_WAIT_S
    asked = wait_before(ProviderFault(kind, "", retry_after=9.0), 1, 0.0)
    assert asked == 9.0


@given(st.integers(1, MAX_ATTEMPTS - 1), st.floats(0, 1, exclude_max=True))
def test_jitter_spreads_a_wait_over_its_upper_half(attempt: int, jitter: float) -> None:
    full = 0.5 * 2 ** (attempt - 1)
    wait = wait_before(ProviderFault(FaultKind.SERVER_ERROR, ""), attempt, jitter)
    assert wait is not None
    assert full / 2 <= wait <= full


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, "no key", FaultKind.UNAUTHORIZED),
        (403, "insufficient_quota", FaultKind.CREDIT_EXHAUSTED),
        (403, "no", FaultKind.FORBIDDEN),
        (429, "insufficient_quota", FaultKind.CREDIT_EXHAUSTED),
        (429, "Your credit balance is too low", FaultKind.CREDIT_EXHAUSTED),
        (429, "rate", FaultKind.RATE_LIMITED),
        (404, "model 'x' not found", FaultKind.MODEL_NOT_FOUND),
        (404, "No endpoints found that support tool use", FaultKind.UNSUPPORTED),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", FaultKind.UNSUPPORTED),
        (400, "Invalid schema for function 'x'", FaultKind.UNSUPPORTED),
        (400, "the request exceeds the available context size", FaultKind.CONTEXT_TOO_LONG),
        (400, "?", FaultKind.BAD_REQUEST),
        (500, "?", FaultKind.SERVER_ERROR),
        (529, "overloaded", FaultKind.SERVER_ERROR),
        (418, None, FaultKind.BAD_REQUEST),
    ],
)
def test_classes_of_faults(status: int, said: str | None, kind: FaultKind) -> None:
    for body in ({"error": {"message": said}}, {"message": said}, said):
        assert classify(status, body).kind is kind


def test_prices_are_dated_and_never_guessed() -> None:
    known = price_of("gpt-4o-mini", "https://api.openai.com/v1")
    assert known is not None
    assert known.as_of <= date(2026, 12, 31)
    assert known.of(Usage(1_000_000, 1_000_000)) == pytest.approx(0.75)
    assert known.of(Usage(None, 5)) is None
    assert price_of("gpt-4o-2024-08-06", "https://api.openai.com/v1") == price_of(
        "gpt-4o", "https://api.openai.com/v1"
    )
    assert price_of("gpt-4o", "http://127.0.0.1:8000/v1") is None
    assert price_of("no-such-model", "https://api.openai.com/v1") is None


def test_usage_that_cannot_be_true_is_not_believed() -> None:
    assert credible(Usage(1_100, 80), 1_000, 200) == Usage(1_100, 80)
    assert credible(Usage(10**9, 10**9), 1_000, 200) == Usage(None, None)
    assert credible(Usage(0, 0), 1_000, 200) == Usage(None, 0)


def test_modes_go_down_and_end() -> None:
    assert [lower(mode) for mode in ORDER] == [*ORDER[1:], None]


def test_a_strict_schema_keeps_its_properties_whatever_they_are_called() -> None:
    schema = {
        "type": "object",
        "properties": {"pattern": {"type": "string", "maxLength": 3}},
        "required": ["pattern"],
    }
    assert provider_schema(schema, True)["properties"] == {"pattern": {"type": "string"}}
    assert provider_schema(schema, False) == schema


FUNCTIONS = [Function(t.name, t.summary, t.schema) for t in CORE] + list(CONTROLS.values())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_schemas_are_strict(function: Function) -> None:
    """Closed at every level, every property required: what strict modes ask, and what is checked here."""

    def walk(schema: object) -> None:
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            for value in schema.values():
                walk(value)
        elif isinstance(schema, list):
            for item in schema:
                walk(item)

    walk(function.schema)
    walk(action_schema([function]))


def test_literals_as_text_at_any_depth() -> None:
    schema = CONTROLS["submit_answer"].schema
    claim = {"sub_questions": ["q1"], "text": "null", "citations": [{"chunk_id": 1, "quote": "null"}]}
    given_ = {"claims": [claim | {"computed": "null"}], "premise": {"status": "unclear", "correction": "null"}}
    checked = checked_arguments("submit_answer", schema, json.dumps(given_))
    assert checked["claims"][0]["computed"] is None
    assert checked["premise"]["correction"] is None
    assert checked["claims"][0]["text"] == "null", "where text is meant, it stays text"
    with pytest.raises(ToolInputError):
        checked_arguments("submit_answer", schema, {"claims": "null", "premise": "null"})


def test_both_languages_say_the_same_things() -> None:
    es, en = (load_prompts("dofrag.profiles.dof", language) for language in ("es", "en"))
    assert es.keys() == en.keys()
    assert load_prompts("dofrag.profiles.dof", "xx").stamp == es.stamp


def test_a_deadline_leaves_work_behind() -> None:
    start = time.monotonic()
    with pytest.raises(DeadlinePassed):
        within(0.2, lambda: time.sleep(2))
    assert time.monotonic() - start < 1.5
    assert within(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5, lambda: {}["x"])


def test_settings_flags_over_environment_over_file(tmp_path: Path) -> None:
    (tmp_path / "dof.toml").write_text('[model]\nname = "file"\nbase_url = "http://file/v1"\napi = "responses"\n')
    read = model_settings({}, tmp_path, ModelChoice())
    assert (read.name, read.base_url, read.api, read.api_key) == ("file", "http://file/v1", "responses", None)
    environ = {"OPENAI_MODEL": "open", "OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": "http://open/v1/"}
    read = model_settings(environ, tmp_path, ModelChoice())
    assert (read.name, read.base_url, read.api_key) == ("open", "http://open/v1", "k1")
    environ |= {"DOF_MODEL": "dof", "DOF_API_KEY": "k2", "DOF_BASE_URL": "http://dof/v1"}
    read = model_settings(environ, tmp_path, ModelChoice())
    assert (read.name, read.base_url, read.api_key) == ("dof", "http://dof/v1", "k2")
    read = model_settings(environ, tmp_path, ModelChoice(name="flag", base_url="http://flag/v1", api="chat"))
    assert (read.name, read.base_url, read.api) == ("flag", "http://flag/v1", "chat")
    assert "k2" not in repr(read) + str(read)


@pytest.mark.parametrize(
    ("toml", "environ", "said"),
    [
        ("", {}, "no model is named"),
        ("", {"DOF_MODEL": "gpt"}, "needs a key"),
        ("[model]\nname =", {}, "cannot be read"),
        ('model = "x"', {}, "not a table"),
        ('[model]\napi_key = "sk-1"', {}, "holds a key"),
        ("[model]\nnam = 'x'", {}, "has no nam"),
        ("[model]\napi = 'grpc'", {"DOF_MODEL": "x", "DOF_API_KEY": "k"}, "'grpc' is not known"),
        ("[model]\ntimeout_s = 'soon'", {"DOF_MODEL": "x", "DOF_API_KEY": "k"}, "not between"),
        ("", {"DOF_MODEL": "x", "DOF_API_KEY": "k", "DOF_MAX_OUTPUT_TOKENS": "1e9"}, "not between"),
        ("", {"DOF_MODEL": "x", "DOF_API_KEY": "sk-ñandú"}, "no request can carry"),
        ("", {"DOF_MODEL": "x", "DOF_API_KEY": "sk-1\nX-Other: 2"}, "no request can carry"),
    ],
)
def test_settings_that_cannot_be(toml: str, environ: dict[str, str], said: str, tmp_path: Path) -> None:
    if toml:
        (tmp_path / "dof.toml").write_text(toml)
    with pytest.raises(UsageError, match=said):
        model_settings(environ, tmp_path, ModelChoice())


@pytest.mark.parametrize("url", ["ftp://x/v1", "localhost:8000", "", "http://"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(UsageError, match="http"):
        check_endpoint(Endpoint(model="x", base_url=url))


def test_what_is_kept_of_an_endpoint_is_no_secret(tmp_path: Path) -> None:
    url = "https://user:sk-secret-0123456789abcdef@host:8443/v1/projects/sk-secret-0123456789abcdef?key=sk-secret"
    assert address(url) == "https://host:8443/v1/projects/…"
    path = tmp_path / "cache" / "models.json"
    assert recall(path, url, "m", "chat") is None
    remember(path, url, "m", "chat", Mode.JSON_TEXT, date(2026, 1, 1))
    assert recall(path, url, "m", "chat") is Mode.JSON_TEXT
    assert recall(path, url, "m", "responses") is None
    assert "secret" not in path.read_text()
    path.write_text("{broken")
    assert recall(path, url, "m", "chat") is None
