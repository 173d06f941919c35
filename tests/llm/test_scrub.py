"""The key of an endpoint in whatever it echoes: escaped, at any depth, and values that nothing can be sent with."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.errors import UsageError
from dofrag.llm.openai_http import Endpoint, Transport, check_endpoint

KEY = "sk-planted/key"


def transport() -> Transport:
    return Transport(Endpoint(model="m", base_url="http://127.0.0.1:1/v1", api_key=KEY))


def escaped(key: str, how: list[int]) -> str:
    """The key with some of its characters escaped as JSON may."""
    return "".join(
        c if h == 0 else f"\\u{ord(c):04x}" if h == 1 else f"\\u{ord(c):04X}" for c, h in zip(key, how, strict=True)
    )


@given(st.lists(st.integers(0, 2), min_size=len(KEY), max_size=len(KEY)), st.integers(0, 3))
def test_no_escape_hides_a_key(how: list[int], depth: int) -> None:
    text = f'{{"query": "{escaped(KEY, how)}"}}'
    for _ in range(depth):
        text = json.dumps({"arguments": text})
    value: Any = json.loads(transport().scrub(text))
    for _ in range(depth):
        value = json.loads(value["arguments"])
    assert KEY not in value["query"]


def test_a_slash_may_be_escaped_too() -> None:
    assert "planted" not in transport().scrub(r'{"query": "sk-planted\/key"}')


def test_text_without_the_key_is_left_as_it_is() -> None:
    said = r'{"query": "sk-\u0070lant \\ / \/ y nada más"}'
    assert transport().scrub(said) == said


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999/v1", "http://[::1/v1", "ftp://a/v1", "nada"])
def test_an_address_that_cannot_be_one_is_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError):
        check_endpoint(Endpoint(model="m", base_url=address))
