"""The closure check: what it accepts, what it names, and what no draft gets past it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from coverage_builders import prepared, year
from hypothesis import given, settings
from hypothesis import strategies as st

from dofrag.coverage.closure import check_closure
from dofrag.coverage.compose import compose_answer, partial_claims
from dofrag.coverage.ledger import assess
from dofrag.domain.evidence import (
    QUOTE_MAX,
    Citation,
    Claim,
    Computation,
    Draft,
    FaultCode,
    PremiseFinding,
    PremiseStatus,
)
from dofrag.domain.question import ItemRequired, Premise, Source, SubQuestion, ValueRequired

TEXT_2030 = "El valor diario de la Unidad Faro para 2030 es de $81.20 pesos y el valor mensual es de $2,468.48 pesos."
TEXT_2031 = "El valor diario de la Unidad Faro para 2031 es de $84.45 pesos y el valor mensual es de $2,567.28 pesos."
LAW = (
    "Artículo 3. Son objetos de esta Ley: I. Regular los faros de la costa; II. Fomentar la navegación nocturna; "
    "III. Proteger a los fareros, y IV. Sancionar el apagado doloso."
)
READ = {
    7: prepared(TEXT_2030, id=7, code="9000007", title="UNIDAD Faro.", published_on=date(2030, 1, 9)),
    8: prepared(TEXT_2031, id=8, code="9000008", title="UNIDAD Faro.", published_on=date(2031, 1, 9)),
    9: prepared(LAW, id=9, code="9000009", title="LEY de Faros.", published_on=date(2030, 5, 2)),
    10: prepared(
        "La junta sesionó y aprobó su calendario de actividades del año.", id=10, code="9000010", title="ACTA"
    ),
}


def value(n: int, y: int, frequency: str = "daily") -> ValueRequired:
    return ValueRequired(
        id=f"q1.r{n}", label=f"valor {frequency} {y}", rule="t", indicator="Unidad Faro", unit="MXN",
        frequency=frequency, period=year(y),
    )  # fmt: skip


TWO_YEARS = (
    SubQuestion(
        id="q1", text="valor diario de 2030 y 2031", origin="t", requirements=(value(1, 2030), value(2, 2031))
    ),
)
FOUR_ITEMS = (
    SubQuestion(
        id="q1",
        text="los cuatro objetos",
        origin="t",
        requirements=tuple(
            ItemRequired(id=f"q1.r{k}", label=f"objeto {k}", rule="t", terms=("objetos",), ordinal=k, of=4,
                         source=Source(name=("ley", "faros")))
            for k in range(1, 5)
        ),
    ),
)  # fmt: skip


def claim(chunk_id: int, quote: str, text: str | None = None, computed: Computation | None = None) -> Claim:
    citation = Citation(chunk_id=chunk_id, quote=quote)
    return Claim(text=text or quote, sub_questions=("q1",), citations=(citation,), computed=computed)


def codes(draft: Draft, subs=TWO_YEARS, read=READ, seen=(7, 8, 9, 10, 11)) -> list[FaultCode]:
    return [f.code for f in check_closure(draft, subs, read, seen).faults]


ALTERED = TEXT_2030.replace("81.20", "81.21")
GOOD = Draft(claims=(claim(7, TEXT_2030), claim(8, TEXT_2031)))


def test_a_good_draft_is_accepted_with_true_spans_and_the_chunk_that_answers_each_requirement():
    verdict = check_closure(GOOD, TWO_YEARS, READ, (7, 8))
    assert verdict.faults == ()
    assert dict(verdict.answered) == {"q1.r1": 7, "q1.r2": 8}
    for one in verdict.claims:
        for c in one.citations:
            assert READ[c.chunk_id].text[c.start : c.end] == c.quote


def test_layout_may_differ_between_quote_and_text():
    folded = TEXT_2030.upper().replace(" ", "\n", 3)
    assert codes(Draft(claims=(claim(7, folded, TEXT_2030), claim(8, TEXT_2031)))) == []


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (Draft(claims=()), FaultCode.CITATION_REQUIRED),
        (Draft(claims=(claim(11, TEXT_2030), claim(8, TEXT_2031))), FaultCode.NOT_READ),
        (Draft(claims=(claim(999, TEXT_2030), claim(8, TEXT_2031))), FaultCode.UNKNOWN_CITATION),
        (Draft(claims=(claim(7, ALTERED), claim(8, TEXT_2031))), FaultCode.QUOTE_NOT_FOUND),
        (Draft(claims=(claim(7, "de $81.20"), claim(8, TEXT_2031))), FaultCode.QUOTE_TOO_SHORT),
        (Draft(claims=(claim(7, "x" * (QUOTE_MAX + 1)), claim(8, TEXT_2031))), FaultCode.QUOTE_TOO_LONG),
        (Draft(claims=(claim(7, TEXT_2030, "Es de 81.20 pesos y creció 4 por ciento."), claim(8, TEXT_2031))),
         FaultCode.NUMBER_NOT_QUOTED),
        (Draft(claims=(claim(7, TEXT_2030),)), FaultCode.REQUIREMENT_MISSING),
        (Draft(claims=(*GOOD.claims, replace(GOOD.claims[0], sub_questions=("q9",)))),
         FaultCode.UNKNOWN_SUB_QUESTION),
        (Draft(claims=(*GOOD.claims, claim(10, READ[10].text))), FaultCode.IRRELEVANT_CITATION),
        (Draft(claims=(claim(7, TEXT_2030, "El valor de 2030 está en la cita."), claim(8, TEXT_2031))),
         FaultCode.REQUIREMENT_MISSING),
    ],
)  # fmt: skip
def test_each_fault_is_named(draft, expected):
    assert expected in codes(draft)


def test_an_unread_and_an_invented_citation_are_reported_as_rejected():
    draft = Draft(claims=(claim(999, TEXT_2030), claim(11, TEXT_2031)))
    assert check_closure(draft, TWO_YEARS, READ, (7, 8, 11)).rejected_citations == (11, 999)


def test_nothing_read_is_said_first():
    faults = check_closure(GOOD, TWO_YEARS, {}, (7, 8)).faults
    assert faults[0].code is FaultCode.NOT_READ


def test_the_quote_must_hold_the_value_not_just_come_from_the_right_passage():
    half = "El valor diario de la Unidad Faro para 2030"
    faults = check_closure(Draft(claims=(claim(7, half), claim(8, TEXT_2031))), TWO_YEARS, READ, (7, 8)).faults
    assert [(f.code, f.where) for f in faults] == [(FaultCode.REQUIREMENT_MISSING, "q1.r1")]


@pytest.mark.parametrize(
    ("computation", "text", "ok"),
    [
        (Computation(operation="difference", inputs=("81.20", "84.45"), result="3.25"), "Subió 3.25 pesos.", True),
        (Computation(operation="difference", inputs=("81.20", "84.45"), result="3.35"), "Subió 3.35 pesos.", False),
        (Computation(operation="percent_change", inputs=("81.20", "84.45"), result="4.0"), "Subió 4.0 %.", True),
        (Computation(operation="percent_change", inputs=("81.20", "84.45"), result="4.2"), "Subió 4.2 %.", False),
        (Computation(operation="difference", inputs=("81.20", "90.00"), result="8.80"), "Subió 8.80 pesos.", False),
        (Computation(operation="guess", inputs=("81.20", "84.45"), result="3.25"), "Subió 3.25 pesos.", False),
    ],
)
def test_computed_values_are_recomputed(computation, text, ok):
    both = tuple(Citation(chunk_id=i, quote=q) for i, q in ((7, TEXT_2030), (8, TEXT_2031)))
    extra = Claim(text=text, sub_questions=("q1",), citations=both, computed=computation)
    found = codes(Draft(claims=(*GOOD.claims, extra)))
    assert (found == []) is ok
    assert ok or FaultCode.COMPUTATION_WRONG in found


def test_calendar_days_are_computed_and_working_days_are_not():
    text = "Las oficinas responderán en un plazo de diez días {kind} contados desde la publicación del aviso."
    for kind, ok in (("naturales", True), ("hábiles", False)):
        body = text.format(kind=kind)
        read = {3: prepared(body, id=3, title="AVISO de oficinas", published_on=date(2031, 2, 20))}
        from dofrag.domain.question import DeadlineRequired

        subs = (
            SubQuestion(id="q1", text="t", origin="t", requirements=(
                DeadlineRequired(id="q1.r1", label="plazo", rule="t", terms=("oficinas", "responderan")),)),
        )  # fmt: skip
        computed = Computation(operation="add_days", inputs=("2031-02-20", "10"), result="2031-03-02")
        draft = Draft(claims=(claim(3, body), claim(3, body, "El plazo vence el 2 de marzo de 2031.", computed)))
        assert (codes(draft, subs, read) == []) is ok


def test_three_of_four_items_is_three_of_four():
    three = LAW[: LAW.index(", y IV")]
    verdict = check_closure(Draft(claims=(claim(9, three),)), FOUR_ITEMS, READ, (9,))
    assert [f.where for f in verdict.faults] == ["q1.r4"]
    assert dict(verdict.answered) == {"q1.r1": 9, "q1.r2": 9, "q1.r3": 9}
    assert codes(Draft(claims=(claim(9, LAW),)), FOUR_ITEMS) == []


def test_items_of_two_lists_do_not_add_up():
    first = "Son objetos de esta Ley: I. Regular los faros de la costa; II. Fomentar la navegación nocturna;"
    other = "Son objetos de esta Ley: III. Cobrar los derechos de muelle; IV. Vender el aceite usado."
    read = {
        1: prepared(first, id=1, code="9000001", title="LEY de Faros.", provision="art:3"),
        2: prepared(other, id=2, code="9000002", title="LEY de Faros y Muelles.", provision="art:8"),
    }
    ledger = assess(FOUR_ITEMS, read)
    assert sorted(len(ledger.support[f"q1.r{k}"]) for k in range(1, 5)) == [0, 0, 1, 1]
    assert ledger.counts["q1.r1"] == (2, 4)


def test_a_premise_is_false_only_with_the_true_value_quoted_and_claimed():
    text = "Los valores de la Unidad Faro para 2031 estarán vigentes a partir del 1 de febrero de 2031."
    read = {5: prepared(text, id=5, title="UNIDAD Faro.")}
    premise = Premise(id="q1.p1", slot="date", label="rige desde enero", expected="2031-01-01")
    subs = (replace(TWO_YEARS[0], premises=(premise,)),)
    true = claim(5, text)
    good = Draft(claims=(true,), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=text))
    verdict = check_closure(good, subs, read, (5,))
    assert verdict.faults == ()
    assert verdict.contradicted == ("q1.r1", "q1.r2")
    absent = "No se encontró ninguna publicación que lo diga."
    for bad in (
        Draft(claims=(), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=absent)),
        Draft(claims=(true,), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=absent)),
        Draft(claims=(true,), premise=PremiseFinding(status=PremiseStatus.FALSE, correction="Rige desde siempre.")),
        Draft(claims=(true,), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=None)),
        Draft(claims=(true,)),
    ):
        assert FaultCode.PREMISE_UNPROVEN in codes(bad, subs, read, (5,))


def test_a_true_premise_cannot_be_called_false_to_skip_what_is_asked():
    text = "Los valores de la Unidad Faro para 2031 estarán vigentes a partir del 1 de febrero de 2031."
    read = {5: prepared(text, id=5, title="UNIDAD Faro.")}
    premise = Premise(id="q1.p1", slot="date", label="rige desde febrero", expected="2031-02-01")
    subs = (replace(TWO_YEARS[0], premises=(premise,)),)
    draft = Draft(claims=(claim(5, text),), premise=PremiseFinding(status=PremiseStatus.FALSE, correction=text))
    found = codes(draft, subs, read, (5,))
    assert FaultCode.PREMISE_UNPROVEN in found
    assert FaultCode.REQUIREMENT_MISSING in found


def test_extractive_claims_always_close_what_is_covered():
    for subs in (TWO_YEARS, FOUR_ITEMS):
        ledger = assess(subs, READ)
        claims = partial_claims(subs, READ, ledger.support)
        assert check_closure(Draft(claims=claims), subs, READ, tuple(READ)).faults == ()
        answer = compose_answer(claims, {i: n for n, i in enumerate(READ, 1)})
        assert all("[" in paragraph for paragraph in answer.split("\n\n"))


# ---- no generated draft gets an unread, altered or irrelevant citation accepted ---------------------------------

_quotes = st.sampled_from([TEXT_2030, TEXT_2031, LAW, READ[10].text])


@st.composite
def drafts(draw):
    """Claims made up of pieces of what was read and not read, alone or beside claims that answer."""
    claims = list(GOOD.claims) if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 3))):
        citations = []
        for _ in range(draw(st.integers(0, 3))):
            quote = draw(_quotes)
            start = draw(st.integers(0, len(quote) - 1))
            end = draw(st.integers(start, len(quote)))
            piece = quote if draw(st.booleans()) else quote[start:end]
            if piece and draw(st.booleans()):
                at = draw(st.integers(0, len(piece) - 1))
                piece = piece[:at] + draw(st.sampled_from("0123456789x ,.")) + piece[at + 1 :]
            citations.append(Citation(chunk_id=draw(st.sampled_from([7, 8, 9, 10, 11, 999])), quote=piece))
        text = draw(st.one_of(_quotes, st.just(" ".join(c.quote for c in citations)), st.text(max_size=40)))
        subs = draw(st.sampled_from([("q1",), (), ("q9",), ("q1", "q9")]))
        claims.append(Claim(text=text, sub_questions=subs, citations=tuple(citations)))
    return Draft(claims=tuple(claims))


@settings(max_examples=2000, deadline=None)
@given(drafts())
def test_no_accepted_draft_holds_an_unread_altered_or_irrelevant_citation(draft):
    from dofrag.text.fold import fold_with_map

    verdict = check_closure(draft, TWO_YEARS, READ, (7, 8, 9, 10, 11))
    if verdict.faults:
        return
    assert draft.claims
    for one in draft.claims:
        assert one.citations
        for c in one.citations:
            assert c.chunk_id in (7, 8)
            assert len(c.quote) <= QUOTE_MAX
            letters = [x for x in fold_with_map(c.quote).text if x.isalnum()]
            assert "".join(letters) in "".join(x for x in fold_with_map(READ[c.chunk_id].text).text if x.isalnum())
    assert set(dict(verdict.answered)) == {"q1.r1", "q1.r2"}


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_one_changed_digit_is_always_refused(data):
    which = data.draw(st.sampled_from([0, 1]))
    target = GOOD.claims[which]
    places = [i for i, c in enumerate(target.text) if c.isdigit()]
    at = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != target.text[at]]))
    altered = target.text[:at] + digit + target.text[at + 1 :]
    in_quote = data.draw(st.booleans())
    quote = altered if in_quote else target.citations[0].quote
    bad = claim(target.citations[0].chunk_id, quote, altered)
    claims = list(GOOD.claims)
    claims[which] = bad
    assert check_closure(Draft(claims=tuple(claims)), TWO_YEARS, READ, (7, 8)).faults
