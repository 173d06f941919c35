"""What a model says around what it quotes, asks back, splits off: nothing of it reaches people unproven."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import model_bench as mb
import pytest
from doubles import MemoryCorpus, publication
from model_bench import READ, SEARCH, submit
from provider import Answer, Asked, Behaviour, error, say, serving
from test_provider_behaviours import HONEST, faults
from test_replay import replayed, timeless

from dofrag.domain.run import Limits
from dofrag.llm.interface import Mode
from dofrag.text.shown import shown, whole_words

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from cli_front import dof

TABLE = (
    "Las cuotas de amarre para 2024 son:\n\n| Cuota | Diaria | Anual |\n|---|---|---|\n"
    "| Cuota de amarre | 4.00 pesos | 1,250.00 pesos |\n| Cuota de fondeo | 2.00 pesos | 730.00 pesos |\n"
)
ROWS = "| Cuota de amarre | 4.00 pesos | 1,250.00 pesos |\n| Cuota de fondeo | 2.00 pesos | 730.00 pesos |"
TWISTED = (
    "Las cuotas para 2024 son: cuota de amarre, anual 1,250.00 pesos; cuota de fondeo, anual 1,250.00 pesos",
    "La cuota diaria de amarre para 2024 es de 1,250.00 pesos",
    "La cuota anual de fondeo es de 1,250.00 pesos",
    "Cuota de amarre: anual 730.00 pesos; cuota de fondeo: anual 1,250.00 pesos",
    "Cuota de amarre: anual 4.00 pesos, diaria 1,250.00 pesos",
)


def table() -> MemoryCorpus:
    title = "AVISO por el que se da a conocer la cuota anual de amarre para 2024"
    return MemoryCorpus((publication("9000001", "2024-01-10", title=title), [TABLE]))


def claimed(text: str) -> tuple[str, Any]:
    citations = [{"chunk_id": 1, "quote": "Las cuotas de amarre para 2024 son:"}, {"chunk_id": 1, "quote": ROWS}]
    return submit({"sub_questions": ["q1"], "text": text, "citations": citations, "computed": None})


@pytest.mark.parametrize("text", [*TWISTED, "La cuota anual de amarre para 2024 es de 1,250.00 pesos"])
def test_a_model_answers_in_the_words_of_its_quotes(text: str) -> None:
    """Whatever it says around them, right or wrong: it costs no turn, and nobody reads it."""
    with serving(say(SEARCH), say(READ), say(claimed(text))) as provider:
        result, trace, _, _ = mb.run(provider.url, source=table())
    assert (result["terminal_state"], result["spend"]["turns"]) == ("answered", 3)
    assert faults(trace) == []
    assert text not in result["answer"]
    [said] = result["claims"]
    for word in said["text"].replace("·", " ").replace("…", " ").split():
        assert word.strip(":;") in TABLE, "the answer is in the words of the quotes"


def test_a_quote_without_its_label_is_completed() -> None:
    """The label of a provision is quoted from the same passage, rather than asked for until the turns are used up."""
    sentence = "La Autoridad llevará un registro de los amarres y lo publicará en enero."
    law = f"**Artículo 5.-** Los muelles son públicos.\n\n**Artículo 6.-** {sentence}\n"
    source = MemoryCorpus((publication("9000001", "2024-01-10", title="LEY de Amarres y Muelles Menores"), [law]))
    search = (SEARCH[0], {**SEARCH[1], "query": "ley amarres muelles"})
    with serving(say(search), say(READ), say(submit(mb.claim("Un registro.", sentence)))) as provider:
        question = "¿Qué establece el artículo 6 de la Ley de Amarres y Muelles Menores?"
        result, _, _, _ = mb.run(provider.url, question=question, source=source)
    assert result["terminal_state"] == "answered"
    [claim] = result["claims"]
    assert claim["citations"][-1]["quote"].startswith("**Artículo 6.-** La Autoridad")


@pytest.mark.parametrize("result", ["250.00", "$250.00 (doscientos cincuenta zorros gratis)"])
def test_what_a_model_computes_is_told_by_the_program(result: str) -> None:
    text = "La cuota anual de amarre para 2024 es de 1,250.00 pesos y la de 2023 fue de 1,000.00 pesos."
    title = "AVISO por el que se da a conocer la cuota anual de amarre para 2024"
    source = MemoryCorpus((publication("9000001", "2024-01-10", title=title), [text]))
    computed = {"operation": "difference", "inputs": ["1,000.00", "1,250.00"], "result": result}
    draft = submit(mb.claim("Subió 250.00 pesos.", text, computed=computed))
    with serving(say(SEARCH), say(READ), say(draft)) as provider:
        answered, trace, _, _ = mb.run(provider.url, source=source)
    assert faults(trace) == []
    assert answered["answer"].endswith("Diferencia calculada de lo citado: 250.00. [1]")


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        (
            "La cuota anual de amarre para 2024 no será de 1,250.00 pesos sino de 1,310.00 pesos.",
            "será de 1,250.00 pesos",
        ),
        ("La cuota anual de amarre para 2024 es de 1,250.00 pesos, salvo en Bruma.", "es de 1,250.00 pesos"),
        ("Queda sin efectos que la cuota anual de amarre para 2024 es de 1,250.00 pesos.", "es de 1,250.00 pesos"),
    ],
)
def test_half_a_sentence_is_shown_whole(sentence: str, part: str) -> None:
    title = "AVISO por el que se da a conocer la cuota anual de amarre para 2024"
    source = MemoryCorpus((publication("9000001", "2024-01-10", title=title), [f"Considerando.\n\n{sentence}"]))
    with serving(say(SEARCH), say(READ), say(submit(mb.claim("Son 1,250.00 pesos.", part)))) as provider:
        result, _, _, _ = mb.run(provider.url, source=source)
    assert result["answer"] is None or sentence.rstrip(".") in result["answer"]


def test_a_value_that_another_authority_denies_is_not_given_alone() -> None:
    """Both were read: a model that cites the one it likes is told of the other, and never closes with it."""
    one = "La cuota anual de amarre para 2024 es de {} pesos por embarcación.".format
    codes = ("9000001", "9000002")
    issuers = ("AUTORIDAD DE AMARRES", "SECRETARÍA DE MUELLES")
    title = "AVISO por el que se da a conocer la cuota anual de amarre para 2024"
    source = MemoryCorpus(
        *(
            (publication(code, "2024-01-10", title=title, issuer=issuer), [one(value)])
            for code, issuer, value in zip(codes, issuers, ("1,250.00", "1,310.00"), strict=True)
        )
    )
    first, second = one("1,250.00"), one("1,310.00")
    both = submit(mb.claim(first, first, 1), mb.claim(second, second, 2))
    read = ("read_chunks", {"chunk_ids": [1, 2], "neighbor_window": 0})
    with serving(say(SEARCH), say(read), say(submit(mb.claim(first, first, 1))), say(both)) as provider:
        result, trace, _, _ = mb.run(provider.url, source=source)
        told = json.dumps(provider.asked[3].body, ensure_ascii=False)
    assert "da otro valor (1310" in told
    assert faults(trace) == ["requirement_missing"]
    assert result["reason"] == "closed_contested"
    assert {p["value"] for p in result["positions"]} == {"1250", "1310"}


def test_on_the_last_turn_the_quotes_stand_in_at_once(tmp_path: Path) -> None:
    with serving(say(SEARCH), say(READ), say(claimed(TWISTED[1]))) as provider:
        result, trace, _, _ = mb.run(provider.url, source=table(), limits=Limits(max_turns=3))
    assert result["terminal_state"] == "answered"
    assert "diaria de amarre" not in result["answer"]
    again, lines = replayed(trace.lines, tmp_path, source=table())
    assert again["answer"] == result["answer"]
    assert [timeless(line) for line in lines] == [timeless(line) for line in trace.lines]


def test_quotes_never_stand_in_for_what_is_missing() -> None:
    """Only words are mended: a draft that lacks a quote is refused however often it comes."""
    bad = submit(mb.claim("La cuota diaria de amarre para 2024 es de 1,250.00 pesos", "La cuota que nadie dijo"))
    with serving(say(SEARCH), say(READ), say(bad)) as provider:
        result, _, _, _ = mb.run(provider.url, source=table())
    assert result["terminal_state"] == "abstained"
    assert result["answer"] is None


# Asking back

ASK = {"publications": ["9000001", "9000002"]}
BOTH = ("search_documents", {**SEARCH[1], "query": "aviso cuota faros amarre"})


def alike() -> MemoryCorpus:
    """Two publications that the question fits alike."""
    text = ["La cuota anual de amarre es de 1,250.00 pesos por embarcación."]
    norte, sur = (f"AVISO por el que se da a conocer la cuota anual de amarre. Muelle {m}" for m in ("Norte", "Sur"))
    return MemoryCorpus(
        (publication("9000001", "2024-01-12", title=norte), text),
        (publication("9000002", "2024-01-12", title=sur), text),
    )


def asking(source: MemoryCorpus | None = None, **arguments: Any) -> dict[str, Any]:
    with serving(say(BOTH), say(("ask_clarification", arguments | ASK)), say(("abstain", {"why": "x"}))) as provider:
        return mb.run(provider.url, source=source or alike())[0]


@pytest.mark.parametrize(
    "about",
    [
        "La cuota es de 9,999.00 pesos.\n\nEso dice el DOF del 1 de enero de 2020 [1].",
        "la cuota anual de amarre, que es de 9 pesos",
        "cuota anual de ama",
        "\u202egnorw",
        "",
        None,
    ],
)
def test_what_is_asked_back_is_worded_here(about: str | None) -> None:
    result = asking(about=about)
    assert (result["terminal_state"], result["reason"]) == ("needs_clarification", "ambiguous")
    assert result["answer"] == "¿A cuál de estas publicaciones se refiere la pregunta?"
    assert len(result["options"]) == 2


def test_words_of_the_question_may_be_named() -> None:
    result = asking(about="cuota anual de amarre")
    assert result["answer"] == "«cuota anual de amarre»: ¿a cuál de estas publicaciones se refiere la pregunta?"


def test_free_words_have_no_place() -> None:
    result = asking(message="La cuota es de 9,999.00 pesos.", about=None)
    assert result["terminal_state"] == "abstained"
    assert "9,999" not in json.dumps(result, ensure_ascii=False)


def test_a_recording_asks_nothing_that_is_an_answer(tmp_path: Path) -> None:
    """A trace is a file, and a file may be changed: what it asks back is held to the question as well."""
    script = (say(BOTH), say(("ask_clarification", {"about": None} | ASK)))
    with serving(*script) as provider:
        lines = mb.run(provider.url, source=alike())[1].lines
    forged = [
        line.replace("¿A cuál de estas".encode(), "Son 9,999.00 pesos. ¿A cuál de estas".encode()) for line in lines
    ]
    assert forged != lines
    again, _ = replayed(forged, tmp_path, source=alike())
    assert again["terminal_state"] != "needs_clarification"
    assert "9,999" not in str(again["answer"])


@pytest.mark.parametrize("other", ["2022-01-13", "2023-01-10"])
def test_what_the_question_tells_is_not_asked_back(other: str) -> None:
    """The year is named: that there are notes of other years is no reason to ask."""
    titles = [f"AVISO de la cuota anual de amarre para {year}" for year in ("2024", other[:4])]
    text = ["La cuota anual de amarre es de 1,250.00 pesos por embarcación."]
    source = MemoryCorpus(
        (publication("9000001", "2024-01-12", title=titles[0]), text),
        (publication("9000002", other, title=titles[1]), text),
    )
    script = (say(BOTH), say(("ask_clarification", {"about": None} | ASK)), say(("abstain", {"why": "x"})))
    with serving(*script) as provider:
        result, trace, _, _ = mb.run(provider.url, source=source)
        told = str(provider.asked[-1].messages)
    assert result["terminal_state"] == "abstained"
    assert [e.outcome for e in trace.events if e.event == "model_called"] == ["ok", "not_ambiguous", "ok"]
    assert "ya dice a cuál se refiere" in told


def test_words_that_fit_one_publication_better_are_no_question() -> None:
    source = MemoryCorpus(
        (
            publication("9000001", "2024-01-12", title="AVISO de la cuota anual de amarre"),
            ["La cuota es de 5 pesos."],
        ),
        (publication("9000002", "2024-01-12", title="AVISO de la cuota de faros"), ["La cuota es de 7 pesos."]),
    )
    assert asking(source, about=None)["terminal_state"] == "abstained"


# Parts

QUESTION = "¿Cuál es la cuota anual de amarre para 2024 y cuál la de la NOM-035-MAR-2018?"


@pytest.mark.parametrize(
    ("part", "sound"),
    [
        ("cuál la de la NOM-035-MAR-2018", True),
        ("cuota anual de amarre para 2024", True),
        ("l es la cuota anual de amarre", False),
        ("cuota anual de amarre para 20", False),
        ("la cuota anual de ama", False),
        ("cuál la de la NOM-035", False),
        ("á cuota anual de amarre", False),
    ],
)
def test_a_part_cuts_no_word(part: str, sound: bool) -> None:
    with serving(say(("split_question", {"parts": [part]})), say(("abstain", {"why": "x"}))) as provider:
        _, trace, _, _ = mb.run(provider.url, question=QUESTION)
    [first] = [e.outcome for e in trace.events if e.event == "model_called"][:1]
    assert first == ("ok" if sound else "not_a_part")


@pytest.mark.parametrize(
    ("text", "at", "whole"),
    [
        ("por 1,250 pesos", 6, False),
        ("por 1,250 pesos", 5, False),
        ("por 1, 250 pesos", 5, True),
        ("y/o", 1, False),
        ("fin. Otro", 3, True),
        ("fin. Otro", 4, True),
        ("an\u0303o", 2, False),
        ("años", 0, True),
        ("años", 4, True),
    ],
)
def test_where_a_word_may_be_parted(text: str, at: int, whole: bool) -> None:
    assert whole_words(text, 0, at) is whole


# The doctor

PINGS: dict[str, tuple[Any, ...]] = {
    "another_name": (("pong", {"value": "ok"}),),
    "another_value": (("ping", {"value": "no"}),),
    "more_arguments": (("ping", {"value": "ok", "x": 1}),),
    "no_arguments": (("ping", {}),),
    "broken_arguments": (("ping", '{"value": "ok"'),),
    "no_object": (("ping", '"ok"'),),
}


@pytest.mark.parametrize("calls", PINGS.values(), ids=PINGS)
def test_the_doctor_takes_the_call_that_was_asked_for(
    calls: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ping: Behaviour = say(("ping", {"value": "ok"}))
    with serving(lambda a: say(*calls)(a) if a.has_tools else ping(a)) as provider:
        done = dof("doctor", "--model", "tiny", "--base-url", provider.url, "--json", "--index", "nowhere")
    checks = {row["check"]: row for row in done.document["checks"]}
    assert [checks[name]["ok"] for name in ("strict_tools", "tools")] == [False, False]
    assert "another function" in checks["tools"]["detail"]
    assert checks["parallel_calls"]["ok"] is not True
    assert done.document["mode"] == "json_schema"


def test_the_doctor_tells_of_a_redirect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    away = lambda a: Answer(308, body={}, headers={"Location": "https://elsewhere.example/v1"})  # noqa: E731
    with serving(away) as provider:
        done = dof("doctor", "--model", "tiny", "--base-url", provider.url, "--json", "--index", "nowhere")
    [row] = [row for row in done.document["checks"] if row["check"] == "reachable"]
    assert row["ok"] is False
    assert "https://elsewhere.example" in row["detail"]
    assert done.document["mode"] is None


# Signs that turn text about

SIGNS = "\u202e\u2066\u200f\u200b\u00ad\u0336\U000e0041"


def test_what_people_read_holds_no_hidden_signs(tmp_path: Path) -> None:
    good = f"La cuota\u2028 anual {SIGNS}de amarre para 2024 es de 1,2{SIGNS}50.00 pesos por embarcación.\r\n\x1b"
    with serving(*HONEST[:2], say(submit(mb.claim(good)))) as provider:
        result = mb.run(provider.url)[0]
    assert result["terminal_state"] == "answered"
    told = [result["answer"], *result["limitations"], *(c["text"] for c in result["claims"])]
    assert not set("".join(told)) & set(SIGNS + "\x1b\u2028\r")
    assert "1,250.00 pesos" in result["answer"]


def test_a_hidden_sign_hides_no_figure() -> None:
    """What is checked is what is read: `1,2\u200b99.00` is read as 1,299.00."""
    bad = "La cuota anual de amarre para 2024 es de 1,250.00 pesos y antes de 1,2\u200b99.00"
    with serving(*HONEST[:2], say(submit(mb.claim(bad)))) as provider:
        result, trace, _, _ = mb.run(provider.url)
    assert result["terminal_state"] == "abstained"
    assert "number_not_quoted" in faults(trace)


def test_quotes_stay_as_they_are_and_turn_nothing_about(capsys: pytest.CaptureFixture[str]) -> None:
    from dofrag.cli.output import clean, print_json

    text = "La cuota \u202eanual\u202c de amarre para 2024 es de 1,250.00 pesos"
    source = MemoryCorpus((publication("9000001", "2024-01-10", title="AVISO \u202ede\u202c amarre"), [text]))
    with serving(say(SEARCH), say(READ), say(submit(mb.claim(shown(text), text)))) as provider:
        result, _, _, _ = mb.run(provider.url, source=source)
    quotes = [c["quote"] for claim in result["claims"] for c in claim["citations"]]
    assert quotes == [text], "data stays verbatim"
    print_json(result)
    printed = capsys.readouterr().out
    assert not set(printed) & set(SIGNS)
    assert json.loads(printed) == json.loads(json.dumps(result))
    assert not set(clean(quotes[0])) & set(SIGNS)


@pytest.mark.parametrize("text", ["Año 2024: 1,250.00 m² – «ñandú» 50 % é", "👩‍👩‍👧 ok", "u̱ otomí"])
def test_legible_text_is_left_alone(text: str) -> None:
    assert shown(text) == text


# The clock


def test_a_run_out_of_time_replays_to_the_byte(tmp_path: Path) -> None:
    with serving(lambda a: Answer(body={}, hang=30)) as provider:
        first, trace, _, _ = mb.run(provider.url, limits=Limits(wall_clock_s=0.3), mode=Mode.TOOLS)
    [trip] = [e for e in trace.events if e.event == "limit_reached"]
    assert (trip.limit, trip.maximum, trip.spent) == ("wall_clock_s", 0.3, 0.3)
    _, lines = replayed(trace.lines, tmp_path)
    assert [timeless(line) for line in lines] == [timeless(line) for line in trace.lines]
    assert first["reason"] == "wall_clock"


def test_what_is_no_reply_is_no_question_back() -> None:
    def tricky(asked: Asked) -> Answer:
        return error(418, "ask_clarification: Son 9,999.00 pesos")(asked)

    with serving(tricky) as provider:
        result, _, _, _ = mb.run(provider.url)
    assert result["answer"] is None
