"""Grading one run against one item: mechanical, pure, with no model to judge. What cannot be judged is unscored.

Takes the result (`dofrag.result/1`), the item, and where its gold stands in the index; asks nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.domain.run import ENDS, Reason, TerminalState
from dofrag.evals.dataset import Item, Nugget, Value
from dofrag.evals.locate import Unit
from dofrag.evals.patterns import matches, squeeze
from dofrag.text.dates import find_dates
from dofrag.text.numbers import find_numbers
from dofrag.text.spans import find_quote

TOLERANCE = Decimal("0.01")
DENIALS = frozenset({Reason.NOT_IN_CORPUS, Reason.PREMISE_UNCLEAR, Reason.SCOPE_DENIED, Reason.APPROVAL_REQUIRED})
"""Reasons that say no. Giving up with nothing to show (`coverage_missing` without a claim) says it too."""
LIMITS = frozenset(r for r in Reason if str(r).endswith("_limit")) | {Reason.WALL_CLOCK, Reason.INTERRUPTED}
CLAIMS_MAX, CLAIM_MAX, ANSWER_MAX = 200, 4_000, 40_000
"""Claims, and characters of a claim and of an answer, that are looked at."""


class End(StrEnum):
    """How a run ended, as evaluation counts it."""

    ANSWERED = "answered"
    REFUSED = "refused"  # it said no, or gave up with nothing to show
    PARTIAL = "partial"  # it gave up, with what it had covered
    LIMITED = "limited"  # a limit stopped it: never a refusal
    CLARIFIED = "clarified"  # it asked back
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetGrade:
    """Whether one nugget was found; `share` of a list's items that were."""

    text: str
    vital: bool
    found: bool
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Everything that is counted of one run. `correct` and the citation figures are None where they are unscored."""

    end: End
    state_ok: bool
    reason_ok: bool
    nuggets: tuple[NuggetGrade, ...]
    forbidden: tuple[str, ...]
    citation_precision: float | None
    citation_recall: float | None
    confident_error: bool
    answerable: bool
    refused: bool
    false_refusal: bool
    correct: bool | None
    scored: bool
    why: tuple[str, ...] = field(default=())

    @property
    def vital(self) -> tuple[int, int]:
        """Vital nuggets found, and in all."""
        vital = [n for n in self.nuggets if n.vital]
        return sum(n.found for n in vital), len(vital)


def grade(item: Item, result: Mapping[str, Any], units: Sequence[Unit]) -> Grade:
    """Grade a run. Any result of the declared shape can be graded; nothing in it is trusted."""
    reason = Reason(result["reason"])
    end = end_of(result)
    answered = end is End.ANSWERED
    answerable = item.expected_state == TerminalState.ANSWERED
    said = _Said(result)
    nuggets = tuple(_nugget(n, said) for n in item.nuggets)
    text = squeeze(str(result["answer"] or "")[:ANSWER_MAX])
    forbidden = tuple(p for p in item.forbidden if answered and matches(p, text))
    state_ok = result["terminal_state"] == item.expected_state
    reason_ok = state_ok and item.expected_reason in (None, reason)
    missing = [n.text for n in nuggets if n.vital and not n.found]
    why = [f"missing: {text}" for text in missing] + [f"forbidden: {p}" for p in forbidden]
    if not reason_ok:
        why.append(f"ended {result['terminal_state']}/{reason}, expected {_expected(item)}")
    precision, recall = _citations(result, units)
    contested = reason is Reason.CLOSED_CONTESTED and item.expected_reason not in (None, reason)
    scored = reason is not Reason.PROVIDER_ERROR
    return Grade(
        end=end,
        state_ok=state_ok,
        reason_ok=reason_ok,
        nuggets=nuggets,
        forbidden=forbidden,
        citation_precision=precision,
        citation_recall=recall,
        confident_error=answered and bool(missing or forbidden or not reason_ok),
        answerable=answerable,
        refused=end is End.REFUSED,
        false_refusal=answerable and (end is End.REFUSED or contested),
        correct=_correct(item, end, reason_ok, why) if scored else None,
        scored=scored,
        why=tuple(why),
    )


def end_of(result: Mapping[str, Any]) -> End:
    """How evaluation counts the end of a run. The same rule on questions with and without an answer."""
    reason = Reason(result["reason"])
    match ENDS[reason][0]:
        case TerminalState.ANSWERED:
            return End.ANSWERED
        case TerminalState.FAILED:
            return End.FAILED
        case TerminalState.NEEDS_CLARIFICATION:
            return End.CLARIFIED
        case TerminalState.ABSTAINED | TerminalState.ESCALATED:
            if reason in LIMITS:
                return End.LIMITED
            return End.REFUSED if reason in DENIALS or not result["claims"] else End.PARTIAL


def _correct(item: Item, end: End, reason_ok: bool, why: Sequence[str]) -> bool | None:
    """An answer without nuggets to hold it against is unscored, never wrong."""
    if end is End.ANSWERED and reason_ok and not any(n.vital for n in item.nuggets) and not why:
        return None
    if item.expected_state == TerminalState.ANSWERED:
        return not why
    return reason_ok


def _expected(item: Item) -> str:
    return f"{item.expected_state}/{item.expected_reason}" if item.expected_reason else item.expected_state


class _Said:
    """What a run put forward: claim by claim, and its quotes by publication."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        code_of = {s["chunk_id"]: s["publication_code"] for s in result["sources"]}
        by_code: dict[str, list[str]] = defaultdict(list)
        self.stretches: list[str] = []  # as written: a claim, or one of its quotes
        self.computed: list[str] = []
        for claim in result["claims"][:CLAIMS_MAX]:
            self.stretches.append(str(claim["text"])[:CLAIM_MAX])
            if claim.get("computed"):
                self.computed.append(str(claim["computed"]["result"]))
            for citation in claim["citations"]:
                self.stretches.append(str(citation["quote"])[:CLAIM_MAX])
                by_code[str(code_of.get(citation["chunk_id"]))].append(citation["quote"])
        correction = result["premise"]["correction"]
        if correction:
            self.stretches.append(str(correction)[:CLAIM_MAX])
        if result["answer"]:
            self.stretches.append(str(result["answer"])[:ANSWER_MAX])
        self.stretches = list(dict.fromkeys(self.stretches))
        self.squeezed = [squeeze(s) for s in self.stretches]
        self.quoted = {code: squeeze(" ⏎ ".join(dict.fromkeys(texts))) for code, texts in by_code.items()}


