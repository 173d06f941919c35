"""Development figures on provisions: how often the very provision of a law that a question names is found and cited.

    python benchmarks/provisions.py --index DIR [--pairs 60] [--seed 1] [--kind article|fraction|transitory] [--show]

Draws pairs of a consolidated law and one of its provisions from the index, by seed, and asks for each as people do:
*¿Qué establece el artículo 12 de la Ley …?* A run counts when it is answered and cites a chunk that holds that
provision. The rule planner and the default limits.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dofrag import wiring
from dofrag.domain.corpus import PUBLIC, Chunk, Filters, Kind, Publication
from dofrag.text.paths import provision_matches

SUBTITLE = re.compile(r"\(|, (?:Reglamentaria|relativ[oa]|en )")
FRACTION = re.compile(r"^\**([IVXL]{1,8})\.(?=[ -])", re.MULTILINE)
ORDINALS = {
    1: "primero", 2: "segundo", 3: "tercero", 4: "cuarto", 5: "quinto", 6: "sexto", 7: "séptimo", 8: "octavo",
}  # fmt: skip
LAWS = Filters(as_of=date.max, kinds=(Kind.LEY,), scopes=frozenset({PUBLIC}))


@dataclass(frozen=True)
class Pair:
    """A question, and the chunks that hold what it asks for."""

    question: str
    gold: frozenset[int]


def laws(corpus: wiring.OpenCorpus) -> list[Publication]:
    """All consolidated laws of distinct names."""
    found: list[Publication] = []
    total = 1
    while len(found) < total:
        page = corpus.reader.list_publications(LAWS, limit=500, offset=len(found))
        total = page.total
        found += page.publications
    names = Counter(called(p).lower() for p in found)
    return [p for p in sorted(found, key=lambda p: p.code) if names[called(p).lower()] == 1]


def called(law: Publication) -> str:
    """`LEY de Amparo, Reglamentaria de …` → `la Ley de Amparo`."""
    name = " ".join(SUBTITLE.split(law.title, maxsplit=1)[0].split())
    head, _, rest = name.partition(" ")
    masculine = head.lower() not in ("ley", "constitución", "ordenanza")
    return f"{'el' if masculine else 'la'} {head.capitalize()} {rest}".strip()


def of(law: Publication) -> str:
    name = called(law)
    return f"del {name[3:]}" if name.startswith("el ") else f"de {name}"


def body(chunks: list[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
    """What stands before the first transitory, and from there to the last chunk of that series of transitories."""
    first = next((n for n, c in enumerate(chunks) if (c.provision or "").startswith("trans")), len(chunks))
    end = first
    while end < len(chunks) and (chunks[end].provision or "").startswith("trans"):
        end += 1
    return chunks[:first], chunks[first:end]


def spelled(number: str) -> str:
    return number.replace("-bis", " Bis").replace("-ter", " Ter")


def pairs(corpus: wiring.OpenCorpus, kind: str, seed: int) -> Iterator[Pair]:
    chance = random.Random(seed)
    every = laws(corpus)
    while True:
        law = chance.choice(every)
        articles, transitories = body(corpus.reader.chunks(law.code, LAWS))
        within = transitories if kind == "transitory" else articles
        prefix = "trans:" if kind == "transitory" else "art:"
        own = [c for c in within if (c.provision or "").split("/")[0].startswith(prefix)]
        if kind != "transitory":  # an article in words is one of the decree that issues or changes the law
            own = [c for c in own if c.heading_path and any(sign.isdigit() for sign in c.heading_path[-1])]
        numbers = sorted({c.provision.split("/")[0] for c in own if c.provision})
        if not numbers:
            continue
        path = chance.choice(numbers)
        gold = [c for c in own if provision_matches(path, c.provision)]
        number = path.partition(":")[2]
        if kind == "article" and number != "unico":
            yield Pair(f"¿Qué establece el artículo {spelled(number)} {of(law)}?", frozenset(c.id for c in gold))
        elif kind == "transitory" and number.isdigit() and int(number) in ORDINALS:
            name = ORDINALS[int(number)]
            yield Pair(f"¿Qué dice el artículo {name} transitorio {of(law)}?", frozenset(c.id for c in gold))
        elif kind == "fraction":
            marks = [(m[1], c.id) for c in gold for m in FRACTION.finditer(c.text)]
            if marks and len({m for m, _ in marks}) == len(marks):
                mark, chunk = chance.choice(marks)
                asked = f"¿Qué dice la fracción {mark} del artículo {spelled(number)} {of(law)}?"
                yield Pair(asked, frozenset({chunk}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=("article", "fraction", "transitory"), default="article")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    calls = right = 0
    corpus = wiring.open_corpus(options.index)
    with tempfile.TemporaryDirectory() as traces:
        drawn = pairs(corpus, options.kind, options.seed)
        for pair in (next(drawn) for _ in range(options.pairs)):
            result = wiring.run_question(pair.question, index=options.index, trace_dir=Path(traces)).result
            cited = set(result["citations"])
            good = result["terminal_state"] == "answered" and bool(cited & pair.gold)
            end = "right" if good else "wrong" if result["terminal_state"] == "answered" else result["reason"]
            ends[end] += 1
            right += good
            calls += result["spend"]["tool_calls"]
            if options.show and not good:
                print(f"{end:18} {pair.question}  cited {sorted(cited)}, want {sorted(pair.gold)}")
    print(f"{options.kind}: {right} of {options.pairs} right, {calls / options.pairs:.1f} calls a question")
    print("  " + ", ".join(f"{end} {n}" for end, n in ends.most_common()))


if __name__ == "__main__":
    main()
