"""`--planner model`, `replay` and `doctor --model` as a person or a program meets them, on the sample gazette."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from provider import Answer, Asked, Behaviour, error, say, serving, wait_for

from dofrag.trace.codec import jsonable
from dofrag.wiring import run_question

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from cli_front import dof

QUESTION = (
    "¿Cuáles son los valores diario, mensual y anual de la Unidad de Cuenta Social para 2025 en la Zona Ribereña?"
)
KEY = "sk-planted-0123456789abcdefghij"
ODD_KEY = "PLANTED KEY of no known shape"
PLANTED = "PLANTED-REASONING-7f3a"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean environment: no model, no key, an own folder and cache."""
    for name in [n for n in os.environ if n.startswith(("DOF_", "OPENAI_"))]:
        if name != "DOF_DATA":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, Any], ...]:
    """What the rule planner does with the question, as a model would say it."""
    folder = tmp_path_factory.mktemp("rules")
    run_question(QUESTION, trace_dir=folder)
    found: list[tuple[str, Any]] = []
    for line in next(folder.glob("*.jsonl")).read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "tool_called":
            found.append((event["tool"], event["arguments"]))
        elif event["event"] == "draft_proposed":
            draft = event["draft"]
            for claim in draft["claims"]:
                claim["citations"] = [{k: c[k] for k in ("chunk_id", "quote")} for c in claim["citations"]]
            found.append(("submit_answer", draft))
    assert found[-1][0] == "submit_answer"
    return tuple(found)


def script(steps: tuple[tuple[str, Any], ...]) -> tuple[Behaviour, ...]:
    return tuple(say(step) for step in steps)


def model(url: str, *more: str) -> tuple[str, ...]:
    return ("--planner", "model", "--model", "tiny", "--base-url", url, "--json", *more)


WAYS = {
    "chat": ((), None),
    "responses": (("--api", "responses"), None),
    "json_action": ((), lambda asked: asked.has_tools or "response_format" in asked.body),
}


