"""The words around a figure in a claim are those of its own row, column or clause, or the claim is refused."""

from __future__ import annotations

import pytest
from coverage_builders import prepared

from dofrag.coverage.binding import Quoted, misbound

TABLE = (
    "| Concepto | Diario | Mensual | Anual |\n|---|---|---|---|\n"
    "| Cuota de amarre | $99.00 | $3,009.60 | $36,115.20 |\n| Cuota de fondeo | $41.50 | $1,261.60 | $15,139.20 |\n"
)
YEARS = "| Año | Cuota de amarre |\n|---|---|\n| 2029 | $90.00 |\n| 2030 | $95.00 |\n| 2031 | $99.00 |\n"
ZONES = "Las cuotas son: Zona A $10.00, Zona B $12.00 y Zona C $15.00 por embarcación."
AFTER = "La cuota es de 500 pesos para embarcaciones de pesca y 300 pesos para lanchas de recreo."
EACH = "El valor diario de la cuota es de $99.00, el mensual de $3,009.60 y el valor anual de $36,115.20."
TOWNS = "En Puerto Claro la tarifa es de 40 pesos; en Bahía Honda, de 55 pesos."
LIST = "Los valores diario, mensual y anual de la cuota son $99.00, $3,009.60 y $36,115.20, respectivamente."


def faults(claim: str, *texts: str) -> list[str]:
    passages = [prepared(text, id=n, code=f"900000{n}") for n, text in enumerate(texts, 1)]
    return [figure for figure, _ in misbound(claim, [Quoted(p, 0, len(p.text)) for p in passages])]


WRONG = [
    ("El valor anual de la cuota de amarre es de $99.00", TABLE),
    ("Cuota de amarre: al año, $99.00", TABLE),
    ("La cuota de fondeo es de $99.00 diarios", TABLE),
    ("Cuota de amarre: diario $41.50; cuota de fondeo: diario $99.00", TABLE),
    ("Cuota de amarre: diario $99.00, mensual $36,115.20 y anual $3,009.60", TABLE),
    ("Los valores anual, mensual y diario de la cuota de amarre son $99.00, $3,009.60 y $36,115.20", TABLE),
    ("En 2030 la cuota de amarre fue de $99.00", YEARS),
    ("La cuota pasó de $95.00 en 2029 a $90.00 en 2030", YEARS),
    ("Zona A $12.00, Zona B $10.00", ZONES),
    ("Son $12.00 en la Zona A y $10.00 en la Zona B", ZONES),
    ("En la Zona C se pagan $10.00 por embarcación", ZONES),
    ("La cuota es de 300 pesos para embarcaciones de pesca y 500 pesos para lanchas de recreo", AFTER),
    ("La cuota para lanchas de recreo es de 500 pesos", AFTER),
    ("El valor anual de la cuota es de $99.00", EACH),
    ("El valor diario de la cuota es de $3,009.60", EACH),
    ("La tarifa en Bahía Honda es de 40 pesos", TOWNS),
    ("En Puerto Claro, 55 pesos; en Bahía Honda, 40 pesos", TOWNS),
    ("El valor mensual de la cuota es de $99.00", LIST),
    ("El valor semanal de la tarifa en Puerto Claro es de 40 pesos", TOWNS),
]


@pytest.mark.parametrize(("claim", "quote"), WRONG)
def test_words_of_another_row_column_or_clause(claim: str, quote: str) -> None:
    assert faults(claim, quote)


RIGHT = [
    ("El valor diario de la cuota de amarre es de $99.00", TABLE),
    ("La cuota de amarre vale $99.00 al día, $3,009.60 al mes y $36,115.20 al año", TABLE),
    ("Cuota de amarre: Diario $99.00; Mensual $3,009.60; Anual $36,115.20", TABLE),
    ("Los valores diario, mensual y anual de la cuota de amarre son $99.00, $3,009.60 y $36,115.20", TABLE),
    ("Cuota de amarre: $99.00 diarios; cuota de fondeo: $41.50 diarios", TABLE),
    ("Para amarre son $99.00 y para fondeo $41.50 por día", TABLE),
    ("La cuota es de $99.00", TABLE),
    ("En 2031 la cuota de amarre es de $99.00", YEARS),
    ("La cuota pasó de $90.00 en 2029 a $95.00 en 2030", YEARS),
    ("Zona A $10.00, Zona B $12.00", ZONES),
    ("Son $12.00 en la Zona B y $10.00 en la Zona A", ZONES),
    ("La cuota para lanchas de recreo es de 300 pesos", AFTER),
    ("Las lanchas pagan 300 pesos; las embarcaciones de pesca, 500 pesos", AFTER),
    ("El valor mensual de la cuota es de $3,009.60", EACH),
    ("La cuota vale $99.00 diarios, $3,009.60 mensuales y $36,115.20 anuales", EACH),
    ("En Bahía Honda la tarifa asciende a 55 pesos", TOWNS),
    ("El valor mensual de la cuota es de $3,009.60", LIST),
    (LIST, LIST),
    (ZONES, ZONES),
]


@pytest.mark.parametrize(("claim", "quote"), RIGHT)
def test_words_of_its_own(claim: str, quote: str) -> None:
    assert faults(claim, quote) == []


def test_two_quotes_do_not_lend_each_other_their_names() -> None:
    ancla = "El monto de la Beca Ancla es de 500 pesos por alumno."
    faro = "El monto de la Beca Faro es de 700 pesos por alumno."
    assert faults("El monto de la Beca Ancla es de 500 pesos y el de la Beca Faro de 700 pesos", ancla, faro) == []
    assert faults("El monto de la Beca Ancla es de 700 pesos", ancla, faro) == ["700 pesos"]
    assert len(faults("Beca Faro: 500 pesos; Beca Ancla: 700 pesos", ancla, faro)) == 2


def test_the_fault_tells_what_stands_at_the_figure() -> None:
    passage = prepared(TABLE)
    [(figure, label)] = misbound("Al año, la cuota de amarre es de $99.00", [Quoted(passage, 0, len(TABLE))])
    assert figure == "$99.00"
    assert "Diario" in label
    assert "amarre" in label


def test_a_long_table_and_a_long_claim_take_their_time_once() -> None:
    import time

    rows = "".join(f"| Cuota {n} de la clase {n % 7} | ${n}.50 | ${n * 30}.10 |\n" for n in range(400))
    passage = prepared("| Concepto | Diario | Mensual |\n|---|---|---|\n" + rows)
    claim = "; ".join(f"Cuota {n} de la clase {n % 7}: diario ${n}.50, mensual ${n * 30}.10" for n in range(60))
    start = time.process_time()
    misbound(claim, [Quoted(passage, 0, len(passage.text))])
    assert time.process_time() - start < 5


DATES = (
    "El aviso se firmó el 3 de marzo de 2031, se publicó el 5 de marzo de 2031 "
    "y entra en vigor el 9 de abril de 2031."
)


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("El aviso entra en vigor el 9 de abril de 2031", False),
        ("El aviso se firmó el 3 de marzo de 2031", False),
        ("El aviso entra en vigor el 5 de marzo de 2031", True),
        ("El aviso se firmó el 9 de abril de 2031", True),
        ("Se firmó el 5 de marzo de 2031 y se publicó el 3 de marzo de 2031", True),
    ],
)
def test_a_day_keeps_what_happens_on_it(claim: str, wrong: bool) -> None:
    assert bool(faults(claim, DATES)) is wrong
