"""The kinds that a question is searched in where nobody names one: all, save paid notices where it asks for norms."""

from __future__ import annotations

from dataclasses import replace

from dofrag.domain.corpus import SEARCHABLE, Filters, Kind
from dofrag.text.lexicon import asks

LEFT_OUT = (Kind.AVISO,)


def by_default(query: str, filters: Filters) -> tuple[Filters, tuple[Kind, ...]]:
    """The filters for a query, and the kinds that they leave out of it: none where `filters` name kinds or
    publications, or where the query speaks of what notices tell."""
    plain = filters.kinds == SEARCHABLE and filters.codes is None
    if not plain or not asks("norms", query) or asks("notices", query):
        return filters, ()
    return replace(filters, kinds=tuple(kind for kind in filters.kinds if kind not in LEFT_OUT)), LEFT_OUT
