"""Every call goes schema → gate → budget → run, and every refusal is a structured error."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from doubles import MemoryCorpus, publication
from hypothesis import given
from hypothesis import strategies as st

from dofrag.agent.budget import Budget
from dofrag.domain.run import Limits
from dofrag.tools import CORE, ErrorCode, State
from dofrag.tools.contract import ToolContext
from dofrag.tools.dispatch import RESULT_TOKENS, Dispatched, dispatch, open_tools
from dofrag.tools.session import ResearchSession

AS_OF = date(2024, 6, 30)


class Bench:
    """A run's session and budget without a planner."""

    def __init__(self, corpus: MemoryCorpus | None = None, *, limits: Limits | None = None, tools=CORE) -> None:
        self.corpus = corpus or MemoryCorpus(
            (publication("9000001", "2024-01-10", title="AVISO de cuotas de muelle"), ["La cuota es de 10."] * 3),
            (publication("9000002", "2024-02-10", title="DECRETO de puertos"), ["Artículo 1.- De los puertos."]),
            (publication("9000003", "2024-12-24", title="AVISO posterior de cuotas"), ["La cuota es de 99 pesos."]),
            (publication("9000004", "2024-01-10", title="Dictamen de cuotas", scope="dictamen"), ["cuota secreta"]),
        )
        self.session = ResearchSession()
        self.budget = Budget(limits or Limits(), lambda: 0.0)
        self.tools = tools
        self.calls = 0

    def call(self, name: str, arguments: object, *, state: State | None = None) -> Dispatched:
        self.calls += 1
        done = dispatch(
            name,
            arguments,
            call_id=f"c{self.calls}",
            tools=self.tools,
            state=state or self.session.state,
            context=ToolContext(
                reader=self.corpus,
                backend=self.corpus,
                session=self.session,
                as_of=AS_OF,
                scopes=frozenset(),
                read_tokens_left=self.budget.limits.max_read_tokens - self.session.read_tokens,
                canonical_issuer=str,
            ),
            budget=self.budget,
            versions={},
        )
        if done.outcome is not None:
            self.session.observe(name, done.arguments, done.outcome)
        return done


def documents(query: str = "cuota", **changes: Any) -> dict[str, Any]:
    base = {
        "query": query,
        "date_from": None,
        "date_to": None,
        "issuer": None,
        "edition": None,
        "kind": None,
        "prefer_recent": False,
    }
    return base | changes


def evidence(query: str = "cuota", **changes: Any) -> dict[str, Any]:
    return {
        "query": query,
        "publications": None,
        "date_from": None,
        "date_to": None,
        "prefer_recent": False,
    } | changes


def code_of(done: Dispatched) -> str:
    assert done.envelope["ok"] is False
    assert set(done.envelope["error"]) == {"code", "message", "path", "allowed", "hint"}
    return done.envelope["error"]["code"]


def test_every_schema_is_closed_and_every_property_required() -> None:
    for tool in CORE:
        assert tool.schema["additionalProperties"] is False
        assert tool.schema["required"] == list(tool.schema["properties"])
        assert tool.read_only


def test_discovery_first_then_evidence_then_reading() -> None:
    assert [t.name for t in open_tools(CORE, State.DISCOVER_DOCUMENTS)] == ["list_publications", "search_documents"]
    bench = Bench()
    assert code_of(bench.call("read_chunks", {"chunk_ids": [1], "neighbor_window": 0})) == "tool_not_in_state"
    assert code_of(bench.call("search_evidence", evidence())) == "tool_not_in_state"
    assert bench.call("search_documents", documents()).envelope["ok"]
    assert bench.session.state is State.READ  # pointers count as seen: a clear case needs two calls
    assert bench.call("read_chunks", {"chunk_ids": [1], "neighbor_window": 0}).envelope["ok"]
    assert bench.session.state is State.RESPOND
    assert len(open_tools(CORE, bench.session.state)) == 5  # reading enough never takes the tools away


