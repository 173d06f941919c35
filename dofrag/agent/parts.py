"""Sub-questions that a planner proposes: held to the question's own words, and only ever added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dofrag.domain.question import Question, Requirement, Source, Span, SubQuestion, TopicRequired
from dofrag.planner.interface import Parts
from dofrag.text.shown import whole_words

MAX_PARTS = 4
PART_MIN = 15
"""Characters of a part at least: less asks nothing of its own."""
MAX_REQUIREMENTS = 12
"""Requirements that a planner's parts may add to a run."""


def added_parts(
    parts: Parts,
    question: Question,
    present: Sequence[SubQuestion],
    decompose: Callable[[Question], tuple[SubQuestion, ...]],
) -> tuple[SubQuestion, ...]:
    """The new sub-questions that a proposal gives, with requirements by the same rules as any question's. Pure.

    What is no span of the question, cuts a word, is too short, or requires nothing that is not required already,
    gives none. Nor does what the rules find no type of requirement in: the words of a noun ask for nothing, and no
    answer could close them.
    """
    required = [_what(r) for sub in present for r in sub.requirements]
    out: list[SubQuestion] = []
    left = MAX_REQUIREMENTS
    for start, end in sorted(set(parts.spans))[:MAX_PARTS]:
        if not 0 <= start < end <= len(question.text) or len(question.text[start:end].strip()) < PART_MIN:
            continue
        if not whole_words(question.text, start, end):
            continue
        text = question.text[start:end]
        name = f"p{len(out) + 1}"
        found = decompose(replace(question, text=text))
        fresh: list[Requirement] = []
        for requirement in (r for sub in found for r in sub.requirements):
            if isinstance(requirement, TopicRequired):
                continue
            wanted = _what(requirement)
            if left > 0 and not any(_says_no_more(wanted, known) for known in required):
                required.append(wanted)
                left -= 1
                span = requirement.span or Span(start=0, end=len(text))
                span = Span(start=span.start + start, end=span.end + start)
                key = f"{name}.r{len(fresh) + 1}"
                fresh.append(replace(requirement, id=key, rule="planner", span=span))
        if fresh:
            current = any(sub.current for sub in found)
            out.append(
                SubQuestion(
                    id=name,
                    text=text.strip(),
                    origin="planner",
                    requirements=tuple(fresh),
                    current=current,
                    question=question.text,
                )
            )
    return tuple(out)


def _says_no_more(wanted: Requirement, known: Requirement) -> bool:
    """Whether a requirement of the same type asks for all that this one asks for: a part cut out of a question often
    lacks the year or the zone that stand elsewhere in it."""
    if type(wanted) is not type(known):
        return False
    for name in wanted.__dataclass_fields__:
        own, other = getattr(wanted, name), getattr(known, name)
        if own != other and own not in (None, (), Source()):
            return False
    return True


def _what(requirement: Requirement) -> Requirement:
    """A requirement without what does not change what it asks for."""
    return replace(requirement, id="", label="", rule="", span=None, context=())
