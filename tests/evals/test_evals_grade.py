"""Grading: pure, mechanical, and as strict as it says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dofrag.domain.run import ENDS, Reason
from dofrag.evals.dataset import Item, Nugget, Part, Value
from dofrag.evals.grade import Grade, grade
from dofrag.evals.locate import Unit


def item(
    *nuggets: Nugget, state: str = "answered", reason: str | None = None, forbidden: tuple[str, ...] = ()
) -> Item:
    return Item(
        id="X1", category="c", question="¿Cuánto?", as_of=None, expected_state=state, expected_reason=reason,
        parts=(Part("q1", "¿Cuánto?", nuggets),), gold=(), forbidden=forbidden,
    )  # fmt: skip


def result(
    *claims: tuple[str, str], reason: str = "closed", cited: tuple[int, ...] = (1,), **more: Any
) -> dict[str, Any]:
    state = str(ENDS[Reason(reason)][0])
    return {
        "terminal_state": state,
        "reason": reason,
        "answer": " ".join(text for text, _ in claims) if state == "answered" else None,
        "claims": [
            {"text": text, "citations": [{"chunk_id": 1, "quote": quote}], "computed": None} for text, quote in claims
        ],
        "sources": [{"chunk_id": n, "publication_code": f"P{n}"} for n in cited],
        "premise": {"status": "not_applicable", "correction": None},
        **more,
    }  # fmt: skip


def nugget(**kinds: Any) -> Nugget:
    return Nugget(text="it", vital=True, **kinds)


def found(wanted: Nugget, said: str) -> bool:
    return grade(item(wanted), result((said, said)), ()).nuggets[0].found


@pytest.mark.parametrize(
    ("kinds", "said", "expected"),
    [
        ({"accept": (r"veinte dias",)}, "En VEINTE DÍAS hábiles", True),
        ({"accept": (r"veinte días",)}, "en veinte  dias", True),
        ({"accept": (r"año",)}, "el ano", False),
        ({"accept": (r"NOM-035",)}, "la NOM‑035", True),
        ({"accept": (r"\bsiete\b", r"\b7\b")}, "son 7.", True),
        ({"value": Value(number=Decimal("113.14"))}, "es de $113.14 pesos", True),
        ({"value": Value(number=Decimal("113.14"))}, "es de $113.15 pesos", True),
        ({"value": Value(number=Decimal("113.14"))}, "es de $113.16 pesos", False),
        ({"value": Value(number=Decimal("113.14"))}, "es de $1,113.14 pesos", False),
        ({"value": Value(number=Decimal("42794.64"))}, "anual $42,794.64", True),
        ({"value": Value(number=Decimal("10.8386"))}, "fue de $10.8386 M.N.", True),
        ({"value": Value(number=Decimal("10.8386"))}, "fue de $10.8396 M.N.", False),
        ({"value": Value(number=Decimal(14))}, "catorce inmuebles", True),
        ({"value": Value(number=Decimal(14))}, "15 inmuebles", False),
        ({"value": Value(identifier="NOM-035-STPS-2018")}, "la Norma NOM-035-STPS-2018, que", True),
        ({"value": Value(identifier="NOM-035-STPS-2018")}, "la Norma NOM-035-STPS-20181", False),
        ({"value": Value(identifier="NOM-035-STPS-2018")}, "la NOM-036-STPS-2018", False),
        ({"value": Value(items=("Umán", "Tenosique"))}, "Tenosique y Uman", True),
        ({"value": Value(items=("Umán", "Tenosique"))}, "Umán", False),
        ({"value": Value(items=("Umán",), others=("Mérida",))}, "Umán y Mérida", False),
    ],
)  # fmt: skip
def test_nuggets(kinds: dict[str, Any], said: str, expected: bool) -> None:
    assert found(nugget(**kinds), said) is expected


@pytest.mark.parametrize(("said", "expected"), [("el 1 de febrero de 2026", True), ("2 de febrero de 2026", False),
                                                ("en febrero de 2026", False), ("01/02/2026", True)])  # fmt: skip
def test_dates_are_exact(said: str, expected: bool) -> None:
    from datetime import date

    assert found(nugget(value=Value(date=date(2026, 2, 1))), said) is expected


def test_lists_keep_how_much_of_them_was_found() -> None:
    wanted = nugget(value=Value(items=("uno", "dos", "tres", "cuatro"), others=("cinco",)))
    graded = grade(item(wanted), result(("uno y dos", "uno"), ("tres", "tres y cinco")), ()).nuggets[0]
    assert (graded.found, graded.share) == (False, 0.6)


def test_a_quote_counts_for_its_publication_only() -> None:
    wanted = nugget(quotes=("315.04",), source="P1")
    assert grade(item(wanted), result(("x", "de 315.04 pesos")), ()).nuggets[0].found
    other = nugget(quotes=("315.04",), source="P2")
    assert not grade(item(other), result(("315.04", "de 315.04 pesos"), cited=(1, 2)), ()).nuggets[0].found
    assert grade(item(nugget(source="P1")), result(("x", "y")), ()).nuggets[0].found
    assert not grade(item(nugget(source="P2")), result(("x", "y")), ()).nuggets[0].found


def test_a_computed_value_must_be_declared() -> None:
    wanted = nugget(value=Value(number=Decimal("36.24")), computed=True)
    plain = result(("la diferencia es 36.24", "36.24"))
    assert not grade(item(wanted), plain, ()).nuggets[0].found
    plain["claims"][0]["computed"] = {"operation": "difference", "inputs": [], "result": "-36.24"}
    assert grade(item(wanted), plain, ()).nuggets[0].found


def graded(reason: str, *, state: str = "answered", expected: str | None = None, claims: bool = True) -> Grade:
    wanted = (nugget(accept=("si",)),) if state == "answered" else ()
    said = (("sí", "sí"),) if claims else ()
    return grade(item(*wanted, state=state, reason=expected), result(*said, reason=reason), ())


@pytest.mark.parametrize(
    ("reason", "claims", "end", "false_refusal"),
    [
        ("closed", True, "answered", False),
        ("not_in_corpus", False, "refused", True),
        ("premise_unclear", True, "refused", True),
        ("scope_denied", False, "refused", True),
        ("coverage_missing", True, "partial", False),
        ("coverage_missing", False, "refused", True),
        ("tool_call_limit", False, "limited", False),
        ("wall_clock", True, "limited", False),
        ("ambiguous", False, "clarified", False),
        ("planner_stalled", False, "failed", False),
    ],
)
def test_ends(reason: str, claims: bool, end: str, false_refusal: bool) -> None:
    answerable = graded(reason, claims=claims)
    assert (answerable.end, answerable.false_refusal) == (end, false_refusal)
    other = graded(reason, claims=claims, state="abstained")
    assert (other.end, other.refused, other.false_refusal) == (end, end == "refused", False)


def test_what_is_a_confident_error() -> None:
    assert not graded("closed").confident_error
    assert graded("closed", expected="premise_corrected").confident_error
    assert graded("closed", state="abstained").confident_error
    missing = grade(item(nugget(accept=("no",))), result(("sí", "sí")), ())
    assert (missing.confident_error, missing.correct, missing.why) == (True, False, ("missing: it",))
    hit = grade(item(nugget(accept=("si",)), forbidden=(r"\bsi\b",)), result(("sí", "sí")), ())
    assert (hit.confident_error, hit.forbidden) == (True, (r"\bsi\b",))
    extra = Nugget(text="more", vital=False, accept=("no",))
    assert grade(item(nugget(accept=("si",)), extra), result(("sí", "sí")), ()).correct is True


def test_forbidden_is_about_answers() -> None:
    partial = result(("sí", "sí"), reason="coverage_missing")
    assert grade(item(nugget(accept=("si",)), forbidden=("si",)), partial, ()).forbidden == ()
    long = result(("palabra " * 900 + "prohibida", "sí"))
    assert grade(item(forbidden=("prohibida",)), long, ()).forbidden == ("prohibida",)


def test_unscored_is_not_zero() -> None:
    assert grade(item(), result(("sí", "sí")), ()).correct is None
    broken = graded("provider_error", claims=False)
    assert (broken.scored, broken.correct, broken.confident_error) == (False, None, False)
    assert graded("not_in_corpus", state="abstained", expected="not_in_corpus", claims=False).correct is True
    assert graded("coverage_missing", state="abstained", expected="not_in_corpus", claims=False).correct is False


def test_wrongly_contested_is_a_false_refusal() -> None:
    assert graded("closed_contested", expected="closed").false_refusal
    assert not graded("closed_contested", expected="closed_contested").false_refusal


def test_citations_with_alternatives() -> None:
    units = (
        Unit(name="group a", codes=("P1", "P2"), chunk_ids=(1, 2)),
        Unit(name="gold 1.0", codes=("P3",), chunk_ids=(3,)),
        Unit(name="gold 2.0", codes=("P4",), chunk_ids=()),
    )
    cited = grade(item(), result(("x", "y"), cited=(2, 9)), units)
    assert (cited.citation_precision, cited.citation_recall) == (0.5, pytest.approx(1 / 3))
    whole = grade(item(), result(("x", "y"), cited=(1, 3, 4)), units)
    assert (whole.citation_precision, whole.citation_recall) == (1.0, 1.0)
    nothing = grade(item(), result(("x", "y"), cited=()), units)
    assert (nothing.citation_precision, nothing.citation_recall) == (None, 0.0)
    assert grade(item(), result(("x", "y")), ()).citation_recall is None


@given(
    reason=st.sampled_from(list(Reason)),
    state=st.sampled_from(["answered", "abstained", "needs_clarification", "escalated"]),
    expected=st.sampled_from([None, *Reason]),
    text=st.text(max_size=300),
)
def test_any_end_has_a_grade_that_agrees_with_itself(
    reason: Reason, state: str, expected: Reason | None, text: str
) -> None:
    wanted = item(nugget(accept=("si",)), nugget(value=Value(number=Decimal(3))), state=state, reason=expected)
    made = grade(wanted, result((text, text), reason=reason), ())
    assert not (made.correct and made.confident_error)
    assert not (made.false_refusal and state != "answered")
    assert not (made.confident_error and made.end != "answered")
    assert made.scored or made.correct is None
