"""The JSON Schema of a trace line, made from the event classes. `schema.json` beside this file is its output.

Refresh it with: python -m dofrag.trace.schema
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Iterable, Mapping
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from dofrag.trace.codec import VERSION, field_types, is_open, json_name, misfit, required_names
from dofrag.trace.events import EVENTS, Event

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


def build_schema(*, shapes: bool = True) -> dict[str, Any]:
    """The schema as JSON values: closed objects, every field required, one branch an event. Without `shapes`, what a
    line must be to be read at all: any object stands where an event carries one."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "dofrag.trace/1",
        "title": "One line of a dofrag trace",
        "oneOf": [_event(cls, shapes) for cls in EVENTS],
    }


def misfits(event: Event) -> list[str]:
    """What is not as its shape says in the objects that an event carries."""
    found = []
    for f in dataclasses.fields(event):
        if (shape := f.metadata.get("shape")) is None:
            continue
        value, name = getattr(event, f.name), f"{event.event}.{json_name(f)}"
        many = value if isinstance(value, tuple) else (value,)
        found += [why for one in many if one is not None and (why := misfit(one, _chosen(shape, one), name))]
    return found


def _chosen(shape: Any, value: Mapping[str, Any]) -> Any:
    """Of the two envelopes, the one that `ok` names: a fault is told of that."""
    options = get_args(shape)
    return shape if not options else options[value.get("ok") is False]


def _shaped(to: Any, shape: Any) -> Any:
    """A field's type with the shape in the place of any object."""
    if get_origin(to) is tuple:
        return tuple[shape, ...]
    return shape | None if type(None) in get_args(to) else shape


def _event(cls: Any, shapes: bool) -> dict[str, Any]:
    envelope = {
        "v": {"const": VERSION},
        "seq": {"type": "integer", "minimum": 1},
        "at": {"type": "string", "format": "date-time"},
        "prev": _HASH,
        "sum": _HASH,
        "event": {"const": cls.event},
    }
    types = dict(field_types(cls))
    for f in dataclasses.fields(cls) if shapes else ():
        if "shape" in f.metadata:
            types[json_name(f)] = _shaped(types[json_name(f)], f.metadata["shape"])
    return {"title": cls.event} | _object(envelope | {n: _type(t) for n, t in types.items()})


def _object(properties: dict[str, Any], required: Iterable[str] | None = None, closed: bool = True) -> dict[str, Any]:
    found = {
        "type": "object",
        "properties": properties,
        "required": sorted(properties if required is None else required),
    }
    return found | {"additionalProperties": False} if closed else found


def _type(to: Any) -> dict[str, Any]:
    origin = get_origin(to)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type(option) for option in get_args(to)]}
    if origin is tuple:
        return {"type": "array", "items": _type(get_args(to)[0])}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object"}
    if dataclasses.is_dataclass(to):
        return _object(
            {name: _type(inner) for name, inner in field_types(to).items()},  # type: ignore[arg-type]
            required_names(to),  # type: ignore[arg-type]
            closed=not is_open(to),  # type: ignore[arg-type]
        )
    if isinstance(to, type) and issubclass(to, Enum):
        return {"enum": [member.value for member in to]}
    return _SCALARS[to]


def render_schema() -> str:
    """The text of `schema.json`."""
    return json.dumps(build_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(render_schema(), encoding="utf-8")
