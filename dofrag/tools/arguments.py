"""The arguments of a call, held to its schema. What a provider promised about them counts for nothing here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dofrag.tools.contract import ErrorCode, ToolInputError
from dofrag.tools.fits import fits

_LITERALS: dict[str, object] = {"null": None, "true": True, "false": False}


def checked_arguments(name: str, schema: Mapping[str, Any], arguments: object) -> Mapping[str, Any]:
    """The arguments as the closed schema of `name` wants them: a mapping, or JSON text that holds one.

    Raises ToolInputError (`invalid_json`, `schema_violation`) that says where the fault is.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise ToolInputError(
                ErrorCode.INVALID_JSON, f"the arguments are not JSON: {error}", hint="send one JSON object"
            ) from None
    if not isinstance(arguments, Mapping):
        raise ToolInputError(ErrorCode.SCHEMA_VIOLATION, "the arguments are not an object")
    parsed: Mapping[str, Any] = _understood(arguments, schema)
    if fits(parsed, schema):
        return parsed
    # Imported here: jsonschema takes a tenth of a second, which only a call that does not plainly fit need pay.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    problem = best_match(Draft202012Validator(schema).iter_errors(parsed))
    if problem is not None:
        where = ".".join(str(p) for p in problem.absolute_path)
        raise ToolInputError(
            ErrorCode.SCHEMA_VIOLATION,
            f"{where or 'arguments'}: {problem.message[:300]}",
            path=where,
            allowed=tuple(schema["properties"]),
            hint=f"see the schema of {name}",
        )
    return parsed


def _understood(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with literals that came as text, at any depth that the schema describes."""
    if "anyOf" in schema:
        return _one_of(value, schema["anyOf"])
    if isinstance(value, str):
        return _literal(value, schema)
    if isinstance(value, Mapping):
        fields = schema.get("properties", {})
        return {key: _understood(item, fields[key]) if key in fields else item for key, item in value.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_understood(item, schema["items"]) for item in value]
    return value


def _one_of(value: Any, branches: Sequence[Mapping[str, Any]]) -> Any:
    """The value as the branch of its kind understands it; "null" as null where a branch is null and none is text."""
    types = [branch.get("type") for branch in branches]
    if isinstance(value, str):
        return None if value.lower() == "null" and "null" in types and "string" not in types else value
    kind = "object" if isinstance(value, Mapping) else "array" if isinstance(value, list) else ""
    return _understood(value, branches[types.index(kind)]) if kind in types else value


def _literal(value: str, field: Mapping[str, Any]) -> object:
    """A model may serialise null/true/false as text. Understood where the schema allows the literal and the text
    itself is not a legal value of the field's own; codes are trimmed and upper-cased (`mat`); other strings are left
    alone."""
    if value.strip().upper() in field.get("enum", ()):
        return value.strip().upper()
    if value.lower() not in _LITERALS:
        return value
    types = field.get("type", [])
    types = [types] if isinstance(types, str) else types
    literal = _LITERALS[value.lower()]
    if literal is None:
        return None if "null" in types else value
    return literal if "boolean" in types else value
