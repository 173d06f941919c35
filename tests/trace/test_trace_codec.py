"""Events to lines and back; what must never stand in a line; what no event can break."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import string
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from trace_samples import EVENT, SCALARS, START, finished, started

from dofrag.errors import TraceError
from dofrag.trace import shapes
from dofrag.trace.codec import DEPTH_MAX, GENESIS, STRING_MAX, decode, digest, encode, intact, json_name, jsonable
from dofrag.trace.events import EVENTS, Event, ToolCalled
from dofrag.trace.redact import REDACTED, redact
from dofrag.trace.schema import SCHEMA_FILE, build_schema, misfits, render_schema

DOCS = Path(__file__).parents[2] / "docs" / "trace-format.md"
VALIDATOR = Draft202012Validator(build_schema(shapes=False))
"""What can be read at all: events carry any objects here."""
WHOLE = Draft202012Validator(build_schema())
GOLDEN = Path(__file__).parents[1] / "agent" / "golden"


@settings(deadline=None)
@given(EVENT)
def test_round_trip(event: Event) -> None:
    line = encode(event, seq=7, at=START, prev=GENESIS)
    record = decode(line)
    assert record.event == event
    assert (record.seq, record.at, record.prev, record.digest) == (7, START, GENESIS, digest(line))
    assert intact(line)
    assert encode(event, seq=7, at=START, prev=GENESIS) == line


@settings(deadline=None)
@given(EVENT)
def test_lines_fit_the_schema(event: Event) -> None:
    assert list(VALIDATOR.iter_errors(json.loads(encode(event, seq=1, at=START, prev=GENESIS)))) == []


@settings(deadline=None)
@given(EVENT)
def test_a_line_is_one_line_and_drives_no_terminal(event: Event) -> None:
    text = encode(event, seq=1, at=START, prev=GENESIS).decode("utf-8")
    assert text.splitlines() == [text]
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in text)


@settings(deadline=None)
@given(EVENT, st.data())
def test_decoder_and_schema_agree_on_damage(event: Event, data: st.DataObject) -> None:
    raw = json.loads(encode(event, seq=1, at=START, prev=GENESIS))
    name = data.draw(st.sampled_from(sorted(raw)))
    if data.draw(st.booleans()):
        del raw[name]
    else:
        raw[name] = data.draw(SCALARS | st.just([]) | st.just({}))
    valid = VALIDATOR.is_valid(raw)
    try:
        decode(json.dumps(raw).encode())
    except TraceError:
        accepted = False
    else:
        accepted = True
    # The schema's patterns are stricter on hashes, its types looser on 1.0 for 1 and on the values of formats.
    if accepted:
        assert valid or name in ("prev", "sum", "seq", "at")
    if not valid and name not in ("prev", "sum", "seq", "at"):
        assert not accepted


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_by_name(line: bytes) -> None:
    with pytest.raises(TraceError):
        decode(line)


@pytest.mark.parametrize(
    "line",
    [
        b"null",
        b"[]",
        b'{"event": []}',
        b'{"v":NaN}',
        b"[" * 100_000,
        b'{"event":"run_started","v":2}',
        b'{"event":"run_started","v":true}',
        b"9" * 5000,
    ],
)
def test_hostile_lines_are_refused_by_name(line: bytes) -> None:
    with pytest.raises(TraceError):
        decode(line)


def test_dates_are_dates_inside() -> None:
    record = decode(encode(started("r"), seq=1, at=START, prev=GENESIS))
    assert record.event == started("r")
    assert json.loads(encode(started("r"), seq=1, at=START, prev=GENESIS))["corpus_dates"] == {
        "from": "2024-01-02",
        "to": "2026-04-24",
    }


def test_a_clock_without_zone_is_a_bug() -> None:
    with pytest.raises(ValueError, match="time zone"):
        encode(started("r"), seq=1, at=datetime(2026, 1, 1), prev=GENESIS)


SECRETS = [
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-api03-abcdefghijklmnop",
    "ghp_abcdefghijklmnopqrstuvwxyz012345",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "xoxb-123456789012-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123",
    "Bearer abcdefghijklmnop.qrst",
    "Authorization: Basic dXNlcjpwYXNz",
    'api_key="0123456789abcdef"',
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "antes {} después", '{{"x": "{}"}}', "\n{}\n"])
def test_secrets_never_pass(secret: str, around: str) -> None:
    call = ToolCalled(turn=1, call_id="c1", tool="t", arguments={"q": [around.format(secret)]}, why=secret)
    line = encode(call, seq=1, at=START, prev=GENESIS).decode()
    core = secret.split()[-1].split("=")[-1].strip('"')
    assert core not in line
    assert REDACTED in line


@pytest.mark.parametrize("name", ["authorization", "Api-Key", "x-api-key", "api_key", "password", "Set-Cookie"])
def test_fields_named_after_secrets_hold_none(name: str) -> None:
    assert jsonable({name: "plain words"}) == {name: REDACTED}


@pytest.mark.parametrize(
    "text",
    [
        "NOM-035-STPS-2018, numeral 5.2",
        "la autorización: oficio 500-05-2026 del 9 de enero",
        "valores al portador (bearer) de la sociedad",
        "https://www.dof.gob.mx/nota_detalle.php?codigo=5778070&fecha=09/01/2026",
        "La clave de acceso: no se publica",
        "input_tokens 120, read_tokens 5",
    ],
)
def test_legal_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


@settings(deadline=None)
@given(st.text(string.ascii_letters + string.digits + " -_.:=/", max_size=400))
def test_redaction_settles(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_what_has_no_bound_or_no_json_form_is_written_bounded() -> None:
    deep: object = "x"
    for _ in range(DEPTH_MAX * 4):
        deep = [deep]
    odd = {
        "nan": float("nan"),
        "inf": float("-inf"),
        "big": 10**5000,
        "long": "x" * (STRING_MAX * 3),
        "surrogate": "\ud800",
        "deep": deep,
        "bytes": b"\0",
        "type": int,
        "set": {"b", "a"},
        "date": date(2026, 1, 9),
        "instant": datetime(2026, 1, 9, tzinfo=UTC),
        5: "key",
    }
    line = encode(ToolCalled(turn=1, call_id="c", tool="t", arguments=odd, why=""), seq=1, at=START, prev=GENESIS)
    back = decode(line).event
    assert isinstance(back, ToolCalled)
    assert not isinstance(back.arguments, str)
    assert len(back.arguments["long"]) <= STRING_MAX
    assert back.arguments["set"] == ["a", "b"]
    assert back.arguments["date"] == "2026-01-09"
    assert intact(line)


def test_schema_file_is_in_step_with_the_events() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == render_schema(), "run: python -m dofrag.trace.schema"
    Draft202012Validator.check_schema(build_schema())


@pytest.mark.parametrize("cls", EVENTS, ids=lambda cls: cls.event)
def test_every_event_and_field_is_documented(cls: type[Event]) -> None:
    sections = DOCS.read_text(encoding="utf-8").split("\n### ")
    mine = [s for s in sections if s.startswith(f"`{cls.event}`")]
    assert len(mine) == 1, f"{cls.event} needs one section in docs/trace-format.md"
    for field in dataclasses.fields(cls):
        assert f"| `{json_name(field)}` |" in mine[0], f"{cls.event}.{json_name(field)} is not documented"


@pytest.mark.parametrize("shape", [c for _, c in inspect.getmembers(shapes, dataclasses.is_dataclass)])
def test_every_object_and_its_fields_are_documented(shape: type) -> None:
    """`ClaimObject` has the row `claim`; a field with a default stands in brackets."""
    name = shape.__name__.removesuffix("Object").lower()
    [row] = re.findall(rf"^\| {name} \|[^|]*\|([^|]*)\|$", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    fields = {f.name: f.default is not dataclasses.MISSING for f in dataclasses.fields(shape)}
    assert {n: bool(left) for left, n in re.findall(r"(\(?)`(\w+)`", row)} == fields


def test_what_real_runs_write_fits_the_whole_schema() -> None:
    for path in sorted(GOLDEN.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            assert list(WHOLE.iter_errors(json.loads(line))) == []
            assert misfits(decode(line).event) == []


@settings(deadline=None)
@given(EVENT)
def test_the_schema_and_the_shapes_agree(event: Event) -> None:
    """`verify` finds a misfit just where the JSON Schema does."""
    line = json.loads(encode(event, seq=1, at=START, prev=GENESIS))
    assert bool(misfits(decode(json.dumps(line).encode()).event)) is not WHOLE.is_valid(line)


def test_an_answered_end_is_typed() -> None:
    raw = json.loads(encode(finished(), seq=1, at=START, prev=GENESIS))
    raw["reason"] = "luck"
    with pytest.raises(TraceError, match=r"run_finished\.reason: 'luck'"):
        decode(json.dumps(raw).encode())
