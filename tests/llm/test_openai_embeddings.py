"""Embeddings from an endpoint, over real sockets: order, checks, retries, halving, time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_embedder import Answer, fine, served, vector

from dofrag.errors import CreditExhausted, ModelUnavailable, UsageError
from dofrag.llm.faults import ProviderFault
from dofrag.llm.openai_embeddings import OpenAIEmbeddings
from dofrag.llm.openai_http import Endpoint
from dofrag.search.vectors.interface import Role, passage_text, prefixes_of

KEY = "sk-very-secret-0123456789"


class Asked:
    def __init__(self, answer: Answer = fine, model: str = "toy", **options: Any) -> None:
        self._served = served(answer)
        self._model = model
        self._options = options
        self.waits: list[float] = []

    def __enter__(self) -> Asked:
        self.server = self._served.__enter__()
        self.embedder = OpenAIEmbeddings(
            Endpoint(model=self._model, base_url=self.server.url, api_key=KEY),
            sleep=self.waits.append, jitter=lambda: 0.0, **self._options,
        )  # fmt: skip
        return self

    def __exit__(self, *error: Any) -> None:
        self.embedder.close()
        self._served.__exit__(*error)

    @property
    def inputs(self) -> list[list[str]]:
        return [body["input"] for body in self.server.bodies]


def test_vectors_come_in_the_order_of_the_texts() -> None:
    with Asked() as asked:
        found = asked.embedder.embed(["uno", "dos", "tres"], Role.PASSAGE)
        assert [list(v) for v in found] == [vector(t, 48) for t in ("uno", "dos", "tres")]
        assert asked.server.bodies[0]["encoding_format"] == "float"
        assert asked.embedder.card.dimension == 48
        assert len(asked.server.bodies) == 1  # the dimension is known by now


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ("multilingual-e5-small", {}, ["query: a", "passage: a"]),
        ("intfloat/multilingual-e5-large-instruct", {}, [None, "a"]),
        ("text-embedding-3-small", {}, ["a", "a"]),
        ("BAAI/bge-m3", {}, ["a", "a"]),
        ("nomic-embed-text-v1.5", {}, ["search_query: a", "search_document: a"]),
        ("my-e5", {"query_prefix": "", "passage_prefix": "p "}, ["a", "p a"]),
        ("e5-{role}", {}, ["a", "a"]),
    ],
)
def test_prefixes_of_the_models_card(model: str, options: dict[str, str], expected: list[str | None]) -> None:
    with Asked(model=model, **options) as asked:
        asked.embedder.embed(["a"], Role.QUERY)
        asked.embedder.embed(["a"], Role.PASSAGE)
        for got, want in zip(asked.inputs, expected, strict=True):
            assert got == [want] or (want is None and got[0].startswith("Instruct: ") and got[0].endswith("Query: a"))
        names = [body["model"] for body in asked.server.bodies]
        assert names == (["e5-query", "e5-passage"] if "{" in model else [model, model])


def faults_then_fine(*faults: tuple[int, Any]) -> Answer:
    return lambda body, n: faults[n - 1] if n <= len(faults) else fine(body, n)


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"error": {"message": "slow down"}}),
        (500, {"error": {"message": "oh"}}),
        (503, b"busy"),
        (200, b"not json"),
        (200, {"data": []}),
        (200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
    ],
)
def test_what_may_help_is_sent_again(fault: tuple[int, Any]) -> None:
    with Asked(faults_then_fine(fault, fault)) as asked:
        assert len(asked.embedder.embed(["uno", "dos"], Role.PASSAGE)) == 2
        assert len(asked.waits) == 2
        assert asked.inputs == [["uno", "dos"]] * 3


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        ((401, {"error": {"message": f"bad key {KEY}"}}), ModelUnavailable, 1),
        ((404, {"error": {"message": "model toy not found"}}), ModelUnavailable, 1),
        ((429, {"error": {"code": "insufficient_quota", "message": "pay"}}), CreditExhausted, 1),
        ((400, {"error": {"message": "no"}}), ModelUnavailable, 1),
        ((500, {"error": {"message": "always"}}), ModelUnavailable, 5),
        ((200, {"data": "x"}), ModelUnavailable, 5),
    ],
)
def test_what_never_helps_ends_with_a_way_out(answer: tuple[int, Any], kind: type[Exception], requests: int) -> None:
    with Asked(lambda body, n: answer) as asked:
        with pytest.raises(kind) as caught:
            asked.embedder.embed(["uno"], Role.QUERY)
        assert KEY not in str(caught.value)
        assert "toy" in str(caught.value)
        assert len(asked.server.bodies) == requests


def test_an_endpoint_that_is_not_there() -> None:
    with served() as server:
        url = server.url
    gone = OpenAIEmbeddings(Endpoint(model="toy", base_url=url), sleep=lambda _: None)
    with pytest.raises(ModelUnavailable, match="connection failed") as caught:
        gone.embed(["uno"], Role.QUERY)
    assert "--embedder" in (caught.value.hint or "")


def test_time_runs_out() -> None:
    ticks: Iterator[float] = iter(range(0, 10_000, 4))
    with Asked(lambda body, n: (500, {}), patience_s=9.0, clock=lambda: next(ticks)) as asked:
        with pytest.raises(ModelUnavailable):
            asked.embedder.embed(["uno"], Role.QUERY)
        assert len(asked.server.bodies) == 1


def test_a_batch_that_is_too_long_is_halved() -> None:
    def small(body: dict[str, Any], n: int) -> tuple[int, Any]:
        if sum(len(t) for t in body["input"]) > 1_000:
            return 400, {"error": {"message": "maximum context length is 1000"}}
        return fine(body, n)

    with Asked(small) as asked:
        texts = [f"{n} " + "x" * 300 for n in range(9)]
        assert [list(v) for v in asked.embedder.embed(texts, Role.PASSAGE)] == [vector(t, 48) for t in texts]
        assert len(asked.embedder.embed(["y" * 5_000], Role.PASSAGE)) == 1  # its beginning stands for it
        assert asked.inputs[-1] == ["y" * 625]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["data", "index", "embedding", "x"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(reply=JSON | st.fixed_dictionaries({"data": st.lists(
    st.fixed_dictionaries({"embedding": JSON | st.lists(st.floats() | st.integers() | st.booleans(), max_size=3)},
                          optional={"index": JSON}), max_size=3)}))  # fmt: skip
def test_any_reply_is_vectors_or_a_fault(reply: Any) -> None:
    embedder = OpenAIEmbeddings(Endpoint(model="toy", base_url="http://127.0.0.1:1/v1"))
    try:
        found = embedder._checked(reply, 2)
    except ProviderFault:
        return
    assert len(found) == 2
    assert len({len(v) for v in found}) == 1
    assert all(type(x) is float and abs(x) < 1e18 for v in found for x in v)


def test_another_dimension_than_before_is_a_fault() -> None:
    def growing(body: dict[str, Any], n: int) -> tuple[int, Any]:
        return 200, {"data": [{"embedding": vector(t, 8 * min(n, 2))} for t in body["input"]]}

    with Asked(growing) as asked:
        asked.embedder.embed(["uno"], Role.QUERY)
        with pytest.raises(ModelUnavailable, match="16 numbers, others had 8"):
            asked.embedder.embed(["dos"], Role.QUERY)


def test_addresses_are_checked_before_anything_is_sent() -> None:
    with pytest.raises(UsageError):
        OpenAIEmbeddings(Endpoint(model="toy", base_url="ftp://x"))


def test_what_stands_for_a_passage() -> None:
    assert passage_text("Título", ["I", "A"], " texto ") == "Título\nI > A\ntexto"
    assert passage_text("", [], "texto") == "texto"
    assert len(passage_text("t" * 900, ["h"], "x" * 90_000)) == 6_000
    assert prefixes_of("algo/desconocido") == ("", "")
