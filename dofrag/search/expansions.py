"""Other names of what a query names: acronyms and what they stand for, lay words and those of the law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dofrag.search.analysis import Terms

_OTHERS = 12  # other names that are searched at most
_LONGEST = 8  # terms of what a query names


class Expanded:
    """A profile's expansions by their terms, so that `coches` has what `coche` has."""

    def __init__(self, expansions: Mapping[str, Sequence[str]], terms: Terms) -> None:
        said = [tuple(cut.split()) for cut in terms.of(expansions)]
        names = iter(terms.of([name for others in expansions.values() for name in others]))
        self._names: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
        for key, others in zip(said, expansions.values(), strict=True):
            found = [tuple(dict.fromkeys(next(names).split())) for _ in others]
            if key:
                self._names.setdefault(key, {}).update(dict.fromkeys(name for name in found if name))

    def names(self, run: Sequence[str]) -> list[tuple[str, ...]]:
        """The terms of each other name of what a run of terms holds, the first ones. Names whose words the run has
        anyway are left out."""
        own = set(run)
        found: dict[tuple[str, ...], None] = {}
        for at in range(len(run)):
            for end in range(at + 1, min(len(run), at + _LONGEST) + 1):
                names = self._names.get(tuple(run[at:end]), ())
                found.update(dict.fromkeys(name for name in names if not own.issuperset(name)))
        return list(found)[:_OTHERS]
