"""Laws by their names: what a law is called, and which names a query holds. No engine in here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dofrag.domain.corpus import Kind, Publication
from dofrag.search.analysis import Terms

_SUBTITLE = re.compile(r"[,;(:]")
_QUOTED = re.compile(r"[\"“]([^\"“”]{3,200})[\"”]")
_SHORTEST = 2  # terms of a name
_LONGEST = 24
_TITLE = 600  # characters of a title that are looked at


def name_key(terms: Sequence[str]) -> str:
    """The key of a law's name, from its terms in order."""
    return f"name:{'_'.join(dict.fromkeys(terms))}"


def name_keys(publication: Publication, terms: Terms) -> list[str]:
    """What a consolidated law is called: its whole title, the title up to each subtitle, and a name that the title
    gives in quotes (a former one). Other publications are told by more than their titles."""
    if publication.kind is not Kind.LEY:
        return []
    title = publication.title[:_TITLE]
    ends = [m.start() for m in _SUBTITLE.finditer(title)]
    names = [title, *(title[:end] for end in ends), *_QUOTED.findall(title)]
    found = [name.split() for name in terms.of(names)]
    found += [name[:-1] for name in found if name[-1:] and name[-1].isdigit()]  # without the year of a budget
    return list(dict.fromkeys(name_key(name) for name in found if len(name) >= _SHORTEST))


def phrase_keys(run: Sequence[str]) -> Iterator[str]:
    """The keys of every name that a run of terms may hold."""
    for at in range(len(run)):
        for end in range(at + _SHORTEST, min(len(run), at + _LONGEST) + 1):
            yield name_key(run[at:end])
