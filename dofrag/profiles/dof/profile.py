"""The DOF as a gazette profile: identity from the anatomy, language from the rule engine."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from dofrag.domain.corpus import Publication, SourceFile
from dofrag.profiles.anatomy import Anatomy
from dofrag.profiles.dof import identity


class DofProfile:
    """Diario Oficial de la Federación. Stateless."""

    name = "dof"
    version = "1"
    languages = ("es",)

    @property
    def anatomy(self) -> Anatomy:
        return identity.dof_anatomy()

    def identify(self, path: Path, rel: str) -> SourceFile | None:
        return identity.identify(path, rel, self.anatomy)

    def identifiers(self, text: str) -> tuple[str, ...]:
        return identity.identifiers(text, self.anatomy)

    def cite_as(self, publication: Publication) -> str:
        return identity.cite_as(publication)

    def official_url(self, code: str, published_on: date) -> str | None:
        return identity.official_url(code, published_on, self.anatomy)
