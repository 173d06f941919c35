"""Kinds of fault that were found from outside: thoughts by any mark, keys, addresses, sizes, forged recordings."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import model_bench as mb
import pytest
from model_bench import SEARCH, submit
from provider import Answer, Asked, error, say, serving, wait_for
from test_provider_behaviours import HONEST
from test_replay import timeless

from dofrag.cli.interrupts import one_at_a_time
from dofrag.cli.labels import OUTCOMES
from dofrag.errors import UsageError
from dofrag.llm.faults import FaultKind
from dofrag.llm.interface import Mode
from dofrag.llm.thoughts import larger_than, names_reasoning, thoughtless, without_reasoning
from dofrag.planner.interface import UNUSABLE
from dofrag.planner.replay import DRAFT_CLAIMS_MAX, load_recording
from dofrag.settings import ModelChoice, model_settings
from dofrag.trace.codec import STRING_MAX, jsonable
from dofrag.trace.redact import _HINTS, _SECRETS, REDACTED, redact

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from cli_front import dof

SECRET = "PLANTED-THOUGHT-51c9"
DECOY = json.dumps({"action": SEARCH[0], "arguments": {**SEARCH[1], "query": f"amarre {SECRET}"}})
MARKS = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "reasoning": ('<reasoning effort="high">', "</reasoning>"),
    "prefixed": ("<seed:think>", "</seed:think>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "harmony_bare": ("analysisWe need ", "assistantfinal"),
    "channel": ("<|channel>thought\n", "<channel|>"),
    "brackets": ("[THINK]", "[/THINK]"),
    "triangles": ("◁think▷", "◁/think▷"),
    "bars": ("<｜think｜>", "<｜/think｜>"),
    "words": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "capitals": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "unused": ("<unused94>thought\n", "<unused95>"),
    "fence": ("```thinking\n", "\n```\n"),
    "monologue": ("<inner_monologue>", "</inner_monologue>"),
    "spanish": ("<pensamiento>", "</pensamiento>"),
}


def outcomes(trace: Any) -> list[str]:
    return [e.outcome for e in trace.events if e.event == "model_called"]


# Thoughts


@pytest.mark.parametrize("mark", MARKS)
def test_an_action_in_a_thought_is_none(mark: str) -> None:
    """However a family of models marks its thoughts, what stands in them is not run; what stands after them is."""
    begin, end = MARKS[mark]
    assert without_reasoning(f"{begin}{DECOY}{end}after").endswith("after")
    assert SECRET not in without_reasoning(f"{begin}{DECOY}{end}after")
    assert DECOY not in without_reasoning(f"{begin}{DECOY}")
    assert without_reasoning(f"antes {DECOY} después") == f"antes {DECOY} después"
    with serving(say(text=f"{begin}{DECOY}{end}"), *HONEST) as provider:
        result, trace, _, _ = mb.run(provider.url, mode=Mode.JSON_TEXT)
    assert outcomes(trace)[0] in ("no_action", "empty_reply")
    assert SECRET.encode() not in b"".join(trace.lines)
    assert result["terminal_state"] == "answered"


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("kind", ["thinking", "reasoning", "summary_text", "reasoning_text", None])
def test_a_part_of_another_kind_is_no_text(api: str, kind: str | None) -> None:
    def parts(asked: Asked) -> Answer:
        said = "output_text" if api == "responses" else "text"
        part = {"type": kind or said, "text": DECOY} | ({} if kind else {"thought": True})
        content = [part, {"type": said, "text": "Nada."}]
        body: dict[str, Any] = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
        if api == "responses":
            body = {"status": "completed", "output": [{"type": "message", "content": content}]}
        return Answer(body=body)

    with serving(parts) as provider:
        result, trace, _, _ = mb.run(provider.url, api=api, mode=Mode.JSON_TEXT)
    assert result["reason"] == "planner_stalled"
    assert outcomes(trace) == ["no_action"] * 3
    assert SECRET.encode() not in b"".join(trace.lines)


def named(name: str, arguments: Any) -> tuple[str, Any]:
    return name, arguments


@pytest.mark.parametrize(
    "call",
    [
        named(SEARCH[0], {**SEARCH[1], "query": f"<think>{SECRET}</think>cuota anual amarre"}),
        named(f"<think>{SECRET}</think>{SEARCH[0]}", SEARCH[1]),
        named(SEARCH[0], f"<think>{SECRET}</think>{json.dumps(SEARCH[1])}"),
        named(SEARCH[0], {**SEARCH[1], "reasoning": SECRET}),
        named(SEARCH[0], {**SEARCH[1], "thought_process": {"a": SECRET}}),
        named(SEARCH[0], {**SEARCH[1], f"<think>{SECRET}</think>": 1}),
        named("search_web", {"deep": [{"er": f"[THINK]{SECRET}"}]}),
        named("abstain", {"why": f"<thinking>{SECRET}</thinking>nada"}),
    ],
)
def test_no_thought_of_a_call_is_kept(call: tuple[str, Any]) -> None:
    turns = (HONEST[0], say(call), *HONEST[1:]) if call[0] == "abstain" else (say(call), *HONEST)
    with serving(*turns) as provider:
        result, trace, _, _ = mb.run(provider.url, mode=Mode.TOOLS)
        sent = json.dumps([a.body for a in provider.asked])
    assert SECRET not in b"".join(trace.lines).decode() + json.dumps(result) + sent
    assert result["terminal_state"] == ("abstained" if call[0] == "abstain" else "answered")


def test_fields_that_hold_thoughts_by_name() -> None:
    for name in ("thinking", "Reasoning", "reasoning_content", "_thought", "chain_of_thought", "inner_monologue"):
        assert names_reasoning(name)
    for name in ("query", "why", "think_tank", "claims", "text"):
        assert not names_reasoning(name)
    assert thoughtless({"a": ({"b": "x"}, None, 1.5)}) == {"a": [{"b": "x"}, None, 1.5]}


@pytest.mark.parametrize(
    "text", ["<think>", "<", "< / ", "<think ", "[THINK", "```thinking\n", "<|channel|>", "◁", "assistantfinal"]
)
def test_marks_take_linear_time(text: str) -> None:
    start = time.process_time()
    without_reasoning("analysisX" + text * (200_000 // len(text)))
    without_reasoning(text * (200_000 // len(text)))
    assert time.process_time() - start < 3


# Sizes


def test_arguments_beyond_all_bounds_cost_next_to_nothing() -> None:
    big = (SEARCH[0], {**SEARCH[1], "query": 'amarre "á" ' * 60_000})
    many = (SEARCH[0], {**SEARCH[1], "query": [[]] * 110_000})
    with serving(say(big), say(many), say(*[(SEARCH[0], {**SEARCH[1], "query": "x" * 60_000})] * 4)) as provider:
        result, trace, _, _ = mb.run(provider.url, mode=Mode.TOOLS)
    assert outcomes(trace) == ["too_long"] * 3
    assert result["reason"] == "planner_stalled"
    assert sum(map(len, trace.lines)) < 50_000


def test_larger_than_counts_texts_names_and_parts() -> None:
    assert not larger_than({"a": ["b" * 10]}, 20)
    assert larger_than({"a": ["b" * 20]}, 20)
    assert larger_than({"a" * 21: None}, 20)
    assert larger_than([None] * 21, 20)
    deep: Any = None
    for _ in range(5_000):
        deep = [deep]
    assert not larger_than(deep, 6_000)


def test_a_long_text_is_cut_before_work_is_done_on_it() -> None:
    """And a secret that the cut goes through does not show."""
    for offset in range(-40, 41, 10):
        text = "x " * ((STRING_MAX + offset) // 2) + "sk-" + "A1b2" * 10 + " y" * 40_000
        kept = jsonable(text)
        assert len(kept) <= STRING_MAX
        assert "A1b2" not in kept
        assert kept.endswith("more characters]")
    start = time.process_time()
    jsonable({"a": "amarre sk-" * 300_000})
    assert time.process_time() - start < 1


def test_a_text_is_sent_past_the_pattern_only_where_it_finds_nothing() -> None:
    pieces = ["sk-", "pk_", "A" * 20, "authorization", ": ", "Bearer ", "bearer\t", "x-api-key=", "ſecret_token=",
              "eyJ", "abcdefgh1234", ".", "xoxb-", "AKIA", "ABCDEFGH12345678", "AIza", " ", "ghp_", "_",
              "\u212aey: x", "á", "github_pat-"]  # fmt: skip
    dice = random.Random(7)
    found = 0
    for _ in range(4_000):
        text = "".join(dice.choices(pieces, k=dice.randint(1, 8)))
        assert redact(text) == _SECRETS.sub(REDACTED, text)
        found += REDACTED in redact(text)
    assert found > 300
    assert all(hint == hint.casefold() for hint in _HINTS)


# Keys and addresses

HERE = "http://127.0.0.1:9/v1"
TOML = '[model]\nname = "m"\nbase_url = "{url}"\n'


@pytest.mark.parametrize(
    ("toml", "environ", "flag", "key"),
    [
        # A file of a folder names the place: what is in the environment stays there.
        (HERE, {"OPENAI_API_KEY": "k1"}, None, None),
        (HERE, {"DOF_API_KEY": "k2"}, None, "no key is sent"),
        ("https://api.openai.com.example/v1", {"OPENAI_API_KEY": "k1"}, None, None),
        ("http://api.openai.com/v1", {"OPENAI_API_KEY": "k1"}, None, None),
        ("https://api.openai.com@example.org/v1", {"DOF_API_KEY": "k2"}, None, "no key is sent"),
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "k1"}, None, "k1"),
        (HERE, {"DOF_API_KEY": "k2", "DOF_BASE_URL": HERE}, None, "k2"),
        (HERE, {"DOF_API_KEY": "k2"}, HERE, "k2"),
        (HERE, {"DOF_API_KEY": "k2", "DOF_BASE_URL": " "}, None, "no key is sent"),
        (HERE, {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": ""}, None, None),
        # OpenAI's key goes to OpenAI, and to what is named together with it.
        (None, {"OPENAI_API_KEY": "k1"}, None, "k1"),
        (None, {"OPENAI_API_KEY": "k1"}, HERE, None),
        (None, {"OPENAI_API_KEY": "k1", "DOF_BASE_URL": HERE}, None, None),
        (None, {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": HERE}, None, "k1"),
        (None, {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": HERE}, "http://127.0.0.1:8/v1", None),
        (None, {}, None, "needs a key"),
    ],
)
def test_where_a_key_goes(
    toml: str | None, environ: dict[str, str], flag: str | None, key: str | None, tmp_path: Path
) -> None:
    if toml:
        (tmp_path / "dof.toml").write_text(TOML.format(url=toml))
    choice = ModelChoice(name="m", base_url=flag)
    if key is not None and " " in key:
        with pytest.raises(UsageError, match=key):
            model_settings(environ, tmp_path, choice)
    else:
        assert model_settings(environ, tmp_path, choice).api_key == key


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [n for n in os.environ if n.startswith(("DOF_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_key_does_not_leave_for_a_place_that_a_file_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-0123456789abcdef")
    with serving(error(401, "no key")) as provider:
        Path("dof.toml").write_text(TOML.format(url=provider.url), encoding="utf-8-sig")  # as Windows editors save it
        done = dof("run", "--question", "¿Cuál es la cuota?", "--planner", "model", "--json")
        assert [a.headers["authorization"] for a in provider.asked] == ["Bearer none"]
        assert done.code == 1
        assert "DOF_API_KEY" in done.err
        monkeypatch.setenv("DOF_API_KEY", "sk-real-0123456789abcdef")
        done = dof("run", "--question", "¿Cuál es la cuota?", "--planner", "model", "--json")
        assert len(provider.asked) == 1
    assert done.code == 2
    assert "DOF_BASE_URL" in done.document["error"]["hint"]


@pytest.mark.parametrize(
    "url",
    ["http://[::1", "http://[::1]x:1/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:0/v1", "http://exa mple/v1",
     "http://127.0.0.1:9/v 1", "http://exam\tple/v1", "http:\\\\example/v1", "http:///v1", "ftp://x/v1", "http://a:b/v1",
     "http://\u202eexample/v1"],
)  # fmt: skip
def test_what_is_no_address_is_told_at_the_door(url: str, home: Path) -> None:
    for command in (("run", "--question", "¿Cuál es la cuota?", "--planner", "model"), ("doctor",)):
        done = dof(*command, "--model", "m", "--base-url", url, "--json")
        assert (done.code, done.document["error"]["code"]) == (2, "usage")
        assert done.document["error"]["hint"].startswith("--base-url http")


def test_a_file_whose_values_are_no_text(home: Path) -> None:
    Path("dof.toml").write_text('[model]\nname = ["a"]\nbase_url = 5\n')
    with pytest.raises(UsageError, match="base_url, name in"):
        model_settings({}, home, ModelChoice())


def test_a_circle_of_redirects_is_told_once() -> None:
    def around(asked: Asked) -> Answer:
        return Answer(307, body={}, headers={"Location": "/v1/chat/completions"})

    with serving(around) as provider:
        _, trace, _, end = mb.run(provider.url)
        assert len(provider.asked) == 4
    assert outcomes(trace) == ["redirected"]
    assert "more than 3 times" in end.message
    assert "--base-url" in end.error.hint


# Forged recordings


@pytest.fixture(scope="module")
def recorded() -> list[dict[str, Any]]:
    with serving(*HONEST) as provider:
        return [json.loads(line) for line in mb.run(provider.url)[1].lines]


def draft(rows: list[dict[str, Any]], change: Callable[[dict[str, Any]], Any]) -> None:
    for row in rows:
        if row["event"] == "draft_proposed":
            change(row["draft"])


def many_claims(given: dict[str, Any]) -> None:
    given["claims"] = given["claims"] * (DRAFT_CLAIMS_MAX + 1)


def many_citations(given: dict[str, Any]) -> None:
    given["claims"][0]["citations"] *= 3_001


def long_text(given: dict[str, Any]) -> None:
    given["claims"][0]["text"] = "x" * 1_000_001


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("output_estimate", 10**10), ("output_estimate", -1), ("prompt_tokens", -(10**6)), ("prompt_tokens", 10**12),
        ("max_output_tokens", -1), ("input_tokens", -1), ("output_tokens", 10**15), ("cost", -1e300), ("cost", 1e300),
        ("attempt", -1), ("outcome", "fantastic"),
    ],
)  # fmt: skip
def test_counts_that_no_run_had_are_refused(field: str, value: Any, recorded: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "forged.jsonl"
    rows = [{**row, field: value} if row["event"] == "model_called" else row for row in recorded]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="holds a step that is none"):
        load_recording(path)


@pytest.mark.parametrize("change", [many_claims, many_citations, long_text])
def test_a_draft_beyond_all_drafts_is_refused(change: Any, recorded: list[Any], tmp_path: Path) -> None:
    rows = json.loads(json.dumps(recorded))
    draft(rows, change)
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="are checked"):
        load_recording(path)


def test_a_model_is_told_that_its_draft_is_too_long() -> None:
    """Thirty claims at most, by the schema: the refusal has a code and a path, and costs a turn."""
    with serving(*HONEST[:2], say(submit(*[mb.claim()] * 31)), HONEST[2]) as provider:
        result, trace, _, _ = mb.run(provider.url, mode=Mode.TOOLS)
        told = str(provider.asked[-1].messages)
    assert "invalid_arguments" in outcomes(trace)
    assert "claims" in told
    assert result["terminal_state"] == "answered"


# Words for people


def test_every_outcome_has_words_in_both_languages() -> None:
    every = {*map(str, FaultKind), *UNUSABLE, "interrupted"}
    assert OUTCOMES["es"].keys() == OUTCOMES["en"].keys() == every
    for words in OUTCOMES.values():
        assert not any("_" in text for text in words.values())


def test_no_code_is_shown_as_a_run_goes_on(home: Path) -> None:
    with serving(say(text="Nada."), say(submit())) as provider:
        done = dof("run", "--question", "¿Cuál es la cuota?", "--planner", "model", "--model", "m", "--base-url",
                   provider.url, "--trace-dir", "t")  # fmt: skip
    assert "sin usar: no pide ninguna acción" in done.err
    assert "sin usar: pide algo que aún no está permitido" in done.err
    assert "not_open" not in done.err + done.out
    shown = dof("trace", "show", str(next(Path("t").glob("*.jsonl"))))
    assert "it asks for what is not open yet (not_open)" in " ".join(shown.out.split())


# Ctrl-C


def test_the_second_ctrl_c_lets_the_first_finish() -> None:
    def press() -> None:
        signal.raise_signal(signal.SIGINT)

    with one_at_a_time():
        with pytest.raises(KeyboardInterrupt):
            press()
        press()  # what was begun is finished
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_twice_leaves_a_whole_trace(home: Path) -> None:
    with serving(lambda asked: Answer(body={}, hang=60)) as provider:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("DOF_", "OPENAI_"))}
        command = [sys.executable, "-m", "dofrag", "run", "--question", "¿Cuál es la cuota?", "--planner", "model",
                   "--model", "m", "--base-url", provider.url, "--json"]  # fmt: skip
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=home, text=True
        )
        try:
            wait_for(lambda: bool(provider.asked), 120)
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert json.loads(out)["reason"] == "interrupted"
    [trace] = (home / "traces").glob("*.jsonl")
    assert timeless(trace.read_bytes().splitlines()[-1])["event"] == "run_finished"


def test_ctrl_c_before_anything_is_quiet(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """While modules are still being imported: no traceback, and the code that says so."""
    import builtins

    from dofrag import __main__

    real = builtins.__import__

    def pressed(name: str, *rest: Any) -> Any:
        if name == "dofrag.cli.main":
            raise KeyboardInterrupt
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", pressed)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 130
    assert capfd.readouterr().err == ""
