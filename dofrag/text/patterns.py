"""Patterns that are compiled on first use, and only where they could find something.

A command reads a few sentences but knows hundreds of patterns, and compiling one takes longer than reading a page
with it. `late` stands for a compiled pattern until it is needed: the strings that any match must hold are read off
the pattern's source, and no compiling is needed to tell that a text without them holds no match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

_PATIENCE = 1_000
"""Texts sent away by their letters before the pattern is compiled all the same: over many texts it is the faster."""

_CHOICES = 48
"""Spellings of one stretch that are written out; a stretch with more is looked for in parts."""

_LISTED = 160
"""Strings of which one must stand in a text, at most: beyond, the pattern itself is as fast."""

Needs = tuple[tuple[str, ...], ...]
"""Of each of these sets, one string stands in every text with a match."""


def late(source: str, flags: int = 0, *, outline: str | None = None) -> re.Pattern[str]:
    """A pattern that behaves like `re.compile(source, flags)` and is compiled when first needed; a fault in the
    source is raised then. `outline` is a shorter pattern that matches in every text that `source` matches in; "" says
    that nearly every text will do."""
    return cast("re.Pattern[str]", _Late(source, flags, source if outline is None else outline))


class _Late:
    """Takes on the methods of the compiled pattern one by one, as they are used: from then on, calls go straight to
    it."""

    def __init__(self, source: str, flags: int, outline: str) -> None:
        self.pattern = source
        self._flags = flags
        self._outline = outline
        self._needs: Needs | None = () if flags else None
        self._patience = _PATIENCE
        self._compiled: re.Pattern[str] | None = None

    def search(self, string: str, *bounds: int) -> re.Match[str] | None:
        return None if self._absent(string) else self._take("search")(string, *bounds)

    def match(self, string: str, *bounds: int) -> re.Match[str] | None:
        return None if self._absent(string) else self._take("match")(string, *bounds)

    def fullmatch(self, string: str, *bounds: int) -> re.Match[str] | None:
        return None if self._absent(string) else self._take("fullmatch")(string, *bounds)

    def finditer(self, string: str, *bounds: int) -> Iterator[re.Match[str]]:
        return iter(()) if self._absent(string) else self._take("finditer")(string, *bounds)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._take(name)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int, str]]:
        return _Late, (self.pattern, self._flags, self._outline)

    def _take(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        value = getattr(self._compiled, name)
        self.__dict__[name] = value
        return value

    def _absent(self, text: str) -> bool:
        if self._compiled is not None or not self._patience:
            return False
        if self._needs is None:
            self._needs = needs(self._outline)
        for listed in self._needs:
            if not any(string in text for string in listed):
                self._patience -= 1
                return True
        return False


def needs(source: str) -> Needs:
    """What must stand in any text that `source` matches something in; empty where nothing certain can be said.

    `{NAME}` in capitals is a placeholder for any pattern. Flags within the source (`(?i:…)`) say nothing certain.
    """
    if _FLAGS.search(source):
        return ()
    exact, required = _Scanner(_TOKEN.findall(source)).alternation()
    sets = {tuple(dict.fromkeys(s)) for s in ([exact] if exact is not None else required) if _telling(s)}
    return tuple(sorted(sets, key=lambda s: (-len(min(s, key=len)), len(s), s)))


_FLAGS = re.compile(r"\(\?[aiLmsux-]")
_TOKEN = re.compile(
    r"[\w ]+(?![*+?{])|\((?:\?:|\?P<\w+>)?[\w ]+(?:\|[\w ]+)*\)"
    r"|\(\?(?:P<\w+>|P=\w+\)|:|<?[=!]|.)|\\(?:x..|u.{4}|U.{8}|[0-9]{1,3}|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}[?+]?|\{[A-Z]+\}|[*+?][?+]?|.",
    re.DOTALL,
)
_EDGES = frozenset({"^", "$", r"\b", r"\B", r"\A", r"\Z"})
_AROUND = frozenset({"(?=", "(?!", "(?<=", "(?<!"})
_LITERAL = frozenset(",;:-/'\"=<>%&@!¿¡«»")

_Strings = list[str]
_Found = tuple[_Strings | None, list[_Strings]]
"""All strings that a piece can match, where they are few; else the sets of which each must give one."""


def _telling(strings: _Strings) -> bool:
    return len(strings) <= _LISTED and len(min(strings, key=len)) > 1


class _Scanner:
    """One pass over the tokens of a pattern, sound or not: `re.compile` judges that."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = [*tokens, ""]
        self.at = 0

    def alternation(self) -> _Found:
        """Up to the closing parenthesis or the end."""
        branches = [self.branch()]
        while self.tokens[self.at] == "|":
            self.at += 1
            branches.append(self.branch())
        if len(branches) == 1:
            return branches[0]
        exact: _Strings | None = []
        best: list[_Strings] = []
        for whole, required in branches:
            exact = [*exact, *whole] if whole is not None and exact is not None else None
            sets = [s for s in ([whole] if whole is not None else required) if _telling(s)]
            best += [max(sets, key=lambda s: (len(min(s, key=len)), -len(s)))] if sets else []
        if exact is not None and len(exact) <= _CHOICES:
            return exact, []
        return None, [[s for listed in best for s in listed]] if len(best) == len(branches) else []

    def group(self) -> _Found:
        found = self.alternation()
        self.at += bool(self.tokens[self.at])  # past the parenthesis, unless there is none
        return found

    def branch(self) -> _Found:
        tokens = self.tokens
        run: _Strings = [""]
        required: list[_Strings] = []
        whole = True
        while (token := tokens[self.at]) and token not in "|)":
            self.at += 1
            if token in _EDGES:
                continue
            if token in _AROUND:
                self.group()
                continue
            piece, inner = self.piece(token)
            least, once = self.quantifier()
            if not least:
                piece, inner = ([*piece, ""] if piece is not None and once else None), []
            fits = piece is not None and len(run) * len(piece) <= _CHOICES
            joined = [a + b for a in run for b in piece] if piece is not None and fits else run
            if fits and once:
                run = joined
                continue
            # What is repeated begins right here, but what follows it does not stand right after its beginning.
            required += [joined, *inner]
            run = piece if piece is not None and once else [""]
            whole = False
        return (run, []) if whole else (None, [*required, run])

    def piece(self, token: str) -> _Found:
        sign = token[0]
        if sign.isalnum() or sign in "_ ":
            return [token], []
        if sign == "(" and token[-1] == ")" and token[1:4] != "?P=":
            words = token.strip("()").removeprefix("?:").rpartition(">")[2].split("|")
            return (words, []) if len(words) <= _CHOICES else (None, [words])
        if token == "(" or token == "(?:" or token.startswith("(?P<"):
            return self.group()
        if sign == "\\" and len(token) == 2 and not token[1].isalnum():
            return [token[1]], []
        if sign == "[" and len(token) <= 8 and token[1:-1].isalnum():
            return list(token[1:-1]), []
        return ([token], []) if token in _LITERAL else (None, [])

    def quantifier(self) -> tuple[bool, bool]:
        """Whether the piece must stand at least once, and whether it stands once at most."""
        token = self.tokens[self.at]
        sign = token[:1]
        if sign not in ("?", "*", "+") and not (sign == "{" and token[1:2] in _COUNTS):
            return True, True
        self.at += 1
        if sign == "{":
            return int(token[1:].partition(",")[0].rstrip("}?+") or 0) > 0, False
        return sign == "+", sign == "?"


_COUNTS = frozenset("0123456789,")
