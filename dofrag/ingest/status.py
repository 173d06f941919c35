"""Questions to an index that change nothing: what it holds, and one publication of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from dofrag.domain.corpus import PUBLIC, Filters, Kind, Publication
from dofrag.errors import UsageError
from dofrag.ingest.mend import translated
from dofrag.ingest.report import Report, stored_report
from dofrag.search.open import open_index
from dofrag.store.interface import OutlineEntry
from dofrag.store.layout import Layout

_OUTLINE = 200  # entries of an outline that are shown


def status(folder: Path, scopes: tuple[str, ...] = ()) -> Report:
    """Raises StoreMissing and IndexMismatch as `open_index`."""
    with open_index(folder) as index, translated(Layout(folder)):
        documents = index.backend.documents
        values = stored_report(index.reader.connection, stamp=index.stamp, scopes=(PUBLIC, *scopes))
        _, chunks = index.reader.counts()
    problems = []
    if documents != chunks:
        problems.append(f"the store holds {chunks} chunks, the search index {documents} documents")
    return Report(**values, problems=tuple(problems))


def find_publication(
    folder: Path, code: str, scopes: tuple[str, ...] = ()
) -> tuple[Publication, list[OutlineEntry], int]:
    """A publication with the beginning of its outline and the number of its chunks. Raises UsageError for a code that
    is not there in these scopes."""
    filters = Filters(as_of=date.max, kinds=tuple(Kind), scopes=frozenset({PUBLIC, *scopes}))
    with open_index(folder) as index:
        publication = index.reader.publication(code, filters)
        if publication is None:
            raise UsageError(
                f"no publication with code {code!r} in index {str(folder)!r}",
                hint=f"`dof search TEXT --index {folder}` finds codes",
            )
        entries, total = index.reader.outline(code, filters, limit=_OUTLINE)
    return publication, entries, total
