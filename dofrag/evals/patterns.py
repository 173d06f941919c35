"""Regular expressions of a question set: somebody else's, so their work is bounded before they are used.

Text is folded, so a pattern may be written with or without accents; it is tried on short stretches only.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dofrag.evals.effort import Unbounded, effort
from dofrag.text.fold import fold, fold_chars

STRETCH = 1_000
"""Characters of a text that a pattern is tried on at once: more than the longest quote has."""
WHOLE_MAX = 20_000
_WAYS_MAX = 20_000


def squeeze(text: str) -> str:
    """Folded, without emphasis, blanks and line breaks after a hyphen: layout is no part of what is said."""
    return re.sub(r"(?<=\w)- (?=\w)", "-", " ".join(fold(text).replace("*", "").split()))


def pattern_fault(pattern: str) -> str | None:
    """Why a pattern is refused, None where it may be used: it must compile, match no empty text, and not try much."""
    try:
        compiled = compile_pattern(pattern)
        if compiled.search("") is not None:
            return "it matches any text"
        tied = pattern.startswith((r"\A", "^"))
        if effort(compiled, STRETCH) > (_WAYS_MAX * 5 if tied else _WAYS_MAX):
            return "it may take too long: too many repetitions that can end in several places"
    except (re.error, RecursionError, OverflowError) as error:
        return f"it does not compile: {error}"
    except Unbounded as error:
        return str(error)
    return None


_TRAJECTORY = re.compile(r"[LDEBR()|+*?{},.\[\]0-9]+", re.IGNORECASE)


def is_trajectory(text: str) -> bool:
    """Whether a text is a pattern over calls; anything else is a remark for people, and is not graded."""
    return _TRAJECTORY.fullmatch(text) is not None


def trajectory_fault(pattern: str) -> str | None:
    """Why a pattern over a run's calls is refused, None where it may be used, or is no pattern."""
    if not is_trajectory(pattern):
        return None
    if "[[" in pattern:
        return "it does not compile: a set within a set"
    try:
        if len(pattern) > 200 or effort(re.compile(pattern), 100) > _WAYS_MAX:
            return "it may take too long"
    except (re.error, RecursionError, OverflowError) as error:
        return f"it does not compile: {error}"
    except Unbounded as error:
        return str(error)
    return None


@lru_cache(maxsize=10_000)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Ready for squeezed text: accents of the pattern are folded, its escapes are left alone."""
    plain = "".join(fold_chars(c) if ord(c) > 127 else c for c in pattern)
    return re.compile(plain, re.IGNORECASE)


def matches(pattern: str, squeezed: str) -> bool:
    """Whether the pattern is found in a squeezed text, taken in stretches that overlap by half; one that is tied to
    the beginning, and so tried from one place only, in the whole text."""
    compiled = compile_pattern(pattern)
    if pattern.startswith((r"\A", "^")):
        return compiled.search(squeezed[:WHOLE_MAX]) is not None
    starts = range(0, max(1, len(squeezed) - STRETCH // 2), STRETCH // 2)
    return any(compiled.search(squeezed[at : at + STRETCH]) is not None for at in starts)