def test_what_is_later_or_restricted_does_not_exist() -> None:
    bench = Bench()
    found = bench.call("search_documents", documents("cuota cuotas")).envelope
    assert list(found["sources"]) == ["9000001"]
    assert found["total"] == 1
    everything = dict.fromkeys(("date_from", "date_to", "issuer", "edition", "kind")) | {"offset": 0}
    listing = bench.call("list_publications", everything)
    assert [r["publication"] for r in listing.envelope["results"]] == ["9000001", "9000002"]
    assert "dictamen" not in json.dumps(found) + json.dumps(listing.envelope)
    for hidden in ("9000003", "9000004", "no-such"):
        refused = bench.call("browse_document", {"publication": hidden, "provision": None, "offset": 0})
        assert code_of(refused) == "undiscovered_document"
    for hidden in (5, 6, 999):
        assert code_of(bench.call("read_chunks", {"chunk_ids": [hidden], "neighbor_window": 0})) == "unseen_chunk"


@pytest.mark.parametrize("name", ["date_from", "date_to"])
def test_asking_beyond_the_cutoff_names_the_cutoff(name: str) -> None:
    done = Bench().call("search_documents", documents(**{name: "2024-07-01"}))
    assert code_of(done) == "date_after_cutoff"
    assert "2024-06-30" in done.envelope["error"]["message"]


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    done = Bench().call("search_documents", documents(date_from="2024-03-01", date_to="2024-02-01"))
    assert code_of(done) == "schema_violation"
    assert code_of(Bench().call("search_documents", documents(date_from="2024-02-31"))) == "schema_violation"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("no_such_tool", {}, ErrorCode.UNKNOWN_TOOL),
        ("search_documents", "{not json", ErrorCode.INVALID_JSON),
        ("search_documents", "[" * 100_000, ErrorCode.INVALID_JSON),
        ("search_documents", "[]", ErrorCode.SCHEMA_VIOLATION),
        ("search_documents", {"query": "x"}, ErrorCode.SCHEMA_VIOLATION),
        ("search_documents", documents(scope="dictamen"), ErrorCode.SCHEMA_VIOLATION),
        ("search_documents", documents(""), ErrorCode.SCHEMA_VIOLATION),
        ("search_documents", documents(kind="INDICE"), ErrorCode.SCHEMA_VIOLATION),
        ("list_publications", {"offset": -1}, ErrorCode.SCHEMA_VIOLATION),
    ],
)
def test_bad_calls_get_their_code(name: str, arguments: object, code: ErrorCode) -> None:
    assert code_of(Bench().call(name, arguments)) == code


def test_literals_sent_as_text_are_understood_in_nullable_fields_only() -> None:
    done = Bench().call("search_documents", documents("null", date_from="null", kind="NULL", prefer_recent="true"))
    assert done.envelope["ok"]
    assert done.arguments["query"] == "null"
    assert done.arguments["date_from"] is None
    assert done.arguments["prefer_recent"] is True


def test_codes_are_trimmed_and_upper_cased() -> None:
    done = Bench().call("search_documents", documents(edition=" mat ", kind="dof"))
    assert (done.arguments["edition"], done.arguments["kind"]) == ("MAT", "DOF")
    assert code_of(Bench().call("search_documents", documents(edition="matutina"))) == "schema_violation"


def test_a_page_past_the_end_is_empty_and_not_truncated() -> None:
    bench = Bench()
    bench.call("search_documents", documents())
    done = bench.call("browse_document", {"publication": "9000001", "provision": None, "offset": 99})
    assert (done.envelope["returned"], done.envelope["truncated"]) == (0, False)
    first = bench.call("browse_document", {"publication": "9000001", "provision": None, "offset": 2})
    assert (first.envelope["returned"], first.envelope["truncated"]) == (1, False)


def test_the_outline_of_one_provision() -> None:
    corpus = MemoryCorpus(
        (publication("9000001", "2024-01-10", title="REGLAS de cuotas"), ["Uno.", "Dos.", "Tres.", "Cuatro."]),
        (publication("9000002", "2024-01-11", title="REGLAS de cuotas de sal"), ["Uno."]),
        provisions={"9000001": ["art:1", "art:2", "art:2/frac:III", "trans:1"], "9000002": ["art:2"]},
    )
    bench = Bench(corpus, limits=Limits(max_tool_calls=20))
    bench.call("search_documents", documents(query="cuotas"))

    def outline(provision: str, offset: int = 0) -> Dispatched:
        return bench.call("browse_document", {"publication": "9000001", "provision": provision, "offset": offset})

    whole = outline("artículo 2").envelope
    assert ([r["provision"] for r in whole["results"]], whole["total"]) == (["art:2", "art:2/frac:III"], 2)
    assert [r["provision"] for r in outline("Artículo 2, fracción III").envelope["results"]] == ["art:2/frac:III"]
    # Where no chunk begins with it, the provision around it is shown.
    assert outline("fracción V del artículo 2").envelope["results"] == whole["results"]
    assert [r["first_words"] for r in outline("primero transitorio").envelope["results"]] == ["Cuatro."]
    assert outline("artículo 2", 1).envelope["results"] == whole["results"][1:]
    assert (outline("artículo 77").envelope["total"], outline("artículo 77").envelope["insufficient"]) == (0, True)
    assert code_of(outline("las cuotas")) == "schema_violation"
    assert outline("las cuotas").envelope["error"]["path"] == "provision"


