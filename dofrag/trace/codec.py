"""Events to lines and back.

A line is canonical JSON: keys sorted, no spaces, UTF-8, one line end. The same event, clock and predecessor give the
same bytes. Whatever an event carries can be written: values that JSON has no form for, or that have no bound (a
planner's arguments are untrusted), are replaced by a bounded one, never refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import types
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from dofrag.domain.records import dataclass
from dofrag.errors import TraceError
from dofrag.trace.events import EVENTS, Event
from dofrag.trace.redact import REDACTED, names_secret, redact

T = TypeVar("T")
VERSION = 1
GENESIS = "0" * 64
"""`prev` of the first line."""
ENVELOPE = ("v", "seq", "at", "prev", "sum", "event")
"""What every line has beside the fields of its event."""

STRING_MAX = 50_000
STRING_KEPT = STRING_MAX - 60
"""Characters that are left of a string that is cut, fewer where something was redacted."""
CUT = re.compile(r"… \[(\d{1,12}) more characters\]\Z")
"""How a string that was cut ends."""
CUT_MARGIN = 5_000
"""Characters beyond those that are kept of a long text: more than a secret is read on for."""
DEPTH_MAX = 24
_READ_DEPTH = 32
"""Levels that a line may nest when it is read: what `jsonable` writes, and the event around it."""
_INTEGER_MAX = 2**63
_BY_NAME: dict[str, type[Event]] = {cls.event: cls for cls in EVENTS}
# Signs that end a line or drive a terminal, and that JSON allows unescaped inside a string.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")
_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


@dataclass(frozen=True, slots=True)
class Record:
    """One decoded line. `digest` is the SHA-256 of the line's bytes without its line end, in hex."""

    v: int
    seq: int
    at: datetime
    prev: str
    event: Event
    digest: str


def jsonable(value: Any, depth: int = 0) -> Any:
    """Any value of the domain as JSON values: dataclasses and mappings to objects, enums to their values, dates to
    ISO, sets sorted, strings redacted and bounded."""
    if depth > DEPTH_MAX:
        return "[too deep]"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return jsonable(value.value, depth)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return value if -_INTEGER_MAX <= value < _INTEGER_MAX else "[integer out of range]"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date):
        return _instant(value) if isinstance(value, datetime) else value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {json_name(f): jsonable(getattr(value, f.name), depth + 1) for f in dataclasses.fields(value)}
    return _container(value, depth)


