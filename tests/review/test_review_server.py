"""The page over the wire: who is let in, what is kept, what is never told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from review_front import Browser, answered_run, claim, make_campaign, served
from trace_samples import write_trace

from dofrag.review.guard import BODY_MAX, POLICY
from dofrag.review.serve import listen
from dofrag.review.verdicts import Mark, Why, read_verdicts


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, str, Path]]:
    folder = make_campaign(tmp_path_factory.mktemp("server") / "campaign-of-gpt", extra=60)
    with served(folder) as (browser, where):
        yield browser, where, folder


@pytest.fixture
def browser(site: tuple[Browser, str, Path]) -> Browser:
    return Browser(site[0].port)


@pytest.fixture
def where(site: tuple[Browser, str, Path]) -> str:
    return site[1]


def test_every_answer_carries_the_headers_that_let_nothing_run(browser: Browser, where: str) -> None:
    for path in ("/", where, f"{where}/r/run-evil", "/assets/review.js", "/no-such", f"{where}/agreement"):
        answer = browser.get(path)
        assert answer.headers["Content-Security-Policy"] == POLICY, path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert "Server" not in answer.headers


def test_no_page_has_a_script_or_a_style_of_its_own(browser: Browser, where: str) -> None:
    for path in ("/", where, f"{where}?text=x", f"{where}/r/run-evil", f"{where}/r/run-good", f"{where}/agreement"):
        body = browser.get(path).body
        assert body.count("<script") == 1
        assert "<style" not in body
        assert " style=" not in body
        assert " onclick=" not in body
        assert "built-in" not in body
        assert "object at 0x" not in body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8377", "127.0.0.1.evil.example:80", "localhost.evil:80", "127.0.0.1:80:80", "",
     "[::1", "127.0.0.1:x", "127.0.0.1@evil.example:80", None],
)  # fmt: skip
def test_a_name_that_is_not_this_machine_s_is_refused(browser: Browser, host: str | None) -> None:
    answer = browser.get("/", Host=host)
    assert answer.status in (400, 421)
    assert "run" not in answer.body


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:8377", "LOCALHOST:1", "[::1]:8377", "localhost"])
def test_this_machine_s_names_are_let_in_with_any_port(browser: Browser, host: str) -> None:
    assert browser.get("/", Host=host).status == 200


def _verdict(**changes: str) -> list[tuple[str, str]]:
    return list(({"verdict": "correct", "claim": "", "note": ""} | changes).items())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": None}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 400),
        ({"Content_Type": "application/json"}, 400),
        ({"Cookie": None}, 403),
        ({"Cookie": "dof_session=guess"}, 403),
    ],
)
def test_a_form_that_is_not_ours_keeps_nothing(
    site: tuple[Browser, str, Path], browser: Browser, headers: dict[str, str | None], status: int
) -> None:
    answer = browser.post(f"{site[1]}/r/run-x0003/verdict", _verdict(), **headers)
    assert answer.status == status
    assert not (site[2] / "traces" / "run-x0003.review.jsonl").exists()


def test_a_token_of_another_session_is_refused(browser: Browser, where: str) -> None:
    other = Browser(browser.port).token()
    browser.get("/")
    body = urlencode([("csrf", other), *_verdict()])
    assert browser.ask("POST", f"{where}/r/run-x0003/verdict", body).status == 403
    assert browser.ask("POST", f"{where}/r/run-x0003/verdict", urlencode(_verdict())).status == 403


def test_other_methods_and_long_things_are_refused(browser: Browser, where: str) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert browser.ask(method, where).status == 405
    assert browser.ask("POST", where, urlencode({"csrf": browser.token()})).status == 405
    assert browser.get("/?" + "x" * 5_000).status == 413
    long = urlencode([("csrf", browser.token()), *_verdict(note="x" * BODY_MAX)])
    assert browser.ask("POST", f"{where}/r/run-x0003/verdict", long).status == 413
    many = urlencode([("csrf", browser.token()), *[("reason", "x")] * 60])
    assert browser.ask("POST", f"{where}/r/run-x0003/verdict", many).status == 400


@pytest.mark.parametrize(
    "path",
    ["/assets/", "/assets/../app.py", "/assets/..%2fapp.py", "/assets/%2e%2e/app.py", "/c/", "/c/..", "/c/none",
     "{}/r/..%2f..%2fspec", "{}/r/broken", "{}/r/run-good.jsonl", "{}/r/%2e%2e%2fspec.json", "{}/traces", "{}/r/",
     "{}/r/run-good%00", "//evil.example/", "/etc/passwd", "{}/spec.json", "/assets", "/static/review.css"],
)  # fmt: skip
def test_nothing_else_of_the_disk_is_told(browser: Browser, where: str, path: str) -> None:
    answer = browser.get(path.format(where))
    assert answer.status == 404
    assert "Traceback" not in answer.body


def test_lists_are_paged_filtered_and_survive_nonsense(browser: Browser, where: str) -> None:
    first = browser.get(where).body
    assert first.count('class="row"') == 50
    assert browser.get(f"{where}?page=2").body.count('class="row"') == 15
    assert browser.get(f"{where}?page=99999999").status == 200
    one = browser.get(f"{where}?text=cuota+norte&state=answered").body
    assert one.count('class="row"') == 1
    for odd in (
        "?page=-1",
        "?page=%ff",
        "?state=%00",
        "?queue=1e9",
        "?text=" + "%25" * 300,
        "?order=x&order=y",
        "?%",
    ):
        assert browser.get(where + odd).status == 200, odd
    body = browser.get(f"{where}?text=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").body
    assert "<script>alert" not in body


def test_a_verdict_is_kept_and_shown(site: tuple[Browser, str, Path], browser: Browser) -> None:
    path = f"{site[1]}/r/run-good"
    fields = [*_verdict(verdict="incorrect", claim="1", note="dice <b>otra</b> cosa"), ("reason", "wrong_value"),
              ("reason", "unsupported")]  # fmt: skip
    answer = browser.post(f"{path}/verdict", fields)
    assert (answer.status, answer.headers["Location"]) == (303, f"{path}#c2")
    answer = browser.post(f"{path}/verdict", _verdict(), Accept="application/json")
    assert "Guardado" in json.loads(answer.body)["message"]
    kept, bad = read_verdicts(site[2] / "traces" / "run-good.review.jsonl")
    assert bad == 0
    assert [(v.claim, v.verdict, v.reasons, v.author, v.blind) for v in kept] == [
        (1, Mark.INCORRECT, (Why.WRONG_VALUE, Why.UNSUPPORTED), "ana", False),
        (None, Mark.CORRECT, (), "ana", False),
    ]
    assert len(kept[0].trace_sha256) == 64
    body = browser.get(path).body
    assert 'value="incorrect" required checked' in body
    assert "dice &lt;b&gt;otra&lt;/b&gt; cosa" in body
    rows = [json.loads(line) for line in browser.get(f"{site[1]}/verdicts.jsonl").body.splitlines()]
    assert {r["run_id"] for r in rows} == {"run-good"}
    assert browser.get(f"{site[1]}?verdict=correct").body.count('class="row"') == 1


@pytest.mark.parametrize(
    "changes",
    [{"verdict": "perfect"}, {"verdict": ""}, {"claim": "2"}, {"claim": "-1"}, {"claim": "٣"}, {"verdict": "partial"},
     {"verdict": "incorrect", "reason": "because"}, {"note": "x" * 4_001}],
)  # fmt: skip
def test_what_is_no_verdict_is_refused_with_a_reason(browser: Browser, where: str, changes: dict[str, str]) -> None:
    answer = browser.post(f"{where}/r/run-cut/verdict", _verdict(**changes), Accept="application/json")
    assert answer.status == 400
    assert json.loads(answer.body)["message"]


def test_nobody_s_verdict_is_not_kept(browser: Browser, where: str) -> None:
    browser.post("/prefs", [("author", " "), ("lang", "es")])
    answer = browser.post(f"{where}/r/run-cut/verdict", _verdict(), Accept="application/json")
    assert (answer.status, "quién revisa" in json.loads(answer.body)["message"]) == (400, True)


def test_a_run_that_is_not_there_takes_no_verdict(browser: Browser, where: str) -> None:
    for run in ("none", "broken", "..%2frun-good"):
        assert browser.post(f"{where}/r/{run}/verdict", _verdict()).status == 404


def test_preferences_are_kept_and_lead_nowhere_else(browser: Browser, where: str) -> None:
    answer = browser.post("/prefs", [("lang", "en"), ("theme", "dark"), ("author", "luz"), ("back", where)])
    assert (answer.status, answer.headers["Location"]) == (303, where)
    body = browser.get(where).body
    assert '<html lang="en" data-theme="dark">' in body
    assert "Preferences · luz" in body
    assert 'data-keys="off"' in body
    for back in ("//evil.example", "https://evil.example", "/\\evil.example", "/x\r\nSet-Cookie: a=b", ""):
        assert browser.post("/prefs", [("back", back)]).headers["Location"] == "/"
    browser.cookies["dof_prefs"] = "lang%3D..%2F..%26author%3D" + "x" * 500
    assert browser.get(where).status == 200


def test_two_reviewers_agree_or_not(site: tuple[Browser, str, Path]) -> None:
    for author, mark in (("ana", "unresolved"), ("luz", "correct")):
        person = Browser(site[0].port)
        person.post("/prefs", [("author", author), ("keys", "1")])
        for run in ("run-x0010", "run-x0011"):
            answer = person.post(
                f"{site[1]}/r/{run}/verdict", _verdict(verdict=mark if run == "run-x0010" else "correct")
            )
            assert answer.status == 303
    body = Browser(site[0].port).get(f"{site[1]}/agreement").body
    assert "2 en común" in body
    assert "acuerdo observado 50%" in body
    assert "¿Qué dice el artículo 10?" in body


def test_blind_mode_tells_neither_arm_nor_model_nor_what_others_said(site: tuple[Browser, str, Path]) -> None:
    first = Browser(site[0].port)
    first.post("/prefs", [("author", "ana"), ("keys", "1")])
    first.post(f"{site[1]}/r/run-x0021/verdict", _verdict(note="secreto de ana"))
    reader = Browser(site[0].port)
    reader.post("/prefs", [("author", "luz"), ("blind", "1")])
    for path in ("/", site[1], f"{site[1]}?arm=model-x", f"{site[1]}/r/run-x0021", f"{site[1]}/agreement"):
        body = reader.get(path).body
        for told in ("model-x</", "model-x)", "campaign-of-gpt", "secreto de ana", "ana: ", ">rules<", "12:00:00"):
            assert told not in body, (path, told)
    assert reader.get(f"{site[1]}/verdicts.jsonl").status == 404
    reader.post(f"{site[1]}/r/run-x0021/verdict", _verdict(verdict="unresolved"))
    assert "secreto de ana" in reader.get(f"{site[1]}/r/run-x0021").body
    kept, _ = read_verdicts(site[2] / "traces" / "run-x0021.review.jsonl")
    assert [v.blind for v in kept] == [False, True]


def test_blind_mode_of_the_server_cannot_be_left(site: tuple[Browser, str, Path]) -> None:
    with served(site[2], blind=True) as (browser, where):
        browser.post("/prefs", [("author", "luz"), ("keys", "1")])
        assert "model-x" not in browser.get(where).body


def test_many_at_once_lose_nothing(site: tuple[Browser, str, Path]) -> None:
    def judge(author: str) -> None:
        person = Browser(site[0].port)
        person.post("/prefs", [("author", author), ("keys", "1")])
        for n in range(8):
            fields = _verdict(verdict="unresolved", note=f"{author} {n}")
            assert person.post(f"{site[1]}/r/run-x0040/verdict", fields).status == 303

    people = [threading.Thread(target=judge, args=(name,)) for name in ("ana", "luz")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    kept, bad = read_verdicts(site[2] / "traces" / "run-x0040.review.jsonl")
    assert bad == 0
    assert sorted(v.note for v in kept) == sorted(f"{a} {n}" for a in ("ana", "luz") for n in range(8))


def test_garbage_on_the_wire_does_not_end_it(browser: Browser) -> None:
    for raw in (
        b"\x16\x03\x01\x00",
        b"GET / HTTP/9\r\n\r\n",
        b"GET /" + b"a" * 70_000,
        b"POST / HTTP/1.1\r\nHost: x\r\n",
    ):
        with socket.create_connection(("127.0.0.1", browser.port), timeout=5) as wire:
            wire.sendall(raw)
            wire.shutdown(socket.SHUT_WR)
            wire.settimeout(5)
            with wire.makefile("rb") as file:
                assert b"Traceback" not in file.read(4_096)
    assert browser.get("/").status == 200


def test_whatever_a_trace_and_a_campaign_hold_there_is_a_page(tmp_path: Path) -> None:
    folder = make_campaign(tmp_path / "c")
    odd = [
        claim("A") | {"computed": {"inputs": 3}, "sub_questions": [None, {"a": 1}]},
        claim("B") | {"computed": {"operation": "sum", "inputs": ["1", 2], "result": None}},
        claim("C", {"chunk_id": 12, "quote": "", "start": None, "end": None}),
        claim("D", {"chunk_id": 12**20, "quote": "x" * 50_000, "start": 1, "end": 0}),
    ]
    trace = folder / "traces" / "run-good.jsonl"
    trace.unlink()
    write_trace(folder / "traces", "run-good", answered_run("run-good", odd, (12, 21)))
    text = trace.read_text(encoding="utf-8")
    for old, new in (
        ('"requirements":[{"id":"q1.r1","label":"cuota norte"}]', '"requirements":{"id":1}'),
        ('"arguments":{"query":"cuota"}', '"arguments":["a",[[[1]]],null]'),
        ('"status":"supported"}', '"status":["x"]}'),
        ('"label":"hay cuota"', '"etiqueta":7'),
    ):
        assert old in text, old
        text = text.replace(old, new)
    trace.write_text(text, encoding="utf-8")
    (folder / "items.jsonl").write_text('{"id": "Q-000"}\n{"id": "Q-001", "gold": 3, "sub_questions": "x"}\n[]\n{"')
    (folder / "spec.json").write_text("[" * 5_000)
    records = (folder / "episodes.jsonl").read_text(encoding="utf-8").replace('"grade": {', '"grade": 3, "old": {')
    (folder / "episodes.jsonl").write_text(records + "\x00\n" + '{"run_id": ["run-cut"]}\n', encoding="utf-8")
    with served(folder) as (browser, where):
        for path in (where, *(f"{where}/r/{r}" for r in ("run-good", "run-refused", "run-evil", "run-cut"))):
            answer = browser.get(path)
            assert answer.status == 200, path


def test_it_listens_on_this_machine_only() -> None:
    with listen(0) as found:
        assert found.getsockname()[0] == "127.0.0.1"
