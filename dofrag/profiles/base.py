"""The interface of a gazette profile. The DOF is one; the tests hold an invented English one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Protocol

from dofrag.domain.corpus import Publication, SourceFile
from dofrag.domain.question import Question, SubQuestion
from dofrag.profiles.prompts import Prompts


class GazetteProfile(Protocol):
    """Everything that is particular to one gazette. Stateless; built once in `wiring`."""

    name: str
    languages: tuple[str, ...]  # of questions that it can split, ISO 639-1

    @property
    def version(self) -> str:
        """Changes with what files are read by: an index made with another one is read again."""
        ...

    @property
    def rules_version(self) -> str:
        """Changes with the rules that split questions, the names they know and the messages; part of every result
        and trace. An index does not depend on it."""
        ...

    def identify(self, path: Path, rel: str) -> SourceFile | None:
        """What the path (and the first bytes) say of a file; None for a file that is none of the corpus's business
        (a manifest, a catalogue, an image). Raises SourceUnreadable for one that should be read but cannot."""
        ...

    def scope_of(self, rel: str) -> str:
        """The collection that a path lies in, whatever the file is: PUBLIC, or the name of a restricted one."""
        ...

    def why_ignored(self, rel: str) -> str:
        """For a file that `identify` says None of: what it is instead, in a few words for people."""
        ...

    def identifiers(self, text: str) -> tuple[str, ...]:
        """Official identifiers in a text, canonical, in order, without repeats: `NOM-035-STPS-2018`."""
        ...

    def cite_as(self, publication: Publication) -> str:
        """`DOF 09/01/2026`, or the consolidated form of the contracts."""
        ...

    def official_url(self, code: str, published_on: date) -> str | None: ...

    def decompose(self, question: Question) -> tuple[SubQuestion, ...]:
        """At least one sub-question, each with at least one requirement."""
        ...

    def unused_words(self, question: Question, subs: Sequence[SubQuestion]) -> tuple[str, ...]:
        """Content words of the question, folded, that no slot of these sub-questions holds: none for those of
        `decompose`, so that nothing that is asked gets lost."""
        ...

    def named_scopes(self, text: str, scopes: frozenset[str]) -> frozenset[str]:
        """Which of these restricted collections the question itself names."""
        ...

    def canonical_issuer(self, text: str) -> str:
        """The issuer that a name or an acronym stands for (`INEGI` → its full name); the text itself if unknown."""
        ...

    def asks_current(self, text: str) -> bool:
        """Whether a question is about what is in force now (*vigente*, *actual*, *hoy*)."""
        ...

    def message(self, key: str, /, **values: object) -> str:
        """A message for people in the gazette's language; `key` stands in messages.toml."""
        ...

    def prompts(self, language: str) -> Prompts:
        """What a language model is told, in one of the languages that people ask in."""
        ...

    def expansions(self) -> Mapping[str, tuple[str, ...]]:
        """Folded query term → terms to search as well (acronyms to names and back, lay to legal words)."""
        ...
