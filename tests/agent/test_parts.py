"""Sub-questions that a planner proposes: held to the question's words, bounded, and only ever added."""

from __future__ import annotations

from datetime import date

import bench
from bench import QUOTE, read, search
from hypothesis import given
from hypothesis import strategies as st

from dofrag.agent.parts import MAX_PARTS, MAX_REQUIREMENTS, PART_MIN, added_parts
from dofrag.domain.evidence import Citation, Claim, Draft
from dofrag.domain.question import Question, SubQuestion, TopicRequired, ValueRequired
from dofrag.planner.interface import Abstain, Parts, ToolCall

TEXT = "¿Cuál es la cuota anual de amarre para 2024 y en qué oficinas de la Autoridad se paga esta cuota?"
QUESTION = Question(text=TEXT, as_of=date(2024, 6, 30))


def decompose(question: Question) -> tuple[SubQuestion, ...]:
    """A value of all words, and as many more as the text has letters o."""
    words = tuple(question.text.casefold().split())
    found = [ValueRequired(id=f"q1.r{n}", label=question.text, rule="question", terms=(*words, str(n)))
             for n in range(1 + question.text.count("o"))]  # fmt: skip
    return (SubQuestion(id="q1", text=question.text, origin="question", requirements=tuple(found)),)


PRESENT = decompose(QUESTION)


@given(st.lists(st.tuples(st.integers(-5, 130), st.integers(-5, 130)), max_size=9))
def test_whatever_is_proposed_stays_within_bounds(spans: list[tuple[int, int]]) -> None:
    added = added_parts(Parts(tuple(spans)), QUESTION, PRESENT, decompose)
    assert len(added) <= MAX_PARTS
    assert sum(len(sub.requirements) for sub in added) <= MAX_REQUIREMENTS
    ids = [r.id for sub in added for r in sub.requirements]
    assert len(set(ids)) == len(ids)
    for sub in added:
        assert sub.text in TEXT
        assert len(sub.text) >= PART_MIN
        assert (sub.origin, sub.question) == ("planner", TEXT)
        for requirement in sub.requirements:
            assert requirement.rule == "planner"
            assert requirement.span is not None
            assert sub.text in TEXT[requirement.span.start : requirement.span.end]


def test_what_is_required_already_is_not_required_twice() -> None:
    assert added_parts(Parts(((0, len(TEXT)),)), QUESTION, PRESENT, decompose) == ()
    part = (TEXT.index("en qué"), len(TEXT) - 1)
    once = added_parts(Parts((part, part)), QUESTION, PRESENT, decompose)
    assert [sub.id for sub in once] == ["p1"]
    assert added_parts(Parts((part,)), QUESTION, (*PRESENT, *once), decompose) == ()


def test_a_part_without_a_requirement_of_a_type_adds_nothing() -> None:
    """A noun asks for nothing: no answer could close it, however right."""

    def bare(question: Question) -> tuple[SubQuestion, ...]:
        topic = TopicRequired(id="q1.r1", label="x", rule="question", terms=("cuota", "amarre"))
        return (SubQuestion(id="q1", text=question.text, origin="question", requirements=(topic,)),)

    assert added_parts(Parts(((10, 40),)), QUESTION, PRESENT, bare) == ()


def test_a_part_that_lacks_the_year_of_the_question_adds_nothing() -> None:
    def valued(question: Question) -> tuple[SubQuestion, ...]:
        frequency = "annual" if "2024" in question.text else None
        value = ValueRequired(id="q1.r1", label="x", rule="question", terms=("cuota", "amarre"), frequency=frequency)
        return (SubQuestion(id="q1", text=question.text, origin="question", requirements=(value,)),)

    part = (TEXT.index("la cuota"), TEXT.index(" para"))
    assert added_parts(Parts((part,)), QUESTION, valued(QUESTION), valued) == ()
    assert added_parts(Parts((part,)), QUESTION, PRESENT, valued) != ()


def draft(subs: tuple[str, ...]) -> Draft:
    citation = Citation(chunk_id=1, quote=QUOTE)
    return Draft(claims=(Claim(text=f"{QUOTE}.", sub_questions=subs, citations=(citation,)),))


def test_an_added_part_has_to_be_answered_too() -> None:
    """The rules' requirement alone would close; with the part it does not, until that is quoted as well."""
    question = "¿Cuál es la cuota anual de amarre para 2024? En las oficinas de qué Autoridad se paga esta cuota"
    part = (question.index("En las"), len(question))
    plain, _, _, _ = bench.run([Parts(()), ToolCall(*search()), Abstain()], question=question)
    added, trace, _, _ = bench.run([Parts((part,)), ToolCall(*search()), Abstain()], question=question)
    before = [s["id"] for s in plain["coverage"]]
    after = [s["id"] for s in added["coverage"]]
    assert after[: len(before)] == before, "nothing is taken away"
    assert [e.event for e in trace.events].count("decomposed") == (2 if len(after) > len(before) else 1)


def test_parts_after_the_first_call_are_no_step() -> None:
    steps = [ToolCall(*search()), Parts(((0, 40),)), Parts(((0, 40),)), Parts(((0, 40),))]
    result, _, _, _ = bench.run(steps)
    assert (result["terminal_state"], result["reason"]) == ("failed", "planner_stalled")


def test_parts_change_nothing_of_a_run_that_they_add_nothing_to() -> None:
    steps = [Parts(((0, 5), (900, 950))), ToolCall(*search()), ToolCall(*read(1)), draft(("q1",))]
    result, _, _, _ = bench.run(steps)
    assert (result["terminal_state"], result["reason"]) == ("answered", "closed")
    assert result["spend"]["turns"] == 4
