"""A made-up gazette of any size, streamed: the same seed and size give the same bytes. Nothing of it is kept.

Words follow Zipf's law as Spanish official text has them: a head of function words and common official words, then
content words made of syllables with real endings (so that they are stemmed). Passages are cut from one long draw of
words, so that neighbours share rare words no more than chance has it, with words of the publication's own topics, and
figures, among them. Publications have issuers, titles, dates, identifiers, headings and provisions.
"""

from __future__ import annotations

import json
import random
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from dofrag.domain.corpus import Kind, SourceFile, SourceKind
from dofrag.domain.draft import ChunkDraft, Header, ParsedPublication

FIRST_DAY = date(2000, 1, 3)
A_DAY = 75
"""Publications of one edition; a real edition has 30 to 120."""
MEAN_CHUNKS = 10.3
"""Of a publication: 6.7 million chunks in 650,000 publications."""
_FORMS = 120_000  # distinct words, about
_STREAM = 1_500_000  # words of the long draw
# The commonest words of official Spanish, in order.
_HEAD = """
    de la y el en que los a las del se por para con o al su no un lo una es como sus artículo ley fracción este esta
    presente conforme así términos dicha dicho federal secretaría cuando será sin sobre general nacional artículos
    deberá deberán podrá caso disposiciones personas materia servicio servicios autoridad información plazo días
    publicación diario oficial federación acuerdo programa recursos reglamento siguientes estados unidos mexicanos
    """
_ONSETS = "b c ch d f g j l ll m n p qu r s t v z br cr dr fr gr pr tr bl cl fl gl pl"
_NUCLEI = "a e i o u a e o ie ue ia"
_CODAS = ["", "", "", "", "n", "r", "s", "l"]
_ENDINGS = """
    o a os as ción ciones miento mientos dad al ales ado ada ados ar er ir ante ista ismo ble bles ico ica oso orio
    eza ura
    """
_ISSUERS = ["SECRETARIA DE", "COMISION NACIONAL DE", "INSTITUTO NACIONAL DE", "CONSEJO DE", "PODER JUDICIAL DE",
            "BANCO DE", "PROCURADURIA DE", "GOBIERNO DEL ESTADO DE"]  # fmt: skip
_INSTRUMENTS = ["ACUERDO por el que se da a conocer", "DECRETO por el que se reforman disposiciones sobre",
                "AVISO mediante el cual se informa de", "RESOLUCIÓN sobre", "LINEAMIENTOS para",
                "CONVENIO de coordinación en materia de", "CIRCULAR por la que se comunica",
                "NORMA Oficial Mexicana"]  # fmt: skip


@dataclass(frozen=True)
class Passage:
    """One chunk to be: its heading as the gazette has it, what that heading names, and its text."""

    heading: str
    provision: str | None
    text: str


@dataclass(frozen=True)
class Text:
    """One publication to be. `name` is where its file lies, by the gazette's own convention."""

    number: int
    name: str
    code: str
    published_on: date
    issuer: str
    title: str
    instrument: str
    identifiers: tuple[str, ...]
    passages: tuple[Passage, ...]

    def markdown(self) -> str:
        """As the gazette's Markdown trees have it."""
        parts = [f"**{self.issuer}**", f"**{self.title}**"]
        parts += [f"**{p.heading}** {p.text}" for p in self.passages]
        return "\n\n".join(parts) + "\n"