def test_a_tool_that_writes_is_refused() -> None:
    writer = replace(CORE[0], read_only=False)
    assert code_of(Bench(tools=(writer,)).call("list_publications", {})) == "approval_required"


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (Limits(max_tool_calls=1), "max_tool_calls"),
        (Limits(max_cost_units=4), "max_cost_units"),
        (Limits(max_latency_ms=500), "max_latency_ms"),
    ],
)
def test_a_call_over_a_limit_is_never_issued_and_changes_no_counter(limits: Limits, limit: str) -> None:
    bench = Bench(limits=limits)
    assert bench.call("search_documents", documents()).envelope["ok"]
    before = bench.budget.spend(0)
    done = bench.call("search_documents", documents("puertos"))
    assert code_of(done) == "budget_exhausted"
    assert done.limit == limit
    assert bench.budget.spend(0) == before
    assert "9000002" not in bench.session.publications


def test_reading_over_the_read_limit_reads_nothing() -> None:
    bench = Bench(limits=Limits(max_read_tokens=9))
    bench.call("search_documents", documents())
    done = bench.call("read_chunks", {"chunk_ids": [1, 2], "neighbor_window": 0})
    assert code_of(done) == "budget_exhausted"
    assert done.limit == "max_read_tokens"
    assert not bench.session.passages
    assert bench.call("read_chunks", {"chunk_ids": [1], "neighbor_window": 0}).envelope["ok"]


def test_a_search_result_stays_lean_and_what_is_cut_is_not_seen() -> None:
    long_title = "AVISO " + "de cuotas extraordinarias de muelle " * 20
    entries = [
        (publication(f"90001{i:02}", title=f"{long_title} {i}"), ["cuota " + "palabra larguísima " * 80] * 2)
        for i in range(30)
    ]
    bench = Bench(MemoryCorpus(*entries))
    envelope = bench.call("search_documents", documents()).envelope
    lean = json.dumps([envelope["results"], list(envelope["sources"].values())], ensure_ascii=False)
    assert len(lean) / 4 <= RESULT_TOKENS + 1
    assert envelope["truncated"]
    assert set(bench.session.publications) == set(envelope["sources"])


def test_recency_orders_near_ties_and_drops_nothing() -> None:
    corpus = MemoryCorpus(
        (publication("9000010", "2020-01-01", title="cuota muelle anual"), ["cuota muelle anual"]),
        (publication("9000011", "2024-01-01"), ["cuota"]),
        (publication("9000012", "2022-01-01"), ["cuota"]),
        (publication("9000013", "2023-01-01"), ["cuota"]),
    )
    found = Bench(corpus).call("search_documents", documents("cuota muelle anual", prefer_recent=True)).envelope
    assert [r["publication"] for r in found["results"]] == ["9000010", "9000011", "9000013", "9000012"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(name=st.sampled_from([t.name for t in CORE]) | st.text(), arguments=st.text() | json_values)
def test_no_arguments_raise(name: str, arguments: object) -> None:
    bench = Bench()
    bench.call("search_documents", documents())
    done = bench.call(name, arguments)
    assert done.envelope["ok"] or done.envelope["error"]["code"] in set(ErrorCode)


FIELDS = ["query", "date_from", "date_to", "issuer", "prefer_recent", "publications"]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_no_half_right_arguments_raise(changes: dict[str, Any]) -> None:
    bench = Bench()
    bench.call("search_documents", documents())
    bench.call("search_documents", documents() | {k: v for k, v in changes.items() if k != "publications"})
    bench.call("search_evidence", evidence() | {k: v for k, v in changes.items() if k != "issuer"})
