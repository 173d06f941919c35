"""What was published in a day, an edition or a short range: which publications are asked for, by their titles."""

from __future__ import annotations

from functools import lru_cache

from dofrag.coverage.kinds import acts_asked, acts_of
from dofrag.coverage.match import meets
from dofrag.coverage.prepared import PreparedPassage, prepare
from dofrag.domain.corpus import Chunk, Passage, Publication
from dofrag.domain.question import PublicationRequired, Requirement


def asks_for_all(requirement: Requirement) -> bool:
    """Whether a requirement asks what was published then, or by an issuer at any time, whatever it was: no instrument
    is named, and without a time no subject either."""
    source = requirement.source
    if not isinstance(requirement, PublicationRequired) or source.name or source.identifier:
        return False
    dated = source.published_from is not None or source.published_to is not None
    bare = not (requirement.terms or requirement.entities or source.about)
    return dated or (source.issuer is not None and bare)


def fits(requirement: Requirement, publication: Publication, asked: str) -> bool:
    """Whether a publication is one of those that the question `asked` is about, by its data and its title."""
    acts = acts_asked(asked) if isinstance(requirement, PublicationRequired) else frozenset()
    if acts and not acts & acts_of(publication):
        return False
    return meets(requirement, _titled(publication)).supported


@lru_cache(maxsize=4096)
def _titled(publication: Publication) -> PreparedPassage:
    """A publication as if its title were all there is of it."""
    title = publication.title
    chunk = Chunk(
        id=0,
        code=publication.code,
        ordinal=0,
        start=0,
        end=len(title),
        heading_path=(publication.issuer,),
        provision=None,
        kind="text",
        text=title,
    )
    return prepare(Passage(chunk, publication))