class Gazette:
    """Publications by number, each drawn apart from the others."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        draw = random.Random(f"words {seed}")
        # Common words are short; how short is left to chance.
        made = sorted((_word(draw) for _ in range(_FORMS)), key=lambda word: len(word) + 6 * draw.random())
        self.words = list(dict.fromkeys([*_HEAD.split(), *made]))
        weights = list(accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(len(self.words))))
        stream = draw.choices(self.words, cum_weights=weights, k=_STREAM)
        for at in range(9, len(stream), 11):
            stream[at] += draw.choice([",", ",", ".", ";", ""])
        self._stream = " ".join(stream)
        self._weights = weights
        self._issuers = [f"{draw.choice(_ISSUERS)} {draw.choice(self.words[300:4000]).upper()}" for _ in range(160)]
        self._issuer_weights = list(accumulate(1 / (rank + 1) for rank in range(160)))

    def topic(self, draw: random.Random) -> str:
        """A word that tells what a text is about: neither among the commonest hundreds nor unheard of."""
        low, high = self._weights[250], self._weights[30_000]
        return self.words[bisect(self._weights, draw.uniform(low, high))]

    def slice(self, draw: random.Random, chars: int) -> str:
        """About so many characters of running text, whole words."""
        at = self._stream.index(" ", draw.randrange(len(self._stream) - chars - 100)) + 1
        return self._stream[at : self._stream.index(" ", at + chars)]

    def publication(self, number: int) -> Text:
        draw = random.Random(f"{self._seed} {number}")
        day = FIRST_DAY + timedelta(days=number // A_DAY)
        code = str(1_000_000 + number)
        topics = [self.topic(draw) for _ in range(6)]
        instrument = draw.choice(_INSTRUMENTS)
        identifiers = (f"NOM-{number % 990 + 10:03}-{draw.choice(['SCFI', 'SSA1', 'STPS', 'SE'])}-{day.year}",)
        named = instrument.startswith("NORMA")
        title = (
            f"{instrument} {identifiers[0] + ', ' if named else ''}{' '.join(topics[:4])} en {self.slice(draw, 50)}"
        )
        count = min(400, 1 + int(draw.expovariate(1 / (MEAN_CHUNKS - 0.5))))
        return Text(
            number=number,
            name=f"{day:%Y/%m/%d%m%Y}/MAT/{number % A_DAY + 1:03}_DOF_{day:%Y%m%d}_MAT_{code}.md",
            code=code,
            published_on=day,
            issuer=draw.choices(self._issuers, cum_weights=self._issuer_weights)[0],
            title=title,
            instrument=instrument.split()[0],
            identifiers=identifiers if named else (),
            passages=tuple(self._passage(draw, n, count, topics) for n in range(count)),
        )

    def _passage(self, draw: random.Random, at: int, count: int, topics: list[str]) -> Passage:
        last = count > 3 and at == count - 1
        heading = "TRANSITORIO Único.-" if last else f"Artículo {at + 1}.-"
        chars = min(1500, 260 + int(draw.expovariate(1 / 470)))
        texts = []
        while chars > 0:
            piece = self.slice(draw, min(chars, draw.randrange(90, 260)))
            texts.append(f"{piece.rstrip(',;.')} {draw.choice(topics)}")
            chars -= len(texts[-1]) + 2
        figure = f"{draw.randrange(1, 60)} días" if at % 2 else f"${draw.randrange(100, 90_000):,}.{at % 100:02}"
        return Passage(heading, "trans:unico" if last else f"art:{at + 1}", f"{'. '.join(texts)}, {figure}.")


def _word(draw: random.Random) -> str:
    onsets, nuclei = _ONSETS.split(), _NUCLEI.split()
    syllables = range(draw.choice((0, 1, 1, 2)) or 1)
    parts = [draw.choice(onsets) + draw.choice(nuclei) + draw.choice(_CODAS) for _ in syllables]
    return "".join(parts) + draw.choice(onsets) * (parts[-1][-1] in "aeiou") + draw.choice(_ENDINGS.split())


@lru_cache(maxsize=1)
def gazette(seed: int) -> Gazette:
    """Of this process: the words take a second to draw."""
    return Gazette(seed)


def write_ready(text: Text, folder: Path) -> None:
    """A file of a publication's parts, which `parse` need only take up: making the texts up is not measured."""
    path = folder / text.name
    path.parent.mkdir(parents=True, exist_ok=True)
    said = vars(text) | {"passages": [list(vars(passage).values()) for passage in text.passages]}
    path.write_text(json.dumps(said, default=str), encoding="ascii")


def write_markdown(text: Text, folder: Path) -> None:
    path = folder / text.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.markdown(), encoding="utf-8")


def parse(source: SourceFile, profile: Any) -> Iterator[ParsedPublication]:
    """In place of the parser: the chunks of a file of `write_ready`, as parsing would hand them over."""
    said = json.loads(source.path.read_bytes())
    said |= {"published_on": date.fromisoformat(said["published_on"]), "identifiers": tuple(said["identifiers"])}
    text = Text(**said | {"passages": tuple(Passage(*parts) for parts in said["passages"])})
    header = Header(
        code=text.code,
        published_on=text.published_on,
        edition="MAT",
        kind=Kind.DOF,
        source_kind=SourceKind.PUBLICATION,
        position=text.number % A_DAY + 1,
        section=None,
        branch=None,
        issuer=text.issuer,
        title=text.title,
        instrument=text.instrument,
        identifiers=text.identifiers,
        url=None,
        scope=source.scope,
        source=source.rel,
    )
    yield ParsedPublication(header, _drafts(text))


def _drafts(text: Text) -> Iterator[ChunkDraft]:
    at = 0
    for n, passage in enumerate(text.passages):
        whole = f"**{passage.heading}** {passage.text}\n\n"
        yield ChunkDraft(n, at, at + len(whole), (passage.heading.rstrip(".-"),), passage.provision, "text", whole)
        at += len(whole)
