"""How long coverage takes once passages are read: 20 requirements against 40 passages.

    python benchmarks/closure.py [--passages 40] [--rounds 50] [--json FILE]

The passages are made up here, about 1,900 characters each: notices with tables, articles with lists and transitory
provisions. The question asks for the twenty values that four of the notices hold. Parsing is timed apart: it is done
once a passage, when it is read. `assess` is the ledger of a turn, `meets` all 20 × 40 pairs, `closure` one check of a
draft that is accepted. `first` is the first call in the process; a closure check follows an `assess`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from dofrag.coverage.closure import check_closure
from dofrag.coverage.compose import partial_claims
from dofrag.coverage.ledger import assess
from dofrag.coverage.match import PreparedPassage, meets, prepare
from dofrag.coverage.trial import passage_from
from dofrag.domain.corpus import Chunk, Passage
from dofrag.domain.evidence import Draft
from dofrag.domain.question import DateRole, Period, Source, SubQuestion, ValueRequired

ZONES = ("Norte", "Sur", "Centro", "Costa", "Oriente")
YEARS = (2030, 2031, 2032, 2033)


def passages(count: int) -> dict[int, PreparedPassage]:
    """The first four hold the values; the others are of other notices, laws and tables."""
    out = {}
    for n in range(1, count + 1):
        year = YEARS[(n - 1) % 4]
        subject = "Cuota de Faro" if n <= 4 else ("Derecho de Muelle", "Tarifa de Boyas", "Aforo de Canales")[n % 3]
        rows = "\n".join(f"| Zona {z} | ${n * 3 + k}.{k}5 | ${n * 90 + k}.10 |" for k, z in enumerate(ZONES))
        articles = "\n\n".join(
            f"Artículo {k}. Las personas concesionarias de la zona pagarán dentro de los {k + 9} días hábiles "
            f"siguientes a la fecha en que se notifique la visita, conforme a los numerales {k}.1 a {k}.4: "
            f"I. el aviso de arribo; II. la bitácora de {year - 1}, y III. el comprobante por ${k * 1000}.00 pesos."
            for k in range(1, 6)
        )
        text = (
            f"{subject.upper()}\n\nSe dan a conocer los valores de la {subject} para el año {year}:\n\n"
            f"| Zona | Valor diario | Valor mensual |\n|---|---|---|\n{rows}\n\n{articles}\n\n"
            f"TRANSITORIOS\n\nÚNICO. Esta disposición entrará en vigor el 1 de febrero de {year}.\n\n"
            f"Puerto Alto, a 8 de enero de {year}.- El Director, Juan Ejemplo.- Rúbrica."
        )
        made = passage_from(text, date(year, 1, 9), title=f"VALORES de la {subject} para {year}.", issuer="PUERTOS")
        chunk = made.chunk
        numbered = Chunk(
            id=n, code=str(n), ordinal=0, start=0, end=chunk.end, heading_path=(), provision=None, kind="text",
            text=text,
        )  # fmt: skip
        out[n] = prepare(Passage(numbered, made.publication))
    return out


def question() -> tuple[SubQuestion, ...]:
    requirements = tuple(
        ValueRequired(
            id=f"q1.r{n}", label=f"cuota {zone} {year}", rule="t", indicator="Cuota de Faro", unit="MXN",
            frequency="daily", zone=f"Zona {zone}", terms=("cuota", "faro", "zona", zone.lower()), source=Source(),
            period=Period(start=date(year, 1, 1), end=date(year, 12, 31), role=DateRole.DATUM),
        )
        for n, (year, zone) in enumerate(((y, z) for y in YEARS for z in ZONES), 1)
    )  # fmt: skip
    text = "¿Cuál fue el valor diario de la Cuota de Faro en cada zona de 2030 a 2033?"
    return (SubQuestion(id="q1", text=text, origin="t", requirements=requirements, question=text),)


def milliseconds(call: Callable[[], object], rounds: int) -> dict[str, float]:
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        taken.append((time.process_time() - start) * 1000)
    return {"first": taken[0], "median": statistics.median(taken), "worst": max(taken)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    start = time.process_time()
    read = passages(options.passages)
    parsed = (time.process_time() - start) * 1000
    subs = question()
    cold = milliseconds(lambda: assess(subs, read), 1)["first"]
    ledger = assess(subs, read)
    draft = Draft(claims=partial_claims(subs, read, ledger.support))
    cold_check = milliseconds(lambda: check_closure(draft, subs, read, tuple(read)), 1)["first"]
    verdict = check_closure(draft, subs, read, tuple(read))
    if verdict.faults:
        raise SystemExit(f"the draft should close: {verdict.faults[:3]}")
    rows = {
        "closure": milliseconds(lambda: check_closure(draft, subs, read, tuple(read)), options.rounds),
        "meets": milliseconds(
            lambda: [meets(r, p, subs[0]) for r in subs[0].requirements for p in read.values()], options.rounds
        ),
        "assess": milliseconds(lambda: assess(subs, read), options.rounds),
    }
    rows["assess"]["first"], rows["closure"]["first"] = cold, cold_check
    chars = sum(len(p.text) for p in read.values()) // len(read)
    print(f"20 requirements, {len(read)} passages of {chars} characters; parsed once in {parsed:.0f} ms")
    print(f"{'ms':10}{'first':>9}{'median':>9}{'worst':>9}")
    for name, row in rows.items():
        print(f"{name:10}{row['first']:9.2f}{row['median']:9.2f}{row['worst']:9.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