def test_the_same_through_chat_responses_and_json(steps, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wire is not the research: same calls, same result, same coverage."""
    results, calls, modes = {}, {}, {}
    for way, (options, refuses) in WAYS.items():
        turn = iter(script(steps))

        def answer(asked: Asked, turn=turn, refuses=refuses) -> Answer:
            if refuses is not None and refuses(asked):
                return error(400, "tools and response_format are not supported")(asked)
            return next(turn)(asked)

        with serving(answer) as provider:
            done = dof("run", "--question", QUESTION, *model(provider.url, "--trace-dir", way, "--quiet"), *options)
        assert done.code == 0, done.out
        results[way] = done.document
        events = [json.loads(line) for line in next(Path(way).glob("*.jsonl")).read_text().splitlines()]
        calls[way] = [(e["tool"], e["arguments"]) for e in events if e["event"] == "tool_called"]
        modes[way] = [e["mode"] for e in events if e["event"] == "model_called"][-1]
    assert modes == {"chat": "strict_tools", "responses": "strict_tools", "json_action": "json_text"}
    assert calls["chat"] == calls["responses"] == calls["json_action"] != []
    same = ("answer", "claims", "citations", "sources", "coverage", "searched", "reason", "premise", "limitations")
    for name in same:
        assert results["chat"][name] == results["responses"][name] == results["json_action"][name], name


def every_byte(folder: Path, *texts: str) -> bytes:
    files = [p for p in folder.rglob("*") if p.is_file()]
    assert files
    return b"\n".join([*(p.read_bytes() for p in files), *(t.encode() for t in texts)])


@pytest.mark.parametrize("key", [KEY, ODD_KEY])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_planted_secrets_occur_nowhere(
    steps, api: str, key: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is echoed by the endpoint in errors and in answers, and the reasoning comes in every form there is: no
    trace, log, export, cache, result or line on the terminal holds a byte of it."""
    monkeypatch.setenv("DOF_API_KEY", key)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    thought = {"reasoning_content": PLANTED, "reasoning": {"text": PLANTED}, "thinking": PLANTED}
    first, *rest = steps
    turns = [
        error(500, f"cannot reach upstream with Authorization: Bearer {key}"),
        say(text=f"<think>{PLANTED}</think> my key is {key}"),
        say(("search_web", {"query": f"{key}"})),
        say(first, extra=thought if api == "chat" else {"reasoning": {"summary": PLANTED}}),
        *(say(step, text=f"<think>{PLANTED}") for step in rest),
    ]
    with serving(*turns) as provider:
        done = dof("run", "--question", QUESTION, *model(provider.url, "--api", api, "--trace-dir", "t"))
        assert all(key in a.headers["authorization"] for a in provider.asked), "it is sent, and only sent"
    assert done.code == 0
    shown = dof("trace", "show", str(next(Path("t").glob("*.jsonl"))), "--json")
    said = dof("trace", "show", str(next(Path("t").glob("*.jsonl"))))
    with serving(error(401, f"Incorrect API key provided: {key}")) as provider:
        failed = dof("run", "--question", QUESTION, *model(provider.url, "--api", api, "--trace-dir", "t"))
        seen = dof("doctor", "--model", "tiny", "--base-url", provider.url, "--api", api, "--json")
    assert failed.code == 1
    texts = [t for d in (done, shown, said, failed, seen) for t in (d.out, d.err)]
    everything = every_byte(home, *texts)
    assert key.encode() not in everything
    assert PLANTED.encode() not in everything


def test_a_replay_needs_no_network(steps, home: Path) -> None:
    with serving(*script(steps)) as provider:
        first = dof("run", "--question", QUESTION, *model(provider.url, "--trace-dir", "first", "--quiet"))
    trace = next(Path("first").glob("*.jsonl"))
    again = dof("run", "--planner", f"replay:{trace}", "--json", "--trace-dir", "again", "--quiet")
    assert (first.code, again.code) == (0, 0)
    clock = re.compile(rb'"(?:at|prev|sum|run_id)":"[^"]*",?|"elapsed_ms":\d+,?')
    before, after = (clock.sub(b"", next(Path(d).glob("*.jsonl")).read_bytes()) for d in ("first", "again"))
    assert before == after
    assert b'"planner":"model"' in after
    other = dof("run", "--planner", f"replay:{trace}", "--question", "¿otra cosa?", "--json")
    assert (other.code, other.document["error"]["code"]) == (2, "usage")
    assert "another question" in other.document["error"]["message"]


def test_progress_tells_turn_tool_aim_coverage_calls_and_cost(steps) -> None:
    with serving(error(503), *script(steps)) as provider:
        done = dof("run", "--question", QUESTION, *model(provider.url))
    lines = done.err
    assert "modelo tiny, intento 1: falló el servidor" in lines
    assert re.search(r'turno \d: search_documents ".+"', lines)
    assert re.search(r"llamadas 1, tokens [\d,]+, costo n/d", lines)
    assert re.search(r"cubierto \d/\d", lines)
    assert json.loads(done.out)["terminal_state"] == "answered"


def test_parts_that_a_model_proposes_are_added_and_nothing_is_taken_away(steps) -> None:
    whole = dof("coverage", "explain", QUESTION, "--json").document["sub_questions"]
    span = "la Unidad de Cuenta Social para 2025 en la Zona Ribereña"
    split = ("split_question", {"parts": [span]})
    outside = ("split_question", {"parts": ["una parte que nadie preguntó"]})
    for first, outcome in ((split, "ok"), (outside, "not_a_part")):
        with serving(say(first), *script(steps)) as provider:
            folder = outcome
            done = dof("run", "--question", QUESTION, *model(provider.url, "--trace-dir", folder, "--quiet"))
        coverage = done.document["coverage"]
        assert [s["id"] for s in coverage if s["origin"] != "planner"] == [s["id"] for s in whole]
        events = [json.loads(line) for line in next(Path(folder).glob("*.jsonl")).read_text().splitlines()]
        called = [e for e in events if e["event"] == "model_called"]
        assert called[0]["outcome"] == outcome
        for sub in (s for s in coverage if s["origin"] == "planner"):
            assert sub["text"] in QUESTION
            assert sub["requirements"]


def test_ctrl_c_saves_the_trace_and_says_what_was_covered(steps, home: Path) -> None:
    def silent(asked: Asked) -> Answer:
        return Answer(body={}, hang=60)

    reads = next(n for n, step in enumerate(steps) if step[0] == "read_chunks")
    with serving(*script(steps[: reads + 1]), silent) as provider:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("DOF_", "OPENAI_"))}
        command = [sys.executable, "-m", "dofrag.cli.main", "run", "--question", QUESTION, *model(provider.url)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=home, text=True
        )
        try:
            wait_for(lambda: len(provider.asked) > reads + 1, 120)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 130, err
    result = json.loads(out)
    assert (result["terminal_state"], result["reason"]) == ("abstained", "interrupted")
    assert result["claims"], "what was covered is reported"
    assert dof("trace", "verify", str(next((home / "traces").glob("*.jsonl")))).code == 0