def _container(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {
            _string(str(key)): REDACTED if item and names_secret(str(key)) else jsonable(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, Set):
        return sorted((jsonable(item, depth + 1) for item in value), key=_dump)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [jsonable(item, depth + 1) for item in value]
    return f"[{type(value).__name__}]"


def _string(text: str) -> str:
    # A lone surrogate has no UTF-8 form.
    if len(text) <= STRING_MAX:
        clean = redact(text).encode("utf-8", "replace").decode("utf-8")
        if len(clean) <= STRING_MAX:
            return clean
    # Nothing is done with what is not kept, but for a margin: a secret that the cut goes through is seen whole.
    head = redact(text[: STRING_MAX + CUT_MARGIN]).encode("utf-8", "replace").decode("utf-8")
    kept = min(STRING_KEPT, max(0, len(head) - CUT_MARGIN))
    return head[:kept] + f"… [{max(0, len(text) - kept)} more characters]"


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ValueError("a trace's clock must know its time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_name(f: dataclasses.Field[Any]) -> str:
    """The name that a field has in JSON."""
    name: str = f.metadata.get("json", f.name)
    return name


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES) if _UNSAFE.search(text) else text


def encode(event: Event, *, seq: int, at: datetime, prev: str) -> bytes:
    """One line, without its line end. `at` must carry a time zone; it is written in UTC with milliseconds."""
    envelope = {"v": VERSION, "seq": seq, "at": _instant(at), "prev": prev, "event": event.event}
    body = jsonable(event) | envelope
    return _dump(body | {"sum": _sum(body)}).encode("utf-8")


def intact(line: bytes) -> bool:
    """Whether a line that `decode` accepts is canonical and its `sum` is that of the rest of it. The chain cannot
    tell this of the last line, which has no successor."""
    body = json.loads(line)
    found = body.pop("sum", None)
    return bool(found == _sum(body)) and _dump(body | {"sum": found}).encode("utf-8") == line


def _sum(body: Any) -> str:
    return digest(_dump(body).encode("utf-8"))


def digest(line: bytes) -> str:
    """SHA-256 in hex of a line without its line end."""
    return hashlib.sha256(line).hexdigest()


def decode(line: bytes) -> Record:
    """A line (without its line end) as written by `encode`. Raises TraceError that names what is wrong with it."""
    raw = _parsed(line)
    if not isinstance(raw, dict):
        raise TraceError("not a JSON object")
    name = raw.get("event")
    cls = _BY_NAME.get(name) if isinstance(name, str) else None
    if cls is None:
        raise TraceError(f"unknown event {str(name)[:40]!r}")
    envelope = {key: raw.pop(key, None) for key in ENVELOPE}
    if type(envelope["v"]) is not int or envelope["v"] != VERSION:
        raise TraceError(f"format version {envelope['v']!r}: this program reads {VERSION}")
    try:
        at = _parse_instant(envelope["at"])
        seq = _convert(envelope["seq"], int, "seq")
        prev = _convert(envelope["prev"], str, "prev")
        _convert(envelope["sum"], str, "sum")
        return Record(VERSION, seq, at, prev, _convert(raw, cls, cls.event), digest(line))
    except _Misfit as error:
        raise TraceError(str(error)) from error


def _parsed(line: bytes) -> Any:
    """The JSON value of a line, whatever bytes it holds. Raises TraceError for what `encode` can never have written:
    it could not be written again, shown, or looked up."""
    try:
        raw = json.loads(
            line.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded_int
        )
    except (ValueError, RecursionError) as error:
        raise TraceError(f"not JSON: {error}") from error
    if line.count(b"[") + line.count(b"{") > _READ_DEPTH and _too_deep(raw):
        raise TraceError(f"nested deeper than {_READ_DEPTH} levels")
    if _HALF_PAIR.search(line):
        try:
            json.dumps(raw, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise TraceError("half a surrogate pair, which is no text") from None
    return raw


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_READ_DEPTH):
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


def restore(value: Any, to: type[T]) -> T:
    """A dataclass of the domain from what `jsonable` made of it. Raises TraceError for values that do not fit."""
    try:
        restored: T = _convert(value, to, to.__name__)
        return restored
    except _Misfit as error:
        raise TraceError(str(error)) from error


class _Misfit(ValueError):
    """A value that is not of its field's type."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is out of range")
    return value


def _bounded_int(text: str) -> int:
    value = int(text) if len(text) <= 20 else _INTEGER_MAX
    if not -_INTEGER_MAX <= value < _INTEGER_MAX:
        raise ValueError(f"{text[:40]} is out of range")
    return value


def _parse_instant(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise _Misfit("at: no time zone")
        return moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, _Misfit):
            raise
        raise _Misfit(f"at: {str(value)[:40]!r} is not an instant") from error


@cache
def field_types(cls: type) -> dict[str, Any]:
    """JSON name → type, of a dataclass's fields."""
    hints = get_type_hints(cls)
    return {json_name(f): hints[f.name] for f in dataclasses.fields(cls)}


@cache
def required_names(cls: type) -> frozenset[str]:
    """JSON names of the fields that have no default."""
    return frozenset(json_name(f) for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING)


@cache
def _origin(to: Any) -> Any:
    return get_origin(to)


def is_open(cls: type) -> bool:
    """Whether objects of this class may have other fields besides."""
    return bool(getattr(cls, "open", False))


def misfit(value: Any, to: Any, where: str) -> str | None:
    """Why a JSON value is not of a type; None where it is."""
    try:
        _convert(value, to, where)
    except _Misfit as error:
        return str(error)
    return None


def _convert(value: Any, to: Any, where: str) -> Any:
    """A JSON value as the type of its field; raises _Misfit."""
    if to is Any or to is type(value):
        return value
    origin = _origin(to)
    if origin in (Union, types.UnionType):
        return _convert_union(value, get_args(to), where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _Misfit(f"{where}: not a list")
        return tuple(_convert(item, get_args(to)[0], f"{where}[{n}]") for n, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _Misfit(f"{where}: not an object")
        return value
    if dataclasses.is_dataclass(to):
        return _convert_object(value, to, where)
    if to is date or (isinstance(to, type) and issubclass(to, Enum)):
        return _convert_text(value, to, where)
    if type(value) is not to and not (to is float and type(value) is int):
        raise _Misfit(f"{where}: not {to.__name__}")
    return value


def _convert_union(value: Any, options: tuple[Any, ...], where: str) -> Any:
    if value is None and type(None) in options:
        return None
    faults = []
    for option in options:
        if option is type(None):
            continue
        try:
            return _convert(value, option, where)
        except _Misfit as error:
            faults.append(str(error))
    raise _Misfit(faults[0])


def _convert_object(value: Any, cls: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _Misfit(f"{where}: not an object")
    plan = _plan(cls)
    if missing := sorted(required_names(cls) - value.keys()):
        raise _Misfit(f"{where}: no {', '.join(missing)}")
    if len(value) > len(plan) or not value.keys() <= plan.keys():
        extra = sorted(value.keys() - plan.keys())
        if not is_open(cls):
            raise _Misfit(f"{where}: unknown field {', '.join(extra)[:80]}")
    found = {}
    for name, (attribute, to, simple) in plan.items():
        if name in value:
            item = value[name]
            # Most fields hold just the type that they are declared with: the rest is looked at closely.
            found[attribute] = item if simple is type(item) else _convert(item, to, f"{where}.{name}")
    return cls(**found)


@cache
def _plan(cls: type) -> dict[str, tuple[str, Any, type | None]]:
    """JSON name → attribute, type, and that type itself where any value of it will do."""
    types = field_types(cls)
    return {
        (name := json_name(f)): (f.name, types[name], types[name] if types[name] in (str, int, bool) else None)
        for f in dataclasses.fields(cls)
    }


def _convert_text(value: Any, to: Any, where: str) -> Any:
    if not isinstance(value, str):
        raise _Misfit(f"{where}: not text")
    try:
        found = date.fromisoformat(value) if to is date else to(value)
        if to is date and found.isoformat() != value:  # Python reads other forms of ISO dates too
            raise ValueError(value)
        return found
    except ValueError as error:
        raise _Misfit(f"{where}: {value[:40]!r} is not allowed") from error
