"""The five read-only research tools, their contract, and the dispatch that checks every call.

`CORE` is the registry of the product; experiments pass another one to the loop.
"""

from __future__ import annotations

from dofrag.tools.browse_document import BROWSE_DOCUMENT
from dofrag.tools.contract import ErrorCode, State, ToolSpec
from dofrag.tools.list_publications import LIST_PUBLICATIONS
from dofrag.tools.read_chunks import READ_CHUNKS
from dofrag.tools.search_documents import SEARCH_DOCUMENTS
from dofrag.tools.search_evidence import SEARCH_EVIDENCE

CORE: tuple[ToolSpec, ...] = (LIST_PUBLICATIONS, SEARCH_DOCUMENTS, SEARCH_EVIDENCE, BROWSE_DOCUMENT, READ_CHUNKS)

__all__ = ["CORE", "ErrorCode", "State", "ToolSpec"]