# doctor


def ping(asked: Asked) -> Answer:
    if asked.path.endswith("/models"):
        return Answer(body={"data": [{"id": "tiny"}, {"id": "big"}]})
    return say(("ping", {"value": "ok"}), usage=(20, 5))(asked)


def doctor(url: str, *more: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    done = dof("doctor", "--model", "tiny", "--base-url", url, "--json", *more)
    return done.code, {row["check"]: row["ok"] for row in done.document["checks"]}, done.document


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_doctor_of_an_able_endpoint(api: str) -> None:
    with serving(ping) as provider:
        code, checks, document = doctor(provider.url, "--api", api)
    assert code == 0
    wanted = ("reachable", "model", "json_text", "strict_tools", "tools", "json_schema", "usage")
    assert {name: checks[name] for name in wanted} == dict.fromkeys(wanted, True)
    assert checks["parallel_calls"] is False
    assert document["mode"] == "strict_tools"


def test_doctor_of_a_modest_endpoint_and_what_a_run_makes_of_it(steps, home: Path) -> None:
    def modest(asked: Asked) -> Answer:
        if asked.has_tools or "response_format" in asked.body:
            return error(400, "tools and response_format are not supported")(asked)
        return say(("ping", {"value": "ok"}), usage=None)(asked)

    with serving(modest) as provider:
        code, checks, document = doctor(provider.url)
        assert code == 0
        assert [checks[name] for name in ("strict_tools", "tools", "json_schema", "usage")] == [False] * 4
        assert document["mode"] == "json_text"
        text = dof("doctor", "--model", "tiny", "--base-url", provider.url).out
        assert "The planner will use: json_text" in text
        assert "the cost is n/a" in " ".join(text.split())
        provider.script, provider.asked = list(script(steps)), []
        dof("run", "--question", QUESTION, *model(provider.url, "--quiet"))
        assert not any(asked.has_tools for asked in provider.asked), "the probe is remembered"


@pytest.mark.parametrize(
    ("behaviour", "check", "said"),
    [
        (error(401, "no"), "model", "unauthorized"),
        (error(404, "Not Found"), "reachable", "404"),
        (lambda a: Answer(raw=b"<html>"), "model", "not JSON"),
    ],
)
def test_doctor_of_an_endpoint_that_does_not_serve(behaviour: Behaviour, check: str, said: str) -> None:
    with serving(behaviour) as provider:
        code, checks, document = doctor(provider.url)
    assert code == 1
    assert checks[check] is not True
    assert said in json.dumps(document)
    assert document["mode"] is None


def test_doctor_names_the_models_that_there_are() -> None:
    def other(asked: Asked) -> Answer:
        if asked.path.endswith("/models"):
            return ping(asked)
        return error(404, "The model `tiny` does not exist", "model_not_found")(asked)

    with serving(other) as provider:
        code, checks, document = doctor(provider.url)
    assert (code, checks["model"]) == (1, False)
    assert "it serves: big, tiny" in json.dumps(document)


def test_doctor_without_a_model_looks_at_the_rest() -> None:
    done = dof("doctor", "--json")
    assert done.code == 0
    assert {"index", "traces", "legacy .doc", "openai"} <= {row["check"] for row in done.document["checks"]}
    assert done.document["mode"] is None
    missing = dof("doctor", "--index", "nowhere", "--json")
    assert missing.code == 1
    assert missing.document["ok"] is False


def test_a_model_needs_a_name_and_an_address() -> None:
    assert dof("run", "--question", QUESTION, "--planner", "model", "--json").code == 2
    done = dof("run", "--question", QUESTION, *model("not an address"))
    assert (done.code, done.document["error"]["code"]) == (2, "usage")


def test_the_question_of_a_run_is_asked_in_its_language() -> None:
    with serving(say(text="")) as provider:
        dof("run", "--question", "What is the daily value of the unit for 2025?", *model(provider.url, "--quiet"))
        system = str(provider.asked[0].messages[0]["content"])
    assert "You research questions" in system
    assert jsonable(system) == system