def _nugget(nugget: Nugget, said: _Said) -> NuggetGrade:
    share = _share(nugget, said)
    return NuggetGrade(text=nugget.text, vital=nugget.vital, found=share == 1.0, share=round(share, 4))


def _share(nugget: Nugget, said: _Said) -> float:
    if any(matches(pattern, text) for pattern in nugget.accept for text in said.squeezed):
        return 1.0
    if nugget.value is not None:
        return _value(nugget.value, said.computed if nugget.computed else said.stretches)
    if nugget.source is not None:
        texts = [said.quoted[nugget.source]] if nugget.source in said.quoted else []
    else:
        texts = list(said.quoted.values()) if nugget.quotes else []
    return float(any(all(squeeze(q) in text for q in nugget.quotes) for text in texts))


def _value(value: Value, stretches: Sequence[str]) -> float:
    """1.0 where the value is found; of a list, the share of its items, below 1.0 where it holds one too many."""
    if value.number is not None:
        return float(any(_same_number(value.number, n) for s in stretches for n in _numbers(s)))
    if value.date is not None:
        days = (d for s in stretches for d in find_dates(s) if d.precision == "day")
        return float(any(d.first == d.last == value.date for d in days))
    if value.identifier is not None:
        return float(any(find_quote(value.identifier, s) is not None for s in stretches))
    held = sum(any(find_quote(i, s) is not None for s in stretches) for i in value.items)
    extra = sum(any(find_quote(i, s) is not None for s in stretches) for i in value.others)
    return held / (len(value.items) + extra)  # equal sets, and only they, give 1.0


def _numbers(text: str) -> list[Decimal]:
    try:
        return [Decimal(text.replace(",", "").strip())]
    except InvalidOperation:
        return [n.value for n in find_numbers(text)]


def _same_number(expected: Decimal, found: Decimal) -> bool:
    """Within 0.01; a value with more decimals than two, to the last of them. A difference may be told either way."""
    exponent = expected.normalize().as_tuple().exponent
    fine = isinstance(exponent, int) and exponent < -2
    allowed = Decimal(1).scaleb(exponent) / 2 if fine and isinstance(exponent, int) else TOLERANCE
    return found.is_finite() and abs(abs(expected) - abs(found)) <= allowed


def _citations(result: Mapping[str, Any], units: Sequence[Unit]) -> tuple[float | None, float | None]:
    """Precision: cited chunks that are gold over cited chunks. Recall: evidence that is cited over evidence."""
    cited = {s["chunk_id"]: s["publication_code"] for s in result["sources"]}
    if not units:
        return None, None
    good = {i for i, code in cited.items() if any(_hits(unit, i, code) for unit in units)}
    hit = sum(any(_hits(unit, i, code) for i, code in cited.items()) for unit in units)
    return (len(good) / len(cited) if cited else None), hit / len(units)


def _hits(unit: Unit, chunk_id: int, code: str) -> bool:
    return chunk_id in unit.chunk_ids or (not unit.chunk_ids and code in unit.codes)
