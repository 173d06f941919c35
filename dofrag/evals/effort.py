"""How much a regular expression can be made to try: an upper estimate of its ways to fail on a text, from its parse.

A repetition with one possible end (what follows it cannot stand in it) costs nothing beyond its length; one with
several multiplies. A repetition with several ends within another has no bound worth the name.
"""

from __future__ import annotations

import importlib
import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dofrag.domain.records import dataclass

_SAMPLES = string.printable + "ñáüº§€⏎«»"
_ALL = frozenset(_SAMPLES)
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_NO_WIDTH = ("AT", "ASSERT", "ASSERT_NOT")


class Unbounded(Exception):
    """The pattern may take for ever."""


@dataclass(frozen=True, slots=True)
class _Node:
    """One element: its name, what it repeats, and between how often. Groups that only group are gone."""

    name: str
    body: tuple[_Node, ...] = ()
    branches: tuple[tuple[_Node, ...], ...] = ()
    low: int = 1
    high: int = 1
    chars: frozenset[str] = _ALL


def effort(pattern: re.Pattern[str], stretch: int) -> int:
    """Ways that the pattern can be tried from one place of a text of `stretch` characters, at most.

    Raises Unbounded for repetitions with several ends within repetitions, and for back references.
    """
    # The parser of `re` itself: a reading of our own could be wrong about what will run.
    parser: Any = importlib.import_module("re._parser")
    return _sequence(_nodes(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)), (), stretch, inside=False)


def _nodes(tree: Any) -> tuple[_Node, ...]:
    made: list[_Node] = []
    for operation, argument in tree:
        name = str(operation)
        if name in _REPEATS:
            low, high, body = argument
            made.append(_Node(name, body=_nodes(body), low=int(low), high=int(high)))
        elif name == "SUBPATTERN":
            made += _nodes(argument[3])
        elif name == "ATOMIC_GROUP":
            made += _nodes(argument)
        elif name == "BRANCH":
            made.append(_Node(name, branches=tuple(_nodes(branch) for branch in argument[1])))
        elif name in ("ASSERT", "ASSERT_NOT"):
            made.append(_Node(name, body=_nodes(argument[1])))
        elif name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            made.append(
                _Node(name, chars=_chars_of(name, argument) if isinstance(argument, int) else _chars(name, argument))
            )
        elif name == "AT":
            made.append(_Node(name))
        else:
            raise Unbounded("it refers back, or asks for what this check does not know")
    return tuple(made)


@lru_cache(maxsize=5_000)
def _chars_of(name: str, argument: int) -> frozenset[str]:
    return _chars(name, argument)


def _chars(name: str, argument: Any) -> frozenset[str]:
    """Which of the samples one character of this kind can be; all, where it may be none of them."""
    compiler: Any = importlib.import_module("re._compiler")
    parser: Any = importlib.import_module("re._parser")
    state = parser.State()
    constants: Any = importlib.import_module("re._constants")
    tree = parser.SubPattern(state, [(getattr(constants, name), argument)])
    one = compiler.compile(tree, re.IGNORECASE)
    return frozenset(c for c in _SAMPLES if one.fullmatch(c)) or _ALL


def _sequence(nodes: Sequence[_Node], after: tuple[_Node, ...], stretch: int, *, inside: bool) -> int:
    """`after` is what follows these nodes; of a repeated body, the body itself comes first in it."""
    ways, looked = 1, 0
    for n, node in enumerate(nodes):
        follows = (*nodes[n + 1 :], *after)
        if node.name in _REPEATS:
            ways *= _repeat(node, follows, stretch, inside)
        elif node.name == "BRANCH":
            ways *= sum(_sequence(branch, follows, stretch, inside=inside) for branch in node.branches)
            if inside and len(node.branches) > 1 and any(not branch for branch in node.branches):
                raise Unbounded("an empty alternative within a repetition")
        elif node.body:
            # What was looked ahead is not gone back into: it is tried once for each way that leads to it.
            looked = max(looked, ways * _sequence(node.body, (), stretch, inside=inside))
    return max(ways, looked)


def _repeat(node: _Node, follows: tuple[_Node, ...], stretch: int, inside: bool) -> int:
    again = node.high > 1
    inner = _sequence(node.body, (*node.body, *follows) if again else follows, stretch, inside=inside or again)
    if again and inner > 1 and node.high > node.low:
        raise Unbounded("a repetition within a repetition may take for ever")
    if node.high == node.low or _one_end(_first(node.body), follows):
        return int(inner ** min(node.low, 64)) if again else inner
    if inside and node.high > 1:
        raise Unbounded("a repetition within a repetition may take for ever")
    return int(inner * (min(node.high, stretch) - node.low + 1))


def _one_end(own: frozenset[str], follows: Sequence[_Node]) -> bool:
    """Whether nothing that may follow can be taken for one round more. At the very end, the first try is a match."""
    for node in follows:
        if node.name in _NO_WIDTH:
            continue
        if own & _first((node,)):
            return False
        if node.name not in _REPEATS or node.low > 0:
            return True
    return True


def _first(nodes: Sequence[_Node]) -> frozenset[str]:
    """What the first character may be."""
    found: frozenset[str] = frozenset()
    for node in nodes:
        if node.name in _NO_WIDTH:
            continue
        if node.name == "BRANCH":
            return found.union(*(_first(branch) or _ALL for branch in node.branches))
        if node.name in _REPEATS:
            found |= _first(node.body)
            if node.low == 0:
                continue
            return found
        return found | node.chars
    return found
