"""The quick yes on a call's arguments is never more than the validator would give, and is given to ordinary calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dofrag.tools import CORE
from dofrag.tools.fits import fits

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 12), st.just(2**60), st.sampled_from([0.0, 1.0, 1.5, float("nan")]),
    st.sampled_from(["", "a", "ab", "MAT", "mat", "DOF", "2026-01-09", "2026-01-09\n", "x" * 81, "x" * 401, "ñ"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2), st.just((1, 2))
    ),
    max_leaves=5,
)
SCHEMAS = st.recursive(
    st.sampled_from([
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": ["string", "null"], "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        {"type": ["string", "null"], "enum": ["MAT", None]},
        {"type": "integer", "minimum": 0, "maximum": 10},
        {"type": "integer", "enum": [0, 1]},
        {"type": "number", "minimum": 1},
        {"type": "boolean", "description": "x"},
        {"enum": [1, True, "a"]},
        {"type": ["boolean", "integer"], "enum": [True, 0]},
        {"type": "array"},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"type": "string", "format": "date"},
        {"type": "integer", "not": {"const": 1}},
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        {},
    ]),
    lambda inner: st.one_of(
        inner.map(lambda s: {"type": "array", "items": s, "minItems": 1, "maxItems": 2}),
        st.tuples(inner, inner, st.booleans()).map(
            lambda s: {
                "type": "object", "properties": {"a": s[0], "b": s[1]}, "required": ["a", "b"][: 1 + s[2]],
                "additionalProperties": False,
            }
        ),
    ),
    max_leaves=4,
)  # fmt: skip


@given(SCHEMAS, VALUES)
def test_a_yes_is_the_validators_yes(schema: dict[str, Any], value: Any) -> None:
    if fits(value, schema):
        assert Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("spec", CORE, ids=lambda s: s.name)
@settings(max_examples=40)
@given(data=st.data())
def test_a_yes_is_the_validators_yes_for_the_tools(spec: Any, data: st.DataObject) -> None:
    fields = {name: data.draw(st.one_of(_likely(field), VALUES)) for name, field in spec.schema["properties"].items()}
    if data.draw(st.booleans()):
        fields.pop(data.draw(st.sampled_from(sorted(fields))), None)
    if data.draw(st.booleans()):
        fields["more"] = 1
    if fits(fields, spec.schema):
        assert Draft202012Validator(spec.schema).is_valid(fields)


@pytest.mark.parametrize("spec", CORE, ids=lambda s: s.name)
@settings(max_examples=40)
@given(data=st.data())
def test_ordinary_calls_get_it(spec: Any, data: st.DataObject) -> None:
    fields = {name: data.draw(_likely(field)) for name, field in spec.schema["properties"].items()}
    assert fits(fields, spec.schema) is Draft202012Validator(spec.schema).is_valid(fields) is True


def _likely(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the field allows."""
    if "enum" in field:
        return st.sampled_from(field["enum"])
    types = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return st.one_of([_of_type(name, field) for name in types])


def _of_type(name: str, field: dict[str, Any]) -> st.SearchStrategy[Any]:
    match name:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(field["minimum"], field["maximum"])
        case "array":
            return st.lists(_likely(field["items"]), min_size=field["minItems"], max_size=field["maxItems"])
        case _ if "pattern" in field:
            return st.dates().map(str)
        case _:
            return st.text(min_size=field["minLength"], max_size=field["maxLength"])
