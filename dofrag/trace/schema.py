"""The JSON Schema of a trace line, made from the event classes. `schema.json` beside this file is its output.

Refresh it with: python -m dofrag.trace.schema
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from dofrag.trace.codec import VERSION, field_types
from dofrag.trace.events import EVENTS

SCHEMA_FILE = Path(__file__).with_name("schema.json")
_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_SCALARS: dict[Any, dict[str, Any]] = {
    Any: {},
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    date: {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
}


def build_schema() -> dict[str, Any]:
    """The schema as JSON values: closed objects, every field required, one branch an event."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "dofrag.trace/1",
        "title": "One line of a dofrag trace",
        "oneOf": [_event(cls) for cls in EVENTS],
    }


def _event(cls: Any) -> dict[str, Any]:
    envelope = {
        "v": {"const": VERSION},
        "seq": {"type": "integer", "minimum": 1},
        "at": {"type": "string", "format": "date-time"},
        "prev": _HASH,
        "sum": _HASH,
        "event": {"const": cls.event},
    }
    return {"title": cls.event} | _object(envelope | {n: _type(t) for n, t in field_types(cls).items()})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _type(to: Any) -> dict[str, Any]:
    origin = get_origin(to)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type(option) for option in get_args(to)]}
    if origin is tuple:
        return {"type": "array", "items": _type(get_args(to)[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object"}
    if dataclasses.is_dataclass(to):
        return _object({name: _type(inner) for name, inner in field_types(to).items()})  # type: ignore[arg-type]
    if isinstance(to, type) and issubclass(to, Enum):
        return {"enum": [member.value for member in to]}
    return _SCALARS[to]


def render_schema() -> str:
    """The text of `schema.json`."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(render_schema(), encoding="utf-8")
