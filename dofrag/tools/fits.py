"""Whether a value plainly fits a schema, without the validator, whose import would be a fifth of a short run.

Only a yes is an answer. Whatever is not plain, a fault or a keyword that is not known here, is left to jsonschema: it
alone refuses, and a test holds every yes against it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_KEYWORDS = frozenset({
    "type", "description", "title", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "items", "minItems", "maxItems", "properties", "required", "additionalProperties",
})  # fmt: skip
"""What is understood of a schema; each says something of values of its own type only."""

_NAMES: dict[type, str] = {
    type(None): "null", bool: "boolean", int: "integer", str: "string", list: "array", dict: "object",
}  # fmt: skip


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """True where the value certainly fits; False where it does not, or where that takes the validator to tell."""
    kind = type(value)
    types = schema.get("type")
    if kind not in _NAMES or _NAMES[kind] not in (types if isinstance(types, list) else [types]):
        return False
    if not schema.keys() <= _KEYWORDS:
        return False
    if "enum" in schema and kind in (list, dict):
        return False
    if "enum" in schema and not any(type(known) is kind and known == value for known in schema["enum"]):
        return False
    if kind is int:
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if kind is str:
        return _length(value, schema, "Length") and re.search(schema.get("pattern", ""), value) is not None
    if kind is list:
        # Without `items` anything goes, which is no plain case.
        return _length(value, schema, "Items") and "items" in schema and all(fits(v, schema["items"]) for v in value)
    return _object(value, schema) if kind is dict else True


def _length(value: str | list[Any], schema: Mapping[str, Any], unit: str) -> bool:
    size = len(value)
    return bool(schema.get(f"min{unit}", size) <= size <= schema.get(f"max{unit}", size))


def _object(value: dict[Any, Any], schema: Mapping[str, Any]) -> bool:
    """A closed object, and no other."""
    fields = schema.get("properties", {})
    if schema.get("additionalProperties") is not False or not value.keys() >= set(schema.get("required", ())):
        return False
    return all(key in fields and fits(item, fields[key]) for key, item in value.items())
