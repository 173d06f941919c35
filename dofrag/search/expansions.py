"""Other names of what a query names: acronyms and what they stand for, lay words and those of the law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dofrag.search.analysis import Terms

_OTHERS = 12  # other names that are searched at most
_LONGEST = 8  # terms of what a query names


class Expansion(NamedTuple):
    """What a row of data says, and what is searched besides: as written, and its terms."""

    said: str
    name: str
    terms: tuple[str, ...]


class Expanded:
    """A profile's expansions by their terms, so that `coches` has what `coche` has."""

    def __init__(self, expansions: Mapping[str, Sequence[str]], terms: Terms) -> None:
        keys = [tuple(cut.split()) for cut in terms.of(expansions)]
        names = iter(terms.of([name for others in expansions.values() for name in others]))
        self._names: dict[tuple[str, ...], dict[tuple[str, ...], Expansion]] = {}
        for key, (said, others) in zip(keys, expansions.items(), strict=True):
            for name in others:
                cut = tuple(dict.fromkeys(next(names).split()))
                if key and cut:
                    self._names.setdefault(key, {}).setdefault(cut, Expansion(said, name, cut))

    def of(self, run: Sequence[str]) -> list[Expansion]:
        """Each other name of what a run of terms holds, the first ones. Names whose words the run has anyway are left
        out."""
        own = set(run)
        found: dict[tuple[str, ...], Expansion] = {}
        for at in range(len(run)):
            for end in range(at + 1, min(len(run), at + _LONGEST) + 1):
                for cut, expansion in self._names.get(tuple(run[at:end]), {}).items():
                    if not own.issuperset(cut):
                        found.setdefault(cut, expansion)
        return list(found.values())[:_OTHERS]

    def names(self, run: Sequence[str]) -> list[tuple[str, ...]]:
        """The terms of each."""
        return [expansion.terms for expansion in self.of(run)]
