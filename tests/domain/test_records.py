"""Records must be to programs what standard frozen dataclasses are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.domain.records import dataclass


def _classes(decorator: Callable[..., Any]) -> dict[str, type]:
    @decorator(frozen=True, slots=True)
    class Point:
        """Two numbers."""

        x: int
        y: float = 0.5

    @decorator(frozen=True)
    class Loose:
        """Not slotted."""

        kind: ClassVar[str] = "loose"
        names: tuple[str, ...]
        tags: list[str] = field(default_factory=list, compare=False)
        seen: int = field(init=False)
        fixed: int = field(init=False, default=3)

        def __post_init__(self) -> None:
            object.__setattr__(self, "seen", len(self.names))

    @decorator(frozen=True, slots=True, kw_only=True)
    class Base:
        """Read by name."""

        id: str
        role: str | None = None

    @decorator(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        terms: tuple[str, ...] = ()
        hidden: int = field(default=0, repr=False, hash=False)

    @decorator(frozen=True, slots=True)
    class Mixed(Base):
        """A field in place after fields by name."""

        at: int

    @decorator(frozen=True, slots=True)
    class Own:
        """Methods of its own stay."""

        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and str(self.value)[:1] == str(other.value)[:1]

        def __repr__(self) -> str:
            return "own"

    @decorator(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    return {c.__name__: c for c in (Point, Loose, Base, Derived, Mixed, Own, Empty)}


OURS, THEIRS = _classes(dataclass), _classes(dataclasses.dataclass)
VALUES = st.one_of(st.integers(0, 3), st.sampled_from(["", "a"]), st.just(float("nan")), st.tuples(st.integers(0, 1)))
NAMES = st.sampled_from(["x", "y", "names", "id", "role", "terms", "at", "value", "tags"])
CALLS = st.tuples(
    st.sampled_from(sorted(OURS)),
    st.lists(VALUES, max_size=3),
    st.dictionaries(NAMES, VALUES, max_size=3),
)


def _made(cls: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        return cls(*args, **kwargs)
    except TypeError as error:
        return f"TypeError: {error}"


@given(CALLS, CALLS)
def test_records_behave_as_the_standard_ones(first: Any, second: Any) -> None:
    pairs = [(_made(OURS[n], a, k), _made(THEIRS[n], a, k)) for n, a, k in (first, second)]
    for ours, theirs in pairs:
        assert repr(ours) == repr(theirs)
        if isinstance(ours, str):
            continue
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
        assert hash(ours) == hash(theirs) or isinstance(ours, OURS["Own"])
        assert (copy.copy(ours) == ours) is (copy.copy(theirs) == theirs)
        assert repr(copy.deepcopy(ours)) == repr(theirs)
    (a, b), (c, d) = pairs
    assert (a == c) is (b == d)
    assert (a != c) is (b != d)


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_programs_ask_of_a_class(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    assert dataclasses.is_dataclass(ours)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__qualname__ == theirs.__qualname__
    assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
    assert ours.__hash__ is not None


def test_they_are_frozen() -> None:
    point = OURS["Point"](1)
    for change in (lambda: setattr(point, "x", 2), lambda: setattr(point, "z", 2), lambda: delattr(point, "y")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert point == OURS["Point"](1, 0.5)
    assert dataclasses.replace(point, x=3) == OURS["Point"](3)

    class More(OURS["Loose"]):  # type: ignore[misc]
        pass

    more = More(("a",))
    more.note = "a class that is no record may add what it likes"
    with pytest.raises(dataclasses.FrozenInstanceError):
        more.names = ()
    del more.note
    with pytest.raises(dataclasses.FrozenInstanceError):
        del more.names


@dataclass(frozen=True, slots=True)
class Sent:
    """Pickled by name, so at module level."""

    a: int
    b: tuple[str, ...] = ("x",)


def test_they_travel_between_processes() -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(Sent(1), protocol)) == Sent(1)


def test_defaults_that_are_made_are_made_anew() -> None:
    one, other = OURS["Loose"](()), OURS["Loose"](())
    one.tags.append("a")
    assert other.tags == []


def test_a_record_that_holds_itself_can_be_shown() -> None:
    loose = OURS["Loose"](())
    loose.tags.append(loose)
    assert "..." in repr(loose)


def test_what_is_not_frozen_is_the_standard_decorators() -> None:
    @dataclass(slots=True)
    class Open:
        """May change."""

        x: int = 0

    made = Open()
    made.x = 2
    assert made == Open(2)
    assert Open.__hash__ is None
