"""Ways of making a model name its next action: their order, and the schemas that each sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.llm.interface import Function, Mode

ORDER = (Mode.STRICT_TOOLS, Mode.TOOLS, Mode.JSON_SCHEMA, Mode.JSON_TEXT)

# Keywords that some strict implementations refuse. What they say is checked here all the same, call by call.
_BOUNDS = frozenset(
    {"minLength", "maxLength", "pattern", "minItems", "maxItems", "minimum", "maximum", "format", "uniqueItems"}
)


def lower(mode: Mode) -> Mode | None:
    """The next mode, which asks less of the provider; None below the last."""
    at = ORDER.index(mode) + 1
    return ORDER[at] if at < len(ORDER) else None


def provider_schema(schema: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    """A function's schema as it is sent: whole, or in strict mode without the keywords that are not understood
    everywhere."""
    return _without_bounds(schema) if strict else dict(schema)


def _without_bounds(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            # Properties are named freely: one may be called "pattern".
            key: {name: _without_bounds(sub) for name, sub in inner.items()}
            if key == "properties"
            else _without_bounds(inner)
            for key, inner in value.items()
            if key not in _BOUNDS
        }
    return [_without_bounds(item) for item in value] if isinstance(value, list) else value


def action_schema(functions: Sequence[Function]) -> dict[str, Any]:
    """The schema of one JSON action: `{"action": NAME, "arguments": {…}}`, closed, one branch a function. The root is
    an object, since some implementations take no other."""
    branches = [
        {
            "type": "object",
            "properties": {"action": {"const": f.name, "type": "string"}, "arguments": dict(f.schema)},
            "required": ["action", "arguments"],
            "additionalProperties": False,
        }
        for f in functions
    ]
    return {
        "type": "object",
        "properties": {"next": {"anyOf": branches}},
        "required": ["next"],
        "additionalProperties": False,
    }
