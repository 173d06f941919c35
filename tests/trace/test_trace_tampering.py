"""Tampered copies, each caught and named: by hand alone, and where every hash after the change was computed anew."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from trace_samples import CLAIM, DRAFT, LIMITS, TEXT, covered, finished, sound_events, spent, stored, write_trace

from dofrag.domain.run import Closure, Reason, TerminalState
from dofrag.trace.codec import GENESIS, decode, digest, encode
from dofrag.trace.events import (
    Answered,
    CitationRejected,
    CoverageChanged,
    DraftRejected,
    Event,
    LimitReached,
    ModelCalled,
    PassageRead,
    RunFinished,
    RunStarted,
    StatusChange,
    ToolReturned,
)
from dofrag.trace.verify import verify

GOLDEN = Path(__file__).parents[1] / "agent" / "golden"
OTHER = "El valor diario de la Unidad de Prueba es de 999.99 pesos, a partir del 1 de febrero."
assert len(OTHER) == len(TEXT)


def forged(folder: Path, events: list[Event], clock: Callable[[], datetime] | None = None) -> Path:
    """Events written with a chain that fits them: what a forger with this program can do."""
    ticks: Iterator[datetime] = (datetime(2026, 4, 24, 12, tzinfo=UTC) + timedelta(seconds=n) for n in range(9999))
    path, prev, lines = folder / "run-1.jsonl", GENESIS, []
    for seq, event in enumerate(events, 1):
        line = encode(event, seq=seq, at=clock() if clock else next(ticks), prev=prev)
        prev = digest(line)
        lines.append(line + b"\n")
    path.write_bytes(b"".join(lines))
    return path


def kinds(path: Path, **options: Any) -> set[str]:
    return {str(p.code) for p in verify(path, **options)}


def sound() -> list[Event]:
    return sound_events("run-1")


def changed(kind: type, nth: int = 0, **changes: Any) -> list[Event]:
    """The sound run with one event changed: the nth of its kind."""
    events = sound()
    at = [n for n, e in enumerate(events) if isinstance(e, kind)][nth]
    events[at] = dataclasses.replace(events[at], **changes)
    return events


def without(kind: type, nth: int = 0) -> list[Event]:
    events = sound()
    del events[[n for n, e in enumerate(events) if isinstance(e, kind)][nth]]
    return events


def doubled(kind: type) -> list[Event]:
    events = sound()
    at = next(n for n, e in enumerate(events) if isinstance(e, kind))
    return [*events[: at + 1], *events[at:]]


def swapped(at: int) -> list[Event]:
    events = sound()
    return [*events[:at], events[at + 1], events[at], *events[at + 2 :]]


def enveloped(nth: int, **changes: Any) -> list[Event]:
    event = [e for e in sound() if isinstance(e, ToolReturned)][nth]
    return changed(ToolReturned, nth, envelope={**event.envelope, **changes})


def cited(**changes: Any) -> dict[str, Any]:
    citation: dict[str, Any] = CLAIM["citations"][0]  # type: ignore[index]
    return {**CLAIM, "citations": [{**citation, **changes}]}


def drafted(*, quote: str) -> dict[str, Any]:
    claim = {**CLAIM, "citations": [{"chunk_id": 12, "quote": quote, "start": None, "end": None}]}
    return {**DRAFT, "claims": [claim]}


def everywhere(old: str, new: str) -> list[Event]:
    """The sound run with a text changed wherever it stands, in each event as it would be written."""
    told = []
    for n, event in enumerate(sound(), 1):
        line = json.loads(encode(event, seq=n, at=datetime(2026, 4, 24, tzinfo=UTC), prev=GENESIS))
        told.append(decode(json.dumps(line, ensure_ascii=False).replace(old, new).encode()).event)
    return told


REQUIREMENT = covered("answered", 12)[0]["requirements"][0]
FORGED: dict[str, tuple[Callable[[], list[Event]], str]] = {
    "a digit in the accepted quote": (lambda: changed(Answered, claims=(cited(quote="113.15 pesos"),)), "quote"),
    "a digit in the accepted claim": (lambda: changed(Answered, claims=({**CLAIM, "text": "Es de 9."},)), "drafts"),
    "the rejection of the draft removed": (lambda: without(DraftRejected), "drafts"),
    "the reading of a passage removed": (lambda: without(PassageRead), "passage"),
    "the return of a call removed": (lambda: without(ToolReturned), "call_pairs"),
    "the growth of coverage removed": (lambda: without(CoverageChanged), "coverage"),
    "the draft that was accepted removed": (lambda: [*sound()[:10], *sound()[11:]], "drafts"),
    "reading and coverage swapped": (lambda: swapped(6), "passage"),
    "call and return swapped": (lambda: swapped(2), "call_pairs"),
    "a foreign chunk cited": (
        lambda: changed(Answered, claims=(cited(chunk_id=77),), citations=(77,)), "cited_not_read",
    ),
    "a foreign chunk read": (lambda: changed(PassageRead, chunk_id=77), "passage"),
    "a foreign chunk asked for and brought": (
        lambda: enveloped(1, results=[{"chunk_id": 77, "publication": "5778070", "heading": ""}]), "passage",
    ),
    "the number of results changed": (lambda: enveloped(0, returned=2), "counts"),
    "the number of supported requirements changed": (lambda: changed(CoverageChanged, supported=0), "counts"),
    "the number of calls changed": (lambda: changed(RunFinished, spend=spent(tool_calls=1)), "counts"),
    "the state changed": (
        lambda: changed(RunFinished, terminal_state=TerminalState.ABSTAINED, closure=Closure.INCOMPLETE,
                        reason=Reason.COVERAGE_MISSING), "end_state",
    ),
    "the closure changed": (lambda: changed(RunFinished, closure=Closure.INCOMPLETE), "end_state"),
    "the reason changed": (lambda: changed(RunFinished, reason=Reason.PREMISE_CORRECTED), "end_state"),
    "a cell of coverage changed": (lambda: changed(RunFinished, coverage=covered("supported", 12)), "end_state"),
    "a cell of coverage given to another chunk": (
        lambda: changed(RunFinished, coverage=covered("answered", 13)), "coverage",
    ),
    "a requirement taken out of coverage": (
        lambda: changed(RunFinished, coverage=({**covered("answered", 12)[0], "requirements": []},)), "coverage",
    ),
    "a move of coverage that starts elsewhere": (
        lambda: changed(CoverageChanged, changes=(StatusChange(id="q1.r1", before="read", after="supported",
                                                               chunk_id=12),)), "coverage",
    ),
    "read tokens lowered": (lambda: changed(RunFinished, spend=spent(read_tokens=2)), "counts"),
    "cost units lowered": (lambda: changed(RunFinished, spend=spent(cost_units=1)), "counts"),
    "what a call cost lowered": (lambda: enveloped(0, charged={"cost_units": 0, "latency_ms": 400}), "counts"),
    "turns lowered": (lambda: changed(RunFinished, spend=spent(turns=2)), "counts"),
    "tokens of a model that was never asked": (lambda: changed(RunFinished, spend=spent(input_tokens=5)), "counts"),
    "a limit lowered below what was spent": (
        lambda: changed(RunStarted, limits=LIMITS | {"max_read_tokens": 10}), "over_limit",
    ),
    "the span of a quote shifted": (
        lambda: changed(Answered, claims=(cited(start=TEXT.index("113") - 1, end=TEXT.index("113") + 11),)), "quote",
    ),
    "the span of a quote widened": (lambda: changed(Answered, claims=(cited(end=80),)), "quote"),
    "the number of a citation changed": (
        lambda: changed(Answered, answer=f"{CLAIM['text']} [2]"), "citation_numbers",
    ),
    "a citation taken out of the answer": (lambda: changed(Answered, answer=str(CLAIM["text"])), "citation_numbers"),
    "a call doubled": (lambda: doubled(ToolReturned), "call_pairs"),
    "a passage doubled": (lambda: doubled(PassageRead), "passage"),
    "a rejection doubled": (lambda: doubled(DraftRejected), "drafts"),
    "a move of coverage doubled": (lambda: doubled(CoverageChanged), "coverage"),
    "the answer doubled": (lambda: doubled(Answered), "drafts"),
    "the cut-off moved back": (lambda: changed(RunStarted, as_of=datetime(2025, 1, 1).date()), "cut_off"),
    "the cut-off of one call moved": (lambda: enveloped(0, as_of="2026-04-25"), "cut_off"),
    "a source published after the cut-off": (
        lambda: enveloped(0, sources={"5778070": {**sound()[3].envelope["sources"]["5778070"],  # type: ignore[union-attr]
                                                  "date": "2027-01-01"}}), "cut_off",
    ),
    "the question changed": (lambda: changed(RunStarted, question="¿Cuál es otra?"), "parts"),
    "an answer of another index": (
        lambda: changed(RunStarted, versions={"code": "0", "index": "x", "profile": "p", "contract": "c"}), "source",
    ),
    "a citation said to be dropped": (
        lambda: [*sound()[:9], CitationRejected(turn=3, claim="claims[0]", chunk_id=12, code="quote_not_found",
                                                message="x"), *sound()[9:]], "drafts",
    ),
    "a limit that was not the run's": (
        lambda: [*sound()[:8], LimitReached(turn=2, limit="max_tool_calls", maximum=2, spent=2, wanted=1, tool=None),
                 *sound()[8:]], "limits",
    ),
    "an attempt of a model removed": (
        lambda: [*sound()[:2], ModelCalled(turn=1, model="m", attempt=2, mode="tools", prompt_tokens=1,
                                           max_output_tokens=1, input_tokens=1, output_tokens=1, output_estimate=1,
                                           cost=None, outcome="ok", reply={"kind": "call"}), *sound()[2:]], "counts",
    ),
    "a field slipped into a claim": (
        lambda: changed(Answered, claims=({**CLAIM, "hidden": "x"},)), "shape",
    ),
    "a status that there is not": (lambda: changed(RunFinished, coverage=covered("certain", 12)), "shape"),
}  # fmt: skip


def test_the_sound_run_is_sound_when_it_is_written_anew(tmp_path: Path) -> None:
    assert kinds(forged(tmp_path, sound()), passage_of=stored(TEXT)) == set()


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_copy_contradicts_itself(tmp_path: Path, name: str) -> None:
    """Every hash fits; what the trace says elsewhere does not. No store is asked."""
    make, code = FORGED[name]
    found = kinds(forged(tmp_path, make()))
    assert code in found
    assert not found & {"altered", "hash_chain", "sequence", "malformed"}


@pytest.mark.parametrize("name", FORGED)
def test_the_same_copy_made_by_hand_breaks_the_chain(tmp_path: Path, name: str) -> None:
    """As with an editor: the text of a line is changed, taken out or put in, and no hash is computed."""
    before = write_trace(tmp_path / "real").read_bytes().split(b"\n")
    after = forged(tmp_path, FORGED[name][0]()).read_bytes().split(b"\n")
    path = tmp_path / "run-1.jsonl"
    at = next(n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    old, new = json.loads(before[at]), json.loads(after[at])
    after[at] = after[at].replace(new["sum"].encode(), old["sum"].encode())
    mixed = (
        [*before[:at], after[at], *before[at + 1 :]]
        if len(before) == len(after)
        else [*after[: at + 1], *before[at:]]
    )
    path.write_bytes(b"\n".join(mixed))
    assert kinds(path) & {"altered", "hash_chain", "sequence", "after_finish"}


def test_a_text_changed_everywhere_is_caught_by_its_own_hash(tmp_path: Path) -> None:
    assert "passage" in kinds(forged(tmp_path, everywhere("113.14", "999.99")))


def test_a_long_text_changed_everywhere_is_caught_by_the_store_alone(tmp_path: Path) -> None:
    """The whole chain is computed anew, the quote and the hash of its passage are changed in every place, and the
    passage is too long for its excerpt to have the hash: nothing in the file contradicts it."""
    padding = " Lo demás queda igual." * 20
    new = OTHER + padding
    events = changed(
        PassageRead, sha256=sha256(new.encode()).hexdigest(), chars=len(new),
        tokens=-(-len(new) // 4), excerpt=new[:300],
    )  # fmt: skip
    claim = {**cited(quote="999.99 pesos"), "text": "El valor diario es de 999.99 pesos."}
    draft = {**drafted(quote="999.99 pesos"), "claims": [claim]}
    events[8] = dataclasses.replace(events[8], draft=draft)  # type: ignore[call-arg]
    events[10] = dataclasses.replace(events[10], draft=draft)  # type: ignore[call-arg]
    events[11] = dataclasses.replace(events[11], claims=(claim,), answer=f"{claim['text']} [1]")  # type: ignore[call-arg]
    events[12] = finished(spend=spent(read_tokens=-(-len(new) // 4)))
    path = forged(tmp_path, events)
    assert kinds(path) == set()
    assert kinds(path, passage_of=stored(TEXT + padding)) == {"passage", "quote"}
    assert kinds(path, expected_last="0" * 64) == {"last_hash"}


def test_the_store_names_a_passage_of_another_publication(tmp_path: Path) -> None:
    assert kinds(forged(tmp_path, sound()), passage_of=stored(TEXT, code="999")) == {"source"}


def test_a_line_that_goes_back_in_time(tmp_path: Path) -> None:
    moments = iter([datetime(2026, 4, 24, 12, tzinfo=UTC)] * 5 + [datetime(2026, 4, 24, 11, tzinfo=UTC)] * 9)
    assert kinds(forged(tmp_path, sound(), lambda: next(moments))) == {"clock"}


def test_a_clock_that_is_set_back_does_not_turn_the_record_about(tmp_path: Path) -> None:
    from dofrag.trace.writer import TraceWriter

    moments = iter([datetime(2026, 4, 24, 12, tzinfo=UTC)] * 5 + [datetime(2026, 4, 24, 11, tzinfo=UTC)] * 9)
    with TraceWriter(tmp_path / "run-1.jsonl", lambda: next(moments)) as trace:
        for event in sound():
            trace.emit(event)
    assert kinds(tmp_path / "run-1.jsonl") == set()


def test_one_hash_computed_anew_moves_the_break_and_does_not_mend_it(tmp_path: Path) -> None:
    lines = write_trace(tmp_path).read_bytes().removesuffix(b"\n").split(b"\n")
    changed_line = decode(lines[3])
    envelope = {**changed_line.event.envelope, "total": 99}  # type: ignore[union-attr]
    event = dataclasses.replace(changed_line.event, envelope=envelope)  # type: ignore[call-arg]
    lines[3] = encode(event, seq=4, at=changed_line.at, prev=changed_line.prev)
    path = tmp_path / "run-1.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert [(str(p.code), p.line) for p in verify(path)] == [("hash_chain", 5)]


@pytest.mark.parametrize("name", ["answered", "rejected", "abstained"])
def test_real_runs_are_sound_and_no_event_of_theirs_can_be_left_out(tmp_path: Path, name: str) -> None:
    records = [decode(line) for line in (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()]
    start = records[0].event
    assert isinstance(start, RunStarted)
    events: list[Event] = [dataclasses.replace(start, run_id="run-1"), *(r.event for r in records[1:])]
    assert kinds(forged(tmp_path, events)) == set()
    for at in range(len(events)):
        assert kinds(forged(tmp_path, events[:at] + events[at + 1 :])), events[at].event


SECRET = "sk-" + "a1B2" * 6


def answering(text: str, answer: str) -> list[Event]:
    """The sound run with another claim in draft and answer, and with another text of the answer."""
    draft = {**DRAFT, "claims": [{**DRAFT["claims"][0], "text": text}]}
    changes = {
        8: {"draft": draft},
        10: {"draft": draft},
        11: {"claims": ({**CLAIM, "text": text},), "answer": answer},
    }
    return [dataclasses.replace(e, **changes.get(n, {})) for n, e in enumerate(sound())]


@pytest.mark.parametrize(
    "text", [f"La llave es {SECRET}.", f"La llave es {SECRET}", f"authorization: {SECRET}", "El valor. " * 6_000,
             f"{SECRET} es. " * 3_000, f"api key: {SECRET}\n\nEl valor.", "El valor es [redacted]"],
)  # fmt: skip
def test_a_redacted_or_a_long_answer_is_sound_and_still_held_against_its_claims(tmp_path: Path, text: str) -> None:
    said = f"{text.strip()} [1]"
    assert kinds(forged(tmp_path, answering(text, said))) == set()
    wrong = [f"[redacted] {said}", f"L{said}", ""]
    if len(said) < 9_000 and not text.startswith("authorization"):  # whose mark is hidden with it
        wrong += ["[redacted]", f"{said[:-3]}[2]", f"{said} Otra cosa.", f"{said}… [60000 more characters]"]
    for answer in wrong:
        assert kinds(forged(tmp_path, answering(text, answer))) == {"citation_numbers"}, answer[:80]


def test_a_sign_of_redaction_does_not_hide_another_excerpt(tmp_path: Path) -> None:
    assert "passage" in kinds(forged(tmp_path, changed(PassageRead, excerpt=f"{TEXT} [redacted]")))
    hidden = changed(PassageRead, excerpt="[redacted] x")
    assert "passage" in kinds(forged(tmp_path, hidden), passage_of=stored(TEXT))
