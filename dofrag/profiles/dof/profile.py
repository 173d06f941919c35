"""The DOF as a gazette profile: identity from the anatomy, language from the rule engine."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import Publication, SourceFile
from dofrag.domain.question import Question, SubQuestion
from dofrag.profiles.aliases import load_aliases
from dofrag.profiles.anatomy import Anatomy
from dofrag.profiles.dof import identity
from dofrag.profiles.engine import Engine, named_scopes, placeholders
from dofrag.profiles.labels import Labels
from dofrag.profiles.language import Spanish
from dofrag.profiles.prompts import Prompts, load_prompts
from dofrag.profiles.rules import load_rules


def _data(name: str) -> str:
    return resources.files("dofrag.profiles.dof").joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def dof_messages() -> Mapping[str, Any]:
    """Sentences for people, by table and key."""
    return tomllib.loads(_data("messages.toml"))


@lru_cache(maxsize=1)
def dof_engine() -> Engine:
    """The DOF's rules, read once a process."""
    aliases = load_aliases(_data("aliases.toml"))
    language = Spanish()
    rules = load_rules(_data("rules.toml"), placeholders(language, aliases), tested=True)

    def identifiers(text: str) -> tuple[str, ...]:
        return identity.identifiers(text, identity.dof_anatomy())

    return Engine(rules, aliases, Labels(dof_messages()), language, identifiers)


@lru_cache(maxsize=4)
def _stamp(*names: str) -> str:
    """The first eight hexadecimal signs of the SHA-256 over some of the profile's files."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0{_data(name)}\0".encode())
    return digest.hexdigest()[:8]


class DofProfile:
    """Diario Oficial de la Federación. Stateless."""

    name = "dof"
    languages: tuple[str, ...] = ("es",)

    @property
    def version(self) -> str:
        return "1+" + _stamp("anatomy.toml", "identity.py")

    @property
    def rules_version(self) -> str:
        return "1+" + _stamp("rules.toml", "aliases.toml", "messages.toml")

    @property
    def anatomy(self) -> Anatomy:
        return identity.dof_anatomy()

    def identify(self, path: Path, rel: str) -> SourceFile | None:
        return identity.identify(path, rel, self.anatomy)

    def scope_of(self, rel: str) -> str:
        return identity.scope_of(rel)

    def why_ignored(self, rel: str) -> str:
        return identity.why_ignored(rel)

    def identifiers(self, text: str) -> tuple[str, ...]:
        return identity.identifiers(text, self.anatomy)

    def cite_as(self, publication: Publication) -> str:
        return identity.cite_as(publication)

    def official_url(self, code: str, published_on: date) -> str | None:
        return identity.official_url(code, published_on, self.anatomy)

    def decompose(self, question: Question) -> tuple[SubQuestion, ...]:
        return dof_engine().decompose(question)

    def unused_words(self, question: Question, subs: Sequence[SubQuestion]) -> tuple[str, ...]:
        return dof_engine().unused(question, subs)

    def named_scopes(self, text: str, scopes: frozenset[str]) -> frozenset[str]:
        return named_scopes(text, scopes, dof_messages().get("scope", {}))

    def canonical_issuer(self, text: str) -> str:
        return dof_engine().canonical_issuer(text)

    def asks_current(self, text: str) -> bool:
        return dof_engine().asks_current(text)

    def message(self, key: str, /, **values: object) -> str:
        """KeyError for a key that messages.toml does not hold."""
        table, _, name = key.partition(".")
        return str(dof_messages()[table][name]).format(**values)

    def prompts(self, language: str) -> Prompts:
        return load_prompts("dofrag.profiles.dof", language)

    def expansions(self) -> Mapping[str, tuple[str, ...]]:
        return dof_engine().expansions()
