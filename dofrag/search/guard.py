"""What the engine raises over a damaged index, turned into an error for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dofrag.errors import CorpusError, IndexMismatch
from dofrag.store.faults import not_allowed
from dofrag.store.schema import REBUILD


class GuardedSearcher:
    """The engine's searcher. It says ValueError, OSError or "panic" for every fault; its queries come from here and
    are well formed, so that a fault means that its files are damaged: IndexMismatch, with the repair."""

    def __init__(self, searcher: Any, name: str) -> None:
        self._searcher = searcher
        self._name = name

    @property
    def num_docs(self) -> int:
        return int(self._searcher.num_docs)

    def doc_freq(self, field: str, term: str) -> int:
        return int(guarded(self._name, lambda: self._searcher.doc_freq(field, term)))

    def terms_with_prefix(self, field: str, prefix: str) -> Any:
        return guarded(self._name, lambda: self._searcher.terms_with_prefix(field, prefix))

    def search(self, *arguments: Any, **options: Any) -> Any:
        return guarded(self._name, lambda: self._searcher.search(*arguments, **options))

    def doc(self, address: Any) -> Any:
        return guarded(self._name, lambda: self._searcher.doc(address))

    def fast_field_values(self, field: str, addresses: Any) -> Any:
        return guarded(self._name, lambda: self._searcher.fast_field_values(field, addresses))

    def cardinality(self, query: Any, field: str) -> float:
        return float(guarded(self._name, lambda: self._searcher.cardinality(query, field)))


def guarded(name: str, work: Callable[[], Any]) -> Any:
    """Do something with the engine. Raises IndexMismatch where the engine finds its files damaged, CorpusError where
    it may not read them."""
    try:
        return work()
    except (ValueError, OSError, RuntimeError) as error:
        raise damaged(name, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the engine's own; it derives from BaseException alone
            raise
        raise damaged(name, error) from error


def damaged(name: str, error: BaseException) -> CorpusError:
    """The refusal of an index whose search part the engine cannot use."""
    text = " ".join(str(error).split())[:200]
    if "No space left" in text:
        return CorpusError(f"index {name!r}: no space left for its search index", hint="make room, then run again")
    if "ermission" in text and "lock" not in text.lower():  # a lock that may not be taken is the caller's matter
        return not_allowed(name)
    return IndexMismatch(f"index {name!r}: its search index is damaged ({text})", hint=REBUILD)
