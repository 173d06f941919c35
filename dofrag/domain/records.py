"""`dataclass` for frozen records, made in a fifth of the time.

The standard decorator writes six methods of a frozen class as text and compiles each when the module is imported;
with 130 records that was a third of a whole `dof run`. Here the methods are shared, and `__init__` alone is written,
when the first object is made. What comes out is a standard dataclass in all that programs see (`fields`, `replace`,
`asdict`, pickling, equality, hash, repr, FrozenInstanceError), save that `inspect.signature` of a class without
objects shows `*args, **kwargs`. `InitVar` is not for here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """As `dataclasses.dataclass`; what is not frozen is left to it."""

        def made(cls):
            if not frozen:
                return dataclasses.dataclass(slots=slots, kw_only=kw_only)(cls)
            return _frozen(cls, slots, kw_only)

        return made if cls is None else made(cls)


def _frozen(cls: type, slots: bool, kw_only: bool) -> type:
    own = {name for name, value in cls.__dict__.items() if value is not None}  # `__eq__` leaves a None for `__hash__`
    cls.__doc__ = cls.__doc__ or cls.__name__  # else its signature is drawn up
    plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made: type = plain(cls)
    every = dataclasses.fields(made)
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _first_init(made),
        "__repr__": _repr,
        "__eq__": _eq(_values([f.name for f in every if f.compare])),
        "__hash__": _hash(_values([f.name for f in every if (f.compare if f.hash is None else f.hash)])),
        "__setattr__": _set,
        "__delattr__": _delete,
    }
    if slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    value = attrgetter(names[0])
    return lambda record: (value(record),)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


@recursive_repr("...")
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _guards(record: Any, name: str) -> bool:
    """Whether this attribute is frozen: all are, but for what a class that is no record adds to its base."""
    return "__dataclass_fields__" in type(record).__dict__ or name in type(record).__dataclass_fields__


def _set(self: Any, name: str, value: object) -> None:
    if _guards(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if _guards(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _first_init(made: type) -> Callable[..., None]:
    def __init__(self: Any, /, *args: Any, **kwargs: Any) -> None:
        real = _written_init(made)
        made.__init__ = real  # type: ignore[misc]
        real(self, *args, **kwargs)

    __init__.__qualname__ = f"{made.__qualname__}.__init__"
    return __init__


def _written_init(made: type) -> Callable[..., None]:
    """`__init__` as the standard decorator would write it."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_made": _MADE}
    positional: list[str] = ["self"]
    keyword: list[str] = []
    body: list[str] = []
    for field in dataclasses.fields(made):
        name, value = field.name, field.name
        default = ""
        if field.default is not dataclasses.MISSING:
            names[f"_default_{name}"], default = field.default, f"=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_new_{name}"], default = field.default_factory, "=_made"
            value = f"_new_{name}() if {name} is _made else {name}" if field.init else f"_new_{name}()"
        if field.init:
            (keyword if field.kw_only else positional).append(name + default)
        elif not default:
            continue  # for __post_init__ to set
        elif default != "=_made":
            value = f"_default_{name}"
        body.append(f" _set(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keyword] if keyword else [])])
    exec(f"def __init__({parameters}):\n" + "\n".join(body or [" pass"]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__module__ = made.__module__
    return init


_MADE = object()
"""Stands for a default that is made anew for each object."""
